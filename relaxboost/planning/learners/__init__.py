"""Learners of linear costs, one file each."""

from relaxboost.planning.learners.base import Learner, Step
from relaxboost.planning.learners.bundle import Bundle
from relaxboost.planning.learners.exponentiated import Exponentiated
from relaxboost.planning.learners.frank_wolfe import FrankWolfe
from relaxboost.planning.learners.subgradient import Subgradient

METHODS: dict[str, type[Learner]] = {
    kind.name: kind for kind in (Bundle, Subgradient, FrankWolfe, Exponentiated)
}

__all__ = [
    "METHODS",
    "Bundle",
    "Exponentiated",
    "FrankWolfe",
    "Learner",
    "Step",
    "Subgradient",
]
