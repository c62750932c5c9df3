"""Batches of examples from a CSV file or pipe that is open in binary mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError, few
from relaxboost._core.tables import next_header, no_column
from relaxboost.matrices.chunks.sources import Batch
from relaxboost.matrices.labelled import ROUNDED
from relaxboost.online.streams.csv_parser import NOT_UTF8, CsvError, CsvParser, Table
from relaxboost.online.streams.words import HASH, TableColumns

READ_BYTES = 2**20
"""The number of CSV bytes that are read and parsed at a time."""
MAX_ROW_BYTES = 2**24
"""The maximum number of bytes of a CSV row with line breaks in quotes. In a longer row, the next
line break ends the row. Otherwise a missing quote would turn the rest of the file into one row,
which may not fit into memory."""


def csv_batches(name: str, file: Any, label: str | None, columns: TableColumns) -> Iterator[Batch]:
    """Yield batches of the rows of a CSV file with a header row, as soon as they arrive."""
    # The header is read with the first rows, because a pipe may have none yet.
    yield from _CsvRows(name, file, label, columns).batches()


class _CsvRows:
    def __init__(self, name: str, file: Any, label: str | None, columns: TableColumns) -> None:
        self._name = name
        self._file = file
        self._label = label
        self._header = next_header(name, file, columns.sep)
        if label is not None and label not in self._header:
            raise no_column(name, label, self._header)
        columns.check(name, [column for column in self._header if column != label])
        self._columns = columns
        left_out = ("", label, *columns.drop)
        self._features = [column for column in self._header if column not in left_out]
        labels = [] if label is None else [label]
        self._text_labels = labels if columns.has_text else []
        self._numeric_labels = [] if columns.has_text else labels
        self._parser = CsvParser(self._header, columns.sep.replace("\\t", "\t"))

    def batches(self) -> Iterator[Batch]:
        """Yield a batch of examples for each piece of the file, usually at most a megabyte."""
        before = 0
        for number, rows in enumerate(_complete_rows(self._file, self._parser)):
            try:
                table = self._table(rows, before)
            except CsvError as error:
                raise self._refusal(error, before, rows) from None
            size = max((len(column) for column in table.values()), default=0)
            if not size:
                continue
            self._check_integers(rows, table, before)
            y = None if self._label is None else table[self._label]
            numbers = self._numbers()
            texts = [table[column].tolist() for column in self._columns.texts]
            if not (numbers or texts):
                raise InputError(
                    f"{self._name} has no column other than the labels; add a column of features"
                )
            X = np.empty((size, len(numbers)))
            for f, column in enumerate(numbers):
                X[:, f] = table[column]
            X, names = self._columns.joined(X, numbers, texts)
            yield Batch(f"block {number} of {self._name}", X, y, names)
            before += size

    def _numbers(self) -> list[str]:
        # The options are copied, because columns of words are added to them while the first rows
        # are parsed.
        return [column for column in self._features if column not in self._columns.texts]

    def _table(self, rows: bytes, before: int) -> Table:
        # A column is treated as a column of words if its first value is a word.
        while True:
            doubles = [*self._numeric_labels, *self._numbers()]
            try:
                texts = [*self._text_labels, *self._columns.texts]
                return self._parser.parse(rows, doubles, texts)
            except CsvError as error:
                words = self._columns.words
                # The kinds of the columns are fixed by the first rows, because the base functions
                # depend on them.
                if words is None or before or error.column not in self._numbers():
                    raise
                # A wrong cell in a later row must not turn a column of numbers into a column of
                # words.
                cells = self._parser.parse(rows, [], [error.column])[error.column].tolist()
                if _is_number(next((cell for cell in cells if cell.strip()), "")):
                    raise
                words.columns.append(error.column)

    def _check_integers(self, rows: bytes, table: Table, before: int) -> None:
        for column in [*self._numeric_labels, *self._numbers()]:
            x = table[column]
            large = np.flatnonzero((np.abs(x) >= 2.0**53) & np.isfinite(x)).tolist()
            # The table contains rounded doubles, so the digits are parsed again as text.
            texts = self._parser.parse(rows, [], [column])[column] if large else np.empty(0)
            for i in large:
                digits = re.fullmatch(r"[+-]?\d+", texts[i].strip())
                if digits and int(digits[0]) != int(x[i]):
                    raise InputError(
                        f"{self._name}: column {column!r} has {digits[0]} at row {before + i}, an "
                        f"integer that a double cannot represent; {ROUNDED}"
                    )

    def _refusal(self, error: CsvError, before: int, rows: bytes) -> InputError:
        at = "" if error.row is None else f"row {error.row + before}"
        if str(error) == NOT_UTF8:
            return InputError(f"{self._name}, {at or 'some row'}: {error}")
        if not error.column:
            return InputError(f"{self._name} cannot be read as CSV: {at}{': ' * bool(at)}{error}")
        remedy = HASH
        if self._columns.words is not None:
            remedy = (
                "it had numbers before: correct the cell, or name the column among the categories"
            )
        where = f"{error.value!r} at {at}" if at else repr(error.value)
        if error.column == self._label:
            remedy = "name the two labels, the negative one first: classes=(negative, positive)"
            # The error names the expected labels, because a user may have passed other labels than
            # those in the file.
            texts = set(self._parser.parse(rows, [], [error.column])[error.column].tolist())
            where += f"; its labels are {few(sorted(map(str, texts)), 5)}"
        return InputError(
            f"{self._name}: column {error.column!r} is not numeric ({where}); {remedy}"
        )


def _complete_rows(file: Any, parser: CsvParser) -> Iterator[bytes]:
    """Yield the bytes of a CSV file as they arrive, in pieces that end after complete rows."""
    left = b""
    while read := file.read1(READ_BYTES):
        left += read
        is_short = len(left) < MAX_ROW_BYTES
        cut = parser.end_of_rows(left) if is_short else left.rfind(b"\n") + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
    if left:
        yield left


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
