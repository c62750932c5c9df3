"""GB11, Sec. 4.1 and Appendix B: Algorithm 1 on smooth, strongly convex functionals."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.gb11.problems import Bowl, Descent, space, spans
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.claims.votes import RUNS as GAMES
from relaxboost.claims.votes import adaboost, short_of_one, weak_learnability
from relaxboost.functional.algorithms import Naive
from relaxboost.functional.schedules import line_search

BOWLS = space(lam=Real(0.05, 4.0, log=True), kind=Choice("square", "log cosh"))
_CROSS = {"H": [[1, 0], [0, 1]], "y": [0, 0], "f0": [1, 1], "kind": "square", "T": 1}
"""R[f] = ‖f‖²/2 in the plane, along the axes: γ = 1/sqrt(2), and λ = Λ = 1."""
_LINE = {"H": [[1]], "A": [[0]], "lam": 1, "kind": "square"}
"""R[f] = f²/2 on one point."""


def _run(x: Instance, search: bool = False) -> Descent:
    assume(bool(x.H.any()))
    risk = Bowl(x.A, x.y, x.lam, x.kind)
    schedule = (lambda t, F, h: line_search(risk, F, h)) if search else None
    run = Descent(risk, x.H, x.f0, Naive(), lambda t: 1.0 / risk.smoothness, x.T, schedule)
    assume(run.last > 0 and run.gaps[0] > 1e-6)
    return run


def _rate(x: Instance, run: Descent, power: int) -> Slacks:
    """Compare R[f_T] − R[f*] over R[f_0] − R[f*] with (1 − γ^power λ/Λ)^T in every round."""
    assert isinstance(run.risk, Bowl)
    for t in range(1, run.last + 1):
        if run.gaps[t] < 1e-12 * run.gaps[0]:  # as small as the rounding of R
            return
        rate = 1.0 - run.gamma(t) ** power * x.lam / run.risk.smoothness
        yield at_most(run.gaps[t] / run.gaps[0], rate**t, "(R[f_T] − R*)/(R[f_0] − R*)", t)


@SOURCE.claim("T3", space=BOWLS)
def theorem(x: Instance) -> Slacks:
    spans(x)
    yield from _rate(x, _run(x), 2)


@theorem.step()
def _(x: Instance) -> Slacks:
    yield from _edges(x, 2)


@theorem.step()
def _(x: Instance) -> Slacks:
    yield from _dominance(x)


def _edges(x: Instance, power: int) -> Slacks:
    """Compare R[f_{t+1}] with R[f_t] − γ^power ‖∇‖²/(2Λ) in every round, γ at that gradient."""
    run = _run(x)
    assert isinstance(run.risk, Bowl)
    for before, after, direction in run.moves():
        gain = abs(direction.edges[0]) ** power * run.norm(before.gradient) ** 2
        bound = before.value - gain / (2.0 * run.risk.smoothness)
        yield at_most(after.value, bound, "R[f_{t+1}]", after.round)


@SOURCE.claim("T3-tight", space=space(lam=Real(1, 1), kind=Choice("square")))
def tight(x: Instance) -> Slack:
    f0, size = np.where(x.f0 >= 0.0, 1.0, -1.0), x.f0.size
    risk = Bowl(np.zeros((1, size)), np.zeros(size), 1.0, "square")
    run = Descent(risk, np.eye(size), f0, Naive(), lambda t: 1.0, 1)
    return equal(run.gaps[1] / run.gaps[0], 1.0 - 1.0 / size, "R[f_1]/R[f_0], 1 − γ²", 1)


@tight.step(space=Space(N=Whole(1, 40)))
def _(x: Instance) -> Slack:
    return equal(Fraction(x.N - 1, x.N), 1 - Fraction(1, x.N), "(N − 1)/N")


@tight.step(space=Space(v=Vector("m", -3, 3)))
def _(x: Instance) -> Slacks:
    for v in (exactly(x.v), exactly(0.0 * x.v + 1.0)):
        yield at_least(len(v) * max(v**2), sum(v**2), "N max v_j², Σ v_j²")


@SOURCE.claim("T3-line-search", space=BOWLS).checked(trials=60)
def searched(x: Instance) -> Slacks:
    spans(x)
    yield from _rate(x, _run(x, search=True), 2)


ROUNDS = BOWLS.but(epsilon=Real(0.01, 0.9, log=True))


@SOURCE.claim("T3-rounds", space=ROUNDS).checked(trials=60)
def logarithm(x: Instance) -> Slacks:
    gamma = spans(x)
    risk = Bowl(x.A, x.y, x.lam, x.kind)
    enough = math.ceil(risk.smoothness / (gamma**2 * x.lam) * math.log(1.0 / x.epsilon))
    assume(enough <= 300)
    run = Descent(risk, x.H, x.f0, Naive(), lambda t: 1.0 / risk.smoothness, enough)
    assume(run.gaps[0] > 1e-6)
    yield at_most(run.gaps[-1] / run.gaps[0], x.epsilon, "gap of f_T, ε", enough)
    line = Bowl(np.zeros((1, 2)), np.zeros(2), 1.0, "square")
    turns = Descent(line, _HALVING, np.array([0.0, 1.0]), Naive(), lambda t: 1.0, 12)
    for t in range(1, 13):
        yield equal(turns.gaps[t] / turns.gaps[0], 2.0**-t, "what is left, 2^−t", t)


@logarithm.step(space=Space(c=Real(0, 1)))
def _(x: Instance) -> Slack:
    return at_most(1.0 - x.c, math.exp(-x.c), "1 − c, e^(−c)")


_HALVING = np.array([[1.0, 1.0], [0.0, 1.0]])


@SOURCE.claim("adaboost", space=GAMES.but(epsilon=Real(0.01, 0.9, log=True))).checked(trials=60)
def classical(x: Instance) -> Slacks:
    gamma = float(weak_learnability(x).lower) / 2.0
    enough = math.log(1.0 / x.epsilon) / (2.0 * gamma**2)
    for vote in short_of_one(adaboost(x.A, x.t, "classical")):
        rate = (1.0 - 4.0 * gamma**2) ** (vote.number / 2.0)
        yield at_most(math.exp(vote.log_risk), rate, "L(−A w_t)", vote.number)
        if vote.number >= enough:
            yield at_most(rate, x.epsilon, "(1 − 4γ²)^(t/2), ε", vote.number)


@SOURCE.claim("T3-step", space=BOWLS, counterexamples=[{**_LINE, "y": [0], "f0": [1], "T": 1}])
def printed_step(x: Instance) -> Slacks:
    run = _run(x)
    assert isinstance(run.risk, Bowl)
    for before, _, direction in run.moves():
        gain = run.norm(direction.values) ** 2 / (2.0 * run.risk.smoothness)
        there, _ = run.risk.evaluate(direction.values / run.risk.smoothness)
        yield at_most(there, before.value - gain, "R[f_{t+1}]", before.round + 1)


@printed_step.corrected()
def step(x: Instance) -> Slacks:
    run = _run(x)
    assert isinstance(run.risk, Bowl)
    for before, after, direction in run.moves():
        gain = run.norm(direction.values) ** 2 / (2.0 * run.risk.smoothness)
        yield at_most(after.value, before.value - gain, "R[f_{t+1}]", after.round)


@step.step()
def smooth(x: Instance) -> Slacks:
    risk = Bowl(x.A, x.y, x.lam, x.kind)
    value, gradient = risk.evaluate(x.f0)
    for h in (gradient, x.H[:, 0]):
        for s in (0.3 / risk.smoothness, 1.0 / risk.smoothness, 2.0):
            linear = value - s * risk.measure.inner(gradient, h)
            right = linear + risk.smoothness / 2.0 * s**2 * risk.measure.inner(h, h)
            size = 1.0 + abs(linear) + abs(right)
            yield at_most(risk.evaluate(x.f0 - s * h)[0] / size, right / size, "R[f − sh]")


@SOURCE.claim("T3-edge", space=BOWLS, counterexamples=[{**_CROSS, "A": [[0, 0]], "lam": 1}])
def printed_edge(x: Instance) -> Slacks:
    yield from _edges(x, 1)


@printed_edge.corrected()
def printed_edge_corrected(x: Instance) -> Slacks:
    yield from _edges(x, 2)


printed_edge_corrected.step()(smooth.stated.check)


@SOURCE.claim("T3-dominance", space=BOWLS)
def dominance(x: Instance) -> Slacks:
    yield from _dominance(x)


@dominance.step()
def strongly_convex(x: Instance) -> Slacks:
    risk = Bowl(x.A, x.y, x.lam, x.kind)
    value, gradient = risk.evaluate(x.f0)
    for share in (1.0, 0.4, -1.0):
        move = share * (x.y - x.f0)
        right = value + risk.measure.inner(gradient, move)
        right += x.lam / 2.0 * risk.measure.inner(move, move)
        size = 1.0 + abs(right)
        yield at_least(risk.evaluate(x.f0 + move)[0] / size, right / size, "R[g]")


def _dominance(x: Instance) -> Slacks:
    for state in _run(x).states:
        square = float(state.gradient @ state.gradient) / state.gradient.size
        yield at_least(square, 2.0 * x.lam * state.value, "‖∇‖², 2λ(R − R*)", state.round)


@SOURCE.claim("T3-rate", space=BOWLS, counterexamples=[{**_CROSS, "A": [[0, 0]], "lam": 1}])
def printed_rate(x: Instance) -> Slacks:
    spans(x)
    yield from _rate(x, _run(x), 1)


@printed_rate.corrected()
def printed_rate_corrected(x: Instance) -> Slacks:
    yield from theorem(x)


printed_rate_corrected.step()(smooth.stated.check)
printed_rate_corrected.step()(strongly_convex.stated.check)


@SOURCE.claim("T3-last", space=BOWLS, counterexamples=[{**_LINE, "y": [0], "f0": [1], "T": 1}])
def last_line(x: Instance) -> Slack:
    run = _run(x)
    return equal(run.gaps[-1] - run.gaps[0], run.gaps[-1], "R[f_T] − R[f_0], R[f_T] − R[f*]")


@last_line.corrected()
def last_line_corrected(x: Instance) -> Slacks:
    yield from theorem(x)


last_line_corrected.step()(smooth.stated.check)
last_line_corrected.step()(strongly_convex.stated.check)


searched.step()(smooth.stated.check)
searched.step()(strongly_convex.stated.check)
