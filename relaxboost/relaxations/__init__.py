"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import DualWitness, LinearForm, Relaxation, Traits, Witness
from relaxboost.relaxations.binary_entropy import BinaryEntropy
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.hard_margin import HardMargin
from relaxboost.relaxations.kl import KLBall, KLBallWitness, KLPenalty

__all__ = [
    "BinaryEntropy",
    "Capped",
    "DualWitness",
    "HardMargin",
    "KLBall",
    "KLBallWitness",
    "KLPenalty",
    "LinearForm",
    "Relaxation",
    "Traits",
    "Witness",
]
