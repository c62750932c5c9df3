"""The margin estimators of numbers and of orders: the same game, bracketed and proved."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from functools import partial

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relaxboost as rb
from relaxboost.estimators import (
    MarginBoostClassifier,
    MarginBoostRanker,
    MarginBoostRegressor,
)

FEW = partial(rb.matrices.stumps, max_cuts=4)


def curve(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, 2.0 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=m) + 5.0


def queries(m=60, seed=0):
    """Return documents, grades 0 to 2, and queries of five."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=m), [-0.5, 0.5])
    return X, y, rng.permutation(np.repeat(np.arange(m // 5), 5))


@pytest.mark.parametrize("fraction", [0.25, 1.0, Fraction(1, 60)])
def test_residuals_are_the_least_there_are(fraction):
    """Against a program of its own, which knows no game: the mean of the largest residuals."""
    X, y = curve()
    fitted = MarginBoostRegressor(
        fraction=fraction, radius=0.8, tol=1e-6, hypotheses=FEW, folds=None
    ).fit(X, y)
    H = np.column_stack([FEW(X, np.ones(60)).toarray(), np.ones(60)])
    w, half, middle, k = cp.Variable(13), np.ptp(y) / 2, (y.max() + y.min()) / 2, 60 * fraction
    rest = cp.abs(y - middle - half * H @ w)
    least = cp.Minimize(cp.sum_largest(rest, float(k)) / float(k))
    best = cp.Problem(least, [cp.norm1(w) <= 0.8]).solve(solver="CLARABEL")
    lower, upper = fitted.error_
    assert lower <= best + 1e-6
    assert best - 1e-6 <= upper <= lower + 1e-6 * half * 1.01
    mine = np.sort(np.abs(y - fitted.predict(X)))[::-1]
    assert mine[: int(k)].mean() == pytest.approx(upper, abs=1e-9)
    proved = fitted.certificate_
    assert proved.check()
    assert -half * 1.8 * float(proved.lower) == pytest.approx(upper, abs=1e-9)
    # What is outside of the tube are the hardest, and at most k are.
    outside = np.abs(y - fitted.predict(X)) > fitted.epsilon_ + 1e-9
    assert set(np.flatnonzero(outside)) <= set(fitted.hardest_)
    assert outside.sum() <= k


def test_the_radius_is_chosen_and_explained():
    X, y = curve(90)
    X[::7, 2] = np.nan
    fitted = MarginBoostRegressor(folds=3, hypotheses=FEW).fit(X, y)
    errors = fitted.cv_errors_
    assert list(errors) == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert errors[fitted.radius_] == min(errors.values()) < 0.8 * errors[0.25]
    assert fitted.score(X, y) > 0.6
    stages = list(fitted.staged_predict(X))
    assert len(stages) == 1 + list(errors).index(fitted.radius_)
    assert np.array_equal(stages[-1], fitted.predict(X))
    told = fitted.contributions(X)
    assert told.sum(axis=1) == pytest.approx(fitted.predict(X))
    assert told[:, -1] == pytest.approx(fitted.predict(X).mean())
    assert len(pickle.dumps(fitted)) < 15_000
    assert fitted.feature_importances_.argmax() == 0
    level = MarginBoostRegressor(radius=1.0, folds=None).fit(X, np.full(90, 3.0))
    assert level.predict(X) == pytest.approx(np.full(90, 3.0), abs=1e-3)
    assert 0.0 <= level.error_[0] <= level.error_[1] < 1e-3  # no least residual is negative


@pytest.mark.parametrize("made", [MarginBoostRegressor(folds=3), MarginBoostRanker(folds=3)])
def test_whole_weights_are_copies(made):
    X, y, groups = queries()
    s = np.random.default_rng(1).integers(0, 3, size=60)
    more = {"groups": groups} if isinstance(made, MarginBoostRanker) else {}
    copies = {name: x.repeat(s) for name, x in more.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.set_params(hypotheses=FEW).fit(X, y, sample_weight=s, **more)
        heavy = made.predict(X)
        made.fit(X.repeat(s, axis=0), y.repeat(s), **copies)
    assert np.array_equal(made.predict(X), heavy)


def test_pairs_are_the_rows_of_a_game():
    X, y, groups = queries()
    fitted = MarginBoostRanker(fraction=0.3, hypotheses=FEW, tol=1e-6, folds=None).fit(X, y, groups)
    H = FEW(X, np.ones(60)).toarray()
    pairs = [(i, j) for i in range(60) for j in range(60) if groups[i] == groups[j] and y[i] > y[j]]
    A = np.array([(H[i] - H[j]) / 2 for i, j in pairs])
    best = rb.reference(rb.Game(A, rb.Capped(fraction=0.3)))
    lower, upper = fitted.margin_
    assert best.lower - 1e-9 <= upper <= lower + 1e-6 <= best.upper + 2e-6
    F = fitted.predict(X)
    margins = np.array([(F[i] - F[j]) / 2 for i, j in pairs])
    soft = rb.Game(A, rb.Capped(fraction=0.3)).relaxation.relaxed_margin(margins)[0]
    assert soft == pytest.approx(lower, abs=1e-9)
    assert fitted.certificate_.check()
    hardest = [tuple(pair) for pair in fitted.hardest_.tolist()]
    assert set(hardest) <= set(pairs)
    assert margins[pairs.index(hardest[0])] == margins.min()
    assert fitted.score(X, y, groups) == pytest.approx(np.mean(margins > 0.0))


def test_a_ranker_chooses_by_queries_held_out():
    X, y, groups = queries(100)
    fitted = MarginBoostRanker(folds=3, hypotheses=FEW).fit(X, y, groups)
    assert fitted.cv_errors_[fitted.fraction_] == min(fitted.cv_errors_.values()) < 0.25
    new, grades, fresh = queries(200, seed=1)
    assert fitted.score(new, grades, fresh) > 0.8
    assert fitted.contributions(new).sum(axis=1) == pytest.approx(fitted.predict(new))
    assert np.array_equal(list(fitted.staged_predict(new))[-1], fitted.predict(new))


def test_games_too_large_to_write_down_are_refused(monkeypatch):
    monkeypatch.setattr("relaxboost.estimators.margin_games.MAX_DENSE_ENTRIES", 1000)
    with pytest.raises(rb.InputError, match="120 x 194 entries, more than"):
        MarginBoostRegressor(radius=1.0, folds=None).fit(*curve())
    with pytest.raises(rb.InputError, match="entries, more than"):
        MarginBoostRanker(fraction=0.5, folds=None).fit(*queries())


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (MarginBoostClassifier(hypotheses=FEW, folds=2), {"fraction": [0.3, 0.5]}),
        (MarginBoostClassifier(hypotheses=FEW, folds=2), {"tol": [1e-3]}),
        (MarginBoostRegressor(hypotheses=FEW, folds=2), {"radius": ["auto", 1.0]}),
        (
            MarginBoostRanker(fraction=0.5, hypotheses=FEW, folds=2, tol=0.02),
            {"fraction": [0.5, 0.8]},
        ),
    ],
)
def test_pipelines_and_searches_over_frames_with_gaps_and_strings(estimator, options):
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"age": rng.normal(40, 9, 60), "job": rng.choice(["cook", "smith"], 60)})
    y = ((X["age"] > 40) ^ (X["job"] == "cook")).to_numpy().astype(int) + (X["age"] > 45)
    X.loc[::9, "age"] = np.nan
    X.loc[4, "job"] = None
    scale = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough")
    made = make_pipeline(scale.set_output(transform="pandas"), estimator)
    name = type(estimator).__name__.lower()
    search = GridSearchCV(made, {f"{name}__{key}": x for key, x in options.items()}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    assert np.isfinite(search.best_score_)
    assert search.best_estimator_.predict(X).shape == (60,)
