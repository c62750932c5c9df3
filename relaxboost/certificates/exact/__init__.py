"""Exact optima of polyhedral games, by a simplex method in rational numbers."""
