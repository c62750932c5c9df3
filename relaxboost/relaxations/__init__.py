"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import DualWitness, LinearForm, Relaxation, Traits, Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.hard_margin import HardMargin

__all__ = [
    "Capped",
    "Custom",
    "DualWitness",
    "HardMargin",
    "LinearForm",
    "Relaxation",
    "Traits",
    "Witness",
]
