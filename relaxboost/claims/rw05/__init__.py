"""Claims of Rätsch & Warmuth (2005), Efficient Margin Maximizing with Boosting."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "star")
