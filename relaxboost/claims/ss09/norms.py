"""Norms ‖Qd‖_p, orthant-monotonic and other, and both sides of SS09's Examples 1 and 2 for them.

With an arbitrary norm the margin side is not concave: [γ − Aw]_+ goes up and the dual norm of it
may come down. It is concave wherever the set of examples with a loss is given. All those sets are
tried, in convex programs, and the best of them is the global maximum.
"""

import itertools
import math
from functools import cache
from typing import Any

import numpy as np

from relaxboost._core.lazy import cp
from relaxboost.claims.language import *
from relaxboost.claims.sides import optimal_value
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


def hinge_side(x: Instance, penalty: bool) -> float:
    """Return the margin side as the paper has it, with [γ − Aw]_+, for a ball or a penalty."""
    if penalty and x.nu < 0.0:
        return -math.inf  # no vector has a negative norm
    m, n = x.A.shape
    problem, p = _losses(m, n, norm(x).dual_order, penalty)
    R = norm(x).dual_Q * (1.0 if penalty else x.nu)
    best = -math.inf
    for active in itertools.product((1.0, 0.0), repeat=m):
        losing = np.array(active)
        sign = 2.0 * losing - 1.0
        p["RA"].value, p["r"].value = R @ (losing[:, None] * x.A), R @ losing
        p["SA"].value, p["sign"].value = sign[:, None] * x.A, sign
        p["nu"].value = x.nu
        best = max(best, optimal_value(problem, norm(x).order != 2.0, -math.inf))
    return best


def least_side(x: Instance, penalty: bool) -> float:
    """Return the margin side, with min f*(x) over x ≥ γ − Aw instead of f*([γ − Aw]_+)."""
    problem, p = _free(*x.A.shape, norm(x).dual_order, penalty)
    p["A"].value, p["nu"].value = x.A, x.nu
    p["R"].value = norm(x).dual_Q * (1.0 if penalty else x.nu)
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
def _losses(m: int, n: int, order: float, penalty: bool) -> tuple[Any, dict[str, Any]]:
    p = {
        "RA": cp.Parameter((m, n)),
        "r": cp.Parameter(m),
        "SA": cp.Parameter((m, n)),
        "sign": cp.Parameter(m),
        "nu": cp.Parameter(nonneg=True),
    }
    w, gamma = cp.Variable(n), cp.Variable()
    loss = cp.norm(p["r"] * gamma - p["RA"] @ w, order)
    where = [p["sign"] * gamma - p["SA"] @ w >= 0, cp.norm1(w) <= 1]
    if penalty:
        return cp.Problem(cp.Maximize(gamma), [*where, loss <= p["nu"]]), p
    return cp.Problem(cp.Maximize(gamma - loss), where), p


@cache
def _free(m: int, n: int, order: float, penalty: bool) -> tuple[Any, dict[str, Any]]:
    p = {"A": cp.Parameter((m, n)), "R": cp.Parameter((m, m)), "nu": cp.Parameter(nonneg=True)}
    w, gamma, x = cp.Variable(n), cp.Variable(), cp.Variable(m)
    loss, where = cp.norm(p["R"] @ x, order), [x >= gamma - p["A"] @ w, cp.norm1(w) <= 1]
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
