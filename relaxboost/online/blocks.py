"""Blocks of examples: what opens a stream that somebody gave."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError


def opener(source: Any, remedy: str | None = None) -> tuple[Callable[[], Iterable[Any]], bool]:
    """Return what opens a stream of blocks, and whether it is arrays in memory.

    The source is H or (H, y, ...), an iterable of such blocks, or a function that returns one. The
    remedy says what to give in place of a stream that can be read once only; None if it will do.
    """
    many = isinstance(source, tuple) and len(source) >= 2 and np.ndim(source[0]) == 2
    if many or isinstance(source, np.ndarray):
        return (lambda: (source,)), True
    if isinstance(source, str | os.PathLike):
        raise InputError(f"{os.fspath(source)} is a file; open it: stream(path, y)")
    once = isinstance(source, Iterator) or not getattr(source, "replayable", True)
    if once and remedy is not None:
        raise InputError(
            f"this reads a stream more than once, and {type(source).__name__} can be read once "
            f"only; {remedy}"
        )
    if callable(source):
        return source, False
    if isinstance(source, Iterable):
        return (lambda: source), False
    raise InputError(
        "a stream is arrays (H, y), an iterable of blocks or a function that opens one, got "
        f"{type(source).__name__}"
    )
