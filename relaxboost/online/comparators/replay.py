"""Examples that can be gone through again and again, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost.online.blocks import opener
from relaxboost.online.losses import OnlineLoss

_ONCE = "give arrays (H, y), a list of blocks, or a function that opens the stream anew"
ROWS = 4096
"""Rows of an array at a time, so that what is made of them stays in the cache."""


class Played(NamedTuple):
    """Some examples in a row."""

    rows: slice
    """Their places in the stream."""
    H: Matrix
    """The values of the base functions, shape (rows, M)."""
    y: Vector
    weight: Vector


class Replay:
    """Examples of a loss, checked once, and read block by block as often as is asked for.

    The source are arrays (H, y) or (H, y, weight) of shapes (m, M), (m,) and (m,); or blocks of
    that form, in an iterable that can be iterated again or from a function that opens the stream
    anew. y may be None for a loss without targets, weight None for ones. It is read up to example
    `first`.

    Raises
    ------
    InputError
        For a stream that can be read once only, an empty one, or examples that do not fit.
    """

    def __init__(self, source: Any, loss: OnlineLoss, first: int | None = None) -> None:
        self._loss, self._first = loss, first
        self._open, self._whole = opener(source, _ONCE)
        self._checked: Played | None = None
        self.m, self.M, self.total = 0, 0, 0.0
        for block in self._read():
            self.m += block.y.size
            self.M = block.H.shape[1]
            self.total += float(block.weight.sum())
            if self._whole:
                self._checked = block
        if self.m == 0:
            raise InputError("the stream is empty; regret needs one example at least")
        if first is not None and self.m < first:
            raise InputError(f"the stream has {self.m} examples, and {first} were asked for")
        if self.total <= 0.0:
            raise InputError("all weights are zero; give one example at least a positive one")

    def __iter__(self) -> Iterator[Played]:
        """Yield the blocks, of `ROWS` rows at most."""
        seen = 0
        for block in self._read() if self._checked is None else (self._checked,):
            for start in range(0, block.y.size, ROWS):
                part = slice(start, start + ROWS)
                y = block.y[part]
                yield Played(slice(seen, seen + y.size), block.H[part], y, block.weight[part])
                seen += y.size
        if seen != self.m:
            raise InputError(
                f"the stream had {self.m} examples when it was first read, and now {seen}; give "
                "one that is the same each time, such as arrays or a function that opens it anew"
            )

    def _read(self) -> Iterator[Played]:
        """Yield the blocks as they are given, checked."""
        seen, width = 0, None
        for given in self._open():
            left = None if self._first is None else self._first - seen
            if left is not None and left <= 0:
                return
            block = self._block(given, seen, left)
            if width not in (None, block.H.shape[1]):
                raise InputError(
                    f"row {seen} of the stream has {block.H.shape[1]} base functions, and those "
                    f"before {width}; a stream has one width"
                )
            seen, width = seen + block.y.size, block.H.shape[1]
            yield block

    def _block(self, given: Any, seen: int, most: int | None) -> Played:
        parts = tuple(given) if isinstance(given, tuple | list) else (given,)
        if not 1 <= len(parts) <= 3:
            raise InputError(f"a block is (H, y) or (H, y, weight), got {len(parts)} parts")
        H, y, weight = (*parts, None, None)[:3]
        H = np.atleast_2d(doubles("H", H))[:most]
        if H.ndim != 2 or H.shape[1] == 0:
            raise InputError(f"H needs shape (rows, M), got {H.shape}")
        rows = len(H)
        _check_finite(H, seen)
        y = self._loss.checked(None if y is None else np.asarray(y).reshape(-1)[:most], rows)
        ones = weight is None
        weight = np.ones(rows) if ones else doubles("weight", weight).reshape(-1)[:most]
        if weight.shape != (rows,):
            raise InputError(f"there are {rows} examples and {weight.size} weights")
        bad = np.flatnonzero(~(weight >= 0.0) | ~np.isfinite(weight))
        if bad.size:
            raise InputError(
                f"weights must be finite and >= 0; row {seen + bad[0]} has {weight[bad[0]]:g}"
            )
        return Played(slice(seen, seen + rows), np.ascontiguousarray(H), y, weight)


def _check_finite(H: Matrix, seen: int) -> None:
    if np.isfinite(H).all():
        return
    row, j = np.argwhere(~np.isfinite(H))[0]
    raise InputError(
        f"H must be finite; row {seen + row} has {H[row, j]} for base function {j}; leave it out"
    )
