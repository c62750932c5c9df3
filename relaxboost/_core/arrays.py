"""Type names for arrays, and the conversion of a caller's values to arrays."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError

Array = NDArray[np.float64]
"""The type of an array of double-precision numbers, of any shape."""
Vector = Array
"""The type of a vector (a one-dimensional array) of double-precision numbers."""
Matrix = Array
"""The type of a matrix (a two-dimensional array) of double-precision numbers."""
Whole = NDArray[np.int64]
"""The type of an array of integers, such as indices or counts."""
Flags = NDArray[np.bool_]
"""The type of an array of booleans."""

ROWS_PER_BLOCK = 4096
"""The number of rows of a matrix that are copied or converted at a time. A block of this size is
large enough that the overhead of function calls is small compared with the work on the rows, and
small enough that its copy takes little memory."""


def no_number(given: NDArray[Any]) -> tuple[int, ...] | None:
    """Return the index of the first entry of an array that is not a number.

    Return None if all entries are numbers.
    """
    for at in np.ndindex(given.shape):
        try:
            float(given[at])
        except (TypeError, ValueError, OverflowError):
            return at
    return None


def doubles(name: str, given: Any) -> Array:
    """Convert a value from a user to an array of double-precision numbers.

    `given` is the value, and `name` is the name of the argument for error messages. If the value is
    an array of doubles already, it is returned without a copy. Raise an InputError if the value is
    not an array of numbers.
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
