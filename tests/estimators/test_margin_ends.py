"""What the margin estimators refuse, and what they say of games that end early."""

from __future__ import annotations

import os
import signal
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.tree import DecisionTreeRegressor

import relaxboost as rb
from relaxboost.estimators import MarginBoostClassifier
from tests.estimators.test_margin import chosen_among, noisy

X, Y = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])

StumpBoost = partial(MarginBoostClassifier, hypotheses="stumps")


def test_a_cap_of_k_is_a_share_of_the_sum_of_weights():
    weights = [0.5, 0.25, 0.5, 0.25, 0.5, 0.5]
    share = StumpBoost(fraction=0.6, folds=None).fit(X, Y, weights).margin_
    soft = StumpBoost(rb.Capped(k=1.5), folds=None).fit(X, Y, weights).margin_
    assert soft.tolist() == share.tolist()


def test_nothing_learned_is_said():
    """Every second example contradicts the other."""
    X = np.arange(20.0).reshape(10, 2).repeat(2, axis=0)
    said = "^class 1: no weighted vote beats no vote: raise fraction, or"
    with pytest.warns(ConvergenceWarning, match=said) as found:
        StumpBoost(fraction=0.1, folds=None).fit(X, np.arange(20) % 2)
    assert found[0].filename == __file__


@pytest.mark.parametrize("is_first", [True, False])
def test_ctrl_c_while_trees_grow_changes_nothing(is_first, monkeypatch):
    """A real signal, in the middle of the pool: no new classes stand next to old votes."""
    X, y, _ = noisy()
    model = MarginBoostClassifier(fraction=0.5)
    if not is_first:
        model.fit(X[:, :3], y)
    before = dict(vars(model))
    grow = DecisionTreeRegressor.fit
    trees = []

    def pressed(tree, *data, **options):
        trees.append(tree)
        if len(trees) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return grow(tree, *data, **options)

    monkeypatch.setattr(DecisionTreeRegressor, "fit", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, np.where(y == "yes", 1, 0))
    assert len(trees) == 30
    assert vars(model) == before
    if is_first:
        with pytest.raises(NotFittedError):
            model.predict(X)


@pytest.mark.parametrize("game", [1, 3])
def test_ctrl_c_keeps_the_best_bracket(game):
    """A real signal, in the middle of the game itself, and of one that holds examples out."""
    X, y, _ = noisy(m=120, features=4)
    games, calls = [], []

    def impatient(X, y):
        matrix = rb.matrices.stumps(X, y)
        best = matrix.best
        games.append(matrix)

        def pressed(d):
            if len(games) == game:
                calls.append(0)
                if len(calls) == 4:
                    os.kill(os.getpid(), signal.SIGINT)
            return best(d)

        matrix.best = pressed
        return matrix

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        fitted = StumpBoost(fraction=0.1, hypotheses=impatient, tol=1e-6).fit(X, y)
    lower, upper = fitted.margin_
    exact = StumpBoost(fraction=0.1, folds=None, tol=1e-6).fit(X, y).margin_
    assert lower <= exact[1]
    assert exact[0] <= upper
    assert (upper - lower <= 1e-6) == (game == 3)
    assert not hasattr(fitted, "predict_proba")
    assert set(fitted.predict(X)) <= {"yes", "no"}


def test_a_given_fraction_keeps_no_choice_of_an_earlier_fit():
    X, y, _ = noisy()
    model = StumpBoost(folds=2, tol=1e-2).fit(X, y)
    assert model.cv_errors_[model.fraction_] < 0.5
    model.set_params(fraction=0.5).fit(X, y)
    assert model.fraction_ == 0.5
    assert not hasattr(model, "cv_errors_")


def test_a_fraction_from_unfinished_games_is_said():
    X, y, _ = noisy(m=200, features=6)
    with (
        pytest.warns(ConvergenceWarning, match="chosen from unfinished games; raise time_limit"),
        pytest.warns(ConvergenceWarning, match="time_limit was reached"),
    ):
        StumpBoost(tol=1e-9, time_limit=1e-3, folds=2).fit(X, y)


def test_ctrl_c_while_held_out_votes_are_made_is_said():
    """A real signal, after the game of the second fold is solved."""
    X, y, _ = noisy(features=2)
    games, pressed = [], []

    def impatient(X, y):
        matrix = rb.matrices.stumps(X, y)
        found, own = matrix.hypothesis, len(games)
        games.append(matrix)

        def hypothesis(j):
            if own == 1 and not pressed:
                pressed.append(j)
                os.kill(os.getpid(), signal.SIGINT)
            return found(j)

        matrix.hypothesis = hypothesis
        return matrix

    with (
        pytest.warns(ConvergenceWarning, match="chosen from unfinished games"),
        pytest.warns(ConvergenceWarning, match="the run was interrupted"),
        pytest.warns(ConvergenceWarning, match="interrupted, so that the votes"),
    ):
        fitted = chosen_among((0.2, 0.6), hypotheses=impatient).fit(X, y)
    assert pressed
    assert len(games) == 3
    assert not hasattr(fitted, "predict_proba")
    assert set(fitted.predict(X)) <= {"yes", "no"}
