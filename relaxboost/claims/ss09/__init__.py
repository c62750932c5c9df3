"""Shalev-Shwartz & Singer (2009): every numbered statement, in the order of the text."""

# isort: off
from relaxboost.claims.ss09 import duality, learnability, relaxing, examples, lemma
from relaxboost.claims.ss09 import algorithm

# isort: on
from relaxboost.claims.ss09.source import SOURCE

__all__ = ["SOURCE", "algorithm", "duality", "examples", "learnability", "lemma", "relaxing"]
