"""The margin estimators: the game they solve, and what they tell."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import warnings
from functools import partial
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OutputCodeClassifier
from sklearn.tree import DecisionTreeClassifier

import relaxboost as rb
from relaxboost.certificates import check
from relaxboost.estimators import MarginBoostClassifier, margin_games
from relaxboost.estimators.margin_games import Examples

FEW = partial(rb.matrices.stumps, max_cuts=8)

StumpBoost = partial(MarginBoostClassifier, hypotheses="stumps")


def chosen_among(fractions, **options):
    """Return a classifier that chooses among the given fractions."""
    made = StumpBoost(**options)
    made.usual_fractions = fractions
    return made


def noisy(m=80, features=4, seed=0, flip=0.1):
    """Return examples of two classes, a share of them with the wrong label, and which."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, features))
    wrong = rng.random(m) < flip
    return X, np.where((X[:, 0] + X[:, 1] > 0) ^ wrong, "yes", "no"), wrong


def test_the_margin_is_that_of_the_game():
    """Against a general solver on the matrix written down, and against `solve`."""
    X, y, _ = noisy()
    fitted = StumpBoost(fraction=0.3, tol=1e-6, folds=None).fit(X, y)
    A = rb.matrices.stumps(X, np.where(y == "yes", 1, -1)).toarray()
    best = rb.reference(rb.Game(A, rb.Capped(fraction=0.3)))
    lower, upper = fitted.margin_
    assert upper - lower <= 1e-6
    assert lower <= best.upper
    assert best.lower <= upper
    margins = np.where(y == "yes", 1, -1) * fitted.votes(X)
    assert np.sort(margins)[:24].mean() == pytest.approx(lower, abs=1e-12)
    assert float(fitted.certificate_.lower) == pytest.approx(lower, abs=1e-9)
    assert sum(c for c, _ in fitted.hypotheses_) == pytest.approx(1.0)
    assert len(fitted.support_) == len(fitted.hypotheses_)
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert (fitted.feature_importances_ > 0.0).all()
    fitted.set_params(fraction=0.5).fit(X, y)
    assert float(fitted.certificate_.lower) == pytest.approx(fitted.margin_[0], abs=1e-9)
    assert fitted.margin_[0] > lower


@pytest.mark.parametrize("classes", [2, 3])
def test_saved_certificates_are_checked_alone(tmp_path, monkeypatch, classes):
    """By a copy of the checker in a process without the package: merged rows, missing values."""
    X, y = load_iris(return_X_y=True)
    X, y = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), y % classes
    weights = 1.0 + np.arange(150) % 3
    fitted = StumpBoost(fraction=0.4, folds=None).fit(X, y, weights)
    listed = (lambda x: x) if classes == 3 else lambda x: [x]
    brackets = listed(fitted.margin_)
    assert len(listed(fitted.certificate_)) == len(brackets) == (classes if classes > 2 else 1)
    checker = shutil.copy(Path(check.__file__), tmp_path)
    for proved, (lower, upper) in zip(listed(fitted.certificate_), brackets, strict=True):
        assert proved.check()
        assert lower - 1e-9 <= proved.lower <= proved.upper <= upper + 1e-9
        proved.save(tmp_path / "proof.json")
        command = [sys.executable, "-I", "-S", checker, tmp_path / "proof.json"]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        text = (tmp_path / "proof.json").read_text()
        (tmp_path / "proof.json").write_text(text.replace('"1,', '"-1,', 1))  # another label
        assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    monkeypatch.setattr(margin_games, "MAX_NUMBERS_IN_CERTIFICATE", 100)
    fitted.fit(X, y, weights)
    for proved, game in zip(listed(fitted.certificate_), listed(fitted.game_), strict=True):
        proved.save(tmp_path / "short.json")
        assert not rb.check_certificate(tmp_path / "short.json")
        assert rb.check_certificate(tmp_path / "short.json", game.matrix)
    for name in ("certificate_", "game_"):
        with pytest.raises(AttributeError, match=f"^{name} is not available after unpickling"):
            getattr(pickle.loads(pickle.dumps(fitted)), name)


def test_hardest_are_the_lowest_margins_and_find_wrong_labels():
    X, y, wrong = noisy(m=300, flip=0.08)
    fitted = StumpBoost(fraction=0.5, hypotheses=FEW, tol=1e-5, folds=None).fit(X, y)
    margins = np.where(y == "yes", 1, -1) * fitted.votes(X)
    hardest = fitted.hardest_
    assert 0 < hardest.size <= 150  # k = 150 weigh as much as the cap allows
    assert (np.diff(margins[hardest]) >= 0).all()
    rest = np.setdiff1d(np.arange(300), hardest)
    assert margins[hardest].max() < margins[rest].min()
    assert wrong[hardest[:10]].mean() >= 0.8


@pytest.mark.parametrize(
    "estimator",
    [
        StumpBoost(fraction=0.2),
        StumpBoost(fraction=0.2, class_weight="balanced"),
        StumpBoost("hard"),
        StumpBoost(rb.KLPenalty(0.5), tol=1e-2, folds=None),
        chosen_among((0.1, 0.5), hypotheses=FEW, folds=3),
    ],
)
def test_whole_weights_are_copies(estimator):
    X, y, _ = noisy(m=50)
    weights = np.random.default_rng(1).integers(0, 4, size=50)
    new = np.random.default_rng(2).normal(size=(30, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        heavy = estimator.fit(X, y, weights).decision_function(new)
        copied = estimator.fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert np.array_equal(copied.decision_function(new), heavy)
    assert set(copied.hardest_.tolist()) <= set(range(weights.sum()))


@pytest.mark.parametrize("f", [rb.Capped(fraction=0.3), rb.Capped(fraction=0.6), rb.KLPenalty(0.7)])
def test_weighted_games_have_the_value_of_copies(f):
    """By another solver, on the game of the copies written down."""
    X, y, _ = noisy(m=30)
    copies = np.random.default_rng(3).integers(1, 5, size=30)
    lower, upper = StumpBoost(f, hypotheses=FEW, tol=1e-6, folds=None).fit(X, y, copies).margin_
    A = FEW(X, np.where(y == "yes", 1, -1)).toarray().repeat(copies, axis=0)
    best = rb.reference(rb.Game(A, f))
    assert best.lower > 0.01
    assert best.lower - 1e-6 <= upper
    assert lower <= best.upper + 1e-6


def test_classes_of_other_sizes_have_half_of_the_weight_in_their_game():
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]
    fitted = StumpBoost(fraction=0.3, tol=1e-6, folds=None).fit(X, y)
    for k, (lower, upper) in enumerate(fitted.margin_):
        balanced = StumpBoost(fraction=0.3, tol=1e-6, folds=None, class_weight="balanced").fit(
            X, y == k
        )
        assert lower <= balanced.margin_[1] + 1e-9
        assert balanced.margin_[0] <= upper + 1e-9


def test_probabilities_never_fall_with_the_votes():
    """Held-out votes on noise may fall with the share of +1; then probabilities are constant."""
    constant = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(24, 2))
        fitted = StumpBoost(fraction=0.7, folds=4).fit(X, rng.random(24) < 0.5)
        P = fitted.predict_proba(X)[:, 1][np.argsort(fitted.votes(X))]
        assert (np.diff(P) >= -1e-12).all()
        constant += np.ptp(P) < 1e-12
    assert constant >= 1


def test_equal_rows_are_held_out_together():
    """Few rows, with both labels: those left in would else say the opposite of what is held out."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(400, 2)).astype(float)
    y = (rng.random(400) < np.where(X[:, 0] > 0.5, 0.8, 0.2)).astype(int)
    given, _ = Examples(X, y, np.ones(400)).merged()
    for test, rest in given._replace(once=False).folds(3):
        assert not {*map(tuple, given.Z[test])} & {*map(tuple, rest.Z)}
    fitted = StumpBoost(fraction=0.7).fit(X, y)
    assert np.array_equal(fitted.predict(X), X[:, 0] > 0.5)


def test_of_rows_that_come_often_with_several_labels_a_share_is_held_out():
    """Of 12 copies with both labels two thirds stay; rows of one label, and rare ones, do not."""
    X = np.repeat([[0.0], [1], [2]], [12, 12, 4], axis=0)
    y = np.array([0] * 3 + [1] * 9 + [1] * 12 + [0, 0, 1, 1])
    given, _ = Examples(X, y, np.ones(28)).merged()
    for test, rest in given.folds(3):
        left = {(z, c): s for (z,), c, s in zip(rest.Z, rest.codes, rest.weights, strict=True)}
        for (z,), c, s, out in zip(given.Z, given.codes, given.weights, test, strict=True):
            stays = (s if not out else 2 / 3 * s) if z == 0 or not out else 0.0
            assert left.get((z, c), 0.0) == pytest.approx(stays)


def test_probabilities_where_few_rows_differ():
    """Each row is told by its own share, also one that says the opposite of its neighbours."""
    rows, sizes, ones = np.arange(5.0)[:, None], [40, 60, 50, 30, 40], [4, 12, 35, 9, 36]
    y = np.concatenate([np.arange(n) < k for n, k in zip(sizes, ones, strict=True)]) * 1
    fitted = StumpBoost().fit(np.repeat(rows, sizes, axis=0), y)
    shares = np.array(ones) / sizes
    assert np.array_equal(fitted.predict(rows), shares > 0.5)
    assert fitted.predict_proba(rows)[:, 1] == pytest.approx(shares, abs=0.15)


def mixed(m=160, seed=0):
    """Return a frame with numbers, gaps, categories, bools and a constant, and labels."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, m)
    job = rng.choice(["cook", "smith", "clerk", "tailor"], m)
    y = np.where(np.isin(job, ["cook", "clerk"]) ^ (age > 55), "in", "out")
    gaps = rng.random(m) < np.where(y == "in", 0.4, 0.05)
    frame = pd.DataFrame(
        {
            "age": pd.array(np.where(gaps, np.nan, age.round(1)), dtype="Float64"),
            "job": job,
            "size": pd.Categorical(rng.choice(["s", "m"], m), categories=["s", "m", "xl"]),
            "free": rng.random(m) < 0.5,
            "same": 1,
        }
    )
    frame.loc[3, "job"] = None
    return frame, y


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = StumpBoost(fraction=0.1, folds=3).fit(X, y)
    assert fitted.score(X, y) > 0.95
    assert len(fitted.margin_) == len(fitted.hypotheses_) == len(fitted.support_) == 3
    assert fitted.margin_[0][0] > 0.99  # one stump parts it from the rest
    P = fitted.predict_proba(X)
    assert P.sum(axis=1) == pytest.approx(np.ones(150))
    assert (fitted.classes_[P.argmax(axis=1)] == fitted.predict(X)).all()
    assert len(fitted.certificate_) == 3
    assert 0 < fitted.hardest_.size < 60


def test_probabilities_are_calibrated_on_what_was_held_out():
    """Of noise nothing is known: the margins on the training set say otherwise."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(200, 5)), np.arange(200) % 4 == 0
    fitted = StumpBoost(fraction=0.5, folds=5).fit(X, y)
    P = fitted.predict_proba(rng.normal(size=(500, 5)))[:, 1]
    assert 0.15 < P.mean() < 0.35
    assert P.std() < 0.15
    X, y, _ = noisy(m=400, flip=0.2)
    fitted = StumpBoost(fraction=0.6, hypotheses=FEW).fit(X[:300], y[:300])
    P = fitted.predict_proba(X[300:])[:, 1]
    truth = y[300:] == "yes"
    brier = np.mean((P - truth) ** 2)
    assert brier < 0.23 < np.mean((truth.mean() - truth) ** 2)


def test_the_fraction_is_chosen_by_folds():
    X, y, _ = noisy(m=200, flip=0.2)
    chosen = chosen_among((0.05, 0.3, 0.6), hypotheses=FEW, folds=3).fit(X, y)
    errors = chosen.cv_errors_
    assert list(errors) == [0.6, 0.3, 0.05]
    assert errors[chosen.fraction_] == min(errors.values()) < errors[0.05]
    same = StumpBoost(fraction=chosen.fraction_, hypotheses=FEW, folds=3).fit(X, y)
    assert np.abs(same.margin_ - chosen.margin_).max() <= 2e-3
    X, y = X[:60, :2], y[:60]
    plain = StumpBoost(folds=2).fit(X, y)  # by default "auto"
    assert sorted(plain.cv_errors_) == list(MarginBoostClassifier.usual_fractions)


def test_a_given_fraction_is_an_attribute():
    X, y, _ = noisy()
    plain = partial(StumpBoost, hypotheses=FEW, folds=None)
    assert plain(fraction=0.3).fit(X, y).fraction_ == 0.3
    assert plain(rb.Capped(k=20)).fit(X, y).fraction_ == 0.25
    assert not hasattr(plain("hard").fit(X, y), "fraction_")
    twice = plain(fraction=0.3).fit(X, y).set_params(relaxation="hard").fit(X, y)
    assert not hasattr(twice, "fraction_")


def test_any_weak_learner_and_any_matrix():
    X, y, _ = noisy(m=120)
    trees = StumpBoost(
        hypotheses=DecisionTreeClassifier(max_depth=2, random_state=0), fraction=0.4, folds=None
    ).fit(X, y)
    assert trees.score(X, y) > 0.8
    assert trees.margin_[1] - trees.margin_[0] <= 1e-3
    assert trees.get_params()["hypotheses__max_depth"] == 2
    said = [words for _, words in trees.hypotheses_]
    assert "DecisionTreeClassifier" in said[0]
    assert len(set(said)) == len(said)
    assert float(trees.certificate_.lower) == pytest.approx(trees.margin_[0], abs=1e-9)
    with pytest.raises(AttributeError, match="stumps"):
        trees.feature_importances_  # noqa: B018
    coarse = StumpBoost(hypotheses=FEW, fraction=0.4, folds=None).fit(X, y)
    fine = StumpBoost(fraction=0.4, folds=None).fit(X, y)
    assert coarse.margin_[0] < fine.margin_[0] < trees.margin_[0]


@pytest.mark.parametrize("classes", [2, 3])
def test_stages_are_the_path_to_the_chosen_fraction(classes):
    X = np.random.default_rng(7).normal(size=(90, 2))
    y = np.digitize(X.sum(axis=1), [-0.5, 0.8][: classes - 1])
    fitted = chosen_among((0.2, 0.6, 0.9), folds=2).fit(X, y)
    stages = list(fitted.staged_decision_function(X))
    assert len(stages) == 1 + list(fitted.cv_errors_).index(fitted.fraction_) > 1
    assert np.array_equal(stages[-1], fitted.decision_function(X))
    labels = list(fitted.staged_predict(X))
    assert np.array_equal(labels[-1], fitted.predict(X))
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(list(again.staged_decision_function(X)), stages)
    soft = StumpBoost(fraction=0.9, folds=2).fit(X, y)
    assert len(list(soft.staged_predict(X))) == 1
    if classes == 2:  # the optimum is unique, and its votes are not
        worth = [np.sort((2 * y - 1) * fitted._votes(X, k))[:81].mean() for k in range(len(stages))]
        assert worth[0] == pytest.approx(soft.margin_[0], abs=2e-3)
        assert worth[-1] < worth[0] - 0.01


def shapley(model, x, background):
    """Return the values by all coalitions: those outside have the features of other rows."""
    d, out = x.size, np.zeros(x.size)
    for size in range(d):
        share = factorial(size) * factorial(d - size - 1) / factorial(d)
        for f in range(d):
            for inside in map(list, combinations(set(range(d)) - {f}, size)):
                without, with_it = background.copy(), background.copy()
                without[:, inside] = x[inside]
                with_it[:, [*inside, f]] = x[[*inside, f]]
                F = model.decision_function
                out[f] += share * (F(with_it).mean(axis=0) - F(without).mean(axis=0))
    return out


@pytest.mark.parametrize("folds", [None, 2])
def test_contributions_are_the_values_of_shapley(folds):
    X, y, _ = noisy(m=40, features=3)
    X[np.random.default_rng(6).random(X.shape) < 0.2] = np.nan
    fitted = StumpBoost(fraction=0.3, folds=folds).fit(X, y)
    told = fitted.contributions(X)
    assert told.shape == (40, 4)
    assert told.sum(axis=1) == pytest.approx(fitted.decision_function(X))
    assert told[:, -1] == pytest.approx(fitted.decision_function(X).mean())
    for x, row in zip(X[:4], told, strict=False):
        assert row[:-1] == pytest.approx(shapley(fitted, x, X), abs=1e-12)
    X, y = mixed(60)
    y = np.where(X["free"], y, "third")
    three = StumpBoost(fraction=0.5, folds=folds).fit(X, y)
    assert three.contributions(X).sum(axis=1) == pytest.approx(three.decision_function(X))


def test_processes_give_the_same_bits():
    X, y = load_iris(return_X_y=True)
    plain = StumpBoost(fraction=0.2, folds=2).fit(X, y)
    # Not forked: a child of a process with threads may wait for ever for a lock of theirs.
    with parallel_config("loky"):
        many = StumpBoost(fraction=0.2, folds=2, n_jobs=2).fit(X, y)
    get_reusable_executor().shutdown()
    assert np.array_equal(many.decision_function(X), plain.decision_function(X))
    assert np.array_equal(many.margin_, plain.margin_)
    assert np.array_equal(many.hardest_, plain.hardest_)
    assert many.certificate_[1].check()


def test_a_warm_start_goes_on_from_the_last_solution():
    X, y, _ = noisy(m=200, flip=0.2)
    cold = StumpBoost(fraction=0.45, folds=None).fit(X, y)
    warm = StumpBoost(fraction=0.5, folds=None, warm_start=True).fit(X, y)
    first = warm.game_
    warm.set_params(fraction=0.45).fit(X, y)
    assert warm.game_ != first
    assert max(cold.margin_[0], warm.margin_[0]) <= min(cold.margin_[1], warm.margin_[1])
    assert warm._solutions[0].rounds < cold._solutions[0].rounds
    warm.fit(X[:100], y[:100])  # other hypotheses: anew
    fresh = StumpBoost(fraction=0.45, folds=None).fit(X[:100], y[:100])
    assert np.array_equal(warm.votes(X), fresh.votes(X))


def test_output_codes_are_those_of_scikit_learn():
    """Frames with gaps and strings reach the games; what is nearest in log odds is the label."""
    X, y = mixed(120)
    y = np.where(X["free"], y, "third")
    soft = StumpBoost(fraction=0.3, folds=2)
    coded = OutputCodeClassifier(soft, code_size=2, random_state=0).fit(X, y)
    assert len(coded.estimators_) == 6
    assert coded.score(X, y) > 0.85
    F = np.array([e.decision_function(X) for e in coded.estimators_])
    best = np.argmax(coded.code_book_ @ F, axis=0)
    assert np.array_equal(coded.predict(X), coded.classes_[best])
    games = [e for e in coded.estimators_ if isinstance(e, MarginBoostClassifier)]
    assert len(games) >= 3  # random codes may name all classes alike
    assert games[0].certificate_.check()


def test_pickles_hold_no_training_data():
    X, y = make_classification(3000, 20, n_informative=5, random_state=0)
    fitted = StumpBoost(fraction=0.5, hypotheses=FEW, folds=None).fit(X, y)
    assert fitted.certificate_.lower > 0
    held = pickle.dumps(fitted)
    assert len(held) < 40_000 < X.nbytes / 10
    assert np.array_equal(pickle.loads(held).predict(X), fitted.predict(X))
