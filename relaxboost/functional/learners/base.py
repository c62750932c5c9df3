"""The interface of weak learners, which search a class H for the function nearest to a target."""

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
"""The h nearest to the target (GB11, Eq. 4), and the h of smallest angle to the target (Eq. 3)."""


class Hypothesis(ABC):
    """A function of the class H. It maps rows of features to outputs of shape (N,) or (N, K)."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return the outputs for rows X."""

    def with_leaves(self, values: Array) -> Hypothesis:
        """Return the function with the same splits and other values of the leaves.

        Parameters
        ----------
        values : array of shape (leaves,) or (leaves, K)
            Row i is for leaf i of `Pool.leaves`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no with_leaves; a learner with leafy = True needs it"
        )

    def described(self) -> dict[str, Any]:
        """Return the function as values for JSON, without loss of accuracy.

        A class with this method also has a class method ``restored(given, width)``, which returns
        the function for rows of `width` features. It raises a KeyError, TypeError or ValueError for
        damaged values, and never executes code that they contain.
        """
        raise InputError(
            f"{type(self).__name__} cannot be written as JSON, as stumps and trees can; boost with "
            "RegressionStumps() or Trees()"
        )

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        """Add Σ w h(X) over hypotheses of this class to `total`, in place.

        The class of each hypothesis is exactly this class. A subclass may add the terms in another
        order, with other rounding errors.
        """
        for weight, h in zip(weights, hypotheses, strict=True):
            total += weight * check_outputs(h(X), total, h)

    @classmethod
    def contributions(cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any) -> Array:
        """Return the SHAP values of Σ w h(X), of shape (N, d + 1) or (N, d + 1, K)."""
        raise InputError(f"{cls.__name__} has no SHAP values; use learner='trees'")

    def gains(self) -> tuple[Whole, Array] | None:
        """Return the feature of each split and its decrease of the squared error, or None."""
        return None


class Pool(ABC):
    """The interface of a pool: a weak learner with one training set, prepared for searches of H."""

    @abstractmethod
    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the hypothesis whose multiple is nearest to a target, and its training outputs.

        Parameters
        ----------
        target : array of shape (N,) or (N, K)
            The function to project: a gradient, or its remainder after earlier projections.
        """

    def leaves(self, h: Hypothesis) -> tuple[Whole, int]:
        """Return the leaf of each training row in the latest hypothesis, and the number of leaves.

        Parameters
        ----------
        h : Hypothesis
            The latest result of `nearest`.

        Returns
        -------
        tuple
            The leaves, of shape (N,), or (N, K) if each output has its own leaves; their number.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no leaves; a learner with leafy = True needs them"
        )

    def allowed(self, h: Hypothesis, values: Array) -> Array:
        """Return leaf values that satisfy the constraints on f; by default the given values."""
        return values


class WeakLearner(ABC):
    """A hypothesis class H with an algorithm that searches it. A subclass should be immutable.

    If a subclass defines a `name`, the estimators accept this name for it.
    """

    name: ClassVar[str] = ""
    """The name of the learner with its default parameters, or ""."""
    projections: tuple[str, ...] = PROJECTIONS
    """The supported projections, the default first."""
    leafy: bool = False
    """Whether leaves may have any values. If True, `Pool.leaves` and `Hypothesis.with_leaves` are
    defined.
    """
    shrinkage: float = 0.1
    """The default step of `Refitted`."""
    missing: bool = False
    """Whether the rows may contain nan, which means a missing value."""

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
        """Prepare the training rows X once for all rounds, and return the pool that searches H.

        Parameters
        ----------
        X : array of shape (N, d)
        measure : Empirical
            The weights of the rows.
        outputs : int, optional
            The number K of outputs, or None for functions with values of shape (N,).
        projection : {"least-squares", "inner"}
        rng : Generator
            The random numbers of learners that make random choices.
        """


LEARNERS: Registry[WeakLearner] = Registry("learner")
"""The weak learners by name. A name means the learner with its default parameters."""


def dense(X: Any) -> Array:
    """Return X as doubles, or raise an InputError."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X must be a dense array of numbers, got {type(X).__name__} ({error})"
        ) from error


def features(X: Any) -> Array:
    """Return X as finite doubles of shape (N, d), or raise an InputError."""
    X = dense(X)
    if X.ndim != 2:
        raise InputError(f"X needs shape (N, d), got {X.shape}")
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"features must be finite; row {row}, column {column} has {X[row, column]}; "
            "impute or drop it"
        )
    return X


def training(X: Any, measure: Empirical) -> Array:
    """Return training rows as finite doubles of shape (N, d), d >= 1, or raise an InputError."""
    X = features(X)
    check_rows(X, measure)
    if X.shape[1] == 0:
        raise InputError("X has no features; give it at least one column")
    return X


def check_rows(X: Any, measure: Empirical) -> None:
    """Raise an InputError unless X has one row for each target."""
    shape = np.shape(X)
    if not shape or shape[0] != measure.size:
        raise InputError(
            f"X has shape {shape}, and there are {measure.size} targets; give a row for each target"
        )


def check_width(X: Any, width: int, owner: str) -> None:
    """Raise an InputError unless X has `width` features. `owner` begins the message, as in "the
    tree was".
    """
    if np.ndim(X) != 2 or np.shape(X)[1] != width:
        raise InputError(f"{owner} trained on {width} features, got X of shape {np.shape(X)}")


def numbers(name: str, given: Any, *shape: int) -> Array:
    """Return finite numbers from JSON as an array of this shape, or raise a ValueError."""
    # NumPy would turn strings and booleans into numbers.
    made = np.array(given, dtype=object)
    sound = made.shape == shape and all(type(x) in (int, float) for x in made.flat)
    if not sound or not np.isfinite(made.astype(np.float64)).all():
        what = f"finite numbers of shape {shape}" if shape else "a finite number"
        raise ValueError(f"{name} must be {what}, got {str(given)[:60]}")
    return made.astype(np.float64)


def check_outputs(h: Array, target: Array, learner: object) -> Array:
    """Return the predictions of a learner, or raise an InputError if shape or values are wrong."""
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
