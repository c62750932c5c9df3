"""Losses from cvxpy expressions, against those with closed forms; what is refused."""

from __future__ import annotations

import doctest

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost import functional as fn
from relaxboost.functional.losses import base, custom


def multiclass_hinge(F, y):
    label = np.eye(F.shape[1])[y]
    return cp.max(F + (1.0 - label), axis=1) - cp.sum(cp.multiply(label, F), axis=1)


TWINS = {
    "squared": (lambda F, y: cp.square(F - y) / 2.0, "regression", fn.Squared()),
    "absolute": (lambda F, y: cp.abs(F - y), "regression", fn.Absolute()),
    "huber": (lambda F, y: cp.huber(F - y, 0.7) / 2.0, "regression", fn.Huber(0.7)),
    "hinge": (lambda F, y: cp.pos(1.0 - cp.multiply(y, F)), "binary", fn.Hinge()),
    "logistic": (lambda F, y: cp.logistic(cp.multiply(-y, F)), "binary", fn.Logistic()),
    "several": (multiclass_hinge, "multiclass", fn.MulticlassHinge()),
}


@pytest.mark.parametrize("name", TWINS)
def test_twins(name, rng):
    expression, task, closed = TWINS[name]
    y = rng.normal(size=8) if task == "regression" else np.array(list("abcabcab"))
    if task == "binary":
        y = y == "a"
    weights = rng.integers(1, 4, 8)
    mine, theirs = fn.CustomLoss(expression, task).bind(y, weights), closed.bind(y, weights)
    for _ in range(50):
        F = rng.normal(size=theirs.zero().shape)
        value, slopes = mine.evaluate(F)
        other, others = theirs.evaluate(F)
        assert value == pytest.approx(other, rel=1e-12)
        assert slopes == pytest.approx(others, rel=1e-9, abs=1e-9)
    for share in (0.0, 0.5):
        Z = share * others
        assert mine.conjugate(Z) == pytest.approx(theirs.conjugate(Z), abs=1e-6)
    assert (mine.conjugate(1e3 * others) == np.inf) == (name != "squared")


def test_a_pointwise_of_ones_own(rng):
    y = rng.normal(size=9)
    loss = fn.CustomLoss(
        lambda F, y: cp.abs(F - y), pointwise=lambda F, y: (np.abs(F - y), np.sign(F - y))
    )
    F = rng.normal(size=9)
    value, slopes = loss.bind(y).evaluate(F)
    assert value == pytest.approx(np.abs(F - y).mean())
    assert (slopes == np.sign(F - y)).all()


@pytest.mark.parametrize(
    ("expression", "more", "message"),
    [
        (lambda F, y: cp.sum_squares(F - y), {}, r"loss of each example.*not their sum; got shape"),
        (lambda F, y: 3.0, {}, "a cvxpy expression of shape"),
        (lambda F, y: -cp.abs(F - y), {}, "is not convex by cvxpy's rules"),
        (lambda F, y: cp.abs(F - y) + cp.abs(F[0]), {}, "mixes examples"),
        (lambda F, y: -cp.log(F), {}, "is not finite at some F"),
        (
            lambda F, y: cp.abs(F - y),
            {"pointwise": lambda F, y: (np.abs(F - y) + 0.1, np.sign(F - y))},
            "pointwise of .* returns the loss 1.1, but the expression has the value 1",
        ),
        (
            lambda F, y: cp.abs(F - y),
            {"pointwise": lambda F, y: (np.abs(F - y), -np.sign(F - y))},
            "does not have the subgradient",
        ),
        (
            lambda F, y: cp.abs(F - y),
            {"pointwise": lambda F, y: (np.abs(F - y).mean(), np.sign(F - y))},
            r"losses of shape \(3,\)",
        ),
        (
            lambda F, y: np.maximum(F - y, 0),
            {},
            r"wrong\) failed on a cvxpy variable of shape \(3,\): RuntimeError: .*use cvxpy's func",
        ),
        (
            lambda F, y: cp.abs(F - y),
            {"pointwise": lambda F, y: np.abs(F - y)},
            r"must return a pair \(losses, subgradients\), .* but returned array\(\[0., 1., 2.\]\)",
        ),
    ],
)
def test_wrong_expressions(expression, more, message):
    with pytest.raises(rb.InputError, match=message):
        fn.CustomLoss(expression, name="wrong", **more).bind([0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        ((3,), {}, "needs functions"),
        ((cp.abs, "ranking"), {}, "task must be one of.*subclass of Loss"),
        ((cp.abs,), {"strong_convexity": 2.0, "smoothness": 1.0}, "strong_convexity <= smoothness"),
    ],
)
def test_wrong_arguments(arguments, more, message):
    with pytest.raises(rb.InputError, match=message):
        fn.CustomLoss(*arguments, **more)


@pytest.mark.parametrize("module", [base, custom], ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module):
    result = doctest.testmod(module)
    assert result.attempted >= 5
    assert result.failed == 0


def test_a_subclass_is_bracketed(rng):
    """The loss of the docstring of PointwiseLoss, which does not say what the domain of l* is."""
    names = {}
    runner = doctest.DocTestRunner()
    example = doctest.DocTestFinder().find(base.PointwiseLoss, globs=names)[0]
    runner.run(example, clear_globs=False)
    X = rng.normal(size=(20, 3))
    found = fn.optimum(example.globs["LogCosh"]().bind(X @ [1, 2, 3] + rng.normal(size=20)), X)
    assert 0.0 <= found.gap <= 1e-6 * found.upper
    assert found.attained


def test_gradients_that_cvxpy_cannot_compute_are_refused():
    # The exponentials in cvxpy's gradient of log_sum_exp overflow at 1000.
    loss = fn.CustomLoss(lambda F, y: cp.log_sum_exp(F, axis=1) - F[:, 0], "multiclass")
    risk = loss.bind([0, 1, 2])
    with pytest.raises(rb.InputError, match="no finite subgradient"):
        risk.evaluate(1000.0 * np.eye(3))
