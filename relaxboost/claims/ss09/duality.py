"""SS09, Sec. 2: separability, weak learnability, and what is used of convex analysis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims import Choice, Instance, Matrix, Real, Space, Vector, Weights
from relaxboost.claims.measure import Slack, assume, at_least, at_most, equal
from relaxboost.claims.record import MISPRINT
from relaxboost.claims.sides import (
    Exact,
    exactly,
    in_l1_ball,
    largest_edge,
    near,
    on_simplex,
    optimum,
    under_cap,
)
from relaxboost.claims.ss09.pairs import PAIRS, cap, strong
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import NORMED, dual, dual_vector, normed
from relaxboost.game.game import Game

POINTS = Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim(
    "D1",
    "Definition 1",
    "The ℓ1 margin γ of a matrix is attained, and no w has a greater smallest margin.",
    formula="γ = max_{w in B_1} min_i (Aw)_i",
    printed="γ = max_{w ∈ B_1^n} min_{i ∈ [m]} (Aw)_i",
    page="Sec. 2, Definition 1",
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
    printed="γ = min_{d ∈ S^m} max_{j ∈ [n]} |(dᵀA)_j|",
    page="Sec. 2, Definition 2",
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


SETS: dict[str, tuple[Callable[[Exact], Exact], Callable[[Exact], Any]]] = {
    "simplex": (on_simplex, lambda d: max(-min(d), abs(sum(d) - 1))),
    "capped simplex": (
        lambda v: under_cap(v, cap(len(v))),
        lambda d: max(-min(d), abs(sum(d) - 1), max(d) - Fraction(1, cap(len(d)))),
    ),
    "l1 ball": (in_l1_ball, lambda d: sum(abs(v) for v in d) - 1),
    "max ball": (lambda v: v, lambda d: max(abs(v) for v in d) - 1),
}
"""By name: a way into the set, and how far a point is outside of it."""


@SOURCE.claim(
    "Sec2-convex-set",
    "Sec. 2, convex sets",
    "The sets that the paper uses contain all the line between any two of their points.",
    formula="α d_1 + (1 − α) d_2 in S for d_1, d_2 in S and α in [0, 1]",
    printed="A set S ⊂ ℝⁿ is convex if for any two vectors d_1, d_2 in S, all the line between "
    "d_1 and d_2 is also in S, that is, {αd_1 + (1 − α)d_2 : α ∈ [0, 1]} ⊆ S.",
    page="Sec. 2, after Definition 2",
    given="S the simplex, the capped simplex, the ℓ1 ball or the ℓ∞ ball",
    space=Space(S=Choice(*SETS), v=Vector("m"), u=Vector("m"), alpha=Real(0.0, 1.0)),
)
def convex_sets(x: Instance) -> Slack:
    """In fractions; the distance from the set is a maximum of linear functions."""
    into, outside = SETS[x.S]
    v, u = into(exactly(x.v)), into(exactly(x.u))
    a = Fraction(x.alpha)
    return at_most(outside(a * v + (1 - a) * u), 0, x.S)


@SOURCE.claim(
    "Sec2-core",
    "Sec. 2, the core of a set",
    "The core of a polyhedron is its interior, where all directions have one τ' in common.",
    formula="core {x : Bx ≤ b} = {x : Bx < b}, and τ' = min_i (b − Bx)_i/max_i |(Bd)_i| will do",
    printed="The core of a set C ∈ ℝⁿ, denoted core(C), is the set of all points x ∈ C such that "
    "for all d ∈ ℝⁿ there exists τ' > 0 for which for all τ ∈ [0, τ'] we have x + τd ∈ C.",
    page="Sec. 2, before Eq. 1",
    given="rows of B other than 0",
    space=Space(
        sizes={"m": (1, 4), "n": (1, 3)},
        B=Matrix(),
        x=Vector("n"),
        room=Vector("m", 0.0, 1.0),
        d=Vector("n"),
    ),
)
def core(x: Instance) -> Slack:
    """b = Bx + room. A row without room is left at once in its own direction.

    For a set that is not convex the core can be larger than the interior. C ∈ ℝⁿ is a misprint for
    C ⊂ ℝⁿ.
    """
    B, room = exactly(x.B), exactly(x.room)
    assume(all(any(row) for row in B))

    def reach(d: Exact) -> Fraction | float:
        rates = zip(room, B @ d, strict=True)
        return min((r / v for r, v in rates if v > 0), default=math.inf)

    if min(room) == 0:
        return equal(reach(B[list(room).index(0)]), 0, "τ' along a row without room")
    d = exactly(x.d)
    fastest = max(abs(v) for v in B @ d)
    assume(fastest > 0)
    return at_least(reach(d), min(room) / fastest, "τ' of the direction drawn")


@SOURCE.claim(
    "Eq1",
    "Sec. 2, after Eq. 1",
    "If all level sets of f are closed and convex (the definition given of a closed and convex "
    "function), then f is the conjugate of its conjugate.",
    formula="f** = f, with f*(θ) = max_d <d, θ> − f(d)",
    printed="A function f : S → ℝ is closed and convex if for any scalar r, the level set "
    "{d : f(d) ≤ r} is closed and convex. … If f is closed and convex then f** = f.",
    page="Sec. 2, before and after Eq. 1",
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


@SOURCE.claim(
    "Eq1-max",
    "Eq. 1, max",
    "The maximum that defines the conjugate is attained.",
    formula="f*(θ) = <d, θ> − f(d) for some d",
    printed="f*(θ) = max_{d ∈ S} <d, θ> − f(d)",
    page="Sec. 2, Eq. 1",
    ruling=MISPRINT,
    given="f closed and convex; here f(d) = 1/(1 + d) on d ≥ 0, and θ = −s² in [−1, 0]",
    space=Space(s=Real(0.0, 1.0), d=Real(0.0, 1e6)),
    counterexamples=[{"s": 0, "d": 0}],
)
def attained_conjugate(x: Instance) -> Slack:
    """For θ = 0 it is sup −1/(1 + d) = 0, and −1/(1 + d) < 0 for every d; sup is meant.

    Else f*(θ) = s² − 2s, attained at d = 1/s − 1.
    """
    s = Fraction(x.s)
    d = 1 / s - 1 if s else Fraction(x.d)
    return equal(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s, "at the best d, or the d drawn")


@attained_conjugate.corrected("It is a supremum.", "f*(θ) = sup_{d in S} <d, θ> − f(d)")
def least_upper_bound(x: Instance) -> Iterator[Slack]:
    """At the d drawn, and at the best one or, for s = 0, a large one.

    Proof. −s² d − 1/(1 + d) − (s² − 2s) = −(s(1 + d) − 1)²/(1 + d) is never positive. It is 0 for
    1 + d = 1/s, and tends to 0 with d → ∞ where s = 0.
    """
    s, d = Fraction(x.s), Fraction(x.d)
    yield at_most(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s, "the d drawn")
    d = 1 / s - 1 if s else Fraction(10**9)
    yield at_least(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s - Fraction(1, 10**9), "nearly attained")


@attained_conjugate.step(
    "How far d falls short.",
    "−s² d − 1/(1 + d) = s² − 2s − (s(1 + d) − 1)²/(1 + d)",
    correction=1,
)
def _(x: Instance) -> Slack:
    s, d = Fraction(x.s), Fraction(x.d)
    short = (s * (1 + d) - 1) ** 2 / (1 + d)
    return equal(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s - short)


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
    printed="max_w −f*(−Aw) − g*(w) ≤ min_d f(d) + g(dᵀA)",
    page="Sec. 2, Theorem 3",
    given="f and g closed and convex; six pairs, conjugated by hand",
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


@SOURCE.claim(
    "T3-min",
    "Theorem 3, min",
    "The minimum on the right is attained.",
    formula="inf_d f(d) + g(dᵀA) = f(d) + g(dᵀA) for some d",
    printed="max_w −f*(−Aw) − g*(w) ≤ min_d f(d) + g(dᵀA). The above holds with equality if in "
    "addition we have 0 ∈ core(dom(g) − Aᵀ dom(f))",
    page="Sec. 2, Theorem 3",
    ruling=MISPRINT,
    given="f and g closed and convex, dom(g) = ℝ; here A = 1, g(v) = r, f(d) = 1/(1 + d) on d ≥ 0",
    space=Space(r=Real(-1.0, 1.0), d=Real(0.0, 1e6)),
    counterexamples=[{"r": 0, "d": 0}],
)
def attained_minimum(x: Instance) -> Slack:
    """The infimum is r, the value of the left side at w = 0, and 1/(1 + d) > 0 for every d.

    inf is meant. Nor need the left side be attained, where there is no equality.
    """
    r = Fraction(x.r)
    return at_most(r + 1 / (1 + Fraction(x.d)), r, "the d drawn")


@attained_minimum.corrected("It is an infimum.", "sup_w −f*(−Aw) − g*(w) ≤ inf_d f(d) + g(dᵀA)")
def greatest_lower_bound(x: Instance) -> Iterator[Slack]:
    """−f*(0) − g*(0) = 0 + r: no value is below, and those of large d are as near as one likes."""
    r, d = Fraction(x.r), Fraction(x.d)
    yield at_least(r + 1 / (1 + d), r, "the d drawn")
    yield at_most(r + 1 / (1 + 10**9 * (1 + d)), r + Fraction(1, 10**9), "nearly attained")


@SOURCE.claim(
    "T3-strong",
    "Theorem 3, equality",
    "Equality holds if 0 is in the core of dom(g) − Aᵀdom(f), a difference of vectors.",
    formula="max_w −f*(−Aw) − g*(w) = min_d f(d) + g(dᵀA) if 0 in core(dom(g) − Aᵀdom(f))",
    printed="The above holds with equality if in addition we have 0 ∈ core(dom(g) − Aᵀ dom(f))",
    page="Sec. 2, Theorem 3, second part",
    given="f and g closed and convex",
    space=FENCHEL,
).checked(trials=80, resolution=1e-6)
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


@SOURCE.claim(
    "T3-exclusion",
    "Theorem 3, the operator −",
    "In the condition for equality, − is the set exclusion operator.",
    formula="equality if 0 in core(dom(g) \\ Aᵀdom(f))",
    printed="0 ∈ core(dom(g) − Aᵀ dom(f)), where − denotes the set exclusion operator.",
    page="Sec. 2, Theorem 3, last line",
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
    "Sec2-dual",
    "Sec. 2, the dual norm",
    "The maximum that defines the dual norm is attained, and no vector of the ball has more.",
    formula="max_{‖d‖ ≤ 1} <w, d> = ‖w‖_*, which for ‖d‖ = ‖Qd‖_p is ‖Q^{−T} w‖_q",
    printed="‖w‖_* = max_{d: ‖d‖ ≤ 1} <w, d>",
    page="Sec. 2, after Theorem 3",
    given="‖d‖ = ‖Q d‖_p for p = 1, 1.5, 2, 3, inf and invertible Q; 1/p + 1/q = 1",
    space=NORMED,
).checked(trials=150)
def dual_norm(x: Instance) -> Iterator[Slack]:
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
def _(x: Instance) -> Iterator[Slack]:
    _, p, psi = normed(x)
    assume(bool(psi.any()))
    v = dual_vector(psi, p)
    yield equal(near(float(v @ psi), 1e-11), near(float(np.linalg.norm(psi, dual(p))), 1e-11))
    yield equal(near(float(np.linalg.norm(v, p)), 1e-11), 1, "its length")


@SOURCE.claim(
    "Sec2-dual-norms",
    "Sec. 2, ℓ1 and ℓ∞",
    "The norms ℓ1 and ℓ∞ are dual to each other.",
    formula="max_{‖d‖_∞ ≤ 1} <w, d> = ‖w‖_1 and max_{‖d‖_1 ≤ 1} <w, d> = ‖w‖_∞",
    printed="Two dual norms that we extensively use are ‖w‖_1 = Σ_i |w_i| and ‖w‖_∞ = max_i |w_i|.",
    page="Sec. 2, after Theorem 3",
    space=Space(sizes={"m": (1, 6)}, w=Vector("m", -2.0, 2.0)),
)
def dual_norms(x: Instance) -> Iterator[Slack]:
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
def _(x: Instance) -> Iterator[Slack]:
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
