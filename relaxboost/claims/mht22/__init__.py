"""Claims of Mitsuboshi, Hatano & Takimoto (2022), Boosting as Frank-Wolfe."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")
