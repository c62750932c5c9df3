"""JNTV05, Sec. 3: the algorithm of Eqs. 11 and 12, and that of Eqs. 22 to 24."""

from fractions import Fraction

import numpy as np

from relaxboost.claims.jntv05.formulas import (
    STREAMS,
    VALUES,
    gibbs,
    growing,
    iterates,
    mirror_of,
    nearest,
)
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *


@SOURCE.claim(
    "measurable",
    space=Space(
        sizes={"t": (3, 3)},
        c=Real(0, 2),
        u=Real(-1, 1),
        beta=Real(0.1, 3),
        growth=Vector("t", 0, 1),
    ),
)
def measurable(x: Instance) -> Slack:
    before, after, _ = zip(*_two_runs(x), strict=True)
    assume(float(np.abs(before[0] - before[1]).max()) < 1e-12)
    return equal(float(np.abs(after[0] - after[1]).max()), 0.0, "change of θ̂_4, θ̂_3 the same")


def _two_runs(x: Instance) -> list[tuple[Array, Array, Array]]:
    """Return θ̂_3, θ̂_4, and what the correction makes θ̂_4, of both runs."""
    beta = x.beta + np.append(0.0, np.cumsum(x.growth))
    first = np.array([[0.0, 0.0], [0.0, 0.0], [x.u, 0.0]])
    second = first.copy()
    second[:2, 0] = x.c * beta[1], -x.c * (beta[1] + beta[2])
    found = []
    for U in (first, second):
        points = iterates(U, np.ones(3), beta, mirror_of("entropy", 1.0))
        mean, zeta = points[:3].mean(axis=0), U[0] + U[1]
        made = mean - (mean - gibbs(zeta + U[2], beta[3], 1.0)) / 4.0
        found.append((mean, points.mean(axis=0), made))
    return found


@measurable.corrected()
def measurable_corrected(x: Instance) -> Slacks:
    for _, after, made in _two_runs(x):
        yield equal(float(np.abs(after - made).max()), 0.0, "θ̂_4, the formula")


@measurable_corrected.step(space=Space(sizes={"m": (2, 9)}, theta=Vector("m", -3, 3)))
def _(x: Instance) -> Slack:
    theta = exactly(x.theta)
    before = sum(theta[:-1]) / (len(theta) - 1)
    return equal(before - (before - theta[-1]) / len(theta), sum(theta) / len(theta), "the mean")


@SOURCE.claim(
    "Eq11", space=STREAMS.but(theta=Distribution("n"), proxy=Choice("entropy", "squared"))
)
def scheme(x: Instance) -> Slacks:
    value, beta = VALUES[x.proxy], growing(x.beta, len(x.U))
    found = iterates(x.U, x.gamma, beta, mirror_of(x.proxy, x.radius))
    zeta = np.vstack([0.0 * x.U[:1], np.cumsum(x.gamma[:, None] * x.U, axis=0)])
    other = x.radius * x.theta
    for i, (z, b, theta) in enumerate(zip(zeta, beta, found, strict=True)):
        least = float(z @ theta) + b * value(theta, x.radius)
        yield at_most(least, float(z @ other) + b * value(other, x.radius), "θ_i, θ", i or None)


STEPS = Space(
    sizes={"n": (2, 5)},
    before=Distribution("n"),
    u=Vector("n", -2, 2),
    theta=Distribution("n"),
    gamma=Real(0.1, 2),
    proxy=Choice("entropy", "squared"),
)


def _objective(x: Instance, theta: Array) -> tuple[float, float]:
    """Return the objective of (24) at θ, and zᵀθ + V(θ) at the z of (22)."""
    before, slope = _slope(x)
    value = VALUES[x.proxy](theta, 1.0)
    rise = value - VALUES[x.proxy](before, 1.0) - float(slope @ (theta - before))
    return x.gamma * float(theta @ x.u) + rise, float((x.gamma * x.u - slope) @ theta) + value


def _slope(x: Instance) -> tuple[Array, Array]:
    """Return an interior θ_{i−1}, and ∇V there up to a constant."""
    before = 0.9 * x.before + 0.1 / x.before.size
    return before, np.log(before) if x.proxy == "entropy" else before


@SOURCE.claim("Eq22-Eq24", space=STEPS)
def greedy(x: Instance) -> Slacks:
    before, slope = _slope(x)
    mirror = gibbs if x.proxy == "entropy" else nearest
    after = mirror(x.gamma * x.u - slope, 1.0, 1.0)
    least, _ = _objective(x, after)
    yield at_most(least, _objective(x, x.theta)[0], "(22), another θ")
    yield at_most(least, _objective(x, before)[0], "(22), θ_{i−1}")
    for vertex in np.eye(before.size):
        nearby = 0.999 * after + 0.001 * vertex
        yield at_most(least, _objective(x, nearby)[0], "(22), a point nearby")


@greedy.step()
def _(x: Instance) -> Slack:
    (a, b), (c, d) = (_objective(x, w) for w in (x.theta, np.full(x.u.size, 1.0 / x.u.size)))
    return equal(b - a, d - c, "the constant")


@SOURCE.claim("Sec3.5-differ", space=Space(g=Real(1, 2), share=Real(0, 1)))
def differ(x: Instance) -> Slack:
    g = Fraction(x.g)
    h = (g - 1) + Fraction(x.share) * (2 - g)

    def project(a: Fraction) -> Fraction:
        return min(max(a, Fraction(0)), Fraction(1))

    lazy = project(Fraction(1, 2) - (g - h) / 2)
    forgetful = project(project(Fraction(1, 2) - g / 2) + h / 2)
    return equal(forgetful - lazy, (g - 1) / 2, "difference of the first components")


@differ.step()
def _(x: Instance) -> Slacks:
    g = Fraction(x.g)
    h = (g - 1) + Fraction(x.share) * (2 - g)
    yield equal(h / 2 - (Fraction(1, 2) - (g - h) / 2), (g - 1) / 2, "the difference")
    yield at_least(g - h, 0, "g − h, 0")
    yield at_most(g - h, 1, "g − h, 1")
