"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "WGR07",
    "M. K. Warmuth, K. A. Glocer and G. Rätsch (2007), Boosting Algorithms for Maximizing "
    "the Soft Margin, NIPS 20:1585-1592",
    place=9,
)
"""WGR07, SoftBoost; the abstract of the paper is at hand."""
