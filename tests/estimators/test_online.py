"""Mirror descent as scikit-learn estimators."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import relaxboost as rb
from relaxboost import InputError
from relaxboost.functional import Quantile
from relaxboost.online import Constant, ExponentiatedGradient, HedgedDescent, MirrorDescent
from relaxboost.online.streams.bases import BaseFunctions, Experts, LinearBasis, StumpBasis

Classifier = rb.estimators.MirrorDescentClassifier
Regressor = rb.estimators.MirrorDescentRegressor


def stream(rows=300, size=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, size))
    return X, np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=rows) > 0.0, "up", "down")


def scaled(X, first):
    """Features as they are said to be scaled, and the constant."""
    low, high = first.min(axis=0), first.max(axis=0)
    H = np.clip((2.0 * X - low - high) / (high - low), -1.0, 1.0)
    return np.column_stack([H, np.ones(len(X))])


def test_the_estimator_is_the_learner():
    X, y = stream()
    made = Classifier("hinge", radius=4).fit(X, y)
    learner = MirrorDescent("hinge", rb.L1Ball(4), schedule="adaptive", bound=1 + 1e-9).start(7)
    H = scaled(X, X)
    learner.update(H, np.where(y == "up", 1.0, -1.0))
    np.testing.assert_allclose(made.learners_[0].average, learner.average, rtol=1e-6)
    np.testing.assert_allclose(made.decision_function(X), H @ learner.average, rtol=1e-5, atol=1e-6)
    assert made.learners_[0].regret_bound() == pytest.approx(learner.regret_bound(), rel=1e-6)
    last = clone(made).set_params(average=False).fit(X, y)
    np.testing.assert_allclose(last.decision_function(X), H @ learner.w, rtol=1e-5, atol=1e-6)
    assert made.score(X, y) > 0.9


def test_the_average_is_outdated_after_a_drift():
    """As the docstring says: then predict by the last weights, or without a radius."""
    X = np.random.default_rng(0).normal(size=(2000, 3))
    sides = np.where(np.arange(2000) < 1000, 1.0, -1.0)
    y = np.where(X[:, 0] * sides > 0.0, "up", "down")
    new, wanted = -X[:500], y[:500]
    right = [
        np.mean(Classifier(**options).fit(X, y).predict(new) == wanted)
        for options in ({"radius": 5}, {"radius": 5, "average": False}, {})
    ]
    assert right[0] < 0.3
    assert min(right[1:]) > 0.9


def test_several_classes_are_each_against_the_rest():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]
    made = Classifier(passes=20).fit(X, y)
    assert made.decision_function(X).shape == (150, 3)
    one = Classifier(passes=20).fit(X, y == "setosa")
    np.testing.assert_array_equal(made.decision_function(X)[:, 0], one.decision_function(X))
    assert made.score(X, y) > 0.93
    p = made.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (made.classes_[p.argmax(axis=1)] == made.predict(X)).all()


def test_probabilities_far_from_all_classes():
    """Each against the rest, all may say no so firmly that no double holds the probabilities."""
    X = np.eye(3)[np.arange(60) % 3]
    y = np.arange(60) % 3
    made = Classifier(radius=5000, passes=3, proxy="squared-l2").fit(X, y)
    for learner in made.learners_:
        learner.arrays()[2][:] = -1000.0
    assert made.decision_function(np.ones((2, 3))).max() == -4000.0
    np.testing.assert_allclose(made.predict_proba(np.ones((2, 3))), 1.0 / 3.0)


@pytest.mark.parametrize("radius", ["auto", 30])
@pytest.mark.parametrize("block", [1, 7, 300])
def test_blocks_are_their_rows_one_by_one(block, radius):
    """What `progressive` says was said before the row was learned; `fit` ends in the same state."""
    X, y = stream()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], 300)
    basis = LinearBasis(np.zeros(6), np.full(6, 3.0))
    whole = Classifier(basis=basis, radius=radius).fit(X, y, weight)
    parts, said = Classifier(basis=basis, radius=radius), []
    for start in range(0, 300, block):
        rows = slice(start, start + block)
        if weight[rows].any():
            said += parts.progressive(X[rows], y[rows], ["up", "down"], weight[rows]).tolist()
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    method = MirrorDescent("logistic", rb.L1Ball(30), schedule="adaptive", bound=1.0 + 1e-12)
    if radius == "auto":
        method = HedgedDescent("logistic", bound=math.sqrt(7.0) * (1.0 + 1e-12))
    learner = method.start(7)
    H = np.column_stack([np.clip(X / 3.0, -1.0, 1.0), np.ones(300)])
    want = learner.update(H, np.where(y == "up", 1.0, -1.0), weight) > 0.0
    if block == 1:
        want = want[weight > 0.0]
    np.testing.assert_array_equal(np.array(said) == "up", want)


def test_ranges_are_those_of_the_first_batch():
    X, y = stream()
    made = Classifier("hinge", radius=30).partial_fit(X[:50], y[:50], classes=["up", "down"])
    before = made.decision_function(X)
    np.testing.assert_allclose(before, scaled(X, X[:50]) @ made.learners_[0].average)
    made.partial_fit(100.0 * X[50:], y[50:])
    np.testing.assert_array_equal(made.basis_.centre, LinearBasis.spanning(X[:50]).centre)
    assert np.abs(made.decision_function(1e300 * X)).max() <= 30.0


class Signed(BaseFunctions):
    """The base functions (h, −h). Their simplex stands for the l1 ball (JNTV05, Remark 3)."""

    name = "signed"
    bound = 1.0

    def __init__(self, base):
        self.base = base

    def size(self, features):
        return 2 * self.base.size(features)

    def values(self, X):
        H = self.base.values(X)
        return np.hstack([H, -H])

    def parts(self):
        return (self.base.digest(),)


def test_base_functions_and_domains():
    X, y = stream()
    ball = Classifier("hinge", StumpBasis.at_quantiles(X), radius=5, intercept=False).fit(X, y)
    basis = Signed(StumpBasis.at_quantiles(X))
    simplex = Classifier("hinge", basis, radius=5, over="simplex", intercept=False).fit(X, y)
    np.testing.assert_allclose(ball.decision_function(X),
                               simplex.decision_function(X), rtol=1e-9, atol=1e-12)  # fmt: skip
    assert ball.score(X, y) > 0.85
    costs = np.sign(X)
    experts = Classifier(
        "hinge", Experts(1.0), over="simplex", radius=1, greedy=True, intercept=False,
        schedule=Constant(2.0), average=False,
    ).fit(costs, y)  # fmt: skip
    eg = ExponentiatedGradient("hinge", bound=1.0 + 1e-12, schedule=Constant(2.0)).start(6)
    eg.update(costs, np.where(y == "up", 1.0, -1.0))
    np.testing.assert_array_equal(experts.learners_[0].w, eg.w)


def test_regression_is_in_the_units_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    a = Regressor().fit(X, y).predict(X)
    b = Regressor().fit(X, 1024.0 * y + 4096.0).predict(X)
    np.testing.assert_allclose(b, 1024.0 * a + 4096.0, rtol=1e-9)
    assert Regressor().fit(X, y).score(X, y) > 0.4
    made = Regressor(Quantile(), targets=(0, 400)).fit(X, y)
    assert made.scale_ == (200.0, 200.0)
    beyond = Regressor(targets=(100, 200)).fit(X, y)
    at_the_ends = Regressor(targets=(100, 200)).fit(X, np.clip(y, 100, 200))
    np.testing.assert_array_equal(beyond.predict(X), at_the_ends.predict(X))
    said = Regressor(targets=(0, 400)).progressive(X, y)
    assert said[0] == 200.0
    assert np.abs(said - y).mean() < np.abs(200.0 - y).mean()


def test_frames_grids_and_pickles():
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    grid = GridSearchCV(Classifier(), {"radius": [1, 10], "proxy": ["entropy", "squared-l2"]}, cv=2)
    best = grid.fit(frame, y).best_estimator_
    assert list(best.feature_names_in_) == list("abcdef")
    again = pickle.loads(pickle.dumps(best))
    half, rest = frame[:100], frame[100:]
    for one in (best, again):
        one.partial_fit(half, y[:100]).partial_fit(rest, y[100:])
    np.testing.assert_array_equal(best.decision_function(frame), again.decision_function(frame))
    assert best.score(frame, y) >= LogisticRegression().fit(frame, y).score(frame, y) - 0.03


def test_the_default_needs_no_radius():
    """Where the weights turn, where the units of X and y change, and for several classes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (4000, 5))
    side = np.where(np.arange(4000) < 2000, X[:, 0] + X[:, 1], X[:, 0] - X[:, 1])
    y = side > 0.0
    wrong = [
        np.mean(Classifier(radius=radius).progressive(X, y, classes=[False, True]) != y)
        for radius in ("auto", 1, 30)
    ]
    assert wrong[0] < 0.05 < 0.15 < wrong[1]
    assert wrong[0] <= wrong[2]
    one, other = Classifier().fit(X, y), Classifier().fit(1024.0 * X, y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(1024.0 * X))
    for loss in ("squared", "absolute", "huber", Quantile()):
        made = Regressor(loss).fit(X, side)
        assert made.learners_[0].method.targets == 1.0
        said = Regressor(loss, targets=(-1, 1)).progressive(X, side)
        assert np.abs(said).max() <= 1.0 + 1e-12
    assert Regressor().fit(X[:2000], side[:2000]).score(X[:2000], side[:2000]) > 0.99
    with pytest.raises(InputError, match=r"has unbounded slopes; use .* radius=1"):
        Classifier("exponential").fit(X, y)
    for option in ({"proxy": "entropy"}, {"greedy": True}, {"schedule": "growing"}):
        with pytest.raises(
            InputError, match=r"needs a numeric radius, but .*; set radius=30, for example"
        ):
            Classifier(**option).fit(X, y)
        Classifier(radius=30, **option).fit(X[:10], y[:10])


def test_words_in_frames_are_hashed():
    rng = np.random.default_rng(0)
    city = rng.choice(["paris", "rome", "oslo"], 600)
    frame = pd.DataFrame({"city": city, "age": rng.normal(size=600).round(2), "on": city > "p"})
    y = np.where((city == "rome") == (frame.age > 0.0), "up", "down")
    frame["both"] = [f"{c}{a > 0.0}" for c, a in zip(city, frame.age, strict=True)]
    made = Classifier().partial_fit(frame[:300], y[:300], classes=["down", "up"])
    made.partial_fit(frame[300:], y[300:])
    assert made.score(frame, y) > 0.97
    assert list(made.feature_names_in_) == ["city", "age", "on", "both"]
    again = pickle.loads(pickle.dumps(made))
    category = frame.astype({"city": "category", "both": "string"})
    np.testing.assert_array_equal(again.decision_function(category), made.decision_function(frame))
    new = frame.assign(city="cairo")  # a word that no row had
    assert np.isfinite(made.partial_fit(new, y).decision_function(new)).all()
    learner = made.learners_[0]
    assert learner.size == 2 + 1024 + 1
    assert learner.method.bound == pytest.approx(math.sqrt(2 + 2 + 1))
    words = Classifier(basis="stumps").fit(frame[["city", "both"]], y)
    assert words.score(frame[["city", "both"]], y) > 0.97
    assert Regressor().fit(frame, (y == "up") * 1.0).score(frame, (y == "up") * 1.0) > 0.8
    for X, message in (
        (frame[["age", "city", "on", "both"]], "feature names"),
        (frame.assign(age="old"), "feature 'age' contains 'old'"),
        (frame.assign(age=np.nan), "Input X contains NaN at row 0, feature 0"),
        (frame.to_numpy(), "was trained on strings in column 'city'; pass X as a pandas frame"),
    ):
        with pytest.raises(ValueError, match=message):
            made.predict(X)


BAD = {
    "unseen label": (lambda X, y: (X, np.where(y == "up", "left", y)), "label 'left' is not among"),
    "negative weight": (lambda X, y: (X, y, [1, -1, 1, 1]), "sample_weight is -1 at row 1"),
    "nan": (
        lambda X, y: (np.where(X[2, 3] == X, np.nan, X), y),
        "contains NaN at row 2, feature 3",
    ),
    "width": (lambda X, y: (X[:, 1:], y), "X has 5 features, but .* expecting 6"),
    "other classes": (
        lambda X, y: (X, y, None, ["up", "left"]),
        "differ from the classes of the first call",
    ),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_rows_leave_the_state_untouched(case):
    change, message = BAD[case]
    X, y = stream()
    made = Classifier().partial_fit(X, y, classes=["up", "down"])
    before = made.learners_[0].state()
    rows, labels, weight, classes = (*change(X[:4], y[:4]), None, None)[:4]
    with pytest.raises(ValueError, match=message):
        made.partial_fit(rows, labels, classes, weight)
    after = made.learners_[0].state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


class Broken(Experts):
    """Base functions beyond their bound, from some row on."""

    def values(self, X):
        return np.where(X > 9.0, 5.0, 0.5)


def test_base_functions_beyond_their_bound_undo_the_block():
    X = np.zeros((5000, 2))
    X[4500] = 10.0
    y = np.arange(5000) % 2
    made = Classifier(basis=Broken(1.0), radius=30).partial_fit(X[:10], y[:10], classes=[0, 1])
    before = made.learners_[0].state()
    with pytest.raises(InputError, match="row 404 has size 5, beyond bound"):
        made.partial_fit(X, y)
    np.testing.assert_array_equal(made.learners_[0].w, before["w"])
    assert made.learners_[0].rounds == 10
