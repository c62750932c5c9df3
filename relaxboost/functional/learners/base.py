"""The interface of weak learners."""

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
"""The rules that select a hypothesis: "least-squares" takes the one with the multiple nearest to
the target (GB11, Eq. 4), and "inner" the one with the smallest angle to the target (Eq. 3)."""


class Hypothesis(ABC):
    """A hypothesis, which maps N rows to outputs of shape (N,), or (N, K) for K outputs."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return the output of the hypothesis for each row of X."""

    def with_leaves(self, values: Array) -> Hypothesis:
        """Return the hypothesis with the same splits and new leaf values.

        Row i of `values`, shape (leaves,) or (leaves, K), is the value of leaf i in `Pool.leaves`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method with_leaves; the hypotheses of a learner with "
            "leafy = True must define it"
        )

    def described(self) -> dict[str, Any]:
        """Return a JSON dictionary that describes the hypothesis exactly.

        A class with this method needs a class method ``restored(given, width)`` that rebuilds the
        hypothesis for rows of `width` features. If the values are damaged, `restored` raises a
        KeyError, TypeError or ValueError. It never executes code from them.
        """
        raise InputError(
            f"{type(self).__name__} cannot be saved as JSON; boost with RegressionStumps() or "
            "Trees()"
        )

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        """Add the weighted sum of the hypotheses' outputs for the rows of X to `total`, in place.

        All hypotheses are instances of exactly this class. Subclasses may add them in another
        order, which changes rounding errors.
        """
        for weight, h in zip(weights, hypotheses, strict=True):
            total += weight * check_outputs(h(X), total, h)

    @classmethod
    def contributions(cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any) -> Array:
        """Return the SHAP values of the weighted sum of hypotheses, shape (N, d + 1[, K]).

        The last column is the weighted mean output over the training rows.
        """
        raise InputError(f"{cls.__name__} has no SHAP values; use learner='trees'")

    def gains(self) -> tuple[Whole, Array] | None:
        """Return the feature of each split and its decrease in squared error.

        Hypotheses without splits return None.
        """
        return None


class Pool(ABC):
    """A weak learner that is prepared for one training set."""

    @abstractmethod
    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the hypothesis that fits a target best, and its training outputs.

        The argument `projection` of `WeakLearner.prepare` defines the best fit.

        Parameters
        ----------
        target : array of shape (N,) or (N, K)
            The gradient on the training rows, or its remainder after earlier projections.
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
            The leaf of each row, shape (N,), or (N, K) if each output has its own leaves; and the
            number of leaves.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method leaves; the pool of a learner with leafy = True "
            "must define it"
        )

    def allowed(self, h: Hypothesis, values: Array) -> Array:
        """Return leaf values near the given ones that satisfy constraints such as monotonicity.

        By default there are no constraints.
        """
        return values


class WeakLearner(ABC):
    """A hypothesis class with a search for the best hypothesis.

    Instances should be immutable. If a subclass defines a `name`, the estimators accept it.
    """

    name: ClassVar[str] = ""
    """The name by which estimators select the weak learner, or "" if it has none."""
    projections: tuple[str, ...] = PROJECTIONS
    """The supported rules of `PROJECTIONS`, with the default first."""
    leafy: bool = False
    """Whether the leaf values can be refitted. If True, define `Pool.leaves` and
    `Hypothesis.with_leaves`."""
    shrinkage: float = 0.1
    """The default step size of `Refitted` with this learner."""
    missing: bool = False
    """Whether the weak learner accepts nan as a missing value."""

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
        """Prepare the training rows for all rounds, and return the `Pool` that finds hypotheses.

        Parameters
        ----------
        X : array of shape (N, d)
            The features of the training rows.
        measure : Empirical
            The weights of the rows.
        outputs : int, optional
            The number K of outputs, or None for outputs of shape (N,).
        projection : {"least-squares", "inner"}
            How the pool selects a hypothesis; see `PROJECTIONS`.
        rng : Generator
            The generator for random learners.
        """


LEARNERS: Registry[WeakLearner] = Registry("learner")
"""The weak learners by name."""


def dense(X: Any) -> Array:
    """Return X as an array of doubles, or raise an InputError."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X must be a dense array of numbers, got {type(X).__name__} ({error})"
        ) from error


def training(X: Any, measure: Empirical) -> Array:
    """Return the training rows X as doubles, or raise an InputError if they are invalid."""
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

    Error messages number the columns from `first`.
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
    """Raise an InputError unless X has `width` columns.

    The argument `owner` begins the error message, for example "the tree was".
    """
    if np.ndim(X) != 2 or np.shape(X)[1] != width:
        raise InputError(f"{owner} trained on {width} features, got X of shape {np.shape(X)}")


def numbers(name: str, given: Any, *shape: int) -> Array:
    """Return a value from JSON as an array of doubles.

    A ValueError that names `name` is raised unless it contains finite numbers in the given shape.
    """
    # NumPy would turn strings and booleans into numbers.
    made = np.array(given, dtype=object)
    sound = made.shape == shape and all(type(x) in (int, float) for x in made.flat)
    if not sound or not np.isfinite(made.astype(np.float64)).all():
        what = f"finite numbers of shape {shape}" if shape else "a finite number"
        raise ValueError(f"{name} must be {what}, got {str(given)[:60]}")
    return made.astype(np.float64)


def check_outputs(h: Array, target: Array, learner: object) -> Array:
    """Check the predictions h of a learner, and return them as doubles."""
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
