"""Every statement of Grubb & Bagnell (2011) on boosting, in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "functions projections weak multiclass smooth repeated convex residual remarks leaves",
)
