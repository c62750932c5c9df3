"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import DualWitness, LinearForm, Relaxation, Traits, Witness
from relaxboost.relaxations.capped import Capped, CVaR
from relaxboost.relaxations.caps import Caps
from relaxboost.relaxations.divergences import (
    ChiSquareBall,
    ChiSquarePenalty,
    HellingerBall,
    HellingerPenalty,
    PowerBall,
    PowerPenalty,
)
from relaxboost.relaxations.group_caps import GroupCaps
from relaxboost.relaxations.group_norms import GroupNormBall, GroupNormPenalty
from relaxboost.relaxations.hard_margin import HardMargin
from relaxboost.relaxations.mahalanobis import MahalanobisBall, MahalanobisPenalty
from relaxboost.relaxations.norms import NormBall, NormPenalty

__all__ = [
    "CVaR",
    "Capped",
    "Caps",
    "ChiSquareBall",
    "ChiSquarePenalty",
    "DualWitness",
    "GroupCaps",
    "GroupNormBall",
    "GroupNormPenalty",
    "HardMargin",
    "HellingerBall",
    "HellingerPenalty",
    "LinearForm",
    "MahalanobisBall",
    "MahalanobisPenalty",
    "NormBall",
    "NormPenalty",
    "PowerBall",
    "PowerPenalty",
    "Relaxation",
    "Traits",
    "Witness",
]
