"""GB11, Sec. 4.1, the example at its end: R[f] = 2|f(x_1)| + |f(x_2)|."""

import math

import numpy as np

from relaxboost.claims.gb11.problems import Descent, Kinks
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Naive

_A = np.array([[4.0, 0.0], [0.0, 2.0]])
"""R[f] = |<a_1, f>| + |<a_2, f>| with <., .> a mean, so that gradients in L²(P̂) are ±(4, 2)."""
H = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])

STARTS = Space(a=Real(-3, 3), b=Real(-6, 6), T=Whole(1, 60))


def run(a: float, b: float, algorithm: Algorithm, last: int, at_zero: float) -> Descent:
    """Run with η_t = 1/(2 sqrt(t)), which is 1/sqrt(t) for the inner product Σ f(x_n) g(x_n)."""
    risk = Kinks(_A, np.zeros(2), at_zero=at_zero)
    return Descent(risk, H, np.array([a, b]), algorithm, lambda t, *_: 0.5 / math.sqrt(t), last)


@SOURCE.claim("example-select", space=STARTS.but(g=Real(-1, 1)))
def select(x: Instance, always: bool = True) -> Slacks:
    for before, after, direction in run(x.a, x.b, Naive(), x.T, x.g).moves():
        if always or abs(x.g) > 0.5 or before.F[0] != 0.0:
            moved = abs(float(direction.values[1]))
            yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


@select.corrected()
def select_corrected(x: Instance) -> Slacks:
    yield from select(x, False)


@select_corrected.step()
def _(x: Instance) -> Slacks:
    for before, after, direction in run(x.a, x.b, Naive(), x.T, x.g).moves():
        first, second = np.abs(before.gradient) / 2.0  # as for Σ f(x_n) g(x_n)
        taken, slope = abs(float(direction.values[0])), 1.0 if before.F[0] else abs(x.g)
        yield equal(float(first), 2.0 * slope, "|<∇, e_1>|", after.round)
        yield at_most(float(second), 1.0, "|<∇, e_2>|", after.round)
        if slope < 0.5 and before.F[1]:
            yield equal(taken, 0.0, "step at x_1, |g| < 1/2", after.round)


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


@stuck.step(space=Space(a=Real(0, 6), eta=Real(0, 1)))
def _(x: Instance) -> Slack:
    most = max(x.a - 2.0 * x.eta, 2.0 * x.eta)
    return at_most(abs(x.a - 2.0 * x.eta), most, "|a − 2η|")
