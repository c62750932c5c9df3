"""Base functions: what a learner weighs, as rows of values h = (h_1(x), ..., h_M(x))."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count


class BaseFunctions(ABC):
    """M functions of an example's features, which never change.

    A subclass has a `name`, `values` and, where M is not the number of features, `size`. It should
    be picklable, and `parts` names all that its values depend on.
    """

    name: ClassVar[str]
    """Stored with what was learned: it outlives the name of the class."""
    bound: float | None = None
    """K, if |h_j(x)| <= K for all x."""
    features: int | None = None
    """How many features an example has, None for any number."""

    def size(self, features: int) -> int:
        """Return M for examples of so many features."""
        return features

    @abstractmethod
    def values(self, X: Array) -> Array:
        """Return the values at the rows of X, shape (rows, M)."""

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return what to call the base functions of examples with these features."""
        return [f"h{j}" for j in range(self.size(len(columns)))]

    def parts(self) -> Sequence[Any]:
        """Return what tells it from others of its name: arrays, numbers, texts, estimators."""
        return ()

    def digest(self) -> str:
        """Return a name that other base functions do not have, the same in every process."""
        sha = hashlib.sha256()
        for text in _spelled(tuple(self.parts())):
            sha.update(text)
        return f"{self.name} {sha.hexdigest()[:16]}"

    def bound_in(self, norm: str, size: int) -> float:
        """Return a bound of the dual norm of h: K where a proxy is in l1, √M K in l2.

        Raises
        ------
        InputError
            If no bound is known.
        """
        if self.bound is None:
            raise InputError(f"{self.name} has no bound known; say what it is: bound=")
        return self.bound * (math.sqrt(size) if norm == "l2" else 1.0)


class Experts(BaseFunctions):
    """The features as they are: predictions of experts, or their costs.

    Parameters
    ----------
    bound : float, optional
        K, if known.
    """

    name = "experts"

    def __init__(self, bound: float | None = None) -> None:
        self.bound = bound

    def values(self, X: Array) -> Array:
        return X

    def names(self, columns: Sequence[str]) -> list[str]:
        return list(columns)


class LinearBasis(BaseFunctions):
    """(x_j − centre_j)/scale_j, cut off at −1 and 1.

    Parameters
    ----------
    centre, scale : arrays of shape (features,)
        Scales are > 0.
    """

    name, bound = "linear", 1.0

    def __init__(self, centre: Any, scale: Any) -> None:
        self.centre: Vector = np.atleast_1d(doubles("centre", centre)).copy()
        self.scale: Vector = np.atleast_1d(doubles("scale", scale)).copy()
        self.features = self.centre.size
        fits = self.centre.shape == self.scale.shape == (self.features,)
        if not fits or not np.isfinite(self.centre).all() or not (self.scale > 0.0).all():
            raise InputError("LinearBasis needs a finite centre and a scale > 0 for each feature")

    @classmethod
    def spanning(cls, X: Any) -> LinearBasis:
        """Return the one that has the range of each feature of a sample as [−1, 1]."""
        X = _sample(X)
        low, high = X.min(axis=0), X.max(axis=0)
        half = high / 2.0 - low / 2.0
        return cls(low + half, np.where(half > 0.0, half, 1.0))

    def values(self, X: Array) -> Array:
        H = X - self.centre
        H /= self.scale  # in place: memory that is new costs more than the arithmetic
        return np.clip(H, -1.0, 1.0, out=H)

    def names(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    def parts(self) -> Sequence[Any]:
        return self.centre, self.scale


class StumpBasis(BaseFunctions):
    """Decision stumps: +1 where a feature is above a threshold, else −1.

    Parameters
    ----------
    thresholds : sequence of arrays
        Those of each feature; a feature may have none.
    """

    name, bound = "stumps", 1.0

    def __init__(self, thresholds: Sequence[Any]) -> None:
        cuts = [np.unique(doubles("thresholds", given)) for given in thresholds]
        self.thresholds: Vector = np.concatenate([np.empty(0), *cuts])
        self.feature = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
        self.features = len(cuts)
        if not self.thresholds.size or not np.isfinite(self.thresholds).all():
            raise InputError("StumpBasis needs a finite threshold at least")

    @classmethod
    def at_quantiles(cls, X: Any, cuts: int = 10) -> StumpBasis:
        """Return the one with `cuts` thresholds a feature, at quantiles of a sample.

        Equal ones are one, and those with nothing above them are left out.

        Raises
        ------
        InputError
            If every feature is constant.
        """
        X = _sample(X)
        shares = np.arange(1, count("cuts", cuts) + 1) / (cuts + 1.0)
        levels = np.quantile(X, shares, axis=0, method="lower")
        return cls([np.unique(q[q < x.max()]) for q, x in zip(levels.T, X.T, strict=True)])

    def size(self, features: int) -> int:
        return self.thresholds.size

    def values(self, X: Array) -> Array:
        return np.where(X[:, self.feature] > self.thresholds, 1.0, -1.0)

    def names(self, columns: Sequence[str]) -> list[str]:
        asked = zip(self.feature.tolist(), self.thresholds.tolist(), strict=True)
        return [f"{columns[f]} > {cut:g}" for f, cut in asked]

    def parts(self) -> Sequence[Any]:
        return self.features, self.feature.astype(np.int64), self.thresholds


class Symmetric(BaseFunctions):
    """(h, −h): weights on a simplex of these are those on the l1 ball of h.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Remark 3.
    """

    name = "symmetric"

    def __init__(self, base: BaseFunctions) -> None:
        self.base, self.bound, self.features = base, base.bound, base.features

    def size(self, features: int) -> int:
        return 2 * self.base.size(features)

    def values(self, X: Array) -> Array:
        H = self.base.values(X)
        return np.hstack([H, -H])

    def names(self, columns: Sequence[str]) -> list[str]:
        names = self.base.names(columns)
        return [*names, *(f"not {name}" for name in names)]

    def parts(self) -> Sequence[Any]:
        return (self.base.digest(),)


class FittedBasis(BaseFunctions):
    """What fitted estimators say: their predictions, or the signs of their decision functions.

    Parameters
    ----------
    estimators : sequence
        With `predict`, or `decision_function` if `signs`.
    signs : bool
        +1 where the decision function is > 0, else −1.
    bound : float, optional
        K; by default 1 with `signs`, and the largest label where all have `classes_` of numbers.
    """

    name = "fitted"

    def __init__(
        self, estimators: Sequence[Any], signs: bool = False, bound: float | None = None
    ) -> None:
        self.estimators, self.signs = tuple(estimators), bool(signs)
        method = "decision_function" if signs else "predict"
        for number, estimator in enumerate(self.estimators):
            if not callable(getattr(estimator, method, None)):
                raise InputError(f"estimator {number}, {estimator!r}, has no {method}")
        if not self.estimators:
            raise InputError("FittedBasis needs an estimator at least")
        self.features = getattr(self.estimators[0], "n_features_in_", None)
        self.bound = bound if bound is not None else self._known_bound()

    def _known_bound(self) -> float | None:
        if self.signs:
            return 1.0
        classes = [np.asarray(getattr(one, "classes_", ["?"])) for one in self.estimators]
        if any(one.dtype.kind not in "biuf" for one in classes):
            return None
        return float(max(np.abs(one.astype(np.float64)).max() for one in classes)) or None

    def size(self, features: int) -> int:
        return len(self.estimators)

    def values(self, X: Array) -> Array:
        H = np.empty((len(X), len(self.estimators)))
        for j, estimator in enumerate(self.estimators):
            if self.signs:
                H[:, j] = np.where(estimator.decision_function(X) > 0.0, 1.0, -1.0)
            else:
                H[:, j] = doubles(f"what estimator {j} predicts", estimator.predict(X))
        return H

    def parts(self) -> Sequence[Any]:
        return self.signs, self.estimators


def _spelled(part: Any, within: tuple[int, ...] = ()) -> Iterator[bytes]:
    """Yield what an object is made of, the same in every process.

    Pickles are not: they say which of equal texts are one object.
    """
    if isinstance(part, np.ndarray) and part.dtype.kind != "O":
        yield f"{part.dtype}{part.shape}".encode() + part.tobytes()
    elif part is None or isinstance(part, str | bytes | int | float | complex | np.generic):
        yield f"{part!r};".encode()
    elif callable(getattr(part, "__qualname__", None) and part):
        yield f"{part.__module__}.{part.__qualname__};".encode()
    elif id(part) in within:
        yield f"^{len(within) - within.index(id(part))}".encode()
    else:
        within = (*within, id(part))
        if isinstance(part, np.ndarray):
            part = part.shape, part.tolist()
        elif isinstance(part, Mapping):
            part = sorted(part.items(), key=lambda pair: repr(pair[0]))
        elif isinstance(part, set | frozenset):
            part = sorted(part, key=repr)
        elif not isinstance(part, list | tuple):
            part = part.__reduce_ex__(4)
        yield f"({len(part)}".encode()
        for inner in part:
            yield from _spelled(inner, within)


def _sample(X: Any) -> Array:
    X = doubles("X", X)
    if X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise InputError(f"a sample has shape (rows, features) and is finite, got {X.shape}")
    return X
