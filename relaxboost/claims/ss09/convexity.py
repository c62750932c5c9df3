"""SS09, Sec. 5.1: Definition 10 and what is said about strong convexity there."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import KINDS

DEFINITION = "f(αv + (1−α)u) ≤ αf(v) + (1−α)f(u) − (σ/2) α(1−α) ‖v−u‖²"


def _defined(
    f: Callable[[Any], Any], x: Instance, v: Any, u: Any, bend: float = 0, where: str = ""
) -> Slack:
    """Measure Definition 10, with (σ/2) α(1−α) ‖v−u‖² for the bend."""
    a: Any = Fraction(x.alpha) if v.dtype == object else x.alpha
    return at_most(f(a * v + (1 - a) * u) + bend, a * f(v) + (1 - a) * f(u), where)


@SOURCE.claim(
    "D10-entropy",
    "Sec. 5.1, after Definition 10",
    "The relative entropy is 1-strongly convex with respect to ℓ1 on the simplex.",
    formula=DEFINITION + " for f = Σ d log(m d), σ = 1, ‖·‖_1",
    printed="The relative entropy is 1-strongly convex with respect to the ℓ_1 norm over the "
    "probabilistic simplex.",
    given="v, u in the simplex, α in [0, 1]",
    space=Space(
        sizes={"m": (1, 8)}, v=Distribution(), u=Distribution(), alpha=Real(0.0, 1.0)
    ).including({"v": ["51/100", "49/100"], "u": ["49/100", "51/100"], "alpha": "1/2"}),
).checked(trials=300)
def entropy_is_strongly_convex(x: Instance) -> Slack:
    a = x.alpha
    bend = 0.5 * a * (1.0 - a) * float(np.abs(x.v - x.u).sum()) ** 2
    return _defined(entropy, x, x.v, x.u, bend)


@SOURCE.claim(
    "D10-zero",
    space=Space(
        sizes={"m": (1, 4), "n": (1, 4)},
        A=Matrix(axes=("n", "m")),
        v=Vector("m", -2.0, 2.0),
        u=Vector("m", -2.0, 2.0),
        alpha=Real(0.0, 1.0),
    ),
)
def no_strong_convexity(x: Instance) -> Slack:
    A = exactly(x.A)
    return _defined(lambda d: max(A @ d), x, exactly(x.v), exactly(x.u))


@SOURCE.claim(
    "D10-curvature",
    space=Space(
        b=Real(0.0, 2.0),
        c=Real(0.0, 3.0),
        p=Real(-1.0, 1.0),
        v=Real(-2.0, 2.0),
        u=Real(-2.0, 2.0),
        alpha=Real(0.0, 1.0),
    ),
)
def curvature(x: Instance) -> Slacks:
    b, c, p = Fraction(x.b), Fraction(x.c), Fraction(x.p)

    def f(s: Fraction) -> Fraction:
        return b * s**2 / 2 + c * (s - p) ** 4 / 12

    def most(v: Fraction, u: Fraction, a: Fraction) -> Fraction:
        """Return the largest σ at these points, times (1/2) α(1 − α)(v − u)²."""
        return a * f(v) + (1 - a) * f(u) - f(a * v + (1 - a) * u)

    v, u, a = Fraction(x.v), Fraction(x.u), Fraction(x.alpha)
    yield at_most(b * a * (1 - a) * (v - u) ** 2 / 2, most(v, u, a), "σ = b will do")
    for t in (Fraction(1, 10), Fraction(1, 1000)):
        largest = most(p + t, p - t, Fraction(1, 2)) / (t**2 / 2)
        yield equal(largest, b + c * t**2 / 6, "the largest σ near p")


SUMS = Space(
    sizes={"m": (2, 5), "n": (1, 3)},
    f=Choice(*KINDS),
    B=Matrix(-2.0, 2.0, axes=("n", "m")),
    v=Vector("m"),
    u=Vector("m"),
    alpha=Real(0.0, 1.0),
    beta=Real(0.05, 1.0, log=True),
)


@SOURCE.claim(
    "D10-sum",
    ("Sec. 5.1, adding a convex function", "Sec. 5.1, after Eq. 7"),
    "Adding a convex function to a strongly convex one retains at least its strong convexity.",
    formula=DEFINITION + " for βf + g, with βσ for σ",
    printed="… by adding a convex function to a strongly convex function we retain at least the "
    "same strong convexity level.",
    given="f one of five functions of known σ, β > 0, g = max of linear functions",
    space=SUMS,
).checked(trials=200)
def sums(x: Instance) -> Slack:
    f, a = KINDS[x.f], x.alpha
    v, u = f.point(x.v), f.point(x.u)

    def total(d: Any) -> float:
        return float(x.beta * f.value(d) + np.max(x.B @ d))

    bend = x.beta * f.sigma / 2.0 * a * (1.0 - a) * f.size(v - u) ** 2
    return _defined(total, x, v, u, bend, x.f)


@sums.step()
def _(x: Instance) -> Slacks:
    f, a = KINDS[x.f], x.alpha
    v, u = f.point(x.v), f.point(x.u)
    bend = f.sigma / 2.0 * a * (1.0 - a) * f.size(v - u) ** 2
    yield _defined(f.value, x, v, u, bend, x.f)
    yield _defined(lambda d: float(np.max(x.B @ d)), x, v, u, 0.0, "g")


@SOURCE.claim(
    "D10-retained",
    ("Sec. 5.1, f̂", "Sec. 5.1, after Eq. 7"),
    "f̂ = f̃ + βh retains the strong convexity of βh, for the relaxations of Sec. 4.",
    formula=DEFINITION + " for f̂ = f + I_S + βh, σ = β, ‖·‖_1",
    printed="Therefore, for all the functions f̃(d) discussed in Sec. 4 the corresponding f̂(d) "
    "retains the strongly convex property of the relative entropy.",
    given="f = 0, ν‖d‖_1, ν‖d‖_2 or ν‖d‖_∞; v, u in the simplex, β in (0, 1)",
    space=Space(
        sizes={"m": (1, 6)},
        p=Choice("none", "1", "2", "inf"),
        nu=Real(0.1, 2.0),
        beta=Real(0.01, 1.0, log=True),
        v=Distribution(),
        u=Distribution(),
        alpha=Real(0.0, 1.0),
    ),
).checked(trials=200)
def retained(x: Instance) -> Slack:
    a = x.alpha

    def total(d: Any) -> float:
        penalty = 0.0 if x.p == "none" else x.nu * float(np.linalg.norm(d, float(x.p)))
        return float(penalty + x.beta * entropy(d))

    bend = x.beta / 2.0 * a * (1.0 - a) * float(np.abs(x.v - x.u).sum()) ** 2
    return _defined(total, x, x.v, x.u, bend, x.p)
