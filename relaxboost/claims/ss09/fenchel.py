"""SS09, Sec. 2: the conjugate of the conjugate, and Theorem 3."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.source import SOURCE


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


SQUARES = Space(
    sizes={"m": (1, 6), "n": (1, 5)},
    A=Matrix(),
    d=Vector("m"),
    w=Vector("n"),
    b=Vector("m"),
    c=Vector("n"),
)


def _square(u: Array, origin: Array) -> float:
    return 0.5 * float((u - origin) @ (u - origin))


def _conjugate(theta: Array, origin: Array) -> float:
    return 0.5 * float(theta @ theta) + float(origin @ theta)


@SOURCE.claim(
    "T3",
    space=SQUARES.including(
        {"A": [[1]], "d": [1], "w": [-1], "b": [1], "c": [1]},
        {"A": [[1]], "d": [1], "w": [1], "b": [0], "c": [0]},
    ),
).checked(trials=300)
def weak_duality(x: Instance) -> Slack:
    left = -_conjugate(-x.A @ x.w, x.b) - _conjugate(x.w, x.c)
    return at_most(left, _square(x.d, x.b) + _square(x.d @ x.A, x.c))


@weak_duality.step()
def _(x: Instance) -> Slacks:
    value = float(x.d @ x.A @ x.w)
    yield at_most(-value, _square(x.d, x.b) + _conjugate(-x.A @ x.w, x.b), "f")
    yield at_most(value, _square(x.d @ x.A, x.c) + _conjugate(x.w, x.c), "g")


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


@minkowski.step(space=SQUARES.but(v=Vector("n")))
def _(x: Instance) -> Slack:
    # The gradients, which are linear, vanish at the best d and the best w.
    best = np.linalg.solve(np.eye(len(x.b)) + x.A @ x.A.T, x.b + x.A @ x.c)
    w = np.linalg.solve(np.eye(len(x.c)) + x.A.T @ x.A, x.A.T @ x.b - x.c)
    least = _square(best, x.b) + _square(best @ x.A, x.c)
    line = least + float(w @ (x.v - x.d @ x.A))
    return at_least(_square(x.d, x.b) + _square(x.v, x.c), near(line))
