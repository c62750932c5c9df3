"""The exact laboratory against brute force, and the theorems against the laboratory."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost.claims import Law
from relaxboost.functional import Hinge, Squared
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

THIRDS = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
LABELS = Law([[1, -1, 0], [-0.5, 1, 1], [0.25, 0.5, -1]], y=[1, -1, 1], p=THIRDS)
CHAIN = Law(
    [[1, -1], [-1, 0.5]],
    y=[1, 1],
    p=[Fraction(2, 3), Fraction(1, 3)],
    transitions=[[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 2), Fraction(1, 2)]],
)


def backwards(sample):
    return sample[::-1]


def by_label(sample):
    return sorted(sample, key=lambda atom: (LABELS.y[atom], atom))


def judged(law, method, output, iterates, last):
    """The risk of an output, in a loop over atoms."""
    p = [float(q) for q in law.p]

    def risk(w):
        values = (method.loss.evaluate(w, h, y)[0] for h, y in zip(law.H, law.y, strict=True))
        return sum(q * value for q, value in zip(p, values, strict=True))

    if output == "average":
        return risk(np.mean(iterates, axis=0))
    if output == "last":
        return risk(last)
    if output == "uniform":
        return np.mean([risk(w) for w in iterates])
    votes = np.sign([law.H @ w for w in iterates]).sum(axis=0)
    return float(np.dot(p, votes * law.y <= 0.0))


def brute(law, method, t, output, order=None):
    """(probability, risk, loss, bound of the regret) of each sample, a fresh learner for each."""
    found = []
    for sample in itertools.product(range(len(law.p)), repeat=t):
        chance = law.p[sample[0]]
        for a, b in itertools.pairwise(sample):
            chance *= law.p[b] if law.transitions is None else law.transitions[a][b]
        learner, iterates = method.start(law.H.shape[1]), []
        for atom in sample if order is None else order(sample):
            iterates.append(learner.w)
            learner.update(law.H[atom], law.y[atom])
        risk = judged(law, method, output, iterates, learner.w)
        found.append((float(chance), risk, learner.loss, learner.regret_bound()))
    return np.array(found).T


@pytest.mark.parametrize("output", ["average", "last", "uniform", "majority"])
@pytest.mark.parametrize(
    ("law", "method", "order"),
    [
        (LABELS, MirrorDescent("hinge", Simplex(2)), None),
        (LABELS, MirrorDescent("logistic", L1Ball(1), "squared-l2", "adaptive", 2.0), backwards),
        (LABELS, GradientDescent("squared", L2Ball(1), bound=2.0, targets=1.0), by_label),
        (CHAIN, ExponentiatedGradient("exponential"), None),
        (CHAIN, MirrorSteps("hinge", FullSimplex(1), schedule=Constant(1.5), bound=2.0), backwards),
    ],
    ids=["compiled", "slow", "sorted", "chain", "chain backwards"],
)
def test_the_tree_is_every_sample_on_its_own(law, method, order, output):
    chance, risk, loss, promise = brute(law, method, 4, output, order)
    outcomes = law.outcomes(method, 4, output, order)
    mean = float(chance @ risk)
    excess = outcomes.excess()
    assert excess.lower - 1e-12 <= mean - outcomes.least[1]
    assert mean - outcomes.least[0] <= excess.upper + 1e-12
    assert excess.upper - excess.lower <= 1e-6
    assert math.fsum(outcomes.probability) == pytest.approx(1.0, abs=1e-14)
    assert float(outcomes.probability @ outcomes.loss) == pytest.approx(chance @ loss, rel=1e-13)
    assert float(outcomes.probability @ outcomes.promise) == pytest.approx(chance @ promise)
    gaps = risk - outcomes.least[0]
    for b in np.quantile(gaps, [0.1, 0.5, 0.8]) + 1e-3:
        low, high = outcomes.exceeds(b)
        assert low - 1e-12 <= chance[gaps > b].sum() <= high + 1e-12
    edge = outcomes.quantile(0.2)
    assert chance[gaps > edge].sum() <= 0.2 + 1e-12
    assert chance[gaps > edge - 1e-6].sum() > 0.2 or outcomes.quantile(0.2) < 1e-6
    if order is None:  # the same bits
        np.testing.assert_array_equal(outcomes.loss, loss)
        np.testing.assert_array_equal(outcomes.promise, promise)


def test_sorted_samples_are_counted_not_listed():
    """A number for each atom is the rule that sorts by it, with as many samples as multisets."""
    method = MirrorDescent("hinge", Simplex(2))
    listed = LABELS.outcomes(method, 6, order=by_label)
    counted = LABELS.outcomes(method, 6, order=LABELS.y)
    assert len(counted.risk) == math.comb(8, 2)
    places = {tuple(row): place for place, row in enumerate(listed.samples.tolist())}
    places = [places[tuple(row)] for row in counted.samples.tolist()]
    np.testing.assert_allclose(counted.probability, listed.probability[places], rtol=1e-13)
    np.testing.assert_array_equal(counted.risk, listed.risk[places])


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
        if math.isinf(promised(method.start(3), 3)):  # greedy, and no bound of the divergence
            continue
        outcomes = LABELS.outcomes(method, 3, "uniform")
        excess = outcomes.excess()
        assert 0.0 <= excess.lower <= excess.upper <= excess.bound
        trace = float(outcomes.probability @ outcomes.promise) / 3
        assert excess.upper <= trace + 1e-6  # in expectation, what the trace says


@pytest.mark.parametrize("law", [LABELS, CHAIN], ids=["i.i.d.", "chain"])
@pytest.mark.parametrize("loss", ["hinge", "exponential"])
def test_outputs_compare_as_jensen_and_the_vote_have_it(law, loss):
    """The average is no worse than the draw; votes err at most twice as often as the draw costs."""
    method = MirrorDescent(loss, L1Ball(2))
    draw = law.outcomes(method, 5, "uniform").risk
    assert (law.outcomes(method, 5).risk <= draw + 1e-12).all()
    assert (law.outcomes(method, 5, "majority").risk <= 2.0 * draw + 1e-12).all()


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
    law = Law(np.zeros((1, t)))
    for kind in (MirrorDescent, MirrorSteps):
        excess = law.expected_excess(kind(Highest(), L2Ball(1), "squared-l2", Horizon(t)), t)
        assert excess.bound == pytest.approx(t**-0.5)
        assert excess.lower == pytest.approx(excess.bound, rel=1e-4)
        assert excess.upper <= excess.bound * (1.0 + 1e-8)
    growing = law.expected_excess(MirrorDescent(Highest(), L2Ball(1), "squared-l2"), t)
    assert growing.ratio == pytest.approx(math.sqrt(t / (2 * (t + 1))), rel=1e-4)


@pytest.mark.parametrize("over", [Simplex(3), FullSimplex(3), L1Ball(3), L2Ball(3)], ids=str)
def test_eq_38_is_attained_after_one_example(over):
    """By the squared norm: costs that point from the vertex to the first w."""
    start = over.repair(np.ones(5) / 5) if isinstance(over, Simplex) else np.zeros(5)
    cost = start - 3.0 * np.eye(5)[0]
    law = Law([cost / np.linalg.norm(cost)])
    excess = law.expected_excess(MirrorDescent("inner", over, "squared-l2", Horizon(1)), 1)
    assert excess.lower == pytest.approx(excess.bound, rel=1e-9)


ONE_GOOD = {M: Law([[1.0] * (M - 1) + [-1.0]], y=[-1]) for M in (2, 3, 4, 5)}
"""One expert is right and the others wrong: of all laws tried, the worst in expectation."""


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
def test_the_worst_laws_found_for_theorem_1(experts, t, schedule, ratio, proxy):
    method = MirrorDescent("hinge", Simplex(1), proxy, schedule)
    excess = ONE_GOOD[experts].expected_excess(method, t)
    assert excess.ratio == pytest.approx(ratio, abs=5e-5)


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
    excess = Law(np.zeros((1, 100))).expected_excess(method, 2000)
    assert excess.upper - excess.lower < 1e-6
    assert excess.ratio == pytest.approx(ratio, abs=1e-3)


@pytest.mark.parametrize("m", [1, 4, 9])
def test_dekels_theorem_1_is_attained_where_m_is_a_square(m):
    """On signs; regret is exactly √m, with 1/√m the step of the theorem."""
    law, method = Law([[1.0], [-1.0]]), GradientDescent("inner", schedule=Horizon(m))
    lower, upper = law.regrets(law.outcomes(method, m))
    assert promised(method.start(1), m) * m == pytest.approx(math.sqrt(m))
    assert lower.max() == pytest.approx(math.sqrt(m), rel=1e-12)
    assert upper.max() <= math.sqrt(m) + 1e-11
    if m == 4:
        worst = law.outcomes(method, m).samples[lower > 2.0 - 1e-9]
        assert [0, 1, 0, 0] in worst.tolist()


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
    outcomes = LABELS.outcomes(method, 4, order=backwards)
    lower, upper = LABELS.regrets(outcomes)
    assert (upper - lower <= 1e-6).all()
    assert (upper <= outcomes.promise + 1e-9).all()
    assert upper.max() <= 4 * outcomes.bound


@pytest.mark.parametrize("law", [LABELS, Law([[0.6], [-0.8], [0.3]], y=[1, 1, -1], p=THIRDS)])
@pytest.mark.parametrize("t", [1, 2, 5, 7])
def test_equation_1_and_dekels_theorem_2_hold_for_every_delta(law, t):
    """P(deviation >= d) <= exp(−2td²/c²), and the excess of Q likewise, at every sample's own d."""
    norm = float(np.linalg.norm(law.H, axis=1).max())
    method = GradientDescent("hinge", schedule=Horizon(t), bound=norm)
    c = 1.0 + norm
    outcomes = law.outcomes(method, t, "uniform")
    said = Assumptions(iid_order=True, loss_range=c)
    deviation = outcomes.risk - outcomes.loss / t
    for d in np.unique(deviation[deviation > 0.0]):
        delta = math.exp(-2.0 * t * d * d / c**2)
        assert risk_bound(0.0, t, delta, said) == pytest.approx(d)
        assert outcomes.chance(deviation >= d) <= delta
    regret = t * outcomes.bound
    excess = outcomes.risk - outcomes.least[1]
    for e in np.unique(excess[excess > outcomes.bound]):
        delta = 2.0 * math.exp(-2.0 * t * ((e - outcomes.bound) / (2.0 * c)) ** 2)
        assert delta >= 1.0 or excess_risk_bound(regret, t, delta, said) == pytest.approx(e)
        assert outcomes.chance(excess >= e) <= delta


def test_equation_1_is_used_up_to_four_fifths_by_a_coin():
    """Nothing is learned and one fair coin thrown: P = 1/2, and δ = e^(−1/2)."""
    law = Law([[0.0], [0.0]], y=[0, 1])
    outcomes = law.outcomes(GradientDescent("absolute", targets=1.0), 1, "uniform")
    chance = outcomes.chance(outcomes.risk - outcomes.loss >= 0.5)
    assert chance / math.exp(-2.0 * 0.5**2) == pytest.approx(0.8244, abs=1e-4)


def test_dekels_theorem_2_fails_where_the_order_depends_on_the_sample():
    """Sorted by label, m = 500: the excess is almost surely beyond what has probability 1/20."""
    law = Law([[1.0], [0.2]], y=[1, -1], p=[Fraction(1, 2), Fraction(1, 2)])
    method = GradientDescent("hinge", schedule=Horizon(500))
    said = Assumptions(iid_order=True, loss_range=2.0)  # which will not be so
    b = excess_risk_bound(math.sqrt(500), 500, 0.05, said)
    chance, _ = law.outcomes(method, 500, "uniform", order=law.y).exceeds(b)
    assert b == pytest.approx(0.2877, abs=1e-4)
    assert chance > 0.999999
    drawn = law.drawn(method, 500, 40, "uniform")
    assert (drawn.risk - drawn.least[0] < b).all()  # in the order of arrival


def test_remark_5_needs_its_condition():
    """A chain that stays where it is learns one vertex, and pays for it for ever."""
    costs, p = [[1, -1], [-1, 1]], [Fraction(3, 5), Fraction(2, 5)]
    still = Law(costs, p=p, transitions=[[1, 0], [0, 1]])
    method = MirrorDescent("inner", Simplex(1))
    outcomes = still.outcomes(method, 150)
    assert outcomes.samples.shape == (2, 150)  # what cannot happen is not gone through
    assert outcomes.excess().lower > outcomes.bound
    assert Law(costs, p=p).drawn(method, 150, 2000).excess().upper < outcomes.bound


def test_remark_5_holds_under_its_condition():
    """Sizes depend on the past, and means do not: the bound stands, for dependent examples."""
    costs = [[1, -1], [-0.6, 0.6], [0.6, -0.6], [-0.2, 0.2]]
    moves = np.kron([[3, 1], [1, 3]], np.ones((2, 2)))
    chain = Law(costs, transitions=[[Fraction(int(x), 8) for x in row] for row in moves])
    method = MirrorDescent("inner", Simplex(1))
    excess = chain.expected_excess(method, 5)
    assert 0.0 < excess.upper <= excess.bound
    free = Law(costs).expected_excess(method, 5)
    assert not free.lower <= excess.lower <= free.upper


@pytest.mark.parametrize("law", [LABELS, CHAIN], ids=["i.i.d.", "chain"])
def test_bands_hold_the_exact_value(law):
    method = MirrorDescent("hinge", Simplex(2))
    exact = law.expected_excess(method, 5, "uniform")
    for seed in range(8):
        drawn = law.drawn(method, 5, 1500, "uniform", seed)
        excess = drawn.excess(0.95)
        assert excess.lower <= exact.lower
        assert exact.upper <= excess.upper
        assert excess.upper - excess.lower < 0.5
    known = law.outcomes(method, 5, "uniform")
    risks = dict(zip(map(tuple, known.samples.tolist()), known.risk.tolist(), strict=True))
    assert [risks[tuple(row)] for row in drawn.samples.tolist()] == drawn.risk.tolist()
    assert "random" in str(excess)


@pytest.mark.parametrize("loss", [Hinge(), Squared(), Inner()], ids=str)
@pytest.mark.parametrize("over", [Simplex(2), FullSimplex(2), L1Ball(2), L2Ball(2)], ids=str)
def test_no_two_risks_of_the_domain_are_further_apart_than_the_width(loss, over):
    method = MirrorDescent(loss, over, "squared-l2", bound=2.0, targets=1.0)
    corners = 2.0 * np.concatenate([np.eye(3), -np.eye(3)])
    corners = [over.repair(w) for w in corners if w.sum() > 0 or over.holds_zero]
    for law in (LABELS, Law(-LABELS.H, LABELS.y, LABELS.p)):
        width = law.drawn(method, 1, 1).width
        apart = float(law.risk(method.loss, corners).max()) - law.least(method).upper
        assert 0.0 < apart <= width
        if not isinstance(over, L2Ball | FullSimplex):  # inside, or at 0, it may be worse
            assert width == pytest.approx(apart, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Law([1.0, 2.0]), "shape"),
        (lambda: Law([[1.0, 2.0], [0.0, math.nan]]), "atom 1 has nan for base function 1"),
        (lambda: Law([[1.0], [2.0]], y=[1.0]), r"y must have shape \(2,\), with one target"),
        (lambda: Law([[1.0], [2.0]], p=[0.5, 0.6]), "add up to 1"),
        (lambda: Law([[1.0], [2.0]], p=[1.5, -0.5]), ">= 0"),
        (lambda: Law([[1.0], [2.0]], p=["half", 0.5]), "finite real"),
        (lambda: Law([[1.0], [2.0]], transitions=[[1, 0]]), "2 rows"),
        (lambda: Law([[1.0], [2.0]], transitions=[[1, 0], [1, 0]]), "stationary"),
        (lambda: LABELS.outcomes(MirrorDescent("hinge", Simplex(1)), 0), "whole number >= 1"),
        (lambda: LABELS.outcomes(MirrorDescent("hinge", Simplex(1)), 40), r"Law\.drawn"),
        (lambda: LABELS.outcomes(MirrorDescent("hinge", Simplex(1)), 2, "mean"), "average, last"),
        (lambda: LABELS.outcomes(MirrorDescent("hinge", Simplex(1), bound=0.5), 2), "beyond bound"),
        (
            lambda: LABELS.outcomes(MirrorDescent("hinge", Simplex(1)), 2, order=set),
            "a permutation",
        ),
        (lambda: LABELS.outcomes(MirrorDescent("hinge", Simplex(1)), 2, order=[1, 2]), "3 numbers"),
        (
            lambda: CHAIN.outcomes(MirrorDescent("hinge", Simplex(1)), 2, order=[1, 2]),
            "independent",
        ),
        (
            lambda: Law([[1, 0]], y=[0.5]).outcomes(
                MirrorDescent("absolute", Simplex(1)), 2, "majority"
            ),
            "needs the targets",
        ),
    ],
)
def test_what_makes_no_law_or_no_sum_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_what_was_drawn_has_bands_and_no_probabilities():
    drawn = LABELS.drawn(MirrorDescent("hinge", Simplex(2)), 3, 1)
    with pytest.raises(InputError, match="need all samples"):
        drawn.exceeds(0.1)
    with pytest.raises(InputError, match="two samples"):
        drawn.excess()
    with pytest.raises(InputError, match="confidence"):
        drawn.excess(1.0)
