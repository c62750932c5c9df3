"""The three algorithms of Grubb & Bagnell (2011) and leaves refitted, one file each."""

from relaxboost.functional.algorithms.base import (
    ALGORITHMS,
    Algorithm,
    Direction,
    Projected,
    algorithm_of,
    projector,
)
from relaxboost.functional.algorithms.naive import Naive
from relaxboost.functional.algorithms.refitted import Refitted
from relaxboost.functional.algorithms.repeated import Repeated
from relaxboost.functional.algorithms.residual import Residual

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Direction",
    "Naive",
    "Projected",
    "Refitted",
    "Repeated",
    "Residual",
    "algorithm_of",
    "projector",
]
