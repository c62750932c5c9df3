"""Entropic projections onto the simplex cut by a convex set, in the log domain."""

from relaxboost.projections.capped import capped_distribution

__all__ = ["capped_distribution"]
