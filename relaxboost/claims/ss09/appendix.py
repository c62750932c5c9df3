"""SS09, App. A: Lemmas 17 to 20 (15 and 16 are in `projection`)."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy, log_mean_exp, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import KINDS, dual


def _norm_subgradient(w: Array, chosen: Array, p: float) -> Array:
    """Return an element of the subdifferential of ‖w‖_p; `chosen` in [−1, 1] picks among them."""
    size = float(np.linalg.norm(w, p))
    if size == 0.0:  # the whole dual ball
        dual_size = float(np.linalg.norm(chosen, dual(p)))
        return chosen / max(1.0, dual_size)
    if p == 1:
        return np.where(w == 0.0, chosen, np.sign(w))
    if p == math.inf:
        return np.sign(w) * normalised(np.where(np.abs(w) == size, np.abs(chosen) + 1e-3, 0.0))
    return np.sign(w) * (np.abs(w) / size) ** (p - 1.0)


def _half_square(p: float, w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    size = float(np.linalg.norm(w, p))
    theta = size * _norm_subgradient(w, chosen, p)
    return w, theta, 0.5 * size**2, 0.5 * float(np.linalg.norm(theta, dual(p))) ** 2


def _norm(p: float, w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    theta = _norm_subgradient(w, chosen, p)
    inside = float(np.linalg.norm(theta, dual(p))) <= 1.0 + 1e-12
    return w, theta, float(np.linalg.norm(w, p)), 0.0 if inside else math.inf


def _simplex(w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    d = normalised(w)
    theta = 0.5 + np.where(d > 0.0, 0.0, -np.abs(chosen))
    return d, theta, 0.0, float(theta.max())


def _entropy(w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    d = softmax(2.0 * w)
    theta = np.log(len(d) * d) + chosen[0]  # plus a constant: normal to the simplex
    return d, theta, entropy(d), log_mean_exp(theta)


def _largest(w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    theta = normalised(np.where(w == w.max(), np.abs(chosen) + 1e-3, 0.0))
    return w, theta, float(w.max()), 0.0


def _log_mean_exp(w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    theta = softmax(w)
    return w, theta, log_mean_exp(w), entropy(theta)


SUBGRADIENTS: dict[str, Callable[[Array, Array], tuple[Array, Array, float, float]]] = {
    "half square of the 1-norm": partial(_half_square, 1),
    "half square of the 2-norm": partial(_half_square, 2),
    "half square of the 3-norm": partial(_half_square, 3),
    "half square of the max-norm": partial(_half_square, math.inf),
    "1-norm": partial(_norm, 1),
    "1.5-norm": partial(_norm, 1.5),
    "max-norm": partial(_norm, math.inf),
    "simplex": _simplex,
    "relative entropy": _entropy,
    "largest": _largest,
    "log-mean-exp": _log_mean_exp,
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


@SOURCE.claim("L18-gradient", space=STRONG).checked(trials=300)
def differentiable(x: Instance) -> Slacks:
    f, s = KINDS[x.f], x.step
    w = f.argmax(x.theta)
    here, ahead, behind = (f.conjugate(x.theta + t * x.v) for t in (0.0, s, -s))
    slope = s * float(w @ x.v)
    yield equal(near(here, 1e-11), near(float(w @ x.theta) - f.value(w), 1e-11), "maximum")
    yield at_most(here - behind, near(slope, 1e-11), "difference quotient behind")
    yield at_most(slope, near(ahead - here, 1e-11), "difference quotient ahead")
    bend = s**2 * f.dual_size(x.v) ** 2 / f.sigma
    yield at_most(ahead + behind - 2.0 * here, near(bend, 1e-11), "difference of the two")
    d = f.point(x.raw)
    short = here - f.sigma / 2.0 * f.size(d - w) ** 2
    yield at_most(float(d @ x.theta) - f.value(d), near(short, 1e-11), "another point")


@differentiable.step()
def _(x: Instance) -> Slack:
    f, s = KINDS[x.f], x.step
    ahead, slope = f.conjugate(x.theta + s * x.v), s * float(f.argmax(x.theta) @ x.v)
    return at_least(near(ahead, 1e-11), near(f.conjugate(x.theta) + slope, 1e-11), x.f)


@differentiable.step()
def _(x: Instance) -> Slack:
    f, s = KINDS[x.f], x.step
    ahead, slope = f.conjugate(x.theta + s * x.v), s * float(f.argmax(x.theta) @ x.v)
    bend = s**2 * f.dual_size(x.v) ** 2 / (2.0 * f.sigma)
    return at_most(near(ahead, 1e-11), near(f.conjugate(x.theta) + slope + bend, 1e-11), x.f)


@SOURCE.claim("L18", space=STRONG).checked(trials=300)
def smooth(x: Instance) -> Slack:
    f = KINDS[x.f]
    theta2 = x.step * x.v
    left = f.conjugate(x.theta + theta2) - f.conjugate(x.theta)
    right = float(f.argmax(x.theta) @ theta2) + f.dual_size(theta2) ** 2 / (2.0 * f.sigma)
    return at_most(left, near(right, 1e-11), x.f)


@smooth.step()
def _(x: Instance) -> Slack:
    f, d = KINDS[x.f], KINDS[x.f].point(x.raw)
    short = f.sigma / 2.0 * f.size(d - f.argmax(x.theta)) ** 2
    return at_most(float(d @ x.theta) - f.value(d) + short, near(f.conjugate(x.theta), 1e-11), x.f)


@smooth.step()
def _(x: Instance) -> Slack:
    f = KINDS[x.f]
    apart = f.point(x.raw) - f.argmax(x.theta)
    return at_most(float(apart @ x.v), near(f.size(apart) * f.dual_size(x.v), 1e-11), x.f)


@smooth.step(space=Space(a=Real(0.0, 4.0), b=Real(0.0, 4.0), sigma=Real(0.1, 4.0)))
def _(x: Instance) -> Slacks:
    b, sigma = Fraction(x.b), Fraction(x.sigma)
    for a in (Fraction(x.a), b / sigma):
        yield at_most(a * b - sigma * a**2 / 2, b**2 / (2 * sigma))


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
    linear, g, f, c = _between(x)
    yield at_most(max(linear - g), max(linear - f), "g* ≤ f*")
    yield at_most(max(linear - f), max(linear - g) + c, "f* ≤ g* + c")


def _between(x: Instance) -> tuple[Exact, Exact, Exact, Fraction]:
    """Return <w, θ>, g and f on the rows, and c."""
    c, g = Fraction(x.c), exactly(x.g)
    return exactly(x.D) @ exactly(x.theta), g, g - c * exactly(x.share), c


@sandwiched.step()
def _(x: Instance) -> Slacks:
    linear, g, f, c = _between(x)
    for value, above, below in zip(linear, g, f, strict=True):
        yield at_most(value - above, value - below)
        yield at_most(value - below, value - above + c)


@SOURCE.claim("L19-attained", space=Space(w=Real(0.0, 1e6), error=Real(1e-6, 1.0, log=True)))
def attained(x: Instance) -> Slack:
    return equal(-1 / (1 + Fraction(x.w)), 0, "at the w drawn")


@attained.corrected()
def nearly_attained(x: Instance) -> Slacks:
    error = Fraction(x.error)
    yield at_least(-1 / (1 + 1 / error), -error, "w' = 1/ε")
    yield at_most(-1 / (1 + Fraction(x.w)), 0, "the w drawn")


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


@SOURCE.claim("L20", space=SEQUENCES)
def recursion(x: Instance) -> Slacks:
    for t, epsilon in enumerate(sequence(x), 1):
        yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 1)), round=t)


@recursion.step()
def _(x: Instance) -> Slack:
    return at_most(1, 1 / (2 * Fraction(x.r)))


@recursion.step(space=Space(r=Real(0.01, 2.0, log=True), t=Whole(1, 100), share=Real(-1.0, 1.0)))
def _(x: Instance) -> Slack:
    r = Fraction(x.r)
    s = Fraction(x.share) / (r * (x.t + 1))
    return at_most(s - r * s**2, 1 / (r * (x.t + 2)))


@SOURCE.claim(
    "L20-sharp",
    space=SEQUENCES.but(r=Real(0.01, 10.0, log=True), first=Real(-1.0, 2.0)).including(
        {"first": "1/2", "r": 1, "less": [0]}
    ),
)
def later_terms(x: Instance) -> Slacks:
    r = Fraction(x.r)
    epsilon = Fraction(x.first) / r
    for t in range(2, 20):
        epsilon -= r * epsilon**2
        if t <= len(x.less):
            epsilon -= Fraction(x.less[t - 2]) * abs(epsilon)
        epsilon = Fraction(math.floor(epsilon * _UNIT), _UNIT)
        yield at_most(epsilon, 1 / (r * (t + 2)), round=t)
        if epsilon < 0:
            return


@later_terms.step()
def _(x: Instance) -> Slack:
    r, s = Fraction(x.r), Fraction(x.first) / Fraction(x.r)
    return equal(s - r * s**2, 1 / (4 * r) - r * (s - 1 / (2 * r)) ** 2)


@later_terms.step(space=Space(r=Real(0.01, 2.0, log=True), t=Whole(2, 100), share=Real(-1.0, 1.0)))
def _(x: Instance) -> Slack:
    r = Fraction(x.r)
    s = Fraction(x.share) / (r * (x.t + 2))
    return at_most(s - r * s**2, 1 / (r * (x.t + 3)))


@SOURCE.claim(
    "Eq15",
    space=Space(r=Real(0.01, 2.0, log=True), t=Whole(1, 200), s=Real(0.0, 1.0), u=Real(0.0, 1.0)),
)
def induction(x: Instance) -> Slacks:
    r, t = Fraction(x.r), x.t
    step = 1 / (r * (t + 1)) - 1 / (r * (t + 1) ** 2)
    ratio = Fraction((t + 1) ** 2 - 1, (t + 1) ** 2)
    yield equal(step, ratio / (r * (t + 2)), "rewriting")
    yield at_most(step, 1 / (r * (t + 2)), "≤ 1/(r(t+2))")
    low, high = sorted(Fraction(share) / (2 * r) for share in (x.s, x.u))
    yield at_least(high - r * high**2, low - r * low**2, "s − r s² increases")


@induction.step()
def _(x: Instance) -> Slacks:
    r, t = Fraction(x.r), x.t
    yield equal(1 / (r * (t + 1)) - 1 / (r * (t + 1) ** 2), t / (r * (t + 1) ** 2))
    yield equal(t * (t + 2), (t + 1) ** 2 - 1)


@induction.step()
def _(x: Instance) -> Slack:
    r, s, u = (Fraction(v) for v in (x.r, x.s, x.u))
    return equal(u - r * u**2 - s + r * s**2, (u - s) * (1 - r * (u + s)))
