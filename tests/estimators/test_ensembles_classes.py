"""Ensembles of several classes: the margin of one class against the rest."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import relaxboost as rb
from relaxboost.estimators import FunctionalGradientClassifier, MarginBoostClassifier
from tests.estimators.test_ensembles import ENSEMBLES, one_thread

assert one_thread  # which each test uses
PACKAGE = {
    "functional": FunctionalGradientClassifier(max_rounds=6),
    "margin": MarginBoostClassifier(fraction=0.5, folds=None),
}
KINDS = {k: e for k, e in ENSEMBLES.items() if "exponential" not in k} | PACKAGE


def three(m=60):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(m, 4)).round(3)
    return X, np.array(["a", "b", "c"])[(X[:, 0] > 0) * (1 + (X[:, 1] + X[:, 2] > 0))]


def scores(estimator, X, k):
    """Return what it says of class k against the rest, up to a factor, by its public methods."""
    label = estimator.classes_[k]
    if isinstance(estimator, AdaBoostClassifier):
        pairs = zip(estimator.estimators_, estimator.estimator_weights_, strict=False)
        return sum(c * np.where(e.predict(X) == label, 1.0, -1.0) for e, c in pairs)
    if isinstance(estimator, MarginBoostClassifier):
        return estimator.votes(X)[:, k]
    if getattr(estimator, "voting", "") == "hard":
        pairs = zip(estimator.estimators_, estimator.weights, strict=True)
        return sum(c * np.where(e.predict(X) == k, 1.0, -1.0) for e, c in pairs)
    if hasattr(estimator, "decision_function") and not isinstance(estimator, BaggingClassifier):
        return estimator.decision_function(X)[:, k]
    return 2.0 * estimator.predict_proba(X)[:, k] - 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_each_class_against_the_rest(kind):
    X, y = three(90)
    estimator = KINDS[kind].fit(X[:60], y[:60])
    for k, label in enumerate("abc"):
        report = rb.certify_ensemble(
            estimator, X[:60], y[:60], rb.Capped(fraction=0.3), target=label, tol=1e-3
        )
        assert f"'{label}' against the rest" in report.kind
        ours, own = report.decision(X, reoptimised=False), scores(estimator, X, k)
        assert ours / np.abs(ours).max() == pytest.approx(own / np.abs(own).max(), abs=1e-9)
        low, high = map(float, report.margin)
        worst = np.sort(np.where(y[:60] == label, 1.0, -1.0) * ours[:60])[:18]
        assert low <= high + 1e-15
        assert low == pytest.approx(worst.mean(), abs=1e-12)
        assert report.optimum.lower >= report.certificate.lower
        assert set(report.predict(X).tolist()) <= {False, True}


def test_pipelines_and_what_is_no_target():
    X, y = three()
    forest = ENSEMBLES["forest"]
    piped = make_pipeline(StandardScaler(), forest).fit(X, y)
    report = rb.certify_ensemble(piped, X, y, target="b", tol=1e-3)
    plain = rb.certify_ensemble(forest, StandardScaler().fit_transform(X), y, target="b", tol=1e-3)
    assert report.margin == plain.margin
    assert all(verdict.ok for verdict in report.check())
    with pytest.raises(rb.InputError, match=r"3 classes \(a, b, c\).*give target="):
        rb.certify_ensemble(forest, X, y)
    with pytest.raises(rb.InputError, match="no class 'd'; give target= one of 'a', 'b', 'c'"):
        rb.certify_ensemble(forest, X, y, target="d")
    with pytest.raises(rb.InputError, match=r"not fitted on \(zz\); it knows 'a' and 'b' and 'c'"):
        rb.certify_ensemble(forest, X, np.where(y == "c", "zz", y), target="b")
    for numbers in (y == "a", (y == "a") * 1):
        two = DecisionTreeClassifier(max_depth=1)
        ada = AdaBoostClassifier(two, n_estimators=2).fit(X, numbers)
        with pytest.raises(rb.InputError, match="has two; leave target out"):
            rb.certify_ensemble(ada, X, numbers, target=1)
    with pytest.raises(rb.InputError, match="has two; leave target out"):
        rb.certify_ensemble((X, np.ones(4)), None, y == "a", target="a")
