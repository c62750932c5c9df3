"""SS09, Sec. 5.3: Lemma 13, Corollary 14 and the projection of Eq. 14."""

from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import divergence, least_divergence, projected_softmax, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.relaxations._projections import capped_distribution

BOX = Space(sizes={"m": (1, 3)}, theta=Vector("m"), slope=Vector("m"))


def _clipped(values: Exact) -> Exact:
    """Return the nearest point of [0, 1]^m, which maximises <d, θ> − ‖d‖²/2 there."""
    return np.minimum(np.maximum(values, 0), 1)


@SOURCE.claim("L13", space=BOX)
def bregman(x: Instance) -> Slacks:
    theta, slope = exactly(x.theta), exactly(x.slope)
    for left, right in zip(_clipped(theta - slope), _clipped(_clipped(theta) - slope), strict=True):
        yield equal(left, right, "∇f̂*(θ) and the argmin")


@bregman.corrected()
def bregman_inside(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    assume(bool((_clipped(theta) == theta).all()))
    yield from bregman(x)


@bregman_inside.step(
    space=Space(
        sizes={"m": (1, 3)},
        theta=Vector("m", -0.5, 1.5),
        d=Vector("m", 0.0, 1.0),
        e=Vector("m", 0.0, 1.0),
    ).including({"theta": ["1/2"], "d": [0], "e": [1]}, {"theta": [-1], "d": [0], "e": [1]})
)
def _(x: Instance) -> Slack:
    theta = exactly(x.theta)
    d0 = _clipped(theta)
    assume(bool((d0 == theta).all()))

    def difference(d: Exact) -> Any:
        return ((d - d0) @ (d - d0) - d @ d) / 2 + d @ theta

    return equal(difference(exactly(x.d)), difference(exactly(x.e)), "at d and at e")


@SOURCE.claim("L13-proof", space=Space(sizes={"m": (1, 3)}, theta=Vector("m", -1.0, 2.0)))
def gradient_is_theta(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    for left, right in zip(_clipped(theta), theta, strict=True):
        yield equal(left, right, "∇h(d0) and θ")


@gradient_is_theta.corrected()
def gradient_and_normal(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    d0 = _clipped(theta)
    for t, d in zip(theta, d0, strict=True):
        for end in (0, 1):
            yield at_most((t - d) * (end - d), 0, "<θ − ∇h(d0), d − d0>")
        if 0 < d < 1:
            yield equal(d, t, "∇h(d0) and θ inside")


@SOURCE.claim(
    "L13-closed",
    space=Space(
        theta=Real(-1.0, 1.0), a=Real(-1.0, 1.0), jump=Real(0.0, 1.0), away=Real(0.001, 1.0)
    ),
)
def attained(x: Instance) -> Slack:
    theta, a = Fraction(x.theta), Fraction(x.a)
    p = max(theta, a)
    q = p + Fraction(x.away)
    at_p = (p - theta) ** 2 / 2 + (Fraction(x.jump) if p == a else 0)
    return at_most(at_p, (q - theta) ** 2 / 2, "at ∇f̂*(θ) and at another point")


@attained.corrected()
def attained_closed(x: Instance) -> Slacks:
    assume(x.jump == 0.0 or x.theta > x.a)
    yield from attained(x)


@SOURCE.claim(
    "L13-entropy",
    space=Space(
        sizes={"m": (1, 7)},
        theta=Vector("m", -5.0, 5.0),
        slope=Vector("m", -2.0, 2.0),
        k=Whole(1, "m"),
    ),
)
def bregman_of_entropy(x: Instance) -> Slacks:
    d0, m = softmax(x.theta), len(x.theta)
    gradient = np.log(m * d0) + 1.0 - x.theta
    yield equal(near(gradient.max()), near(gradient.min()), "∇h(d0) − θ is constant")
    d = capped_distribution(x.slope - x.theta, 1.0, x.k)
    value = divergence(d, d0) + float(d @ x.slope)
    tilted = x.theta - x.slope
    shift = np.logaddexp.reduce(x.theta) - np.logaddexp.reduce(tilted)
    least = least_divergence(tilted, 1.0 / x.k) + float(shift)
    yield equal(near(value), near(least), "B_h + f at ∇f̂*(θ), and its minimum")


@SOURCE.claim(
    "C14",
    space=Space(
        sizes={"m": (2, 3)}, theta=Vector("m"), p=Vector("m", 0.0, 1.0), q=Vector("m", 0.0, 1.0)
    ),
).checked(trials=300)
def bregman_projection(x: Instance) -> Slack:
    theta, p, q = exactly(x.theta), exactly(x.p), exactly(x.q)
    right = _along(_clipped(theta), p, q)
    return equal(_along(theta, p, q), right, "position between p and q")


@bregman_projection.corrected()
def bregman_projection_inside(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    assume(bool((_clipped(theta) == theta).all()))
    yield from bregman_projection(x)


def _along(point: Exact, p: Exact, q: Exact) -> Fraction:
    """Return the t in [0, 1] for which p + t(q − p) is nearest to a point."""
    way = q - p
    assume(bool(way.any()))
    return min(max(way @ (point - p) / Fraction(way @ way), Fraction(0)), Fraction(1))


@SOURCE.claim(
    "Eq14",
    space=Space(
        sizes={"m": (1, 7), "n": (1, 4)},
        A=Matrix(),
        w=Weights(),
        beta=Real(0.01, 1.0, log=True),
        k=Whole(1, "m"),
    ),
)
def projection(x: Instance) -> Slacks:
    u, nu = x.A @ x.w, 1.0 / x.k
    d = capped_distribution(u, x.beta, x.k)
    theta = -u / x.beta
    for left, right in zip(d, projected_softmax(theta, nu), strict=True):
        yield equal(near(left), near(right), "d_t and the projection")
    log_d0 = theta - np.logaddexp.reduce(theta)
    own = float(np.sum(d * (np.log(np.maximum(d, 1e-300)) - log_d0)))
    least = least_divergence(theta, nu)
    yield equal(near(own, 1e-11), near(least, 1e-11), "B_h(d_t ‖ d0) and its minimum")
