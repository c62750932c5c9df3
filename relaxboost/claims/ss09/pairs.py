"""Pairs f, g with their conjugates, written by hand, for Fenchel's theorem."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, xlogy

from relaxboost._core.lazy import cp
from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.sides import indicator, optimal_value, optimum
from relaxboost.game.game import Game
from relaxboost.relaxations import KLPenalty

Value = Callable[[Instance, Array], float]

_OUTSIDE = 1e-12
"""How far a point may be outside of a domain by rounding; what it is worth is within the error
granted to floats."""


@dataclass(frozen=True)
class FenchelPair:
    """f on R^m and g on R^n, their conjugates, and a way into the domains."""

    f: Value
    f_star: Value
    g: Value
    g_star: Value
    points: Callable[[Instance], tuple[Array, Array]]
    """A d of dom(f) and a w of dom(g*), made of those drawn."""

    def sides(self, x: Instance, d: Array, w: Array) -> tuple[float, float]:
        """Return −f*(−Aw) − g*(w) and f(d) + g(dᵀA)."""
        left = -self.f_star(x, -x.A @ w) - self.g_star(x, w)
        return left, self.f(x, d) + self.g(x, d @ x.A)


def _simplex(d: Array) -> float:
    return indicator(d >= 0.0) + indicator(abs(d.sum() - 1.0) <= _OUTSIDE)


def _distribution(d: Array) -> Array:
    return normalised(np.abs(d))


def cap(m: int) -> int:
    """Return the k of the capped pair, half of the examples."""
    return (m + 1) // 2


def _capped(d: Array) -> Array:
    d, m = _distribution(d), d.size
    if d.max() <= 1.0 / cap(m):
        return d
    share = (1.0 / cap(m) - 1.0 / m) / (d.max() - 1.0 / m)
    return share * d + (1.0 - share) / m


def _shorter(w: Array, order: float) -> Array:
    return w / max(1.0, float(np.linalg.norm(w, order)))


def _into_programs(x: Instance) -> tuple[Array, Array]:
    """Scale d up until Aᵀd ≥ c, w down until −Aw ≤ b, as far as that is possible."""
    d, w = np.abs(x.d), -np.abs(x.w)
    reached, used = d @ x.A, -x.A @ w
    up = max([1.0, *(c / r for c, r in zip(x.c, reached, strict=True) if c > 0.0 < r)])
    down = min([1.0, *(abs(b) / u for b, u in zip(x.b, used, strict=True) if u > 0.0)])
    return up * d, down * w


PAIRS: dict[str, FenchelPair] = {
    "simplex and max norm": FenchelPair(
        f=lambda x, d: _simplex(d),
        f_star=lambda x, t: float(t.max()),
        g=lambda x, v: float(np.abs(v).max()),
        g_star=lambda x, w: indicator(np.abs(w).sum() <= 1.0 + _OUTSIDE),
        points=lambda x: (_distribution(x.d), _shorter(x.w, 1)),
    ),
    "capped simplex and sum norm": FenchelPair(
        f=lambda x, d: _simplex(d) + indicator(d <= 1.0 / cap(d.size) + _OUTSIDE),
        f_star=lambda x, t: float(np.sort(t)[-cap(t.size) :].mean()),
        g=lambda x, v: float(np.abs(v).sum()),
        g_star=lambda x, w: indicator(np.abs(w) <= 1.0),
        points=lambda x: (_capped(x.d), x.w),
    ),
    "squares": FenchelPair(
        f=lambda x, d: 0.5 * float(np.sum((d - x.b) ** 2)),
        f_star=lambda x, t: 0.5 * float(t @ t) + float(x.b @ t),
        g=lambda x, v: 0.5 * float(np.sum((v - x.c) ** 2)),
        g_star=lambda x, w: 0.5 * float(w @ w) + float(x.c @ w),
        points=lambda x: (x.d, x.w),
    ),
    "entropy and max norm": FenchelPair(
        f=lambda x, d: _simplex(d) + float(xlogy(d, np.maximum(d, 0.0)).sum()),
        f_star=lambda x, t: float(logsumexp(t)),
        g=lambda x, v: float(np.abs(v).max()),
        g_star=lambda x, w: indicator(np.abs(w).sum() <= 1.0 + _OUTSIDE),
        points=lambda x: (_distribution(x.d), _shorter(x.w, 1)),
    ),
    "linear programs": FenchelPair(
        f=lambda x, d: float(np.abs(x.b) @ d) + indicator(d >= 0.0),
        f_star=lambda x, t: indicator(t <= np.abs(x.b) + _OUTSIDE),
        g=lambda x, v: indicator(v >= x.c - _OUTSIDE),
        g_star=lambda x, w: float(x.c @ w) + indicator(w <= 0.0),
        points=_into_programs,
    ),
    "Euclidean norms": FenchelPair(
        f=lambda x, d: float(np.linalg.norm(d - x.b)),
        f_star=lambda x, t: float(x.b @ t) + indicator(np.linalg.norm(t) <= 1.0 + _OUTSIDE),
        g=lambda x, v: float(np.abs(v - x.c).sum()),
        g_star=lambda x, w: float(x.c @ w) + indicator(np.abs(w) <= 1.0),
        points=lambda x: (x.d, x.w / max(1.0, float(np.linalg.norm(x.A @ x.w)))),
    ),
}


def strong(x: Instance) -> tuple[Bracket, Bracket, bool]:
    """Return the left side, the right side, and whether the condition for equality holds."""
    if x.pair == "linear programs":
        return _programs(x)
    pair, (m, n), k = PAIRS[x.pair], x.A.shape, cap(len(x.A))
    if x.pair == "squares":  # both gradients are linear
        d = np.linalg.solve(np.eye(m) + x.A @ x.A.T, x.b + x.A @ x.c)
        w = np.linalg.solve(np.eye(n) + x.A.T @ x.A, x.A.T @ x.b - x.c)
        left, right = pair.sides(x, d, w)
    elif x.pair == "entropy and max norm":  # the points of the game with f = Σ d log(m d)
        _, d, w = optimum(x, Game(x.A, KLPenalty(1)))
        d, w = _distribution(d.astype(np.float64)), _shorter(w.astype(np.float64), 1)
        left, right = pair.sides(x, d, w)
    elif x.pair == "Euclidean norms":
        left, right = _norms(x)
    # −f*(−Aw) is the least of the rows, which are the margins, or the means of k margins
    elif x.pair == "simplex and max norm":
        left, right = _largest_least(x.A, 1), _least_norm(x.A, 1.0, math.inf)
    else:
        rows = np.array([x.A[list(s)].mean(0) for s in itertools.combinations(range(m), k)])
        left, right = _largest_least(rows, math.inf), _least_norm(x.A, 1.0 / k, 1)
    return solved(left), solved(right), True


def _largest_least(rows: Array, order: float) -> float:
    """Return max over ‖w‖ ≤ 1 of min (rows w), with w = p − q and p, q ≥ 0."""
    count, n = rows.shape
    cost = np.append(np.zeros(2 * n), -1.0)
    matrix, bounds = np.hstack([-rows, rows, np.ones((count, 1))]), np.zeros(count)
    if order == 1:
        matrix = np.vstack([matrix, np.append(np.ones(2 * n), 0.0)])
        bounds = np.append(bounds, 1.0)
    ranges = [(0.0, 1.0)] * (2 * n) + [(None, None)]
    return -_program(cost, matrix, bounds, ranges)


def _least_norm(A: Array, upper: float, order: float) -> float:
    """Return min over d in the simplex, d ≤ upper, of the norm of dᵀA."""
    m, n = A.shape
    slots = 1 if order == math.inf else n
    cover = np.ones((n, 1)) if slots == 1 else np.eye(n)
    cost = np.append(np.zeros(m), np.ones(slots))
    matrix = np.vstack([np.hstack([s * A.T, -cover]) for s in (1.0, -1.0)])
    ranges = [(0.0, upper)] * m + [(0.0, None)] * slots
    total = np.append(np.ones(m), np.zeros(slots))[None]
    return _program(cost, matrix, np.zeros(2 * n), ranges, total, np.ones(1))


def _program(cost: Any, rows: Any, at_most: Any, ranges: Any, *equal: Any) -> float:
    """Return the least value of a linear program, −inf or inf where there is none."""
    from scipy.optimize import linprog

    found = linprog(cost, rows, at_most, *(equal or (None, None)), bounds=ranges, method="highs")
    if found.status in (2, 3):
        return math.inf if found.status == 2 else -math.inf
    return float(found.fun)


def _programs(x: Instance) -> tuple[Bracket, Bracket, bool]:
    """dom(g) − Aᵀdom(f) contains all that is above one of its points: 0 must be above one."""
    m, n = x.A.shape
    b = np.abs(x.b)
    right = _program(b, -x.A.T, -x.c, [(0.0, None)] * m)
    left = -_program(x.c, -x.A, b, [(None, 0.0)] * n)
    above = np.hstack([-x.A.T, np.ones((n, 1))])
    ranges = [(0.0, None)] * m + [(None, 1.0)]
    room = -_program(np.append(np.zeros(m), -1.0), above, -x.c, ranges)
    return solved(left), solved(right), room > 1e-3


def _norms(x: Instance) -> tuple[float, float]:
    """min ‖d − b‖_2 + ‖Aᵀd − c‖_1 and max <b, Aw> − <c, w> over ‖Aw‖_2, ‖w‖_∞ ≤ 1."""
    m, n = x.A.shape
    d, w = cp.Variable(m), cp.Variable(n)
    least = cp.Minimize(cp.norm2(d - x.b) + cp.norm1(x.A.T @ d - x.c))
    most = cp.Maximize(x.b @ (x.A @ w) - x.c @ w)
    right = optimal_value(cp.Problem(least), False)
    left = optimal_value(cp.Problem(most, [cp.norm2(x.A @ w) <= 1, cp.abs(w) <= 1]), False)
    return left, right
