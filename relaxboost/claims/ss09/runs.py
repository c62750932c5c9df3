"""Runs of SS09 Fig. 1, round by round; those of AdaBoost are in `votes`."""

import math
from dataclasses import dataclass

import numpy as np

from relaxboost.claims.language import *
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import KLPenalty
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun
from relaxboost.solvers.rounds import Rounds


@dataclass(frozen=True)
class Round:
    """w_t and d_t of SS09 Fig. 1, as they stand when the weak learner has answered."""

    number: int
    w: Array
    d: Array
    gap: float
    """<d_t, A(e_j − w_t)>, what the figure tests."""
    column: int
    """j_t."""
    sign: int
    """The sign of its edge, which the figure takes to be 1."""


def fig1(
    game: Game,
    epsilon: float,
    *,
    max_rounds: int | None = None,
    to_gap: float | None = None,
    smoothing: float | None = None,
) -> list[Round]:
    """Run SS09 Fig. 1 with β = ε/(2 log m) until its own test stops it, or after `max_rounds`.

    The game is over the unit l1 ball, with entries in [−1, 1]. `smoothing` is β, if another. The
    gap is tested against `to_gap`, if given, instead of ε.
    """
    threshold = epsilon if to_gap is None else to_gap
    trace: list[Round] = []
    smoothing = beta(game.m, epsilon) if smoothing is None else smoothing
    for state in Rounds(game, CorrectiveRun(game, smoothing, "fig1")):
        w, best = np.zeros(game.n or 0), state.best
        support, coefficients = state.active.coefficients(state.active.snapshot())
        w[support] = coefficients
        assert isinstance(best, Best)
        now = state.round, w, state.d, state.smoothed_gap, best.id, best.sign
        trace.append(Round(*now))
        if state.smoothed_gap <= threshold or state.round == max_rounds:
            break
    return trace


def beta(m: int, epsilon: float) -> float:
    """Return ε/(2 log m), and a β that smooths nothing away where m = 1."""
    return epsilon / (2.0 * math.log(m)) if m > 1 else 1.0


def smoothed(game: Game, epsilon: float) -> Game:
    """Return the game that Fig. 1 solves: f + βh in place of f, with h = Σ d log(m d)."""
    return Game(game.matrix, game.relaxation + KLPenalty(beta(game.m, epsilon)))
