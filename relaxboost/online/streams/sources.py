"""Batches of examples from where they lie: arrays, frames, CSV, Parquet, iterators of any kind."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError, missing
from relaxboost._core.files import check_input
from relaxboost._core.tables import MISSING, is_parquet, listed, next_header, read_header
from relaxboost.matrices.chunks.sources import (
    Batch,
    batches,
    hands_over,
    numbers,
    parquet,
    values,
)

ROWS = 4096
"""Rows taken at once from frames and Parquet files."""
_CSV_BYTES = 2**20
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
    return lambda: _csv(path, label, text, sep)


def _named(label: Any) -> str | None:
    if not (label is None or isinstance(label, str)):
        raise InputError(f"for a file, y is the name of the label column, got {label!r}")
    return label


def _csv(path: Path, label: str | None, text: bool, sep: str) -> Iterator[Batch]:
    """Yield the rows of a CSV file with a header, about a megabyte at a time."""
    try:
        from pyarrow import csv
    except ImportError:
        raise missing("CSV is streamed by pyarrow", "dask", "pyarrow") from None
    header = read_header(path, sep)
    options = _options(str(path), header, label, text, sep)
    yield from _blocks(str(path), header, label, lambda: csv.open_csv(path, *options(1)), -1)


def _options(
    name: str, header: list[str], label: str | None, text: bool, sep: str
) -> Callable[[int], tuple[Any, Any, Any]]:
    """Return what makes options of Arrow, for a CSV below so many lines that are to be skipped."""
    import pyarrow as pa
    from pyarrow import csv

    if label is not None and label not in header:
        raise InputError(f"{name} has no column {label!r}; it has {listed(header)}")
    kinds = {name: pa.string() if text and name == label else pa.float64() for name in header}
    return lambda skip: (
        csv.ReadOptions(
            column_names=header, skip_rows=skip, block_size=_CSV_BYTES, use_threads=False
        ),
        csv.ParseOptions(delimiter=sep.replace("\\t", "\t")),
        csv.ConvertOptions(column_types=kinds, null_values=MISSING),
    )


def _blocks(
    name: str,
    header: list[str],
    label: str | None,
    read: Callable[[], Iterable[Any]],
    before: int,
) -> Iterator[Batch]:
    """Yield what Arrow reads, or raise what it says, whose row 1 is the row `before`."""
    import pyarrow as pa

    names = [column for column in header if column not in ("", label)]
    try:
        for number, batch in enumerate(read()):
            y = None if label is None else values(batch, label)
            yield Batch(f"block {number} of {name}", numbers(name, names, batch), y, names)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):  # no rows
            return
        raise _refused(name, header, label, str(error), before) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name} cannot be read as CSV: {error}") from None


class _Pipe:
    """CSV from an open binary file, whose rows are handed on as they come.

    The first `_HEAD` of them can be read again.
    """

    def __init__(self, name: str, file: Any, label: Any, text: bool, sep: str) -> None:
        self._name, self._file, self._sep = name, file, sep
        self._label, self._text = _named(label), text
        self._reading = self._read()
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

    def _read(self) -> Iterator[Batch]:
        try:
            import pyarrow as pa
            from pyarrow import csv
        except ImportError:
            raise missing("CSV is streamed by pyarrow", "dask", "pyarrow") from None
        header = next_header(self._name, self._file, self._sep)
        options = _options(self._name, header, self._label, self._text, self._sep)

        def parsed(rows: bytes) -> Any:
            return csv.read_csv(pa.BufferReader(rows), *options(0)).to_batches()

        for rows in _whole_rows(self._file, options(0)[1].delimiter.encode()):
            read = partial(parsed, rows)
            yield from _blocks(self._name, header, self._label, read, self._rows)


def _whole_rows(file: Any, sep: bytes) -> Iterator[bytes]:
    """Yield what a binary file has, as it comes, cut after rows; breaks in quotes end none.

    A quote opens a field at its beginning only.
    """
    opening = rb"(?:^|(?<=[\n" + re.escape(sep) + rb']))"'
    closed, opens = re.compile(opening + rb'(?:[^"]|"")*"'), re.compile(opening)
    left = b""
    while came := file.read1(_CSV_BYTES):
        left += came
        cut = left.rfind(b"\n") + 1
        while opens.search(closed.sub(b"", left[:cut])):
            cut = left.rfind(b"\n", 0, cut - 1) + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
    if left:
        yield left


def _refused(path: str, header: list[str], label: str | None, said: str, before: int) -> InputError:
    """Return the error for what Arrow could not read, with the row of the stream and the column."""
    row = re.search(r"Row #(\d+): ", said)
    at = "" if row is None else f"row {int(row[1]) - 1 + before}"
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
