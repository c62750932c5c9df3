"""The three algorithms of Grubb & Bagnell (2011), one file each."""

from relaxboost.functional.algorithms.base import (
    ALGORITHMS,
    Algorithm,
    Direction,
    Projected,
    algorithm_of,
    projector,
)
from relaxboost.functional.algorithms.naive import Naive
from relaxboost.functional.algorithms.repeated import Repeated
from relaxboost.functional.algorithms.residual import Residual

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Direction",
    "Naive",
    "Projected",
    "Repeated",
    "Residual",
    "algorithm_of",
    "projector",
]
