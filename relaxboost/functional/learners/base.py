"""The interface of weak learners, which search a class H for the hypothesis nearest to a target."""

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
"""The rules that select a hypothesis for a target. "least-squares" selects the nearest one (GB11,
Eq. 4), and "inner" the one with the smallest angle to the target (Eq. 3)."""


class Hypothesis(ABC):
    """A hypothesis of H, which maps rows of features to outputs of shape (N,) or (N, K)."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return the hypothesis's output for each row of X."""

    def with_leaves(self, values: Array) -> Hypothesis:
        """Return the hypothesis with the same splits and new leaf values.

        Row i of `values`, shape (leaves,) or (leaves, K), is the value of leaf i of `Pool.leaves`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method with_leaves; the hypotheses of a learner with "
            "leafy = True must define it"
        )

    def described(self) -> dict[str, Any]:
        """Return the hypothesis as values for JSON, without loss of accuracy.

        A class with this method must also have a class method ``restored(given, width)`` that
        rebuilds the hypothesis for rows of `width` features. `restored` raises a KeyError,
        TypeError or ValueError if the values are damaged, and never executes code from them.
        """
        raise InputError(
            f"{type(self).__name__} cannot be written as JSON, but stumps and trees can; boost "
            "with RegressionStumps() or Trees()"
        )

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        """Add the weighted sum Σ w h(X) of hypotheses to `total`, in place.

        Every hypothesis is an instance of exactly this class. A subclass may add the terms in a
        different order, which changes the rounding errors.
        """
        for weight, h in zip(weights, hypotheses, strict=True):
            total += weight * check_outputs(h(X), total, h)

    @classmethod
    def contributions(cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any) -> Array:
        """Return the SHAP values of Σ w h(X), of shape (N, d + 1) or (N, d + 1, K)."""
        raise InputError(f"{cls.__name__} has no SHAP values; use learner='trees'")

    def gains(self) -> tuple[Whole, Array] | None:
        """Return the feature of each split, and the decrease in squared error of each split.

        If hypotheses of this class have no splits, return None.
        """
        return None


class Pool(ABC):
    """A weak learner that is prepared to search H on one training set."""

    @abstractmethod
    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the hypothesis that has the multiple nearest to a target, and its training
        outputs.

        Parameters
        ----------
        target : array of shape (N,) or (N, K)
            The values, on the training rows, of the function that is projected onto H. This is a
            gradient, or its remainder after earlier projections.
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
        """Return the leaf values, changed so that f satisfies constraints such as monotonicity.

        By default there are no constraints, and the values are not changed.
        """
        return values


class WeakLearner(ABC):
    """A class H of hypotheses, with an algorithm that searches H. Instances should be immutable.

    If a subclass defines a `name`, the estimators accept this name for it.
    """

    name: ClassVar[str] = ""
    """The name that selects the learner with its default parameters, or "" if there is none."""
    projections: tuple[str, ...] = PROJECTIONS
    """The supported projections, with the default projection first."""
    leafy: bool = False
    """Whether leaf values can be chosen freely. If True, the learner's pool defines `Pool.leaves`
    and its hypotheses define `Hypothesis.with_leaves`."""
    shrinkage: float = 0.1
    """The default step size that the algorithm `Refitted` uses with this learner."""
    missing: bool = False
    """Whether the rows may contain nan for missing values."""

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
            The random number generator for learners that make random choices.
        """


LEARNERS: Registry[WeakLearner] = Registry("learner")
"""The weak learners by name. A name selects the learner with its default parameters."""


def dense(X: Any) -> Array:
    """Return X as an array of doubles, or raise an InputError."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X must be a dense array of numbers, got {type(X).__name__} ({error})"
        ) from error


def training(X: Any, measure: Empirical) -> Array:
    """Return training rows as finite doubles of shape (N, d), d >= 1, or raise an InputError."""
    X = dense(X)
    if X.ndim != 2:
        raise InputError(f"X must have shape (N, d), got {X.shape}")
    check_finite(X)
    check_rows(X, measure)
    if X.shape[1] == 0:
        raise InputError("X has no features; pass at least one column")
    return X


def check_finite(X: Array, first: int = 0) -> None:
    """Raise an InputError for nan or inf in X, whose columns are counted from `first`."""
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
    """Raise an InputError unless X has `width` features. Its message begins with `owner`."""
    if np.ndim(X) != 2 or np.shape(X)[1] != width:
        raise InputError(f"{owner} trained on {width} features, got X of shape {np.shape(X)}")


def numbers(name: str, given: Any, *shape: int) -> Array:
    """Return finite numbers from JSON as an array of the given shape, or raise a ValueError."""
    # NumPy would turn strings and booleans into numbers.
    made = np.array(given, dtype=object)
    sound = made.shape == shape and all(type(x) in (int, float) for x in made.flat)
    if not sound or not np.isfinite(made.astype(np.float64)).all():
        what = f"finite numbers of shape {shape}" if shape else "a finite number"
        raise ValueError(f"{name} must be {what}, got {str(given)[:60]}")
    return made.astype(np.float64)


def check_outputs(h: Array, target: Array, learner: object) -> Array:
    """Return predictions as finite numbers in the target's shape, or raise an InputError."""
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
