"""SS09, Sec. 4.2: Examples 1 and 2, for norms ‖Qd‖_p that are orthant-monotonic, and others.

With an arbitrary norm the margin side is not concave: [γ − Aw]_+ goes up and the dual norm of it
may come down. It is concave wherever the set of examples with a loss is given. All those sets are
tried, in convex programs, and the best of them is the global maximum.
"""

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from relaxboost._core.lazy import cp
from relaxboost.claims.language import *
from relaxboost.claims.sides import avg_min, in_l1_ball, on_simplex, optimal_value
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import dual

MONOTONE = ("max", "sum", "Euclidean")
"""Orthant-monotonic: ‖d‖ never grows when an entry is set to zero."""
NORMS = (*MONOTONE, "paired", "ellipsoid")
"""paired: max(2|d_1 − d_2|, |d_1 + d_2|/2), and so on for each pair of entries, an odd one being
|d_m|. ellipsoid: √(d·Md) with M = [[1, c], [c, 1]] for each pair."""

_ORDER = {"max": math.inf, "sum": 1.0, "Euclidean": 2.0, "paired": math.inf, "ellipsoid": 2.0}


class Norm:
    """‖Qd‖_p and its dual, ‖Q^{−T}θ‖_q with 1/p + 1/q = 1, for m examples.

    The name is one of `NORMS`, and c in (−1, 1) the coupling of "ellipsoid".
    """

    def __init__(self, name: str, m: int, c: float = 0.0) -> None:
        self.order = _ORDER[name]
        self.dual_order = dual(self.order)
        self.Q = np.eye(m)
        pair = {
            "paired": np.array([[2.0, -2.0], [0.5, 0.5]]),
            "ellipsoid": np.array([[1.0, c], [0.0, math.sqrt(1.0 - c * c)]]),
        }.get(name, np.eye(2))
        for i in range(0, m - 1, 2):
            self.Q[i : i + 2, i : i + 2] = pair
        self.dual_Q = np.linalg.inv(self.Q).T

    def size(self, d: Array) -> float:
        """Return ‖d‖."""
        return float(np.linalg.norm(self.Q @ d, self.order))

    def dual(self, theta: Array) -> float:
        """Return ‖θ‖_*."""
        return float(np.linalg.norm(self.dual_Q @ theta, self.dual_order))


def norm(x: Instance) -> Norm:
    """Return the norm of an instance."""
    return Norm(x.norm, len(x.A), x.c)


_FAR = 50.0
"""Above every loss of the games of `examples`."""


def hinge_side(x: Instance, penalty: bool) -> float:
    """Return the margin side as the paper has it, with [γ − Aw]_+, for a ball or a penalty."""
    losses = itertools.product((1.0, 0.0), repeat=len(x.A))
    return max(_margin_side(x, penalty, np.array(losing), 0.0) for losing in losses)


def least_side(x: Instance, penalty: bool) -> float:
    """Return the margin side, with min f*(x) over x ≥ γ − Aw instead of f*([γ − Aw]_+)."""
    return _margin_side(x, penalty, np.ones(len(x.A)), _FAR)


def _margin_side(x: Instance, penalty: bool, losing: Array, free: float) -> float:
    """Return the margin side with losses of the examples `losing` only; any, if `free`."""
    if penalty and x.nu < 0.0:
        return -math.inf  # no vector has a negative norm
    problem, p = _margins(*x.A.shape, norm(x).dual_order, penalty)
    p["A"].value, p["nu"].value = x.A, x.nu
    p["R"].value = norm(x).dual_Q * (1.0 if penalty else x.nu)
    p["low"].value, p["high"].value = np.full(len(x.A), -free), _FAR * losing
    p["slack"].value = _FAR * (1.0 - losing) + free
    return optimal_value(problem, norm(x).order != 2.0, -math.inf)


def edge_side(x: Instance, penalty: bool) -> float:
    """Return min over d in the simplex of ‖dᵀA‖_∞ + ν‖d‖, or subject to ‖d‖ ≤ ν."""
    if penalty and x.nu < 0.0:  # f is concave: an upper bound, the least value at a vertex
        vertices = np.eye(len(x.A))
        return min(float(np.abs(x.A.T @ d).max()) + x.nu * norm(x).size(d) for d in vertices)
    problem, p = _edges(*x.A.shape, norm(x).order, penalty)
    p["A"].value, p["nu"].value = x.A, x.nu
    p["Q"].value = norm(x).Q * (x.nu if penalty else 1.0)
    return optimal_value(problem, norm(x).order != 2.0, math.inf)


@cache
def _margins(m: int, n: int, order: float, penalty: bool) -> tuple[Any, dict[str, Any]]:
    p = {"A": cp.Parameter((m, n)), "R": cp.Parameter((m, m)), "nu": cp.Parameter(nonneg=True)}
    p |= {name: cp.Parameter(m) for name in ("low", "high", "slack")}
    w, gamma, x = cp.Variable(n), cp.Variable(), cp.Variable(m)
    loss, short = cp.norm(p["R"] @ x, order), gamma - p["A"] @ w
    where = [x >= short, x <= short + p["slack"], x >= p["low"], x <= p["high"], cp.norm1(w) <= 1]
    if penalty:
        return cp.Problem(cp.Maximize(gamma), [*where, loss <= p["nu"]]), p
    return cp.Problem(cp.Maximize(gamma - loss), where), p


@cache
def _edges(m: int, n: int, order: float, penalty: bool) -> tuple[Any, dict[str, Any]]:
    p = {"A": cp.Parameter((m, n)), "Q": cp.Parameter((m, m)), "nu": cp.Parameter(nonneg=True)}
    d = cp.Variable(m, nonneg=True)
    size, edge = cp.norm(p["Q"] @ d, order), cp.norm_inf(p["A"].T @ d)
    if penalty:
        return cp.Problem(cp.Minimize(edge + size), [cp.sum(d) == 1]), p
    return cp.Problem(cp.Minimize(edge), [cp.sum(d) == 1, size <= p["nu"]]), p


GAMES = Space(
    sizes={"m": (1, 3), "n": (1, 2)},
    A=Matrix(),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
    nu=Real(0.2, 1.5),
)


@SOURCE.claim("E1", space=GAMES).checked(trials=40, resolution=1e-6)
def norm_ball(x: Instance) -> Slack:
    assume(_meets_simplex(x))
    return equal(solved(hinge_side(x, False)), solved(edge_side(x, False)), x.norm)


@norm_ball.corrected()
def monotone_norm_ball(x: Instance) -> Slack:
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    return norm_ball(x)[0]


@norm_ball.corrected()
def any_norm_ball(x: Instance) -> Slack:
    assume(_meets_simplex(x))
    return equal(solved(least_side(x, False)), solved(edge_side(x, False)), x.norm)


def _meets_simplex(x: Instance) -> bool:
    m = len(x.A)
    return 1.02 * norm(x).size(np.full(m, 1.0 / m)) <= x.nu


@SOURCE.claim("E2", space=GAMES.but(nu=Real(-0.2, 1.5))).checked(trials=40, resolution=1e-6)
def norm_penalty(x: Instance) -> Slack:
    return equal(solved(hinge_side(x, True)), solved(edge_side(x, True)), x.norm)


@norm_penalty.corrected()
def monotone_norm_penalty(x: Instance) -> Slack:
    assume(x.nu >= 0.0 and x.norm in MONOTONE)
    return norm_penalty(x)[0]


@norm_penalty.corrected()
def any_norm_penalty(x: Instance) -> Slack:
    assume(x.nu >= 0.0)
    return equal(solved(least_side(x, True)), solved(edge_side(x, True)), x.norm)


ENTRY = Space(
    sizes={"m": (1, 4)},
    theta=Vector("m"),
    i=Whole(1, "m"),
    alpha=Real(0.0, 1.0),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
).including({"theta": [1, -1], "i": 2, "alpha": 1, "norm": "paired", "c": 0})


def _without_entry(x: Instance) -> Slack:
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    dual = Norm(x.norm, len(x.theta), x.c).dual
    less = np.array(x.theta)
    less[x.i - 1] *= 1.0 - x.alpha
    return at_most(dual(less), dual(x.theta), x.norm)


ABOVE = GAMES.but(
    w=Weights(), d=Vector("m", 0.0, 1.0), gamma=Real(-1.0, 1.0), more=Vector("m", 0.0, 1.0)
).including(
    {"A": [[0], [0]], "norm": "max", "c": 0, "nu": 1, "w": [0], "d": ["1/2", "1/2"]}
    | {"gamma": 1, "more": [0, 0]}
)


def _threshold(x: Instance) -> Slack:
    d, w = on_simplex(exactly(x.d)), in_l1_ball(exactly(x.w))
    at = (Fraction(x.gamma) - exactly(x.A) @ w + exactly(x.more)).astype(np.float64)
    edge = float(np.abs(d @ exactly(x.A)).max())
    return at_most(x.gamma, edge + norm(x).size(d.astype(np.float64)) * norm(x).dual(at), x.norm)


for _claim in (monotone_norm_ball, monotone_norm_penalty):
    _claim.step(space=ENTRY)(_without_entry)
for _claim in (any_norm_ball, any_norm_penalty):
    _claim.step(space=ABOVE)(_threshold)


@SOURCE.claim(
    "E1-soft-margin", space=Space(u=Vector("m"), k=Whole(1, "m"), gamma=Real(-2.0, 2.0))
).checked(trials=200)
def soft_margin(x: Instance) -> Slacks:
    u, k = exactly(x.u), x.k
    yield equal(max(_soft(u, k, v) for v in u), avg_min(u, k), "greatest soft margin and average")
    yield at_most(_soft(u, k, Fraction(x.gamma)), avg_min(u, k), "the γ drawn")


def _soft(u: Exact, k: int, gamma: Fraction) -> Fraction:
    """Return γ − (1/k) Σ_i [γ − u_i]_+."""
    return gamma - sum((max(gamma - v, Fraction(0)) for v in u), Fraction(0)) / k


@soft_margin.step()
def _(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    losses = sum(max(gamma - v, Fraction(0)) for v in u)
    return at_least(losses, sum(gamma - v for v in sorted(u)[: x.k]))
