"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "SER03",
    "R. A. Servedio (2003), Smooth Boosting and Learning with Malicious Noise, JMLR 4:633-648",
    place=10,
)
"""SER03, SmoothBoost; the text of the paper is not at hand."""
