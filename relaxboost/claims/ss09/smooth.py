"""D, P and d_t of SS09, Sec. 5.1, from their definitions, for caps and the f of `family`.

Nothing here uses the projections of the package. Arguments u are margins Aw along the last axis,
one row a round. The f "caps" is the indicator of ‖d‖_∞ ≤ 1/k.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.family import FORMS, entropy
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import KLPenalty
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun
from relaxboost.solvers.rounds import Rounds

CAPPED_RUNS = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), epsilon=Real(0.1, 1.0, log=True)
)
"""Games for Fig. 1: k = 1 is the hard margin, k > 1 the soft margin of Eq. 6 with ν = 1/k."""

F = Choice(*FORMS)
FAMILY_RUNS = CAPPED_RUNS.but(f=F)
"""The same for the other f, too."""

F_GIVEN = "f the indicator of ‖d‖_∞ ≤ 1/k, s‖d‖_∞, sh or s|d_1|, s = 3k/(10m)"


def f_of(x: Instance) -> str:
    """Return the f of an instance, which is that of caps where its space has no other."""
    return str(getattr(x, "f", "caps"))


def game(x: Instance) -> Game:
    """Return the game of an instance with A and k, and f if it has one."""
    return Game(x.A, FORMS[f_of(x)].relaxation(len(x.A), x.k))


def smoothed_game(x: Instance) -> Game:
    """Return the game of the same instance with f + βh for f, whose value is max D."""
    return smoothed(game(x), x.epsilon)


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
        trace.append(Round(state.round, w, state.d, state.smoothed_gap, best.id, best.sign))
        if state.smoothed_gap <= threshold or state.round == max_rounds:
            break
    return trace


def beta(m: int, epsilon: float) -> float:
    """Return ε/(2 log m), and a β that smooths nothing away where m = 1."""
    return epsilon / (2.0 * math.log(m)) if m > 1 else 1.0


def smoothed(game: Game, epsilon: float) -> Game:
    """Return the game that Fig. 1 solves: f + βh in place of f, with h = Σ d log(m d)."""
    return Game(game.matrix, game.relaxation + KLPenalty(beta(game.m, epsilon)))


class Fig1Run:
    """A run of Fig. 1 on an instance with A, k and epsilon, and what the proof looks at.

    The options are those of `fig1`. For caps the package runs it; for another f, or if weak
    learners are within `delta` of the best, `fig1_by_hand` does.
    """

    def __init__(self, x: Instance, **options: Any) -> None:
        self.A: Array = x.A
        self.m, self.k, self.f = len(x.A), x.k, f_of(x)
        self.beta: float = options.get("smoothing") or beta(self.m, x.epsilon)
        self.rounds: list[Round] = (
            fig1(game(x), x.epsilon, **options)
            if self.f == "caps" and "delta" not in options
            else list(fig1_by_hand(x, **options))
        )
        w = np.array([now.w for now in self.rounds])
        self.d: Array = np.array([now.d for now in self.rounds])
        self.u: Array = w @ self.A.T
        e = np.zeros_like(w)
        for row, now in zip(e, self.rounds, strict=True):
            row[now.column] = now.sign
        self.v: Array = (e - w) @ self.A.T
        """A(e^{j_t} − w_t)."""
        self.slope: Array = np.sum(self.d * self.v, axis=-1)
        """<d_t, A(e^{j_t} − w_t)>."""
        self.D: Array = smooth(self.u, self.k, self.beta, self.f)
        """D(w_t)."""


def fig1_by_hand(
    x: Instance, *, max_rounds: int | None = None, to_gap: float | None = None, delta: float = 0.0
) -> Iterator[Round]:
    """Yield the rounds of Fig. 1 in NumPy; for the options see `fig1`.

    Each round takes the worst of the columns whose edges are within `delta` of the best.
    """
    A, smoothing, w = x.A, beta(len(x.A), x.epsilon), np.zeros(x.A.shape[1])
    threshold = x.epsilon if to_gap is None else to_gap
    for number in itertools.count(1):
        u = A @ w
        d = distribution(u, x.k, smoothing, f_of(x))[0]
        edges = d @ A
        sizes = np.abs(edges)
        j = int(np.argmin(np.where(sizes >= sizes.max() - delta, sizes, np.inf)))
        sign = -1 if edges[j] < 0.0 else 1
        v = sign * A[:, j] - u
        gap, size = float(d @ v), float(np.max(np.abs(v)))
        yield Round(number, w, d, gap, j, sign)
        if gap <= threshold or number == max_rounds:
            return
        eta = min(1.0, smoothing * gap / size**2)
        w = (1.0 - eta) * w
        w[j] += eta * sign


def distribution(u: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return argmin over d in the simplex of <u, d> + f(d) + βh(d), one row for each row of u."""
    return FORMS[f].distribution(np.atleast_2d(u), k, beta)


def smooth(u: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return −f̂*(−u) = min over d of <u, d> + f(d) + βh(d), which is D(w) for u = Aw."""
    d = distribution(u, k, beta, f).reshape(np.shape(u))
    found: Array = np.sum(u * d, axis=-1) + hat(d, k, beta, f)
    return found


def margin(u: Array, k: int, f: str = "caps") -> Array:
    """Return −f̃*(−u), which is the mean of the k smallest margins for caps."""
    return FORMS[f].margin(u, k)


def hat(d: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return f̂(d) = f(d) + βh(d) for d in the simplex, within the cap."""
    return beta * entropy(d) + FORMS[f].f(d, k)


def least_gain(suboptimality: Bracket, beta: float) -> Bracket:
    """Return βε_t²/8 of Lemma 12 for an ε_t >= 0 that is known to lie in a bracket."""
    low, high = max(0.0, float(suboptimality.lower)), float(suboptimality.upper)
    return Bracket(low * low, high * high) * (beta / 8.0)
