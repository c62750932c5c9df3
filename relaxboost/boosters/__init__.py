"""Boosters: one loop, one file per update, and `solve`, which stops at a certified gap."""

from relaxboost.boosters.corrective import STEPS
from relaxboost.boosters.plan import METHODS
from relaxboost.boosters.solving import solve

__all__ = ["METHODS", "STEPS", "solve"]
