"""The bundle method for convex functions that are known by values and subgradients."""
