"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import DualWitness, LinearForm, Relaxation, Traits, Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.hard_margin import HardMargin
from relaxboost.relaxations.kl import KLBall, KLBallWitness, KLPenalty

__all__ = [
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
