"""Parsers that convert CSV rows to columns, with pyarrow or with the module `csv` of Python."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.tables import MISSING

Table = dict[str, NDArray[Any]]
"""Parsed columns by name. Columns of text are object arrays of strings."""


class CsvError(Exception):
    """An error in CSV rows, with the index of the row if it is known.

    If a value is not a number, `column` and `value` are its column and its text.
    """

    def __init__(
        self, message: str, row: int | None = None, column: str = "", value: str = ""
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.value = value


NOT_UTF8 = "not in UTF-8; save the file as UTF-8"


def parser(header: list[str], sep: str) -> ArrowParser | PlainParser:
    """Return a parser for rows with the given columns. It uses pyarrow if this is installed."""
    # pyarrow is about ten times as fast, or thirty times if numbers are missing.
    try:
        from pyarrow import csv as _  # noqa: F401
    except ImportError:
        return PlainParser(header, sep)
    return ArrowParser(header, sep)


class ArrowParser:
    """A parser of CSV rows that uses pyarrow."""

    def __init__(self, header: list[str], sep: str) -> None:
        from pyarrow import csv

        self._header = header
        self._cells = csv.ParseOptions(delimiter=sep)

    def parse(self, rows: bytes, doubles: list[str], texts: list[str]) -> Table:
        """Parse complete rows, and return columns of doubles and of text, or raise a CsvError."""
        import pyarrow as pa
        from pyarrow import csv

        kinds = dict.fromkeys(doubles, pa.float64()) | dict.fromkeys(texts, pa.string())
        reading = csv.ReadOptions(
            column_names=self._header, block_size=len(rows) + 1, use_threads=False
        )
        converting = csv.ConvertOptions(
            column_types=kinds, include_columns=[*kinds], null_values=MISSING
        )
        try:
            found = csv.read_csv(pa.BufferReader(rows), reading, self._cells, converting)
        except pa.ArrowInvalid as error:
            # Blank lines contain no row.
            if "Empty CSV" in str(error):
                return {name: np.empty(0) for name in kinds}
            raise self._refusal(str(error)) from None
        except pa.ArrowException as error:
            raise CsvError(str(error)) from None
        table = {name: _flat(found[name], np.float64) for name in doubles}
        for name in texts:
            coded = found[name].dictionary_encode().combine_chunks()
            words = np.array(coded.dictionary.to_pylist(), dtype=object)
            table[name] = words[_flat(coded.indices, np.int32)]
        return table

    def _refusal(self, message: str) -> CsvError:
        number = re.search(r"Row #(\d+): ", message)
        row = None if number is None else int(number[1]) - 1
        if "invalid UTF8" in message or "\ufffd" in message:
            return CsvError(NOT_UTF8, row)
        found = re.match(r"In CSV column #(\d+): .*invalid value '(.*)'", message, re.DOTALL)
        if found:
            # Arrow counts the columns from 0.
            return CsvError(message, row, self._header[int(found[1])], found[2])
        return CsvError(message if number is None else message[number.end() :], row)


def _flat(column: Any, kind: Any) -> NDArray[Any]:
    # The conversion methods of Arrow are not used, because they load pandas, which takes a quarter
    # of a second.
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    valid, numbers = array.buffers()
    rows = slice(array.offset, array.offset + len(array))
    flat: NDArray[Any] = np.frombuffer(numbers, kind)[rows]
    if array.null_count:
        bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[rows]
        flat = np.where(bits, flat, np.nan)
    return flat


class PlainParser:
    """A parser of CSV rows that uses the module `csv` of Python."""

    def __init__(self, header: list[str], sep: str) -> None:
        self._header = header
        self._sep = sep

    def parse(self, rows: bytes, doubles: list[str], texts: list[str]) -> Table:
        """Parse complete rows, and return columns of doubles and of text, or raise a CsvError."""
        try:
            lines = csv.reader(io.StringIO(rows.decode(), newline=""), delimiter=self._sep)
            # Blank lines contain no row.
            cells = [line for line in lines if line]
        except UnicodeDecodeError:
            raise CsvError(NOT_UTF8) from None
        except csv.Error as error:
            raise CsvError(str(error)) from None
        width = len(self._header)
        for row, line in enumerate(cells):
            if len(line) != width:
                raise CsvError(f"Expected {width} columns, got {len(line)}", row)
        table = {}
        for name in (*doubles, *texts):
            place = self._header.index(name)
            table[name] = np.array([line[place] for line in cells], dtype=object)
        for name in doubles:
            try:
                table[name] = table[name].astype(np.float64)
            except ValueError:
                table[name] = _with_missing(name, table[name])
        return table


def _with_missing(name: str, cells: NDArray[Any]) -> NDArray[Any]:
    for row, cell in enumerate(cells):
        if cell not in MISSING and not is_number(cell):
            raise CsvError("no number", row, name, cell)
    return np.array([np.nan if cell in MISSING else float(cell) for cell in cells])


def is_number(cell: str) -> bool:
    """Return whether the text of a cell is a number in Python's syntax."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
