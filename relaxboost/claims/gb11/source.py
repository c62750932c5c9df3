"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "GB11",
    "A. Grubb and J. A. Bagnell (2011), Generalized Boosting Algorithms for Convex Optimization, "
    "ICML",
    place=5,
)
