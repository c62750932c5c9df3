"""What cannot be used is refused before work starts: the thing, the rule, the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import Lasso

import relaxboost as rb
from relaxboost import functional as fn
from tests.functional import flat

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
NUMBERS = X[:, 0] + 0.1 * RNG.normal(size=12)
SIGNS = np.where(NUMBERS > 0.0, 1, -1)
PLACES = np.arange(12) % 3
QUERIES = np.repeat([0, 1, 2], 4)
STUMPS = fn.RegressionStumps()


class _Angles(fn.RegressionStumps):
    """Stumps for one projection only."""

    projections = ("inner",)


class Unmeasured(fn.Risk):
    """A risk whose constructor sets nothing."""

    evaluate = expression = conjugate = None


class Always(fn.Hypothesis):
    """Has the first outputs at the first call, and the other outputs later."""

    def __init__(self, first, later):
        self.first, self.later = first, later

    def __call__(self, X):
        found, self.first = self.first[: len(X)], self.later
        return found

    def __repr__(self):
        return "Always()"


class Odd(fn.WeakLearner):
    """A learner without a pool, or with a pool that finds what the function `finds` returns."""

    def __init__(self, finds=None):
        self.finds = finds

    def prepare(self, X, measure, outputs, projection, rng):
        pool = type("OddPool", (fn.Pool,), {"nearest": lambda pool, target: self.finds(target)})
        return None if self.finds is None else pool()


def odd(outputs, later=None):
    """Return a learner of one hypothesis with these outputs."""
    h = Always(outputs, outputs if later is None else later)
    return Odd(lambda target: (h, outputs))


class Own(fn.PointwiseLoss):
    """A loss as somebody might write it at first."""

    def __init__(self, task=None, pointwise=None):
        self.given = pointwise
        if task is not None:
            self.task = task

    def pointwise(self, F, y):
        return self.given(F, y)

    def atoms(self, F, y):
        raise AssertionError("bind refuses this loss before anything else is asked of it")

    conjugates = atoms


def with_(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def boost(X=X, y=NUMBERS, loss=None, learner=STUMPS, **options):
    return flat.boost(X, y, loss or fn.Squared(), learner, **{"max_rounds": 3, **options})


def going_on(y=NUMBERS, loss=None, X=X, **options):
    return boost(X, y, loss, warm_start=boost(), **{"max_rounds": 5, **options})


def unseen():
    return boost(y=PLACES, loss=fn.MulticlassHinge(), validation=(X, PLACES + 1))


REFUSED = {
    # labels and targets
    "unseen label": (unseen, r"label 3 is not among the classes.*\[0, 1, 2\]; leave out the"),
    # features and weights
    "nan in X": (
        lambda: boost(X=with_(X, (2, 1), np.nan)),
        r"features must be finite, but row 2, column 1 has nan; impute the value or drop",
    ),
    "rows of X": (
        lambda: boost(X=X[:5]),
        r"X has shape \(5, 3\), but there are 12 targets; pass one row",
    ),
    "X of one column": (lambda: boost(X=X[:, 0]), r"X must have shape \(N, d\), got \(12,\)"),
    "nan weight": (
        lambda: boost(weights=with_(np.ones(12), 3, np.nan)),
        r"weights must be finite and >= 0, but example 3 has nan",
    ),
    "negative weight": (
        lambda: boost(weights=with_(np.ones(12), 3, -1.0)),
        r"weights must be finite and >= 0, but example 3 has -1",
    ),
    "no weight": (
        lambda: boost(weights=np.zeros(12)),
        r"weights must have a positive, finite sum; all of them are zero",
    ),
    "weights of infinite sum": (
        lambda: boost(weights=np.full(12, 1e308)),
        r"weights must have a positive, finite sum; their sum overflows",
    ),
    "shape of weights": (lambda: boost(weights=np.ones(3)), r"weights must have shape \(12,\)"),
    # weak learners
    "outputs of another shape": (
        lambda: boost(learner=odd(np.ones((12, 1)))),
        r"found Always\(\) with training outputs of shape \(12, 1\); .* its target, \(12,\)",
    ),
    "nan outputs": (
        lambda: boost(learner=odd(with_(np.ones(12), 1, np.nan))),
        r"found Always\(\) with training outputs that are not finite.*must return finite",
    ),
    "outputs that are not those returned": (
        lambda: boost(learner=Odd(lambda target: (fn.learners.finite.Column(0), target))),
        r"Column\(index=0\) of .* predicts outputs for the training rows that differ",
    ),
    "outputs of another shape later": (
        lambda: boost(learner=odd(np.ones(12), np.ones(5))).decision(X),
        r"Always\(\) predicted shape \(5,\) for targets of \(12,\)",
    ),
    "nan outputs on validation": (
        lambda: boost(
            learner=odd(np.ones(12), with_(np.ones(12), 1, np.nan)), validation=(X, NUMBERS)
        ),
        r"Always\(\) predicted values that are not finite",
    ),
    "no outputs": (
        lambda: boost(learner=Odd(lambda target: Always(target, target))),
        r"the weak learner found Always\(\); nearest must return a hypothesis and its training",
    ),
    "loss for a risk": (
        lambda: fn.boost(X, fn.Hinge(), STUMPS),
        r"risk must be a loss bound to data, such as Hinge\(\).bind\(y\), got Hinge\(\)",
    ),
    "name of a loss": (
        lambda: fn.boost(X, "hinge", STUMPS),
        r"risk must be a loss bound to data.*got 'hinge'",
    ),
    "risk without a measure": (
        lambda: fn.boost(X, Unmeasured(), STUMPS),
        r"Unmeasured must have the attribute `measure`; .* self.measure = Empirical\(N\)",
    ),
    "bracket without a measure": (
        lambda: fn.optimum(Unmeasured(), X),
        r"Unmeasured must have the attribute `measure`; in its",
    ),
    "regressor for a learner": (
        lambda: boost(learner=Lasso()),
        r"learner must be a WeakLearner.*Regressor\(...\) turns a",
    ),
    "no features": (lambda: boost(X=X[:, :0]), "X has no features; pass at least one column"),
    "nan for networks": (
        lambda: boost(X=with_(X, (2, 1), np.nan), learner=fn.Networks()),
        "row 2, column 1 has nan",
    ),
    "one bin": (lambda: fn.RegressionStumps(bins=1), "bins must be at least 2, or None to"),
    "bins and a half": (lambda: fn.ClassificationStumps(2.5), "bins must be a whole number"),
    "signs of three classes": (
        lambda: boost(y=PLACES, loss=fn.MulticlassHinge(), learner=fn.ClassificationStumps()),
        r"ClassificationStumps\(bins=255\) has one output, but the loss needs 3; use Regression",
    ),
    "hidden": (lambda: fn.Networks(hidden=0), "hidden must be a whole number >= 1"),
    "iterations": (lambda: fn.Networks(iterations=0), "iterations must be a whole number >= 1"),
    # steps
    "lambda": (
        lambda: boost(loss=fn.Absolute(), step="1/(lambda t)"),
        r'step=\'1/\(lambda t\)\' needs the strong convexity λ.*"1/sqrt\(t\)", which needs no',
    ),
    "Lambda": (
        lambda: boost(loss=fn.Absolute(), step="1/Lambda"),
        r'step="1/Lambda" needs the smoothness Λ, but this risk has none; use "1/sqrt\(t\)"',
    ),
    "unknown step": (lambda: boost(step="1/t"), r"step must be one of 1/Lambda, 2/\(lambda t\)"),
    "step 0": (lambda: boost(step=0.0), r"a step size must be positive, got 0.0"),
    "step True": (lambda: boost(step=True), r"step must be one of .*a number or a function of t"),
    "step function": (
        lambda: boost(step=lambda t: -1.0),
        r"the step function returned -1.0 at t = 1; steps must be finite and >= 0",
    ),
    "scale": (lambda: boost(scale=-1), r"scale must be a positive number, got -1"),
    # options
    "algorithm": (
        lambda: boost(algorithm="adaboost"),
        r"algorithm must be one of naive, repeated, residual, refitted.* got 'adaboost'",
    ),
    "class of an algorithm": (lambda: boost(algorithm=fn.Naive), r"algorithm must be one of"),
    "list for an algorithm": (lambda: boost(algorithm=["naive"]), r"algorithm must be one of"),
    "threshold": (lambda: fn.Repeated(threshold=1.0), r"threshold must lie in \(0, 1\), got 1.0"),
    "projection": (
        lambda: boost(projection="exact"),
        r"projection must be one of least-squares, inner, got 'exact'",
    ),
    "projection of the learner": (
        lambda: boost(
            y=PLACES,
            loss=fn.MulticlassHinge(),
            learner=_Angles(),
            projection="least-squares",
        ),
        r"does not support projection='least-squares'; use inner",
    ),
    "iterate": (lambda: boost(iterate="first"), r"iterate must be one of last, best, average"),
    "max_rounds": (lambda: boost(max_rounds=0), r"max_rounds must be a whole number >= 1, got 0"),
    "no rounds": (
        lambda: fn.boost(X, fn.Squared().bind(NUMBERS), STUMPS, stopping=0),
        r"stopping must be a whole number >= 1, got 0",
    ),
    "rounds and a half": (lambda: boost(max_rounds=2.5), r"max_rounds must be a whole number"),
    "max_learners": (lambda: boost(max_learners=0), r"max_learners must be a whole number >= 1"),
    "time_limit": (lambda: boost(time_limit=0), r"time_limit must be a positive number, got 0"),
    "patience": (lambda: boost(patience=3), r"patience needs validation=\(X, y\)"),
    # validation sets
    "width of validation": (
        lambda: boost(validation=(X[:, :2], NUMBERS)),
        r"validation has X of shape \(12, 2\), but the training set has shape \(12, 3\); .*same",
    ),
    "rows of validation": (
        lambda: boost(validation=(X[:5], NUMBERS)),
        r"validation has X of shape \(5, 3\) and 12 targets; pass one row for each",
    ),
    "validation without targets": (
        lambda: boost(validation=X),
        r"validation must be a tuple, \(X, y\), \(X, y, groups\)",
    ),
    # warm starts
    "other size": (
        lambda: going_on(NUMBERS[:6], X=X[:6]),
        r"warm_start made predictions of shape \(12,\), but these data need \(6,\); pass the loss",
    ),
    "other targets": (lambda: going_on(2 * NUMBERS), r"warm_start ended at a risk of .*pass the"),
    "other loss": (
        lambda: going_on(loss=fn.Absolute(), step=0.1),
        r"warm_start ended at a risk of .*or leave warm_start out",
    ),
    "other features": (lambda: going_on(X=X[:, ::-1]), r"warm_start predicts different values"),
    "fewer features": (lambda: going_on(X=X[:, :1]), r"the stump was trained on 3 features"),
    "other algorithm": (
        lambda: going_on(algorithm="naive"),
        r"warm_start was made by Residual\(\), not by Naive\(\); pass the algorithm of that run",
    ),
    "no run": (lambda: boost(warm_start=3), r"warm_start must be a result of boost, got 3"),
    "seed": (lambda: boost(seed="a"), r"seed must be a whole number >= 0, got 'a'"),
    "callback": (lambda: boost(callback=3), r"callback must be a function of the state .* got 3"),
    "words for weights": (lambda: boost(weights=["a"] * 12), r"weights must be an array"),
    "words for features": (
        lambda: boost(X=[["a"]] * 12),
        r"X must be a dense array of numbers, got list",
    ),
    "sparse": (lambda: boost(X=csr_matrix(X)), r"dense array of numbers, got csr_matrix"),
    "loss without data": (
        lambda: fn.optimum(fn.Absolute(), X),
        r"risk must be a loss bound to data, such as Hinge\(\).bind\(y\), got Absolute\(\)",
    ),
    # learners and losses of one's own
    "no pool": (lambda: boost(learner=Odd()), r"must return a Pool, but it returned None"),
    "no hypothesis": (
        lambda: boost(learner=Odd(lambda target: (len, target))),
        r"found <built-in function len>, which is not a Hypothesis; return an instance",
    ),
    "no task": (lambda: boost(loss=Own()), r"Own.* needs a class attribute `task`"),
    "losses only": (
        lambda: boost(loss=Own("regression", lambda F, y: F)),
        r"return a tuple \(losses, subgradients\), both of shape \(12,\), but returned ndarray",
    ),
    "mean of the losses": (
        lambda: boost(loss=Own("regression", lambda F, y: (F.mean(), F))),
        r"both of shape \(12,\), but returned \[\(\), \(12,\)\]",
    ),
    "slopes of nan": (
        lambda: boost(loss=Own("regression", lambda F, y: (F, F * np.nan))),
        r"losses or subgradients at F = 0 that are not finite",
    ),
    # predictions
    "width of new rows": (
        lambda: boost().predict(X[:, :2]),
        r"the stump was trained on 3 features, got X of shape \(12, 2\)",
    ),
    "no rows": (lambda: boost().predict(X[:0]), r"X needs at least one row"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_named(name):
    call, message = REFUSED[name]
    with pytest.raises(rb.InputError, match=message):
        call()
