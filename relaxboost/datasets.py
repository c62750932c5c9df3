"""Labelled data: a bundled set, CSV files, and labels mapped to −1 and +1."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError


class Dataset(NamedTuple):
    """Examples with two classes."""

    name: str
    X: NDArray[np.float64]
    """Features, shape (m, features)."""
    y: NDArray[np.float64]
    """Labels −1 and +1, shape (m,)."""
    feature_names: tuple[str, ...]
    classes: tuple[str, str]
    """The names of the classes −1 and +1."""


def labels(y: ArrayLike) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Map any two label values to −1 and +1, the smaller to −1.

    Returns
    -------
    (array of shape (m,), (str, str))
        The labels and the names of the classes −1 and +1.

    Raises
    ------
    InputError
        If a label is missing or there are not exactly two different values.
    """
    given = np.asarray(y)
    if given.ndim != 1 or given.size == 0:
        raise InputError(f"labels must be a non-empty vector, got shape {given.shape}")
    if given.dtype.kind == "f":
        missing = np.isnan(given)
    else:
        missing = np.array([v is None or v != v for v in given.tolist()])
    if missing.any():
        raise InputError(f"the label of row {int(np.argmax(missing)) + 1} is missing; drop the row")
    if given.dtype.kind == "O":
        given = given.astype(str)
    values, code = np.unique(given, return_inverse=True)
    names = [str(v) for v in values.tolist()]
    if values.size != 2:
        shown = ", ".join(names[:6]) + (", ..." if values.size > 6 else "")
        rule = "a margin needs two classes"
        remedy = "" if values.size < 2 else "; keep two, or set one class against the rest"
        raise InputError(
            f"the labels have {values.size} value{'s' * (values.size != 1)} ({shown}); "
            f"{rule}{remedy}"
        )
    return np.where(code == 1, 1.0, -1.0), (names[0], names[1])


def breast_cancer() -> Dataset:
    """Return the Wisconsin diagnostic breast-cancer data that scikit-learn bundles.

    569 examples, 30 features; +1 is benign.
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    negative, positive = (str(name) for name in data.target_names)
    return Dataset(
        "breast-cancer",
        np.asarray(data.data, dtype=np.float64),
        np.where(data.target == 1, 1.0, -1.0),
        tuple(str(name) for name in data.feature_names),
        (negative, positive),
    )


BUNDLED = {"breast-cancer": breast_cancer}
"""Data sets by the name the command line uses."""


def read_csv(path: str | os.PathLike[str], label: str) -> Dataset:
    """Read a CSV file with a header: one column of labels, numbers in all others.

    Parameters
    ----------
    path : path
    label : str
        The name of the label column; any two values will do.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the file cannot be read or is empty, the label column is not there or has not two
        values, a feature is not numeric (named), or a value is missing or infinite (by row and
        column; rows are counted from 1 after the header).
    """
    frame = _read_frame(Path(path))
    if label not in frame.columns:
        names = ", ".join(map(str, frame.columns[:12])) + (", ..." if frame.shape[1] > 12 else "")
        raise InputError(f"{path} has no column {label!r}; it has {names}")
    if frame.shape[1] < 2:
        raise InputError(f"{path} has no column besides the label {label!r}")
    if frame.shape[0] == 0:
        raise InputError(f"{path} has a header and no rows")
    features = frame.drop(columns=[label])
    _check_features(features, path)
    y, classes = labels(frame[label].to_numpy())
    X = features.to_numpy(dtype=np.float64)
    feature_names = tuple(str(column) for column in features.columns)
    return Dataset(Path(path).stem, X, y, feature_names, classes)


def _read_frame(path: Path) -> Any:
    import pandas as pd

    try:
        return pd.read_csv(path, skipinitialspace=True)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path} is empty") from None
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError, pd.errors.ParserError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{path} cannot be read as CSV: {reason}") from None


def _check_features(features: Any, path: str | os.PathLike[str]) -> None:
    kinds = {str(c): features.dtypes.iloc[i].kind for i, c in enumerate(features.columns)}
    wrong = [repr(c) for c, kind in kinds.items() if kind not in "biuf"]
    if wrong:
        raise InputError(
            f"{path}: column{'s' * (len(wrong) > 1)} {', '.join(wrong[:8])} "
            f"{'are' if len(wrong) > 1 else 'is'} not numeric; encode (pandas.get_dummies) or drop"
        )
    data = features.to_numpy(dtype=np.float64)
    bad = ~np.isfinite(data)
    if bad.any():
        row, column = np.unravel_index(int(np.argmax(bad)), data.shape)
        what = "missing" if np.isnan(data[row, column]) else "infinite"
        more = int(bad.sum()) - 1
        raise InputError(
            f"{path}: the value at row {row + 1}, column {str(features.columns[column])!r} "
            + f"is {what}"
            + (f", and {more} more" if more else "")
            + "; impute or drop"
        )
