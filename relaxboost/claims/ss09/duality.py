"""SS09, Sec. 2: separability, weak learnability, convex sets and functions, conjugates."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import in_l1_ball, largest_edge, on_simplex, optimum, under_cap
from relaxboost.claims.ss09.pairs import cap
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game

POINTS = Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim("D1", space=POINTS).checked(trials=60)
def separability(x: Instance) -> Slacks:
    A = exactly(x.A)
    gamma, _, best = optimum(x, Game(x.A))
    yield equal(min(A @ best), gamma, "attained")
    yield at_most(sum(abs(v) for v in best), 1, "‖w‖_1 of the best w")
    yield at_most(min(A @ in_l1_ball(exactly(x.w))), gamma, "the w drawn")
    for j in range(A.shape[1]):
        yield at_most(max(min(A[:, j]), min(-A[:, j])), gamma, f"hypothesis {j + 1}")


@SOURCE.claim("D2", space=POINTS).checked(trials=60)
def learnability(x: Instance) -> Slacks:
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
    space=Space(S=Choice(*SETS), v=Vector("m"), u=Vector("m"), alpha=Real(0.0, 1.0)),
)
def convex_sets(x: Instance) -> Slack:
    into, outside = SETS[x.S]
    v, u = into(exactly(x.v)), into(exactly(x.u))
    a = Fraction(x.alpha)
    return at_most(outside(a * v + (1 - a) * u), 0, x.S)


@convex_sets.step()
def _(x: Instance) -> Slack:
    outside, a = SETS[x.S][1], Fraction(x.alpha)
    v, u = exactly(x.v), exactly(x.u)
    return at_most(outside(a * v + (1 - a) * u), a * outside(v) + (1 - a) * outside(u), x.S)


@SOURCE.claim(
    "Sec2-core",
    space=Space(
        sizes={"m": (1, 4), "n": (1, 3)},
        B=Matrix(),
        x=Vector("n"),
        room=Vector("m", 0.0, 1.0),
        d=Vector("n"),
    ),
)
def core(x: Instance) -> Slack:
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


@core.step()
def _(x: Instance) -> Slacks:
    rates, room = exactly(x.B) @ exactly(x.d), exactly(x.room)
    fastest = max(abs(v) for v in rates)
    assume(fastest > 0)
    for rate, r in zip(rates, room, strict=True):
        yield at_most(min(room) / fastest * rate, r)


@SOURCE.claim(
    "Eq1", space=Space(sizes={"pieces": (1, 5)}, slopes=Vector("pieces"), at=Real(-1.0, 1.0))
)
def biconjugate(x: Instance) -> Slack:
    slopes, at = exactly(x.slopes), Fraction(x.at)
    signs = [s >= 0 for s in slopes]
    assume(signs == sorted(signs))
    knots, value = _pieces(x)
    lines = {(v - y) / (u - t) for (t, y), (u, v) in itertools.combinations(knots, 2)}
    hull = max(theta * at - max(theta * t - y for t, y in knots) for theta in lines)
    return equal(hull, value, "f** and f")


def _pieces(x: Instance) -> tuple[list[tuple[Fraction, Fraction]], Fraction]:
    """Return the points at which f bends, with its values there, and f at x.at."""
    slopes, at = exactly(x.slopes), Fraction(x.at)
    width = Fraction(2, len(slopes))
    knots = [(-1 + width * i, width * sum(slopes[:i])) for i in range(len(slopes) + 1)]
    piece = min(int((at + 1) / width), len(slopes) - 1)
    return knots, knots[piece][1] + slopes[piece] * (at - knots[piece][0])


@biconjugate.corrected()
def biconjugate_of_convex(x: Instance) -> Slacks:
    assume(bool((np.diff(x.slopes) >= 0.0).all()))
    yield from biconjugate(x)


@biconjugate_of_convex.step()
def _(x: Instance) -> Slacks:
    assume(bool((np.diff(x.slopes) >= 0.0).all()))
    knots, value = _pieces(x)
    for theta in (*exactly(x.slopes), 2 * exactly(x.slopes)[0] - 1):
        conjugate = max(theta * t - y for t, y in knots)
        yield at_most(theta * Fraction(x.at) - conjugate, value)


@biconjugate_of_convex.step()
def _(x: Instance) -> Slacks:
    assume(bool((np.diff(x.slopes) >= 0.0).all()))
    knots, value = _pieces(x)
    at, slopes = Fraction(x.at), exactly(x.slopes)
    slope = slopes[min(int((at + 1) * len(slopes) / 2), len(slopes) - 1)]
    for t, y in knots:
        yield at_least(y, value + slope * (t - at))


@SOURCE.claim("Eq1-max", space=Space(s=Real(0.0, 1.0), d=Real(0.0, 1e6)))
def attained_conjugate(x: Instance) -> Slack:
    s = Fraction(x.s)
    d = 1 / s - 1 if s else Fraction(x.d)
    return equal(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s, "at the best d, or the d drawn")


@attained_conjugate.corrected()
def least_upper_bound(x: Instance) -> Slacks:
    s, d = Fraction(x.s), Fraction(x.d)
    yield at_most(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s, "the d drawn")
    d = 1 / s - 1 if s else Fraction(10**9)
    yield at_least(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s - Fraction(1, 10**9), "nearly attained")


@least_upper_bound.step()
def _(x: Instance) -> Slack:
    s, d = Fraction(x.s), Fraction(x.d)
    short = (s * (1 + d) - 1) ** 2 / (1 + d)
    return equal(-(s**2) * d - 1 / (1 + d), s**2 - 2 * s - short)
