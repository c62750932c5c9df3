"""Streams of examples, which are read in pages of consecutive rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.matrices.chunks.sources import Batch, Header, check_integers
from relaxboost.matrices.labelled import finite_doubles
from relaxboost.online.kernels.vectors import dual_norms
from relaxboost.online.streams.bases import BaseFunctions, Experts, LinearBasis
from relaxboost.online.streams.sources import ExampleSource
from relaxboost.online.streams.words import HASH_BUCKETS, TableColumns, WithWords


class Page(NamedTuple):
    """A group of consecutive rows of a stream that are read together."""

    first: int
    """The index of the first row in the stream, from 0."""
    H: Array
    """The base function values, with a row for each example."""
    y: Vector | None
    """The targets, or None if the stream has none."""
    X: Array
    """The features, with a row for each example."""


class Stream:
    """A stream of examples in their order of arrival, returned by `stream`.

    Each iteration over the stream yields blocks (H, y), starting with the first row.

    Attributes
    ----------
    base : BaseFunctions
        The base functions.
    replayable : bool
        Whether the stream can be read repeatedly.
    name : str
        The name of the stream in error messages.
    start : int
        The index of the first row to read.
    rows : int or None
        The number of rows, including rows before `start`, or None before the end was read.
    """

    rows: int | None

    def __init__(
        self, source: ExampleSource, base: BaseFunctions, page: int | None, classes: Any
    ) -> None:
        self.base = base
        self.name = source.name
        self.replayable = not source.once
        self.start = 0
        self.rows = None
        self._source = source
        self._size = page
        self._classes = classes
        self._header = Header()
        self._was_read = False

    def __repr__(self) -> str:
        once = "" if self.replayable else ", to be read once"
        return f"Stream({self.name}, {self.base.name}{once})"

    def __iter__(self) -> Iterator[tuple[Array, Vector | None]]:
        for page in self.pages():
            yield page.H, page.y

    def pages(self, start: int = 0) -> Iterator[Page]:
        """Yield the pages from the row `start` or `Stream.start`, whichever is later.

        Raises
        ------
        InputError
            If the stream was already read and can be read only once, or if a row is invalid.
        """
        for first, X, y in self._rows(max(start, self.start)):
            H = self.base.values(X)
            if H.shape != (len(X), self.base.size(X.shape[1])):
                raise InputError(
                    f"the values of {self.base.name} must have a row for each example and a column "
                    f"for each base function, got shape {H.shape} for {len(X)} examples"
                )
            yield Page(first, np.ascontiguousarray(H, dtype=np.float64), y, X)

    def head(self, rows: int) -> tuple[Array, Vector | None]:
        """Return the features and targets of the first rows, for computing base functions.

        Raises
        ------
        InputError
            If the stream can be read only once, or is empty.
        """
        if not (self.replayable or self._source.live):
            raise InputError(
                f"{self.name} can be read only once, so reading its first rows would lose "
                "them; pass a source that can be read repeatedly"
            )
        for _, X, y in self._rows(self.start, count("rows", rows)):
            return X, y
        raise InputError(f"{self.name} is empty: it has no rows; pass at least one example")

    def through(self, base: BaseFunctions) -> Stream:
        """Return the stream with other base functions."""
        return self._like(base, self.start)

    def encoded(self, make: Callable[[Array], BaseFunctions], rows: int) -> BaseFunctions:
        """Return base functions for a stream with numeric columns and columns of words.

        Numeric columns have base functions that `make` computes from the first rows. Columns of
        words have base functions with the values 0 and 1.

        Parameters
        ----------
        make : callable
            A function that maps the numeric columns of the first rows to base functions, such as
            `LinearBasis.spanning`.
        rows : int
            The number of rows that are passed to `make`.
        """
        X, _ = self.head(rows)
        words = self._source.columns.words
        if words is None or not words.columns:
            return make(X)
        numbers = X.shape[1] - HASH_BUCKETS
        base = make(X[:, :numbers]) if numbers else LinearBasis([], [])
        return WithWords(base, numbers, words)

    def after(self, rows: int) -> Stream:
        """Return the stream without its first rows. The other rows keep their indices."""
        return self._like(self.base, natural("rows", rows))

    def _like(self, base: BaseFunctions, start: int) -> Stream:
        # The copy shares the source, and reads the header again.
        other = Stream(self._source, base, self._size, self._classes)
        other.start = start
        return other

    @property
    def columns(self) -> tuple[str, ...]:
        """The feature names, which are empty until the first rows have been read."""
        return self._header.names

    @property
    def origin(self) -> dict[str, str]:
        """A dictionary that describes the base functions and the columns of the stream.

        Saved learners contain it, and reject other streams. The columns are known after the first
        rows have been read. Without column names, the entry "names" is "".
        """
        return {
            "base functions": self.base.digest(),
            "features": str(len(self._header.names)),
            "names": "\n".join(self._header.names) if self._header.given else "",
        }

    def _rows(self, start: int, size: int = 0) -> Iterator[tuple[int, Array, Vector | None]]:
        """Yield (first, X, y) for each page of consecutive rows.

        Here `first` is the index of the first row, X contains the features, and y the targets. All
        pages but the last have the same number of rows. Pages of a pipe may be shorter, because
        they do not wait for more rows.
        """
        self._check_unread()
        # A page of a live source does not wait for more rows, unless `head` requests a size.
        is_live = self._source.live and not size
        seen = 0
        held: list[tuple[NDArray[Any], NDArray[Any] | None]] = []
        rows = 0
        # Batches are divided and joined, because all pages should have the same size.
        for batch in self._source.opened():
            X, y = self._checked(batch, seen)
            # By default a page takes a megabyte, that is, 2^17 doubles.
            features = X.shape[1]
            size = size or self._size or max(1, 2**17 // max(features, self.base.size(features)))
            at = max(0, start - seen)
            while at < len(X):
                end = min(len(X), at + size - rows)
                held.append((X[at:end], None if y is None else y[at:end]))
                rows += end - at
                at = end
                if rows == size or (is_live and at == len(X)):
                    yield self._page(seen + at - rows, held)
                    held = []
                    rows = 0
            seen += len(X)
        if held:
            yield self._page(seen - rows, held)
        self.rows = seen

    def _check_unread(self) -> None:
        if self._was_read and not (self.replayable or self._source.live):
            raise InputError(
                f"{self.name} can be read only once, and has already been read; pass arrays, a "
                "file, a list, or a function that returns a new iterator"
            )
        self._was_read = True

    def _checked(self, batch: Batch, seen: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        X = np.asarray(batch.X)
        y = None if batch.y is None else np.asarray(batch.y)
        if X.ndim != 2 or (len(X) and not X.shape[1]):
            raise InputError(
                f"{batch.where}, row {seen} of the stream: a block must have shape (rows, "
                f"features), and an example must have shape (features,), got {X.shape}"
            )
        if y is not None and y.shape != X.shape[:1]:
            raise InputError(
                f"{batch.where}: labels must have shape ({len(X)},), one per example, got {y.shape}"
            )
        # An empty batch may have any number of columns.
        if not len(X):
            return X, y
        self._header.check(batch, X.shape[1])
        features = self.base.features
        if features not in (None, X.shape[1]):
            raise InputError(
                f"{self.base.name} expects {features} features, but {self.name} has {X.shape[1]}"
            )
        return X, y

    def _page(self, first: int, held: list[Any]) -> tuple[int, Array, Vector | None]:
        # The list `held` contains the parts (X, y) of batches from which the page is made.
        X = held[0][0] if len(held) == 1 else np.concatenate([X for X, _ in held])
        # If the fast compiled check fails, `finite_doubles` names row and column in its error.
        if X.dtype != np.float64 or np.isnan(dual_norms(X, False)).any():
            X = finite_doubles(self.name, X, self._header.names, "row", first)
        if any(y is None for _, y in held):
            if any(y is not None for _, y in held):
                raise InputError(
                    f"{self.name} has labels for only some rows of the page that starts at "
                    f"row {first}; pass labels for all rows or none"
                )
            return first, X, None
        y = held[0][1] if len(held) == 1 else np.concatenate([y for _, y in held])
        return first, X, self._targets(y, first)

    def _targets(self, y: NDArray[Any], first: int) -> Vector:
        # If no classes are given, the targets are numbers.
        if self._classes is None:
            check_integers(self.name, "y", y)
            try:
                targets = np.asarray(y, dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError(
                    f"{self.name} has labels that are not numbers, such as {str(y[0])!r}; "
                    "name the two labels, the negative one first: classes=(negative, positive)"
                ) from None
            wrong = ~np.isfinite(targets)
            rule = "must be finite"
        else:
            negative, positive = self._classes
            targets = np.where(y == positive, 1.0, -1.0)
            wrong = (y != positive) & (y != negative)
            rule = f"is neither {negative!r} nor {positive!r}, the given classes"
        if wrong.any():
            row = int(np.argmax(wrong))
            label = y[row]
            where = f"at row {first + row}"
            # A missing label is None, nan or empty text.
            if label is None or str(label) in ("", "nan"):
                raise InputError(
                    f"{self.name} has no label {where}; add the label, or leave the row out if it "
                    "was not learned before"
                )
            remedy = "correct the label, or leave the row out if it was not learned before"
            found = sorted(set(y.tolist()), key=str)
            # If no label is one of the classes, the likely mistake is in the classes and not in a
            # row.
            if self._classes is not None and wrong.all() and len(found) == 2:
                remedy = f"name the labels, the negative one first: classes={tuple(found)}"
            raise InputError(f"{self.name} has the label {label} {where}: it {rule}; {remedy}")
        return targets


def stream(
    source: Any,
    y: Any = None,
    *,
    base: BaseFunctions | None = None,
    page: int | None = None,
    classes: tuple[Any, Any] | None = None,
    sep: str = ",",
    drop: Iterable[str] = (),
    categories: Iterable[str] | None = None,
) -> Stream:
    """Return a stream of examples from arrays, frames, files or iterables.

    Streams are read in pages of consecutive rows. Learning results are bitwise the same for all
    page sizes.

    Parameters
    ----------
    source : array, frame, path, open file, iterable, function, or object with next and reset
        One of the following sources.

        * A NumPy array or memory map of shape (m, features), or a pair (X, y).
        * A pandas frame.
        * The path of a ``.csv`` file with a header row, of a ``.parquet`` file, or of a folder of
          Parquet files, of any size. Parquet needs pyarrow.
        * An iterable of pairs (x, y) or of x, each for an example or a block. For an example, x may
          be a dict of features.
        * An iterable of pandas frames, where `y` is the name of a column.
        * A function that returns a new iterable at each call. It can fill gaps in a large file:
          ``lambda: (part.fillna({"price": 0.0}) for part in pd.read_csv(path, chunksize=1000))``.
        * A CSV file that is open in binary mode, such as ``sys.stdin.buffer``. It is read once, and
          pages do not wait for further rows.
        * An object with ``next(input_data)`` and ``reset()``, like the DataIter of xgboost.
    y : array of shape (m,) or str, optional
        The targets or, for frames and files, the name of their column. Leave it out for pairs (x,
        y), and for losses without targets, such as "inner".
    base : BaseFunctions, optional
        The base functions. The default `Experts()` uses the features themselves.
    page : int, optional
        The number of rows in a page. By default a page takes a megabyte. For an iterator that waits
        for new examples, pass 1, because only complete pages are learned.
    classes : (negative, positive), optional
        The class labels that become −1 and +1.
    sep : str
        The separator of a CSV file: one character, or ``\\t``.
    drop : iterable of str
        The columns of files and frames to leave out.
    categories : iterable of str, optional
        The categorical columns of files and frames. If it is passed, columns whose first value is a
        word are also categorical. Categories are hashed to 1024 features with the values 0 and 1,
        so that several words may share a feature. See `Stream.encoded` for base functions of such
        features. By default, columns of words are rejected.

    Returns
    -------
    Stream
        The stream, which is replayable unless the source is an iterator or an open file.

    Raises
    ------
    InputError
        If the source is not supported, or if `y` does not fit it. Errors in rows are raised when
        the rows are read.

    Examples
    --------
    >>> import numpy as np
    >>> from relaxboost.online import stream
    >>> H = np.array([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.0]])
    >>> [(block.tolist(), y.tolist()) for block, y in stream(H, [1, -1, 1], page=2)]
    [([[1.0, -1.0], [0.5, 1.0]], [1.0, -1.0]), ([[-1.0, 0.0]], [1.0])]
    """
    is_pair = isinstance(source, tuple) and [getattr(part, "ndim", 0) for part in source] == [2, 1]
    if y is None and is_pair:
        source, y = source
    if page is not None:
        page = count("page", page)
    if base is not None and not isinstance(base, BaseFunctions):
        raise InputError(f"base must be a BaseFunctions object, such as Experts(), got {base!r}")
    pair = None if classes is None else _checked_classes(classes)
    has_text = any(isinstance(label, str) for label in pair or ())
    columns = TableColumns(drop, categories, sep, has_text)
    return Stream(ExampleSource(source, y, columns), base or Experts(), page, pair)


def _checked_classes(classes: Any) -> tuple[Any, Any]:
    is_pair = isinstance(classes, tuple | list) and len(classes) == 2
    if not is_pair or classes[0] == classes[1]:
        raise InputError(f"classes must be two different labels, got {classes!r}")
    # The arguments are copied, because the caller may change a list later.
    return classes[0], classes[1]
