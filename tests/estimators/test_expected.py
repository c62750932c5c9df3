"""What people expect of an estimator beside fit and predict, and what it must refuse."""

from __future__ import annotations

import io
import os
import pickle
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV

import relaxboost as rb
from relaxboost import functional as fn

Classifier = rb.estimators.FunctionalGradientClassifier
Regressor = rb.estimators.FunctionalGradientRegressor
Ranker = rb.estimators.FunctionalGradientRanker

X, Y = load_diabetes(return_X_y=True)
C, LABELS = load_breast_cancer(return_X_y=True)


def test_quantiles_by_a_number():
    given = Regressor(quantile=0.9, max_rounds=5).fit(X, Y)
    assert given.boosted_.loss == fn.Quantile(0.9)
    same = Regressor(fn.Quantile(0.9), max_rounds=5).fit(X, Y)
    np.testing.assert_array_equal(given.predict(X), same.predict(X))


def test_searches_compare_learners_and_losses():
    grid = {"learner": [fn.Trees(1), fn.Trees(4)], "loss": ["huber", fn.Huber(50.0)]}
    search = GridSearchCV(Regressor(max_rounds=5, n_jobs=1), grid, cv=2).fit(X, Y)
    best = search.best_estimator_
    assert best.learner.max_depth == search.best_params_["learner"].max_depth
    assert best.learner.n_jobs is None  # the user's object is unchanged


def test_class_weights_are_weights_of_examples():
    heavy = np.where(LABELS == 1, 5.0, 1.0)
    one = Classifier("hinge", class_weight={0: 1.0, 1: 5.0}, max_rounds=6).fit(C, LABELS)
    other = Classifier("hinge", max_rounds=6).fit(C, LABELS, heavy)
    np.testing.assert_array_equal(one.decision_function(C), other.decision_function(C))
    balanced = Classifier(class_weight="balanced", max_rounds=1).fit(C, LABELS, heavy)
    factors = np.where(LABELS == 1, 5.0 / (LABELS == 1).mean(), 1.0 / (LABELS == 0).mean())
    same = Classifier(max_rounds=1).fit(C, LABELS, factors)
    np.testing.assert_allclose(balanced.decision_function(C), same.decision_function(C))


def test_class_weights_hold_for_a_given_validation_set():
    heavy = np.where(LABELS == 1, 5.0, 1.0)
    for given, copies in (({1: 5.0}, None), ("balanced", None), ({1: 5.0}, 1.0 + (C[:, 0] > 14))):
        made = Classifier(class_weight=given, max_rounds=2)
        made.fit(C, LABELS, copies, X_val=C, y_val=LABELS, sample_weight_val=copies)
        for record in made.boosted_.history:
            assert record.validation == pytest.approx(record.value, rel=1e-12)
    part = Classifier(class_weight={1: 5.0}, max_rounds=2, iterate="last")
    part.fit(C, LABELS, X_val=C[:9], y_val=LABELS[:9])
    risk = fn.Logistic().bind(LABELS[:9], heavy[:9], classes=[0, 1])
    assert part.boosted_.history[2].validation == pytest.approx(
        risk.value(part.decision_function(C[:9]))
    )


def test_stages_are_all_rounds_also_where_one_adds_nothing():
    made = Regressor("squared", iterate="average", max_rounds=7).fit(X, Y)
    waited = tuple(term for term in made.boosted_.terms if term.round not in (1, 3, 4, 7))
    made.boosted_ = replace(made.boosted_, terms=waited)
    stages = np.array(list(made.staged_predict(X[:5])))
    each = [made.boosted_.decision(X[:5], t) + made.intercept_ for t in range(1, 8)]
    means = np.cumsum(each, axis=0) / np.arange(1, 8)[:, None]
    np.testing.assert_allclose(stages, means, rtol=1e-12)
    np.testing.assert_allclose(stages[-1], made.predict(X[:5]), rtol=1e-12)


@pytest.mark.parametrize("iterate", ["last", "average"])
def test_probabilities_by_stages_end_at_those_of_all_rounds(iterate):
    for data, labels in ((C, LABELS), load_iris(return_X_y=True)):
        made = Classifier(max_rounds=6, iterate=iterate).fit(data, labels)
        stages = list(made.staged_predict_proba(data))
        assert len(stages) == 6
        np.testing.assert_allclose(stages[-1], made.predict_proba(data), rtol=1e-12)
        np.testing.assert_allclose(stages[2].sum(axis=1), 1.0)
    assert not hasattr(Classifier("hinge"), "staged_predict_proba")


@pytest.mark.parametrize("kind", ["absolute", "logistic"])
def test_warm_starts_go_on_to_the_same_model(kind):
    data, y = (X, Y) if kind == "absolute" else (C, LABELS)
    make = Regressor if kind == "absolute" else Classifier
    whole = make(kind, max_rounds=9, warm_start=True).fit(data, y)
    made = make(kind, max_rounds=4, warm_start=True).fit(data, y)
    made.set_params(max_rounds=9).fit(data, y)
    assert made.n_iter_ == 9
    np.testing.assert_allclose(made.predict(data), whole.predict(data), rtol=1e-12)
    with pytest.raises(rb.InputError, match="max_rounds=3 is less than the 9 rounds"):
        made.set_params(max_rounds=3).fit(data, y)
    cold = make(kind, max_rounds=4).fit(data, y).set_params(warm_start=True, max_rounds=9)
    with pytest.raises(rb.InputError, match="fit from scratch with warm_start=True first"):
        cold.fit(data, y)
    with pytest.raises(rb.InputError, match="needs the state of the run"):
        fn.boost(data, fn.Absolute().bind(Y), fn.Trees(), warm_start=cold.boosted_)


def test_warm_starts_hold_out_the_same_examples():
    for seed in (None, np.random.RandomState(3)):
        made = Classifier(n_iter_no_change=9, max_rounds=2, random_state=seed, warm_start=True)
        made.fit(C, LABELS)
        before = made.boosted_.history
        made.set_params(max_rounds=4).fit(C, LABELS)
        after = [record.validation for record in made.boosted_.history]
        assert len(after) == 5
        assert after[:3] == [record.validation for record in before]
        assert after[3] == pytest.approx(after[2], rel=0.2)


def arrays(thing, seen=None):
    """Yield every array that an object holds, however deep."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, dict):
        for part in thing.values():
            yield from arrays(part, seen)
    elif isinstance(thing, list | tuple | set):
        for part in thing:
            yield from arrays(part, seen)
    elif hasattr(thing, "__dict__"):
        yield from arrays(vars(thing), seen)


@pytest.mark.parametrize("learner", ["stumps", "trees", "networks"])
def test_a_fitted_model_keeps_no_training_data(learner):
    documents = np.repeat(np.arange(13), 34)
    models = [
        Regressor("absolute", learner, max_rounds=3).fit(X, Y),
        Regressor(
            quantile=0.1, learner=learner, max_rounds=3, n_iter_no_change=2, random_state=0
        ).fit(X, Y, np.arange(len(Y)) + 1.0),
        Ranker(learner=learner, max_rounds=3).fit(X, Y.round(-2), documents),
    ]
    for made in models:
        again = pickle.loads(pickle.dumps(made))
        assert max((a.size for a in arrays(again)), default=0) < 350  # 397 rows at least
        np.testing.assert_array_equal(again.predict(X), made.predict(X))
    # What is compiled shows no arrays: in all, a model is smaller than one array would be.
    many = Regressor("absolute", learner, max_rounds=2).fit(np.tile(X, (9, 1)), np.tile(Y, 9))
    assert len(pickle.dumps(many)) < 8 * 9 * 442
    warm = Regressor("absolute", learner, max_rounds=3, warm_start=True).fit(X, Y)
    assert max(array.size for array in arrays(warm)) == 442  # the test sees what is there


def test_threads_change_nothing_and_are_as_many_as_asked_for():
    wide = np.hstack([X] * 60)  # enough work for threads
    one, two = (Regressor("absolute", max_rounds=2, n_jobs=n).fit(wide, Y) for n in (None, 2))
    np.testing.assert_array_equal(one.predict(wide), two.predict(wide))
    # As in scikit-learn, None is one thread and -1 are all.
    most = os.cpu_count()
    for jobs, threads in ((None, 1), (-1, most), (2, min(2, most))):
        trees = Regressor(learner="trees", max_rounds=1, n_jobs=jobs).fit(X, Y)
        assert trees.boosted_.learner.options(X.shape[1])["num_threads"] == threads


def test_importances_are_where_the_signal_is(rng):
    data = rng.normal(size=(300, 4))
    y = 3.0 * data[:, 2] + data[:, 0]
    for learner in ("stumps", "trees"):
        shares = Regressor("absolute", learner, max_rounds=30).fit(data, y).feature_importances_
        assert shares.shape == (4,)
        assert shares.sum() == pytest.approx(1.0)
        assert shares[2] > 0.6 > 0.4 > shares[0] > max(shares[1], shares[3])
    one = Regressor(learner="stumps", max_rounds=1, algorithm="naive").fit(data, y).boosted_
    h = one.terms[0].hypothesis(data)
    rest = y - y.mean()
    lowered = (rest**2).sum() - ((rest + h) ** 2).sum()  # h is near the gradient, −rest
    assert one.terms[0].hypothesis.gain == pytest.approx(lowered)
    made = Regressor(learner="networks", max_rounds=1).fit(data, y)
    with pytest.raises(AttributeError, match="no feature importances; use stumps or trees"):
        made.feature_importances_  # noqa: B018


def test_verbose_prints_the_risk():
    for verbose, lines in ((0, 0), (1, 11), (2, 21)):
        told = io.StringIO()
        with redirect_stdout(told):
            made = Regressor("absolute", max_rounds=20, verbose=verbose).fit(X, Y)
        said = told.getvalue().splitlines()
        assert len(said) == lines
        if said:
            assert said[-1] == f"round 20: risk {made.boosted_.history[-1].value:.6g}"


def test_weights_are_copies_with_bins_too(rng):
    data = rng.normal(size=(700, 2))
    y = np.sign(data[:, 0]) + rng.normal(size=700)
    copies = rng.integers(0, 4, 700)
    rows = np.repeat(np.arange(700), copies)
    options = {"learner": fn.RegressionStumps(bins=16), "max_rounds": 8}
    for loss in ("squared", "absolute", "huber"):
        one = Regressor(loss, **options).fit(data, y, copies)
        other = Regressor(loss, **options).fit(data[rows], y[rows])
        np.testing.assert_allclose(one.predict(data), other.predict(data), atol=1e-9)


def test_a_validation_set_of_ones_own():
    options = {"max_rounds": 40, "n_iter_no_change": 3}
    made = Regressor("absolute", "trees", **options)
    made.fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
    own = [record.validation for record in made.boosted_.history]
    assert own[0] == pytest.approx(np.abs(Y[300:] - np.median(Y[:300])).mean(), rel=1e-2)
    watched = made.boosted_.decision(X[300:], made.n_iter_) + made.intercept_
    assert made.boosted_.iterate == "average" or own[-1] == pytest.approx(
        np.abs(Y[300:] - watched).mean()
    )
    made = Classifier(**options).fit(C[:400], LABELS[:400], X_val=C[400:], y_val=LABELS[400:])
    assert np.isfinite(made.boosted_.history[-1].validation)
    groups = np.repeat(np.arange(13), 34)
    ranker = Ranker(**options)
    ranker.fit(X, Y.round(-2), groups, X_val=X, y_val=Y.round(-2), groups_val=groups)
    last = ranker.boosted_.history[-1]
    assert last.validation == pytest.approx(last.value) or last.average == pytest.approx(
        last.validation
    )


def test_trees_take_missing_values_and_unseen_categories(rng):
    data = rng.normal(size=(400, 4))
    data[:, 1] = rng.integers(0, 6, 400)
    y = np.where(data[:, 1] % 2 == 0, 2.0, -2.0) + data[:, 0]
    data[:, 3] = np.nan  # a column of nothing
    data[rng.random(400) < 0.3, 0] = np.nan
    options = {"max_rounds": 30, "random_state": 0}
    made = Regressor("absolute", fn.Trees(categorical=[1]), **options).fit(data, y)
    assert np.abs(y - made.predict(data)).mean() < 0.6 * np.abs(y - np.median(y)).mean()
    assert made.feature_importances_[3] == 0.0
    unseen = data.copy()
    unseen[:, 1] = 17.0
    assert np.isfinite(made.predict(unseen)).all()
    missing = data.copy()
    missing[:, 1] = np.nan
    np.testing.assert_array_equal(made.predict(unseen), made.predict(missing))
    held = Classifier(learner="trees", n_iter_no_change=2, **options)
    held.fit(data[:300], y[:300] > 0, X_val=data[300:], y_val=y[300:] > 0)
    assert held.predict(data).shape == (400,)
