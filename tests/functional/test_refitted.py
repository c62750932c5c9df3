"""Leaves refitted to the loss: against brute force over all values, and what no step may do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from relaxboost import functional as fn
from relaxboost._core.errors import InputError
from relaxboost.functional.losses.leaves import quantiles, roots
from relaxboost.functional.losses.margins import HINGE_TEMPERATURE

from .cases import CASES, bound, scores

POINTWISE = {
    name: case
    for name, case in CASES.items()
    if isinstance(case.loss, fn.PointwiseLoss) and case.loss.attained
}
FALLING = {
    name: case
    for name, case in CASES.items()
    if isinstance(case.loss, fn.PointwiseLoss | fn.MulticlassLoss) and case.loss.falling
}


def leaves_of(rng, size, count=3):
    leaf = rng.integers(0, count, size)
    leaf[:count] = np.arange(count)
    return leaf


def leaf_risk(risk, F, leaf, i, v):
    """Return the part of the risk that is leaf i's, where v is added there, by the loss alone."""
    rows = leaf == i
    return risk.measure.p[rows] @ risk.loss.pointwise(F[rows] + v, risk.y[rows])[0]


def tried(risk, F, leaf, i):
    """Return the least over all values worth a try: every corner of every loss, and a fine grid."""
    rows = leaf == i
    near = np.concatenate([risk.y[rows], [1.0, -1.0]])[:, None] - F[rows]
    extent = np.abs(near).max() + 1.0
    grid = np.concatenate([near.ravel(), np.linspace(-extent, extent, 1001)])
    return min(leaf_risk(risk, F, leaf, i, v) for v in grid)


@pytest.mark.parametrize("name", POINTWISE)
@pytest.mark.parametrize("weighted", [False, True])
def test_minimisers_against_all_values_of_a_leaf(name, weighted):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        risk = bound(POINTWISE[name], rng, size=14, weighted=weighted)
        F, leaf = scores(risk, rng), leaves_of(rng, 14)
        found = risk.loss.minimisers(F, risk.y, risk.measure.p, leaf, 3)
        for i in range(3):
            ours, least = leaf_risk(risk, F, leaf, i, found[i]), tried(risk, F, leaf, i)
            assert ours <= least + 1e-12 * (1.0 + abs(least))


@pytest.mark.parametrize("loss", [fn.Absolute(), fn.Quantile(0.25)], ids=repr)
def test_of_many_minimisers_the_nearest_to_zero(loss):
    y = np.array([1.0, 2.0, 3.0, 4.0])
    p = np.full(4, 0.25)
    one = np.zeros(4, dtype=np.int64)
    for F in (np.zeros(4), np.full(4, 7.0), np.full(4, -7.0), np.array([0.0, 3.0, 1.0, -2.0])):
        v = loss.minimisers(F, y, p, one, 1)[0]
        least = p @ loss.pointwise(F + v, y)[0]
        nearer = np.linspace(0.0, v, 101)[:-1] if v else []
        for other in nearer:
            assert p @ loss.pointwise(F + other, y)[0] > least + 1e-15


def test_selection_is_sorting():
    """Against the slow twin, with ties, zero weights, empty leaves and many rows."""
    rng = np.random.default_rng(0)
    for size, values in ((5, 2), (60, 4), (2000, 1000)):
        kinks = rng.integers(0, values, size).astype(float) - values // 2
        weights = rng.integers(0, 3, size).astype(float)
        leaf = rng.integers(0, 4, size)
        low = rng.random(5) * np.bincount(leaf, weights, 5)
        found = quantiles(kinks, weights, low, leaf)
        for i in range(5):
            rows = np.flatnonzero((leaf == i) & (weights > 0))
            order = rows[np.argsort(kinks[rows], kind="stable")]
            if not len(order):
                assert found[i] == 0.0
                continue
            place = np.searchsorted(np.cumsum(weights[order]), low[i] * (1 - 1e-12))
            expected = kinks[order[min(place, len(order) - 1)]]
            assert found[i] == expected or low[i] <= 1e-12


def test_roots_of_slopes_with_and_without_second_derivatives():
    rng = np.random.default_rng(1)
    y, leaf = rng.standard_cauchy(200), leaves_of(rng, 200)
    p = rng.random(200)
    by_sort = fn.Absolute().minimisers(np.zeros(200), y, p, leaf, 3)
    halved = roots(lambda v: (np.sign(v - y), None), p, leaf, 3)
    np.testing.assert_allclose(halved, by_sort, rtol=1e-12)
    plain = roots(lambda v: (np.clip(v - y, -0.7, 0.7), None), p, leaf, 3)
    newton = roots(lambda v: (np.clip(v - y, -0.7, 0.7), 1.0 * (abs(v - y) < 0.7)), p, leaf, 3)
    np.testing.assert_allclose(newton, plain, atol=1e-12)
    huber = fn.Huber(0.7).minimisers(np.zeros(200), y, p, leaf, 3)
    np.testing.assert_allclose(huber, plain, atol=1e-12)


def test_hubers_leaves_of_extreme_targets_and_without_weight():
    y = np.array([1e308, -1e308, 3.0, 1e300, 5.0])
    p, leaf = np.array([1.0, 1.0, 1.0, 1.0, 0.0]), np.array([0, 0, 0, 1, 2])
    found = fn.Huber(0.7).minimisers(np.zeros(5), y, p, leaf, 4)
    np.testing.assert_allclose(found, [3.0, 1e300, 0.0, 0.0], rtol=1e-12)


def test_roots_of_some_leaves_do_not_wait_for_those_without():
    """Leaf 0 falls for ever; the others have to be found, leaf 3 far below one."""
    leaf, y = np.arange(4), np.array([0.0, 1.0 / 3.0, -7.0, 1e-30])

    def slopes(v, bend=None):
        return np.where(leaf == 0, -1.0, np.sign(v - y)), bend

    expected = [1e100, *y[1:]]
    np.testing.assert_allclose(roots(slopes, np.ones(4), leaf, 4), expected, rtol=1e-12)
    tiny = np.full(4, 1e-150)  # Newton's first step would pass 1e100 in every leaf
    found = roots(lambda v: slopes(v, tiny), np.ones(4), leaf, 4)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    steep = np.full(4, 1e20)  # and here it creeps
    found = roots(lambda v: slopes(v, steep), np.ones(4), leaf, 4)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("a", [1.0, 36.0, 37.0, 40.0, 100.0, 300.0])
def test_leaves_wrong_by_any_amount_are_refitted(a):
    """Where all rows are equal the step is log(1 + |G|/H) in closed form, of e^a alone."""
    one, p, ys = np.zeros(2, dtype=np.int64), np.full(2, 0.5), np.array([1.0, 1.0])
    v = fn.Logistic().refitted(np.full(2, -a), ys, p, one, 1)
    np.testing.assert_allclose(v, np.log(2.0 + np.exp(a)), rtol=1e-12)
    v = fn.Hinge().refitted(np.full(2, -a), ys, p, one, 1)
    np.testing.assert_allclose(v, 0.5 * np.log(2.0 + np.exp(2.0 * (a + 1.0))), rtol=1e-12)
    own, top = np.zeros(2, dtype=np.int64), np.tile([0.0, a, 0.0], (2, 1))
    for F, k, expected in (
        (-np.tile([a, 0.0, 0.0], (2, 1)), 0, np.log(2.0 + 2.0 * np.exp(a))),
        (top, 1, -np.log(2.0 + np.exp(a) / 2.0)),
        (top, 0, np.log(3.0 + np.exp(a))),
    ):
        v = fn.MultinomialLogistic().moves(F, own)(k, p, one, 1)
        np.testing.assert_allclose(v, expected, rtol=1e-12)
    far = 100.0 * a  # where e^−far underflows
    assert fn.Logistic().refitted(np.full(2, -far), ys, p, one, 1)[0] >= min(far, 700.0)
    v = fn.MultinomialLogistic().moves(100.0 * top, own)(0, p, one, 1)
    assert min(far, 700.0) <= v[0] <= far + 1.2


@pytest.mark.parametrize("name", FALLING)
def test_damped_newton_steps_never_rise_and_start_as_newtons(name):
    case = FALLING[name]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        risk = bound(case, rng, size=20)
        F, leaf = np.clip(scores(risk, rng), -12.0, 12.0), leaves_of(rng, 20)
        v = risk.refitted(F, leaf, 3)
        before = risk.value(F)
        if F.ndim == 1:
            assert risk.value(F + v[leaf]) <= before + 1e-12 * before
            continue
        for k in range(F.shape[1]):
            moved = F.copy()
            moved[:, k] += v[leaf, k]
            assert risk.value(moved) <= before + 1e-12 * before
        # All classes at once, at a step of 1/K.
        assert risk.value(F + v[leaf] / F.shape[1]) <= before + 1e-12 * before
    # Near a minimum the step is Newton's: finite differences of the risk give it.
    if F.ndim == 1:
        F, h = np.zeros(20), 1e-4
        one = np.zeros(20, dtype=np.int64)
        low, at, high = (risk.value(F + s) for s in (-h, 0.0, h))
        newton = -(high - low) / (2 * h) / ((high - 2 * at + low) / h**2)
        v = risk.refitted(F, one, 1)[0]
        assert v == pytest.approx(np.sign(newton) * np.log1p(abs(newton)), rel=1e-3, abs=1e-6)


def softened(risk, F):
    """Return τ log Σ exp(·/τ) in place of the largest of what hinges take the largest of."""
    own = risk.y[:, None] == (np.arange(F.shape[1]) if F.ndim == 2 else risk.y[:, None])
    pieces = F + ~own if F.ndim == 2 else np.column_stack([1.0 - risk.y * F, 0.0 * F])
    less = F[own] if F.ndim == 2 else 0.0
    return risk.measure.p @ (
        HINGE_TEMPERATURE * logsumexp(pieces / HINGE_TEMPERATURE, axis=1) - less
    )


@pytest.mark.parametrize("loss", [fn.Hinge(), fn.MulticlassHinge()], ids=repr)
def test_hinges_go_down_a_smooth_risk_that_is_near(loss):
    """R <= R' <= R + τ log K; what is projected is the gradient of R', which no step raises."""
    case = CASES[repr(loss)]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        risk = bound(case, rng, size=20)
        F, leaf, h = scores(risk, rng), leaves_of(rng, 20), 1e-5
        slopes = risk.softened(F, risk.evaluate(F)[1])
        before, ways = softened(risk, F), 2 if F.ndim == 1 else F.shape[1]
        assert (
            risk.value(F)
            <= before + 1e-12
            <= risk.value(F) + HINGE_TEMPERATURE * np.log(ways) + 2e-12
        )
        G = rng.normal(size=F.shape)
        found = (softened(risk, F + h * G) - softened(risk, F - h * G)) / (2 * h)
        assert found == pytest.approx(risk.measure.inner(slopes, G), abs=1e-8)
        v = risk.refitted(F, leaf, 3)
        assert softened(risk, F + v[leaf] / (1 if F.ndim == 1 else ways)) <= before + 1e-12
        assert np.abs(v).max() > 0.0


def test_hinges_do_not_stand_still_where_one_class_is_rare():
    """The many are the larger part of every leaf; at their corner the few gained nothing."""
    X = np.random.default_rng(5).random((500, 6))
    y = (X.sum(axis=1) > 3.9).astype(int)
    run = fn.boost(X, fn.Hinge().bind(y), fn.RegressionStumps(), algorithm="refitted", stopping=80)
    assert y.mean() == 0.09
    assert np.mean(run.predict(X) != y) <= 0.3 * y.mean()


def test_ranking_weighs_the_violated_pairs():
    ranked = fn.RankingHinge().bind([2, 1, 0, 0], groups=[0, 0, 0, 0])
    # All five pairs are violated at 0; the leaves are the best and the others.
    v = ranked.refitted(np.zeros(4), np.array([0, 1, 1, 1]), 2)
    np.testing.assert_allclose(v, [np.log(2.0), -np.log1p((2 + 2 + 1 - 2) / (2 + 2 + 1 + 2))])


LEARNERS = [fn.RegressionStumps(), fn.Trees(min_samples_leaf=5)]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("name", CASES)
def test_runs_of_every_loss_learn(name, learner):
    rng = np.random.default_rng(2)
    case = CASES[name]
    risk = bound(case, rng, size=60)
    X = np.column_stack([rng.normal(size=60), risk.y + 0.3 * rng.normal(size=60)])
    rounds = 15 if risk.closed_form else 3  # cvxpy takes long
    run = fn.boost(X, risk, learner, algorithm="refitted", stopping=rounds)
    values = np.array([record.value for record in run.history])
    assert values[-1] < 0.95 * values[0]
    np.testing.assert_allclose(risk.value(run.decision(X)), values[-1], rtol=1e-10)
    if case.kind == "numbers" or getattr(case.loss, "falling", False):
        assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_learners_without_leaves_are_refused():
    risk = fn.Hinge().bind([0, 1])
    with pytest.raises(InputError, match=r"needs leaves to refit, but .* has none; use regression"):
        fn.boost(np.eye(2), risk, fn.ClassificationStumps(), algorithm="refitted")


def test_early_stopping_watches_the_mean_where_it_is_returned():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.standard_t(2, 120)
    held, stop = (X[80:], y[80:]), 4
    stopping = fn.Stopping(300, validation=held, patience=stop)
    risk = fn.Absolute().bind(y[:80])
    run = fn.boost(
        X[:80], risk, fn.RegressionStumps(), algorithm=fn.Residual(iterate="average"),
        stopping=stopping,
    )  # fmt: skip
    watched = fn.Absolute().bind(held[1])
    assert run.status == "early stopping"
    total, means = 0.0, []
    for t, F in run.staged(held[0]):
        total = total + F
        means.append(watched.value(total / t))
    np.testing.assert_allclose([r.validation for r in run.history[1:]], means, rtol=1e-10)
    assert run.chosen == 1 + int(np.argmin(means)) == run.rounds - stop
    assert watched.value(run.decision(held[0])) == pytest.approx(min(means), rel=1e-10)
    assert risk.value(run.decision(X[:80])) == pytest.approx(run.value, rel=1e-10)
