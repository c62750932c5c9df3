"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "SS09",
    "S. Shalev-Shwartz and Y. Singer (2009), On the Equivalence of Weak Learnability and Linear "
    "Separability: New Relaxations and Efficient Boosting Algorithms",
    place=1,
)
