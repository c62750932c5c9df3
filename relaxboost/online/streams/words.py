"""Table column options, and the hashing of words to features that are 0 or 1."""

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
"""The remedy for a column that contains neither numbers nor words."""
HASH = "name it in categories=[...] to encode its words, or drop it"
"""The remedy for a column of words."""
HASH_BUCKETS = 1024
"""The number of features into which words are hashed. Two words share a feature with a probability
of about 0.001. The features take 8 KB of memory per row."""
AND_OTHERS = " and others"
"""The suffix of the name of a feature that several words share."""


class Words:
    """The columns of words in a table, which are hashed to features that are 0 or 1.

    A hash function selects the feature of each word, so that new words may appear later in the
    stream. The attribute `columns` contains the column names. Sources of examples add columns of
    words that they find.
    """

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = list(columns)
        self._seen: dict[int, str] = {}
        self._shared: set[int] = set()

    def values(self, columns: Sequence[Sequence[Any]], rows: int) -> Array:
        """Return the features of the words, with a row for each table row.

        An entry is 1 if the row contains a word with this hash, and otherwise 0.
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
        """Return the names of the features: all column names and the number of the feature."""
        return [f"{', '.join(self.columns)} #{place}" for place in range(HASH_BUCKETS)]

    def word(self, place: int) -> str:
        """Describe a feature by the first word that was hashed to it, as "column=word".

        `AND_OTHERS` follows if other words share the feature. If there is no word, the text is "#"
        and the number of the feature.
        """
        suffix = AND_OTHERS if place in self._shared else ""
        return self._seen.get(place, f"#{place}") + suffix


def split_columns(features: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split feature names into the names of numeric columns and of columns with words."""
    last = "".join(features[-1:])
    if len(features) < HASH_BUCKETS or not last.endswith(f" #{HASH_BUCKETS - 1}"):
        return list(features), []
    return list(features[:-HASH_BUCKETS]), last.rpartition(" #")[0].split(", ")


def are_words(kind: Any) -> bool:
    """Return whether a pandas dtype contains words."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return hasattr(kind, "categories") or is_object_dtype(kind) or is_string_dtype(kind)


def word_columns(X: Any) -> list[Any]:
    """Return the names of the word columns of a pandas frame, or [] for other tables."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return []
    # A column of objects that are all numbers is a column of numbers.
    kinds = X.infer_objects().dtypes
    return [name for name, kind in kinds.items() if are_words(kind)]


class TableColumns:
    """The column options of `stream`.

    Parameters
    ----------
    drop : iterable of str
        The columns to leave out.
    categories : iterable of str or None
        The columns of words. Others are found when the first rows are read. If it is None, columns
        of words are rejected.
    sep : str
        The separator of a CSV file.
    has_text : bool
        Whether the labels of a CSV file are text.
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
        """Raise an InputError if the table lacks a column that the options name."""
        check_columns(name, "drop", self.drop, known)
        kept = [column for column in known if column not in self.drop]
        check_columns(name, "categories", self.texts, kept)

    def joined(
        self, X: Array, numbers: list[str], texts: Sequence[Sequence[Any]]
    ) -> tuple[Array, list[str]]:
        """Return the features of a table and their names.

        The numeric columns X come first, followed by the features of words.
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
    """Base functions for tables with numeric columns and columns of words.

    The base functions `base` of the numeric columns come first, followed by the features of words,
    which are 0 or 1.
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
        """Return a bound on the dual norm of the base function values h.

        For the norm "l2", it is smaller than √size times the largest value, because each column of
        words has at most one nonzero feature.
        """
        largest = super().bound_in("l1", size)
        # The size may include the constant of an intercept, which is not a feature of words.
        others = size - HASH_BUCKETS
        square = others * largest**2 + len(self.words.columns)
        return math.sqrt(square) if norm == "l2" else largest
