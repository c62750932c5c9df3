"""Labelled data: a bundled set, CSV files, and labels mapped to −1 and +1."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, MissingDependencyError, install

MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "None"]
"""What stands for a missing value in a CSV file."""

_WORDS = 50


class Dataset(NamedTuple):
    """Examples with two classes."""

    name: str
    X: Array
    """Features, shape (m, features)."""
    y: Array
    """Labels −1 and +1, shape (m,)."""
    feature_names: tuple[str, ...]
    classes: tuple[str, str]
    """The names of the classes −1 and +1."""


class SignedLabels(NamedTuple):
    """Labels of two classes as −1 and +1, and what they were."""

    signs: Array
    """−1 and +1, shape (m,)."""
    classes: tuple[Any, Any]
    """The labels that −1 and +1 stand for, as they were given."""

    def decided(self, scores: ArrayLike) -> NDArray[Any]:
        """Return the label of each score: ``classes[1]`` where it is positive, else the other.

        Parameters
        ----------
        scores : array of shape (m,)

        Returns
        -------
        array of shape (m,)
            Of the kind of the labels, so that it can be compared with them.
        """
        return np.asarray(self.classes)[(np.asarray(scores) > 0.0).astype(np.intp)]


def labels(y: ArrayLike) -> SignedLabels:
    """Map any two label values to −1 and +1.

    The smaller becomes −1: by number if both read as numbers ("-1" and "+1", 9 and 10), else
    alphabetically.

    >>> from relaxboost.matrices.datasets import labels
    >>> made = labels([3, 8, 8])
    >>> made.signs.tolist(), made.classes
    ([-1.0, 1.0, 1.0], (3, 8))
    >>> made.decided([0.2, -0.1, 0.7]).tolist()
    [8, 3, 8]

    Returns
    -------
    SignedLabels
        ``signs`` for margin matrices; ``classes`` and ``decided`` lead back to the labels.

    Raises
    ------
    InputError
        If a label is missing or there are not exactly two different values.
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
            f"the label of row {int(np.argmax(missing)) + 1} is missing; fill it or drop the row"
        )
    values = list(dict.fromkeys(given.tolist()))
    if len(values) != 2:
        shown = ", ".join(_short(v) for v in values[:6]) + (", ..." if len(values) > 6 else "")
        remedy = "" if len(values) < 2 else "; keep two, or set one class against the rest"
        raise InputError(
            f"the labels have {len(values)} value{'s' * (len(values) != 1)} ({shown}); "
            f"a margin needs two classes{remedy}"
        )
    negative, positive = sorted(values, key=_order(values))
    return SignedLabels(np.where(given == positive, 1.0, -1.0), (negative, positive))


def _order(values: list[Any]) -> Callable[[Any], Any]:
    try:
        for value in values:
            float(value)
    except (TypeError, ValueError):
        return str
    return float


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def breast_cancer() -> Dataset:
    """Return the Wisconsin diagnostic breast-cancer data that scikit-learn bundles.

    569 examples, 30 features; +1 is benign.
    """
    # Not load_breast_cancer: importing scikit-learn takes longer than solving the game.
    library = find_spec("sklearn")
    if library is None or library.origin is None:
        raise InputError("breast-cancer is a file of scikit-learn, which is not installed")
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
"""Data sets by the name the command line uses."""


def read_csv(
    path: str | os.PathLike[str], label: str, sep: str = ",", words: bool = False
) -> Dataset:
    """Read a CSV file with a header, or Parquet: one column of labels, numbers in all others.

    Parameters
    ----------
    path : path
    label : str
        The name of the label column; any two values will do.
    sep : str
        What separates columns: one character, or ``\\t``.
    words : bool
        Whether a column of words, at most 50 different ones, becomes a column of 0 and 1 for
        each word, named "city=Rome". One where some word reads as a number is refused.

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
    frame = _read_frame(Path(path), label, sep.replace("\\t", "\t"))
    if label not in frame.columns:
        names = ", ".join(map(str, frame.columns[:12])) + (", ..." if frame.shape[1] > 12 else "")
        raise InputError(f"{path} has no column {label!r}; it has {names}")
    if frame.shape[1] < 2:
        raise InputError(f"{path} has no column besides the label {label!r}")
    if frame.shape[0] == 0:
        raise InputError(f"{path} has a header and no rows")
    features = frame.drop(columns=[label])
    if words:
        features = _indicators(features)
    _check_features(features, path)
    try:
        y, (negative, positive) = labels(frame[label].to_numpy())
    except InputError as error:
        raise InputError(f"{path}, column {label!r}: {error}") from None
    X = features.to_numpy(dtype=np.float64)
    feature_names = tuple(str(column) for column in features.columns)
    return Dataset(Path(path).stem, X, y, feature_names, (_short(negative), _short(positive)))


def _indicators(features: Any) -> Any:
    """Return a table with a column of 0 and 1 for each word in place of columns of words."""
    import pandas as pd

    made: dict[str, Any] = {}
    for name, column in features.items():
        numbers = pd.to_numeric(column, errors="coerce").notna().any()
        values = [] if numbers or column.isna().any() else sorted(set(column.astype(str)))
        named = {f"{name}={value}": column.astype(str) == value for value in values}
        if 0 < len(values) <= _WORDS and not named.keys() & set(features.columns):
            made |= named
        else:
            made[name] = column
    return pd.DataFrame(made)


def read_header(path: Path, sep: str = ",") -> list[str]:
    """Return the column names of a CSV file, each there and different."""
    if len(sep) != 1 or sep in '"\r\n':
        raise InputError(f"columns are separated by one character, got {sep!r}")
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, skipinitialspace=True, delimiter=sep)
        header = next(filter(None, rows), None)
    if header is None:
        raise InputError(f"{path} is empty")
    names = [name.strip() for name in header]
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and separator in names[0]:
            raise InputError(
                f"{path} is separated by {word}; save it with commas, or give sep={separator!r}"
            )
    for place, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"{path}: column {place} has no name; name it, or drop it if it numbers the rows"
            )
        if names.index(name) + 1 != place:
            raise InputError(f"{path}: two columns are named {name!r}; rename or drop one")
    return names


def _read_frame(path: Path, label: str, sep: str) -> Any:
    import pandas as pd

    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                return _read_parquet(path)
        names = read_header(path, sep)
        missing = {name: MISSING for name in names if name != label}
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
            return pd.read_csv(
                path,
                sep=sep,
                header=0,
                names=names,
                index_col=False,
                skipinitialspace=True,
                # A class may be called NA; a feature may not. An empty label is missing.
                keep_default_na=False,
                na_values={**missing, label: [""]},
                encoding="utf-8-sig",
            )
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except pd.errors.ParserWarning:
        raise InputError(
            f"{path} cannot be read as CSV: rows have more fields than the header"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} cannot be read as CSV: it is a folder") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} cannot be read as CSV: it is not text in UTF-8") from None
    except (OSError, csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{path} cannot be read as CSV: {reason}") from None


def _read_parquet(path: Path) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError:
        raise MissingDependencyError(f"Parquet is read by pyarrow; {install('dask')}") from None
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{path} cannot be read as Parquet: {reason}") from None
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _check_features(features: Any, path: str | os.PathLike[str]) -> None:
    import pandas as pd

    wrong = [c for c in features.columns if features[c].dtype.kind not in "biuf"]
    if wrong:
        column = features[wrong[0]].dropna()
        # Not what Python's float refuses: that reads 1_0 and other scripts' digits.
        odd = column[pd.to_numeric(column, errors="coerce").isna()]
        example = (odd if odd.size else column).iloc[0]
        names = ", ".join(repr(c) for c in wrong[:8])
        raise InputError(
            f"{path}: column{'s' * (len(wrong) > 1)} {names} "
            f"{'are' if len(wrong) > 1 else 'is'} not numeric (for instance {_short(example)!r}); "
            "write plain numbers, encode categories (pandas.get_dummies), or drop it"
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
