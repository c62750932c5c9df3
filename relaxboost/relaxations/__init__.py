"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import DualWitness, LinearForm, Relaxation, Traits, Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.conditions import (
    Condition,
    Conditions,
    Violation,
    check_conditions,
    hinge_form,
)
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.hard_margin import HardMargin
from relaxboost.relaxations.pairs import appendix_b

__all__ = [
    "Capped",
    "Condition",
    "Conditions",
    "Custom",
    "DualWitness",
    "HardMargin",
    "LinearForm",
    "Relaxation",
    "Traits",
    "Violation",
    "Witness",
    "appendix_b",
    "check_conditions",
    "hinge_form",
]
