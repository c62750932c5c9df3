"""Exact optima of polyhedral games: a rational simplex method and its first basis."""
