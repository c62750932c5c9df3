"""SS09, Sec. 5.2: the totally corrective update."""

import math
from dataclasses import dataclass

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import beta, smoothed
from relaxboost.claims.ss09.smooth import (
    CAPPED_RUNS,
    distribution,
    least_gain,
    smooth,
    smoothed_game,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped


@dataclass(frozen=True)
class _Round:
    """w_t before the totally corrective update, and what the update makes of D."""

    w: Array
    value: float
    """D(w_t)."""
    slope: float
    """The gap that Fig. 1 tests."""
    corrective: float
    """D after the step of Fig. 1 from w_t."""
    best: Bracket
    """max D over the columns seen so far."""
    seen: tuple[int, ...]


def totally_corrective_run(x: Instance) -> tuple[list[_Round], int]:
    """Run Eq. 13 until the test of Fig. 1; return its updates and the number of rounds."""
    m, n = x.A.shape
    smoothing = beta(m, x.epsilon)
    w = np.zeros(n)
    seen: list[int] = []
    trace: list[_Round] = []
    while True:
        u = x.A @ w
        d = distribution(u, x.k, smoothing)[0]
        edges = d @ x.A
        j = int(np.argmax(np.abs(edges)))
        slope = float(abs(edges[j]) - d @ u)
        if slope <= x.epsilon or len(trace) > n:
            return trace, len(trace) + 1
        seen = sorted({*seen, j})
        v = np.sign(edges[j]) * x.A[:, j] - u
        eta = max(0.0, min(1.0, smoothing * slope / float(np.max(np.abs(v))) ** 2))
        step = float(smooth(u + eta * v, x.k, smoothing))
        best = x.optimum(smoothed(Game(x.A[:, seen], Capped(x.k)), x.epsilon))
        value = float(smooth(u, x.k, smoothing))
        trace.append(_Round(w, value, slope, step, best, tuple(seen)))
        support, coefficients = x.optima[-1].w
        w = np.zeros(n)
        w[np.array(seen)[support]] = coefficients


@SOURCE.claim(
    "Eq13",
    ("Eq. 13", "Sec. 5.2, Eq. 13 and after"),
    "The totally corrective update gains at least what the step of Fig. 1 would gain.",
    formula="max {D(w): ‖w‖_1 ≤ 1, w_i = 0 ∀ i ∉ {j_1, ..., j_t}} ≥ D(w_t + η_t(e^{j_t} − w_t))",
    printed="w_{t+1} = argmax_{w∈B_1^n} D(w) s.t. ∀i ∉ {j_r : r ≤ t}, w_i = 0.   (13) Clearly, the "
    "increase of D(w) at each iteration due to this update is at least as large as the "
    "increase attained for D(w) had we set w_{t+1} as given in Fig. 1.",
    given="f the indicator of ‖d‖_∞ ≤ 1/k, A in [−1, 1]^(m×n), m ≥ 2",
    space=CAPPED_RUNS,
).checked(trials=20)
def totally_corrective(x: Instance) -> Slacks:
    """w_t has weight on j_1, ..., j_{t−1} only, so that Fig. 1's point is one of those compared.

    The maximum is a certified one over the columns seen; Fig. 1's step is computed from w_t.
    """
    trace, _ = totally_corrective_run(x)
    assume(bool(trace))
    for t, now in enumerate(trace, 1):
        unseen = np.delete(now.w, now.seen)
        yield equal(float(np.abs(unseen).sum()), 0.0, "weight on columns not seen", t)
        yield at_least(now.best, now.corrective, "D after the update", t)


@SOURCE.claim(
    "Eq13-rounds",
    "Sec. 5.2, after Eq. 13",
    "Lemma 12 and the bound of Theorem 9 hold for the totally corrective update as well.",
    formula="ε_t − ε_{t+1} ≥ βε_t²/8, t ≤ 32 log(m)/ε²",
    printed="Therefore, Lemma 12 holds for the totally corrective update as well. The rest of the "
    "proof of Thm. 9 remains intact.",
    given="f the indicator of ‖d‖_∞ ≤ 1/k, A in [−1, 1]^(m×n), m ≥ 2",
    space=CAPPED_RUNS,
).checked(trials=20)
def totally_corrective_rounds(x: Instance) -> Slacks:
    """By Eq. 13; not tight, see `Eq13-sharper`.

    A column enters once, so that there are at most n + 1 rounds, too.
    """
    trace, rounds = totally_corrective_run(x)
    yield at_most(rounds, 32.0 * math.log(len(x.A)) / x.epsilon**2, "rounds")
    yield at_most(rounds, x.A.shape[1] + 1, "rounds and columns")
    most = x.optimum(smoothed_game(x))
    for t, now in enumerate(trace, 1):
        left = most - now.value
        least = least_gain(left, beta(len(x.A), x.epsilon))
        yield at_least(now.best - now.value, least, "βε_t²/8", t)
        yield at_most(left, now.slope, "ε_t and the gap", t)


SOURCE.unchecked(
    "Eq13-runtime",
    "Sec. 5.2, last paragraph",
    "A corrective iteration takes much less time; totally corrective ones may converge faster.",
    "about running times, and experiments reported elsewhere",
)
