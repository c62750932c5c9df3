"""Pairs f, g with their conjugates, written by hand, for Fenchel's theorem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, xlogy

from relaxboost._core.arrays import Array
from relaxboost._core.lazy import cp
from relaxboost.claims import Bracket, Instance
from relaxboost.claims.arrays import normalised
from relaxboost.claims.sides import indicator, optimal_value, optimum, solved
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
    pair, (m, n) = PAIRS[x.pair], x.A.shape
    if x.pair == "squares":  # both gradients are linear
        d = np.linalg.solve(np.eye(m) + x.A @ x.A.T, x.b + x.A @ x.c)
        w = np.linalg.solve(np.eye(n) + x.A.T @ x.A, x.A.T @ x.b - x.c)
    elif x.pair == "entropy and max norm":  # the points of the game with f = Σ d log(m d)
        _, d, w = optimum(x, Game(x.A, KLPenalty(1)))
        d, w = _distribution(d.astype(np.float64)), _shorter(w.astype(np.float64), 1)
    else:
        return _programs(x)
    left, right = pair.sides(x, d, w)
    return solved(left), solved(right), True


def _programs(x: Instance) -> tuple[Bracket, Bracket, bool]:
    """Solve both sides as they are written."""
    m, n = x.A.shape
    d, w, room = cp.Variable(m), cp.Variable(n), cp.Variable()
    edges, margins, b, k = x.A.T @ d, x.A @ w, np.abs(x.b), cap(m)
    if x.pair == "linear programs":
        most, within = -x.c @ w, [-margins <= b, w <= 0]
        least, where = b @ d, [edges >= x.c, d >= 0]
    elif x.pair == "Euclidean norms":
        most, within = x.b @ margins - x.c @ w, [cp.norm2(margins) <= 1, cp.abs(w) <= 1]
        least, where = cp.norm2(d - x.b) + cp.norm1(edges - x.c), []
    elif x.pair == "simplex and max norm":
        most, within = cp.min(margins), [cp.norm1(w) <= 1]
        least, where = cp.norm_inf(edges), [cp.sum(d) == 1, d >= 0]
    else:
        most, within = cp.sum_smallest(margins, k) / k, [cp.abs(w) <= 1]
        least, where = cp.norm1(edges), [cp.sum(d) == 1, d >= 0, d <= 1.0 / k]
    linear, regular = x.pair != "Euclidean norms", True
    left = optimal_value(cp.Problem(cp.Maximize(most), within), linear, math.inf)
    right = optimal_value(cp.Problem(cp.Minimize(least), where), linear, math.inf)
    if x.pair == "linear programs":
        # dom(g) − Aᵀdom(f) contains all that is above one of its points: 0 must be above one.
        above = [edges - room >= x.c, d >= 0, room <= 1]
        regular = optimal_value(cp.Problem(cp.Maximize(room), above), True) > 1e-3
    return solved(left), solved(right), regular
