"""Compiled rounds of online learning, for the entropy, the squared norm and the named losses.

`vectors` contains loops over the entries of a vector. `entropy` and `squared` contain the mirror
maps of the two proxies, `slopes` contains the losses, and `rounds` contains the rounds. Each
compiled function has an uncompiled counterpart in the class of the proxy, loss or learner.
"""

from relaxboost.online.kernels.rounds import (
    BETA,
    FULL_SIMPLEX,
    L1_BALL,
    L2_BALL,
    LOSS,
    ROUNDS,
    SIMPLEX,
    SPENT,
    SQUARES,
    WEIGHT,
    Codes,
    branches,
    rounds,
)
from relaxboost.online.kernels.slopes import INNER, LOSS_CODES
from relaxboost.online.kernels.vectors import dual_norms

__all__ = [
    "BETA",
    "FULL_SIMPLEX",
    "INNER",
    "L1_BALL",
    "L2_BALL",
    "LOSS",
    "LOSS_CODES",
    "ROUNDS",
    "SIMPLEX",
    "SPENT",
    "SQUARES",
    "WEIGHT",
    "Codes",
    "branches",
    "dual_norms",
    "rounds",
]
