"""Exact optima of polyhedral games: a rational simplex method and what leads up to it."""
