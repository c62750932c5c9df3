"""Streams: examples in pages, read once or again and again, always in the same order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.matrices.chunks.sources import Batch, Header, check_integers
from relaxboost.matrices.labelled import finite_doubles
from relaxboost.online import kernels
from relaxboost.online.streams.bases import BaseFunctions, Experts
from relaxboost.online.streams.sources import ExampleSource

_PAGE_BYTES = 2**20
"""What a page of features or base functions takes: it stays in cache."""


class Page(NamedTuple):
    """Some rows of a stream, one after the other."""

    first: int
    """The number of its first row in the stream, from 0."""
    H: Array
    """Values of the base functions, shape (rows, M)."""
    y: Vector | None
    """Targets, shape (rows,)."""


class Stream:
    """Examples in the order they come; made by :func:`stream`.

    Iterating gives blocks (H, y), from the first row on, each time anew.

    Attributes
    ----------
    base : BaseFunctions
    replayable : bool
        Whether it can be gone through more than once.
    name : str
        What errors call it.
    start : int
        The row it begins with; rows keep their numbers.
    rows : int or None
        Where it ends, known once it was read.
    """

    rows: int | None

    def __init__(
        self, source: ExampleSource, base: BaseFunctions, page: int | None, classes: Any
    ) -> None:
        self.base, self.name, self.replayable = base, source.name, not source.once
        self.start, self.rows = 0, None
        self._source, self._size, self._classes = source, page, classes
        self._header, self._begun = Header(), False

    def __repr__(self) -> str:
        again = "" if self.replayable else ", to be read once"
        return f"Stream({self.name}, {self.base.name}{again})"

    def __iter__(self) -> Iterator[tuple[Array, Vector | None]]:
        for page in self.pages():
            yield page.H, page.y

    def pages(self, start: int = 0) -> Iterator[Page]:
        """Yield the pages from row `start` on, or that it begins with.

        Raises
        ------
        InputError
            For a stream that was read and cannot be replayed; for missing values, other columns,
            labels that are none, with row and column.
        """
        for first, X, y in self._rows(max(start, self.start)):
            H = self.base.values(X)
            if H.shape != (len(X), self.base.size(X.shape[1])):
                raise InputError(
                    f"{self.base.name} gave values of shape {H.shape} for {len(X)} examples; they "
                    "must be (rows, M)"
                )
            yield Page(first, np.ascontiguousarray(H, dtype=np.float64), y)

    def head(self, rows: int) -> tuple[Array, Vector | None]:
        """Return features and targets of the first rows, for base functions to be made of.

        Raises
        ------
        InputError
            For a stream that cannot be replayed, or an empty one.
        """
        if not (self.replayable or self._source.live):
            raise InputError(f"{self.name} can be read once, so that its head would be lost")
        for _, X, y in self._rows(self.start, count("rows", rows)):
            return X, y
        raise InputError(f"{self.name} is empty: it has no rows")

    def through(self, base: BaseFunctions) -> Stream:
        """Return the same stream with other base functions."""
        return self._like(base, self.start)

    def after(self, rows: int) -> Stream:
        """Return the same stream without its first rows; the others keep their numbers."""
        return self._like(self.base, natural("rows", rows))

    def _like(self, base: BaseFunctions, start: int) -> Stream:
        made = Stream(self._source, base, self._size, self._classes)
        made.start = start
        return made

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features, known once a page was read."""
        return self._header.names

    @property
    def origin(self) -> dict[str, str]:
        """What a learner has to remember of where it learned: base functions, width, columns.

        Known once a page was read; columns without names are "".
        """
        names = hashlib.sha256("\n".join(self._header.names).encode()).hexdigest()[:16]
        return {
            "base functions": self.base.digest(),
            "features": str(len(self._header.names)),
            "columns": names if self._header.given else "",
        }

    def _rows(self, start: int, size: int = 0) -> Iterator[tuple[int, Array, Vector | None]]:
        """Yield (first row, X, y) in pages of one size, whatever the source has."""
        live = self._source.live
        if self._begun and not (self.replayable or live):
            raise InputError(
                f"{self.name} can be read once only, and has been; give arrays, a file, a list, or "
                "a function that opens it anew"
            )
        self._begun = True
        live = live and not size
        seen, held, rows = 0, [], 0
        for batch in self._source.opened():
            X, y = self._checked(batch, seen)
            size = size or self._page_rows(X.shape[1])
            a = max(0, start - seen)
            while a < len(X):
                b = min(len(X), a + size - rows)
                held.append((X[a:b], None if y is None else y[a:b]))
                rows, a = rows + b - a, b
                if rows == size:
                    yield self._page(seen + b - rows, held)
                    held, rows = [], 0
            seen += len(X)
            if live and held:
                yield self._page(seen - rows, held)
                held, rows = [], 0
        if held:
            yield self._page(seen - rows, held)
        self.rows = seen

    def _page_rows(self, features: int) -> int:
        width = max(features, self.base.size(features))
        return self._size or max(1, _PAGE_BYTES // (8 * width))

    def _checked(self, batch: Batch, seen: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the arrays of a batch, of the columns of those before it."""
        X, y = np.asarray(batch.X), None if batch.y is None else np.asarray(batch.y)
        if X.ndim != 2 or (len(X) and not X.shape[1]):
            raise InputError(
                f"{batch.where}, row {seen} of the stream, has shape {X.shape}; a block is (rows, "
                "features), an example (features,)"
            )
        if y is not None and y.shape != X.shape[:1]:
            raise InputError(f"{batch.where} has {len(X)} examples and labels of shape {y.shape}")
        if not len(X):
            return X, y
        self._header.check(batch, X.shape[1])
        features = self.base.features
        if features not in (None, X.shape[1]):
            raise InputError(
                f"{self.base.name} takes {features} features, and {self.name} has {X.shape[1]}"
            )
        return X, y

    def _page(self, first: int, held: list[Any]) -> tuple[int, Array, Vector | None]:
        """Return the rows of a page, which may come from several batches, as doubles."""
        X = held[0][0] if len(held) == 1 else np.concatenate([X for X, _ in held])
        if X.dtype != np.float64 or np.isnan(kernels.dual_norms(X, False)).any():
            X = finite_doubles(self.name, X, self._header.names, "row", first)
        if any(y is None for _, y in held):
            if any(y is not None for _, y in held):
                raise InputError(f"{self.name} has labels for some rows from {first} on, not all")
            return first, X, None
        y = held[0][1] if len(held) == 1 else np.concatenate([y for _, y in held])
        return first, X, self._targets(y, first)

    def _targets(self, y: NDArray[Any], first: int) -> Vector:
        """Return targets as doubles, and classes as −1 and +1."""
        if self._classes is None:
            check_integers(self.name, "y", y)
            try:
                targets = np.asarray(y, dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError(
                    f"{self.name} has labels that are no numbers, such as {str(y[0])!r}; "
                    "name the two, the negative one first: classes=(negative, positive)"
                ) from None
            wrong, rule = ~np.isfinite(targets), "must be finite"
        else:
            negative, positive = self._classes
            targets = np.where(y == positive, 1.0, -1.0)
            wrong = (y != positive) & (y != negative)
            rule = f"is neither {negative!r} nor {positive!r}, the classes given"
        if wrong.any():
            row = int(np.argmax(wrong))
            label, where = y[row], f"at row {first + row}"
            if label is None or str(label) in ("", "nan"):
                raise InputError(f"{self.name} has no label {where}; leave the row out")
            raise InputError(f"{self.name} has the label {label} {where}: it {rule}; leave it out")
        return targets


def stream(
    source: Any,
    y: Any = None,
    *,
    base: BaseFunctions | None = None,
    page: int | None = None,
    classes: tuple[Any, Any] | None = None,
    sep: str = ",",
) -> Stream:
    """Return a stream of examples, which learners, regret and `progressive` read page by page.

    How it is cut into pages changes no bit of what is learned.

    Parameters
    ----------
    source : array, frame, path, open file, iterable, function, or object with next and reset
        A NumPy array or memory map of shape (m, features), or with its targets (X, y); a pandas
        frame; a file ``.csv`` with a
        header, ``.parquet``, or a folder of Parquet files, of any size, read by pyarrow. An
        iterable has items (x, y) or x, of an example or a block; x may be a dict of features. Or
        its items are frames, as pandas reads a file in chunks, and y is a column's name. A function
        returns an iterable, anew at each call. A CSV that is open as a binary file, such as
        ``sys.stdin.buffer``, is handed on as it comes, once, but for its head. An object with
        ``next(input_data)`` and ``reset()`` has the shape of xgboost's DataIter.
    y : array of shape (m,) or str, optional
        Targets; for frames and files the name of a column. None where the source hands them over,
        and for costs of experts, which have none.
    base : BaseFunctions, optional
        By default `Experts`: the features as they are.
    page : int, optional
        Rows at a time, by default as many as a megabyte holds. One is for iterators that are
        live: with more, so many examples are waited for before the first is predicted.
    classes : (negative, positive), optional
        Labels that stand for −1 and +1.
    sep : str
        What separates columns of a CSV: one character, or ``\\t``.

    Returns
    -------
    Stream
        Replayable unless the source is an iterator, which can be read once.

    Raises
    ------
    InputError
        For a source of another kind, or a `y` that does not go with it; what is wrong with the
        rows is said when they are read.

    Examples
    --------
    >>> import numpy as np
    >>> from relaxboost.online import stream
    >>> H = np.array([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.0]])
    >>> [(block.tolist(), y.tolist()) for block, y in stream(H, [1, -1, 1], page=2)]
    [([[1.0, -1.0], [0.5, 1.0]], [1.0, -1.0]), ([[-1.0, 0.0]], [1.0])]
    """
    pair = isinstance(source, tuple) and [getattr(part, "ndim", 0) for part in source] == [2, 1]
    if y is None and pair:  # as `regret` takes it too
        source, y = source
    if page is not None:
        page = count("page", page)
    if classes is not None:
        two = tuple(classes) if isinstance(classes, tuple | list) else ()
        if len(two) != 2 or two[0] == two[1]:
            raise InputError(f"classes must be two different labels, got {classes!r}")
        classes = two
    if base is not None and not isinstance(base, BaseFunctions):
        raise InputError(f"base must be BaseFunctions such as Experts(), got {base!r}")
    text = classes is not None and any(isinstance(label, str) for label in classes)
    return Stream(ExampleSource(source, y, text, sep), base or Experts(), page, classes)
