"""SS09, Sec. 5.1: runs of the algorithm of Fig. 1, and the quantities in its rate proof.

The penalties f are those of the module `family`, and h is the relative entropy.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy
from relaxboost.claims.ss09.family import FORMS
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import KLPenalty
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun
from relaxboost.solvers.rounds import Rounds

CAPPED_RUNS = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), epsilon=Real(0.1, 1.0, log=True)
)
"""The runs of Fig. 1 with the cap 1/k. For k = 1 the game has the hard margin, and for k > 1 the
soft margin of Eq. 6."""

F = Choice(*FORMS)
FAMILY_RUNS = CAPPED_RUNS.but(f=F)

F_GIVEN = "f is the indicator of ‖d‖_∞ ≤ 1/k, s‖d‖_∞, s h(d) or s|d_1|, where s = 3k/(10m)"


def f_of(x: Instance) -> str:
    """Return the penalty name of an instance, by default "caps"."""
    return str(getattr(x, "f", "caps"))


def game(x: Instance) -> Game:
    """Return the game of an instance."""
    return Game(x.A, FORMS[f_of(x)].relaxation(len(x.A), x.k))


def smoothed_game(x: Instance) -> Game:
    """Return the smoothed game of an instance, with f + βh instead of f.

    Its value is the maximum of D(w) over weights w.
    """
    return smoothed(game(x), x.epsilon)


@dataclass(frozen=True)
class Round:
    """A round of the algorithm of Fig. 1: weights w_t, distribution d_t, and chosen column."""

    number: int
    w: Array
    d: Array
    gap: float
    """The gap <d_t, A(e_j − w_t)> of the stopping test, where e_j is the signed unit vector of the
    chosen column."""
    column: int
    """The index j of the chosen column."""
    sign: int
    """The sign of the chosen column's edge. Fig. 1 of the paper assumes that it is 1."""


def fig1(
    game: Game,
    epsilon: float,
    *,
    max_rounds: int | None = None,
    to_gap: float | None = None,
    smoothing: float | None = None,
) -> list[Round]:
    """Run the algorithm of Fig. 1 until the gap is at most `to_gap`, by default ε.

    Return the rounds. The smoothing parameter β is `smoothing`, by default ε/(2 log m).
    """
    threshold = epsilon if to_gap is None else to_gap
    trace: list[Round] = []
    smoothing = beta(game.m, epsilon) if smoothing is None else smoothing
    for state in Rounds(game, CorrectiveRun(game, smoothing, "fig1")):
        w = np.zeros(game.n or 0)
        best = state.best
        support, coefficients = state.active.coefficients(state.active.snapshot())
        w[support] = coefficients
        assert isinstance(best, Best)
        trace.append(Round(state.round, w, state.d, state.smoothed_gap, best.id, best.sign))
        if state.smoothed_gap <= threshold or state.round == max_rounds:
            break
    return trace


def beta(m: int, epsilon: float) -> float:
    """Return β = ε/(2 log m), or 1 if m = 1, since β then has no effect."""
    return epsilon / (2.0 * math.log(m)) if m > 1 else 1.0


def smoothed(game: Game, epsilon: float) -> Game:
    """Return the smoothed game that Fig. 1 solves, with f + βh and the relative entropy h."""
    return Game(game.matrix, game.relaxation + KLPenalty(beta(game.m, epsilon)))


class Fig1Run:
    """A run of Fig. 1 on an instance, with the quantities of the proof.

    The instance has a matrix A, the number k of the cap 1/k, and ε. The options are those of `fig1`
    and `fig1_by_hand`.
    """

    def __init__(self, x: Instance, **options: Any) -> None:
        # The package itself runs Fig. 1 only for caps and an exact weak learner.
        self.A: Array = x.A
        self.m = len(x.A)
        self.k = x.k
        self.f = f_of(x)
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
        """The vectors A(e^{j_t} − w_t), with a row for each round. Here e^{j_t} is the signed unit
        vector of the chosen column."""
        self.slope: Array = np.sum(self.d * self.v, axis=-1)
        """The gaps <d_t, v_t> of the stopping test, where v_t is a row of `v`."""
        self.D: Array = smooth(self.u, self.k, self.beta, self.f)
        """The smoothed objective D(w_t) of each round."""


def fig1_by_hand(
    x: Instance, *, max_rounds: int | None = None, to_gap: float | None = None, delta: float = 0.0
) -> Iterator[Round]:
    """Yield the rounds of Fig. 1, computed in NumPy without the package's solvers.

    The weak learner returns the worst column whose edge is within `delta` of the best edge.
    """
    A = x.A
    smoothing = beta(len(x.A), x.epsilon)
    w = np.zeros(x.A.shape[1])
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
    """Return the minimiser d of <u, d> + f(d) + βh(d), for each row u of margins."""
    return FORMS[f].distribution(np.atleast_2d(u), k, beta)


def smooth(u: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return D(w), the minimum of <u, d> + f(d) + βh(d) over distributions d, where u = Aw."""
    d = distribution(u, k, beta, f).reshape(np.shape(u))
    return np.asarray(np.sum(u * d, axis=-1) + hat(d, k, beta, f))


def margin(u: Array, k: int, f: str = "caps") -> Array:
    """Return the relaxed margin, the minimum of <u, d> + f(d) over distributions d.

    For caps, it is the mean of the k smallest margins.
    """
    return FORMS[f].margin(u, k)


def hat(d: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return f(d) + βh(d) for a distribution d. If f is "caps", d must satisfy the cap."""
    return beta * entropy(d) + FORMS[f].f(d, k)


def least_gain(suboptimality: Bracket, beta: float) -> Bracket:
    """Return an interval for the gain βε_t²/8 of Lemma 12 from an interval for the error ε_t."""
    low, high = max(0.0, float(suboptimality.lower)), float(suboptimality.upper)
    return Bracket(low * low, high * high) * (beta / 8.0)
