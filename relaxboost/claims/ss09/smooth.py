"""D, P and d_t of SS09, Sec. 5.1, for f the indicator of ‖d‖_∞ ≤ 1/k, from their definitions.

Nothing here uses the projections of the package. Arguments u are margins Aw along the last axis,
one row a round.
"""

import math
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import Round, beta, fig1, smoothed
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

CAPPED_RUNS = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), epsilon=Real(0.1, 1.0, log=True)
)
"""Games for Fig. 1: k = 1 is the hard margin, k > 1 the soft margin of Eq. 6 with ν = 1/k."""


def game(x: Instance) -> Game:
    """Return the game of an instance with A and k."""
    return Game(x.A, Capped(x.k))


def smoothed_game(x: Instance) -> Game:
    """Return the game of the same instance with f + βh for f, whose value is max D."""
    return smoothed(game(x), x.epsilon)


class Fig1Run:
    """A run of Fig. 1 on an instance with A, k and epsilon, and what the proof looks at.

    The options are those of `fig1`.
    """

    def __init__(self, x: Instance, **options: Any) -> None:
        self.A: Array = x.A
        self.m, self.k = len(x.A), x.k
        self.epsilon: float = x.epsilon
        self.beta: float = options.get("smoothing") or beta(self.m, x.epsilon)
        self.rounds: list[Round] = fig1(game(x), x.epsilon, **options)
        self.w: Array = np.array([now.w for now in self.rounds])
        self.d: Array = np.array([now.d for now in self.rounds])
        self.steps: Array = np.array([now.step for now in self.rounds[1:]])
        """η_t, which led from w_t to w_{t+1}; one fewer than rounds."""
        self.u: Array = self.w @ self.A.T
        self.e: Array = np.zeros_like(self.w)
        """e^{j_t}, with its sign."""
        for row, now in zip(self.e, self.rounds, strict=True):
            row[now.column] = now.sign
        self.v: Array = (self.e - self.w) @ self.A.T
        """A(e^{j_t} − w_t)."""
        self.slope: Array = np.sum(self.d * self.v, axis=-1)
        """<d_t, A(e^{j_t} − w_t)>."""
        self.D: Array = smooth(self.u, self.k, self.beta)
        """D(w_t)."""


def distribution(u: Array, k: float, beta: float) -> Array:
    """Return argmin over d in the simplex, d ≤ 1/k, of <u, d> + βh(d).

    Its Lagrange conditions: d_i = min(1/k, ξ e^{−u_i/β}). Each number of capped entries, these
    being those of least margin, is tried in turn.
    """
    u = np.atleast_2d(u)
    order = np.argsort(u, axis=-1, kind="stable")
    logs = -(np.take_along_axis(u, order, -1) - np.min(u, axis=-1, keepdims=True)) / beta
    d, found = np.full_like(u, 1.0 / k), np.zeros(len(u), dtype=bool)
    for capped in range(math.floor(k) + 1):
        rest = logs[:, capped:]
        if not rest.shape[1]:
            break
        with np.errstate(under="ignore"):
            shares = np.exp(rest - rest[:, :1])
        free = (1.0 - capped / k) * shares / np.sum(shares, axis=-1, keepdims=True)
        new = ~found & (free[:, 0] <= (1.0 + 1e-14) / k)
        d[new, capped:] = free[new]
        found |= new
    back = np.empty_like(d)
    np.put_along_axis(back, order, d, -1)
    return back


def entropy(d: Array) -> Array:
    """Return h(d) = Σ d log d + log m."""
    logs = np.log(d, out=np.zeros_like(d), where=d > 0.0)
    found: Array = np.sum(d * logs, axis=-1) + math.log(d.shape[-1])
    return found


def smooth(u: Array, k: float, beta: float) -> Array:
    """Return −f̂*(−u) = min over d of <u, d> + f(d) + βh(d), which is D(w) for u = Aw."""
    if k == 1:
        least = np.min(u, axis=-1, keepdims=True)
        means = np.mean(np.exp(-(u - least) / beta), axis=-1)
        found: Array = least[..., 0] - beta * np.log(means)
        return found
    d = distribution(u, k, beta).reshape(np.shape(u))
    found = np.sum(u * d, axis=-1) + beta * entropy(d)
    return found


def margin(u: Array, k: float) -> Array:
    """Return −f̃*(−u), the mean of the k smallest margins."""
    ranked = np.sort(u, axis=-1)
    whole = math.floor(k)
    total = np.sum(ranked[..., :whole], axis=-1)
    if whole < k:
        total = total + (k - whole) * ranked[..., whole]
    found: Array = total / k
    return found


def primal(A: Array, d: Array, beta: float) -> Array:
    """Return P(d) = f(d) + βh(d) + ‖Aᵀd‖_∞ for d within the cap."""
    found: Array = beta * entropy(d) + np.max(np.abs(d @ A), axis=-1)
    return found


def least_gain(suboptimality: Bracket, beta: float) -> Bracket:
    """Return βε_t²/8 of Lemma 12 for an ε_t >= 0 that is known to lie in a bracket."""
    low, high = max(0.0, float(suboptimality.lower)), float(suboptimality.upper)
    return Bracket(low * low, high * high) * (beta / 8.0)


def within(rng: np.random.Generator, m: int, k: float, count: int) -> Array:
    """Return random distributions with entries of at most 1/k, vertices and mixtures of them."""
    made = rng.dirichlet(np.full(m, 0.5), count)
    corners = np.array([_corner(rng.permutation(m), k) for _ in range(count)])
    share = rng.random((count, 1)) * (rng.random((count, 1)) < 0.7)
    outside = np.max(made, axis=-1, keepdims=True) > 1.0 / k
    made = np.where(outside, 1.0 / m, made)
    found: Array = share * made + (1.0 - share) * corners
    return found


def _corner(order: Any, k: float) -> Array:
    d = np.zeros(len(order))
    whole = math.floor(k)
    d[order[:whole]] = 1.0 / k
    if whole < k:
        d[order[whole]] = (k - whole) / k
    return d
