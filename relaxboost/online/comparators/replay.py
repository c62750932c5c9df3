"""A stream of examples that can be read repeatedly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import ROWS_PER_BLOCK, Matrix, Vector, doubles
from relaxboost._core.errors import InputError, RowError
from relaxboost.online.blocks import checked_weights, opener
from relaxboost.online.losses import OnlineLoss


class Played(NamedTuple):
    """A block of consecutive examples of a stream."""

    rows: slice
    """The positions of the examples in the stream."""
    H: Matrix
    """The base function values, with an example in each row."""
    y: Vector
    weight: Vector


class Replay:
    """A stream of validated examples that can be read repeatedly, in blocks.

    `source` is the argument `stream` of `hindsight`, and `first` the number of examples to read.
    Invalid, empty and one-pass streams raise an InputError.
    """

    def __init__(self, source: Any, loss: OnlineLoss, first: int | None = None) -> None:
        self._loss = loss
        self._first = first
        remedy = "pass arrays (H, y), a list of blocks, or a function that reopens the stream"
        self._open, self._whole = opener(source, remedy)
        self._checked: Played | None = None
        self.m = 0
        self.M = 0
        self.total = 0.0
        for block in self._read():
            self.m += block.y.size
            self.M = block.H.shape[1]
            self.total += float(block.weight.sum())
            # Arrays are checked once and stored. Streams may change, so that they are checked each
            # time that they are read.
            if self._whole:
                self._checked = block
        if self.m == 0:
            raise InputError("the stream is empty; regret needs at least one example")
        if first is not None and self.m < first:
            raise InputError(
                f"the stream has {self.m} examples, but {first} were requested; request fewer "
                "examples"
            )
        if self.total <= 0.0:
            raise InputError("all weights are zero; at least one example needs a positive weight")

    def __iter__(self) -> Iterator[Played]:
        """Yield the blocks of the stream, with at most `ROWS_PER_BLOCK` rows each."""
        seen = 0
        for block in self._read() if self._checked is None else (self._checked,):
            for start in range(0, block.y.size, ROWS_PER_BLOCK):
                part = slice(start, start + ROWS_PER_BLOCK)
                y = block.y[part]
                yield Played(slice(seen, seen + y.size), block.H[part], y, block.weight[part])
                seen += y.size
        if seen != self.m:
            raise InputError(
                f"the stream had {self.m} examples when it was first read, but has {seen} now; "
                "pass a stream that does not change, such as arrays or a function that reopens it"
            )

    def _read(self) -> Iterator[Played]:
        seen = 0
        width = None
        for given in self._open():
            # The stream may be longer than the requested number of examples.
            left = None if self._first is None else self._first - seen
            if left is not None and left <= 0:
                return
            block = self._block(given, seen, left)
            if width not in (None, block.H.shape[1]):
                raise InputError(
                    f"row {seen} of the stream has {block.H.shape[1]} base functions, but the "
                    f"rows before have {width}; all rows must have the same number"
                )
            seen += block.y.size
            width = block.H.shape[1]
            yield block

    def _block(self, given: Any, seen: int, limit: int | None) -> Played:
        parts = tuple(given) if isinstance(given, tuple | list) else (given,)
        if not 1 <= len(parts) <= 3:
            raise InputError(f"a block must be (H, y) or (H, y, weight), got {len(parts)} parts")
        # Targets and weights that a block does not contain are None.
        H, y, weight = (*parts, None, None)[:3]
        H = np.atleast_2d(doubles("H", H))[:limit]
        if H.ndim != 2 or H.shape[1] == 0:
            raise InputError(
                "H must have a row for each example and a column for each base function, got shape "
                f"{H.shape}"
            )
        rows = len(H)
        if not np.isfinite(H).all():
            row, j = np.argwhere(~np.isfinite(H))[0]
            raise InputError(
                f"H must be finite; row {seen + row} has {H[row, j]} for base function {j}; leave "
                "the row out"
            )
        y = self._loss.checked(None if y is None else np.asarray(y).reshape(-1)[:limit], rows)
        if weight is not None:
            weight = doubles("weight", weight).reshape(-1)[:limit]
            if weight.shape != (rows,):
                raise InputError(
                    f"there are {rows} examples but {weight.size} weights; pass one weight per "
                    "example"
                )
        try:
            weight = checked_weights(weight, rows)
        except RowError as error:
            raise error.moved(seen) from None
        return Played(slice(seen, seen + rows), np.ascontiguousarray(H), y, weight)
