"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "FS99",
    "Y. Freund and R. E. Schapire (1999), Adaptive Game Playing Using Multiplicative "
    "Weights, Games and Economic Behavior 29:79-103",
    place=12,
)
"""FS99, Hedge in a game; the text of the paper is not at hand."""
