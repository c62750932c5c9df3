"""Trees grown by LightGBM: the splits are its own, the rest is held to what it says."""

from __future__ import annotations

import os
import pickle

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from relaxboost import functional as fn
from relaxboost._core.errors import InputError
from relaxboost.estimators import FunctionalGradientRegressor
from relaxboost.functional.learners import nodes
from relaxboost.functional.learners.trees import searched_both_ways


def data(n=400, seed=0):
    """Return rows with missing values and a category in column 3, and a target of all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.integers(0, 40, n)
    v = np.sin(2 * X[:, 0]) * X[:, 1] + np.cos(5.0 * X[:, 3]) + 0.1 * rng.normal(size=n)
    X[rng.random(n) < 0.2, 0] = np.nan
    v[np.isnan(X[:, 0])] += 1.0
    return X, v


def pool(learner, X, weights=None, outputs=None):
    measure = fn.Empirical(len(X), weights)
    rng = np.random.default_rng(0)
    return learner.prepare(X, measure, outputs, "least-squares", rng), measure


def test_rows_go_where_lightgbm_sends_them():
    """Missing values, categories seen and unseen, and zeros, in every tree of a run."""
    X, v = data()
    grower, _ = pool(fn.Trees(6, subsample=1.0, categorical=[3], min_samples_leaf=3), X)
    found = [grower.nearest(v)[0] for _ in range(3)] + [grower.nearest(np.sign(v))[0]]
    new = np.vstack([X[:50], data(200, 1)[0]])
    new[100:120, 3] = [np.nan, -1, 77, 1e6, 40.0] * 4
    new[120:140, 1:3] = np.nan  # none was missing in training
    new[140:150] = 0.0
    theirs = grower._boosters[0].predict(new, pred_leaf=True)
    splits = 0
    for i, tree in enumerate(found):
        np.testing.assert_array_equal(nodes.leaf_of(new, tree.nodes[0]), theirs[:, i])
        splits += np.count_nonzero(tree.nodes[0].sets)
    assert splits > 0
    total = np.zeros(len(new))
    fn.Tree.combined(np.arange(1.0, 5.0), found, new, total)
    one_by_one = sum((i + 1.0) * tree(new) for i, tree in enumerate(found))
    np.testing.assert_allclose(total, one_by_one, atol=1e-12)


@pytest.mark.parametrize("outputs", [None, 3])
def test_leaves_hold_the_weighted_means_of_all_rows(outputs):
    X, v = data()
    V = v if outputs is None else np.column_stack([v, v**2, np.sign(v)])
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    grower, measure = pool(fn.Trees(4, min_samples_leaf=20), X, weights, outputs)
    h, values = grower.nearest(V)
    leaf, count = grower.leaves(h)
    for k in range(outputs or 1):
        at = leaf if outputs is None else leaf[:, k]
        target, mine = (V, values) if outputs is None else (V[:, k], values[:, k])
        assert 2 < len(np.unique(at)) <= min(16, count)
        for i in np.unique(at):
            rows = at == i
            assert np.count_nonzero(rows & (weights > 0)) >= 7
            np.testing.assert_allclose(
                mine[rows], np.average(target[rows], weights=weights[rows]), atol=1e-12
            )
    assert h.depth <= 4
    assert measure.inner(V - values, values) == pytest.approx(0.0, abs=1e-12)
    other = h.with_leaves(np.zeros_like(h.leaves))
    np.testing.assert_array_equal(other(X), np.zeros_like(V))


def test_with_weights_a_tree_of_depth_one_is_as_good_as_that_of_scikit_learn():
    """Also where the lightest or heaviest rows are far below the cut: no cut is overlooked."""
    learner = fn.Trees(1, min_samples_leaf=1, subsample=1.0)
    X = np.arange(250.0)[:, None]
    balanced = np.where(np.arange(250) % 10 < 7, 1 / 1.4, 1 / 0.6)
    for low in (0.0, -1.0, -100.0, -300.0):
        for cut in (1, 25, 40, 125, 249):
            h, _ = pool(learner, X + low, balanced)[0].nearest((X[:, 0] < cut) * 1.0)
            assert h.nodes[0].table[0, 2] == pytest.approx(cut - 0.5 + low, abs=0.5)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        N = int(rng.integers(5, 250))
        X = np.round(rng.normal(3.0 * (seed % 3), 1.0, (N, 2)), seed % 5)
        weights = 10.0 ** rng.uniform(-4.0, 1.0, N) if seed % 2 else balanced[:N]
        v = rng.normal(size=N) + 2.0 * (X[:, 0] < np.quantile(X[:, 0], rng.random()))
        best = DecisionTreeRegressor(max_depth=1).fit(X, v, sample_weight=weights).predict(X)
        ours = pool(learner, X, weights)[0].nearest(v)[1]
        risk = [np.average((v - f) ** 2, weights=weights) for f in (ours, best)]
        assert risk[0] <= risk[1] * (1.0 + 1e-6)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-170, 1e170, 1.7e308])
def test_targets_of_any_size_have_trees_and_gains(size):
    X = np.arange(40.0)[:, None]
    v = np.where(X[:, 0] < 15, -size, size)
    h, values = pool(fn.Trees(1, min_samples_leaf=1, subsample=1.0), X)[0].nearest(v)
    np.testing.assert_allclose(values, v, atol=5e-324)  # products with weights underflow
    assert 0.0 < h.gains()[1][0] < np.inf


def test_least_squares_boosting_is_that_of_lightgbm():
    X, v = data()
    v = v - v.mean()
    ours = fn.boost(
        X, fn.Squared().bind(v), fn.Trees(4, subsample=1.0, min_samples_leaf=20),
        algorithm="refitted", stopping=30,
    )  # fmt: skip
    theirs = lgb.LGBMRegressor(
        n_estimators=30, num_leaves=16, max_depth=4, min_child_samples=20, min_data_in_bin=1,
        verbose=-1, n_jobs=1,
    ).fit(X, v)  # fmt: skip
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


def test_constraints_hold_and_nothing_to_split_is_a_constant():
    X, v = data()
    line = np.zeros((50, 4))
    line[:, 1] = np.linspace(-3.0, 3.0, 50)
    run = fn.boost(
        X, fn.Squared().bind(v), fn.Trees(monotone={1: 1}, subsample=1.0),
        algorithm="naive", stopping=20,
    )  # fmt: skip
    assert (np.diff(run.decision(line)) >= -1e-12).all()
    for sign in (1, -1):
        learner = fn.Trees(6, monotone={1: sign}, min_samples_leaf=5)
        run = fn.boost(X, fn.Absolute().bind(v), learner, algorithm="refitted", stopping=20)
        rows = np.repeat(X[:60], 50, axis=0)
        rows[:, 1] = np.tile(line[:, 1], 60)
        rise = sign * np.diff(run.decision(rows).reshape(60, 50), axis=1)
        assert rise.min() >= -1e-12
        assert rise.max() > 0.1
    grower, _ = pool(fn.Trees(), np.full((9, 2), np.nan))
    for target in (v[:9], 2.0 * v[:9]):  # LightGBM keeps the first such tree and drops others
        h, values = grower.nearest(target)
        assert h.depth == 0
        np.testing.assert_allclose(values, np.full(9, target.mean()))


@pytest.mark.parametrize("loss", [fn.Quantile(0.8), fn.MultinomialLogistic()], ids=repr)
def test_contributions_sum_to_the_prediction(loss):
    X, v = data()
    X[:, 2] = 1.0  # no use
    y = v if loss.task == "regression" else np.digitize(v, [-0.5, 0.5])
    learner = fn.Trees(categorical=[3], subsample=1.0)
    run = fn.boost(X, loss.bind(y), learner, algorithm="refitted", stopping=12)
    found = run.contributions(X)
    assert found.shape == (400, 5, *run.decision(X).shape[1:])
    np.testing.assert_allclose(found.sum(axis=1), run.decision(X), atol=1e-10)
    np.testing.assert_array_equal(found[:, 2], 0.0)
    shares = run.importances(4)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[2] == 0.0 < min(shares[[0, 1, 3]])
    stump = fn.boost(X[:, 1:], loss.bind(y), fn.RegressionStumps(), stopping=2)
    with pytest.raises(InputError, match="StumpHypothesis has no SHAP values; use learner="):
        stump.contributions(X[:, 1:])


def test_contributions_start_from_the_weighted_mean():
    X, v = data()
    weights = np.arange(400) % 4 * 1.0
    run = fn.boost(X, fn.Absolute().bind(v, weights), fn.Trees(), algorithm="refitted", stopping=5)
    mean = np.average(run.decision(X), weights=weights)
    assert run.contributions(X[:1])[0, -1] == pytest.approx(mean, rel=1e-6)


def test_contributions_of_trees_too_deep_for_lightgbm_are_refused():
    """It would end the process: 60 000 splits one below the other take 58 GB."""
    size = 5000
    given = {
        "feature": [0] * size, "gain": [1.0] * size, "kind": [2] * size, "sets": [],
        "threshold": [float(n) for n in range(size)], "rows": [1] * (size + 1),
        "left": [~n for n in range(size)], "right": [*range(1, size), ~size],
    }  # fmt: skip
    chain = fn.Tree.restored(given | {"leaves": [0.5 * n for n in range(size + 1)]}, 1)
    X = np.array([[-1.0], [2.5], [9999.0]])
    np.testing.assert_array_equal(chain(X), [0.0, 1.5, 2500.0])
    with pytest.raises(InputError, match="SHAP values need trees of at most 4096 levels"):
        fn.Tree.contributions(np.ones(1), [chain], X)
    few = {name: row[:3] for name, row in given.items()} | {"leaves": [1.0, 2.0, 4.0, 8.0]}
    short = fn.Tree.restored(few | {"right": [1, 2, -4], "rows": [1, 1, 2, 4]}, 1)
    found = fn.Tree.contributions(np.ones(1), [short], X)
    np.testing.assert_allclose(found, [[-4.375, 5.375], [2.625, 5.375], [2.625, 5.375]])


def test_importances_are_what_splits_lower_the_squared_error_by():
    """Two signs: the first round takes 100 x0 and the second .1 x1, whatever else is constant."""
    signs = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)] * 50)
    y = signs @ [100.0, 0.1]
    for learner, mean in ((fn.Trees(1, subsample=1.0), 0.0), (fn.RegressionStumps(), 1000.0)):
        loss, algorithm = fn.Squared().bind(y + mean), fn.Refitted(step=1.0)
        run = fn.boost(signs, loss, learner, algorithm=algorithm, stopping=2)
        falls = np.array([term.hypothesis.gains()[1].sum() for term in run.terms])
        assert falls / falls[0] == pytest.approx([1.0, 1e-6], rel=1e-3)
        assert falls[0] == pytest.approx(200 * 100.0**2, rel=1e-3) or learner.name == "trees"
        assert run.importances(2) == pytest.approx([1.0, 1e-6], rel=1e-3)


def test_runs_are_stored_without_their_rows_and_need_no_lightgbm_to_predict():
    X, v = data(20_000)
    run = fn.boost(X, fn.Absolute().bind(v), fn.Trees(), algorithm="refitted", stopping=2)
    text = pickle.dumps(run.terms)
    assert len(text) < 12_000 < X.nbytes
    again = pickle.loads(text)
    np.testing.assert_array_equal(again[1].hypothesis(X), run.terms[1].hypothesis(X))


REFUSED = {
    "depth": (lambda X: fn.Trees(0), "max_depth must be a whole number >= 1"),
    "leaves": (lambda X: fn.Trees(max_leaf_nodes=1), "max_leaf_nodes must be at least 2"),
    "rows": (lambda X: fn.Trees(min_samples_leaf=0.5), "min_samples_leaf"),
    "share": (lambda X: fn.Trees(subsample=0.0), r"subsample must lie in \(0, 1\], got 0.0"),
    "sign": (lambda X: fn.Trees(monotone={0: 2}), "monotone must be 1, 0 or −1"),
    "order": (
        lambda X: fn.Trees(categorical=[3], monotone={3: -1}),
        "monotone contains column 3, which is categorical and has no order; leave the column out",
    ),
    "too many leaves": (
        lambda X: fn.Trees(max_leaf_nodes=131_073),
        "max_leaf_nodes must be at most 131072, LightGBM's limit, got 131073",
    ),
    "absent": (
        lambda X: pool(fn.Trees(monotone={4: 1}), X),
        "monotone contains column 4, but X has no such column; the last column is 3",
    ),
    "category": (lambda X: pool(fn.Trees(categorical=[9]), X), "categorical contains column 9"),
    "infinite": (
        lambda X: pool(fn.Trees(), np.where(X > 2.0, np.inf, X)),
        "features must be finite, or nan if they are missing; row",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_named(name):
    call, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        call(data()[0])


def test_trees_grow_in_one_thread_unless_more_are_requested():
    """The cores may be busy: OpenMP's threads would wait for each other at every split."""
    assert fn.Trees().options(4)["num_threads"] == 1
    assert fn.Trees(n_jobs=2).options(4)["num_threads"] == min(2, os.cpu_count())
    assert fn.Trees(n_jobs=-1).options(4)["num_threads"] == os.cpu_count()
    assert "None means one thread" in fn.Trees.__doc__
    X, v = data()
    for jobs in (None, 1, -1):
        estimator = FunctionalGradientRegressor(learner="trees", max_rounds=1, n_jobs=jobs)
        assert estimator.fit(X, v).boosted_.learner.n_jobs == jobs


def test_without_lightgbm_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(InputError, match=r"LightGBM: pip install 'lightgbm.*'; without"):
        pool(fn.Trees(), data()[0])


@pytest.mark.parametrize("version", ["4.2.1", "5.0.0", "3.3"])
def test_versions_of_lightgbm_are_checked(version, monkeypatch):
    monkeypatch.setattr(lgb, "__version__", version)
    with pytest.raises(InputError, match=f"LightGBM {version} is installed, but trees need"):
        pool(fn.Trees(), data()[0])


def test_leaves_are_those_of_gradients_handed_to_lightgbm_by_any_number_of_threads():
    """The slow route: unequal weights, ties, categories, missing values."""
    X, v = data(3000)
    weights = np.random.default_rng(3).integers(1, 4, len(X)).astype(float)
    for p, threads in ((None, 1), (weights, 1), (None, 2)):
        learner = fn.Trees(subsample=1.0, categorical=[3], n_jobs=threads)
        grower, measure = pool(learner, X, p)
        options = {
            **learner.options(4), "objective": "none", "num_threads": 1, "learning_rate": 0.1,
            "min_sum_hessian_in_leaf": 0.4,
        }  # fmt: skip
        rows, hessian = X, measure.p / measure.p.mean()
        if p is not None:
            rows, hessian, options = searched_both_ways(X, hessian, options, [3])
        slow = lgb.Booster(options, lgb.Dataset(rows, params=options, categorical_feature=[3]))
        for round_, target in enumerate((v, np.sign(v), np.where(v > 1.0, v, 0.0))):
            h, _ = grower.nearest(target)
            given = -np.append(target, np.zeros(len(rows) - len(X))) * hessian, hessian
            slow.update(fobj=lambda *_, given=given: given)
            np.testing.assert_array_equal(
                grower.leaves(h)[0], slow.predict(X, pred_leaf=True).reshape(len(X), -1)[:, round_]
            )
