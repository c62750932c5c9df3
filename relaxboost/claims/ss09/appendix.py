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
    """θ comes from differentiating f, f*(θ) from the table of conjugates.

    For indicators θ is any normal, for norms at 0 any point of the dual ball.

    Proof. θ in ∂f(w) says f(v) ≥ f(w) + <θ, v − w> for every v, so that <θ, v> − f(v) is greatest
    for v = w, and f*(θ) = <θ, w> − f(w). f need not be closed or convex for that.
    """
    w, theta, value, conjugate = SUBGRADIENTS[x.f](x.w, x.chosen)
    return equal(near(value + conjugate, 1e-11), near(float(theta @ w), 1e-11), x.f)


@fenchel_young.step(
    "A subgradient at w makes w the best point.",
    "<θ, v> − f(v) ≤ <θ, w> − f(w)",
    space=FUNCTIONS.but(v=Vector("m")),
    trials=80,
)
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
    """The slope of the convex f* along v lies between its difference quotients, and so does <w, v>.

    Their distance is at most s‖v‖_*²/σ: it vanishes with the step s, so that f* is differentiable.

    Proof. A closed f that is strongly convex has a maximiser w; any other point of S falls short of
    it by (σ/2)‖d − w‖² (L18). f*(θ + sv) is at least f*(θ) + s<w, v>, as w is a candidate,
    and by L18, whose proof does not use the gradient, at most that + s²‖v‖_*²/(2σ). So the slope
    of f* along every v is <w, v>, uniformly in v.
    """
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


@differentiable.step("w is a candidate at θ + sv.", "f*(θ + sv) ≥ f*(θ) + s<w, v>")
def _(x: Instance) -> Slack:
    f, s = KINDS[x.f], x.step
    ahead, slope = f.conjugate(x.theta + s * x.v), s * float(f.argmax(x.theta) @ x.v)
    return at_least(near(ahead, 1e-11), near(f.conjugate(x.theta) + slope, 1e-11), x.f)


@differentiable.step("f* bends by 1/σ.", "f*(θ + sv) ≤ f*(θ) + s<w, v> + s²‖v‖_*²/(2σ)")
def _(x: Instance) -> Slack:
    f, s = KINDS[x.f], x.step
    ahead, slope = f.conjugate(x.theta + s * x.v), s * float(f.argmax(x.theta) @ x.v)
    bend = s**2 * f.dual_size(x.v) ** 2 / (2.0 * f.sigma)
    return at_most(near(ahead, 1e-11), near(f.conjugate(x.theta) + slope + bend, 1e-11), x.f)


@SOURCE.claim("L18", space=STRONG).checked(trials=300)
def smooth(x: Instance) -> Slack:
    """θ2 = s v of any length. Tight for the square on the simplex while all weights stay positive,
    and θ2 of sum 0.

    Proof. Let w be the maximiser at θ1. For every d in S <d, θ1> − f(d) ≤ f*(θ1) − (σ/2)‖d − w‖²,
    by Definition 10 between d and w. So <d, θ1 + θ2> − f(d) ≤ f*(θ1) + <w, θ2> + <d − w, θ2> −
    (σ/2)‖d − w‖². The last two terms are at most ab − σa²/2 ≤ b²/(2σ), with a = ‖d − w‖ and b =
    ‖θ2‖_*. Take the supremum over d.
    """
    f = KINDS[x.f]
    theta2 = x.step * x.v
    left = f.conjugate(x.theta + theta2) - f.conjugate(x.theta)
    right = float(f.argmax(x.theta) @ theta2) + f.dual_size(theta2) ** 2 / (2.0 * f.sigma)
    return at_most(left, near(right, 1e-11), x.f)


@smooth.step(
    "Points fall short by the square of their distance.", "<d, θ> − f(d) + (σ/2)‖d − w‖² ≤ f*(θ)"
)
def _(x: Instance) -> Slack:
    f, d = KINDS[x.f], KINDS[x.f].point(x.raw)
    short = f.sigma / 2.0 * f.size(d - f.argmax(x.theta)) ** 2
    return at_most(float(d @ x.theta) - f.value(d) + short, near(f.conjugate(x.theta), 1e-11), x.f)


@smooth.step("The dual norm bounds the product.", "<d − w, θ2> ≤ ‖d − w‖ ‖θ2‖_*")
def _(x: Instance) -> Slack:
    f = KINDS[x.f]
    apart = f.point(x.raw) - f.argmax(x.theta)
    return at_most(float(apart @ x.v), near(f.size(apart) * f.dual_size(x.v), 1e-11), x.f)


@smooth.step(
    "A square is completed.",
    "ab − σa²/2 ≤ b²/(2σ), equal for a = b/σ",
    space=Space(a=Real(0.0, 4.0), b=Real(0.0, 4.0), sigma=Real(0.1, 4.0)),
)
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
    """In fractions. No convexity is needed; tight on one side where a share is 0 or 1.

    Proof. <w, θ> − g(w) ≤ <w, θ> − f(w) ≤ <w, θ> − g(w) + c for every w in S. Take suprema.
    """
    linear, g, f, c = _between(x)
    yield at_most(max(linear - g), max(linear - f), "g* ≤ f*")
    yield at_most(max(linear - f), max(linear - g) + c, "f* ≤ g* + c")


def _between(x: Instance) -> tuple[Exact, Exact, Exact, Fraction]:
    """Return <w, θ>, g and f on the rows, and c."""
    c, g = Fraction(x.c), exactly(x.g)
    return exactly(x.D) @ exactly(x.theta), g, g - c * exactly(x.share), c


@sandwiched.step("At every point.", "<w, θ> − g(w) ≤ <w, θ> − f(w) ≤ <w, θ> − g(w) + c")
def _(x: Instance) -> Slacks:
    linear, g, f, c = _between(x)
    for value, above, below in zip(linear, g, f, strict=True):
        yield at_most(value - above, value - below)
        yield at_most(value - below, value - above + c)


@SOURCE.claim("L19-attained", space=Space(w=Real(0.0, 1e6), error=Real(1e-6, 1.0, log=True)))
def attained(x: Instance) -> Slack:
    """g*(0) = sup −1/(1 + w) = 0, which no w has. The lemma holds all the same."""
    return equal(-1 / (1 + Fraction(x.w)), 0, "at the w drawn")


@attained.corrected(
    "The supremum is attained but for any ε > 0, which is enough.", "<w', θ> − g(w') ≥ g*(θ) − ε"
)
def nearly_attained(x: Instance) -> Slacks:
    """Here by w' = 1/ε. The chain of the proof then gives g* ≤ f* + ε for every ε."""
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
    """In fractions along 60 terms. "1 ≥ ε_1" and "r < 1/2" serve t = 1 only, where ε_1 ≤ 1/(2r).

    r = 1, ε_1 = 1 breaks it at t = 1; later terms: L20-sharp. Equal for r = 1/2, t = 1 only.

    Proof. ε_1 ≤ 1 ≤ 1/(2r). If s = ε_t ≤ 1/(r(t+1)), then ε_{t+1} ≤ s − r s², which increases up to
    1/(2r) and so is at most its value at 1/(r(t+1)), which is below 1/(r(t+2)).
    """
    for t, epsilon in enumerate(sequence(x), 1):
        yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 1)), round=t)


@recursion.step("The first term.", "1 ≤ 1/(2r) for r ≤ 1/2")
def _(x: Instance) -> Slack:
    return at_most(1, 1 / (2 * Fraction(x.r)))


@recursion.step(
    "From a term to the next.",
    "s ≤ 1/(r(t+1)) ⇒ s − r s² ≤ 1/(r(t+2))",
    space=Space(r=Real(0.01, 2.0, log=True), t=Whole(1, 100), share=Real(-1.0, 1.0)),
)
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
    """In fractions along 20 terms, without ε_1, as long as they are not negative.

    Proof. s − r s² = 1/(4r) − r(s − 1/(2r))² ≤ 1/(4r) for every s, so that ε_2 ≤ 1/(4r). From s ≤
    1/(r(t+2)) ≤ 1/(4r) on, s − r s² is at most its value there, (t+1)/(r(t+2)²) < 1/(r(t+3)).
    """
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


@later_terms.step("The second term.", "s − r s² = 1/(4r) − r(s − 1/(2r))²")
def _(x: Instance) -> Slack:
    r, s = Fraction(x.r), Fraction(x.first) / Fraction(x.r)
    return equal(s - r * s**2, 1 / (4 * r) - r * (s - 1 / (2 * r)) ** 2)


@later_terms.step(
    "From a term to the next.",
    "s ≤ 1/(r(t+2)) ⇒ s − r s² ≤ 1/(r(t+3))",
    space=Space(r=Real(0.01, 2.0, log=True), t=Whole(2, 100), share=Real(-1.0, 1.0)),
)
def _(x: Instance) -> Slack:
    r = Fraction(x.r)
    s = Fraction(x.share) / (r * (x.t + 2))
    return at_most(s - r * s**2, 1 / (r * (x.t + 3)))


@SOURCE.claim(
    "Eq15",
    space=Space(r=Real(0.01, 2.0, log=True), t=Whole(1, 200), s=Real(0.0, 1.0), u=Real(0.0, 1.0)),
)
def induction(x: Instance) -> Slacks:
    """In fractions; s and s' are given as shares of 1/(2r).

    Proof. 1/(r(t+1)) − 1/(r(t+1)²) = t/(r(t+1)²) = t(t+2)/(r(t+2)(t+1)²), and t(t+2) = (t+1)² − 1.
    s' − r s'² − (s − r s²) = (s' − s)(1 − r(s' + s)), where s' + s ≤ 1/r.
    """
    r, t = Fraction(x.r), x.t
    step = 1 / (r * (t + 1)) - 1 / (r * (t + 1) ** 2)
    ratio = Fraction((t + 1) ** 2 - 1, (t + 1) ** 2)
    yield equal(step, ratio / (r * (t + 2)), "rewriting")
    yield at_most(step, 1 / (r * (t + 2)), "≤ 1/(r(t+2))")
    low, high = sorted(Fraction(share) / (2 * r) for share in (x.s, x.u))
    yield at_least(high - r * high**2, low - r * low**2, "s − r s² increases")


@induction.step("The product.", "t/(r(t+1)²) = t(t+2)/(r(t+2)(t+1)²), t(t+2) = (t+1)² − 1")
def _(x: Instance) -> Slacks:
    r, t = Fraction(x.r), x.t
    yield equal(1 / (r * (t + 1)) - 1 / (r * (t + 1) ** 2), t / (r * (t + 1) ** 2))
    yield equal(t * (t + 2), (t + 1) ** 2 - 1)


@induction.step("The difference.", "s' − r s'² − s + r s² = (s' − s)(1 − r(s' + s))")
def _(x: Instance) -> Slack:
    r, s, u = (Fraction(v) for v in (x.r, x.s, x.u))
    return equal(u - r * u**2 - s + r * s**2, (u - s) * (1 - r * (u + s)))
