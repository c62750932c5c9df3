"""Validation of labelled data (X, y) for matrices built from features and labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.arrays import Array, no_number
from relaxboost._core.errors import InputError


def check_labelled(
    X: ArrayLike, y: ArrayLike, feature_names: Any = None
) -> tuple[Array, Array, tuple[str, ...]]:
    """Validate labelled data, and return float arrays and the feature names."""
    try:
        given, labels = np.asarray(X), np.asarray(y)
    except ValueError as error:
        raise InputError(f"X and y must be rectangular arrays: {error}") from None
    if given.ndim != 2 or 0 in given.shape:
        raise InputError(
            f"X must have examples in rows and features in columns, got shape {given.shape}"
            + "; use X.reshape(-1, 1) for one feature" * (given.ndim == 1)
        )
    m, features = given.shape
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    if feature_names is None:
        feature_names = [f"x{f}" for f in range(features)]
    if isinstance(feature_names, str) or not isinstance(feature_names, Iterable):
        raise InputError(f"feature_names must be a list of names, got {feature_names!r}")
    names = tuple(map(str, feature_names))
    if len(names) != features:
        raise InputError(f"feature_names has {len(names)} names, but X has {features} features")
    if given.dtype.kind in "OUST":
        at = no_number(given)
        if at is None:
            raise InputError(
                f"X has dtype {given.dtype}; features must be numbers; "
                "convert it with numpy.asarray(X, dtype=float)"
            )
        raise InputError(
            f"X has dtype {given.dtype}, with {given[at]!s:.60} at row {at[0]}, feature "
            f"{names[at[1]]!r}; features must be numbers. Encode the "
            "other features, or use MarginBoostClassifier, which accepts strings and missing "
            "values"
        )
    data = finite_doubles("X", given, names)
    return data, _signs(labels, m), names


def _signs(labels: NDArray[Any], m: int) -> Array:
    if labels.shape != (m,):
        raise InputError(
            f"y must have shape ({m},), with one label for each row of X, got {labels.shape}"
        )
    if labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 1)).all():
        raise InputError(
            "y must contain the labels -1 and +1; use "
            "relaxboost.matrices.datasets.labels(y).signs, "
            "which maps any two values to -1 and +1; labels(y).decided(scores) maps scores back to "
            "these values"
        )
    return labels.astype(np.float64)


ROUNDED = "drop the column, or subtract a common offset from its values"
"""The advice in messages about integers that a double cannot represent exactly."""


def check_names(X: Any) -> None:
    """Raise InputError if two columns of a frame have the same name."""
    # With equal names X[name] is a frame, so that later steps would fail without a reason.
    names = list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"X has {names.count(twice)} columns with the name {twice!r}, but names must "
            "differ; rename or drop all but one of them"
        )


def rounded_integer(X: NDArray[Any]) -> tuple[int, ...] | None:
    """Return the index of the first integer that a double cannot represent exactly, or None."""
    if X.dtype.kind not in "iu" or X.dtype.itemsize < 8:
        return None
    size = X.astype(np.uint64)
    size = np.where(X < 0, ~size + np.uint64(1), size)
    # The bits from the lowest set bit upwards must fit into 53 bits.
    rounded = (size >> np.uint64(53)) >= np.maximum(size & (~size + np.uint64(1)), 1)
    if not rounded.any():
        return None
    return tuple(map(int, np.unravel_index(int(np.argmax(rounded)), X.shape)))


def finite_doubles(
    where: str, X: NDArray[Any], names: tuple[str, ...], row: str = "row", first: int = 0
) -> Array:
    """Return features in double precision, or raise InputError about an invalid entry.

    `X` may be a block of rows of a table, starting at row number `first`. Messages call a row
    `row`.
    """
    if X.dtype.kind not in "biuf":
        raise InputError(f"{where} has dtype {X.dtype}; features must be numbers")
    if (at := rounded_integer(X)) is not None:
        raise InputError(
            f"{where} has {X[at]} at {row} {first + at[0]}, feature {names[at[1]]!r}, an integer "
            f"that a double cannot represent exactly; {ROUNDED}"
        )
    data = X.astype(np.float64)
    finite = np.isfinite(data)
    if not finite.all():
        i, f = np.unravel_index(int(np.argmin(finite)), data.shape)
        raise InputError(
            f"{where} has {data[i, f]} at {row} {first + i}, feature {names[f]!r}; "
            "drop the row or impute the value"
        )
    return data
