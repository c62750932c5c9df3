"""Array types, and the conversion of users' values to arrays."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError

Array = NDArray[np.float64]
"""An array of doubles, of any shape."""
Vector = Array
"""A one-dimensional array of doubles."""
Matrix = Array
"""A two-dimensional array of doubles."""
Whole = NDArray[np.int64]
"""An array of integers, such as indices or counts."""
Flags = NDArray[np.bool_]
"""An array of booleans."""

ROWS_PER_BLOCK = 4096
# Large enough that the overhead of calls is small, and small enough that a copy takes little
# memory.
"""The number of matrix rows that are copied or converted at a time."""


def no_number(given: NDArray[Any]) -> tuple[int, ...] | None:
    """Return the index of the first nonnumeric entry of an array, or None."""
    for at in np.ndindex(given.shape):
        try:
            float(given[at])
        except (TypeError, ValueError, OverflowError):
            return at
    return None


def doubles(name: str, given: Any) -> Array:
    """Convert a user's value to an array of doubles, without a copy if it is one already.

    Raise an InputError that contains `name` if the value is not an array of numbers.
    """
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        where = str(error)
        # Some nested lists of unequal lengths cannot become arrays of objects either.
        with suppress(ValueError):
            array = np.asarray(given, dtype=object)
            at = no_number(array)
            where = where if at is None else f"at {list(at)} it has {array[at]!r:.60}"
        raise InputError(f"{name} must be an array of numbers: {where}") from None
