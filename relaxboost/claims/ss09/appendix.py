"""SS09, App. A: Lemmas 17 to 19 (conjugates) and 20 (a recursion). App. B: two conjugates."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import softmax

from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.exact import entropy, log_mean_exp
from relaxboost.relaxations import NormBall


@dataclass(frozen=True)
class Strong:
    """An example for App. A: a function that is σ-strongly convex on a set S in the norm ‖·‖_p."""

    sigma: float
    p: float
    point: Callable[[Array], Array]
    """A map from vectors with entries in [−1, 1] to points of S."""
    value: Callable[[Array], float]
    conjugate: Callable[[Array], float]
    argmax: Callable[[Array], Array]


def dual(p: float) -> float:
    """Return the exponent q of the dual norm, with 1/p + 1/q = 1."""
    return math.inf if p == 1 else 1.0 if p == math.inf else p / (p - 1.0)


def norm(d: Array, p: float) -> float:
    """Return the norm ‖d‖_p of a vector d."""
    return float(np.linalg.norm(d, p))


def dual_vector(theta: Array, p: float) -> Array:
    """Return a vector d with ‖d‖_p = 1 and <d, θ> = ‖θ‖_q, where ‖·‖_q is the dual norm."""
    if not np.any(theta):
        return np.eye(len(theta))[0]
    if p == 1:
        at = int(np.argmax(np.abs(theta)))
        return np.eye(len(theta))[at] * np.sign(theta[at])
    if p == math.inf:
        return np.where(theta >= 0.0, 1.0, -1.0)
    d = np.sign(theta) * (np.abs(theta) / np.max(np.abs(theta))) ** (dual(p) - 1.0)
    return d / norm(d, p)


def _half_square_of_norm(p: float) -> Strong:
    q = dual(p)
    return Strong(
        p - 1.0,
        p,
        lambda raw: 2.0 * raw,
        lambda d: 0.5 * norm(d, p) ** 2,
        lambda t: 0.5 * norm(t, q) ** 2,
        lambda t: dual_vector(t, p) * norm(t, q),
    )


KINDS: dict[str, Strong] = {
    "relative entropy": Strong(1.0, 1, normalised, entropy, log_mean_exp, softmax),
    "half square of the 1.5-norm": _half_square_of_norm(1.5),
}


STRONG = Space(
    sizes={"m": (2, 6)},
    f=Choice(*KINDS),
    theta=Vector("m", -4.0, 4.0),
    v=Vector("m", -4.0, 4.0),
    raw=Vector("m"),
    step=Real(1e-3, 1.0, log=True),
)


@SOURCE.claim("L17", space=STRONG).checked(trials=300)
def fenchel_young(x: Instance) -> Slack:
    f = KINDS[x.f]
    w = KINDS[x.f].argmax(x.theta)
    both = f.value(w) + f.conjugate(x.theta)
    return equal(near(both, 1e-11), near(float(x.theta @ w), 1e-11), x.f)


@SOURCE.claim("L18", space=STRONG).checked(trials=300)
def smooth(x: Instance) -> Slacks:
    f = KINDS[x.f]
    w = KINDS[x.f].argmax(x.theta)
    theta2 = x.step * x.v
    left = f.conjugate(x.theta + theta2) - f.conjugate(x.theta)
    slope = float(w @ theta2)
    yield at_least(left, near(slope, 1e-11), "f* is above its tangent")
    bend = norm(theta2, dual(f.p)) ** 2 / (2.0 * f.sigma)
    yield at_most(left, near(slope + bend, 1e-11), x.f)


@smooth.step()
def falls_short(x: Instance) -> Slack:
    f = KINDS[x.f]
    d = KINDS[x.f].point(x.raw)
    short = f.sigma / 2.0 * norm(d - f.argmax(x.theta), f.p) ** 2
    return at_most(float(d @ x.theta) - f.value(d) + short, near(f.conjugate(x.theta), 1e-11), x.f)


fenchel_young.step()(falls_short.stated.check)


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
    c = Fraction(x.c)
    short = exactly(x.D) @ exactly(x.theta) - exactly(x.g)
    # These are <w, θ> − g(w) and <w, θ> − f(w) at all points w.
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


def sequence(x: Instance, rounds: int = 60) -> Iterator[Fraction]:
    """Yield numbers ε_1, ε_2, ... with ε_{t+1} ≤ ε_t − rε_t², the hypothesis of Lemma 20."""
    # Each term is the largest that the hypothesis allows, except for reductions of the first terms.
    # Terms are rounded down to multiples of 2^−60, so that the fractions stay short.
    epsilon, r = Fraction(x.first), Fraction(x.r)
    less = exactly(x.less)
    for t in range(rounds):
        yield epsilon
        epsilon -= r * epsilon**2
        if t < len(less):
            epsilon -= less[t] ** 4 * abs(epsilon)
        epsilon = Fraction(math.floor(epsilon * 2**60), 2**60)
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
    p = ORDERS[x.p]
    value = x.nu * norm(x.theta, dual(ORDERS[x.p]))
    best = x.nu * dual_vector(x.theta, p)
    yield at_most(norm(best, p), near(x.nu, 1e-11), "a point of the ball")
    yield equal(near(float(best @ x.theta), 1e-11), near(value, 1e-11), "attained")
    theirs = NormBall(p, x.nu).conjugate(x.theta) if p < math.inf else value
    yield equal(near(theirs, 1e-11), near(value, 1e-11), "NormBall")


@ball.step()
def _(x: Instance) -> Slack:
    p = ORDERS[x.p]
    return at_most(float(x.d @ x.theta), near(norm(x.d, p) * norm(x.theta, dual(p)), 1e-11), x.p)
