"""The scikit-learn estimators."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import relaxboost as rb
from relaxboost import functional as fn

Classifier = rb.estimators.FunctionalGradientClassifier
Regressor = rb.estimators.FunctionalGradientRegressor
Ranker = rb.estimators.FunctionalGradientRanker


def cancer(n=200):
    X, y = load_breast_cancer(return_X_y=True)
    return X[:n], np.array(["malignant", "benign"])[y[:n]]


def test_losses_of_two_classes_or_more_by_their_number():
    X, y = cancer()
    three = load_iris(return_X_y=True)
    for name, two, more in (
        ("hinge", fn.Hinge, fn.MulticlassHinge),
        ("logistic", fn.Logistic, fn.MultinomialLogistic),
    ):
        a = Classifier(name, max_rounds=150).fit(X, y)
        assert isinstance(a.boosted_.loss, two)
        assert a.decision_function(X).shape == (200,)
        assert a.score(X, y) > 0.97
        assert list(a.classes_) == ["benign", "malignant"]
        b = Classifier(name, max_rounds=150).fit(*three)
        assert isinstance(b.boosted_.loss, more)
        assert b.decision_function(three[0]).shape == (150, 3)
        assert b.score(*three) > 0.94
    given = Classifier(fn.SmoothHinge(0.3), fn.ClassificationStumps(), max_rounds=5).fit(X, y)
    assert given.boosted_.loss == fn.SmoothHinge(0.3)
    assert isinstance(given.boosted_.learner, fn.ClassificationStumps)


def test_the_estimator_is_boost():
    X, y = cancer()
    made = Classifier("hinge", algorithm="repeated", max_rounds=5, iterate="last", step=0.5)
    run = fn.boost(
        X, fn.Hinge().bind(y), fn.RegressionStumps(), algorithm=fn.Repeated(step=0.5), stopping=5
    )
    np.testing.assert_array_equal(made.fit(X, y).decision_function(X), run.decision(X))
    np.testing.assert_array_equal(made.predict(X), run.predict(X))
    assert made.n_iter_ == run.rounds == 5


@pytest.mark.parametrize("loss", ["logistic", "multinomial-logistic", fn.Logistic()])
def test_probabilities_of_two_classes(loss):
    X, y = cancer()
    made = Classifier(loss, max_rounds=20).fit(X, y)
    p = made.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), made.decision_function(X), rtol=1e-9)
    own = p[np.arange(len(y)), np.searchsorted(made.classes_, y)]
    assert -np.log(own).mean() == pytest.approx(made.boosted_.value, rel=1e-9)


def test_probabilities_of_three_classes_are_those_of_the_loss():
    X, y = load_iris(return_X_y=True)
    made = Classifier(max_rounds=20).fit(X, y)
    own = made.predict_proba(X)[np.arange(len(y)), y]
    assert -np.log(own).mean() == pytest.approx(made.boosted_.value, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "exponential", fn.MulticlassHinge()])
def test_no_probabilities_without_a_likelihood(loss):
    made = Classifier(loss)
    assert not hasattr(made, "predict_proba")
    with pytest.raises(AttributeError, match=r"not a negative log-likelihood.*use loss="):
        made.predict_proba(np.zeros((1, 1)))
    with pytest.raises(NotFittedError):
        Classifier().predict_proba(np.zeros((1, 1)))


@pytest.mark.parametrize("iterate", ["last", "average"])
def test_stages_lead_to_the_predictions(iterate):
    X, y = cancer()
    made = Classifier("hinge", max_rounds=9, iterate=iterate).fit(X, y)
    stages = list(made.staged_decision_function(X))
    assert len(stages) == len(list(made.staged_predict(X))) == 9
    np.testing.assert_allclose(stages[-1], made.decision_function(X), atol=1e-12)
    short = Classifier("hinge", max_rounds=4, iterate=iterate).fit(X, y)
    np.testing.assert_allclose(stages[3], short.decision_function(X), atol=1e-12)
    *_, last = made.staged_predict(X)
    np.testing.assert_array_equal(last, made.predict(X))


def test_iterates_by_default_are_those_of_the_theorems():
    X, y = cancer()
    paper = Classifier("hinge", algorithm="residual", max_rounds=2)
    assert paper.fit(X, y).boosted_.iterate == "average"
    watched = paper.set_params(n_iter_no_change=2, random_state=0).fit(X, y)
    assert watched.boosted_.iterate == "average"
    usual = Classifier("hinge", max_rounds=2).fit(X, y).boosted_
    assert (usual.iterate, usual.history[1].step) == ("last", 0.3)
    greedy = Classifier(learner=DecisionTreeRegressor(max_depth=1), max_rounds=2).fit(X, y)
    assert greedy.boosted_.history[2].step == pytest.approx(2**-0.5)
    naive = Classifier("logistic", algorithm=fn.Naive(), max_rounds=2).fit(X, y)
    assert naive.boosted_.iterate == "last"
    assert naive.boosted_.history[1].step == 4.0  # 1/Λ
    assert Classifier(step=0.1, max_rounds=2).fit(X, y).boosted_.iterate == "last"
    stopped = Classifier(n_iter_no_change=2, max_rounds=2, random_state=0).fit(X, y)
    assert stopped.boosted_.iterate == "best"


def test_early_stopping_holds_a_share_out():
    X, y = load_diabetes(return_X_y=True)
    made = Regressor(
        learner="trees", algorithm="naive", step=0.5, max_rounds=300, n_iter_no_change=4,
        validation_fraction=0.25, random_state=3,
    )  # fmt: skip
    made.fit(X, y, sample_weight=np.linspace(1.0, 2.0, len(y)))
    run = made.boosted_
    assert run.status == "early stopping"
    assert made.n_iter_ < 300
    validation = [record.validation for record in run.history]
    assert run.chosen == int(np.argmin(validation)) == made.n_iter_ - 4
    assert run.state is None
    np.testing.assert_array_equal(
        clone(made).fit(X, y, np.linspace(1.0, 2.0, len(y))).predict(X), made.predict(X)
    )
    other = clone(made).set_params(random_state=4).fit(X, y)
    assert not np.array_equal(other.predict(X), made.predict(X))


def test_regressors_start_at_the_best_constant():
    X, y = load_diabetes(return_X_y=True)
    weights = np.arange(len(y)) % 3.0
    made = Regressor(max_rounds=1).fit(X, y, weights)
    assert made.intercept_ == pytest.approx(np.average(y, weights=weights), rel=1e-12)
    median = Regressor("absolute", max_rounds=1).fit(X, y).intercept_
    assert np.abs(y - median).mean() == pytest.approx(np.abs(y - np.median(y)).mean(), rel=1e-12)
    own = fn.CustomLoss(lambda F, y: (F - y) ** 2)
    assert Regressor(own, max_rounds=1).fit(X[:20], y[:20]).intercept_ == 0.0
    for algorithm in (None, "residual"):
        upper = Regressor(fn.Quantile(0.9), algorithm=algorithm, iterate="last").fit(X, y)
        assert upper.boosted_.value < 0.7 * upper.boosted_.history[0].value
        assert 0.85 < (y <= upper.predict(X)).mean() < 0.95


def test_regression_does_not_depend_on_units():
    """Targets a thousand times as large, and shifted: so are the predictions."""
    X, y = load_diabetes(return_X_y=True)
    for loss in ("absolute", "squared", fn.Quantile(0.9)):
        a = Regressor(loss, max_rounds=30).fit(X, y).predict(X)
        b = Regressor(loss, max_rounds=30).fit(X, 1024.0 * y + 4096.0).predict(X)
        np.testing.assert_allclose(b, 1024.0 * a + 4096.0, rtol=1e-6)
    assert Regressor("absolute", max_rounds=100).fit(X, y).score(X, y) > 0.4


def documents(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4))
    groups = np.repeat(np.arange(20), 10)
    grades = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [-0.5, 0.5, 1.0])
    return X, grades, rng.permutation(20)[groups]


def test_a_ranker_orders_the_documents_of_queries():
    X, y, groups = documents()
    made = Ranker(max_rounds=40).fit(X, y, groups=groups)
    scores = made.predict(X)
    right = total = 0
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        better = y[rows][:, None] > y[rows][None, :]
        total += better.sum()
        right += (better & (scores[rows][:, None] > scores[rows][None, :])).sum()
    assert made.score(X, y, groups) == pytest.approx(right / total, rel=1e-12)
    assert made.score(*documents(1)) > 0.8
    stopped = Ranker(
        n_iter_no_change=3, validation_fraction=0.2, random_state=0, max_rounds=500
    ).fit(X, y, groups)
    assert stopped.boosted_.status == "early stopping"


def test_a_ranker_in_cross_validation_gets_its_queries():
    X, y, groups = documents()
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = Ranker(max_rounds=10).set_fit_request(groups=True).set_score_request(groups=True)
        search = GridSearchCV(ranker, {"max_rounds": [1, 60]}, cv=GroupKFold(4))
        search.fit(X, y, groups=groups)
    assert search.best_params_ == {"max_rounds": 60}
    assert search.best_score_ > 0.75


def test_losses_and_learners_of_the_users_are_found_by_name():
    class Halved(fn.Squared):
        name = "halved"

    class Short(fn.Trees):
        name = "short"

    try:
        X, y = cancer()
        made = Regressor("halved", "short", max_rounds=3).fit(X, X[:, 0])
        assert (type(made.boosted_.loss), type(made.boosted_.learner)) == (Halved, Short)
        with pytest.raises(rb.InputError, match="loss must be one of"):
            Classifier("halved").fit(X, y)
    finally:
        del fn.LOSSES["halved"], fn.LEARNERS["short"]


def test_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    piped = make_pipeline(
        StandardScaler(), Classifier("hinge", DecisionTreeRegressor(max_depth=1), random_state=0)
    )
    assert cross_val_score(piped, X, y, cv=3).mean() > 0.88
    name = "functionalgradientclassifier__"
    grid = {
        f"{name}loss": ["logistic", fn.MulticlassHinge()],
        f"{name}learner__max_depth": [1, 2],
        f"{name}max_rounds": [1, 8],
    }
    search = GridSearchCV(piped, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_[f"{name}max_rounds"] == 8


def test_scikit_learn_is_loaded_with_the_estimators_only():
    code = (
        "import sys, relaxboost as rb; rb.functional.boost; rb.functional.Trees()\n"
        "print('sklearn' in sys.modules); rb.estimators.FunctionalGradientClassifier()\n"
        "print('sklearn' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\nTrue\n"
