"""SS09, Sec. 2: Theorem 3 and dual norms."""

import itertools
import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.pairs import PAIRS, strong
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import NORMED, dual, dual_vector, normed

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
    return at_most(*pair.sides(x, *pair.points(x)), x.pair)


@weak_duality.step()
def _(x: Instance) -> Slack:
    pair, (d, w) = PAIRS[x.pair], PAIRS[x.pair].points(x)
    return at_most(float(-d @ x.A @ w), pair.f(x, d) + pair.f_star(x, -x.A @ w), x.pair)


@weak_duality.step()
def _(x: Instance) -> Slack:
    pair, (d, w) = PAIRS[x.pair], PAIRS[x.pair].points(x)
    return at_most(float(d @ x.A @ w), pair.g(x, d @ x.A) + pair.g_star(x, w), x.pair)


@SOURCE.claim("T3-min", space=Space(r=Real(-1.0, 1.0), d=Real(0.0, 1e6)))
def attained_minimum(x: Instance) -> Slack:
    r = Fraction(x.r)
    return at_most(r + 1 / (1 + Fraction(x.d)), r, "the d drawn")


@attained_minimum.corrected()
def greatest_lower_bound(x: Instance) -> Slacks:
    r, d = Fraction(x.r), Fraction(x.d)
    yield at_least(r + 1 / (1 + d), r, "the d drawn")
    yield at_most(r + 1 / (1 + 10**9 * (1 + d)), r + Fraction(1, 10**9), "nearly attained")


@SOURCE.claim("T3-strong", space=FENCHEL).checked(trials=80, resolution=1e-6)
def strong_duality(x: Instance) -> Slack:
    left, right, regular = strong(x)
    assume(regular)
    size = max(1.0, abs(right.middle))
    if math.isfinite(size):
        left, right = left * (1 / size), right * (1 / size)
    return equal(left, right, x.pair)


@SOURCE.claim("T3-exclusion", space=Space(s=Real(0.0, 2.0), r=Real(0.0, 2.0)))
def exclusion(x: Instance) -> Slack:
    assume(min(x.s, x.r) > 0.0)
    return equal(*_touching(x.s, x.r), "left and right side")


@exclusion.corrected()
def minkowski(x: Instance) -> Slack:
    assume(x.r > x.s)
    return equal(*_touching(x.s, x.r), "left and right side")


def _touching(s: float, r: float) -> tuple[float, float]:
    """Return max over w of −f*(−w) − g*(w), where w_2 = 0 ≤ w_1, and min f + g."""
    if s > r:  # w_1 (s − r) has no bound, and no d_1 lies in [s, r]
        return math.inf, math.inf
    if s < r:  # (r − s) d_2 -> ∞ on both sides
        return 0.0, 0.0

    def f(d: tuple[float, float]) -> float:
        return math.exp(-math.sqrt((d[0] - s) * d[1]))

    far = 1e6
    left = min(f((s + 1.0 / far, far**2)), f((s + far, far)))  # w = 0, as w_1 (s − r) <= 0
    right = f((s, far)) if s == r else min(f((r, far**e)) for e in range(50))
    return left, right


@SOURCE.claim("Sec2-dual", space=NORMED).checked(trials=150)
def dual_norm(x: Instance) -> Slacks:
    Q, p, psi = normed(x)
    best = np.linalg.solve(Q, dual_vector(psi, p))
    size = float(np.linalg.norm(psi, dual(p)))
    yield at_most(float(np.linalg.norm(Q @ best, p)), near(1.0, 1e-11), "a vector of the ball")
    yield equal(near(float(best @ x.theta), 1e-11), near(size, 1e-11), "attained")
    length = max(1.0, float(np.linalg.norm(Q @ x.d, p)))
    yield at_most(float(x.d @ x.theta) / length, near(size, 1e-11), "the vector drawn")


@dual_norm.step()
def _(x: Instance) -> Slack:
    Q, p, psi = normed(x)
    bound = float(np.linalg.norm(psi, dual(p))) * float(np.linalg.norm(Q @ x.d, p))
    return at_most(float(x.d @ x.theta), near(bound, 1e-11), x.p)


@dual_norm.step()
def _(x: Instance) -> Slacks:
    _, p, psi = normed(x)
    assume(bool(psi.any()))
    v = dual_vector(psi, p)
    yield equal(near(float(v @ psi), 1e-11), near(float(np.linalg.norm(psi, dual(p))), 1e-11))
    yield equal(near(float(np.linalg.norm(v, p)), 1e-11), 1, "its length")


@SOURCE.claim("Sec2-dual-norms", space=Space(sizes={"m": (1, 6)}, w=Vector("m", -2.0, 2.0)))
def dual_norms(x: Instance) -> Slacks:
    w = exactly(x.w)
    signs = max(w @ np.array(d) for d in itertools.product((-1, 1), repeat=len(w)))
    units = max(sign * value for value in w for sign in (-1, 1))
    yield equal(signs, sum(map(abs, w), Fraction(0)), "ℓ∞ ball")
    yield equal(units, max(map(abs, w)), "l1 ball")


@dual_norms.step()
def _(x: Instance) -> Slacks:
    w = exactly(x.w)
    total = sum(abs(v) for v in w)
    yield equal(sum(v if v > 0 else -v for v in w), total, "signs of w")
    for d in itertools.product((-1, 1), repeat=len(w)):
        yield at_most(w @ np.array(d), total, "signs")


@dual_norms.step()
def _(x: Instance) -> Slack:
    w = exactly(x.w)
    units = np.vstack([np.eye(len(w), dtype=int), -np.eye(len(w), dtype=int)])
    return equal(max(units @ w), max(abs(v) for v in w), "unit vectors")
