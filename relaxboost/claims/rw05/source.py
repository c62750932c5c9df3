"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "RW05",
    "G. Rätsch and M. K. Warmuth (2005), Efficient Margin Maximizing with Boosting, "
    "JMLR 6:2131-2152",
    place=4,
)
