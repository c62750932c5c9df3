"""Boosters: one loop, one file per update, and `solve`, which stops at a certified gap."""

from relaxboost.boosters.solving import METHODS, STEPS, solve

__all__ = ["METHODS", "STEPS", "solve"]
