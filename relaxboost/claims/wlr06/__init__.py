"""Claims of Warmuth, Liao & Rätsch (2006), Totally Corrective Boosting Algorithms."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")
