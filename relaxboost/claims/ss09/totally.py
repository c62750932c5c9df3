"""SS09, Sec. 5.2: the totally corrective update, which optimises all weights in each round."""

import math
from typing import NamedTuple

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.algorithm import VOTES, error, smoothing_costs
from relaxboost.claims.ss09.smooth import (
    CAPPED_RUNS,
    F_GIVEN,
    FAMILY_RUNS,
    beta,
    distribution,
    f_of,
    game,
    least_gain,
    smooth,
    smoothed,
    smoothed_game,
)
from relaxboost.game.game import Game


class _Round(NamedTuple):
    w: Array
    value: float  # This is D(w_t).
    slope: float  # This is the gap.
    corrective: float  # This is D after a step of Fig. 1.
    best: Bracket  # This is the maximum of D over the weights on the columns in `seen`.
    seen: tuple[int, ...]


def totally_corrective_run(
    x: Instance, to_gap: float | None = None
) -> tuple[list[_Round], Array, float]:
    """Run the totally corrective update of Eq. 13 until the gap is at most `to_gap`, by default ε.

    Return the rounds with an update, the final w, and the final gap.
    """
    (m, n), f = x.A.shape, f_of(x)
    smoothing = beta(m, x.epsilon)
    enough = x.epsilon if to_gap is None else to_gap
    w = np.zeros(n)
    seen: list[int] = []
    trace: list[_Round] = []
    while True:
        u = x.A @ w
        d = distribution(u, x.k, smoothing, f)[0]
        edges = d @ x.A
        j = int(np.argmax(np.abs(edges)))
        slope = float(abs(edges[j]) - d @ u)
        if slope <= enough or len(trace) > n:
            return trace, w, slope
        seen = sorted({*seen, j})
        v = np.sign(edges[j]) * x.A[:, j] - u
        eta = max(0.0, min(1.0, smoothing * slope / float(np.max(np.abs(v))) ** 2))
        step = float(smooth(u + eta * v, x.k, smoothing, f))
        best = x.optimum(smoothed(Game(x.A[:, seen], game(x).relaxation), x.epsilon))
        value = float(smooth(u, x.k, smoothing, f))
        trace.append(_Round(w, value, slope, step, best, tuple(seen)))
        support, coefficients = x.optima[-1].w
        w = np.zeros(n)
        w[np.array(seen)[support]] = coefficients


@SOURCE.claim(
    "Eq13-rounds", given=F_GIVEN + "; A in [−1, 1]^(m×n), m ≥ 2", space=FAMILY_RUNS
).checked(trials=12)
def totally_corrective_rounds(x: Instance) -> Slacks:
    trace, _, _ = totally_corrective_run(x)
    yield at_most(len(trace) + 1, 32.0 * math.log(len(x.A)) / x.epsilon**2, "rounds")
    yield at_most(len(trace), x.A.shape[1], "updates and columns")
    most = x.optimum(smoothed_game(x))
    for t, now in enumerate(trace, 1):
        left = most - now.value
        least = least_gain(left, beta(len(x.A), x.epsilon))
        yield at_least(now.best - now.value, least, "βε_t²/8", t)
        yield at_most(left, now.slope, "ε_t and the gap", t)


@totally_corrective_rounds.step(trials=20)
def _(x: Instance) -> Slacks:
    trace, _, _ = totally_corrective_run(x)
    assume(bool(trace))
    for t, now in enumerate(trace, 1):
        yield equal(float(np.abs(np.delete(now.w, now.seen)).sum()), 0.0, "weight off {j_r}", t)
        yield at_most(float(np.abs(now.w).sum()), 1.0, "‖w_t‖_1", t)
        yield at_least(now.best, now.corrective, "D after the update", t)


@SOURCE.claim("Eq13-accuracy", space=CAPPED_RUNS).checked(trials=10)
def totally_accurate(x: Instance) -> Slack:
    trace, w, _ = totally_corrective_run(x)
    return at_most(error(x, x.A @ w), x.epsilon, "ρ − margin of w_t", len(trace) + 1)


@totally_accurate.corrected()
def totally_accurate_half_more(x: Instance) -> Slacks:
    smoothing = beta(len(x.A), x.epsilon) * math.log(len(x.A) / x.k)
    for gap, most in ((x.epsilon, 1.5 * x.epsilon), (0.5 * x.epsilon, x.epsilon)):
        trace, w, last_gap = totally_corrective_run(x, gap)
        short = error(x, x.A @ w)
        rounds = len(trace) + 1
        yield at_most(short, last_gap + smoothing, "ρ − margin of w_t", rounds)
        yield at_most(short, most, "ρ − margin of w_t", rounds)
        yield at_most(rounds, 64.0 * math.log(len(x.A)) / x.epsilon**2, "rounds")


totally_accurate_half_more.step(space=VOTES)(smoothing_costs)
