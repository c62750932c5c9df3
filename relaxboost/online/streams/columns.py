"""Options for the columns of a table: which to leave out, and which contain categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.tables import check_columns
from relaxboost.online.streams.words import Words

ENCODE = "drop or encode it"
"""The advice given in error messages about a column that contains neither numbers nor words."""
HASH = "name it in categories=[...] to encode its words, or drop it"
"""The advice given in error messages about a column that contains words."""


class TableColumns:
    """The columns of a table to leave out, and the columns that contain words.

    Parameters
    ----------
    drop : iterable of str
        The columns to leave out.
    categories : iterable of str or None
        The columns that contain categories. Columns of words are added when the first rows are
        read. If `categories` is None, columns of words are rejected.
    """

    def __init__(self, drop: Iterable[str] = (), categories: Iterable[str] | None = None) -> None:
        self.drop = _names("drop", drop)
        self.words = None if categories is None else Words(_names("categories", categories))

    def check(self, name: str, known: Sequence[str]) -> None:
        """Raise an InputError if a column to leave out or a column of categories is missing."""
        check_columns(name, "drop", self.drop, known)
        if self.words is not None:
            kept = [column for column in known if column not in self.drop]
            check_columns(name, "categories", self.words.columns, kept)

    def joined(
        self,
        name: str,
        numbers: list[str],
        read: Callable[[str, list[str]], Array],
        words: Sequence[Sequence[Any]],
        rows: int,
    ) -> tuple[Array, list[str]]:
        """Return the features of a batch and their names: first numeric columns, then words."""
        if self.words is None or not self.words.columns:
            return read(name, numbers), numbers
        X = read(name, numbers) if numbers else np.empty((rows, 0))
        return np.hstack([X, self.words.values(words, rows)]), [*numbers, *self.words.names()]


def _names(what: str, given: Any) -> list[str]:
    """Return a list of column names, or raise an InputError for a single string."""
    if isinstance(given, str):
        raise InputError(f"{what} must be a list of column names, got {given!r}; pass [{given!r}]")
    return [str(column) for column in given]
