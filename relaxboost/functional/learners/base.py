"""The interface of weak learners, which search a class for the hypothesis nearest to a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.registry import Registry
from relaxboost.functional.measure import Empirical

PROJECTIONS = ("least-squares", "inner")
"""The rules that select a hypothesis for a target. "least-squares" selects the hypothesis with
the multiple nearest to the target (GB11, Eq. 4). "inner" selects the hypothesis with the smallest
angle to the target (Eq. 3)."""


class Hypothesis(ABC):
    """A hypothesis, which maps N rows of features to outputs of shape (N,) or (N, K).

    K is the number of outputs for each row.
    """

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return the output of the hypothesis for each row of X."""

    def with_leaves(self, values: Array) -> Hypothesis:
        """Return the hypothesis with the same splits and new leaf values.

        Row i of `values`, which has the shape (leaves,) or (leaves, K), is the value of the leaf to
        which `Pool.leaves` gives the index i.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method with_leaves; the hypotheses of a learner with "
            "leafy = True must define it"
        )

    def described(self) -> dict[str, Any]:
        """Return a dictionary for JSON that describes the hypothesis without loss of accuracy.

        A class with this method must also have a class method ``restored(given, width)`` that
        rebuilds the hypothesis from the dictionary, for rows of `width` features. `restored` raises
        a KeyError, TypeError or ValueError if the values are damaged, and never executes code from
        them.
        """
        raise InputError(
            f"{type(self).__name__} cannot be written as JSON, but stumps and trees can; boost "
            "with RegressionStumps() or Trees()"
        )

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        """Add the weighted sum of the hypotheses' outputs for the rows X to `total`, in place.

        Every hypothesis is an instance of exactly this class. A subclass may add the terms in a
        different order, which changes the rounding errors.
        """
        for weight, h in zip(weights, hypotheses, strict=True):
            total += weight * check_outputs(h(X), total, h)

    @classmethod
    def contributions(cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any) -> Array:
        """Return the SHAP values of the weighted sum of the hypotheses for the rows of X.

        The shape is (N, d + 1) for N rows of d features, or (N, d + 1, K) for K outputs. The last
        column contains the weighted mean output over the training rows.
        """
        raise InputError(f"{cls.__name__} has no SHAP values; use learner='trees'")

    def gains(self) -> tuple[Whole, Array] | None:
        """Return the feature of each split, and how much each split decreases the squared error.

        If hypotheses of this class have no splits, the result is None.
        """
        return None


class Pool(ABC):
    """A weak learner that is prepared to search its class of hypotheses on one training set."""

    @abstractmethod
    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the hypothesis that fits a target best, and its outputs on the training rows.

        The best hypothesis is the one with the multiple nearest to the target, or the one with the
        smallest angle to the target; see the argument `projection` of `WeakLearner.prepare`.

        Parameters
        ----------
        target : array of shape (N,) or (N, K)
            The values, on the training rows, of the function that is projected. This function is a
            gradient, or the remainder of a gradient after earlier projections.
        """

    def leaves(self, h: Hypothesis) -> tuple[Whole, int]:
        """Return the leaf index of each training row, and the number of leaves.

        Parameters
        ----------
        h : Hypothesis
            The latest result of `nearest`.

        Returns
        -------
        tuple
            The leaf of each row, of shape (N,), or (N, K) if each output has its own leaves; and
            the number of leaves.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method leaves; the pool of a learner with leafy = True "
            "must define it"
        )

    def allowed(self, h: Hypothesis, values: Array) -> Array:
        """Return leaf values that satisfy constraints such as monotonicity, near the given values.

        By default there are no constraints, and the given values are returned.
        """
        return values


class WeakLearner(ABC):
    """A class H of hypotheses, with an algorithm that searches the class. Instances should be
    immutable.

    If a subclass defines a `name`, the estimators accept this name for it.
    """

    name: ClassVar[str] = ""
    """The name by which estimators select the weak learner with its default parameters.

    It is "" if the learner has no such name.
    """
    projections: tuple[str, ...] = PROJECTIONS
    """The names of the projections that the weak learner supports, with the default first.

    A projection is a rule that selects a hypothesis for a target; see `PROJECTIONS`.
    """
    leafy: bool = False
    """Whether leaf values can be chosen freely. If True, the learner's pool defines `Pool.leaves`
    and its hypotheses define `Hypothesis.with_leaves`."""
    shrinkage: float = 0.1
    """The default step size that the algorithm `Refitted` uses with this learner."""
    missing: bool = False
    """Whether the weak learner accepts rows of features that contain nan for missing values."""

    def __init_subclass__(cls) -> None:
        LEARNERS.add(cls)

    def __repr__(self) -> str:
        given = [name for name in signature(type(self)).parameters if name in vars(self)]
        shown = ", ".join(f"{name}={vars(self)[name]!r}" for name in given)
        return f"{type(self).__name__}({shown})"

    @abstractmethod
    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        """Prepare the training rows X once for all rounds, and return the `Pool` that searches H.

        Parameters
        ----------
        X : array of shape (N, d)
            The features of the training rows.
        measure : Empirical
            The weights of the rows.
        outputs : int, optional
            The number K of outputs, or None for functions with values of shape (N,).
        projection : {"least-squares", "inner"}
            The rule by which the pool selects a hypothesis for a target. "least-squares" selects
            the hypothesis with the multiple nearest to the target, and "inner" the hypothesis with
            the smallest angle to the target.
        rng : Generator
            The random number generator for learners that make random choices.
        """


LEARNERS: Registry[WeakLearner] = Registry("learner")
"""The weak learners by name. A name selects the learner with its default parameters."""


def dense(X: Any) -> Array:
    """Return X as an array of doubles, or raise an InputError if X is not an array of numbers."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X must be a dense array of numbers, got {type(X).__name__} ({error})"
        ) from error


def training(X: Any, measure: Empirical) -> Array:
    """Return the training rows X as an array of finite doubles with at least one column.

    If X is not such an array, or does not have a row for each target, raise an InputError.
    """
    X = dense(X)
    if X.ndim != 2:
        raise InputError(f"X must have shape (N, d), got {X.shape}")
    check_finite(X)
    check_rows(X, measure)
    if X.shape[1] == 0:
        raise InputError("X has no features; pass at least one column")
    return X


def check_finite(X: Array, first: int = 0) -> None:
    """Raise an InputError if X contains nan or inf.

    In the error message, the first column of X has the number `first`.
    """
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise InputError(
            f"features must be finite, but row {row}, column {first + column} has "
            f"{X[row, column]}; impute the value or drop the row"
        )


def check_rows(X: Any, measure: Empirical) -> None:
    """Raise an InputError unless X has one row for each target."""
    shape = np.shape(X)
    if not shape or shape[0] != measure.size:
        raise InputError(
            f"X has shape {shape}, but there are {measure.size} targets; pass one row for each "
            "target"
        )


def check_width(X: Any, width: int, owner: str) -> None:
    """Raise an InputError unless X is a matrix with `width` columns, one for each feature.

    The argument `owner` is the beginning of the error message, such as "the tree was".
    """
    if np.ndim(X) != 2 or np.shape(X)[1] != width:
        raise InputError(f"{owner} trained on {width} features, got X of shape {np.shape(X)}")


def numbers(name: str, given: Any, *shape: int) -> Array:
    """Convert a value that was read from JSON to an array of doubles, and return this array.

    A ValueError is raised if the value does not consist of finite numbers in the given shape. Its
    message begins with `name`.
    """
    # NumPy would turn strings and booleans into numbers.
    made = np.array(given, dtype=object)
    sound = made.shape == shape and all(type(x) in (int, float) for x in made.flat)
    if not sound or not np.isfinite(made.astype(np.float64)).all():
        what = f"finite numbers of shape {shape}" if shape else "a finite number"
        raise ValueError(f"{name} must be {what}, got {str(given)[:60]}")
    return made.astype(np.float64)


def check_outputs(h: Array, target: Array, learner: object) -> Array:
    """Return the predictions h as an array of doubles.

    If they are not finite, or do not have the shape of the targets, raise an InputError.
    """
    h = np.asarray(h, dtype=np.float64)
    if h.shape != target.shape:
        raise InputError(
            f"{learner!r} predicted shape {h.shape} for targets of {target.shape}; its predictions "
            "must have the shape of the targets"
        )
    if not np.isfinite(h).all():
        raise InputError(
            f"{learner!r} predicted values that are not finite; it must predict finite numbers"
        )
    return h
