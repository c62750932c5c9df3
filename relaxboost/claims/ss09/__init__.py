"""Shalev-Shwartz & Singer (2009): every numbered statement, in the order of the text."""

from relaxboost.claims.ss09 import figure, algorithm, progress, totally, rates  # noqa: I001
from relaxboost.claims.ss09.source import SOURCE

__all__ = ["SOURCE", "algorithm", "figure", "progress", "rates", "totally"]
