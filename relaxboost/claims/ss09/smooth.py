"""D, P and d_t of SS09, Sec. 5.1, from their definitions, for caps and the f of `family`.

Nothing here uses the projections of the package. Arguments u are margins Aw along the last axis,
one row a round. The f "caps" is the indicator of ‖d‖_∞ ≤ 1/k.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.family import REGULARISERS, entropy
from relaxboost.claims.ss09.runs import Round, beta, fig1, smoothed
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, Relaxation

CAPPED_RUNS = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), epsilon=Real(0.1, 1.0, log=True)
)
"""Games for Fig. 1: k = 1 is the hard margin, k > 1 the soft margin of Eq. 6 with ν = 1/k."""

F = Choice("caps", *REGULARISERS)
FAMILY_RUNS = CAPPED_RUNS.but(f=F)
"""The same for the other f, too."""

F_GIVEN = (
    "f the indicator of ‖d‖_∞ ≤ 1/k (k = 1 is the hard margin) or of ‖d‖_2 ≤ 1.05/√k, s‖d‖_∞, "
    "s(m‖d‖_2² − 1), which lacks s for (i), sh, or s|d_1| as a user's own f; s = 3k/(10m)"
)


def f_of(x: Instance) -> str:
    """Return the f of an instance, which is that of caps where its space has no other."""
    found: str = getattr(x, "f", "caps")
    return found


def relaxation(x: Instance) -> Relaxation:
    """Return the f of an instance with A and k, for a game."""
    f = f_of(x)
    return Capped(x.k) if f == "caps" else REGULARISERS[f].relaxation(len(x.A), x.k)


def game(x: Instance) -> Game:
    """Return the game of an instance with A and k, and f if it has one."""
    return Game(x.A, relaxation(x))


def smoothed_game(x: Instance) -> Game:
    """Return the game of the same instance with f + βh for f, whose value is max D."""
    return smoothed(game(x), x.epsilon)


class Fig1Run:
    """A run of Fig. 1 on an instance with A, k and epsilon, and what the proof looks at.

    The options are those of `fig1`. For caps the package runs it, for another f `fig1_by_hand`.
    """

    def __init__(self, x: Instance, **options: Any) -> None:
        self.A: Array = x.A
        self.m, self.k, self.f = len(x.A), x.k, f_of(x)
        self.beta: float = options.get("smoothing") or beta(self.m, x.epsilon)
        self.rounds: list[Round] = (
            fig1(game(x), x.epsilon, **options)
            if self.f == "caps"
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
    x: Instance, *, max_rounds: int | None = None, to_gap: float | None = None
) -> Iterator[Round]:
    """Yield the rounds of Fig. 1 for an f of `family`, in NumPy; for the options see `fig1`."""
    A, smoothing, w = x.A, beta(len(x.A), x.epsilon), np.zeros(x.A.shape[1])
    threshold = x.epsilon if to_gap is None else to_gap
    for number in itertools.count(1):
        u = A @ w
        d = distribution(u, x.k, smoothing, x.f)[0]
        edges = d @ A
        j = int(np.argmax(np.abs(edges)))
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
    """Return argmin over d in the simplex of <u, d> + f(d) + βh(d), one row for each row of u.

    For caps the Lagrange conditions are d_i = min(1/k, ξ e^{−u_i/β}). Each number of capped
    entries, these being those of least margin, is tried in turn.
    """
    u = np.atleast_2d(u)
    if f != "caps":
        return REGULARISERS[f].distribution(u, k, beta)
    order = np.argsort(u, axis=-1, kind="stable")
    logs = -(np.take_along_axis(u, order, -1) - np.min(u, axis=-1, keepdims=True)) / beta
    d, found = np.full_like(u, 1.0 / k), np.zeros(len(u), dtype=bool)
    for capped in range(min(k, u.shape[-1] - 1) + 1):
        rest = logs[:, capped:]
        with np.errstate(under="ignore"):
            shares = np.exp(rest - rest[:, :1])
        free = (1.0 - capped / k) * shares / np.sum(shares, axis=-1, keepdims=True)
        new = ~found & (free[:, 0] <= (1.0 + 1e-14) / k)
        d[new, capped:] = free[new]
        found |= new
    back = np.empty_like(d)
    np.put_along_axis(back, order, d, -1)
    return back


def smooth(u: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return −f̂*(−u) = min over d of <u, d> + f(d) + βh(d), which is D(w) for u = Aw."""
    d = distribution(u, k, beta, f).reshape(np.shape(u))
    found: Array = np.sum(u * d, axis=-1) + hat(d, k, beta, f)
    return found


def margin(u: Array, k: int, f: str = "caps") -> Array:
    """Return −f̃*(−u), which is the mean of the k smallest margins for caps."""
    if f != "caps":
        return REGULARISERS[f].margin(u, k)
    found: Array = np.mean(np.sort(u, axis=-1)[..., :k], axis=-1)
    return found


def hat(d: Array, k: int, beta: float, f: str = "caps") -> Array:
    """Return f̂(d) = f(d) + βh(d) for d in the simplex, within the cap or the ball."""
    found = beta * entropy(d)
    return found if f == "caps" else found + REGULARISERS[f].f(d, k)


def least_gain(suboptimality: Bracket, beta: float) -> Bracket:
    """Return βε_t²/8 of Lemma 12 for an ε_t >= 0 that is known to lie in a bracket."""
    low, high = max(0.0, float(suboptimality.lower)), float(suboptimality.upper)
    return Bracket(low * low, high * high) * (beta / 8.0)
