"""Sources of examples: arrays, frames, CSV, Parquet and iterators, read in batches."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.arrays import ROWS_PER_BLOCK
from relaxboost._core.errors import InputError, missing
from relaxboost._core.files import check_input
from relaxboost._core.tables import is_parquet, no_column, opened
from relaxboost.matrices.chunks.sources import Batch, batches, check_integers, hands_over, parquet
from relaxboost.online.streams.csv_rows import READ_BYTES, csv_batches
from relaxboost.online.streams.words import ENCODE, HASH, TableColumns, are_words


class ExampleSource:
    """A source of example batches, such as an array, a file or a pipe.

    Attributes
    ----------
    name : str
        The name of the source in error messages.
    once : bool
        Whether the source can be read only once.
    live : bool
        Whether rows may arrive over time, as in a pipe. Batches are then used without waiting for
        more rows, and the first rows stay in memory to be read again.
    opened : callable
        A function that opens the source and returns an iterator over batches.
    """

    def __init__(self, given: Any, y: Any, columns: TableColumns) -> None:
        self.name = type(given).__name__
        self.once = False
        self.columns = columns
        # An open binary file may be a pipe, whose rows arrive over time.
        self.live = hasattr(given, "read1")
        self.opened: Callable[[], Iterator[Batch]]
        is_path = isinstance(given, str | os.PathLike)
        if (is_path or self.live) and not isinstance(y, str | None):
            raise InputError(f"y must be the name of the label column of the file, got {y!r}")
        if is_path:
            self.name = str(given)
            check_input(Path(given), folder=True)
            self.opened = lambda: _from_disk(Path(given), y, columns)
        elif self.live:
            self.name = str(getattr(given, "name", "the file"))
            self.once = True
            self.opened = _Pipe(self.name, given, y, columns).batches
        elif isinstance(given, np.ndarray):
            if isinstance(y, str):
                raise InputError(f"an array has no column {y!r}; pass y as an array of labels")
            self.name = "X"
            self.opened = lambda: iter([Batch("X", given, y, None)])
        elif _is_frame(given):
            self.name = "the frame"
            self.opened = lambda: _frame(given, y, columns)
        else:
            self._items(given, y)

    def _items(self, given: Any, y: Any) -> None:
        # Iterating over a frame of another library would yield columns, or their names.
        if hasattr(given, "columns"):
            raise InputError(f"{self.name} must be a pandas frame; call its method to_pandas()")
        if isinstance(given, io.TextIOBase):
            raise InputError(
                f"{self.name} is open in text mode; open the file in binary mode: open(path, 'rb')"
            )
        if y is not None and (hands_over(given) or not isinstance(y, str)):
            raise _with_labels(self.name)
        if hands_over(given):
            self.opened = lambda: batches(given)
        elif callable(given):
            self.name = getattr(given, "__name__", self.name)
            self.opened = lambda: _items(given(), y, self.name, self.columns)
        elif isinstance(given, Iterable):
            # An iterator cannot be restarted, and iter returns the iterator itself.
            self.once = iter(given) is given
            self.opened = lambda: _items(given, y, self.name, self.columns)
        else:
            raise InputError(
                "a stream is read from an array, a frame, the path of a CSV or Parquet file, an "
                "open binary CSV file, an iterable of (x, y) or frames, a function that returns "
                f"an iterable, or an object with next and reset; got {self.name}"
            )


def _is_frame(given: Any) -> bool:
    return hasattr(given, "iloc") and hasattr(given, "columns")


def _with_labels(name: str) -> InputError:
    return InputError(f"{name} must contain the labels, in pairs (x, y); leave out y")


def _numbers(path: Path, label: str | None) -> Iterator[Batch]:
    try:
        yield from parquet(path, label, ROWS_PER_BLOCK)
    except InputError as error:
        # The reader of chunks of games encodes no words.
        raise InputError(str(error).replace(ENCODE, HASH)) from None


def _tables(path: Path, label: str | None, columns: TableColumns) -> Iterator[Batch]:
    try:
        from pyarrow import ArrowException, dataset
    except ImportError:
        raise missing("Parquet is read by pyarrow", "dask", "pyarrow") from None
    try:
        files = dataset.dataset(path, format="parquet").get_fragments()
        for file in sorted(files, key=lambda file: str(file.path)):
            for batch in file.to_batches(batch_size=ROWS_PER_BLOCK, batch_readahead=1):
                if len(batch):
                    yield from _frame(batch.to_pandas(), label, columns, str(file.path))
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None


def _from_disk(path: Path, label: str | None, columns: TableColumns) -> Iterator[Batch]:
    if path.is_dir() or is_parquet(path):
        is_numeric = columns.words is None and not columns.drop
        yield from _numbers(path, label) if is_numeric else _tables(path, label, columns)
        return
    with opened(path) as file:
        raw: Any = file.detach()
        # gzip returns few bytes at a time, and a buffer collects them.
        with io.BufferedReader(raw, READ_BYTES) as whole:
            yield from csv_batches(str(path), whole, label, columns)


class _Pipe:
    """A source that reads the rows of a CSV file or pipe in binary mode."""

    def __init__(self, name: str, file: Any, label: Any, columns: TableColumns) -> None:
        self._name = name
        self._batches = csv_batches(name, file, label, columns)
        self._kept: list[Batch] = []
        self._rows = 0

    def batches(self) -> Iterator[Batch]:
        """Yield the stored batches of the first rows, and then new batches.

        The first rows are read twice: to compute base functions, and to learn.
        """
        # Base functions are computed from the first rows, which are kept in memory for this.
        head = 1000
        if self._rows > head and not self._kept:
            raise InputError(
                f"{self._name} can be read only once, and has already been read; pass a file"
            )
        yield from list(self._kept)
        for batch in self._batches:
            if self._rows <= head:
                self._kept.append(batch)
            else:
                self._kept = []
            self._rows += len(batch.X)
            yield batch


def _frame(
    frame: Any, label: Any, columns: TableColumns, where: str = "the frame"
) -> Iterator[Batch]:
    y = label
    if isinstance(label, str):
        if label not in frame.columns:
            raise no_column(where, label, frame.columns)
        y = frame[label]
        frame = frame.drop(columns=[label])
    columns.check(where, [str(name) for name in frame.columns])
    if columns.drop:
        frame = frame.loc[:, ~frame.columns.map(str).isin(columns.drop)]
    if y is not None and len(y) != len(frame):
        raise InputError(
            f"there are {len(frame)} examples but {len(y)} labels; pass one label per example"
        )
    y = None if y is None else np.asarray(y)
    numbers = _numeric_columns(frame, columns, where)
    named = list(map(str, frame.columns[numbers]))
    place_of = {str(name): place for place, name in enumerate(frame.columns)}
    for a in range(0, len(frame), ROWS_PER_BLOCK):
        part = frame.iloc[a : a + ROWS_PER_BLOCK]
        X = part.iloc[:, numbers].to_numpy(np.float64, na_value=np.nan)
        texts = [part.iloc[:, place_of[name]].astype(object).tolist() for name in columns.texts]
        X, names = columns.joined(X, named, texts)
        yield Batch(where, X, None if y is None else y[a : a + ROWS_PER_BLOCK], names)


def _numeric_columns(frame: Any, columns: TableColumns, where: str) -> list[int]:
    """Return the positions of the numeric columns of a pandas frame.

    If words are permitted, columns of words are added to `columns.words`. Other columns raise an
    InputError.
    """
    from pandas.api.types import is_numeric_dtype

    words = columns.words
    found = []
    for place, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if str(name) in columns.texts:
            continue
        if is_numeric_dtype(kind):
            # A double would round an integer above 2^53 without notice.
            check_integers(where, name, frame.iloc[:, place].dropna().to_numpy())
            found.append(place)
        elif words is None or not are_words(kind):
            remedy = HASH if are_words(kind) else ENCODE
            raise InputError(f"{where}: column {name!r} is not numeric; {remedy}")
        else:
            words.columns.append(str(name))
    return found


def _items(
    source: Iterable[Any], label: str | None, name: str, columns: TableColumns
) -> Iterator[Batch]:
    for number, item in enumerate(source):
        if label is not None:
            # The test for columns excludes a single row of a frame, which also has `iloc`.
            if not _is_frame(item):
                raise _with_labels(name)
            yield from _frame(item, label, columns)
            continue
        X, y = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        names = getattr(X, "columns", None)
        # The library river has examples that are dicts of features.
        if isinstance(X, Mapping):
            names = list(X)
            X = list(X.values())
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise InputError(
                f"item {number} of {name} cannot be converted to an array: {error}"
            ) from None
        if X.ndim == 1:
            X = X[np.newaxis]
            y = None if y is None else np.asarray(y).reshape(1)
        yield Batch(f"item {number} of {name}", X, y, names)
