"""The bundle method for convex functions, which needs only their values and subgradients."""
