"""Exact optima of polyhedral games, computed by a simplex method in rational numbers."""
