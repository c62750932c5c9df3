"""Grubb & Bagnell (2011), boosting any convex loss: the statements, in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "functions projections weak multiclass smooth example repeated convex residual remarks leaves",
)
