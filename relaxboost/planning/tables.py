"""Tables of pandas: read from files, checked, and named in errors by their rows or lines."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Flags
from relaxboost._core.errors import InputError

FILE = "file"
"""In the `attrs` of a table that was read from a file: its path. Its index is then the lines."""


def read_csv(path: str | PathLike[str], sep: str = ",", texts: Sequence[str] = ()) -> Any:
    """Return a CSV, gzipped or not, as a table whose index is the line of each row.

    A column is of numbers if all of it is, and if it is none of `texts`; what is blank is missing.
    Columns without a name, as pandas writes its index, are left out.

    Raises
    ------
    InputError
        For a file that is not there, no text or no CSV, with the line; columns of the same name; a
        row that is longer than the header; a file without rows.
    """
    import pandas as pd

    path, sep = Path(path), sep.replace("\\t", "\t")
    if not path.is_file():
        raise InputError(f"{path} {'is no file' if path.exists() else 'does not exist'}")
    if len(sep) != 1:
        raise InputError(f"--sep must be one character, or \\t, got {sep!r}")
    rows = _rows(path, sep)
    header = [name.strip() for _, row in islice(rows, 1) for name in row]
    _check_names(path, header)
    cells, lines, width = list[str](), list[int](), len(header)
    for line, row in rows:
        if len(row) > width:
            raise InputError(
                f"{path}, line {line}: {len(row)} entries, and the header has {width}; "
                f"entries with {sep!r} need quotes"
            )
        lines.append(line)
        cells += row  # one long list, as lists of lists take the garbage collector seconds
        cells += [""] * (width - len(row))
    if not lines:
        raise InputError(f"{path} has no rows below its header; add them")
    held = {
        name: [cell.strip() or None for cell in cells[place::width]]
        for place, name in enumerate(header)
        if name
    }
    table = pd.DataFrame(held, lines, dtype=object)
    for name in set(held).difference(texts):
        numbers = pd.to_numeric(table[name], errors="coerce")
        if numbers.notna().equals(table[name].notna()):
            table[name] = numbers
    table.attrs[FILE] = str(path)
    return table


def _rows(path: Path, sep: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line where it begins."""
    csv.field_size_limit(2**31 - 1)  # a field may hold a trip of many nodes
    reader = csv.reader(_text(path), delimiter=sep, skipinitialspace=True, strict=True)
    start = 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {start}: {error}; is a quote not closed?") from None


def _text(path: Path) -> io.StringIO:
    """Return what a file says, or raise with the line where it says nothing."""
    content = path.read_bytes()
    try:
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        return io.StringIO(content.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not in UTF-8; save the file as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); get the file again") from None


def _check_names(path: Path, names: list[str]) -> None:
    """Raise for a header that does not tell columns apart."""
    found = re.findall(r"[,;\t|]", names[0]) if len(names) == 1 else []
    if found:
        raise InputError(
            f"{path} has one column, {names[0]!r}; if {found[0]!r} separates columns, give --sep "
            f"'{found[0].replace(chr(9), chr(92) + 't')}'"
        )
    names = [name for name in names if name]
    if len(set(names)) != len(names):
        raise InputError(f"{path}: columns need different names, got {', '.join(names)}")


def called(what: str, table: Any) -> str:
    """Return what errors call a table: its file, or else `what`."""
    return str(getattr(table, "attrs", {}).get(FILE, what))


def at(what: str, table: Any, row: Any) -> str:
    """Return where a row is: "edges, row 3", or "roads.csv, line 3"."""
    return f"{called(what, table)}, {'line' if FILE in table.attrs else 'row'} {row!r}"


def check_table(what: str, table: Any, columns: Sequence[str]) -> None:
    """Raise for what is no table, an empty one, and columns that are not there or have holes."""
    if not hasattr(table, "iloc") or len(table) == 0:
        found = f"{type(table).__name__}{' without any' if hasattr(table, 'iloc') else ''}"
        raise InputError(f"{what} must be a pandas.DataFrame with rows, got {found}")
    for name in columns:
        if name not in table.columns:
            raise InputError(
                f"{called(what, table)} has no column {name!r}, only "
                f"{', '.join(map(str, table.columns))}; add it, or rename another"
            )
        if list(table.columns).count(name) > 1:
            raise InputError(
                f"{called(what, table)} has two columns that are called {name!r}; rename one"
            )
        _check_whole(what, table, name, table[name].isna().to_numpy())


def _check_whole(what: str, table: Any, name: str, missing: Flags) -> None:
    """Raise at the first row of a column that lacks a value."""
    if missing.any():
        first = int(missing.argmax())
        raise InputError(
            f"{at(what, table, table.index.tolist()[first])}: {name!r} is "
            f"{table[name].iloc[first]} ({missing.sum()} rows in all); fill it in, or leave such "
            "rows out"
        )


def numbers(what: str, table: Any, name: str) -> Array:
    """Return a column as finite doubles."""
    try:
        made: Array = table[name].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{called(what, table)}: column {name!r} must hold numbers ({error})"
        ) from None
    _check_whole(what, table, name, ~np.isfinite(made))
    return made
