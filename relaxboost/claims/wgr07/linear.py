"""A game on which LPBoost needs a round for every second example, and SoftBoost three rounds."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.wgr07.source import SOURCE
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.lpboost import LPBoost
from relaxboost.solvers.solve import solve


def slow_for_lpboost(m: int, eps: float | None = None) -> Array:
    """Return margins of shape (m, m/2 + 1) on which LPBoost needs more than m/2 rounds.

    For every d that the linear program of LPBoost gives, one example has all weight: the next of
    the second half. The column that is right on it is wrong on the example after it, and nearly
    wrong on all others. The first column and the last, with half of the weight each, have a
    positive margin, but LPBoost takes the last column last.

    m is even and at least 4; the distance eps of the entries is in (0, 1/(m + 1)).
    """
    half, eps = m // 2, 1.0 / (10 * m) if eps is None else eps
    A = np.empty((m, half + 1))
    for q in range(1, half + 1):
        A[:, q - 1] = -1.0 + (2 * q + 1) * eps
        A[half + q - 1, q - 1] = -1.0 + 2 * q * eps
        A[half + q - 2, q - 1] = 1.0
    A[:half, 0] = 1.0
    A[:half, half] = -1.0 + eps
    A[half:, half] = 1.0 - eps
    return A


@SOURCE.claim("linear", space=Space(half=Whole(2, 40))).checked(trials=20)
def linear(x: Instance) -> Slacks:
    m = 2 * x.half
    game = Game(slow_for_lpboost(m), over=Simplex())
    slow = solve(game, method=LPBoost(), tol=0.1)
    fast = solve(game, method="softboost", tol=0.1)
    if "interrupted" in (slow.status, fast.status):
        raise KeyboardInterrupt
    yield at_least(slow.rounds, x.half + 1, "rounds of LPBoost, m/2 + 1")
    most = 2.0 * math.log(m) / (0.1 * (1.0 - 1e-9)) ** 2 + 2.0
    yield at_most(fast.rounds, most, "rounds of SoftBoost, 2 log(m)/ν² + 2")
    yield at_least(fast.lower, slow.upper - 0.1, "lower of SoftBoost, ρ − ν")
