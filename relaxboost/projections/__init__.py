"""Entropic projections onto the simplex cut by a convex set, in the log domain."""

from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.caps import caps_distribution, caps_threshold
from relaxboost.projections.plateau import plateau_distribution, plateau_margin

__all__ = [
    "capped_distribution",
    "caps_distribution",
    "caps_threshold",
    "plateau_distribution",
    "plateau_margin",
]
