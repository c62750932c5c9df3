"""SS09, App. B: the table of conjugate pairs, row by row."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex
from relaxboost.claims.ss09.exact import divergence, entropy, log_mean_exp, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import NORMED, dual, dual_vector, normed
from relaxboost.relaxations import NormBall


def _others(x: Instance, best: Any) -> Iterator[Any]:
    """Yield points at which the supremum is not: the one of the instance, and some near `best`."""
    yield x.d
    for scale in (1e-2, 1.0):
        yield best + scale * x.rng.normal(size=len(best))


@SOURCE.claim("AppB-1", space=NORMED).checked(trials=200)
def ball(x: Instance) -> Slacks:
    Q, p, psi = normed(x)
    value = x.nu * float(np.linalg.norm(psi, dual(p)))
    best = x.nu * np.linalg.solve(Q, dual_vector(psi, p))
    yield at_most(float(np.linalg.norm(Q @ best, p)), near(x.nu, 1e-11), "a point of the ball")
    yield equal(near(float(best @ x.theta), 1e-11), near(value, 1e-11), "attained")
    for d in _others(x, best):
        size = float(np.linalg.norm(Q @ d, p))
        if size > 0.0:
            yield at_most(float(d @ x.theta) * min(1.0, x.nu / size), value, "another point")
    if not np.tril(x.Q, -1).any():
        theirs = NormBall(p, x.nu).conjugate(x.theta) if p < math.inf else value
        yield equal(near(theirs, 1e-11), near(value, 1e-11), "NormBall")


@ball.step()
def _(x: Instance) -> Slack:
    Q, p, psi = normed(x)
    shorter = min(1.0, x.nu / max(1e-9, float(np.linalg.norm(Q @ x.d, p))))
    return at_most(float(shorter * x.d @ x.theta), near(x.nu * float(np.linalg.norm(psi, dual(p)))))


@ball.step()
def _(x: Instance) -> Slacks:
    Q, p, psi = normed(x)
    best = x.nu * np.linalg.solve(Q, dual_vector(psi, p))
    yield equal(near(float(np.linalg.norm(Q @ best, p))), near(x.nu))
    yield equal(near(float(best @ x.theta)), near(x.nu * float(np.linalg.norm(psi, dual(p)))))


@SOURCE.claim(
    "AppB-2", space=Space(sizes={"m": (1, 7)}, theta=Vector("m", -3.0, 3.0), d=Distribution())
)
def simplex(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    yield equal(max(np.eye(len(theta), dtype=int) @ theta), max(theta), "vertices")
    yield at_most(sum(on_simplex(exactly(x.d)) * theta), max(theta), "another point")


@simplex.step()
def _(x: Instance) -> Slack:
    theta, d = exactly(x.theta), exactly(x.d)
    return at_most(sum(d * theta), sum(d) * max(theta))


@SOURCE.claim(
    "AppB-3", space=Space(sizes={"m": (1, 7)}, theta=Vector("m", -6.0, 6.0), d=Distribution())
)
def relative_entropy(x: Instance) -> Slacks:
    value = math.log(math.fsum(np.exp(x.theta).tolist()) / len(x.theta))
    best = softmax(x.theta)
    yield equal(near(float(best @ x.theta) - entropy(best), 1e-11), near(value, 1e-11), "attained")
    for d in (x.d, 0.99 * best + 0.01 * x.d):
        yield at_most(float(d @ x.theta) - entropy(d), value, "another point")


@relative_entropy.step()
def _(x: Instance) -> Slack:
    short = divergence(x.d, softmax(x.theta))
    return equal(near(float(x.d @ x.theta) - entropy(x.d)), near(log_mean_exp(x.theta) - short))


@relative_entropy.step()
def _(x: Instance) -> Slacks:
    p, inside = softmax(x.theta), x.d > 0.0
    excess = float((p - x.d)[inside].sum())
    yield at_most(-divergence(x.d, p), near(excess), "log t ≤ t − 1")
    yield at_most(near(excess), near(0.0), "sums of p and d")


@SOURCE.claim("AppB-4", space=NORMED).checked(trials=200)
def half_square(x: Instance) -> Slacks:
    Q, p, psi = normed(x)
    size = float(np.linalg.norm(psi, dual(p)))
    best = size * np.linalg.solve(Q, dual_vector(psi, p))

    def gained(d: Any) -> float:
        return float(d @ x.theta) - 0.5 * float(np.linalg.norm(Q @ d, p)) ** 2

    yield equal(near(gained(best), 1e-11), near(0.5 * size**2, 1e-11), "attained")
    for d in (*_others(x, best), x.nu * best):
        yield at_most(gained(d), near(0.5 * size**2, 1e-11), "another point")


@half_square.step()
def _(x: Instance) -> Slacks:
    Q, p, psi = normed(x)
    a, b = float(np.linalg.norm(Q @ x.d, p)), float(np.linalg.norm(psi, dual(p)))
    yield at_most(float(x.d @ x.theta), near(a * b, 1e-11), "the dual norm")
    for length in (a, b):
        yield at_most(length * b - length**2 / 2.0, near(b**2 / 2.0, 1e-11), "the square")


FINITE = {
    "D": Matrix(-2.0, 2.0, axes=("n", "m")),
    "g": Vector("n", -2.0, 2.0),
    "theta": Vector("m", -2.0, 2.0),
}
FINITE_GIVEN = "f = g on the rows of D and ∞ elsewhere, which has the conjugate of its convex hull"


def conjugate(points: Exact, values: Exact, theta: Exact) -> Fraction:
    """Return max <d, θ> − f(d) over the points of finite f."""
    return Fraction(max(points @ theta - values))


def _finite(x: Instance) -> tuple[Exact, Exact, Exact]:
    return exactly(x.D), exactly(x.g), exactly(x.theta)


@SOURCE.claim(
    "AppB-5",
    given=FINITE_GIVEN,
    space=Space(sizes={"m": (1, 4)}, **FINITE, c=Real(0.05, 5.0, log=True)),
)
def multiple(x: Instance) -> Slack:
    points, values, theta = _finite(x)
    c = Fraction(x.c)
    return equal(conjugate(points, c * values, theta), c * conjugate(points, values, theta / c))


@multiple.step()
def _(x: Instance) -> Slacks:
    points, values, theta = _finite(x)
    c = Fraction(x.c)
    for d, value in zip(points, values, strict=True):
        yield equal(d @ theta - c * value, c * (d @ (theta / c) - value))


@SOURCE.claim(
    "AppB-6",
    given=FINITE_GIVEN,
    space=Space(sizes={"m": (1, 4)}, **FINITE, d0=Vector("m", -2.0, 2.0)),
)
def translate(x: Instance) -> Slack:
    points, values, theta = _finite(x)
    d0 = exactly(x.d0)
    right = conjugate(points, values, theta) - theta @ d0
    return equal(conjugate(points - d0, values, theta), right)


@translate.step()
def _(x: Instance) -> Slacks:
    points, values, theta = _finite(x)
    d0 = exactly(x.d0)
    for e, value in zip(points, values, strict=True):
        yield equal((e - d0) @ theta - value, e @ theta - value - theta @ d0)


@SOURCE.claim(
    "AppB-7",
    given=FINITE_GIVEN + "; c of either sign",
    space=Space(sizes={"m": (1, 4)}, **FINITE, c=Real(-3.0, 3.0)),
)
def dilation(x: Instance) -> Slack:
    points, values, theta = _finite(x)
    c = Fraction(x.c)
    assume(c != 0)
    return equal(conjugate(points / c, values, theta), conjugate(points, values, theta / c))


@dilation.step()
def _(x: Instance) -> Slacks:
    points, values, theta = _finite(x)
    c = Fraction(x.c)
    assume(c != 0)
    for e, value in zip(points, values, strict=True):
        yield equal((e / c) @ theta - value, e @ (theta / c) - value)
