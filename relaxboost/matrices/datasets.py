"""Labelled data: a bundled data set, CSV and Parquet files, and labels mapped to −1 and +1."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core import tables
from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, error_prefix, few, missing, number_of
from relaxboost._core.html import card, table
from relaxboost._core.names import MAX_ITEMS_SHOWN
from relaxboost.matrices.labelled import ROUNDED, rounded_integer


class Dataset(NamedTuple):
    """A data set with two classes."""

    name: str
    X: Array
    """The features, with examples in rows."""
    y: Array
    """The labels, −1 or +1."""
    feature_names: tuple[str, ...]
    classes: tuple[str, str]
    """The names of the classes with the labels −1 and +1, in this order."""

    def _repr_html_(self) -> str:
        m, features = self.X.shape
        facts = {"examples": m, "features": features}
        for sign, name in zip((-1, 1), self.classes, strict=True):
            facts[f"{sign:+d} is {name!r}"] = int((self.y == sign).sum())
        columns = list(zip(self.feature_names, self.X.T, strict=True))[:MAX_ITEMS_SHOWN]
        rows = [(name, *map(float, (x.min(), np.median(x), x.max()))) for name, x in columns]
        return card(
            f"Data set {self.name}", facts, table(rows, ("feature", "min", "median", "max"))
        )


class SignedLabels(NamedTuple):
    """Labels −1 and +1, together with the original labels of the two classes."""

    signs: Array
    """The labels after mapping to −1 and +1."""
    classes: tuple[Any, Any]
    """The original labels that became −1 and +1, in this order."""

    def decided(self, scores: ArrayLike) -> NDArray[Any]:
        """Return the original label for each score.

        A positive score gives ``classes[1]``, any other score ``classes[0]``.

        Parameters
        ----------
        scores : array of shape (m,)
            The score of each row.

        Returns
        -------
        array of shape (m,)
            The labels, of the same type as the original labels.
        """
        return np.asarray(self.classes)[(np.asarray(scores) > 0.0).astype(np.intp)]


def labels(y: ArrayLike) -> SignedLabels:
    """Map labels with any two values to −1 and +1.

    The smaller value becomes −1. Values that both parse as numbers (such as "-1" and "+1", or 9 and
    10) are compared as numbers, and other values alphabetically.

    Returns
    -------
    SignedLabels
        The labels as ``signs`` for margin matrices. ``classes`` and ``decided`` map signs back to
        the original labels.

    Raises
    ------
    InputError
        If a label is missing, or if the number of distinct values is not two.

    Examples
    --------
    >>> from relaxboost.matrices.datasets import labels
    >>> made = labels([3, 8, 8])
    >>> made.signs.tolist(), made.classes
    ([-1.0, 1.0, 1.0], (3, 8))
    >>> made.decided([0.2, -0.1, 0.7]).tolist()
    [8, 3, 8]
    """
    import pandas as pd

    try:
        given = np.asarray(y, dtype=object)
    except ValueError:
        given = np.empty((0, 0))
    if given.ndim != 1 or given.size == 0:
        raise InputError(f"labels must be a non-empty vector, got shape {given.shape}")
    missing = pd.isna(given)
    if missing.any():
        raise InputError(
            f"the label of row {int(np.argmax(missing)) + 1} is missing; fill it in or drop the row"
        )
    values = list(dict.fromkeys(given.tolist()))
    if len(values) != 2:
        if _are_targets(values, len(given)):
            raise InputError(
                f"the labels are numbers with {len(values)} distinct values, but a margin needs "
                "two classes; for real targets use relaxboost.estimators.MarginBoostRegressor"
            )
        more = "keep two, or set one class against the rest"
        remedy = "add examples of another class" if len(values) < 2 else more
        raise InputError(
            f"the labels have {number_of(len(values), 'value')} "
            f"({few(values, 6, _short)}); a margin needs two classes; {remedy}"
        )
    try:
        negative, positive = sorted(values, key=float)
    except (TypeError, ValueError):
        negative, positive = sorted(values, key=str)
    return SignedLabels(np.where(given == positive, 1.0, -1.0), (negative, positive))


def _are_targets(values: list[Any], count: int) -> bool:
    if len(values) < 3 or not all(isinstance(x, int | float) for x in values):
        return False
    # Classes are whole numbers that repeat; `hardly_repeats` has the same rule for words.
    return 2 * len(values) > max(count, 10) or not all(float(x).is_integer() for x in values)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def breast_cancer() -> Dataset:
    """Load the Wisconsin diagnostic breast-cancer data, which scikit-learn bundles.

    The data set has 569 examples and 30 features. The label +1 means benign.
    """
    # The file is read without scikit-learn, because its import takes longer than solving the game.
    library = find_spec("sklearn")
    if library is None or library.origin is None:
        raise InputError("breast-cancer is part of scikit-learn, which is not installed")
    path = Path(library.origin).parent / "datasets" / "data" / "breast_cancer.csv"
    with path.open(encoding="utf-8") as file:
        negative, positive = next(file).strip().split(",")[2:]
        rows = np.loadtxt(file, delimiter=",")
    cells = "radius,texture,perimeter,area,smoothness,compactness,concavity,concave points,symmetry"
    each = [*cells.split(","), "fractal dimension"]
    names = [form.format(one) for form in ("mean {}", "{} error", "worst {}") for one in each]
    y = np.where(rows[:, -1] == 1.0, 1.0, -1.0)
    return Dataset("breast-cancer", rows[:, :-1].copy(), y, tuple(names), (negative, positive))


BUNDLED = {"breast-cancer": breast_cancer}
"""The loaders of bundled data sets, by their names on the command line."""


def read_csv(path: str | os.PathLike[str], label: str, sep: str = ",") -> Dataset:
    """Read labelled data from a CSV file with a header row, or from a Parquet file.

    One column contains the labels, and all others contain numbers.

    Parameters
    ----------
    path : path
        The path of the file, which ends in .parquet for a Parquet file.
    label : str
        The name of the label column, which may contain any two values.
    sep : str
        The character between columns. The string ``\\t`` means a tab.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the file cannot be read or is empty; if the label column does not exist or does not have
        two values; if a feature is not numeric; or if a value is missing or infinite. The message
        names the column. For a value it also names the line, or the row in a Parquet file, counted
        from 1.
    """
    features, y = read_table(path, label, sep)
    return dataset(path, features.to_numpy(dtype=np.float64), features, y)


def dataset(path: str | os.PathLike[str], X: Array, features: Any, y: SignedLabels) -> Dataset:
    """Return a `Dataset` for the file `path` from the results of `read_table`."""
    negative, positive = map(_short, y.classes)
    return Dataset(Path(path).stem, X, y.signs, tuple(features.columns), (negative, positive))


def read_table(
    path: str | os.PathLike[str],
    label: str,
    sep: str = ",",
    words: bool = False,
    drop: Sequence[str] = (),
) -> tuple[Any, SignedLabels]:
    """Read the features and labels of a file that follows the rules of `read_csv`.

    If `words` is True, values may be missing, and a feature may be a column of strings that cannot
    be parsed as numbers. The columns `drop` are removed before all other checks.
    """
    file = Path(path)
    is_parquet = file.is_file() and tables.is_parquet(file)
    frame = _read_parquet(file) if is_parquet else tables.read_csv(file, sep, label=label)
    if label not in frame.columns:
        raise tables.no_column(path, label, frame.columns)
    tables.check_columns(path, "drop", drop, [name for name in frame.columns if name != label])
    frame = frame.drop(columns=list(drop))
    if frame.shape[1] < 2:
        raise InputError(f"{path} has no column besides the label {label!r}; add feature columns")
    if frame.shape[0] == 0:
        raise InputError(f"{path} has a header but no rows; add rows")
    features = frame.drop(columns=[label])
    _check_features(features, path, words)
    gone = frame[label].isna().to_numpy()
    if gone.any():
        where = _where(frame, int(gone.argmax()))
        raise InputError(f"{path}: the label at {where} is missing; fill it in or drop the row")
    with error_prefix(f"{path}, column {label!r}: "):
        return features, labels(frame[label].to_numpy())


def _read_parquet(path: Path) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError:
        raise missing("Parquet files need pyarrow", "dask", "pyarrow") from None
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{path} cannot be read as Parquet: {reason}") from None
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _check_features(features: Any, path: str | os.PathLike[str], words: bool) -> None:
    import pandas as pd

    bad = features.isna().to_numpy() & (not words)
    for place, (name, column) in enumerate(features.items()):
        if column.dtype.kind not in "biuf":
            _check_words(path, name, column, words)
            continue
        bad[:, place] |= np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
        # Only integers can be rounded by the conversion to doubles. `dropna` is called for columns
        # of integers only, because it is slow for thousands of columns.
        whole = column.dropna().to_numpy() if column.dtype.kind in "iu" else np.zeros(0)
        if (at := rounded_integer(whole)) is not None:
            row = int(np.flatnonzero(column.notna())[at[0]])
            raise InputError(
                f"{path}: the value at {_where(features, row)}, column {name!r}, "
                f"{column.iloc[row]}, is an integer that a double cannot represent exactly; "
                f"{ROUNDED}"
            )
    if bad.any():
        row, place = np.argwhere(bad)[0].tolist()
        more = int(bad.sum()) - 1
        missing = pd.isna(features.iloc[row, place])
        raise InputError(
            f"{path}: the value at {_where(features, row)}, column {features.columns[place]!r} "
            f"is {'missing' if missing else 'infinite'}"
            + (f", and {more} more" if more else "")
            + ("; impute it, or drop the row" if missing else "; write a number, or leave it empty")
        )


def _check_words(path: str | os.PathLike[str], name: str, column: Any, words: bool) -> None:
    import pandas as pd

    # Python's float also reads 1_0 and digits of other scripts, which pandas rejects.
    odd = column[pd.to_numeric(column, errors="coerce").isna() & column.notna()]
    points = odd.astype(str).str.replace(",", ".")
    commas = len(odd) > 0 and pd.to_numeric(points, errors="coerce").notna().all()
    if words and not commas and not 0 < len(odd) < column.notna().sum():
        return
    if commas:
        remedy = "such as 1.5, not 1,5"
    elif words:
        remedy = "leave cells empty where they are missing"
    else:
        remedy = "encode categories (pandas.get_dummies)"
    raise InputError(
        f"{path}: column {name!r} is not numeric (for instance {_short(odd.iloc[0])!r}); "
        f"write plain numbers, {remedy}, or drop the column"
    )


def _where(frame: Any, row: int) -> str:
    return f"line {frame.index[row]}" if tables.FILE in frame.attrs else f"row {row + 1}"
