"""Batches of examples from CSV in a file or pipe that is open in binary mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few, missing
from relaxboost._core.tables import MISSING, listed, next_header
from relaxboost.matrices.chunks.sources import Batch, numbers, values
from relaxboost.matrices.labelled import ROUNDED
from relaxboost.online.streams.columns import TableColumns

_BAD_VALUE = re.compile(r"In CSV column #(\d+): .*invalid value '(.*)'", re.DOTALL)
READ_BYTES = 2**20
"""The number of bytes that are read at once."""
MAX_ROW_BYTES = 2**24
"""The largest size of a row with quotes. Without it, a missing quote would keep the whole file."""


def csv_batches(
    name: str, file: Any, label: str | None, has_text: bool, sep: str, columns: TableColumns
) -> Iterator[Batch]:
    """Yield the rows of a binary CSV file with a header as soon as they arrive.

    Parameters
    ----------
    name : str
        The name of the file in error messages.
    file : binary file
        A file with the method `read1`.
    label : str, optional
        The column of the labels.
    has_text : bool
        Whether labels are text.
    sep : str
        The separator of the columns.
    columns : TableColumns
        The columns to leave out, and those of words.
    """
    yield from _CsvRows(name, file, label, has_text, sep, columns).batches()


class _CsvRows:
    """The rows of a binary CSV file; see `csv_batches`."""

    def __init__(
        self,
        name: str,
        file: Any,
        label: str | None,
        has_text: bool,
        sep: str,
        columns: TableColumns,
    ) -> None:
        try:
            from pyarrow import csv
        except ImportError:
            raise missing("CSV is streamed by pyarrow", "dask", "pyarrow") from None
        self._name = name
        self._file = file
        self._label = label
        self._header = next_header(name, file, sep)
        if label is not None and label not in self._header:
            raise InputError(f"{name} has no column {label!r}; it has {listed(self._header)}")
        columns.check(name, [column for column in self._header if column != label])
        self._columns = columns
        left_out = ("", label, *columns.drop)
        self._features = [column for column in self._header if column not in left_out]
        labels = [] if label is None else [label]
        self._texts = labels if has_text else []
        self._numeric_labels = [] if has_text else labels
        self._cells = csv.ParseOptions(delimiter=sep.replace("\\t", "\t"))

    def batches(self) -> Iterator[Batch]:
        """Yield batches of at most a megabyte as soon as the rows arrive."""
        import pyarrow as pa

        before = 0
        for number, rows in enumerate(_complete_rows(self._file, self._cells.delimiter.encode())):
            try:
                table = self._table(rows, before)
                self._check_integers(rows, table, before)
            except pa.ArrowInvalid as error:
                # Blank lines contain no row.
                if "Empty CSV" in str(error):
                    continue
                raise self._refusal(str(error), before, rows) from None
            except pa.ArrowException as error:
                raise InputError(f"{self._name} cannot be read as CSV: {error}") from None
            for batch in table.to_batches():
                y = None if self._label is None else values(batch, self._label)
                words = [batch.column(column).to_pylist() for column in self._words()]
                X, names = self._columns.joined(
                    self._name, self._numbers(), partial(numbers, batch=batch), words, len(batch)
                )
                yield Batch(f"block {number} of {self._name}", X, y, names)
            before += table.num_rows

    def _words(self) -> list[str]:
        """Return the columns of words."""
        known = self._columns.words
        return [] if known is None else known.columns

    def _numbers(self) -> list[str]:
        """Return the features that are numbers."""
        words = self._words()
        return [column for column in self._features if column not in words]

    def _table(self, rows: bytes, before: int) -> Any:
        """Return complete rows as a table. Columns with words in the first rows contain words."""
        import pyarrow as pa

        while True:
            doubles = [*self._numeric_labels, *self._numbers()]
            try:
                return self._parsed(rows, doubles, [*self._texts, *self._words()])
            except pa.ArrowInvalid as error:
                found = _BAD_VALUE.match(str(error))
                column = self._header[int(found[1])] if found else ""
                # Later rows cannot change what a base function is.
                if self._columns.words is None or before or column not in self._numbers():
                    raise
                self._columns.words.columns.append(column)

    def _parsed(self, rows: bytes, doubles: list[str], texts: list[str]) -> Any:
        """Return complete rows as a table of the given columns of doubles and of text."""
        import pyarrow as pa
        from pyarrow import csv

        kinds = dict.fromkeys(doubles, pa.float64()) | dict.fromkeys(texts, pa.string())
        reading = csv.ReadOptions(
            column_names=self._header, block_size=READ_BYTES, use_threads=False
        )
        converting = csv.ConvertOptions(
            column_types=kinds, include_columns=[*kinds], null_values=MISSING
        )
        found = csv.read_csv(pa.BufferReader(rows), reading, self._cells, converting)
        return found.combine_chunks()

    def _check_integers(self, rows: bytes, table: Any, before: int) -> None:
        """Raise InputError for an integer that a double cannot represent."""
        for column in [*self._numeric_labels, *self._numbers()]:
            x: Array = table[column].to_numpy()
            large = np.flatnonzero((np.abs(x) >= 2.0**53) & np.isfinite(x)).tolist()
            # The table contains rounded doubles, so the digits are parsed again as text.
            texts = self._parsed(rows, [], [column])[column].to_pylist() if large else []
            for i in large:
                digits = re.fullmatch(r"[+-]?\d+", texts[i].strip())
                if digits and int(digits[0]) != int(x[i]):
                    raise InputError(
                        f"{self._name}: column {column!r} has {digits[0]} at row {before + i}, an "
                        f"integer that doubles round; {ROUNDED}"
                    )

    def _refusal(self, message: str, before: int, rows: bytes) -> InputError:
        """Return an error with row and column of the stream for a message of Arrow."""
        row = re.search(r"Row #(\d+): ", message)
        at = "" if row is None else f"row {int(row[1]) - 1 + before}"
        if "invalid UTF8" in message or "\ufffd" in message:
            return InputError(
                f"{self._name}, {at or 'some row'}: not in UTF-8; save the file as UTF-8"
            )
        found = _BAD_VALUE.match(message)
        if not found:
            rest = message if row is None else f"{at}: {message[row.end() :]}"
            return InputError(f"{self._name} cannot be read as CSV: {rest}")
        # Arrow counts the columns from 0.
        column = self._header[int(found[1])]
        remedy = "drop or encode it"
        if self._columns.words is not None:
            remedy = "it had numbers before; drop it, or name it among the categories"
        if column == self._label:
            remedy = "name the two labels, the negative one first: classes=(negative, positive)"
        where = f"{found[2]!r} at {at}" if at else repr(found[2])
        if column == self._label:
            # The labels are named, because a user may have given other ones.
            texts = self._parsed(rows, [], [column])[column].unique().to_pylist()
            where += f"; its labels are {few(sorted(map(str, texts)), 5)}"
        return InputError(f"{self._name}: column {column!r} is not of numbers ({where}); {remedy}")


def _complete_rows(file: Any, sep: bytes) -> Iterator[bytes]:
    """Yield pieces of a binary file as soon as they arrive. Each piece ends after a complete row.

    A line break in quotes does not end a row. Quotes begin only at the beginning of a field.
    """
    quote = rb'"(?<![^\n' + re.escape(sep) + rb']")'
    quoted = re.compile(quote + rb'[^"]*+(?:""[^"]*+)*+"')
    opened = re.compile(quote)
    left = b""
    while read := file.read1(READ_BYTES):
        left += read
        # Without quotes, every line break ends a row.
        cut = left.rfind(b"\n") + 1
        if b'"' in left and len(left) < MAX_ROW_BYTES:
            # Masking complete quoted fields removes the line breaks in them.
            masked = quoted.sub(lambda field: b"-" * len(field[0]), left)
            unfinished = opened.search(masked)
            cut = masked.rfind(b"\n", 0, unfinished.start() if unfinished else len(masked)) + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
    if left:
        yield left
