"""A bundle method for convex functions with known values and subgradients."""
