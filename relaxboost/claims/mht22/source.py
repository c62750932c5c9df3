"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "MHT22",
    "R. Mitsuboshi, K. Hatano and E. Takimoto (2022), Boosting as Frank-Wolfe, arXiv 2209.10831",
    place=11,
)
"""MHT22, MLPBoost; the abstract of the paper is at hand."""
