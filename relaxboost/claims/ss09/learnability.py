"""SS09, Sec. 2 to 4.1: Theorem 3, and the equality of the best margin and the least edge, for the
hard and for the soft margin."""

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
from relaxboost.claims.ss09 import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

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
    """Return the maximum of −f*(−w) − g*(w) over w with w_2 = 0 ≤ w_1, and the infimum of f + g."""
    if s > r:  # The maximum of w_1 (s − r) is infinite, and no d_1 lies in [s, r].
        return math.inf, math.inf

    def f(first: float, second: float) -> float:
        return math.exp(-math.sqrt((first - s) * second))

    # These are nearly the infima over d_1 ≥ s, and over s ≤ d_1 ≤ r.
    return f(s + 1.0, 1e60), f(r, 1e60)


@minkowski.step(space=SQUARES.but(v=Vector("n")))
def _(x: Instance) -> Slack:
    # The gradients are linear functions, which vanish at the optimal d and the optimal w.
    best = np.linalg.solve(np.eye(len(x.b)) + x.A @ x.A.T, x.b + x.A @ x.c)
    w = np.linalg.solve(np.eye(len(x.c)) + x.A.T @ x.A, x.A.T @ x.b - x.c)
    least = _square(best, x.b) + _square(best @ x.A, x.c)
    line = least + float(w @ (x.v - x.d @ x.A))
    return at_least(_square(x.d, x.b) + _square(x.v, x.c), near(line))


CAPPED = Space(A=Matrix(), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim("T4", space=Space(A=Matrix()))
def equivalence(x: Instance) -> Slack:
    _, d, w = optimum(x, Game(x.A))
    A = exactly(x.A)
    return equal(largest_edge(A, on_simplex(d)), min(A @ in_l1_ball(w)), "edge and margin")


@equivalence.step(space=Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights()))
def _(x: Instance) -> Slacks:
    A = exactly(x.A)
    d = on_simplex(exactly(x.d))
    w = in_l1_ball(exactly(x.w))
    mean = sum(d * (A @ w))
    yield at_most(min(A @ w), mean, "−f*(−Aw)")
    yield at_most(mean, largest_edge(A, d), "g*(w) = 0")


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


NOISE = Space(
    sizes={"m": (1, 12), "n": (1, 4)},
    A=Matrix(),
    gamma=Real(0.2, 1.0),
    nu=Whole(0, 3),
    k=Whole(1, "m"),
)


def _noisy(x: Instance) -> Exact:
    # In the first column, all entries except those of the first ν examples become at least γ.
    A = exactly(x.A)
    A[x.nu :, 0] = [max(a, Fraction(x.gamma)) for a in A[x.nu :, 0]]
    return A


def _worst(x: Instance, k: int) -> Fraction:
    # This is the lower bound on the mean of the k smallest margins.
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
