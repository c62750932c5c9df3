"""Wrong variants of true statements about functional boosting: each must be found out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.claims import Choice, Source, assume, at_least, at_most, equal
from relaxboost.claims.fields import Real
from relaxboost.claims.gb11 import convex as weak_convexity
from relaxboost.claims.gb11.edges import edge
from relaxboost.claims.gb11.example import STARTS
from relaxboost.claims.gb11.example import run as example
from relaxboost.claims.gb11.functions import POINTS, loss, slopes
from relaxboost.claims.gb11.multiclass import ROWS
from relaxboost.claims.gb11.problems import RUNS, STRONG, Bowl, Descent, Kinks, space, spans
from relaxboost.claims.gb11.projections import CLASSES, PAIR, left_over, mean
from relaxboost.claims.gb11.repeated import bound4, strongly, wasted, weakly
from relaxboost.claims.gb11.residual import residuals
from relaxboost.claims.gb11.smooth import BOWLS
from relaxboost.claims.gb11.weak import SETS, advantage
from relaxboost.functional import Naive, Repeated, Residual

X = Source("X", "errors planted")


def planted(name, space_, **options):
    return X.claim(name, "", name, formula="", space=space_, **options)


@planted("Theorem 4 with G²/2", STRONG)
def half_of_g(x):
    run = strongly(x)
    for t in range(1, run.last + 1):
        yield at_most(run.mean(t, True), 0.5 * bound4(run, x.lam, t, True), round=t)


@planted("Theorem 4 for Algorithm 1", space(lam=Real(0.5, 1))).checked(trials=40)
def naive_for_repeated(x):
    """Stuck runs break it, but only after many rounds."""
    spans(x)
    step = lambda t: 2.0 / (x.lam * t)  # noqa: E731
    run = Descent(Kinks(x.A, x.y, x.lam, 1.0), x.H, x.f0, Naive(), step, 300 + x.T)
    assume(run.last == 300 + x.T)
    yield at_most(run.mean(run.last, True), bound4(run, x.lam, run.last, True))


@planted("t projections leave q^(t+1) over", STRONG)
def one_power_more(x):
    run = strongly(x)
    for before, after in zip(run.states, run.states[1:], strict=False):
        rest = run.norm(before.gradient - after.direction.values) ** 2
        t = after.round
        yield at_most(rest, wasted(run.gamma(t)) ** (2 * t + 2) * run.gradients(t - 1) ** 2)


@planted("Theorem 6, sharp, with 1/(4λT)", STRONG)
def half_of_theorem_6(x):
    run = strongly(x, Residual(), 1.0)
    for t in range(1, run.last + 1):
        q, G = wasted(run.gamma(t)), run.gradients(t - 1)
        right = G**2 / (4.0 * x.lam * t * (1.0 - q) ** 2) * (1.0 + math.log(t) + q * q / t)
        yield at_most(run.mean(t, True), right, round=t)


@planted("the residual with q² for q", RUNS)
def residual_squared(x):
    run = weakly(x, Residual())
    q = wasted(run.gamma(run.last)) ** 2
    for t, _, _, left in residuals(run):
        yield at_most(run.norm(left), q * run.gradients(t - 1) / (1.0 - q), round=t)


@planted("Theorem 3 a round early", space(lam=Real(1, 1), kind=Choice("square")))
def a_round_early(x):
    spans(x)
    risk = Bowl(0.0 * x.A, x.y, 1.0, "square")
    run = Descent(risk, x.H, x.f0, Naive(), lambda t: 1.0, x.T)
    assume(run.last > 0 and run.gaps[0] > 1e-6)
    for t in range(1, run.last + 1):
        rate = 1.0 - run.gamma(t) ** 2
        yield at_most(run.gaps[t] / run.gaps[0], rate ** (t + 1), round=t)


@planted("Theorem 3 with twice the step", BOWLS)
def twice_the_step(x):
    spans(x)
    risk = Bowl(x.A, x.y, x.lam, x.kind)
    run = Descent(risk, x.H, x.f0, Naive(), lambda t: 2.0 / risk.smoothness, x.T)
    assume(run.last > 0 and run.gaps[0] > 1e-6)
    for t in range(1, run.last + 1):
        rate = 1.0 - run.gamma(t) ** 2 * x.lam / risk.smoothness
        yield at_most(run.gaps[t] / run.gaps[0], rate**t, round=t)


@planted("Theorem 1 without sqrt(N)", SETS)
def no_root(x):
    delta = advantage(x)
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta))


@planted("Theorem 1, the converse with sqrt(N)", SETS)
def root_too_many(x):
    gamma = edge(x.H, False)
    assume(gamma > 0.0)
    return at_least(advantage(x), math.sqrt(len(x.H)) * gamma)


@planted("Eq. 2 with ‖h‖ for ‖h‖²", PAIR)
def unsquared(x):
    assume(bool(x.h.any()))
    alpha = float(mean(x.v, x.h)) / math.sqrt(float(mean(x.h, x.h)))
    off = x.v - alpha * x.h
    return at_most(float(mean(off, off)), float(left_over(x.v, x.h)))


@planted("Eq. 3 with the smallest angle to any h, and error 1 − cos", CLASSES)
def one_minus_cosine(x):
    columns = [h for h in x.H.T if h.any()]
    assume(bool(columns) and bool(x.v.any()))
    best = min(float(left_over(x.v, h)) for h in columns)
    size = float(mean(x.v, x.v))
    cosine = max(abs(float(mean(x.v, h))) / math.sqrt(size * float(mean(h, h))) for h in columns)
    return equal(best, (1.0 - cosine) * size)


@planted("rows of sum 0 with sqrt(K) for sqrt(K(K−1))", ROWS)
def one_root(x):
    w = x.w - x.w.mean()
    assume(float(np.abs(w).max()) > 1e-6)
    return at_least(float(w.max()), math.sqrt(float(w @ w) / 3.0))


@planted("subgradients of the mean, with 1/N once more", POINTS)
def once_more(x):
    low, _ = slopes(x.loss, x.f, x.y)
    at, there = loss(x.loss, x.f, x.y).mean(), loss(x.loss, x.g, x.y).mean()
    return at_least(there, at + (x.g - x.f) @ low / x.y.size**2)


@planted("the example, with η_t for 2η_t", STARTS)
def half_the_swing(x):
    bound = abs(x.a)
    for state in example(x.a, x.b, Naive(), x.T, 1.0).states[1:]:
        eta = 1.0 / math.sqrt(state.round)
        bound = max(bound - 2.0 * eta, eta)
        yield at_most(abs(float(state.F[0])), bound, round=state.round)


@planted("T²/2 learners", RUNS)
def too_few_learners(x):
    run = weakly(x, Repeated())
    count = sum(len(state.direction.parts) for state in run.states[1:])
    return at_most(count, max(run.last**2 / 2.0, 1.0))


@planted("Theorem 5, corrected, with half of the distance", weak_convexity.AVERAGES)
def half_the_distance(x):
    run = weakly(x)
    for t in range(1, run.last + 1):
        D, G, q = run.radius(t, x.y) / 2.0, run.gradients(t), wasted(run.gamma(t))
        right = (D**2 / 2.0 + G**2) / math.sqrt(t) + D * G * q / ((1.0 - q) * t)
        yield at_most(run.mean(t, True), right, round=t)


@planted("the threshold without rounding up", space(epsilon=Real(0.01, 0.9, log=True)))
def rounded_down(x):
    q = wasted(spans(x))
    assume(q > 1e-3)
    run = weakly(x, Repeated(threshold=x.epsilon))
    for state in run.states[1:]:
        most = math.floor(math.log(x.epsilon) / math.log(q))
        yield at_most(len(state.direction.parts), most, round=state.round)


@planted("the potential with the sign of the error term", STRONG)
def other_sign(x):
    run = strongly(x)
    inner = run.risk.measure.inner
    for before, after in zip(run.states, run.states[1:], strict=False):
        h, eta, z = after.direction.values, after.step, before.F - x.y
        change = run.norm(after.F - x.y) ** 2 - run.norm(z) ** 2
        right = change / (2.0 * eta) - eta / 2.0 * inner(h, h) - inner(z, h - before.gradient)
        yield at_most(abs(-inner(z, before.gradient) - right), 1e-6, round=after.round)


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_an_error_is_found_out(claim):
    verdict = claim.attack(budget=600)
    assert verdict.status == "false as stated", str(verdict)
    instance = verdict.counterexample.instance
    length = claim.space.complexity(claim.space.from_json(instance))
    assert length <= 60.0, instance
