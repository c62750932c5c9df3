"""The options for the columns of tables with examples, and the hashing of words in columns to
features that are 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.tables import check_columns
from relaxboost.online.streams.bases import BaseFunctions

ENCODE = "drop or encode it"
"""The remedy in error messages about a table column that contains neither numbers nor words."""
HASH = "name it in categories=[...] to encode its words, or drop it"
"""The remedy in error messages about a table column that contains words."""
HASH_BUCKETS = 1024
"""The number of features into which the words of a table are hashed. Two different words get the
same feature with a probability of about 0.001. The features of words take 8 KB of memory for each
row."""
AND_OTHERS = " and others"
"""The suffix of the name of a hashed feature that several words of the data share."""


class Words:
    """The columns of words in a table, and the features with values 0 and 1 that replace them.

    Each word of a column belongs to one feature, which is 1 in the rows that contain the word. A
    hash function selects the feature, so that new words may appear later in the stream. The
    attribute `columns` contains the names of the columns of words. When a source of examples finds
    another column of words, it adds the name of this column.
    """

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = list(columns)
        self._seen: dict[int, str] = {}
        self._shared: set[int] = set()

    def values(self, columns: Sequence[Sequence[Any]], rows: int) -> Array:
        """Return a matrix with a row for each row of a table, and a column for each word.

        An entry is 1 if the row of the table contains the word, and otherwise 0. Words with the
        same hash share a column.
        """
        # scikit-learn is loaded only if there are words, because loading it takes half a second.
        from sklearn.feature_extraction import FeatureHasher

        hasher = FeatureHasher(HASH_BUCKETS, input_type="string", alternate_sign=False)
        H = np.zeros((rows, HASH_BUCKETS))
        for name, column in zip(self.columns, columns, strict=True):
            # A missing value is treated as one more category.
            said = ["" if word is None or word != word else str(word) for word in column]
            words, codes = np.unique(np.array(said, dtype=np.str_), return_inverse=True)
            named = [f"{name}={word}" for word in words.tolist()]
            places = hasher.transform([[word] for word in named]).indices
            for place, word in zip(places.tolist(), named, strict=True):
                if self._seen.setdefault(place, word) != word:
                    self._shared.add(place)
            H[np.arange(rows), places[codes]] = 1.0
        return H

    def of(self, frame: Any) -> Array:
        """Return the features of the words in a pandas frame, as a matrix of zeros and ones."""
        return self.values([frame[name].astype(object) for name in self.columns], len(frame))

    def names(self) -> list[str]:
        """Return a name for each of the `HASH_BUCKETS` features.

        A name consists of the names of all columns of words and the number of the feature.
        """
        return [f"{', '.join(self.columns)} #{place}" for place in range(HASH_BUCKETS)]

    def word(self, place: int) -> str:
        """Return a text that describes a feature by the first word that was hashed to it.

        The text is "column=word", followed by `AND_OTHERS` if other words were hashed to the same
        feature. If no word was, it is "#" and the number of the feature.
        """
        suffix = AND_OTHERS if place in self._shared else ""
        return self._seen.get(place, f"#{place}") + suffix


def split_columns(features: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split feature names into the names of numeric columns and the names of columns with words."""
    last = "".join(features[-1:])
    if len(features) < HASH_BUCKETS or not last.endswith(f" #{HASH_BUCKETS - 1}"):
        return list(features), []
    return list(features[:-HASH_BUCKETS]), last.rpartition(" #")[0].split(", ")


def are_words(kind: Any) -> bool:
    """Return whether a column of a pandas frame contains words, given the data type of the
    column."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return hasattr(kind, "categories") or is_object_dtype(kind) or is_string_dtype(kind)


def word_columns(X: Any) -> list[Any]:
    """Return the names of the columns of a pandas frame that contain words. For other tables, the
    list is empty."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return []
    # A column of objects that are all numbers is a column of numbers.
    kinds = X.infer_objects().dtypes
    return [name for name, kind in kinds.items() if are_words(kind)]


class TableColumns:
    """The options of `stream` that concern the columns of a table.

    Parameters
    ----------
    drop : iterable of str
        The columns to leave out.
    categories : iterable of str or None
        The columns that contain words. Other columns of words are found and added when the first
        rows are read. If it is None, a table with columns of words is rejected.
    sep : str
        The separator of a CSV file.
    has_text : bool
        Whether the labels in a CSV file are text.
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
        """The names of the columns of the table that contain words."""
        return [] if self.words is None else self.words.columns

    def check(self, name: str, known: Sequence[str]) -> None:
        """Raise an InputError if the table lacks a column that the options name."""
        check_columns(name, "drop", self.drop, known)
        kept = [column for column in known if column not in self.drop]
        check_columns(name, "categories", self.texts, kept)

    def joined(
        self, X: Array, numbers: list[str], texts: Sequence[Sequence[Any]]
    ) -> tuple[Array, list[str]]:
        """Return the features of a table and their names.

        The features are the numeric columns X, followed by the features of words.
        """
        if self.words is None or not texts:
            return X, numbers
        H = self.words.values(texts, len(X))
        return np.hstack([X, H]), [*numbers, *self.words.names()]


def _names(what: str, given: Any) -> list[str]:
    if isinstance(given, str):
        raise InputError(f"{what} must be a list of column names, got {given!r}; pass [{given!r}]")
    return [str(column) for column in given]


class WithWords(BaseFunctions):
    """Base functions for tables that contain numeric columns and columns of words.

    The first base functions are those of an object `base`, which is computed from the numeric
    columns. They are followed by the features of words, whose values are 0 and 1.
    """

    name = "words"

    def __init__(self, base: BaseFunctions, numbers: int, words: Words) -> None:
        self.base = base
        # The features of words are 0 or 1. Without a bound for the others, there is none for all.
        self.bound = None if base.bound is None else max(1.0, base.bound)
        self.words = words
        self.features = numbers + HASH_BUCKETS
        self._numbers = numbers

    def size(self, features: int) -> int:
        return self.base.size(self._numbers) + HASH_BUCKETS

    def values(self, X: Array) -> Array:
        return np.hstack([self.base.values(X[:, : self._numbers]), X[:, self._numbers :]])

    def names(self, columns: Sequence[str]) -> list[str]:
        words = [self.words.word(place) for place in range(HASH_BUCKETS)]
        return [*self.base.names(columns[: self._numbers]), *words]

    def parts(self) -> Sequence[Any]:
        return self.base.digest(), self._numbers, tuple(self.words.columns)

    def bound_in(self, norm: str, size: int) -> float:
        """Return a bound on the dual norm of the vector h of the values of all base functions.

        Of the features of words, at most one for each column of words is not 0. Therefore the bound
        for the norm "l2" is smaller than the square root of `size` times the largest value.
        """
        largest = super().bound_in("l1", size)
        # The size may include the constant of an intercept, which is not a feature of words.
        others = size - HASH_BUCKETS
        square = others * largest**2 + len(self.words.columns)
        return math.sqrt(square) if norm == "l2" else largest
