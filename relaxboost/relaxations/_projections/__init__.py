"""Kernels that minimise the mean margin plus a relaxation plus an entropy, in the log domain.

Each kernel returns the weights d in the simplex that minimise <d, u> + f(d) + β Σ d_i log d_i, for
relaxations f of one family. The margins u have one finite entry for each example, unless a
docstring says otherwise. The weight β > 0 of the entropy may have any size relative to the margins,
because only differences of margins are divided by β. The sum of the weights d is one up to
rounding.
"""

from relaxboost.relaxations._projections.binary_entropy import (
    binary_capped_distribution,
    logistic_distribution,
)
from relaxboost.relaxations._projections.capped import by_sorting, capped_distribution
from relaxboost.relaxations._projections.caps import (
    caps_distribution,
    caps_threshold,
    variation_ball_distribution,
    variation_ball_margin,
)
from relaxboost.relaxations._projections.kl_ball import kl_ball_distribution, tilt
from relaxboost.relaxations._projections.max_penalty import (
    max_penalty_distribution,
    max_penalty_margin,
)

__all__ = [
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
    "variation_ball_distribution",
    "variation_ball_margin",
]
