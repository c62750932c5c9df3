"""GB11, Sec. 4.1 and Appendix B: Algorithm 1 on smooth and non-smooth functionals."""

import math

import numpy as np

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import STRONG, Bowl, Descent, Kinks, spans
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Naive

_CROSS = {"H": [[1, 0], [0, 1]], "A": [[0, 0]], "y": [0, 0], "f0": [1, 1], "lam": 1, "T": 1}
"""The functional ‖f‖²/2 on two examples. Each of the two hypotheses is 1 on one example and 0 on
the other. So the edge is γ = 1/sqrt(2), and the constants of convexity and smoothness are λ = Λ =
1."""
BOWLS = STRONG.including(_CROSS)


def _run(x: Instance) -> tuple[Bowl, Descent]:
    assume(bool(x.H.any()))
    risk = Bowl(x.A, x.y, x.lam)
    run = Descent(risk, x.H, x.f0, Naive(), lambda *_: 1.0 / risk.smoothness, x.T)
    assume(run.last > 0 and run.gaps[0] > 1e-6)
    return risk, run


@SOURCE.claim("T3", space=BOWLS)
def theorem(x: Instance) -> Slacks:
    spans(x)
    risk, run = _run(x)
    for t in range(1, run.last + 1):
        if run.gaps[t] < 1e-12 * run.gaps[0]:  # Smaller gaps are rounding errors of R.
            return
        rate = 1.0 - run.gamma(t) ** 2 * x.lam / risk.smoothness
        yield at_most(run.gaps[t] / run.gaps[0], rate**t, "(R[f_T] − R*)/(R[f_0] − R*)", t)


@SOURCE.claim("T3-edge", space=BOWLS)
def printed_edge(x: Instance, power: int = 1) -> Slacks:
    risk, run = _run(x)
    for before, after, direction in run.moves():
        gain = abs(direction.edges[0]) ** power * run.norm(before.gradient) ** 2
        bound = before.value - gain / (2.0 * risk.smoothness)
        yield at_most(after.value, bound, "R[f_{t+1}]", after.round)


@printed_edge.corrected()
def printed_edge_corrected(x: Instance) -> Slacks:
    yield from printed_edge(x, 2)


theorem.step()(printed_edge_corrected.check)


@printed_edge_corrected.step()
def smooth(x: Instance) -> Slacks:
    risk = Bowl(x.A, x.y, x.lam)
    value, gradient = risk.evaluate(x.f0)
    for h in (gradient, x.H[:, 0]):
        for s in (0.3 / risk.smoothness, 1.0 / risk.smoothness, 2.0):
            linear = value - s * risk.measure.inner(gradient, h)
            right = linear + risk.smoothness / 2.0 * s**2 * risk.measure.inner(h, h)
            size = 1.0 + abs(linear) + abs(right)
            yield at_most(risk.evaluate(x.f0 - s * h)[0] / size, right / size, "R[f − sh]")


_A = np.array([[4.0, 0.0], [0.0, 2.0]])
"""The rows a_1 and a_2 of R[f] = |<a_1, f>| + |<a_2, f>|. The gradients of R in L²(P̂) are
(±4, ±2)."""
H = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])

STARTS = Space(a=Real(-3, 3), b=Real(-6, 6), T=Whole(1, 60))


def example(a: float, b: float, algorithm: Algorithm, last: int, at_zero: float) -> Descent:
    """Run an algorithm on the paper's example with the step sizes η_t = 1/(2 sqrt(t))."""
    # The paper has the step sizes 1/sqrt(t), and Σ f(x_n) g(x_n) instead of the mean.
    risk = Kinks(_A, np.zeros(2), at_zero=at_zero)
    return Descent(risk, H, np.array([a, b]), algorithm, lambda t, *_: 0.5 / math.sqrt(t), last)


@SOURCE.claim("example-select", space=STARTS.but(g=Real(-1, 1)))
def select(x: Instance, always: bool = True) -> Slacks:
    for before, after, direction in example(x.a, x.b, Naive(), x.T, x.g).moves():
        if always or abs(x.g) > 0.5 or before.F[0] != 0.0:
            moved = abs(float(direction.values[1])) / 2.0
            yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


select_corrected = select.corrected()(lambda x: select(x, False))


@select_corrected.step()
def _(x: Instance) -> Slacks:
    for before, after, direction in example(x.a, x.b, Naive(), x.T, x.g).moves():
        first, second = np.abs(before.gradient) / 2.0  # as for Σ f(x_n) g(x_n)
        taken = abs(float(direction.values[0]))
        slope = 1.0 if before.F[0] else abs(x.g)
        yield equal(float(first), 2.0 * slope, "|<∇, e_1>|", after.round)
        yield at_most(float(second), 1.0, "|<∇, e_2>|", after.round)
        if slope < 0.5 and before.F[1]:
            yield equal(taken, 0.0, "step at x_1, |g| < 1/2", after.round)


@SOURCE.claim("example-stuck", space=STARTS)
def stuck(x: Instance) -> Slacks:
    states = example(x.a, x.b, Naive(), x.T, 1.0).states
    bound = abs(x.a)
    for state in states[1:]:
        eta = 1.0 / math.sqrt(state.round)
        bound = max(bound - 2.0 * eta, 2.0 * eta)
        yield at_most(abs(float(state.F[0])), bound, "|f_t(x_1)|", state.round)
        yield equal(float(state.F[1]), x.b, "f_t(x_2), f_0(x_2)", state.round)
        yield at_least(state.value, abs(x.b), "R[f_t]", state.round)


@stuck.step(space=Space(a=Real(0, 6), eta=Real(0, 1)))
def _(x: Instance) -> Slack:
    return at_most(abs(x.a - 2.0 * x.eta), max(x.a - 2.0 * x.eta, 2.0 * x.eta), "|a − 2η|")
