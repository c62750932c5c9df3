"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "REGK14",
    "S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen (2014), Follow the Leader If You "
    "Can, Hedge If You Must, JMLR 15:1281-1316",
    place=13,
)
"""REGK14, AdaHedge; the text of the paper is not at hand."""
