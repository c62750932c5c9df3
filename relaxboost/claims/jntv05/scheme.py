"""JNTV05, Sec. 3: the algorithm of Eqs. 11 and 12, and that of Eqs. 22 to 24."""

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
