"""Shalev-Shwartz & Singer (2009): every numbered statement, in the order of the text."""

# isort: off
from relaxboost.claims.ss09 import duality
from relaxboost.claims.ss09 import dual_norms
from relaxboost.claims.ss09 import learnability
from relaxboost.claims.ss09 import relaxing
from relaxboost.claims.ss09 import examples
from relaxboost.claims.ss09 import lemma
from relaxboost.claims.ss09 import figure
from relaxboost.claims.ss09 import algorithm
from relaxboost.claims.ss09 import progress
from relaxboost.claims.ss09 import totally
from relaxboost.claims.ss09 import rates
from relaxboost.claims.ss09 import convexity
from relaxboost.claims.ss09 import bregman
from relaxboost.claims.ss09 import projection
from relaxboost.claims.ss09 import figure2
from relaxboost.claims.ss09 import appendix
from relaxboost.claims.ss09 import conjugates

# isort: on
from relaxboost.claims.ss09.source import SOURCE

__all__ = [
    "SOURCE",
    "algorithm",
    "appendix",
    "bregman",
    "conjugates",
    "convexity",
    "dual_norms",
    "duality",
    "examples",
    "figure",
    "figure2",
    "learnability",
    "lemma",
    "progress",
    "projection",
    "rates",
    "relaxing",
    "totally",
]
