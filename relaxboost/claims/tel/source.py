"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "TEL",
    "M. Telgarsky, lecture on AdaBoost as ℓ1 steepest descent, with a convergence rate under the "
    "weak learning assumption",
    place=2,
)
