"""De Rooij, van Erven, Grünwald & Koolen (2014): AdaHedge, and `HedgedDescent`, which uses it."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")
