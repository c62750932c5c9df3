"""Entropic projections onto the simplex cut by a convex set, in the log domain."""

from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.logistic import binary_capped_distribution, logistic_distribution
from relaxboost.projections.tilted import finite_margins, kl_ball_distribution, tilt

__all__ = [
    "binary_capped_distribution",
    "capped_distribution",
    "finite_margins",
    "kl_ball_distribution",
    "logistic_distribution",
    "tilt",
]
