"""SS09, Sec. 2: separability, weak learnability, and what is used of convex analysis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost.claims import Choice, Instance, Matrix, Real, Space, Vector, Weights
from relaxboost.claims.measure import Slack, assume, at_least, at_most, equal
from relaxboost.claims.sides import exactly, in_l1_ball, largest_edge, on_simplex, optimum
from relaxboost.claims.ss09.pairs import PAIRS, strong
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game

POINTS = Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim(
    "D1",
    "Definition 1",
    "The ℓ1 margin γ of a matrix is attained, and no w has a greater smallest margin.",
    formula="γ = max_{w in B_1} min_i (Aw)_i",
    space=POINTS,
).checked(trials=60)
def separability(x: Instance) -> Iterator[Slack]:
    """In fractions: the w of the optimum, the w drawn, and every single hypothesis."""
    A = exactly(x.A)
    gamma, _, best = optimum(x, Game(x.A))
    yield equal(min(A @ best), gamma, "attained")
    yield at_most(sum(abs(v) for v in best), 1, "‖w‖_1 of the best w")
    yield at_most(min(A @ in_l1_ball(exactly(x.w))), gamma, "the w drawn")
    for j in range(A.shape[1]):
        yield at_most(max(min(A[:, j]), min(-A[:, j])), gamma, f"hypothesis {j + 1}")


@SOURCE.claim(
    "D2",
    "Definition 2",
    "Every distribution leaves some hypothesis an edge of γ, and one leaves none a greater edge.",
    formula="γ = min_{d in S} max_j |(dᵀA)_j|",
    space=POINTS,
).checked(trials=60)
def learnability(x: Instance) -> Iterator[Slack]:
    """In fractions: the d of the optimum, the d drawn, the uniform one and every vertex."""
    A = exactly(x.A)
    m = len(A)
    gamma, best, _ = optimum(x, Game(x.A))
    yield equal(largest_edge(A, best), gamma, "attained")
    yield equal(sum(best), 1, "sum of d")
    yield at_least(min(best), 0, "least weight")
    for name, d in (("the d drawn", exactly(x.d)), ("uniform d", exactly(np.ones(m)))):
        yield at_least(largest_edge(A, on_simplex(d)), gamma, name)
    for i in range(m):
        yield at_least(max(abs(A[i])), gamma, f"all weight on example {i + 1}")


@SOURCE.claim(
    "Eq1",
    "Sec. 2, after Eq. 1",
    "If all level sets of f are closed and convex (the definition given of a closed and convex "
    "function), then f is the conjugate of its conjugate.",
    formula="f** = f, with f*(θ) = max_d <d, θ> − f(d)",
    given="f on [−1, 1], linear between equidistant points; slopes: those that fall come first",
    space=Space(sizes={"pieces": (1, 5)}, slopes=Vector("pieces"), at=Real(-1.0, 1.0)),
    counterexamples=[{"slopes": [1, 0], "at": 0}],
)
def biconjugate(x: Instance) -> Slack:
    """Convex level sets make a function quasi-convex only; f** is its convex hull.

    Here f rises from 0 to 1 and stays there. The supremum of f** is evaluated at the slopes
    between all pairs of points, among which are those of the hull, in fractions.
    """
    slopes, at = exactly(x.slopes), Fraction(x.at)
    signs = [s >= 0 for s in slopes]
    assume(signs == sorted(signs))
    width = Fraction(2, len(slopes))
    knots = [(-1 + width * i, width * sum(slopes[:i])) for i in range(len(slopes) + 1)]
    piece = min(int((at + 1) / width), len(slopes) - 1)
    value = knots[piece][1] + slopes[piece] * (at - knots[piece][0])
    lines = {(v - y) / (u - t) for (t, y), (u, v) in itertools.combinations(knots, 2)}
    hull = max(theta * at - max(theta * t - y for t, y in knots) for theta in lines)
    return equal(hull, value, "f** and f")


@biconjugate.corrected("f is convex, and its level sets are closed.", "f** = f")
def biconjugate_of_convex(x: Instance) -> Iterator[Slack]:
    """The slopes increase."""
    assume(bool((np.diff(x.slopes) >= 0.0).all()))
    yield from biconjugate(x)


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
    "Theorem 3, inequality",
    "Fenchel's inequality: no w gives more on the left than any d on the right.",
    formula="max_w −f*(−Aw) − g*(w) ≤ min_d f(d) + g(dᵀA)",
    given="f and g closed and convex; six pairs, conjugated by hand",
    space=FENCHEL,
).checked(trials=300)
def weak_duality(x: Instance) -> Slack:
    """<d, −Aw> ≤ f(d) + f*(−Aw) and <dᵀA, w> ≤ g(dᵀA) + g*(w), and the left sides cancel.

    The points drawn are moved into the domains, so that both sides are finite.
    """
    pair = PAIRS[x.pair]
    return at_most(*pair.sides(x, *pair.points(x)), x.pair)


@SOURCE.claim(
    "T3-strong",
    "Theorem 3, equality",
    "Equality holds if 0 is in the core of dom(g) − Aᵀdom(f), a difference of vectors.",
    formula="max_w −f*(−Aw) − g*(w) = min_d f(d) + g(dᵀA) if 0 in core(dom(g) − Aᵀdom(f))",
    given="f and g closed and convex",
    space=FENCHEL,
).checked(trials=80, resolution=1e-6)
def strong_duality(x: Instance) -> Slack:
    """Each side is optimised by itself: a linear system, a linear program, or the smooth game.

    In all pairs but the linear programs dom(g) is the whole space. Theorem 3 does not say that
    its minimum is attained: for f = exp and g = 0 it is an infimum. Values above 1 are compared
    relative to their size, which is how far the solvers are accurate.
    """
    left, right, regular = strong(x)
    assume(regular)
    size = max(1.0, abs(right.middle))
    if math.isfinite(size):
        left, right = left * (1 / size), right * (1 / size)
    return equal(left, right, x.pair)


@SOURCE.claim(
    "T3-exclusion",
    "Theorem 3, the operator −",
    "In the condition for equality, − is the set exclusion operator.",
    formula="equality if 0 in core(dom(g) \\ Aᵀdom(f))",
    given="A = I, f(d) = exp(−√((d_1 − s) d_2)) on d_1 ≥ s, d_2 ≥ 0, g = 0 on v_1 ≤ r",
    space=Space(s=Real(0.0, 2.0), r=Real(0.0, 2.0)),
    counterexamples=[{"s": 1, "r": 1}],
)
def exclusion(x: Instance) -> Slack:
    """For s = r = 1 every point near 0 is in dom(g) and none in dom(f), and yet 0 < 1.

    On the right d_1 = 1 is forced, where f = 1. On the left w = (w_1, 0) with w_1 ≥ 0, and
    inf w_1 d_1 + exp(...) = w_1 s: take d_1 -> s and (d_1 − s) d_2 -> ∞. So the left side is
    max w_1 (s − r).
    """
    assume(min(x.s, x.r) > 0.0)
    return equal(*_touching(x.s, x.r), "left and right side")


@exclusion.corrected(
    "− is the difference of vectors: dom(g) − Aᵀdom(f) = {v − Aᵀd}.",
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


@SOURCE.claim(
    "Sec2-dual-norms",
    "Sec. 2, dual norm",
    "The norms ℓ1 and ℓ∞ are dual to each other.",
    formula="max_{‖d‖_∞ ≤ 1} <w, d> = ‖w‖_1 and max_{‖d‖_1 ≤ 1} <w, d> = ‖w‖_∞",
    space=Space(sizes={"m": (1, 6)}, w=Vector("m", -2.0, 2.0)),
)
def dual_norms(x: Instance) -> Iterator[Slack]:
    """The maximum of a linear function over a ball is at one of its vertices, and all are tried.

    Of the ℓ∞ ball these are the 2^m vectors of signs, of the ℓ1 ball the ± unit vectors.
    """
    w = exactly(x.w)
    signs = max(w @ np.array(d) for d in itertools.product((-1, 1), repeat=len(w)))
    units = max(sign * value for value in w for sign in (-1, 1))
    yield equal(signs, sum(map(abs, w), Fraction(0)), "ℓ∞ ball")
    yield equal(units, max(map(abs, w)), "l1 ball")
