"""Shalev-Shwartz & Singer (2009): every numbered statement, in the order of the text."""

from relaxboost.claims.ss09 import duality, learnability, relaxing  # isort: split
from relaxboost.claims.ss09 import algorithm
from relaxboost.claims.ss09.source import SOURCE

__all__ = ["SOURCE", "algorithm", "duality", "learnability", "relaxing"]
