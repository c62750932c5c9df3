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
    """The points drawn are moved into the domains, so that both sides are finite.

    Proof. By the definition of conjugates <d, −Aw> ≤ f(d) + f*(−Aw), and <dᵀA, w> ≤ g(dᵀA) +
    g*(w). Add the two: the left sides cancel.
    """
    pair = PAIRS[x.pair]
    return at_most(*pair.sides(x, *pair.points(x)), x.pair)


@weak_duality.step("Fenchel and Young for f.", "<d, −Aw> ≤ f(d) + f*(−Aw)")
def _(x: Instance) -> Slack:
    pair, (d, w) = PAIRS[x.pair], PAIRS[x.pair].points(x)
    return at_most(float(-d @ x.A @ w), pair.f(x, d) + pair.f_star(x, -x.A @ w), x.pair)


@weak_duality.step("Fenchel and Young for g.", "<dᵀA, w> ≤ g(dᵀA) + g*(w)")
def _(x: Instance) -> Slack:
    pair, (d, w) = PAIRS[x.pair], PAIRS[x.pair].points(x)
    return at_most(float(d @ x.A @ w), pair.g(x, d @ x.A) + pair.g_star(x, w), x.pair)


@SOURCE.claim("T3-min", space=Space(r=Real(-1.0, 1.0), d=Real(0.0, 1e6)))
def attained_minimum(x: Instance) -> Slack:
    """The infimum is r, the value of the left side at w = 0, and 1/(1 + d) > 0 for every d.

    inf is meant. Nor need the left side be attained, where there is no equality.
    """
    r = Fraction(x.r)
    return at_most(r + 1 / (1 + Fraction(x.d)), r, "the d drawn")


@attained_minimum.corrected(
    "The right side is an infimum, which need not be attained.",
    "sup_w −f*(−Aw) − g*(w) ≤ inf_d f(d) + g(dᵀA)",
)
def greatest_lower_bound(x: Instance) -> Slacks:
    """−f*(0) − g*(0) = 0 + r: no value is below, and those of large d are as near as one likes."""
    r, d = Fraction(x.r), Fraction(x.d)
    yield at_least(r + 1 / (1 + d), r, "the d drawn")
    yield at_most(r + 1 / (1 + 10**9 * (1 + d)), r + Fraction(1, 10**9), "nearly attained")


@SOURCE.claim("T3-strong", space=FENCHEL).checked(trials=80, resolution=1e-6)
def strong_duality(x: Instance) -> Slack:
    """Each side is optimised by itself: a linear system, a linear program, or the smooth game.

    In all pairs but the linear programs dom(g) is the whole space. Values above 1 are compared
    relative to their size, which is how far the solvers are accurate.
    """
    left, right, regular = strong(x)
    assume(regular)
    size = max(1.0, abs(right.middle))
    if math.isfinite(size):
        left, right = left * (1 / size), right * (1 / size)
    return equal(left, right, x.pair)


@SOURCE.claim("T3-exclusion", space=Space(s=Real(0.0, 2.0), r=Real(0.0, 2.0)))
def exclusion(x: Instance) -> Slack:
    """For s = r = 1 every point near 0 is in dom(g) and none in dom(f), and yet 0 < 1.

    On the right d_1 = 1 is forced, where f = 1. On the left w = (w_1, 0) with w_1 ≥ 0, and
    inf w_1 d_1 + exp(...) = w_1 s: take d_1 -> s and (d_1 − s) d_2 -> ∞. So the left side is
    max w_1 (s − r).
    """
    assume(min(x.s, x.r) > 0.0)
    return equal(*_touching(x.s, x.r), "left and right side")


@exclusion.corrected(
    "The operator − is the difference of vectors: dom(g) − Aᵀdom(f) = {v − Aᵀd}.",
    "equality if 0 in core {v − Aᵀd: v in dom(g), d in dom(f)}",
)
def minkowski(x: Instance) -> Slack:
    """The differences are z with z_1 ≤ r − s; 0 is in the core where r > s."""
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
    """The conjugate of the indicator of the unit ball is the same maximum: AppB-1 with ν = 1.

    Proof. <w, d> = <Q^{−T} w, Q d> ≤ ‖Q^{−T} w‖_q ‖Q d‖_p by Hölder's inequality. For p in (1, ∞)
    it is an equality where |Q d|^p is a multiple of |Q^{−T} w|^q and the signs agree; for
    p = ∞ at the signs, for p = 1 at a greatest entry.
    """
    Q, p, psi = normed(x)
    best = np.linalg.solve(Q, dual_vector(psi, p))
    size = float(np.linalg.norm(psi, dual(p)))
    yield at_most(float(np.linalg.norm(Q @ best, p)), near(1.0, 1e-11), "a vector of the ball")
    yield equal(near(float(best @ x.theta), 1e-11), near(size, 1e-11), "attained")
    length = max(1.0, float(np.linalg.norm(Q @ x.d, p)))
    yield at_most(float(x.d @ x.theta) / length, near(size, 1e-11), "the vector drawn")


@dual_norm.step(
    "Hölder's inequality for the vectors Qd and Q^{−T}w.", "<w, d> ≤ ‖Q^{−T}w‖_q ‖Qd‖_p"
)
def _(x: Instance) -> Slack:
    Q, p, psi = normed(x)
    bound = float(np.linalg.norm(psi, dual(p))) * float(np.linalg.norm(Q @ x.d, p))
    return at_most(float(x.d @ x.theta), near(bound, 1e-11), x.p)


@dual_norm.step(
    "The vector at which it is an equality has ‖Qd‖_p = 1.", "<ψ, v> = ‖ψ‖_q, ‖v‖_p = 1"
)
def _(x: Instance) -> Slacks:
    _, p, psi = normed(x)
    assume(bool(psi.any()))
    v = dual_vector(psi, p)
    yield equal(near(float(v @ psi), 1e-11), near(float(np.linalg.norm(psi, dual(p))), 1e-11))
    yield equal(near(float(np.linalg.norm(v, p)), 1e-11), 1, "its length")


@SOURCE.claim("Sec2-dual-norms", space=Space(sizes={"m": (1, 6)}, w=Vector("m", -2.0, 2.0)))
def dual_norms(x: Instance) -> Slacks:
    """In fractions; all vertices of the two balls are tried.

    Proof. The maximum of a linear function over a ball is at one of its vertices: the 2^m vectors
    of signs, of which that of w gives Σ |w_i|, or the ± unit vectors, which give ± w_i.
    """
    w = exactly(x.w)
    signs = max(w @ np.array(d) for d in itertools.product((-1, 1), repeat=len(w)))
    units = max(sign * value for value in w for sign in (-1, 1))
    yield equal(signs, sum(map(abs, w), Fraction(0)), "ℓ∞ ball")
    yield equal(units, max(map(abs, w)), "l1 ball")


@dual_norms.step("The signs of w give ‖w‖_1, no vector of signs more.", "<w, d> ≤ <w, sign w>")
def _(x: Instance) -> Slacks:
    w = exactly(x.w)
    total = sum(abs(v) for v in w)
    yield equal(sum(v if v > 0 else -v for v in w), total, "signs of w")
    for d in itertools.product((-1, 1), repeat=len(w)):
        yield at_most(w @ np.array(d), total, "signs")


@dual_norms.step("A unit vector gives ± w_i, and the best of them ‖w‖_∞.", "<w, ± e_i> = ± w_i")
def _(x: Instance) -> Slack:
    w = exactly(x.w)
    units = np.vstack([np.eye(len(w), dtype=int), -np.eye(len(w), dtype=int)])
    return equal(max(units @ w), max(abs(v) for v in w), "unit vectors")
