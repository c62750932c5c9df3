"""Pools of trees: the game over the l2 ball, votes of trees that have not seen an example."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import relaxboost as rb
from relaxboost.estimators import MarginBoostClassifier, margin_paths
from relaxboost.estimators.margin_games import Examples
from tests.estimators.test_margin import chosen_among


def quadrants(m=160, flip=0.0, seed=0):
    """Return examples whose label is the sign of a product, which no sum of stumps can learn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    return X, (X[:, 0] * X[:, 1] > 0) ^ (rng.random(m) < flip)


def test_the_margin_is_that_of_the_game_over_the_ball():
    """Against a general solver on the matrix written down."""
    X, y = quadrants(flip=0.1)
    fitted = MarginBoostClassifier(fraction=0.4, tol=1e-6).fit(X, y)
    lower, upper = fitted.margin_
    A = fitted.game_.matrix.toarray()
    best = rb.reference(rb.Game(A, rb.Capped(fraction=0.4), over=rb.L2Ball(A.shape[1] ** -0.5)))
    assert upper - lower <= 1e-6
    assert lower <= best.upper
    assert best.lower <= upper
    votes = fitted.votes(X)
    assert np.abs(votes).max() <= 1.0
    margins = np.sort(np.where(y, 1.0, -1.0) * votes)
    assert margins[: int(0.4 * len(y))].mean() == pytest.approx(lower, abs=1e-9)
    assert fitted.certificate_.check()
    assert fitted.certificate_.lower <= upper
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert fitted.feature_importances_[:2].sum() > 0.5
    with pytest.raises(AttributeError, match='fit with hypotheses="stumps"'):
        fitted.contributions(X)


def test_interactions_are_learned():
    X, y = quadrants(400)
    new, aims = quadrants(1000, seed=1)
    assert MarginBoostClassifier().fit(X, y).score(new, aims) > 0.85
    assert MarginBoostClassifier(hypotheses="stumps", fraction=0.5).fit(X, y).score(new, aims) < 0.7


def test_random_state_is_the_seed_of_trees_and_folds():
    X, y = quadrants(60, flip=0.1)
    given = MarginBoostClassifier(fraction=0.5, tol=0.1)
    assert given.random_state == 0  # fixed, so that equal data give equal games
    first, same, other = (
        clone(given).set_params(random_state=seed).fit(X, y).margin_.tolist() for seed in (0, 0, 1)
    )
    assert first == same != other
    drawn = [
        clone(given).set_params(random_state=np.random.RandomState(3)).fit(X, y).margin_.tolist()
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1] != first
    fitted = [
        MarginBoostClassifier(hypotheses="stumps", fraction=0.5, folds=2, random_state=seed)
        .fit(X, y)
        .predict_proba(X[:1])[0, 0]
        for seed in (0, 1)
    ]
    assert fitted[0] != fitted[1]
    with pytest.raises(rb.InputError, match=r"random_state must be None, .* got 'x'"):
        given.set_params(random_state="x").fit(X, y)


def test_votes_are_unique_to_the_tolerance():
    """Two points within ε of the value ρ are within 4 r √(ε / ρ): their midpoint is shorter."""
    X, y = quadrants(flip=0.1)
    loose = MarginBoostClassifier(fraction=0.5, tol=1e-2).fit(X, y)
    fine = MarginBoostClassifier(fraction=0.5, tol=1e-7).fit(X, y)
    farthest = np.abs(loose.votes(X) - fine.votes(X)).max()
    assert 0.0 < farthest <= 4.0 * np.sqrt(1e-2 / fine.margin_[0])


def test_trees_that_have_not_seen_an_example_do_not_know_its_label():
    """With labels by lot the votes of all trees fit them, and those of unseen examples do not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    codes = rng.integers(0, 2, 300)
    fitted = MarginBoostClassifier(fraction=0.5).fit(X, codes)
    s = fitted.game_.matrix
    unseen = s.unseen_votes(fitted.support_, np.ones(fitted.support_.size))
    assert np.mean((fitted.votes(X) > 0) == codes) > 0.95
    assert abs(np.mean((unseen > 0) == codes) - 0.5) < 0.1
    # The probabilities are calibrated by these votes, and know that nothing was learned.
    assert fitted.predict_proba(X).max() < 0.9


def test_categories_do_not_tell_the_labels_of_unseen_examples():
    """By 100 categories and labels by lot: an order by labels would let all trees know them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "zip": pd.Categorical(np.arange(200) % 100)})
    codes = rng.integers(0, 2, 200)
    fitted = MarginBoostClassifier(fraction=0.5).fit(frame, codes)
    unseen = fitted.game_.matrix.unseen_votes(fitted.support_, np.ones(fitted.support_.size))
    assert abs(np.mean((unseen > 0) == codes) - 0.5) < 0.12


def test_equal_rows_are_drawn_together():
    rows = np.array([[0.0], [0.0], [1.0], [2.0], [2.0]])
    codes = np.array([0, 1, 0, 0, 1])
    given = Examples(rows, codes, np.array([1.0, 2.0, 1.0, 9.0, 1.0]), once=True)
    # The value 2 has ten copies with both labels. It will occur again: copies are drawn.
    assert given.units().tolist() == [0, 0, 1, -1, -1]
    assert given._replace(once=False).units().tolist() == [0, 0, 1, 2, 2]
    # Factors of classes are no copies.
    assert given._replace(copies=np.ones(5)).units().tolist() == [0, 0, 1, 2, 2]


@pytest.mark.parametrize("chances", [[0.5], [0.9], [0.1, 0.9]])
def test_probabilities_of_rows_that_come_ten_to_fifty_times(chances):
    """Labels by coins: no row is believed more than its copies say, and none much less."""
    rng = np.random.default_rng(0)
    rows, copies = rng.normal(size=(20, 3)), rng.integers(10, 50, 20)
    p = rng.choice(chances, 20)
    y = rng.random(copies.sum()) < np.repeat(p, copies)
    q = MarginBoostClassifier(tol=1e-2).fit(np.repeat(rows, copies, axis=0), y).predict_proba(rows)
    truth = np.column_stack([1.0 - p, p])
    # The divergence of the shares among the copies, with one label of each kind added, is 0.02.
    assert np.mean(np.sum(truth * np.log(truth / q), axis=1)) < 0.02


@pytest.mark.parametrize("factors", [None, {False: 0.1, True: 0.7}])
def test_weights_are_copies_and_the_order_of_rows_is_nothing(factors):
    X, y = quadrants(60)
    copies = 1 + np.arange(60) % 13
    model = MarginBoostClassifier(class_weight=factors)
    weighted = clone(model).fit(X, y, copies)
    order = np.random.default_rng(1).permutation(copies.sum())
    repeated = clone(model).fit(np.repeat(X, copies, axis=0)[order], np.repeat(y, copies)[order])
    assert np.array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert weighted.cv_errors_ == repeated.cv_errors_


@pytest.mark.parametrize("fraction", ["auto", 0.5])
def test_the_order_of_rows_is_nothing_for_weights_that_are_not_whole(fraction):
    """Sums of a hundred such weights depend on the order in which they are added."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    rows, weights = rng.integers(0, 12, 1200), rng.random(1200)
    y = rows % 2 ^ (rng.random(1200) < 0.2)
    model = MarginBoostClassifier(fraction=fraction, tol=1e-2)
    first = clone(model).fit(X[rows], y, weights)
    last = clone(model).fit(X[rows[::-1]], y[::-1], weights[::-1])
    assert np.array_equal(first.decision_function(X), last.decision_function(X))


def test_values_of_any_size_missing_values_and_categories():
    X, y = quadrants(120)
    plain = MarginBoostClassifier(fraction=0.4).fit(X, y)
    # Trees cut ranks, so that a monotone map of the features changes nothing.
    huge = MarginBoostClassifier(fraction=0.4).fit(1e300 * np.tanh(X), y)
    assert huge.margin_ == pytest.approx(plain.margin_, abs=1e-12)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(y, "p", "q")})
    frame.loc[::7, "a"] = np.nan
    mixed = MarginBoostClassifier(fraction=0.4).fit(frame, y)
    assert mixed.score(frame, y) == 1.0
    assert np.argmax(mixed.feature_importances_) == 2
    # A value that was never missing in training counts as the median.
    gap = frame.head(3).assign(b=np.nan)
    filled = gap.assign(b=frame["b"].sort_values().iloc[59])
    assert np.array_equal(mixed.votes(gap), mixed.votes(filled))


def test_several_classes_and_other_relaxations():
    X, y = load_iris(return_X_y=True)
    three = MarginBoostClassifier().fit(X[::2], y[::2])
    assert three.score(X[1::2], y[1::2]) > 0.9
    assert np.allclose(three.predict_proba(X).sum(axis=1), 1.0)
    assert len(three.margin_) == 3
    again = pickle.loads(pickle.dumps(three))
    assert np.array_equal(again.predict_proba(X), three.predict_proba(X))
    soft = MarginBoostClassifier(rb.KLPenalty(0.5), tol=1e-2).fit(X[::2], y[::2] > 0)
    assert soft.score(X[1::2], y[1::2] > 0) > 0.9
    with pytest.raises(AttributeError, match=r"because folds=None leaves no .*again with folds=5"):
        MarginBoostClassifier(fraction=0.5, folds=None).fit(X, y).predict_proba(X)


@pytest.mark.parametrize("hypotheses", ["auto", "stumps"])
def test_the_time_limit_is_that_of_the_whole_fit(hypotheses, monkeypatch):
    """By a clock on which every game takes all of its time."""
    X, y = load_iris(return_X_y=True)
    clock = [0.0]
    times = []

    def slow(game, tol, start, time_limit):
        times.append(time_limit)
        clock[0] += time_limit
        return rb.solve(game, 0.1, start=start)

    def slow_next(game, tol, rtol, method, limits, relay):
        return slow(game, tol, relay.solution, limits.time_limit)

    monkeypatch.setattr(margin_paths, "solve", slow)
    monkeypatch.setattr(margin_paths, "solve_next", slow_next)
    monkeypatch.setattr("time.time", lambda: clock[0])
    MarginBoostClassifier(hypotheses=hypotheses, time_limit=60.0, folds=2).fit(X, y)
    assert 50.0 < clock[0] < 60.001
    assert max(times) < 60.0 / 3


def test_equal_votes_are_the_worst_answer_when_time_runs_out():
    X, y = quadrants(300)
    with pytest.warns(ConvergenceWarning, match="time_limit was reached"):
        fitted = MarginBoostClassifier(fraction=0.2, tol=1e-9, time_limit=1e-9).fit(X, y)
    assert fitted.margin_[0] > 0.0
    assert fitted.score(*quadrants(300, seed=1)) > 0.8


def test_a_single_wrong_hypothesis_that_was_chosen_is_said():
    X = np.arange(12.0)[:, None]
    y = np.array([0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1])
    chosen = chosen_among((0.9, 1.0), folds=2)
    with pytest.warns(ConvergenceWarning, match="a single hypothesis has all .*: lower fraction"):
        chosen.fit(X, y)
    given = MarginBoostClassifier(hypotheses="stumps", fraction=1.0, folds=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given.fit(X, y)
        chosen.fit(X, X[:, 0] > 5)


def test_verbose_shows_nothing_but_a_bar_on_a_terminal(capsys):
    X, y = quadrants(40)
    MarginBoostClassifier(verbose=1).fit(X, y)
    assert capsys.readouterr() == ("", "")
