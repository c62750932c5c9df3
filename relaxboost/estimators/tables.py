"""The base class of all estimators, which reads X, y and sample_weight."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Number
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from relaxboost._core.arrays import Array, Vector, doubles, no_number
from relaxboost._core.errors import InputError, few
from relaxboost._core.tables import UNREPEATED, hardly_repeats
from relaxboost.matrices.labelled import ROUNDED, check_names, rounded_integer


@dataclass(frozen=True)
class Features:
    """The columns of a table, each numeric or categorical."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    """The categories of each column, or None for a numeric column."""
    unrepeated: tuple[str, ...] = ()
    """The names of the columns that are probably ids, because most of their values are distinct."""

    @classmethod
    def of(cls, X: Any) -> Features:
        """Return the columns of a pandas frame."""
        names = (f"x{name}" if isinstance(name, Integral) else str(name) for name in X.columns)
        columns = list(zip(names, (x for _, x in X.items()), strict=True))
        levels = tuple(_levels(x) for _, x in columns)
        pairs = zip(columns, levels, strict=True)
        ids = (name for (name, x), words in pairs if words is not None and hardly_repeats(x))
        return cls(tuple(name for name, _ in columns), levels, tuple(ids))

    @classmethod
    def numbered(cls, d: int) -> Features:
        """Return d numeric columns, named x0, x1, ..."""
        return cls(tuple(f"x{f}" for f in range(d)), (None,) * d)

    def numbers(self, X: Any) -> Array:
        """Convert a pandas frame to doubles. Unknown categories raise an InputError.

        A category becomes its index in `levels`, and a missing value becomes nan.
        """
        columns = zip((x for _, x in X.items()), self.names, self.levels, strict=True)
        numbers = [_numbers(*column, column[1] in self.unrepeated) for column in columns]
        return np.column_stack([np.empty((len(X), 0)), *numbers])


Method = TypeVar("Method", bound=Callable[..., Any])


def restores_fit(method: Method) -> Method:
    """Decorate a method so that an error or Ctrl-C restores the estimator's attributes."""

    @wraps(method)
    def restoring(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **options)
        except BaseException:
            # This is a single assignment, so that a second Ctrl-C cannot leave it half done.
            self.__dict__ = before
            raise

    return cast(Method, restoring)


class TableEstimator(BaseEstimator):
    """The base class of all estimators of the package."""

    takes_categories: ClassVar[bool] = False
    for_categories: ClassVar[str] = ""
    """The estimator that error messages recommend for categorical columns."""
    for_labels: ClassVar[str | None] = None
    """The advice in the error message for labels in y, or None if labels are allowed."""
    _table: Features

    def _without_missing(self) -> str | None:
        """Return the advice in the error for missing values, or None if they are allowed."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._without_missing() is None
        # Mixins of scikit-learn set this tag for classifiers and regressors, but there is no mixin
        # for rankers.
        tags.target_tags.required = True
        return tags

    def _read(self, X: Any, *, reset: bool = False) -> Array:
        """Return X as doubles, with nan for missing values.

        If `reset` is True, as in `fit`, also store the description of the columns.
        """
        self._check_kind(X)
        Z = self._read_frame(X, reset) if self.takes_categories else None
        if Z is None:
            Z = self._read_numbers(X, reset)
            if reset and self.takes_categories:
                self._table = Features.numbered(Z.shape[1])
        reason = self._without_missing()
        # scikit-learn's own error names neither the row nor the feature.
        bad = np.isinf(Z) if reason is None else ~np.isfinite(Z)
        if bad.any():
            row, f = np.argwhere(bad)[0].tolist()
            what = "NaN" if np.isnan(Z[row, f]) else "infinity"
            remedy = reason if reason and what == "NaN" else "; drop the row, or replace the value"
            raise InputError(f"Input X contains {what} at row {row}, feature {f}{remedy}")
        return Z

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._read(X)

    def _read_pair(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Array, Any]:
        """Return X as doubles and y as an array. If labels are not allowed, y contains doubles."""
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; pass "
                "y, with an entry for each row of X"
            )
        Z = self._read(X, reset=reset)
        self._check_numeric(y)
        numeric = self.for_labels is not None
        # `_read` has checked missing values of X; check_X_y refuses missing values of y.
        Z, y = check_X_y(
            Z, y, estimator=self, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=numeric
        )
        return Z, y.astype(np.float64) if numeric else y

    def _check_numeric(self, y: Any) -> None:
        given = np.asarray(y)
        if self.for_labels is None or given.dtype.kind not in "OUST":
            return
        at = no_number(given)
        if at is not None and given.ndim == 1:
            raise InputError(
                f"y contains {given.item(at[0])!r:.60} at row {at[0]}, but {type(self).__name__} "
                f"needs numbers; {self.for_labels}"
            )

    def _check_kind(self, X: Any) -> None:
        if issparse(X):
            raise InputError(
                f"X is sparse, but {type(self).__name__} accepts only dense tables; pass "
                "X.toarray()"
            )
        if getattr(X, "ndim", 2) == 1 and hasattr(X, "to_frame"):
            raise InputError(
                f"X is a single column, {X.name!r}, and not a table; pass X.to_frame()"
            )
        check_names(X)

    def _read_numbers(self, X: Any, reset: bool) -> Array:
        if isinstance(X, np.ndarray):
            _check_rounded(X)
        try:
            Z: Array = validate_data(
                self, X, reset=reset, dtype=np.float64, ensure_all_finite=False
            )
        except (TypeError, ValueError) as error:
            feature, value = _first_bad_column(X) or (None, None)
            # check_estimator expects scikit-learn's own words in the other errors.
            if not (isinstance(value, str) or (hasattr(X, "columns") and feature is not None)):
                raise
            if self.takes_categories:
                remedy = (
                    "strings are accepted only in pandas frames, as categories; pass "
                    "pandas.DataFrame(X) with numbers in numeric columns, or encode the strings"
                )
            else:
                remedy = (
                    f"{type(self).__name__} accepts only numbers; encode the feature as numbers, "
                    f"or use {self.for_categories}, which accepts categories in pandas frames"
                )
            raise InputError(f"feature {feature!r} contains {value!r:.60}, but {remedy}") from error
        return Z

    def _read_frame(self, X: Any, reset: bool) -> Array | None:
        # An array has no categories, unless the estimator was fitted on a frame with categories.
        # The array then has the columns of that frame.
        if not hasattr(X, "iloc"):
            if reset or not any(self._table.levels):
                return None
            import pandas as pd

            X = pd.DataFrame(np.asarray(X, dtype=object))
        # Only the names are checked here, because validate_data cannot convert categories.
        # `numbers` converts them.
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self._table = Features.of(X)
            if ids := self._table.unrepeated:
                remedy = "drop the column, or encode its strings as numbers"
                # The warning points to the line that calls `fit`.
                warnings.warn(UNREPEATED.format(few(ids, 6, repr), remedy), stacklevel=8)
        return check_array(self._table.numbers(X), estimator=self, ensure_all_finite=False)


def check_class_weights(classes: Any, totals: Any) -> None:
    """Raise an InputError unless the total weight of each class is positive."""
    # The negation also finds nan, which a user's class_weight may contain.
    light = np.flatnonzero(~(totals > 0.0))
    if light.size:
        raise InputError(
            f"class {classes.tolist()[light[0]]!r} has no example with a positive weight; "
            "leave its examples out, or give one of them a positive weight"
        )


def classes_of(y: Any) -> tuple[Any, Any]:
    """Return the distinct labels, sorted, and the label index of each example.

    Raises
    ------
    InputError
        If the labels have different types, or if there is only one class.
    """
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise InputError(
            f"labels must have the same type, and none may be missing: {error}"
        ) from None
    if classes.size < 2:
        raise InputError(
            f"y has only one class, {classes.tolist()[0]!r}; add examples of another class"
        )
    return classes, codes


def read_weights(sample_weight: Any, rows: int) -> Vector:
    """Return the example weights. If `sample_weight` is None, all weights are 1.

    Raises
    ------
    InputError
        Unless the weights are one-dimensional, finite, nonnegative and not all 0.
    """
    if sample_weight is None:
        return np.ones(rows)
    weights = doubles("sample_weight", sample_weight)
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight must have shape ({rows},), with one number for each row of X, got "
            f"{weights.shape}"
        )
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"sample_weight is {weights[row]:g} at row {row}, but must be finite and >= 0; leave "
            "the row out, or give it the weight 0"
        )
    if not weights.any():
        raise InputError(
            "sample_weight must contain at least one nonzero number; leave sample_weight out to "
            "give all rows the same weight"
        )
    return weights


def _first_bad_column(X: Any) -> tuple[Any, Any] | None:
    names = getattr(X, "columns", None)
    if names is None:
        given = np.asarray(X, dtype=object)
        columns = list(enumerate(given.T)) if given.ndim == 2 else []
    else:
        columns = [(name, X[name]) for name in names]
    for name, x in columns:
        try:
            np.asarray(x, dtype=np.float64)
            is_odd = np.asarray(x).dtype.kind in "mM"  # NumPy would convert dates to numbers.
        except (TypeError, ValueError):
            is_odd = True
        if is_odd:
            return name, next((v for v in list(x) if v is not None and not _is_number(v)), None)
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _check_rounded(x: Any, name: object = None) -> None:
    # Integers that no double equals are mostly ids. If they are rounded, two ids become one, and a
    # split between them is lost.
    given = np.asarray(x)
    if (at := rounded_integer(given)) is not None:
        feature = at[-1] if name is None else repr(name)
        raise InputError(
            f"feature {feature} has {given[at]}, an integer that a double cannot represent "
            f"exactly; {ROUNDED}"
        )


def _levels(x: Any) -> tuple[Any, ...] | None:
    import pandas as pd
    from pandas.api import types

    # A column of objects that are all numbers becomes a column of numbers.
    x = x.infer_objects()
    if hasattr(x.dtype, "categories"):
        return tuple(x.dtype.categories)
    if types.is_numeric_dtype(x):  # Bools are numbers here.
        return None
    # Databases return numbers as Decimal. A column of strings has only missing values in a part of
    # a cross-validation, and must remain a column of categories there.
    numbers = all(isinstance(value, Number) for value in x.dropna())
    if numbers and not isinstance(x.dtype, pd.StringDtype):
        return None
    if types.is_string_dtype(x) or types.is_object_dtype(x):
        try:
            return tuple(sorted(x.dropna().unique(), key=str))
        except TypeError:
            raise _unhashable_cell(x) from None
    raise InputError(
        f"feature {x.name!r} has dtype {x.dtype}; pass numbers, strings or a categorical column"
    )


def _unhashable_cell(x: Any) -> InputError:
    odd = next((type(v).__name__ for v in x if not isinstance(v, Hashable)), "tuple")
    return InputError(
        f"feature {x.name!r} contains a {odd}, but each value must be a number or a category; "
        "split the column into several columns, or drop it"
    )


def _numbers(x: Any, name: str, levels: tuple[Any, ...] | None, is_unrepeated: bool) -> Vector:
    import pandas as pd

    if levels is None:
        # The way through nullable numbers takes long for thousands of columns.
        if isinstance(x.dtype, np.dtype) and x.dtype.kind in "bf":
            return x.to_numpy(dtype=np.float64)
        _check_rounded(x.dropna(), name)
        try:
            return x.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"feature {name!r} must contain numbers, but has dtype {x.dtype}: {error}"
            ) from None
    try:
        codes = pd.Index(levels, dtype=object).get_indexer(x.astype(object))
    except TypeError:
        raise _unhashable_cell(x) from None
    # get_indexer returns −1 for unknown categories and for missing values.
    unknown = (codes < 0) & x.notna().to_numpy()
    if unknown.any():
        value = x.iloc[int(np.argmax(unknown))]
        remedy = (
            ", where hardly any value of this column occurred twice; drop the column and fit again"
            if is_unrepeated
            else "; replace it with None, or declare the categories of all string columns before "
            'you split the data: X[names] = X[names].astype("category")'
        )
        raise InputError(
            f"feature {name!r} has the category {value!r}, which did not occur in training{remedy}"
        )
    return np.where(codes < 0, np.nan, codes)
