"""All bounds on the value of a game that the package reports.

A pair (d, w) of a distribution and weights proves them.
"""

from relaxboost.game.bounds.floats import evaluate_lower, evaluate_upper

__all__ = ["evaluate_lower", "evaluate_upper"]
