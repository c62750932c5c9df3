"""GB11, Sec. 4.1, the example at its end: R[f] = 2|f(x_1)| + |f(x_2)|."""

import math

import numpy as np

from relaxboost.claims.gb11.problems import Descent, Kinks
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Naive, Repeated, Residual

_A = np.array([[4.0, 0.0], [0.0, 2.0]])
"""R[f] = |<a_1, f>| + |<a_2, f>| with <., .> a mean, so that gradients in L²(P̂) are ±(4, 2)."""
H = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])

STARTS = Space(a=Real(-3, 3), b=Real(-6, 6), T=Whole(1, 60))


def run(a: float, b: float, algorithm: Algorithm, last: int, at_zero: float) -> Descent:
    """Run with η_t = 1/(2 sqrt(t)), which is 1/sqrt(t) for the inner product Σ f(x_n) g(x_n)."""
    risk = Kinks(_A, np.zeros(2), at_zero=at_zero)
    return Descent(risk, H, np.array([a, b]), algorithm, lambda t: 0.5 / math.sqrt(t), last)


@SOURCE.claim(
    "example-select",
    space=STARTS.but(g=Real(-1, 1)),
    counterexamples=[{"a": 2, "b": 5, "T": 2, "g": g} for g in (0, "2/5", "-2/5")],
)
def select(x: Instance) -> Slacks:
    """Not where f(x_1) = 0 and |g| < 1/2 there: then x_2 is corrected. The paper's point
    stands: for |g| > 1/2 it never moves at x_2 (GB11-example-stuck).

    From (2, 5) the first step leads to (0, 5). From (1, 5) the run is at R = 5 for thousands of
    rounds (in doubles until f(x_1) is 0 by rounding, at t = 3610).
    """
    for _, after, direction in run(x.a, x.b, Naive(), x.T, x.g).moves():
        moved = abs(float(direction.values[1]))
        yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


@select.corrected(
    "reading: at 0 the subgradient has |g| > 1/2. It always will.",
    "|g| > 1/2 ⇒ h_t(x_2) = 0 for every t",
)
def select_corrected(x: Instance) -> Slacks:
    """|<∇, e_1>| is 2|g| or 2 times |<∇, e_2>|, which is at most 1: more in either case."""
    assume(abs(x.g) > 0.5)
    yield from select(x)


@select.corrected(
    "reading: gradients, which are where f(x_1) ≠ 0. There it will.",
    "f_{t−1}(x_1) ≠ 0 ⇒ h_t(x_2) = 0",
)
def select_gradients(x: Instance) -> Slacks:
    """2 > |<∇, e_2>|. Of the run as long as it does not come to 0 at x_1."""
    for before, after, direction in run(x.a, x.b, Naive(), x.T, x.g).moves():
        if before.F[0] == 0.0:
            break
        moved = abs(float(direction.values[1]))
        yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


@select.corrected(
    "reading: at 0 it has |g| < 1/2. Then it will not: from f(x_1) = 0 it moves at x_2.",
    "f_{t−1}(x_1) = 0 ≠ f_{t−1}(x_2), |g| < 1/2 ⇒ h_t(x_1) = 0",
)
def select_escapes(x: Instance) -> Slack:
    """2|g| < 1. At |g| = 1/2 the two are as good."""
    assume(abs(x.g) < 0.5 and x.b != 0.0)
    (_, _, direction), *_ = run(0.0, x.b, Naive(), 1, x.g).moves()
    return equal(abs(float(direction.values[0])), 0, "step at x_1")


@SOURCE.claim("example-stuck", space=STARTS)
def stuck(x: Instance) -> Slacks:
    """|f(x_1)| falls by 2η_t until it changes sign, and is then at most 2η_t: at R = 5 from (1, 5).

    It ends within 2η_s of the last change of sign s, and those go on for ever as Σ η = ∞.
    """
    states = run(x.a, x.b, Naive(), x.T, 1.0).states
    bound = abs(x.a)
    for state in states[1:]:
        eta = 1.0 / math.sqrt(state.round)
        bound = max(bound - 2.0 * eta, 2.0 * eta)
        yield at_most(abs(float(state.F[0])), bound, "|f_t(x_1)|", state.round)
        yield equal(float(state.F[1]), x.b, "f_t(x_2), f_0(x_2)", state.round)
        yield at_least(state.value, abs(x.b), "R[f_t]", state.round)


@SOURCE.claim("example-others", space=Space(b=Real(5, 5))).checked(trials=1)
def others(x: Instance) -> Slacks:
    """Algorithm 1 is at R >= 5 with the subgradient 1 at 0. The last iterate of .0158 and .1739."""
    pairs: list[tuple[Algorithm, float]] = [(Repeated(), 0.0159), (Residual(), 0.1740)]
    for algorithm, most in pairs:
        last = run(1.0, x.b, algorithm, 4000, 0.0).states[-1].value
        yield at_most(last, most, f"R[f_4000] of {type(algorithm).__name__}")
    naive = run(1.0, x.b, Naive(), 400, 1.0).states[-1].value
    yield at_least(naive, x.b, "R[f_400] of Algorithm 1")
