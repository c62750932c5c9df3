"""GB11, Sec. 4.1 and Appendix B: Algorithm 1 on smooth, strongly convex functionals."""

from relaxboost.claims.gb11.problems import STRONG, Bowl, Descent, spans
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Naive
from relaxboost.functional.schedules import line_search

_CROSS = {"H": [[1, 0], [0, 1]], "A": [[0, 0]], "y": [0, 0], "f0": [1, 1], "lam": 1, "T": 1}
"""‖f‖²/2 in the plane, along the axes: γ = 1/sqrt(2), and λ = Λ = 1."""
BOWLS = STRONG.including(_CROSS)


def _run(x: Instance, search: bool = False) -> tuple[Bowl, Descent]:
    assume(bool(x.H.any()))
    risk = Bowl(x.A, x.y, x.lam)
    step = lambda t, F, h: line_search(risk, F, h) if search else 1.0 / risk.smoothness  # noqa: E731
    run = Descent(risk, x.H, x.f0, Naive(), step, x.T)
    assume(run.last > 0 and run.gaps[0] > 1e-6)
    return risk, run


@SOURCE.claim("T3", space=BOWLS)
def theorem(x: Instance, search: bool = False) -> Slacks:
    spans(x)
    risk, run = _run(x, search)
    for t in range(1, run.last + 1):
        if run.gaps[t] < 1e-12 * run.gaps[0]:  # as small as the rounding of R
            return
        rate = 1.0 - run.gamma(t) ** 2 * x.lam / risk.smoothness
        yield at_most(run.gaps[t] / run.gaps[0], rate**t, "(R[f_T] − R*)/(R[f_0] − R*)", t)


@SOURCE.claim("T3-line-search", space=BOWLS).checked(trials=60)
def searched(x: Instance) -> Slacks:
    yield from theorem(x, True)


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
searched.step()(printed_edge_corrected.check)


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
