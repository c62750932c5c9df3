"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import DualWitness, LinearForm, Relaxation, Traits, Witness
from relaxboost.relaxations.binary_entropy import BinaryEntropy
from relaxboost.relaxations.capped import Capped, CVaR
from relaxboost.relaxations.caps import Caps
from relaxboost.relaxations.conditions import (
    Condition,
    Conditions,
    Violation,
    check_conditions,
    hinge_form,
)
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.divergences import (
    ChiSquareBall,
    ChiSquarePenalty,
    HellingerBall,
    HellingerPenalty,
    PowerBall,
    PowerPenalty,
)
from relaxboost.relaxations.generators import f_divergence
from relaxboost.relaxations.group_caps import GroupCaps
from relaxboost.relaxations.group_norms import GroupNormBall, GroupNormPenalty
from relaxboost.relaxations.hard_margin import HardMargin
from relaxboost.relaxations.kl import KLBall, KLBallWitness, KLPenalty
from relaxboost.relaxations.mahalanobis import MahalanobisBall, MahalanobisPenalty
from relaxboost.relaxations.norms import NormBall, NormPenalty
from relaxboost.relaxations.pairs import appendix_b

__all__ = [
    "BinaryEntropy",
    "CVaR",
    "Capped",
    "Caps",
    "ChiSquareBall",
    "ChiSquarePenalty",
    "Condition",
    "Conditions",
    "Custom",
    "DualWitness",
    "GroupCaps",
    "GroupNormBall",
    "GroupNormPenalty",
    "HardMargin",
    "HellingerBall",
    "HellingerPenalty",
    "KLBall",
    "KLBallWitness",
    "KLPenalty",
    "LinearForm",
    "MahalanobisBall",
    "MahalanobisPenalty",
    "NormBall",
    "NormPenalty",
    "PowerBall",
    "PowerPenalty",
    "Relaxation",
    "Traits",
    "Violation",
    "Witness",
    "appendix_b",
    "check_conditions",
    "f_divergence",
    "hinge_form",
]
