"""What certify_ensemble refuses, each with the thing, the rule and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relaxboost as rb
from tests.estimators.test_ensembles import MEMBERS, fitted, random_votes, sample


class Other(ClassifierMixin, BaseEstimator):
    """A classifier that is no ensemble."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


AEG = {"age": "aeg"}


def refused(message, estimator, X, y, *args, **options):
    with pytest.raises(rb.InputError, match=message):
        rb.certify_ensemble(estimator, X, y, *args, **options)


def test_estimators_that_are_refused():
    X, y = sample()
    z = X[:, 0]
    refused(r"AdaBoostClassifier is not fitted.*call fit\(X, y\)", AdaBoostClassifier(), X, y)
    refused("needs a fitted AdaBoostClassifier, not the class", AdaBoostClassifier, X, y)
    for regressor in (AdaBoostRegressor(n_estimators=2), RandomForestRegressor(n_estimators=2)):
        refused("is a regressor.*needs a classifier with two classes", regressor.fit(X, z), X, y)
    three = np.array(["a", "b", "c"])[np.arange(60) % 3]
    for name in ("ada", "forest", "gradient", "hist"):
        refused(r"has 3 classes \(a, b, c\).*pass target=", fitted(name, X, three), X, y)
        said = r"has no class 'nope'; pass one of 'a', 'b', 'c' as target"
        refused(said, fitted(name, X, three), X, three, target="nope")
        refused(r"not fitted on \(d\)", fitted(name, X, three), X, ["d"] * 60, target="b")
    for labels in (three == "a", (three == "a") * 1):
        refused("has two classes; leave target out", fitted("ada", X, labels), X, labels, target=1)
    refused("has two classes; leave target out", (X, np.ones(4)), None, three == "a", target="a")
    alone = RandomForestClassifier(n_estimators=2).fit(X, np.ones(60))
    refused(r"has 1 class \(1.0\)", alone, X, np.ones(60))
    double = RandomForestClassifier(n_estimators=2).fit(X, np.column_stack([z > 0, z > 1]))
    refused("predicts several labels at a time", double, X, y)
    refused(
        r"does not accept Other, .*; it accepts AdaBoost.*\(H, weights\)", Other().fit(X, y), X, y
    )
    stack = StackingClassifier(MEMBERS, LogisticRegression(), cv=2).fit(X, y)
    refused("does not accept StackingClassifier", stack, X, y)
    refused(
        "does not accept LogisticRegression, which is not a supported",
        LogisticRegression().fit(X, y),
        X,
        y,
    )
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    refused("does not accept LogisticRegression", pipe, X, y)
    refused("AdaBoostClassifier is not fitted", make_pipeline(AdaBoostClassifier()), X, y)
    search = GridSearchCV(fitted("ada", X, y), {"n_estimators": [2]}, cv=2).fit(X, y)
    refused("pass its best_estimator_", search, X, y)
    refused("does not accept NoneType", None, X, y)
    refused("does not accept list", [1, 2], X, y)


def test_an_estimator_that_was_tampered_with_is_refused():
    X, y = sample()
    forest = fitted("forest", X, y)
    broken = fitted("gradient", X, y)
    broken.learning_rate = 0.5  # certified as it is now, since that is how it predicts now
    rb.certify_ensemble(broken, X, y)
    soft = fitted("voting, soft", X, y)
    soft.weights = [3, 1, -1]
    refused("sum to 0, but soft voting divides", soft, X, y)
    soft.weights = [3, 1, float("nan")]
    refused("a finite weight for each", soft, X, y)

    class Shifted(RandomForestClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X) ** 3

    forest.__class__ = Shifted
    refused("do not add up to its decision on X: the two differ by", forest, X, y)


def test_labels_and_examples_that_are_refused():
    X, y = sample()
    ada, forest = fitted("ada", X, y), fitted("forest", X, y)
    wrong = y.astype(object)
    wrong[4] = "maybe"
    refused(r"not fitted on \(maybe\); its labels are 'no' and 'yes'", ada, X, wrong)
    refused(r"not fitted on \(-1, 1\)", ada, X, np.where(y == "yes", 1, -1))
    refused("X has 60 rows, but y has 59 labels", ada, X, y[:-1])
    # The number of labels is wrong, and not the fraction that does not fit so few.
    refused("X has 60 rows, but y has 5 labels", ada, X, y[:5], rb.Capped(fraction=0.1))
    twice = pd.DataFrame(X, columns=["a", "b", "a", "c"])
    refused("X has 2 columns with the name 'a', but names must differ", ada, twice, y)
    refused("y must be a non-empty vector", ada, X, y[:, None])
    refused("X must have a row for each example", ada, X[0], y)
    refused("y is None; pass the label of each row of X", ada, X, None)
    refused("y is None; pass the label of each row of H", (X, np.ones(4)), None, None)
    refused("cannot predict on X: .*features.*[^.]; prepare X", ada, X[:, :3], y)
    frame = pd.DataFrame(X, columns=["age", "pay", "size", "rest"])
    named = make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=2)).fit(frame, y)
    said = "cannot predict on X, because column"
    refused(f"{said} 'aeg' was not in fit; did you mean age", named, frame.rename(columns=AEG), y)
    refused(f"{said} 'k' was not in fit; leave it out", named, frame.assign(k=1.0), y)
    refused(f"{said} 'pay' from fit is missing; add it", named, frame.drop(columns="pay"), y)
    missing = X.copy()
    missing[7, 2] = np.nan
    refused(
        "cannot predict on X, which is not finite at row 7, column 2 .impute or drop",
        fitted("gradient", X, y),
        missing,
        y,
    )
    missing[7, 2] = np.inf
    refused("not finite at row 7, column 2", forest, missing, y)
    refused("needs 1 <= k <= m, but this game has m = 60", ada, X, y, rb.Capped(80))
    refused("relaxation must be one of relaxboost's", ada, X, y, "hard")
    refused("tol must be a positive number", ada, X, y, tol=0)
    # One class of the two is enough: margins are there.
    ones = y == "yes"
    assert rb.certify_ensemble(ada, X[ones], y[ones]).game.m == ones.sum()


def test_labels_in_other_codes_than_in_training_are_warned_of():
    X, y = sample()
    ada, H = fitted("ada", X, y), random_votes(0)[0]
    swapped = np.where(y == "yes", "no", "yes")
    assert rb.certify_ensemble(ada, X, y).margin[0] > -1  # without a warning
    reversed_ones = ((ada, X, swapped), ((H, [1, 0, 0, 0, 0]), None, -H[:, 0]))
    for estimator, given, labels in reversed_ones:
        said = r"is wrong on \d+ of \d+ examples, where \+1 is .*another encoding.*pass y in that"
        with pytest.warns(UserWarning, match=said):
            report = rb.certify_ensemble(estimator, given, labels)
        assert all(report.check())
        assert report.margin[1] < 0


def test_a_warning_of_all_members_comes_once():
    X, y = sample()
    named = fitted("ada", pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="feature names") as caught:
        rb.certify_ensemble(named, X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_an_optimum_without_votes_warns_that_it_predicts_one_label():
    H, y = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]), ["b", "b", "a", "a"]
    report = rb.certify_ensemble((H, [1.0, 0.5]), None, y)
    said = "every example gets the same label; call predict with reoptimised=False"
    with pytest.warns(UserWarning, match=said):
        assert set(report.predict(H)) == {"a"}
    assert set(report.predict(H, reoptimised=False)) == {"a", "b"}  # without a warning
    with pytest.warns(UserWarning, match=said):
        rb.certify_ensemble((H[:, :1], [1.0]), None, y).predict(H[:, :1])


def test_predictions_and_weights_that_are_refused():
    H, weights, y = random_votes(0)
    y[:2] = 1, -1
    refused("this tuple has 3 entries; pass predictions and weights", (H, weights, y), None, y)
    refused("H must contain real predictions", (H[0], weights), None, y)
    refused("H must contain real predictions", ([[1], [1, 2]], weights), None, y)
    refused("H must contain real predictions", (H > 0, weights), None, y)
    refused(r"must have shape \(5,\), with one number for each column", (H, weights[:-1]), None, y)
    refused("weight 1 is nan or infinite", (H, [1, np.nan, 1, 1, 1]), None, y)
    refused("every weight is zero", (H, np.zeros(5)), None, y)
    refused("every hypothesis is zero on X", (0 * H, weights), None, y)
    refused("H has 12 rows, but y has 11 labels", (H, weights), None, y[:-1])
    refused("X has 11 rows, but H has 12", (H, weights), H[:-1], y)
    refused("labels have 1 value", (H, weights), None, np.ones(12))
    refused("labels have 3 values", (H, weights), None, np.arange(12) % 3)
    H[3, 1] = np.nan
    refused("prediction of h1 is nan at row 3", (H, weights), None, y)
    report = rb.certify_ensemble((np.nan_to_num(H), weights), None, y)
    with pytest.raises(rb.InputError, match=r"X has 4 columns, but this ensemble .* 5 hypotheses"):
        report.decision(H[:, :4])


def test_a_booster_without_votes_needs_another_fraction():
    X, y = np.arange(20.0).reshape(10, 2).repeat(2, axis=0), np.arange(20) % 2
    with pytest.warns(ConvergenceWarning):
        idle = rb.estimators.MarginBoostClassifier(fraction=0.3, folds=None).fit(X, y)
    refused(
        "has no votes, because no hypothesis increases the margin; use a larger fraction",
        idle,
        X,
        y,
    )
