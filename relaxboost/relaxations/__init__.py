"""Relaxations f of the weak-learning game, one file per family."""

from relaxboost.relaxations.base import LinearForm, Relaxation, Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.hard_margin import HardMargin

__all__ = ["Capped", "HardMargin", "LinearForm", "Relaxation", "Witness"]
