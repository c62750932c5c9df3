"""What the other player chooses w from: compact sets and superlinear penalties (`over`)."""

from relaxboost.outer.atoms import AtomicSet, L1Ball, Simplex
from relaxboost.outer.base import Dense, OuterSet
from relaxboost.outer.euclidean import L2Ball, SquaredNorm
from relaxboost.outer.refused import L1Penalty

__all__ = [
    "AtomicSet",
    "Dense",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "OuterSet",
    "Simplex",
    "SquaredNorm",
]
