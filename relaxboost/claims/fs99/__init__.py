"""Claims of Freund & Schapire (1999), Adaptive Game Playing Using Multiplicative Weights."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")
