"""Juditsky, Nazin, Tsybakov & Vayatis (2005), mirror descent with averaging: every statement."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "proxy proofs theorems ratios",
)
