"""Entropic projections onto the simplex cut by a convex set, in the log domain."""
