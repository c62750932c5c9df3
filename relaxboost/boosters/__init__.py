"""Boosters: one loop, one file per update, and `solve`, which stops at a certified gap."""

from relaxboost.boosters.adaboost import ADABOOST_STEPS
from relaxboost.boosters.corrective import STEPS
from relaxboost.boosters.plan import METHODS
from relaxboost.boosters.solving import solve

__all__ = ["ADABOOST_STEPS", "METHODS", "STEPS", "solve"]
