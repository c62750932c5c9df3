"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "DEK11",
    "O. Dekel (2011), CSE522 Learning Theory, Lecture 18: Online to Batch Conversion, University "
    "of Washington",
    place=7,
)
