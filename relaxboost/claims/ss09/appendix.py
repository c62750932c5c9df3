"""SS09, App. A: Lemmas 17 to 20 (15 and 16 are in `projection`); App. B: two conjugates."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy, log_mean_exp, softmax
from relaxboost.claims.ss09.projection import conjugate_of_entropy
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import KINDS, dual, dual_vector, norm
from relaxboost.relaxations import NormBall

Subgradient: TypeAlias = tuple[Array, Array, float, float]


def _half_square(w: Array, chosen: Array) -> Subgradient:
    size = float(np.abs(w).sum())
    theta = size * np.where(w == 0.0, chosen, np.sign(w))
    return w, theta, 0.5 * size**2, 0.5 * float(np.abs(theta).max()) ** 2


def _simplex(w: Array, chosen: Array) -> Subgradient:
    d = normalised(w)
    theta = 0.5 + np.where(d > 0.0, 0.0, -np.abs(chosen))
    return d, theta, 0.0, float(theta.max())


def _entropy(w: Array, chosen: Array) -> Subgradient:
    d = softmax(2.0 * w)
    theta = np.log(len(d) * d) + chosen[0]  # plus a constant: normal to the simplex
    return d, theta, entropy(d), log_mean_exp(theta)


SUBGRADIENTS: dict[str, Callable[[Array, Array], Subgradient]] = {
    "half square of the 1-norm": _half_square,
    "simplex": _simplex,
    "relative entropy": _entropy,
}
"""By name: the point w, a subgradient θ there, f(w), f*(θ) by App. B."""


FUNCTIONS = Space(sizes={"m": (1, 6)}, f=Choice(*SUBGRADIENTS), w=Vector("m"), chosen=Vector("m"))


@SOURCE.claim("L17", space=FUNCTIONS).checked(trials=400)
def fenchel_young(x: Instance) -> Slack:
    w, theta, value, conjugate = SUBGRADIENTS[x.f](x.w, x.chosen)
    return equal(near(value + conjugate, 1e-11), near(float(theta @ w), 1e-11), x.f)


@fenchel_young.step(space=FUNCTIONS.but(v=Vector("m")), trials=80)
def _(x: Instance) -> Slack:
    w, theta, value, _ = SUBGRADIENTS[x.f](x.w, x.chosen)
    v, _, other, _ = SUBGRADIENTS[x.f](x.v, x.chosen)
    return at_most(near(float(theta @ v) - other, 1e-11), near(float(theta @ w) - value, 1e-11))


STRONG = Space(
    sizes={"m": (2, 6)},
    f=Choice(*KINDS),
    theta=Vector("m", -4.0, 4.0),
    v=Vector("m", -4.0, 4.0),
    raw=Vector("m"),
    step=Real(1e-3, 1.0, log=True),
)


@SOURCE.claim("L18", space=STRONG).checked(trials=300)
def smooth(x: Instance) -> Slacks:
    f, w, theta2 = KINDS[x.f], KINDS[x.f].argmax(x.theta), x.step * x.v
    here = f.conjugate(x.theta)
    yield equal(near(here, 1e-11), near(float(w @ x.theta) - f.value(w), 1e-11), "maximum")
    left, slope = f.conjugate(x.theta + theta2) - here, float(w @ theta2)
    yield at_least(left, near(slope, 1e-11), "f* is above its tangent")
    bend = norm(theta2, dual(f.p)) ** 2 / (2.0 * f.sigma)
    yield at_most(left, near(slope + bend, 1e-11), x.f)


@smooth.step()
def _(x: Instance) -> Slack:
    f, d = KINDS[x.f], KINDS[x.f].point(x.raw)
    short = f.sigma / 2.0 * norm(d - f.argmax(x.theta), f.p) ** 2
    return at_most(float(d @ x.theta) - f.value(d) + short, near(f.conjugate(x.theta), 1e-11), x.f)


BETWEEN = Space(
    sizes={"m": (1, 5), "n": (1, 6)},
    D=Matrix(-2.0, 2.0, axes=("n", "m")),
    g=Vector("n", -2.0, 2.0),
    share=Vector("n", 0.0, 1.0),
    c=Real(0.0, 2.0),
    theta=Vector("m", -2.0, 2.0),
)


@SOURCE.claim("L19", space=BETWEEN)
def sandwiched(x: Instance) -> Slacks:
    g, f, c = _between(x)
    yield at_most(max(g), max(f), "g* ≤ f*")
    yield at_most(max(f), max(g) + c, "f* ≤ g* + c")


def _between(x: Instance) -> tuple[Exact, Exact, Fraction]:
    """Return <w, θ> − g and <w, θ> − f on the rows, and c."""
    c, short = Fraction(x.c), exactly(x.D) @ exactly(x.theta) - exactly(x.g)
    return short, short + c * exactly(x.share), c


@sandwiched.step()
def _(x: Instance) -> Slacks:
    for above, below in zip(*_between(x)[:2], strict=True):
        yield at_most(above, below)
        yield at_most(below, above + Fraction(x.c))


SEQUENCES = Space(
    sizes={"t": (1, 12)},
    first=Real(0.0, 1.0),
    r=Real(0.001, 0.5, log=True),
    less=Vector("t", 0.0, 1.0),
)
_UNIT = 2**60


def sequence(x: Instance, rounds: int = 60) -> Iterator[Fraction]:
    """Yield ε_1, ε_2, ...: each the largest allowed, less a share of it for the first few.

    Rounded down to multiples of 2^−60, which the hypothesis allows and which keeps them short.
    """
    epsilon, r = Fraction(x.first), Fraction(x.r)
    less = exactly(x.less)
    for t in range(rounds):
        yield epsilon
        epsilon -= r * epsilon**2
        if t < len(less):
            epsilon -= less[t] ** 4 * abs(epsilon)
        epsilon = Fraction(math.floor(epsilon * _UNIT), _UNIT)
        if epsilon < 0:
            return


@SOURCE.claim("L20", space=SEQUENCES)
def recursion(x: Instance) -> Slacks:
    for t, epsilon in enumerate(sequence(x), 1):
        yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 1)), round=t)


@recursion.step(space=Space(r=Real(0.01, 2.0, log=True), t=Whole(1, 100), share=Real(-1.0, 1.0)))
def _(x: Instance) -> Slack:
    r = Fraction(x.r)
    s = Fraction(x.share) / (r * (x.t + 1))
    return at_most(s - r * s**2, 1 / (r * (x.t + 2)))


@SOURCE.claim(
    "L20-sharp",
    space=SEQUENCES.but(r=Real(0.01, 10.0, log=True), first=Real(0.0, 2.0)).including(
        {"first": "1/2", "r": 1, "less": [0]}
    ),
)
def later_terms(x: Instance) -> Slacks:
    for t, epsilon in enumerate(sequence(x, 20), 1):
        if t > 1:
            yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 2)), round=t)


@later_terms.step(space=Space(r=Real(0.01, 2.0, log=True), t=Whole(2, 100), share=Real(-1.0, 1.0)))
def _(x: Instance) -> Slack:
    r = Fraction(x.r)
    s = Fraction(x.share) / (r * (x.t + 2))
    return at_most(s - r * s**2, 1 / (r * (x.t + 3)))


ORDERS = {"1": 1.0, "1.5": 1.5, "2": 2.0, "3": 3.0, "inf": math.inf}
NORMED = Space(
    sizes={"m": (1, 5)},
    p=Choice(*ORDERS),
    theta=Vector("m", -3.0, 3.0),
    d=Vector("m"),
    nu=Real(0.05, 3.0, log=True),
)


@SOURCE.claim("AppB-1", space=NORMED).checked(trials=200)
def ball(x: Instance) -> Slacks:
    p, value = ORDERS[x.p], x.nu * norm(x.theta, dual(ORDERS[x.p]))
    best = x.nu * dual_vector(x.theta, p)
    yield at_most(norm(best, p), near(x.nu, 1e-11), "a point of the ball")
    yield equal(near(float(best @ x.theta), 1e-11), near(value, 1e-11), "attained")
    theirs = NormBall(p, x.nu).conjugate(x.theta) if p < math.inf else value
    yield equal(near(theirs, 1e-11), near(value, 1e-11), "NormBall")


@ball.step()
def _(x: Instance) -> Slack:
    p = ORDERS[x.p]
    return at_most(float(x.d @ x.theta), near(norm(x.d, p) * norm(x.theta, dual(p)), 1e-11), x.p)


@SOURCE.claim(
    "AppB-3", space=Space(sizes={"m": (1, 7)}, theta=Vector("m", -6.0, 6.0), d=Distribution())
)
def relative_entropy(x: Instance) -> Slacks:
    value = math.log(math.fsum(np.exp(x.theta).tolist()) / len(x.theta))
    best = softmax(x.theta)
    yield equal(near(float(best @ x.theta) - entropy(best), 1e-11), near(value, 1e-11), "attained")
    for d in (x.d, 0.99 * best + 0.01 * x.d):
        yield at_most(float(d @ x.theta) - entropy(d), value, "another point")


relative_entropy.step()(conjugate_of_entropy)
