"""Entropic projections onto the simplex cut by a convex set, in the log domain."""

from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.caps import caps_distribution, caps_threshold
from relaxboost.projections.logistic import binary_capped_distribution, logistic_distribution
from relaxboost.projections.plateau import plateau_distribution, plateau_margin
from relaxboost.projections.tilted import finite_margins, kl_ball_distribution, tilt

__all__ = [
    "binary_capped_distribution",
    "capped_distribution",
    "caps_distribution",
    "caps_threshold",
    "finite_margins",
    "kl_ball_distribution",
    "logistic_distribution",
    "plateau_distribution",
    "plateau_margin",
    "tilt",
]
