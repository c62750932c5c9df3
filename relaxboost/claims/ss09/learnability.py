"""SS09, Sec. 3 and 4.1: margins are edges, and so are the means of the k smallest margins."""

import itertools
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
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

CAPPED = Space(A=Matrix(), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim("T4", space=Space(A=Matrix()))
def equivalence(x: Instance) -> Slack:
    _, d, w = optimum(x, Game(x.A))
    A = exactly(x.A)
    return equal(largest_edge(A, on_simplex(d)), min(A @ in_l1_ball(w)), "edge and margin")


@equivalence.step(space=Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights()))
def _(x: Instance) -> Slacks:
    A, d, w = exactly(x.A), on_simplex(exactly(x.d)), in_l1_ball(exactly(x.w))
    mean = sum(d * (A @ w))
    yield at_most(min(A @ w), mean, "−f*(−Aw)")
    yield at_most(mean, largest_edge(A, d), "g*(w) = 0")


OPPOSED = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), i=Whole(1, "m"))


@SOURCE.claim("remark-opposite", space=OPPOSED).checked(trials=60)
def separable_with_zero(x: Instance) -> Slack:
    found = min(_opposed(x) @ exactly(np.zeros(x.A.shape[1]))) >= 0
    return equal(int(found), 0, "w = 0 has min (Aw)_i ≥ 0, 1 for yes")


@separable_with_zero.corrected()
def opposite_rows(x: Instance) -> Slacks:
    A = _opposed(x)
    yield equal(max(abs(A[x.i - 1] + A[x.i % len(A)])), 0, "edges of d")
    yield equal(x.optimum(Game(A.astype(np.float64))), 0, "ρ")


def _opposed(x: Instance) -> Exact:
    """Return A with the row after row i, the first after the last, replaced by its negation."""
    A = exactly(x.A)
    A[x.i % len(A)] = -A[x.i - 1]
    return A


@opposite_rows.step(space=OPPOSED.but(w=Weights()))
def _(x: Instance) -> Slack:
    margins = _opposed(x) @ exactly(x.w)
    return at_most(min(margins[x.i - 1], margins[x.i % len(margins)]), 0, "the lesser margin")


@SOURCE.claim("C5", space=CAPPED)
def averages(x: Instance) -> Slacks:
    A = exactly(x.A)
    rho, d, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(avg_min(A @ in_l1_ball(w), x.k), largest_edge(A, d), "average and edge")
    yield equal(avg_min(A @ in_l1_ball(w), x.k), rho, "average and ρ")
    yield at_most(avg_min(A @ in_l1_ball(exactly(x.w)), x.k), rho, "the w drawn")


@averages.step()
def _(x: Instance) -> Slacks:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    greatest = max(sum(chosen) / Fraction(x.k) for chosen in itertools.combinations(-u, x.k))
    yield equal(greatest, -avg_min(u, x.k), "vertices and AvgMin_k")
    yield at_most(-under_cap(exactly(x.d), x.k) @ u, greatest, "the d drawn")


@SOURCE.claim("remark-k-m", space=Space(A=Matrix(), w=Weights())).checked(trials=60)
def one_hypothesis(x: Instance, signed: bool = False) -> Slack:
    A, m = exactly(x.A), len(x.A)
    best = max(A.T, key=lambda column: abs(sum(column)))
    sign = -1 if signed and sum(best) < 0 else 1
    return equal(avg_min(sign * best, m), x.optimum(Game(x.A, Capped(m))), "hypothesis and ρ")


@one_hypothesis.corrected()
def one_signed_hypothesis(x: Instance) -> Slack:
    return one_hypothesis(x, True)[0]


@one_signed_hypothesis.step()
def _(x: Instance) -> Slack:
    A = exactly(x.A)
    best = max(abs(sum(column)) for column in A.T) / len(A)
    return at_most(avg_min(A @ in_l1_ball(exactly(x.w)), len(A)), best)


@SOURCE.claim("remark-k-share", space=CAPPED)
def share(x: Instance) -> Slacks:
    rho, _, w = optimum(x, Game(x.A, Capped(x.k)))
    m = len(x.A)
    margins = exactly(x.A) @ in_l1_ball(w)
    yield at_least(sum(u >= rho.lower for u in margins), m - x.k + 1, "examples")
    column = np.array([[float(i >= x.k - 1)] for i in range(m)])
    yield equal(x.optimum(Game(column, Capped(x.k))), Fraction(1, x.k), "ρ of the example")


@share.step()
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    return at_most(avg_min(u, x.k), sorted(u)[x.k - 1], "the k-th smallest margin")


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


@SOURCE.claim("remark-noise", space=NOISE)
def worst_average(x: Instance) -> Slack:
    assume(x.nu <= len(x.A))
    worst = exactly([-1] * x.nu + [x.gamma] * (len(x.A) - x.nu))
    return equal(avg_min(worst, x.k), _worst(x, x.k), "worst margins and formula")


@worst_average.corrected()
def worst_average_of_many(x: Instance) -> Slack:
    assume(x.nu <= x.k)
    return worst_average(x)[0]


@worst_average_of_many.step()
def _(x: Instance) -> Slack:
    assume(x.nu <= x.k)
    return at_least(avg_min(_noisy(x)[:, 0], x.k), _worst(x, x.k))


@SOURCE.claim("remark-noise-k", space=NOISE).checked(trials=200)
def enough(x: Instance) -> Slacks:
    gamma = Fraction(x.gamma)
    k = max(1, math.ceil(2 * x.nu * (gamma + 1) / gamma))
    assume(k <= len(x.A))
    if k > 1:
        yield at_most(_worst(x, k - 1), gamma / 2, "formula at k − 1")
    A = _noisy(x)
    _, _, w = optimum(x, Game(A.astype(np.float64), Capped(k)))
    margins = A @ in_l1_ball(w)
    yield at_least(avg_min(margins, k), gamma / 2, "AvgMin_k of the best w")
    yield at_least(sum(u >= gamma / 2 for u in margins), len(margins) - k, "examples")


@enough.step()
def _(x: Instance) -> Slack:
    gamma = Fraction(x.gamma)
    least = 2 * x.nu * (gamma + 1) / gamma
    return equal(_worst(x, x.k) - gamma / 2, gamma / (2 * x.k) * (x.k - least))
