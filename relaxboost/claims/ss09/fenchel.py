"""SS09, Sec. 2: the conjugate of the conjugate, and Theorem 3."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.sides import indicator, optimum
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game


@SOURCE.claim("Eq1", space=Space(left=Real(-1.0, 1.0), right=Real(-1.0, 1.0), at=Real(-1.0, 1.0)))
def biconjugate(x: Instance) -> Slack:
    assume(not x.left > 0.0 > x.right)
    left, right, at = Fraction(x.left), Fraction(x.right), Fraction(x.at)
    knots = (-1, -left), (0, Fraction(0)), (1, right)
    slopes = left, right, (left + right) / 2
    hull = max(s * at - max(s * t - y for t, y in knots) for s in slopes)
    return equal(hull, at * (left if at < 0 else right), "f** and f")


@biconjugate.corrected()
def biconjugate_of_convex(x: Instance) -> Slack:
    assume(x.left <= x.right)
    return biconjugate(x)[0]


@biconjugate_of_convex.step()
def _(x: Instance) -> Slacks:
    assume(x.left <= x.right)
    left, right, at = Fraction(x.left), Fraction(x.right), Fraction(x.at)
    slope = left if at < 0 else right
    for t, y in ((-1, -left), (0, Fraction(0)), (1, right)):
        yield at_least(y, slope * at + slope * (t - at))


Value = Callable[[Instance, Array], float]
Points = tuple[Array, Array]
_OUTSIDE = 1e-12
"""How far a point may be outside of a domain by rounding."""


@dataclass(frozen=True)
class FenchelPair:
    """f on R^m and g on R^n, and their conjugates, by hand."""

    f: Value
    f_star: Value
    g: Value
    g_star: Value
    points: Callable[[Instance, Array, Array], Points]
    """A d of dom(f) and a w of dom(g*), made of those given."""
    best: Callable[[Instance], Points]
    """The best d and w."""


def _inside(x: Instance, d: Array, w: Array) -> Points:
    return normalised(np.abs(d)), w / max(1.0, float(np.abs(w).sum()))


def _of_the_game(x: Instance) -> Points:
    _, d, w = optimum(x, Game(x.A))
    return _inside(x, d.astype(np.float64), w.astype(np.float64))


def _least_squares(x: Instance) -> Points:
    """Return the d and the w at which the gradients, which are linear, vanish."""
    d = np.linalg.solve(np.eye(len(x.b)) + x.A @ x.A.T, x.b + x.A @ x.c)
    return d, np.linalg.solve(np.eye(len(x.c)) + x.A.T @ x.A, x.A.T @ x.b - x.c)


PAIRS = {
    "simplex and max norm": FenchelPair(
        f=lambda x, d: indicator(d >= 0.0) + indicator(abs(d.sum() - 1.0) <= _OUTSIDE),
        f_star=lambda x, t: float(t.max()),
        g=lambda x, v: float(np.abs(v).max()),
        g_star=lambda x, w: indicator(np.abs(w).sum() <= 1.0 + _OUTSIDE),
        points=_inside,
        best=_of_the_game,
    ),
    "squares": FenchelPair(
        f=lambda x, d: 0.5 * float(np.sum((d - x.b) ** 2)),
        f_star=lambda x, t: 0.5 * float(t @ t) + float(x.b @ t),
        g=lambda x, v: 0.5 * float(np.sum((v - x.c) ** 2)),
        g_star=lambda x, w: 0.5 * float(w @ w) + float(x.c @ w),
        points=lambda x, d, w: (d, w),
        best=_least_squares,
    ),
}
FENCHEL = Space(
    sizes={"m": (1, 6), "n": (1, 5)},
    A=Matrix(),
    pair=Choice(*PAIRS),
    d=Vector("m"),
    w=Vector("n"),
    b=Vector("m"),
    c=Vector("n"),
)


@SOURCE.claim(
    "T3",
    space=FENCHEL.including(
        {"A": [[1]], "pair": "squares", "d": [1], "w": [-1], "b": [1], "c": [1]},
        {"A": [[1]], "pair": "squares", "d": [1], "w": [1], "b": [0], "c": [0]},
    ),
).checked(trials=300)
def weak_duality(x: Instance) -> Slack:
    pair = PAIRS[x.pair]
    d, w = pair.points(x, x.d, x.w)
    left = -pair.f_star(x, -x.A @ w) - pair.g_star(x, w)
    return at_most(left, pair.f(x, d) + pair.g(x, d @ x.A), x.pair)


@weak_duality.step()
def _(x: Instance) -> Slacks:
    pair = PAIRS[x.pair]
    d, w = pair.points(x, x.d, x.w)
    yield at_most(float(-d @ x.A @ w), pair.f(x, d) + pair.f_star(x, -x.A @ w), "f")
    yield at_most(float(d @ x.A @ w), pair.g(x, d @ x.A) + pair.g_star(x, w), "g")


@SOURCE.claim("T3-exclusion", space=Space(s=Real(0.0, 2.0), r=Real(0.0, 2.0)))
def exclusion(x: Instance) -> Slack:
    assume(min(x.s, x.r) > 0.0)
    return equal(*_touching(x.s, x.r), "left and right side")


@exclusion.corrected()
def minkowski(x: Instance) -> Slack:
    assume(x.r > x.s)
    return equal(*_touching(x.s, x.r), "left and right side")


def _touching(s: float, r: float) -> tuple[float, float]:
    """Return max over w of −f*(−w) − g*(w), where w_2 = 0 ≤ w_1, and inf f + g."""
    if s > r:  # w_1 (s − r) has no bound, and no d_1 lies in [s, r]
        return math.inf, math.inf

    def f(first: float, second: float) -> float:
        return math.exp(-math.sqrt((first - s) * second))

    return f(s + 1.0, 1e60), f(r, 1e60)  # nearly the infima over d_1 ≥ s, and over s ≤ d_1 ≤ r


@minkowski.step(space=FENCHEL.but(v=Vector("n")))
def _(x: Instance) -> Slack:
    pair = PAIRS[x.pair]
    d, w = pair.best(x)
    least, (drawn, _) = pair.f(x, d) + pair.g(x, d @ x.A), pair.points(x, x.d, x.w)
    line = least + float(w @ (x.v - drawn @ x.A))
    return at_least(pair.f(x, drawn) + pair.g(x, x.v), near(line), x.pair)
