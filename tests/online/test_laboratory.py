"""The exact laboratory against brute force, and the theorems against the laboratory."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from relaxboost.functional import (
    Absolute,
    Exponential,
    Hinge,
    Huber,
    Logistic,
    Quantile,
    SmoothHinge,
    Squared,
)
from relaxboost.game.domains import FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import (
    Constant,
    ExponentiatedGradient,
    GradientDescent,
    Horizon,
    Inner,
    Law,
    MirrorDescent,
    MirrorSteps,
)

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


LOSSES = [
    Inner(),
    Hinge(),
    Logistic(),
    Exponential(),
    SmoothHinge(0.5),
    Squared(),
    Absolute(),
    Quantile(0.3),
    Huber(0.4),
]
SETTINGS = [
    *itertools.product(["entropy"], [Simplex(2), FullSimplex(2), L1Ball(2)]),
    *itertools.product(["squared-l2"], [Simplex(2), FullSimplex(2), L1Ball(2), L2Ball(2)]),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(("proxy", "over"), SETTINGS, ids=str)
def test_the_theorems_hold_exactly(loss, proxy, over):
    """Thm 1, Thm 2, Eqs. 25 and 38, and for greedy steps DEK11 Thms 1 and 3 over m."""
    law = Law([[1, -1], [-0.5, 1], [0.25, -0.75]], y=[1, -1, 1], p=THIRDS)
    for schedule in ("growing", "adaptive", Horizon(3), Constant(3.0)):
        for kind in (MirrorDescent, MirrorSteps):
            method = kind(loss, over, proxy, schedule, bound=2.0, targets=1.0)
            for output in ("average", "uniform"):
                outcomes = law.outcomes(method, 3, output)
                excess = outcomes.excess()
                assert 0.0 <= excess.lower <= excess.upper <= excess.bound
                trace = float(outcomes.probability @ outcomes.promise) / 3
                assert excess.upper <= trace + 1e-12  # in expectation, what the trace says
