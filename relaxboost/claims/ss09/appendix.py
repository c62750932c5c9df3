"""SS09, App. A: Lemmas 17 to 20 (15 and 16 are in `projection`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Choice, Instance, Matrix, Real, Space, Vector, Whole
from relaxboost.claims.arrays import normalised
from relaxboost.claims.measure import Slack, at_least, at_most, equal
from relaxboost.claims.sides import exactly, near
from relaxboost.claims.ss09.exact import entropy, softmax
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
    return d, theta, entropy(d), float(np.logaddexp.reduce(theta)) - math.log(len(d))


def _largest(w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    theta = normalised(np.where(w == w.max(), np.abs(chosen) + 1e-3, 0.0))
    return w, theta, float(w.max()), 0.0


def _log_mean_exp(w: Array, chosen: Array) -> tuple[Array, Array, float, float]:
    theta = softmax(w)
    return w, theta, float(np.logaddexp.reduce(w)) - math.log(len(w)), entropy(theta)


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


@SOURCE.claim(
    "L17",
    "Lemma 17",
    "The Fenchel–Young inequality is an equality at subgradients.",
    formula="θ in ∂f(w) ⇒ f(w) + f*(θ) = <θ, w>",
    given="f closed and convex: eleven of them, with any element of ∂f(w) where f has a kink",
    space=Space(sizes={"m": (1, 6)}, f=Choice(*SUBGRADIENTS), w=Vector("m"), chosen=Vector("m")),
).checked(trials=400)
def fenchel_young(x: Instance) -> Slack:
    """θ comes from differentiating f, f*(θ) from the table of conjugates.

    For indicators θ is any normal, for norms at 0 any point of the dual ball.
    """
    w, theta, value, conjugate = SUBGRADIENTS[x.f](x.w, x.chosen)
    return equal(near(value + conjugate, 1e-11), near(float(theta @ w), 1e-11), x.f)


STRONG = Space(
    sizes={"m": (2, 6)},
    f=Choice(*KINDS),
    theta=Vector("m", -4.0, 4.0),
    v=Vector("m", -4.0, 4.0),
    raw=Vector("m"),
    step=Real(1e-3, 1.0, log=True),
)


@SOURCE.claim(
    "L18-gradient",
    "Lemma 18, first part",
    "The conjugate of a strongly convex f is differentiable, and its gradient is the maximiser.",
    formula="∇f*(θ) = argmax_{w in S} <w, θ> − f(w)",
    given="f one of five functions of known σ and norm",
    space=STRONG,
).checked(trials=300)
def differentiable(x: Instance) -> Iterator[Slack]:
    """The slope of the convex f* along v lies between its difference quotients, and so does <w, v>.

    Their distance is at most s‖v‖_*²/σ: it vanishes with the step s, so that f* is differentiable.
    Any other point of S falls short of the maximum by (σ/2)‖d − w‖²: w is the only maximiser.
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


@SOURCE.claim(
    "L18",
    "Lemma 18, inequality",
    "The conjugate of a σ-strongly convex f is smooth with constant 1/σ in the dual norm.",
    formula="f*(θ1 + θ2) − f*(θ1) ≤ <∇f*(θ1), θ2> + ‖θ2‖_*²/(2σ)",
    given="f one of five functions of known σ and norm",
    space=STRONG,
).checked(trials=300)
def smooth(x: Instance) -> Slack:
    """θ2 = s v of any length. Tight for the square on the simplex while all weights stay positive,
    and θ2 of sum 0."""
    f = KINDS[x.f]
    theta2 = x.step * x.v
    left = f.conjugate(x.theta + theta2) - f.conjugate(x.theta)
    right = float(f.argmax(x.theta) @ theta2) + f.dual_size(theta2) ** 2 / (2.0 * f.sigma)
    return at_most(left, near(right, 1e-11), x.f)


@SOURCE.claim(
    "L19",
    "Lemma 19",
    "If f is within c below g, then f* is within c above g*.",
    formula="g ≥ f ≥ g − c on S ⇒ g* ≤ f* ≤ g* + c",
    given="S the finite set of the rows of D, f = g − c·share with shares in [0, 1]",
    space=Space(
        sizes={"m": (1, 5), "n": (1, 6)},
        D=Matrix(-2.0, 2.0, axes=("n", "m")),
        g=Vector("n", -2.0, 2.0),
        share=Vector("n", 0.0, 1.0),
        c=Real(0.0, 2.0),
        theta=Vector("m", -2.0, 2.0),
    ),
)
def sandwiched(x: Instance) -> Iterator[Slack]:
    """In fractions. No convexity is needed; tight on one side where a share is 0 or 1."""
    c, g, linear = Fraction(x.c), exactly(x.g), exactly(x.D) @ exactly(x.theta)
    g_star, f_star = max(linear - g), max(linear - (g - c * exactly(x.share)))
    yield at_most(g_star, f_star, "g* ≤ f*")
    yield at_most(f_star, g_star + c, "f* ≤ g* + c")


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


@SOURCE.claim(
    "L20",
    "Lemma 20",
    "A sequence that decreases by r ε_t² at each step is at most 1/(r(t+1)).",
    formula="ε_t − ε_{t+1} ≥ r ε_t² ⇒ ε_t ≤ 1/(r(t+1))",
    given="1 ≥ ε_1 ≥ ε_2 ≥ ..., r in (0, 1/2)",
    space=SEQUENCES,
)
def recursion(x: Instance) -> Iterator[Slack]:
    """In fractions along 60 terms. "1 ≥ ε_1" and "r < 1/2" serve t = 1 only, where ε_1 ≤ 1/(2r).

    For t ≥ 2 the bound holds for every r > 0 and every ε_1, even as 1/(r(t+2)), since
    s − r s² ≤ 1/(4r) for all s; r = 1, ε_1 = 1 breaks it at t = 1. Tight for r = 1/2, t = 1.
    """
    for t, epsilon in enumerate(sequence(x), 1):
        yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 1)), round=t)


@SOURCE.claim(
    "Eq15",
    "Eq. 15",
    "The step of the induction: s − r s² increases up to 1/(2r), and 1/(r(t+1)) leads to "
    "something smaller than 1/(r(t+2)).",
    formula="1/(r(t+1)) − 1/(r(t+1)²) = (1/(r(t+2))) ((t+1)² − 1)/(t+1)² < 1/(r(t+2))",
    given="r > 0, t ≥ 1, 0 ≤ s ≤ s' ≤ 1/(2r)",
    space=Space(r=Real(0.01, 2.0, log=True), t=Whole(1, 200), s=Real(0.0, 1.0), u=Real(0.0, 1.0)),
)
def induction(x: Instance) -> Iterator[Slack]:
    """In fractions; s and s' are given as shares of 1/(2r)."""
    r, t = Fraction(x.r), x.t
    step = 1 / (r * (t + 1)) - 1 / (r * (t + 1) ** 2)
    ratio = Fraction((t + 1) ** 2 - 1, (t + 1) ** 2)
    yield equal(step, ratio / (r * (t + 2)), "rewriting")
    yield at_most(step, 1 / (r * (t + 2)), "≤ 1/(r(t+2))")
    low, high = sorted(Fraction(share) / (2 * r) for share in (x.s, x.u))
    yield at_least(high - r * high**2, low - r * low**2, "s − r s² increases")
