"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "WLR06",
    "M. K. Warmuth, J. Liao and G. Rätsch (2006), Totally Corrective Boosting Algorithms "
    "that Maximize the Margin, ICML 23:1001-1008",
    place=8,
)
"""WLR06, TotalBoost; the text of the paper is not at hand."""
