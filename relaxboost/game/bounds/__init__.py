"""All bounds that the package reports on the value of a game, from a feasible pair (d, w)."""

from relaxboost.game.bounds.floats import evaluate_lower, evaluate_upper

__all__ = ["evaluate_lower", "evaluate_upper"]
