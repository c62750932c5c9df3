"""Batches of examples from where they lie: arrays, frames, CSV, Parquet, iterators of any kind."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, missing
from relaxboost._core.files import check_input
from relaxboost._core.tables import MISSING, is_parquet, listed, next_header, opened
from relaxboost.matrices.chunks.sources import (
    Batch,
    batches,
    check_integers,
    hands_over,
    numbers,
    parquet,
    values,
)
from relaxboost.matrices.labelled import ROUNDED

ROWS = 4096
"""Rows taken at once from frames and Parquet files."""
_CSV_BYTES, _LONGEST = 2**20, 2**24
"""Bytes of CSV read at once, and of rows whose end a quote may put off."""
_HEAD = 1000
"""Rows of a pipe that can be read again, for base functions to be made of."""


class ExampleSource:
    """A source that can be opened, and how often.

    In a CSV file `sep` separates the columns; labels are text where `text` says so.

    Attributes
    ----------
    name : str
        What errors call it.
    once : bool
        Whether it can be read once only.
    live : bool
        Whether rows are to be handed on as they come; some at its beginning can be read again.
    opened : callable
        Returns the batches from the first one on.
    """

    def __init__(self, given: Any, y: Any, text: bool, sep: str = ",") -> None:
        self.name, self.once = type(given).__name__, False
        self.live = hasattr(given, "read1")
        self.opened: Callable[[], Iterator[Batch]]
        if isinstance(given, str | os.PathLike):
            self.name = str(given)
            self.opened = _file(Path(given), y, text, sep)
        elif self.live:
            self.name, self.once = str(getattr(given, "name", "the file")), True
            self.opened = _Pipe(self.name, given, y, text, sep).batches
        elif isinstance(given, np.ndarray):
            if isinstance(y, str):
                raise InputError(f"an array has no column {y!r}; give y as an array of labels")
            self.name = "X"
            self.opened = lambda: iter([Batch("X", given, y, None)])
        elif hasattr(given, "iloc") and hasattr(given, "columns"):
            self.name = "the frame"
            self.opened = lambda: _frame(given, y)
        elif hasattr(given, "columns"):  # iterating would give columns, or their names
            raise InputError(f"{self.name} is no frame of pandas; give its to_pandas()")
        elif isinstance(given, io.TextIOBase):
            raise InputError(
                f"{self.name} is text; open the file as a binary one: open(path, 'rb')"
            )
        else:
            if y is not None and (hands_over(given) or not isinstance(y, str)):
                raise _with_labels(self.name)
            self._iterable(given, y)

    def _iterable(self, given: Any, label: str | None) -> None:
        if hands_over(given):
            self.opened = lambda: batches(given)
        elif callable(given):
            self.name = getattr(given, "__name__", self.name)
            self.opened = lambda: _items(given(), label, self.name)
        elif isinstance(given, Iterable):
            self.once = iter(given) is given
            self.opened = lambda: _items(given, label, self.name)
        else:
            raise InputError(
                "a stream is read from an array, a frame, the path of a CSV or Parquet file, an "
                "open binary file of CSV, an iterable of (x, y) or frames, a function that returns "
                "one, or "
                f"an object with next and reset; got {self.name}"
            )


def _with_labels(name: str) -> InputError:
    return InputError(f"{name} hands over the labels with its examples, as (x, y); leave out y")


def _file(path: Path, label: Any, text: bool, sep: str) -> Callable[[], Iterator[Batch]]:
    """Return what opens a file; it must be there already."""
    label = _named(label)
    check_input(path, folder=True)
    if path.is_dir() or is_parquet(path):
        return lambda: parquet(path, label, ROWS)
    return lambda: _from_disk(path, label, text, sep)


def _named(label: Any) -> str | None:
    if not (label is None or isinstance(label, str)):
        raise InputError(f"for a file, y is the name of the label column, got {label!r}")
    return label


def _from_disk(path: Path, label: str | None, text: bool, sep: str) -> Iterator[Batch]:
    with opened(path) as file:
        raw: Any = file.detach()
        with io.BufferedReader(raw, _CSV_BYTES) as whole:  # gzip hands over little at a time
            yield from _csv(str(path), whole, label, text, sep)


def _csv(name: str, file: Any, label: str | None, text: bool, sep: str) -> Iterator[Batch]:
    """Yield the rows of a binary file of CSV with a header as they come, a megabyte at most."""
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        raise missing("CSV is streamed by pyarrow", "dask", "pyarrow") from None
    header = next_header(name, file, sep)
    if label is not None and label not in header:
        raise InputError(f"{name} has no column {label!r}; it has {listed(header)}")
    names = [column for column in header if column not in ("", label)]
    wanted = names if label is None else [label, *names]
    doubles = names if text else wanted
    cells = csv.ParseOptions(delimiter=sep.replace("\\t", "\t"))
    reading = csv.ReadOptions(column_names=header, block_size=_CSV_BYTES, use_threads=False)

    def parsed(rows: bytes, doubles: list[str], texts: list[str]) -> Any:
        kinds = dict.fromkeys(doubles, pa.float64()) | dict.fromkeys(texts, pa.string())
        as_told = {"column_types": kinds, "include_columns": [*kinds], "null_values": MISSING}
        options = reading, cells, csv.ConvertOptions(**as_told)
        return csv.read_csv(pa.BufferReader(rows), *options).combine_chunks()

    before = 0
    for number, rows in enumerate(_whole_rows(file, cells.delimiter.encode())):
        try:
            table = parsed(rows, doubles, [column for column in wanted if column not in doubles])
            for column in doubles:
                x = table[column].to_numpy()
                if (np.abs(x) >= 2.0**53).any():
                    as_text = parsed(rows, [], [column])[column].to_pylist()
                    _check_integers(f"{name}: column {column!r}", x, as_text, before)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):  # blank lines
                continue
            raise _refused(name, header, label, str(error), before) from None
        except pa.ArrowException as error:
            raise InputError(f"{name} cannot be read as CSV: {error}") from None
        for batch in table.to_batches():
            y = None if label is None else values(batch, label)
            yield Batch(f"block {number} of {name}", numbers(name, names, batch), y, names)
        before += table.num_rows


def _check_integers(where: str, x: Array, texts: list[str], before: int) -> None:
    """Raise for an integer of a column that its double is not."""
    for i in np.flatnonzero((np.abs(x) >= 2.0**53) & np.isfinite(x)).tolist():
        digits = re.fullmatch(r"[+-]?\d+", texts[i].strip())
        if digits and int(digits[0]) != int(x[i]):
            told = f"has {digits[0]} at row {before + i}, an integer that doubles round"
            raise InputError(f"{where} {told}; {ROUNDED}")


class _Pipe:
    """CSV from an open binary file, whose rows are handed on as they come.

    The first `_HEAD` of them can be read again.
    """

    def __init__(self, name: str, file: Any, label: Any, text: bool, sep: str) -> None:
        self._name, self._reading = name, _csv(name, file, _named(label), text, sep)
        self._kept: list[Batch] = []
        self._rows = 0

    def batches(self) -> Iterator[Batch]:
        """Yield those that are kept, then what comes."""
        if self._rows > _HEAD and not self._kept:
            raise InputError(f"{self._name} can be read once only, and has been; give a file")
        yield from list(self._kept)
        for batch in self._reading:
            if self._rows <= _HEAD:
                self._kept.append(batch)
            else:
                self._kept = []
            self._rows += len(batch.X)
            yield batch


def _whole_rows(file: Any, sep: bytes) -> Iterator[bytes]:
    """Yield what a binary file has, as it comes, cut after rows; breaks in quotes end none.

    A quote opens a field at its beginning only.
    """
    opening = rb'"(?<![^\n' + re.escape(sep) + rb']")'
    closed, opens = re.compile(opening + rb'[^"]*+(?:""[^"]*+)*+"'), re.compile(opening)
    left = b""
    while came := file.read1(_CSV_BYTES):
        left += came
        cut = left.rfind(b"\n") + 1
        if b'"' in left and len(left) < _LONGEST:
            told = closed.sub(lambda field: b"-" * len(field[0]), left)
            odd = opens.search(told)
            cut = told.rfind(b"\n", 0, odd.start() if odd else len(told)) + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
    if left:
        yield left


def _refused(path: str, header: list[str], label: str | None, said: str, before: int) -> InputError:
    """Return the error for what Arrow could not read, with the row of the stream and the column."""
    row = re.search(r"Row #(\d+): ", said)
    at = "" if row is None else f"row {int(row[1]) - 1 + before}"
    if "invalid UTF8" in said or "\ufffd" in said:
        return InputError(f"{path}, {at or 'some row'}: not in UTF-8; save the file as UTF-8")
    found = re.match(r"In CSV column #(\d+): .*invalid value '(.*)'", said, re.DOTALL)
    if not found:
        said = said if row is None else f"{at}: {said[row.end() :]}"
        return InputError(f"{path} cannot be read as CSV: {said}")
    name, value = header[int(found[1])], found[2]
    remedy = "drop or encode it"
    if name == label:
        remedy = "name the two labels, the negative one first: classes=(negative, positive)"
    told = f"{value!r} at {at}" if at else repr(value)
    return InputError(f"{path}: column {name!r} is not of numbers ({told}); {remedy}")


def _frame(frame: Any, label: Any) -> Iterator[Batch]:
    """Yield the rows of a pandas frame, whose labels are a column or apart."""
    y = label
    if isinstance(label, str):
        if label not in frame.columns:
            raise InputError(f"the frame has no column {label!r} for the labels")
        y, frame = frame[label], frame.drop(columns=[label])
    from pandas.api.types import is_numeric_dtype

    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if not is_numeric_dtype(kind):
            raise InputError(f"the frame: column {name!r} is not of numbers; drop or encode it")
        check_integers("the frame", name, frame[name].dropna().to_numpy())
    if y is not None and len(y) != len(frame):
        raise InputError(f"there are {len(frame)} examples and {len(y)} labels")
    y = None if y is None else np.asarray(y)
    for a in range(0, len(frame), ROWS):
        X = frame.iloc[a : a + ROWS].to_numpy(np.float64, na_value=np.nan)
        yield Batch("the frame", X, None if y is None else y[a : a + ROWS], list(frame.columns))


def _items(source: Any, label: str | None, name: str) -> Iterator[Batch]:
    """Yield what an iterable has: (x, y) or x, of one example or of a block, or labelled frames."""
    for number, item in enumerate(source):
        if label is not None:
            if not (hasattr(item, "iloc") and hasattr(item, "columns")):  # no row of one either
                raise _with_labels(name)
            yield from _frame(item, label)
            continue
        X, y = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        names = None
        if isinstance(X, Mapping):  # a feature each, as river has it
            names, X = list(X), list(X.values())
        names = getattr(X, "columns", names)
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise InputError(f"item {number} of {name} is no array: {error}") from None
        if X.ndim == 1:
            X, y = X[np.newaxis], None if y is None else np.asarray(y).reshape(1)
        yield Batch(f"item {number} of {name}", X, y, names)
