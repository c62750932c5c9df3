"""SS09, Sec. 4.1: what is said of the parameter k."""

import math
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
from relaxboost.claims.ss09.learnability import CAPPED
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped


@SOURCE.claim("remark-k-1", space=CAPPED).checked(trials=60)
def one_smallest(x: Instance) -> Slacks:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    yield equal(avg_min(u, 1), min(u), "average and minimum")
    _, _, w = optimum(x, Game(x.A, Capped(1)))
    margin, _, _ = optimum(x, Game(x.A))
    yield equal(min(exactly(x.A) @ in_l1_ball(w)), margin, "margins with k = 1 and without caps")


@one_smallest.step()
def _(x: Instance) -> Slack:
    return at_most(max(on_simplex(exactly(x.d))), 1, "the largest weight")


@SOURCE.claim("remark-k-m", space=Space(A=Matrix(), w=Weights())).checked(trials=60)
def one_hypothesis(x: Instance) -> Slack:
    j, _ = _best_feature(exactly(x.A))
    return equal(avg_min(exactly(x.A)[:, j], len(x.A)), x.optimum(Game(x.A, Capped(len(x.A)))))


@one_hypothesis.corrected()
def one_signed_hypothesis(x: Instance) -> Slacks:
    A, m = exactly(x.A), len(x.A)
    j, sign = _best_feature(A)
    rho = x.optimum(Game(x.A, Capped(m)))
    yield equal(avg_min(sign * A[:, j], m), rho, "best hypothesis and ρ")
    yield equal(largest_edge(A, exactly(np.ones(m)) / m), rho, "edge of the uniform d and ρ")


@one_signed_hypothesis.step()
def _(x: Instance) -> Slack:
    A = exactly(x.A)
    uniform = under_cap(exactly(np.arange(len(A))), len(A))
    return equal(largest_edge(A, uniform), max(abs(sum(column) / len(A)) for column in A.T))


@one_signed_hypothesis.step()
def _(x: Instance) -> Slack:
    A = exactly(x.A)
    best = max(abs(sum(column)) for column in A.T) / len(A)
    return at_most(avg_min(A @ in_l1_ball(exactly(x.w)), len(A)), best)


def _best_feature(A: Exact) -> tuple[int, int]:
    edges = [sum(column) for column in A.T]
    j = max(range(len(edges)), key=lambda j: abs(edges[j]))
    return j, -1 if edges[j] < 0 else 1


@SOURCE.claim("remark-k-share", space=CAPPED)
def share(x: Instance) -> Slack:
    rho, _, w = optimum(x, Game(x.A, Capped(x.k)))
    margins = exactly(x.A) @ in_l1_ball(w)
    return at_least(sum(u >= rho.lower for u in margins), len(margins) - x.k, "examples")


@share.step()
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    return at_most(avg_min(u, x.k), sorted(u)[x.k - 1], "the k-th smallest margin")


@SOURCE.claim("remark-k-share-sharp", space=CAPPED).checked(trials=60)
def sharp_share(x: Instance) -> Slacks:
    rho, _, w = optimum(x, Game(x.A, Capped(x.k)))
    margins = exactly(x.A) @ in_l1_ball(w)
    m = len(margins)
    yield at_least(sum(u >= rho.lower for u in margins), m - x.k + 1, "examples")
    column = [Fraction(i >= x.k - 1) for i in range(m)]
    assert x.optimum(Game(np.array(column, float)[:, None], Capped(x.k))).lower == Fraction(1, x.k)
    yield equal(sum(u >= Fraction(1, x.k) for u in column), m - x.k + 1, "in the example")


NOISE = Space(
    sizes={"m": (1, 12), "n": (1, 4)},
    A=Matrix(),
    gamma=Real(0.2, 1.0),
    nu=Whole(0, 3),
    k=Whole(1, "m"),
)


def _noisy(x: Instance) -> Exact:
    """Return A, its first hypothesis raised to a margin of γ on all but the first ν examples."""
    A = exactly(x.A)
    A[x.nu :, 0] = [max(a, Fraction(x.gamma)) for a in A[x.nu :, 0]]
    return A


def _worst(x: Instance, k: int) -> Fraction:
    """Return (−ν + (k − ν)γ)/k."""
    return (-x.nu + (k - x.nu) * Fraction(x.gamma)) / Fraction(k)


@sharp_share.step()
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    return at_least(sorted(u)[x.k - 1], avg_min(u, x.k), "the k-th smallest margin")


@sharp_share.step()
def _(x: Instance) -> Slacks:
    column = exactly([i >= x.k - 1 for i in range(len(x.A))])
    d = exactly([Fraction(i < x.k, x.k) for i in range(len(x.A))])
    yield equal(avg_min(column, x.k), Fraction(1, x.k), "w = 1")
    yield equal(sum(d * column), Fraction(1, x.k), "edge of d")


@SOURCE.claim("remark-noise", space=NOISE)
def worst_average(x: Instance) -> Slacks:
    assume(x.nu <= len(x.A))
    worst = exactly([-1] * x.nu + [x.gamma] * (len(x.A) - x.nu))
    yield equal(avg_min(worst, x.k), _worst(x, x.k), "worst margins and formula")
    yield at_least(avg_min(_noisy(x)[:, 0], x.k), _worst(x, x.k), "formula and these margins")


@worst_average.corrected()
def worst_average_of_many(x: Instance) -> Slacks:
    assume(x.nu <= x.k)
    yield from worst_average(x)


@worst_average_of_many.step()
def _(x: Instance) -> Slack:
    assume(x.nu <= x.k)
    return at_least(avg_min(_noisy(x)[:, 0], x.k), _worst(x, x.k))


@worst_average_of_many.step()
def _(x: Instance) -> Slack:
    assume(x.nu <= x.k)
    worst = exactly([-1] * x.nu + [x.gamma] * (len(x.A) - x.nu))
    return equal(avg_min(worst, x.k), _worst(x, x.k))


@SOURCE.claim("remark-noise-k", space=NOISE).checked(trials=200)
def enough(x: Instance) -> Slacks:
    gamma = Fraction(x.gamma)
    k = max(1, math.ceil(2 * x.nu * (gamma + 1) / gamma))
    assume(k <= len(x.A))
    yield at_least(_worst(x, k), gamma / 2, "formula at k")
    if k > 1:
        yield at_most(_worst(x, k - 1), gamma / 2, "formula at k − 1")
    for larger in range(k + 1, len(x.A) + 1):
        yield at_least(_worst(x, larger), gamma / 2, f"formula at {larger}")
    A = _noisy(x)
    yield at_least(avg_min(A[:, 0], k), gamma / 2, "AvgMin_k of the margins given")
    _, _, w = optimum(x, Game(A.astype(np.float64), Capped(k)))
    margins = A @ in_l1_ball(w)
    yield at_least(avg_min(margins, k), gamma / 2, "AvgMin_k of the best w")
    yield at_least(sum(u >= gamma / 2 for u in margins), len(margins) - k, "examples")


@enough.step()
def _(x: Instance) -> Slack:
    gamma = Fraction(x.gamma)
    least = 2 * x.nu * (gamma + 1) / gamma
    return equal(_worst(x, x.k) - gamma / 2, gamma / (2 * x.k) * (x.k - least))
