"""Telgarsky's lecture on AdaBoost: every statement, in the order of the text."""

from relaxboost.claims.tel import algorithm, weak, theorem, proof, closing  # isort: skip
from relaxboost.claims.tel.source import SOURCE

__all__ = ["SOURCE", "algorithm", "closing", "proof", "theorem", "weak"]
