"""Bounds on the value of a game from a feasible pair; every number reported comes from here."""

from relaxboost.game.bounds.floats import evaluate_lower, evaluate_upper

__all__ = ["evaluate_lower", "evaluate_upper"]
