"""The two functions that compute every bound on the value of a game that the package reports.

A distribution d over the examples proves an upper bound, and weights w of the hypotheses prove a
lower bound.
"""

from relaxboost.game.bounds.floats import evaluate_lower, evaluate_upper

__all__ = ["evaluate_lower", "evaluate_upper"]
