"""SS09, Secs. 5.1 and 5.3: the relative entropy, Lemmas 13, 15 and 16, Eq. 14, and Fig. 2."""

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
from scipy.special import softmax

from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.exact import (
    distribution,
    divergence,
    entropy,
    log_mean_exp,
    projected,
    projected_softmax,
)
from relaxboost.relaxations._projections.capped import by_sorting, capped_distribution


def _clipped(values: Exact) -> Exact:
    # The projection of θ onto [0, 1]^m maximises <d, θ> − ‖d‖²/2 over d in [0, 1]^m.
    return np.minimum(np.maximum(values, 0), 1)


@SOURCE.claim("L13", space=Space(sizes={"m": (1, 3)}, theta=Vector("m"), slope=Vector("m")))
def bregman(x: Instance) -> Slacks:
    theta, slope = exactly(x.theta), exactly(x.slope)
    for left, right in zip(_clipped(theta - slope), _clipped(_clipped(theta) - slope), strict=True):
        yield equal(left, right, "∇f̂*(θ) and the argmin")


@bregman.corrected()
def bregman_inside(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    assume(bool((_clipped(theta) == theta).all()))
    yield from bregman(x)


@SOURCE.claim(
    "C14",
    space=Space(
        sizes={"m": (2, 3)}, theta=Vector("m"), p=Vector("m", 0.0, 1.0), q=Vector("m", 0.0, 1.0)
    ),
).checked(trials=300)
def bregman_projection(x: Instance) -> Slack:
    theta, p, q = exactly(x.theta), exactly(x.p), exactly(x.q)
    return equal(_along(theta, p, q), _along(_clipped(theta), p, q), "position between p and q")


def _along(point: Exact, p: Exact, q: Exact) -> Fraction:
    """Return the t in [0, 1] at which p + t(q − p) is nearest to a point."""
    way = q - p
    assume(bool(way.any()))
    return min(max(way @ (point - p) / Fraction(way @ way), Fraction(0)), Fraction(1))


@bregman_projection.corrected()
def bregman_projection_inside(x: Instance) -> Slack:
    theta = exactly(x.theta)
    assume(bool((_clipped(theta) == theta).all()))
    return bregman_projection(x)[0]


INSIDE = Space(
    sizes={"m": (1, 3)},
    theta=Vector("m", -0.5, 1.5),
    d=Vector("m", 0.0, 1.0),
    e=Vector("m", 0.0, 1.0),
).including({"theta": ["1/2"], "d": [0], "e": [1]}, {"theta": [-1], "d": [0], "e": [1]})


def _shifted(x: Instance) -> Slack:
    theta = exactly(x.theta)
    d0 = _clipped(theta)
    assume(bool((d0 == theta).all()))

    def difference(d: Exact) -> Any:
        return ((d - d0) @ (d - d0) - d @ d) / 2 + d @ theta

    return equal(difference(exactly(x.d)), difference(exactly(x.e)), "at d and at e")


bregman_inside.step(space=INSIDE)(_shifted)
bregman_projection_inside.step(space=INSIDE)(_shifted)


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
    u = x.A @ x.w
    nu = 1.0 / x.k
    d = capped_distribution(u, x.beta, x.k)
    theta = -u / x.beta
    for left, right in zip(d, projected_softmax(theta, nu), strict=True):
        yield equal(near(left), near(right), "d_t and the projection")


def conjugate_of_entropy(x: Instance) -> Slack:
    """Check that <d, θ> − h(d) is log-mean-exp(θ) minus the divergence of d from the softmax."""
    short = divergence(x.d, softmax(x.theta))
    return equal(near(float(x.d @ x.theta) - entropy(x.d)), near(log_mean_exp(x.theta) - short))


projection.step(space=Space(sizes={"m": (1, 7)}, theta=Vector("m", -6.0, 6.0), d=Distribution()))(
    conjugate_of_entropy
)


@SOURCE.claim("L15", space=Space(sizes={"m": (1, 7)}, d0=Distribution(), nu=Real(0.1, 1.0)))
def order(x: Instance) -> Slacks:
    d0 = distribution(x.d0)
    d = projected(d0, Fraction(x.nu))
    assume(d is not None)
    for a, left in zip(d0, d or [], strict=True):
        for b, right in zip(d0, d or [], strict=True):
            if a > b:
                yield at_least(left, right, "d_{t,j} ≤ d_{t,i}")


@order.step(space=Space(sizes={"m": (2, 6)}, theta=Vector("m", -3.0, 3.0), d=Distribution()))
def _(x: Instance) -> Slacks:
    d0 = softmax(x.theta)
    m = len(x.d)
    before = divergence(x.d, d0)
    for i, j in permutations(range(m), 2):
        if d0[i] > d0[j]:
            other = x.d.copy()
            other[i], other[j] = x.d[j], x.d[i]
            change = (x.d[j] - x.d[i]) * math.log(d0[i] / d0[j])
            yield equal(near(before - divergence(other, d0)), near(change), "change")


@SOURCE.claim(
    "L16",
    given="d_t is the solution of Eq. 14; d0 ∝ e^θ is positive; ν = 1/k, 1 ≤ k ≤ m",
    space=Space(sizes={"m": (1, 7)}, theta=Vector("m", -6.0, 6.0), k=Whole(1, "m")),
)
def between(x: Instance) -> Slacks:
    theta = np.sort(x.theta)[::-1]
    nu = 1.0 / x.k
    d = projected_softmax(theta, nu)
    d0 = softmax(theta)
    inside = np.flatnonzero(d < nu * (1.0 - 1e-12))
    assume(inside.size > 0)
    first = int(inside[0])  # i − 1
    xi = (1.0 - nu * first) / math.fsum(d0[first:].tolist())
    for r in inside:
        yield equal(near(d[r], 1e-10), near(xi * d0[r], 1e-10), "d_{t,r} and ξ d0_r")


@between.step(
    space=Space(sizes={"m": (2, 5)}, d=Distribution(), d0=Distribution(), share=Real(0.01, 0.5))
)
def _(x: Instance) -> Slacks:
    assume(min(x.d.min(), x.d0.min()) >= 0.02)
    tau = x.share * float(x.d[1])
    before, after = x.d[:2], x.d[:2] + np.array([tau, -tau])
    change = math.fsum(
        [*(after * np.log(after / x.d0[:2])), *(-before * np.log(before / x.d0[:2]))]
    )
    rates = [float(np.log(d[0] / x.d0[0]) - np.log(d[1] / x.d0[1])) for d in (before, after)]
    yield at_least(change, tau * rates[0], "τ g(d), the change")
    yield at_most(change, tau * rates[1], "the change, τ g afterwards")


def fig2(d0: Any, nu: Any) -> list[Any]:
    """Return the distribution d_t of the Fig. 2 pseudo-code, in fractions or floats.

    The vector `d0` is projected, and `nu` is the cap. Division by zero raises ZeroDivisionError.
    """
    # The pseudo-code lacks an ENDIF, so its first ENDFOR is read as ENDIF.
    u = sorted(d0, reverse=True)
    z = sum(u)
    xi = None
    for i in range(1, len(u) + 1):
        xi = (1 - nu * (i - 1)) / z
        if xi * u[i - 1] <= nu:
            break
        z = z - u[i - 1]
    smaller = np.minimum if isinstance(u[0], float) else min  # `np.minimum` returns nan for nan.
    return [smaller(nu, xi * weight) for weight in d0]


@SOURCE.claim(
    "F2", space=Space(sizes={"m": (1, 8)}, d0=Distribution(), nu=Real(0.02, 0.99))
).checked(trials=300)
def figure(x: Instance) -> Slacks:
    d0 = distribution(x.d0)
    nu = Fraction(x.nu)
    try:
        d = fig2(d0, nu)
    except ZeroDivisionError:
        yield equal(0, 1, "no mass, division by zero")
        return
    yield equal(sum(d), 1, "mass")
    if sum(d) == 1:
        for weight, right in zip(d, projected(d0, nu) or [], strict=True):
            yield equal(weight, right, "d_t and the solution of Eq. 14")


@figure.corrected()
def figure_feasible(x: Instance) -> Slacks:
    assume(Fraction(x.nu) * int(np.count_nonzero(x.d0)) >= 1)
    yield from figure(x)


@figure_feasible.step(
    space=Space(sizes={"m": (2, 8)}, theta=Vector("m", -3.0, 3.0), k=Whole(2, "m"))
)
def _(x: Instance) -> Slack:
    d0 = sorted(distribution(softmax(x.theta)), reverse=True)
    nu = Fraction(1, x.k)
    multiples = ((i, (1 - nu * i) / sum(d0[i:])) for i in range(x.k))
    first, xi = next((i, xi) for i, xi in multiples if xi * d0[i] <= nu)
    assume(first > 0)
    return at_least(xi * d0[first - 1], nu, "ξ d0_{i−1} and ν")


@SOURCE.claim(
    "F2-doubles", space=Space(sizes={"m": (2, 8)}, theta=Vector("m", -60.0, 0.0), k=Whole(2, "m"))
)
def doubles(x: Instance) -> Slacks:
    with np.errstate(all="ignore"):
        lost = fig2(list(softmax(np.array([0.0, -40.0, -41.0]))), 0.5)
    yield equal(math.fsum(lost), near(0.0), "mass of Fig. 2 for θ = (0, −40, −41)")
    d = by_sorting(-x.theta, 1.0, x.k)
    mass = math.fsum(d)
    yield equal(math.inf if math.isnan(mass) else mass, near(1.0), "mass")
    if abs(mass - 1.0) <= 1e-9:
        for weight, right in zip(d, projected_softmax(x.theta, 1.0 / x.k), strict=True):
            yield equal(float(weight), near(right), "d_t and the solution of Eq. 14")
