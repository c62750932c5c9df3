"""The opening of example streams, and checks of example weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from relaxboost._core.arrays import ROWS_PER_BLOCK, Vector, doubles
from relaxboost._core.errors import InputError, RowError


def opener(source: Any, remedy: str | None = None) -> tuple[Callable[[], Iterable[Any]], bool]:
    """Return a function that opens a stream of blocks, and whether the stream is in memory.

    If `remedy` is given, streams that can be read only once are rejected with this advice.
    """
    # A tuple that starts with a matrix is a single block and not an iterable of blocks.
    is_pair = isinstance(source, tuple) and len(source) >= 2 and np.ndim(source[0]) == 2
    if is_pair or isinstance(source, np.ndarray):
        return (lambda: (source,)), True
    if isinstance(source, str | os.PathLike):
        raise InputError(f"{os.fspath(source)} is a file; open the file with stream(path, y)")
    once = isinstance(source, Iterator) or not getattr(source, "replayable", True)
    if once and remedy is not None:
        raise InputError(
            f"this function reads a stream more than once, but a {type(source).__name__} can be "
            f"read only once; {remedy}"
        )
    if callable(source):
        return source, False
    if isinstance(source, Iterable):
        return (lambda: source), False
    raise InputError(
        "a stream must be arrays (H, y), an iterable of blocks, or a function that returns an "
        f"iterable, got {type(source).__name__}"
    )


def checked_weights(weight: Any, rows: int) -> Vector:
    """Return the validated weights of a block, by default 1."""
    if weight is None:
        return np.ones(rows)
    weights = np.array(np.broadcast_to(doubles("weight", weight), (rows,)))
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RowError("weights must be finite and >= 0; ", row, f" has {weights[row]:g}")
    # The learner subtracts 1 for each copy. Above 2^53 this subtraction would not change a double.
    if (weights > 2.0**53).any():
        row = int(np.argmax(weights > 2.0**53))
        found = (
            f" has {weights[row]:g}, more than 2^53 copies; divide all weights by the same number"
        )
        raise RowError("a weight is a number of copies of an example; ", row, found)
    return weights


def pieces(weights: Vector) -> Iterator[tuple[int, int, Vector]]:
    """Divide a block into row ranges of at most `ROWS_PER_BLOCK` learning steps.

    A row of weight s takes s steps, rounded up. Each range is yielded as its start, its end and the
    weights of its rows. A row with more steps is yielded several times, with parts of its weight.
    """
    start = 0
    while start < weights.size:
        stop = start + 1
        if stop < weights.size:
            # Every unit of weight is a step, and a row of weight 0 is predicted.
            steps = np.cumsum(np.maximum(np.ceil(weights[start : start + ROWS_PER_BLOCK]), 1.0))
            stop = start + max(1, int(np.searchsorted(steps, ROWS_PER_BLOCK, side="right")))
        left = weights[start:stop]
        # Only a single row can have so large a weight.
        while left[0] > ROWS_PER_BLOCK:
            yield start, stop, np.full(1, float(ROWS_PER_BLOCK))
            left = left - ROWS_PER_BLOCK
        yield start, stop, left
        start = stop
