"""Blocks of labelled rows from arrays, Parquet files, or batch iterators."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError, missing
from relaxboost._core.files import check_input
from relaxboost._core.tables import no_column
from relaxboost.matrices.datasets import labels
from relaxboost.matrices.labelled import ROUNDED, finite_doubles, rounded_integer


class Batch(NamedTuple):
    """A block of labelled rows, as provided by the source."""

    where: str
    """The name of the block in error messages."""
    X: Any
    y: Any
    names: Any
    """The feature names, or None if the source has none."""


def blocks(source: Any, y: Any, page: int) -> Iterator[Batch]:
    """Return an iterator over the unchecked blocks of a source, which is read once.

    If the type of the source is not supported, or if `y` does not fit the source, InputError is
    raised.
    """
    if isinstance(source, str | os.PathLike):
        if not isinstance(y, str):
            raise InputError(
                f"for Parquet files, y must be the name of the label column, got {y!r}"
            )
        return parquet(Path(source), y, page)
    if hands_over(source):
        if y is not None:
            raise InputError("an iterator provides the labels with its batches; leave y out")
        return batches(source)
    if isinstance(source, np.ndarray):
        return iter([Batch("X", source, y, None)])
    raise InputError(
        "chunked reads a NumPy array or memory map, the path of Parquet files, or an iterator "
        f"with next and reset, got {type(source).__name__}; for data in memory use stumps(X, y)"
    )


def hands_over(source: Any) -> bool:
    """Return whether a source has the methods `next` and `reset` of xgboost's DataIter."""
    return all(callable(getattr(source, name, None)) for name in ("next", "reset"))


def batches(source: Any) -> Iterator[Batch]:
    """Yield the batches of an iterator with the methods of xgboost's DataIter."""
    batch: list[Batch] = []

    def take(data: Any = None, label: Any = None, feature_names: Any = None, **others: Any) -> None:
        given = [name for name, value in others.items() if value is not None]
        if given:
            raise InputError(
                f"the iterator provides {given[0]!r}, which chunked does not support; provide only "
                "data and label (repeat rows instead of providing weights)"
            )
        names = getattr(data, "columns", None) if feature_names is None else feature_names
        batch.append(Batch(f"block {number}", data, label, names))

    source.reset()
    number = 0
    while True:
        more = source.next(take)
        if bool(more) != bool(batch):
            did = "no data" if more else "data"
            raise InputError(
                f"next() provided {did} for block {number} and returned {more!r}; it must provide "
                "a batch and return True, or provide nothing and return False at the end"
            )
        if not more:
            return
        yield from batch
        number += 1
        batch.clear()


def parquet(path: Path, label: str | None, page: int) -> Iterator[Batch]:
    """Yield the batches of a Parquet file, or of all files in a folder, sorted by name.

    If `label` is None, every column is a feature.
    """
    try:
        from pyarrow import ArrowException, dataset
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing("Parquet files need pyarrow", "dask", "pyarrow") from None
    check_input(path, folder=True)
    names: list[str] = []
    try:
        files = dataset.dataset(path, format="parquet").get_fragments()
        for file in sorted(files, key=lambda file: str(file.path)):
            given = file.physical_schema.names
            if label is not None and label not in given:
                raise no_column(file.path, label, given)
            got = [name for name in given if name != label]
            names = names or got
            if set(names) != set(got):
                raise InputError(f"{file.path} has {_other(got, names)}")
            # Without a buffer, pyarrow holds whole row groups in memory, perhaps the whole file.
            with ParquetFile(file.path, pre_buffer=False, buffer_size=2**16) as read:
                scan = {"batch_size": page, "columns": given, "use_threads": False}
                for number, batch in enumerate(read.iter_batches(**scan)):
                    X = numbers(file.path, names, batch)
                    y = None if label is None else values(batch, label)
                    yield Batch(f"block {number} of {file.path}", X, y, names)
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None


def values(batch: Any, name: str) -> NDArray[Any]:
    """Return the column `name` of an Arrow batch as an array.

    Missing values become nan, or None in a column of objects.
    """
    from pyarrow import types

    column = batch.column(name)
    kind = batch.schema.field(name).type
    is_number = types.is_floating(kind) or types.is_integer(kind)
    if is_number and not column.null_count and len(column):
        flat = np.frombuffer(column.buffers()[1], kind.to_pandas_dtype())
        return flat[column.offset :][: len(column)]
    import pandas as pd  # noqa: F401  # Arrow would load it, and swallow a Ctrl-C meanwhile

    return column.to_numpy(zero_copy_only=False)


def numbers(where: str, names: list[str], batch: Any) -> Array:
    """Return the features of an Arrow batch, with examples in rows.

    If a column is invalid, InputError names it.
    """
    if not names:
        raise InputError(f"{where} has no column besides the labels")
    rows = np.empty((batch.num_rows, len(names)))
    for f, name in enumerate(names):
        column = values(batch, name)
        if column.dtype.kind not in "biuf":
            raise InputError(f"{where}: column {name!r} is not numeric; drop or encode it")
        check_integers(where, name, column)
        rows[:, f] = column
    return rows


def check_integers(where: str, name: str, column: NDArray[Any]) -> None:
    """Raise InputError if a column contains an integer that a double cannot represent exactly."""
    if (at := rounded_integer(column)) is not None:
        told = f"{where}: column {name!r} has {column[at]}, an integer that doubles round"
        raise InputError(f"{told}; {ROUNDED}")


def _other(got: list[str], want: list[str]) -> str:
    if added := [name for name in got if name not in want]:
        return f"a column {added[0]!r}, which the blocks before it do not have"
    if gone := [name for name in want if name not in got]:
        return f"no column {gone[0]!r}, which the blocks before it have"
    return "its columns in another order than the blocks before it"


class Header:
    """The feature names, which must be the same in all blocks of a source.

    Parameters
    ----------
    names : sequence of str, optional
        The names of the features. By default they are those of the first block, or x0, x1, ...
    """

    def __init__(self, names: Any = None) -> None:
        self.names: tuple[str, ...] = () if names is None else tuple(map(str, names))
        self.given = names is not None
        """Whether the caller or the source provides feature names."""
        self._columns: list[str] = []

    def check(self, block: Batch, features: int) -> None:
        """Raise InputError if the features of a block differ from those of earlier blocks."""
        names = None if block.names is None else list(map(str, block.names))
        if not self._columns:
            self._columns = names or [f"x{f}" for f in range(features)]
            self.given = self.given or names is not None
            self.names = self.names or tuple(self._columns)
            if len(self.names) != features:
                raise InputError(
                    f"feature_names has {len(self.names)} names, but the source has {features} "
                    "features"
                )
        elif self.given and names is not None and names != self._columns:
            raise InputError(f"{block.where} has {_other(names, self._columns)}")
        elif features != len(self._columns):
            raise InputError(
                f"{block.where} has {features} columns, but earlier blocks have "
                f"{len(self._columns)} columns"
            )


class LabelledRows:
    """An iterator over the checked rows of a source, in blocks of doubles.

    After the last block, `names` has the feature names, and `signs` returns the labels.
    """

    def __init__(self, source: Any, y: Any, page: int, names: Any) -> None:
        self._blocks = blocks(source, y, page)
        self._page = page
        self._header = Header(names)
        self._values: list[Any] = []  # These are the different labels, at most two.
        self._firsts: list[NDArray[np.bool_]] = []

    def __iter__(self) -> Iterator[Array]:
        for block in self._blocks:
            X, y = np.asarray(block.X), np.asarray(block.y)
            if X.size == y.size == 0:
                continue
            if X.ndim != 2 or not X.size or y.shape != X.shape[:1]:
                raise InputError(
                    f"{block.where} has data of shape {X.shape} and labels of shape {y.shape}; "
                    "they must be (rows, features) and (rows,)"
                )
            self._header.check(block, X.shape[1])
            # A copy of a whole block would need too much memory.
            for a in range(0, X.shape[0], self._page):
                self._take_labels(block.where, a, y[a : a + self._page])
                part = X[a : a + self._page]
                yield finite_doubles(block.where, part, self.names, "its row", a)
        if not self._firsts:
            raise InputError("the source has no rows")

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names of the source."""
        return self._header.names

    def _take_labels(self, where: str, first: int, y: NDArray[Any]) -> None:
        given = y.tolist()
        for value in dict.fromkeys(given):
            if value in self._values:
                continue
            if value is None or value != value or len(self._values) == 2:
                what = "the label" if value is None or value != value else "another label"
                raise InputError(
                    f"{where} has {what} {value!r} at its row {first + given.index(value)}; a "
                    "margin needs two classes and no missing labels; the labels so far are "
                    f"{self._values}"
                )
            self._values.append(value)
        self._firsts.append(y == self._values[0])

    def signs(self) -> Vector:
        """Return the labels of all rows as −1 and +1, as mapped by `datasets.labels`."""
        values = self._values
        signs = values if set(values) <= {-1, 1} else labels(values).signs.tolist()
        first = np.concatenate(self._firsts)
        return np.where(first, float(signs[0]), float(signs[-1]))
