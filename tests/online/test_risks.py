"""The bounds on risks and regrets, against the expectations over all samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.game.domains import FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import (
    Assumptions,
    Constant,
    ExponentiatedGradient,
    GradientDescent,
    Horizon,
    Inner,
    MirrorDescent,
    MirrorSteps,
    OnlineLoss,
    excess_risk_bound,
    promised,
    risk_bound,
)
from relaxboost.online.proxies import PROXIES
from tests.functional.cases import POINTWISE
from tests.online.samples import examples

THIRDS = [1 / 2, 1 / 3, 1 / 6]
LABELS = examples([[1, -1, 0], [-0.5, 1, 1], [0.25, 0.5, -1]], [1, -1, 1], THIRDS)
SETTINGS = [
    (name, over(2))
    for name, kind in PROXIES.items()
    if kind.__module__.startswith("relaxboost.")  # tests register some of their own
    for over in kind().domains
]


@pytest.mark.parametrize("loss", [Inner(), *POINTWISE], ids=str)
@pytest.mark.parametrize(("proxy", "over"), SETTINGS, ids=str)
def test_expected_excess_is_at_most_the_bound(loss, proxy, over):
    """Thm 1, Thm 2, Eqs. 25 and 38, and for greedy steps DEK11 Thms 1 and 3 over m."""
    runs = [(MirrorDescent, each) for each in ("growing", "adaptive", Horizon(3), Constant(3.0))]
    for kind, schedule in [*runs, (MirrorSteps, "growing"), (MirrorSteps, Horizon(3))]:
        method = kind(loss, over, proxy, schedule, bound=2.0, targets=1.0)
        bound = promised(method.start(3), 3)
        if math.isinf(bound):  # greedy, and no bound of the divergence
            continue
        found = LABELS.runs(method, 3)
        lower, upper = found.excess()
        assert -1e-12 <= lower <= upper <= bound + 1e-12
        trace = float(found.chance @ found.promise) / 3
        assert upper <= trace + 1e-6  # in expectation, what the trace says


@pytest.mark.parametrize("loss", ["hinge", "exponential"])
def test_the_average_is_no_worse_than_a_random_iterate(loss):
    found = LABELS.runs(MirrorDescent(loss, L1Ball(2)), 5)
    assert (found.risk_of_mean <= found.risk + 1e-12).all()


class Highest(OnlineLoss):
    """max_j w_j, with a subgradient that tells one coordinate at a time."""

    def evaluate(self, w, h, y):
        first = int(np.argmax(w))
        return float(w[first]), np.eye(w.size)[first]

    def lipschitz(self, reach, size, targets):
        return 1.0


@pytest.mark.parametrize("t", [1, 2, 3, 5])
def test_eq_38_is_attained_by_the_highest_coordinate(t):
    """For every t, in t dimensions: the average has risk 0, and the least is −1/√t."""
    one = examples(np.zeros((1, t)))
    for kind in (MirrorDescent, MirrorSteps):
        method = kind(Highest(), L2Ball(1), "squared-l2", Horizon(t))
        found = one.runs(method, t)
        lower, upper = found.excess(found.risk_of_mean)
        bound = promised(method.start(t), t)
        assert bound == pytest.approx(t**-0.5)
        assert lower == pytest.approx(bound, rel=1e-4)
        assert upper <= bound * (1.0 + 1e-8)
    growing = MirrorDescent(Highest(), L2Ball(1), "squared-l2")
    found = one.runs(growing, t)
    ratio = found.excess(found.risk_of_mean)[1] / promised(growing.start(t), t)
    assert ratio == pytest.approx(math.sqrt(t / (2 * (t + 1))), rel=1e-4)


@pytest.mark.parametrize("over", [Simplex(3), FullSimplex(3), L1Ball(3), L2Ball(3)], ids=str)
def test_eq_38_is_attained_after_one_example(over):
    """By the squared norm: costs that point from the vertex to the first w."""
    start = over.repair(np.ones(5) / 5) if isinstance(over, Simplex) else np.zeros(5)
    cost = start - 3.0 * np.eye(5)[0]
    method = MirrorDescent("inner", over, "squared-l2", Horizon(1))
    lower, _ = examples([cost / np.linalg.norm(cost)]).runs(method, 1).excess()
    assert lower == pytest.approx(promised(method.start(5), 1), rel=1e-9)


@pytest.mark.parametrize(
    ("experts", "t", "schedule", "ratio", "proxy"),
    [
        (2, 3, "growing", 0.5183, "entropy"),
        (5, 2, "growing", 0.5459, "entropy"),
        (2, 1, Horizon(1), 0.8493, "entropy"),
        (4, 1, Horizon(1), 0.9008, "entropy"),
        (2, 1, Horizon(1), 1.0, "tilted"),
        (3, 1, Horizon(1), 0.9807, "tilted"),
    ],
)
def test_the_worst_examples_found_for_theorem_1(experts, t, schedule, ratio, proxy):
    """One expert is right and the others wrong: of all examples tried, the worst in expectation."""
    one_good = examples([[1.0] * (experts - 1) + [-1.0]], [-1])
    method = MirrorDescent("hinge", Simplex(1), proxy, schedule)
    found = one_good.runs(method, t)
    upper = found.excess(found.risk_of_mean)[1]
    assert upper / promised(method.start(experts), t) == pytest.approx(ratio, abs=5e-5)


class Valley(OnlineLoss):
    """q (1 + <v, w>) + (1 − q) |<g, w>|: two good experts of many, and a floor that is crossed.

    The floor is crossed in every round, at half the square of a gradient; the good experts, where
    v = −1, are found when 2qi > β_i log M. With q such that this is i = t, both terms of the bound
    are paid in full, up to what vanishes with 1/log M and (log M)/t.
    """

    def __init__(self, experts, q):
        self.q, self.v, self.g = q, np.ones(experts), np.ones(experts)
        self.v[:2], self.g[1::2] = -1.0, -1.0

    def evaluate(self, w, h, y):
        across = float(self.g @ w) + 1e-9
        value = self.q * (1.0 + float(self.v @ w)) + (1.0 - self.q) * abs(across)
        return value, self.q * self.v + (1.0 - self.q) * math.copysign(1.0, across) * self.g

    def lipschitz(self, reach, size, targets):
        return 1.0


@pytest.mark.parametrize(
    ("schedule", "q", "ratio"),
    [("growing", 0.0240, 0.7816), (Horizon(2000), 0.0221, 0.8898)],
    ids=["Theorem 2", "Eq. 38"],
)
def test_bounds_of_excess_risk_are_attained_in_the_limit_of_many_experts(schedule, q, ratio):
    method = MirrorDescent(Valley(100, q), Simplex(1), schedule=schedule)
    found = examples(np.zeros((1, 100))).runs(method, 2000)
    lower, upper = found.excess(found.risk_of_mean)
    assert upper - lower < 1e-6
    assert upper / promised(method.start(100), 2000) == pytest.approx(ratio, abs=1e-3)


@pytest.mark.parametrize("m", [1, 4, 9])
def test_dekels_theorem_1_is_attained_where_m_is_a_square(m):
    """On signs; regret is exactly √m, with 1/√m the step of the theorem."""
    signs, method = examples([[1.0], [-1.0]]), GradientDescent("inner", schedule=Horizon(m))
    found = signs.runs(method, m)
    lower, upper = signs.regrets(method, found)
    assert promised(method.start(1), m) * m == pytest.approx(math.sqrt(m))
    assert lower.max() == pytest.approx(math.sqrt(m), rel=1e-12)
    assert upper.max() <= math.sqrt(m) + 1e-11
    if m == 4:
        assert lower[found.samples.index((0, 1, 0, 0))] > 2.0 - 1e-9


def swinging(method, h, m, drift):
    """Regret over its bound, on costs ±h in turn and then +h `drift` times."""
    signs = np.ones(m)
    signs[1 : m - drift : 2] = -1.0
    learner = method.start(len(h))
    learner.update(np.outer(signs, h))
    return (learner.loss + abs(float(signs.sum()))) / (m * promised(learner, m))


@pytest.mark.parametrize(
    ("method", "h", "drift", "ratio"),
    [
        (ExponentiatedGradient("inner", schedule=Horizon(200000)), [1.0, -1.0], 1900, 0.996),
        (MirrorDescent("inner", Simplex(1)), [1.0, -1.0], 1900, 0.994),
        (MirrorDescent("inner", L2Ball(1), "squared-l2"), [1.0], 670, 0.998),
        (MirrorDescent("inner", L2Ball(1), "squared-l2", "adaptive"), [1.0], 670, 0.998),
    ],
    ids=["DEK11 Theorem 3", "growing", "growing, l2", "adaptive, l2"],
)
def test_bounds_of_regret_are_attained_in_the_limit(method, h, drift, ratio):
    assert ratio <= swinging(method, h, 200000, drift) <= 1.0


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "absolute"])
@pytest.mark.parametrize(
    "kind", [GradientDescent, ExponentiatedGradient], ids=["Theorem 1", "Theorem 3"]
)
def test_regret_of_every_sample_is_at_most_dekels_bound(kind, loss):
    method = kind(loss, schedule=Horizon(4), bound=1.5, targets=1.0)
    found = LABELS.runs(method, 4, order=lambda sample: sample[::-1])
    lower, upper = LABELS.regrets(method, found)
    assert (upper - lower <= 1e-6).all()
    assert (upper <= found.promise + 1e-9).all()
    assert upper.max() <= 4 * promised(method.start(3), 4)


@pytest.mark.parametrize(
    "law", [LABELS, examples([[0.6], [-0.8], [0.3]], [1, 1, -1], THIRDS)], ids=["3", "1"]
)
@pytest.mark.parametrize("t", [1, 2, 5, 7])
def test_equation_1_and_dekels_theorem_2_hold_for_every_delta(law, t):
    """P(deviation >= d) <= exp(−2td²/c²), and the excess of Q likewise, at every sample's own d."""
    norm = float(np.linalg.norm(law.H, axis=1).max())
    method = GradientDescent("hinge", schedule=Horizon(t), bound=norm)
    c = 1.0 + norm
    found = law.runs(method, t)
    bound = promised(method.start(law.H.shape[1]), t)
    said = Assumptions(iid_order=True, loss_range=c)
    deviation = found.risk - found.loss / t
    for d in np.unique(deviation[deviation > 0.0]):
        delta = math.exp(-2.0 * t * d * d / c**2)
        assert risk_bound(0.0, t, delta, said) == pytest.approx(d)
        assert found.chance[deviation >= d].sum() <= delta
    excess = found.risk - found.least.upper
    for e in np.unique(excess[excess > bound]):
        delta = 2.0 * math.exp(-2.0 * t * ((e - bound) / (2.0 * c)) ** 2)
        assert delta >= 1.0 or excess_risk_bound(t * bound, t, delta, said) == pytest.approx(e)
        assert found.chance[excess >= e].sum() <= delta


def test_remark_5_needs_its_condition():
    """Examples that repeat the first one for ever teach one vertex, beyond the bound."""
    costs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    law = examples(costs, p=[3 / 5, 2 / 5])
    method = MirrorDescent("inner", Simplex(1))
    means = []
    for cost in costs:
        learner, W = method.start(2), []
        for _ in range(150):
            W.append(learner.w)
            learner.update(cost)
        means.append(np.mean(W, axis=0))
    risk = float(law.p @ law.risks(method.loss, means))
    least = law.runs(method, 1).least
    assert risk - least.upper > promised(method.start(2), 150)
