"""Claims of Warmuth, Glocer & Rätsch (2007), Boosting Algorithms for Maximizing the Soft Margin."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")
