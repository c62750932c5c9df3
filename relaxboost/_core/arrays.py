"""The types of arrays, named once, and what is given made one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError

Array = NDArray[np.float64]
"""Doubles."""
Vector = Array
"""Doubles in one row."""
Matrix = Array
"""Doubles in rows and columns."""
Whole = NDArray[np.int64]
"""Whole numbers: indices and counts."""
Flags = NDArray[np.bool_]
"""True or False."""


def no_number(given: NDArray[Any]) -> tuple[int, ...] | None:
    """Return where the first entry is that no double is made of, None where all can be."""
    for at in np.ndindex(given.shape):
        try:
            float(given[at])
        except (TypeError, ValueError, OverflowError):
            return at
    return None


def doubles(name: str, given: Any) -> Array:
    """Return what is given as an array of doubles, without a copy where it is one.

    Raises
    ------
    InputError
        For what is no array of numbers, with its name.
    """
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        where = str(error)
        with suppress(ValueError):  # of some ragged lists there is none of objects
            array = np.asarray(given, dtype=object)
            at = no_number(array)
            where = where if at is None else f"at {list(at)} it has {array[at]!r:.60}"
        raise InputError(f"{name} must be an array of numbers: {where}") from None
