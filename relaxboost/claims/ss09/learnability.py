"""SS09, Sec. 3 and 4.1: margins are edges, and so are the means of the k smallest margins."""

import itertools
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import (
    avg_min,
    in_l1_ball,
    largest_edge,
    on_simplex,
    optimum,
    under_cap,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

CAPPED = Space(A=Matrix(), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0), w=Weights())


POINTS = Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim("T4", space=Space(A=Matrix()))
def equivalence(x: Instance) -> Slacks:
    A = exactly(x.A)
    _, d, w = optimum(x, Game(x.A))
    yield equal(largest_edge(A, on_simplex(d)), min(A @ in_l1_ball(w)), "edge and margin")
    yield at_least(min(A @ in_l1_ball(w)), 0, "w = 0 is no better")


@equivalence.step(space=POINTS)
def _(x: Instance) -> Slacks:
    u, d = exactly(x.A) @ in_l1_ball(exactly(x.w)), on_simplex(exactly(x.d))
    yield equal(max(np.eye(len(u), dtype=int) @ -u), -min(u), "vertices")
    yield at_most(-d @ u, -min(u), "the d drawn")


@equivalence.step(space=Space(v=Vector("n"), w=Vector("n", -3.0, 3.0)))
def _(x: Instance) -> Slacks:
    v, w = exactly(x.v), exactly(x.w)
    size = sum(abs(one) for one in w)
    yield at_most(sum(v * w), max(abs(one) for one in v) * size, "the v drawn")
    yield equal(sum(exactly(np.sign(x.w)) * w), size, "v = sign w")


@SOURCE.claim("T4-end", space=POINTS.but(v=Vector("n"), share=Real(0.0, 1.0))).checked(trials=60)
def outside(x: Instance) -> Slacks:
    A = exactly(x.A)
    gamma, best, _ = optimum(x, Game(x.A))
    assume(gamma.lower > 0)
    assert isinstance(gamma.lower, Fraction)
    for d in (best, on_simplex(exactly(x.d))):
        for v in (best @ A, exactly(x.v)):
            size = max(abs(one) for one in v)
            for share in (Fraction(1), Fraction(x.share)):
                tau = share * gamma.lower / (2 * size) if size else share
                yield at_least(max(abs(e) for e in tau * v - d @ A), gamma / 2, "distance")


@outside.step()
def _(x: Instance) -> Slack:
    v, edges, tau = exactly(x.v), on_simplex(exactly(x.d)) @ exactly(x.A), Fraction(x.share)
    left = max(abs(e) for e in tau * v - edges)
    return at_least(left, max(abs(e) for e in edges) - tau * max(abs(one) for one in v))


@outside.step()
def _(x: Instance) -> Slack:
    return at_least(largest_edge(exactly(x.A), on_simplex(exactly(x.d))), x.optimum(Game(x.A)))


@SOURCE.claim(
    "remark-opposite", space=Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), i=Whole(1, "m"))
).checked(trials=60)
def separable_with_zero(x: Instance) -> Slack:
    A, _ = _opposed(x)
    found = min(A @ exactly(np.zeros(A.shape[1]))) >= 0
    return equal(int(found), 0, "w = 0 has min (Aw)_i ≥ 0, 1 for yes")


@separable_with_zero.corrected()
def opposite_rows(x: Instance) -> Slacks:
    A, d = _opposed(x)
    yield equal(largest_edge(A, d), 0, "edges of d")
    yield equal(x.optimum(Game(A.astype(np.float64))), 0, "ρ")


def _opposed(x: Instance) -> tuple[Exact, Exact]:
    """Return A with the negation of row i after it, and half and half on the two."""
    A, i = exactly(x.A), x.i - 1
    j = (i + 1) % len(A)
    A[j] = -A[i]
    d = exactly(np.zeros(len(A)))
    d[i] = d[j] = Fraction(1, 2)
    return A, d


@opposite_rows.step()
def _(x: Instance) -> Slack:
    A, d = _opposed(x)
    return equal(largest_edge(A, d), 0, "edges of d")


@opposite_rows.step(
    space=Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), i=Whole(1, "m"), w=Weights())
)
def _(x: Instance) -> Slack:
    A, d = _opposed(x)
    return at_most(min((A @ exactly(x.w))[d > 0]), 0, "the lesser margin")


@SOURCE.claim("Eq2", space=CAPPED).checked(trials=60)
def capped_learnability(x: Instance) -> Slacks:
    A = exactly(x.A)
    rho, best, _ = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(largest_edge(A, best), rho, "attained")
    yield equal(sum(best), 1, "sum of d")
    yield at_least(min(best), 0, "least weight")
    yield at_most(max(best), Fraction(1, x.k), "largest weight")
    yield at_least(largest_edge(A, under_cap(exactly(x.d), x.k)), rho, "the d drawn")
    yield at_least(largest_edge(A, under_cap(exactly(np.ones(len(A))), x.k)), rho, "uniform d")


@SOURCE.claim(
    "remark-conjugate",
    space=Space(sizes={"m": (1, 7)}, theta=Vector("m"), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0)),
).checked(trials=150)
def conjugate_of_caps(x: Instance) -> Slacks:
    theta, k = exactly(x.theta), x.k
    formula = sum(sorted(theta, reverse=True)[:k]) / Fraction(k)
    vertices = itertools.combinations(theta, k)
    yield equal(max(sum(chosen) / Fraction(k) for chosen in vertices), formula, "vertices")
    yield at_most(sum(under_cap(exactly(x.d), k) * theta), formula, "the d drawn")


@conjugate_of_caps.step()
def _(x: Instance) -> Slack:
    theta, k = exactly(x.theta), x.k
    s = sorted(theta, reverse=True)[k - 1]
    above = sum(max(t - s, Fraction(0)) for t in theta)
    return at_most(sum(under_cap(exactly(x.d), k) * theta), s + above / k)


@conjugate_of_caps.step()
def _(x: Instance) -> Slack:
    theta, k = exactly(x.theta), x.k
    greatest = sorted(theta, reverse=True)
    above = sum(max(t - greatest[k - 1], Fraction(0)) for t in theta)
    return equal(greatest[k - 1] + above / k, sum(greatest[:k]) / Fraction(k))


@SOURCE.claim("Eq3", space=CAPPED).checked(trials=300)
def dual_of_caps(x: Instance) -> Slack:
    A = exactly(x.A)
    margins = sorted(A @ in_l1_ball(exactly(x.w)), reverse=True)
    m, k = len(margins), x.k
    left = sum(margins[m - j - 1] for j in range(k)) / Fraction(k)
    return at_most(left, largest_edge(A, under_cap(exactly(x.d), k)), "average and edge")


@dual_of_caps.step()
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    return at_most(avg_min(u, x.k), sum(under_cap(exactly(x.d), x.k) * u))


@dual_of_caps.step()
def _(x: Instance) -> Slack:
    A, d = exactly(x.A), under_cap(exactly(x.d), x.k)
    return at_most(sum((d @ A) * in_l1_ball(exactly(x.w))), largest_edge(A, d))


@SOURCE.claim("C5", space=CAPPED)
def averages(x: Instance) -> Slacks:
    A = exactly(x.A)
    rho, d, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(avg_min(A @ in_l1_ball(w), x.k), largest_edge(A, d), "average and edge")
    yield equal(avg_min(A @ in_l1_ball(w), x.k), rho, "average and ρ")
    yield at_most(avg_min(A @ in_l1_ball(exactly(x.w)), x.k), rho, "the w drawn")


@averages.step()
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    greatest = max(sum(chosen) / Fraction(x.k) for chosen in itertools.combinations(-u, x.k))
    return equal(greatest, -avg_min(u, x.k), "vertices and AvgMin_k")
