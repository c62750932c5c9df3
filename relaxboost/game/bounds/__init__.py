"""The two functions that compute every reported bound on the value of a game.

A distribution d over the examples proves an upper bound, and hypothesis weights w prove a lower
bound.
"""

from relaxboost.game.bounds.floats import evaluate_lower, evaluate_upper

__all__ = ["evaluate_lower", "evaluate_upper"]
