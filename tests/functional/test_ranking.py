"""The ranking hinge against a loop over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import functional as fn


def slowly(y, groups, p, F, normalise):
    """Return value, subgradient and disagreement from the definition, pair by pair."""
    pairs = {}
    for i in range(len(y)):
        for j in range(len(y)):
            if groups[i] == groups[j] and y[i] > y[j] and p[i] * p[j] > 0.0:
                pairs.setdefault(groups[i], []).append((i, j, p[i] * p[j]))
    whole = sum(weight for found in pairs.values() for _, _, weight in found)
    value = wrong = 0.0
    slopes = np.zeros(len(y))
    for found in pairs.values():
        total = whole
        if normalise == "queries":
            total = len(pairs) * sum(weight for _, _, weight in found)
        for i, j, weight in found:
            value += weight / total * max(0.0, 1.0 - (F[i] - F[j]))
            wrong += weight / total * (F[i] <= F[j])
            if F[i] - F[j] < 1.0:
                slopes[i] -= weight / total
                slopes[j] += weight / total
    return value, np.divide(slopes, p, out=np.zeros(len(y)), where=p > 0.0), wrong


def problem(rng):
    n = int(rng.integers(2, 14))
    y = rng.integers(0, int(rng.integers(2, 6)), n).astype(float)
    if rng.random() < 0.2:
        y = rng.normal(size=n)
    groups = rng.integers(0, int(rng.integers(1, 4)), n)
    y[:2], groups[:2] = (-9.0, 9.0), 0
    F = rng.integers(-3, 4, n) / 2.0 if rng.random() < 0.6 else rng.normal(size=n)
    weights = None
    if rng.random() < 0.5:
        weights = rng.integers(0, 3, n).astype(float)
        weights[:2] = 1.0, 2.0
    return y, groups, weights, F


@pytest.mark.parametrize("normalise", ["pairs", "queries"])
def test_brute_force(normalise, rng):
    for _ in range(2_000):
        y, groups, weights, F = problem(rng)
        risk = fn.RankingHinge(normalise).bind(y, weights, groups=groups)
        value, slopes, wrong = slowly(y, groups, risk.measure.p, F, normalise)
        found, gradient = risk.evaluate(F)
        assert found == pytest.approx(value, rel=1e-12, abs=1e-13)
        seen = risk.measure.p > 0.0
        assert gradient[seen] == pytest.approx(slopes[seen], rel=1e-12, abs=1e-12)
        assert risk.disagreement(F) == pytest.approx(wrong, rel=1e-12, abs=1e-13)
        i, j, shares = risk.pairs()
        assert shares.sum() == pytest.approx(1.0)
        assert (groups[i] == groups[j]).all()
        assert (y[i] > y[j]).all()


def test_order_and_kind_of_ids_do_not_matter(rng):
    y, groups, _, F = problem(rng)
    risk = fn.RankingHinge().bind(y, groups=groups)
    named = fn.RankingHinge().bind(y, groups=np.array([f"query {-g}" for g in groups]))
    assert named.value(F) == pytest.approx(risk.value(F))
    shuffled = rng.permutation(len(y))
    other = fn.RankingHinge().bind(y[shuffled], groups=groups[shuffled])
    value, slopes = other.evaluate(F[shuffled])
    assert value == pytest.approx(risk.value(F))
    assert slopes == pytest.approx(risk.evaluate(F)[1][shuffled])


def test_extremes(rng):
    y = rng.integers(0, 5, 300)
    risk = fn.RankingHinge().bind(y, groups=np.zeros(300))
    assert risk.evaluate(np.zeros(300))[0] == pytest.approx(1.0)
    assert risk.disagreement(np.zeros(300)) == pytest.approx(1.0)
    value, slopes = risk.evaluate(y.astype(float))
    assert value == 0.0
    assert not slopes.any()
    assert risk.disagreement(1e-300 * y) == 0.0
    assert risk.disagreement(-y.astype(float)) == pytest.approx(1.0)
    # Far away from 0 the value is that of the differences.
    assert risk.value(2.0**30 + 0.5 * y) == pytest.approx(risk.value(0.5 * y), rel=1e-12)


def test_queries_without_pairs_count_for_nothing():
    risk = fn.RankingHinge("queries").bind([0, 1, 5, 2, 2], groups=[7, 7, 3, 4, 4])
    assert risk.value(np.zeros(5)) == 1.0
    assert risk.evaluate(np.zeros(5))[1].tolist() == [5.0, -5.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("y", "more", "message"),
    [
        ([0, 1], {}, "needs groups, the query id of each document"),
        ([0, 1], {"groups": [2]}, r"groups must have shape \(2,\).*np.repeat"),
        ([0, 1], {"groups": [0.0, np.nan]}, "groups must not contain missing values; document 1"),
        ([0, 1], {"groups": np.array([0, "a"], dtype=object)}, "groups cannot be sorted"),
        (
            [0, 1],
            {"groups": [0, 1]},
            "no query has documents .* different grades; groups has 2 ids for 2",
        ),
        ([3, 3, 3], {"groups": [0, 0, 0]}, "there are no pairs to rank"),
        ([0, 1, 1], {"groups": [0, 0, 0], "weights": [0, 1, 1]}, "of positive weight"),
    ],
)
def test_wrong_groups(y, more, message):
    with pytest.raises(rb.InputError, match=message):
        fn.RankingHinge().bind(y, **more)


@pytest.mark.parametrize("light", [1e-3, 1e-5, 1e-9])
def test_the_conjugate_with_weights_of_different_sizes(light, rng):
    """It was infinite at a subgradient, because HiGHS dropped the pairs of light documents."""
    y = np.arange(30) % 3
    groups = np.arange(30) // 15
    for _ in range(10):
        risk = fn.RankingHinge().bind(y, rng.choice([1.0, light], 30), groups=groups)
        F = rng.normal(size=30)
        value, slopes = risk.evaluate(F)
        assert risk.conjugate(slopes) == pytest.approx(risk.measure.inner(slopes, F) - value)


def test_the_conjugate_is_infinite_where_no_flow_carries_it():
    risk = fn.RankingHinge().bind([1, 0, 0], groups=[0, 0, 1])
    assert risk.conjugate(np.array([-3.0, 3.0, 0.0])) == pytest.approx(-1.0)
    assert risk.conjugate(np.array([-1.5, 1.5, 0.0])) == pytest.approx(-0.5)
    for outside in ([-3.1, 3.1, 0.0], [0.1, -0.1, 0.0], [-1.0, 0.5, 0.5], [-1.0, 0.9, 0.0]):
        assert risk.conjugate(np.array(outside)) == np.inf


def test_boosting_ranks(rng):
    """The residual algorithm brings the disagreement on a linear target down."""
    X = rng.normal(size=(120, 4))
    y = np.digitize(X @ [1.0, -0.5, 0.25, 0.0], [-0.5, 0.5])
    groups = np.repeat(np.arange(12), 10)
    risk = fn.RankingHinge().bind(y, groups=groups)
    found = fn.boost(X, fn.RankingHinge().bind(y, groups=groups), fn.FiniteSet(), stopping=200)
    assert found.value < 0.1
    assert risk.disagreement(found.predict(X)) < 0.02
