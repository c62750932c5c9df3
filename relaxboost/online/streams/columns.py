"""Options for the columns of a table: which to leave out, and which contain categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """The options for the columns of a table, as in `stream`.

    Columns of words are added to the categories when the first rows are read. If `categories` is
    None, columns of words are rejected. `has_text` is True if the labels in a CSV file are text.
    """

    def __init__(
        self, drop: Iterable[str], categories: Iterable[str] | None, sep: str, has_text: bool
    ) -> None:
        self.drop = _names("drop", drop)
        self.words = None if categories is None else Words(_names("categories", categories))
        self.sep = sep
        self.has_text = has_text

    @property
    def texts(self) -> list[str]:
        """The names of the columns that contain words."""
        return [] if self.words is None else self.words.columns

    def check(self, name: str, known: Sequence[str]) -> None:
        """Raise an InputError if a column to leave out or a column of categories is missing."""
        check_columns(name, "drop", self.drop, known)
        kept = [column for column in known if column not in self.drop]
        check_columns(name, "categories", self.texts, kept)

    def joined(
        self, X: Array, numbers: list[str], texts: Sequence[Sequence[Any]]
    ) -> tuple[Array, list[str]]:
        """Return features and their names: the numeric columns X, then the features of words."""
        if self.words is None or not texts:
            return X, numbers
        H = self.words.values(texts, len(X))
        return np.hstack([X, H]), [*numbers, *self.words.names()]


def _names(what: str, given: Any) -> list[str]:
    if isinstance(given, str):
        raise InputError(f"{what} must be a list of column names, got {given!r}; pass [{given!r}]")
    return [str(column) for column in given]
