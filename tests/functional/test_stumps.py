"""Stumps: the projections against every split there is, and sums of many at once."""

import multiprocessing
import pickle
import sys

import numpy as np
import pytest

from relaxboost._core.errors import InputError
from relaxboost.functional import (
    ClassificationStumps,
    Empirical,
    Naive,
    RegressionStumps,
    Squared,
    boost,
)
from relaxboost.functional.algorithms import projector
from relaxboost.functional.learners import StumpHypothesis, histograms
from relaxboost.functional.learners.histograms import Bins
from tests.functional import flat
from tests.twins import best_stump


def pool(learner, X, weights, outputs):
    measure = Empirical(len(X), weights)
    rng = np.random.default_rng(0)
    return learner.prepare(X, measure, outputs, learner.projections[0], rng), measure


def problem(rng, outputs):
    """A small problem: ties, duplicates, constant features, weights some of which are zero."""
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    kind = rng.integers(3)
    X = [
        lambda: rng.integers(0, 3, (n, d)).astype(float),
        lambda: rng.normal(size=(n, d)),
        lambda: np.repeat(rng.integers(-1, 2, (1, d)), n, axis=0) * 1e300,
    ][kind]()
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = 7.0
    shape = (n,) if outputs is None else (n, outputs)
    v = rng.normal(size=shape) if rng.random() < 0.6 else rng.integers(-2, 3, shape).astype(float)
    weights = None
    if rng.random() < 0.6:
        weights = rng.random(n) * (rng.random(n) < 0.8) * 10.0 ** rng.integers(-6, 7, n)
        weights[rng.integers(n)] = 1.0
    return X, v, weights


CASES = [
    (RegressionStumps, None, "vector"),
    (RegressionStumps, 1, "vector"),
    (RegressionStumps, 2, "vector"),
    (RegressionStumps, 3, "vector"),
    (RegressionStumps, 5, "vector"),
    (ClassificationStumps, None, "sign"),
]


@pytest.mark.parametrize(("kind", "outputs", "leaf"), CASES)
@pytest.mark.parametrize("bins", [255, None])
def test_projection_is_the_best_of_all_stumps(kind, outputs, leaf, bins):
    rng = np.random.default_rng([outputs or 0, bins is None, kind is RegressionStumps])
    seen = set()
    for _ in range(250):
        X, v, weights = problem(rng, outputs)
        made, measure = pool(kind(bins=bins), X, weights, outputs)
        h, values = made.nearest(v)
        assert values.shape == v.shape
        np.testing.assert_array_equal(h(X), values)
        flat = v.reshape(len(v), -1)
        best, splits = best_stump(X, measure.p, flat, leaf)
        norm = measure.norm(values)
        found = measure.inner(values, v) / norm if norm > 0.0 else 0.0
        assert found == pytest.approx(best, abs=1e-10 * (1.0 + measure.norm(v)))
        if leaf == "vector":  # the point, and not only the direction
            rest = measure.norm(v - values) ** 2
            assert rest == pytest.approx(measure.norm(v) ** 2 - best**2, abs=1e-9)
        if len(splits) == 1 and np.isfinite(h.threshold):
            left = np.flatnonzero((X[:, h.feature] <= h.threshold) & (measure.p > 0.0))
            assert (h.feature, tuple(left.tolist())) in splits
            seen.add("unique")
        seen.add("constant" if np.isinf(h.threshold) else "split")
        projected = projector(made, measure)(v)
        if projected is not None:
            edge = measure.inner(v, values) / (measure.norm(v) * norm)
            assert projected.edge == pytest.approx(edge, rel=1e-12)
    assert seen == {"unique", "constant", "split"}


def test_leaves_are_of_their_kind():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    h, _ = pool(ClassificationStumps(), X, None, None)[0].nearest(rng.normal(size=30))
    assert set(np.abs(h.leaves)) == {1.0}


def test_bins_are_quantiles_and_nest_their_rows():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=1000), rng.integers(0, 3, 1000), np.zeros(1000)])
    bins = Bins(X, np.full(1000, 1e-3), 10)
    np.testing.assert_array_equal(bins.features, [0, 1])
    np.testing.assert_array_equal(bins.sizes, [10, 3])
    np.testing.assert_array_equal(np.bincount(bins.codes[0]), [100] * 10)
    np.testing.assert_array_equal(bins.codes[1], X[:, 1])
    assert bins.codes.dtype == np.uint8
    for row, j in enumerate(bins.features):
        for place, threshold in enumerate(bins.thresholds[row]):
            np.testing.assert_array_equal(bins.codes[row] <= place, X[:, j] <= threshold)
    assert Bins(X, np.full(1000, 1e-3), None).codes.dtype == np.uint16
    skewed = np.array([[0.0]] * 990 + [[float(i)] for i in range(1, 11)])
    assert 2 <= Bins(skewed, np.full(1000, 1e-3), 4).sizes[0] <= 4


def test_thresholds_lie_between_neighbouring_doubles():
    low = 1.0
    high = np.nextafter(low, 2.0)
    for a, b in [(low, high), (-1.7e308, 1.7e308), (0.0, 5e-324), (-5e-324, 0.0)]:
        h, values = pool(RegressionStumps(), np.array([[a], [b]]), None, None)[0].nearest(
            np.array([-1.0, 3.0])
        )
        assert a <= h.threshold < b
        np.testing.assert_array_equal(values, [-1.0, 3.0])


def test_ties_go_to_the_first_feature_and_threshold():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    v = np.array([1.0, -1.0, -1.0, 1.0])
    for learner in (RegressionStumps(), ClassificationStumps()):
        h, _ = pool(learner, X, None, None)[0].nearest(v)
        assert (h.feature, h.threshold) == (0, 0.5)


def test_scores_that_differ_by_rounding_are_ties():
    """The best split of a feature, as a feature of its own, sums the rows in another order."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, v = rng.normal(size=200), rng.normal(size=200)
        best = pool(RegressionStumps(), x[:, None], None, None)[0].nearest(v)[0]
        halves = x > best.threshold
        for X in (np.column_stack([x, halves]), np.column_stack([halves, x])):
            assert pool(RegressionStumps(), X, None, None)[0].nearest(v)[0].feature == 0


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(15_000, 5)), 3, axis=1)  # equal features: ties between threads
    for outputs in (None, 3, 6):
        v = rng.normal(size=(15_000,) if outputs is None else (15_000, outputs))
        made = pool(RegressionStumps(bins=100), X, None, outputs)[0]
        several = made.nearest(v)[0]
        with monkeypatch.context() as patch:
            patch.setattr(histograms, "thread_pool", lambda: (None, 1))
            alone = made.nearest(v)[0]
        assert (several.feature, several.threshold) == (alone.feature, alone.threshold)
        np.testing.assert_array_equal(several.leaves, alone.leaves)
        assert several.feature % 3 == 0


def _in_child(seed):
    rng = np.random.default_rng(seed)
    X, v = rng.normal(size=(20_000, 12)), rng.normal(size=20_000)
    return pool(RegressionStumps(), X, None, None)[0].nearest(v)[0].threshold


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_works_after_a_fork():
    here = _in_child(6)
    with multiprocessing.get_context("fork").Pool(1) as workers:
        assert workers.apply_async(_in_child, (6,)).get(60) == here


@pytest.mark.parametrize("outputs", [None, 3])
def test_sum_of_many_stumps_equals_the_loop(outputs):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 20, (300, 4)) / 2.0
    shape = (2,) if outputs is None else (2, outputs)
    stumps = [
        StumpHypothesis(int(rng.integers(4)), float(rng.integers(0, 10)), rng.normal(size=shape), 4)
        for _ in range(500)
    ]
    stumps.append(StumpHypothesis(0, float("inf"), rng.normal(size=shape), 4))
    weights = rng.normal(size=len(stumps)) * 10.0 ** rng.integers(-3, 4, len(stumps))
    total = np.ones((300, *shape[1:]))
    loop = total + sum(w * h(X) for w, h in zip(weights, stumps, strict=True))
    StumpHypothesis.combined(weights, stumps, X, total)
    np.testing.assert_allclose(total, loop, rtol=0, atol=1e-12 * np.abs(weights).sum())


def test_orthogonal_to_all_stumps_is_stationary():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0])
    for learner in (RegressionStumps(), ClassificationStumps()):
        run = boost(X, Squared().bind(y), learner, stopping=5)
        assert (run.status, run.rounds, run.terms) == ("stationary", 0, ())


def test_weights_are_repetitions():
    rng = np.random.default_rng(10)
    X, y = rng.integers(0, 5, (12, 2)).astype(float), rng.normal(size=12)
    times = rng.integers(0, 4, 12)
    options = {"algorithm": "naive", "step": 0.5, "max_rounds": 20}
    weighted = flat.boost(X, y, Squared(), RegressionStumps(), weights=times, **options)
    again = np.repeat(np.arange(12), times)
    repeated = flat.boost(X[again], y[again], Squared(), RegressionStumps(), **options)
    np.testing.assert_allclose(weighted.decision(X), repeated.decision(X), atol=1e-9)


def test_stumps_pickle_small_and_check_their_rows():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(1000, 30))
    h, values = pool(RegressionStumps(), X, None, None)[0].nearest(rng.normal(size=1000))
    kept = pickle.dumps(h)
    assert len(kept) < 500
    np.testing.assert_array_equal(pickle.loads(kept)(X), values)
    with pytest.raises(InputError, match=r"trained on 30 features, got X of shape \(1000, 29\)"):
        h(X[:, 1:])
    X[3, h.feature] = np.nan
    with pytest.raises(InputError, match=f"row 3, column {h.feature} has nan"):
        h(X)
    with pytest.raises(InputError, match="row 3"):
        StumpHypothesis.combined(np.ones(1), [h], X, np.zeros(1000))


def test_patience_counts_from_the_least_validation_risk():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    held = rng.normal(size=(40, 2)), rng.normal(size=40)
    options = {"algorithm": "naive", "step": 1.0, "max_rounds": 400, "validation": held}
    run = flat.boost(X, y, Squared(), RegressionStumps(), patience=7, **options)
    risks = [record.validation for record in run.history]
    assert run.status == "early stopping"
    assert len(risks) - 1 - int(np.argmin(risks)) == 7
    first = boost(X, Squared().bind(y), RegressionStumps(), algorithm=Naive(step=1.0), stopping=50)
    on = flat.boost(X, y, Squared(), RegressionStumps(), patience=7, warm_start=first, **options)
    assert on.rounds >= 57  # the rounds without a validation set do not count


@pytest.mark.parametrize("most", [4, 16, 255])
def test_bins_of_weighted_rows_are_those_of_rows_repeated(most, rng):
    X = np.stack([rng.normal(size=700).round(k) for k in (9, 2, 1)], axis=1)
    for high in (2, 4, 9):
        weights = rng.integers(0, high, 700)
        rows = np.repeat(np.arange(700), weights)
        plain = Bins(X[rows], np.full(rows.size, 1.0 / rows.size), most)
        weighted = Bins(X, weights / weights.sum(), most)
        for one, other in zip(plain.thresholds, weighted.thresholds, strict=True):
            np.testing.assert_array_equal(one, other)
        assert plain.sizes.max() <= most
        np.testing.assert_array_equal(plain.codes, weighted.codes[:, rows])
