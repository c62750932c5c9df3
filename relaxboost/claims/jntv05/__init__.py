"""Every statement of Juditsky, Nazin, Tsybakov & Vayatis (2005) on mirror descent."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "proxy proofs theorems ratios",
)
