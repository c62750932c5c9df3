"""Entropic projections onto the simplex cut by a convex set, in the log domain.

Margins u have shape (m,) and are finite where nothing else is said; β > 0 may be of any size
relative to their spread, and one margin is subtracted before anything is divided by it. The
distributions have shape (m,) and sum to one up to rounding.
"""

from relaxboost.relaxations._projections.binary_entropy import (
    binary_capped_distribution,
    logistic_distribution,
)
from relaxboost.relaxations._projections.capped import by_sorting, capped_distribution
from relaxboost.relaxations._projections.caps import caps_distribution, caps_threshold
from relaxboost.relaxations._projections.following import CappedFollower, MeanFollower
from relaxboost.relaxations._projections.kl_ball import kl_ball_distribution, tilt
from relaxboost.relaxations._projections.max_penalty import (
    max_penalty_distribution,
    max_penalty_margin,
)

__all__ = [
    "CappedFollower",
    "MeanFollower",
    "binary_capped_distribution",
    "by_sorting",
    "capped_distribution",
    "caps_distribution",
    "caps_threshold",
    "kl_ball_distribution",
    "logistic_distribution",
    "max_penalty_distribution",
    "max_penalty_margin",
    "tilt",
]
