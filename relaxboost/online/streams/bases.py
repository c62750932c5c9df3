"""Base functions h_1(x), ..., h_M(x) of the features x, which a learner combines linearly."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count

WITH_INTERCEPT = " with intercept"
"""The suffix in the name of a set of base functions that includes an intercept."""
INTERCEPT = "(intercept)"
"""The name of the constant base function."""


class BaseFunctions(ABC):
    """A set of M base functions, each a fixed function from features to numbers.

    Subclasses define `name` and `values`. If M is not the number of features, they also define
    `size`. If constructor parameters change the values, they also define `parts`, which returns
    these parameters. Objects should be picklable.
    """

    name: ClassVar[str]
    """The name of the base functions in saved learners. Keep it if the class is renamed."""
    bound: float | None = None
    """An upper bound K on the absolute values of all base functions, or None if unknown."""
    features: int | None = None
    """The required number of features, or None for any number."""

    def size(self, features: int) -> int:
        """Return the number M of base functions for a given number of features."""
        return features

    @abstractmethod
    def values(self, X: Array) -> Array:
        """Return the base function values, with a row per example and a column per function."""

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the base functions for given feature names."""
        return [f"h{j}" for j in range(self.size(len(columns)))]

    def parts(self) -> Sequence[Any]:
        """Return the parameters that determine the values.

        They are arrays, numbers, strings, or lists of these.
        """
        return ()

    def digest(self) -> str:
        """Return a key by which saved learners recognise these base functions.

        It depends on the name and the parameters, and is the same in all processes.
        """
        sha = hashlib.sha256()
        for text in _encoded(tuple(self.parts())):
            sha.update(text)
        return f"{self.name} {sha.hexdigest()[:16]}"

    def bound_in(self, norm: str, size: int) -> float:
        """Return a bound on the dual norm of the base function values h.

        For values in [−K, K], the bound is K for the norm "l1", and K √size for the norm "l2".

        Raises
        ------
        InputError
            If K is unknown.
        """
        if self.bound is None:
            raise InputError(
                f"the base functions {self.name!r} have no known bound; pass bound=, an upper "
                "bound on their values"
            )
        return self.bound * (math.sqrt(size) if norm == "l2" else 1.0)


class Experts(BaseFunctions):
    """The features themselves as base functions, such as the predictions or costs of experts.

    Parameters
    ----------
    bound : float, optional
        An upper bound on the absolute feature values, if known.
    """

    name = "experts"

    def __init__(self, bound: float | None = None) -> None:
        self.bound = bound

    def values(self, X: Array) -> Array:
        return X

    def names(self, columns: Sequence[str]) -> list[str]:
        return list(columns)


class LinearBasis(BaseFunctions):
    """The scaled features (x_j − centre_j)/scale_j, clipped to [−1, 1], as base functions.

    Parameters
    ----------
    centre, scale : arrays of shape (features,)
        The finite centre and the positive scale of each feature.
    """

    name = "linear"
    bound = 1.0

    def __init__(self, centre: Any, scale: Any) -> None:
        self.centre: Vector = np.atleast_1d(doubles("centre", centre)).copy()
        self.scale: Vector = np.atleast_1d(doubles("scale", scale)).copy()
        self.features = self.centre.size
        fits = self.centre.shape == self.scale.shape == (self.features,)
        if not fits or not np.isfinite(self.centre).all() or not (self.scale > 0.0).all():
            raise InputError("LinearBasis needs a finite centre and a scale > 0 for each feature")

    @classmethod
    def spanning(cls, X: Any) -> LinearBasis:
        """Return the base functions that scale the feature ranges in a sample to [−1, 1]."""
        X = _sample(X)
        low = X.min(axis=0)
        high = X.max(axis=0)
        # Halves cannot overflow. A constant feature is mapped to 0.
        half = high / 2.0 - low / 2.0
        return cls(low + half, np.where(half > 0.0, half, 1.0))

    def values(self, X: Array) -> Array:
        H = X - self.centre
        # In-place division needs no new memory, which would take longer than the arithmetic.
        H /= self.scale
        return np.clip(H, -1.0, 1.0, out=H)

    def names(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    def parts(self) -> Sequence[Any]:
        return self.centre, self.scale


class StumpBasis(BaseFunctions):
    """Decision stumps as base functions: +1 if a feature is above a threshold, and −1 otherwise.

    Parameters
    ----------
    thresholds : sequence of arrays
        The thresholds of each feature. A feature may have none.
    """

    name = "stumps"
    bound = 1.0

    def __init__(self, thresholds: Sequence[Any]) -> None:
        # The thresholds are sorted and duplicates are removed, so that equal stumps give the same
        # key.
        cuts = [np.unique(doubles("thresholds", given)) for given in thresholds]
        self.thresholds: Vector = np.concatenate([np.empty(0), *cuts])
        self.feature = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
        self.features = len(cuts)
        if not self.thresholds.size or not np.isfinite(self.thresholds).all():
            raise InputError(
                "StumpBasis needs at least one threshold, and all thresholds must be finite"
            )

    @classmethod
    def at_quantiles(cls, X: Any, cuts: int = 10) -> StumpBasis:
        """Return stumps with `cuts` thresholds for each feature, at quantiles of a sample.

        Equal thresholds are merged, and thresholds with no larger value are left out.

        Raises
        ------
        InputError
            If every feature is constant.
        """
        X = _sample(X)
        # Each threshold separates examples of the sample, because the method "lower" returns values
        # of the sample.
        shares = np.arange(1, count("cuts", cuts) + 1) / (cuts + 1.0)
        levels = np.quantile(X, shares, axis=0, method="lower")
        return cls([np.unique(q[q < x.max()]) for q, x in zip(levels.T, X.T, strict=True)])

    def size(self, features: int) -> int:
        return self.thresholds.size

    def values(self, X: Array) -> Array:
        return np.where(X[:, self.feature] > self.thresholds, 1.0, -1.0)

    def names(self, columns: Sequence[str]) -> list[str]:
        pairs = zip(self.feature.tolist(), self.thresholds.tolist(), strict=True)
        return [f"{columns[f]} > {cut:g}" for f, cut in pairs]

    def parts(self) -> Sequence[Any]:
        return self.features, self.feature.astype(np.int64), self.thresholds


class WithIntercept(BaseFunctions):
    """Base functions with a known bound K, followed by the constant K.

    The intercept is K times the weight of the constant, and is learned as fast as the other
    weights.

    Parameters
    ----------
    base : BaseFunctions
        The other base functions.
    """

    def __init__(self, base: BaseFunctions) -> None:
        self.base = base
        # Saved learners of other base functions have other names, and messages compare them.
        self.name = f"{base.name}{WITH_INTERCEPT}"  # type: ignore[misc]
        self.bound = base.bound
        self.features = base.features
        base.bound_in("l1", 1)  # The call raises InputError if the base functions have no bound.

    def size(self, features: int) -> int:
        return self.base.size(features) + 1

    def values(self, X: Array) -> Array:
        H = self.base.values(X)
        return np.column_stack([H, np.full(len(X), self.bound)])

    def names(self, columns: Sequence[str]) -> list[str]:
        return [*self.base.names(columns), INTERCEPT]

    def parts(self) -> Sequence[Any]:
        return (self.base.digest(),)

    def bound_in(self, norm: str, size: int) -> float:
        return self.base.bound_in(norm, size)


def _encoded(part: Any) -> Iterator[bytes]:
    """Yield bytes that identify the value of an object in every process."""
    if isinstance(part, np.ndarray) and part.dtype.kind != "O":
        yield f"{part.dtype}{part.shape}".encode() + part.tobytes()
    elif part is None or isinstance(part, str | bytes | int | float | complex | np.generic):
        yield f"{part!r};".encode()
    elif isinstance(part, list | tuple):
        yield f"({len(part)}".encode()
        for one in part:
            yield from _encoded(one)
    else:
        raise InputError(
            "the method `parts` of base functions must return arrays, numbers, strings, or lists "
            f"of these, but its result contains {part!r:.60}"
        )


def _sample(X: Any) -> Array:
    X = doubles("X", X)
    if X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise InputError(
            f"a sample must be finite and must have shape (rows, features), got {X.shape}"
        )
    return X
