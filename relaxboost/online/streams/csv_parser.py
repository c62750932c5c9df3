"""A parser that turns CSV rows into numeric and text columns."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.tables import MISSING, exact_decimals

Table = dict[str, NDArray[Any]]
"""The columns of a parsed CSV file by name. Text columns are arrays of Python strings."""
NOT_UTF8 = "not in UTF-8; save the file as UTF-8"
_BOOLS = re.compile(rb"true|false", re.IGNORECASE)


class CsvError(Exception):
    """An error in CSV rows, with the row index if it is known.

    If a value is not a number, `column` and `value` are its column name and its text.
    """

    def __init__(
        self, message: str, row: int | None = None, column: str = "", value: str = ""
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.value = value


class CsvParser:
    """A parser of the rows of a CSV file with the column names `header`."""

    def __init__(self, header: list[str], sep: str) -> None:
        self._header = header
        self._sep = sep.encode()
        # A quote within a field has no special meaning, because quotes are opened only at the start
        # of a field.
        quote = rb'"(?<![^\n' + re.escape(self._sep) + rb']")'
        self._opened = re.compile(quote)
        self._quoted = re.compile(quote + rb'[^"]*+(?:""[^"]*+)*+"')

    def end_of_rows(self, text: bytes) -> int:
        """Return the number of bytes of the complete rows at the start of a text.

        Line breaks in quotes do not end a row, even if the closing quote is missing.
        """
        masked = self._masked(text)
        unfinished = self._opened.search(masked)
        return masked.rfind(b"\n", 0, unfinished.start() if unfinished else len(masked)) + 1

    def parse(self, rows: bytes, doubles: list[str], texts: list[str]) -> Table:
        """Parse complete CSV rows, and return the numeric columns and the text columns.

        A CsvError is raised if a row has the wrong length, or if a numeric cell is not a number.
        """
        if not self._checked_lines(rows):
            return {name: np.empty(0) for name in (*doubles, *texts)}
        try:
            table = self._read(rows, doubles, texts)
        except ValueError as error:
            raise self._wrong_cell(rows, doubles) or CsvError(str(error)) from None
        if _BOOLS.search(rows):
            # pandas converts a column to 1 and 0 if all of its cells are True or False.
            zero_one = [name for name in doubles if table[name].isin([0.0, 1.0]).all()]
            if (wrong := self._wrong_cell(rows, zero_one)) is not None:
                raise wrong
        return {name: table[name].to_numpy() for name in (*doubles, *texts)}

    def _read(self, rows: bytes, doubles: list[str], texts: list[str]) -> Any:
        # pandas is loaded here, because it takes a quarter of a second.
        import pandas as pd

        return pd.read_csv(
            io.BytesIO(rows),
            sep=self._sep.decode(),
            header=None,
            names=self._header,
            usecols=[*doubles, *texts],
            index_col=False,
            dtype=dict.fromkeys(doubles, np.float64) | dict.fromkeys(texts, object),
            na_values=dict.fromkeys(doubles, MISSING),
            keep_default_na=False,
            **exact_decimals(),
        )

    def _checked_lines(self, rows: bytes) -> list[bytes]:
        # pandas fills short rows and truncates long ones. Its errors name no row.
        masked = self._masked(rows)
        try:
            rows.decode()
        except UnicodeDecodeError as error:
            before = _lines(masked[: error.start] + b"-")
            raise CsvError(NOT_UTF8, len(before) - 1) from None
        if opened := self._opened.search(masked):
            before = _lines(masked[: opened.end()])
            raise CsvError("a quoted cell has no closing quote", len(before) - 1)
        lines = _lines(masked)
        width = len(self._header)
        for row, line in enumerate(lines):
            if (got := line.count(self._sep) + 1) != width:
                raise CsvError(f"Expected {width} columns, got {got}", row)
        return lines

    def _wrong_cell(self, rows: bytes, doubles: list[str]) -> CsvError | None:
        import pandas as pd

        for name in doubles:
            cells = self._read(rows, [], [name])[name]
            wrong = pd.to_numeric(cells, errors="coerce").isna() & ~cells.isin(MISSING)
            if wrong.any():
                row = int(wrong.argmax())
                return CsvError("not a number", row, name, cells[row])
        return None

    def _masked(self, text: bytes) -> bytes:
        # Separators and line breaks in complete quotes are replaced, so that they do not divide
        # fields or rows.
        if b'"' not in text:
            return text
        return self._quoted.sub(lambda field: b"-" * len(field[0]), text)


def _lines(text: bytes) -> list[bytes]:
    """Return the nonblank lines of a text."""
    return [line for line in text.splitlines() if line]
