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
    for _, after, direction in run(x.a, x.b, Naive(), x.T, x.g).moves():
        moved = abs(float(direction.values[1]))
        yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


@select.corrected()
def select_corrected(x: Instance) -> Slacks:
    assume(abs(x.g) > 0.5)
    yield from select(x)


@select.corrected()
def select_gradients(x: Instance) -> Slacks:
    for before, after, direction in run(x.a, x.b, Naive(), x.T, x.g).moves():
        if before.F[0] == 0.0:
            break
        moved = abs(float(direction.values[1]))
        yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


@select.corrected()
def select_escapes(x: Instance) -> Slack:
    assume(abs(x.g) < 0.5 and x.b != 0.0)
    (_, _, direction), *_ = run(0.0, x.b, Naive(), 1, x.g).moves()
    return equal(abs(float(direction.values[0])), 0, "step at x_1")


@SOURCE.claim("example-stuck", space=STARTS)
def stuck(x: Instance) -> Slacks:
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
    pairs: list[tuple[Algorithm, float]] = [(Repeated(), 0.0159), (Residual(), 0.1740)]
    for algorithm, most in pairs:
        last = run(1.0, x.b, algorithm, 4000, 0.0).states[-1].value
        yield at_most(last, most, f"R[f_4000] of {type(algorithm).__name__}")
    naive = run(1.0, x.b, Naive(), 400, 1.0).states[-1].value
    yield at_least(naive, x.b, "R[f_400] of Algorithm 1")
