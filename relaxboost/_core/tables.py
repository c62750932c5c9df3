"""CSV files as tables of pandas, whose index is the line of each row."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError, few, missing
from relaxboost._core.files import check_input

FILE = "file"
"""In the `attrs` of a table that was read from a file: its path. Its index is then the lines."""
_OTHERS = {
    b"PK\x03\x04": "a zip archive or a workbook; unpack it, or export the sheet as CSV",
    b"BZh": "packed by bzip2; unpack it",
    b"\xfd7zXZ": "packed by xz; unpack it",
    b"\x93NUMPY": "an array of NumPy; write it as CSV, with the names of its columns first",
    b"{": "JSON; write it as CSV",
    b"[": "JSON; write it as CSV",
}
"""How files begin that are no CSV, and what to do."""
MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "None"]
"""What stands for a missing value where numbers are asked for."""


def read_csv(
    path: str | os.PathLike[str],
    sep: str = ",",
    texts: Sequence[str] = (),
    label: str | None = None,
) -> Any:
    """Return a CSV, gzipped or not, as a table whose index is the line of each row.

    A column is of numbers if all of it is, and if it is none of `texts`; what is blank is missing,
    and a row that is blank is left out. With a `label` so are the words of `MISSING` in all other
    columns, and True and False are numbers. A first column without a name, as pandas writes its
    index, is left out.

    Raises
    ------
    InputError
        For a file that is not there, no text or no CSV, with the line; columns of the same name; a
        row that is longer than the header.
    """
    import pandas as pd

    path = Path(path)
    with opened(path) as file, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        names, first = _header(path, file, sep)
        try:
            table = pd.read_csv(
                file,
                sep=_one(sep),
                header=None,
                names=names,
                index_col=False,
                dtype={name: object for name in names if name in texts},
                na_values={name: [""] if label in (None, name) else MISSING for name in names},
                keep_default_na=False,
                skip_blank_lines=False,  # by which lines are counted
                skipinitialspace=True,
                low_memory=False,
            )
        except pd.errors.EmptyDataError:
            table = pd.DataFrame({name: [] for name in names}, dtype=object)
        except pd.errors.ParserWarning:  # what pandas says of a first row that is too long
            raise _too_long(path, first + 1, sep) from None
        except pd.errors.ParserError as error:
            raise _refused(path, first, sep, str(error)) from None
    words = [name for name in names if table[name].dtype.kind not in "biuf"]
    breaks = sum((table[name].map(_breaks) for name in words), start=0)
    table.index += first + 1 + (breaks if isinstance(breaks, int) else breaks.cumsum() - breaks)
    for name in names:
        if name in words or (label is None and table[name].dtype.kind == "b"):
            table[name] = _stripped(table[name], name in texts)
    rows, table = len(table), table.drop(columns=[""], errors="ignore").dropna(how="all")
    if len(table) < rows:  # pandas took the blank rows for numbers that are no integers
        sound = [name for name in table if table[name].dtype.kind == "f"]
        whole = [n for n in sound if ((table[n] % 1 == 0) & (table[n].abs() < 2**53)).all()]
        table = table.astype(dict.fromkeys(whole, "int64"))
    if table.empty:
        raise InputError(f"{path} has a header and no rows; add them")
    table.attrs[FILE] = str(path)
    return table


def read_header(path: Path, sep: str = ",") -> list[str]:
    """Return the column names of a CSV file, each there and different, or of Parquet."""
    if not is_parquet(check_input(path)):
        with opened(path) as file:
            return _header(path, file, sep)[0]
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_schema
    except ImportError:
        raise missing("Parquet is read by pyarrow", "dask", "pyarrow") from None
    try:
        return list(map(str, read_schema(path).names))
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None


def next_header(name: str, file: Any, sep: str = ",") -> list[str]:
    """Return what `read_header` does of an open binary file, which is read no further."""
    lines = (line.decode("utf-8-sig") for line in iter(file.readline, b""))
    try:
        return _header(name, lines, sep)[0]
    except UnicodeDecodeError:
        raise InputError(f"{name} begins with what is not in UTF-8; write it as UTF-8") from None


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet: by its first bytes, or by its name."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1" or path.suffix.lower() in (".parquet", ".pq")


@contextmanager
def opened(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a file as text, or raise with the line where it is none."""
    try:
        with check_input(path).open("rb") as raw:
            begin = raw.read(6)
            for mark, told in _OTHERS.items():
                if begin.startswith(mark):
                    raise InputError(f"{path} is {told}")
            packed = begin[:2] == b"\x1f\x8b"
            raw.seek(0)
            file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            try:
                yield io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            except UnicodeDecodeError:
                file.seek(0)
                odd = (text.decode(errors="ignore").encode() != text for text in file)
                line = 1 + list(odd).index(True)
                said = f"{path}, line {line}: not in UTF-8; save the file as UTF-8"
                raise InputError(said) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); get the file again") from None


def listed(names: Sequence[str]) -> str:
    """Return the names of columns as a message has them, with what to do if they are a row."""
    return few(names, 12) + _headless(names)


def _headless(names: Sequence[str]) -> str:
    numbers = [name for name in names if re.fullmatch(r"-?\d+(\.\d*)?(e-?\d+)?", str(name))]
    return "; if that is a row, write the names of the columns above it" * bool(numbers)


def _one(sep: str) -> str:
    sep = sep.replace("\\t", "\t")
    if len(sep.encode()) != 1 or sep in '"\r\n':
        raise InputError(f"columns are separated by one character, or \\t, got {sep!r}")
    return sep


def _header(path: Path | str, file: Any, sep: str) -> tuple[list[str], int]:
    """Return the names of columns, and the line that they end at."""
    rows = csv.reader(file, skipinitialspace=True, delimiter=_one(sep))
    try:
        names = [name.strip() for name in next((row for row in rows if any(row)), [])]
    except csv.Error as error:
        raise InputError(f"{path}, line {rows.line_num}: {error}; is a quote not closed?") from None
    if not names:
        raise InputError(f"{path} is empty; give a file with the names of columns, and rows")
    if len(names) == 1 and names[0][0] in "#%@":
        said = f"begins with {names[0]!r}, and a CSV does with the names of its columns"
        raise InputError(f"{path} {said}; delete what is before them")
    other = next((mark for mark in ",;\t| " if len(names) == 1 and mark in names[0]), "")
    if other:
        raise InputError(
            f"{path} has one column, {names[0]!r}; if {other!r} separates columns, give "
            f"sep={other!r}"
        )
    for place, name in enumerate(names, start=1):
        if not name and place > 1:
            raise InputError(f"{path}: column {place} has no name; name it")
        if names.index(name) + 1 != place:
            said = f"two columns are named {name!r}; rename or drop one{_headless(names)}"
            raise InputError(f"{path}: {said}")
    return names, rows.line_num


def _too_long(path: Path, line: int, sep: str) -> InputError:
    return InputError(
        f"{path}, line {line}: more entries than the header has; entries with {sep!r} need quotes"
    )


def _refused(path: Path, first: int, sep: str, said: str) -> InputError:
    """Return the error for what pandas says of rows that it counts from those below the header."""
    if found := re.search(r"in line (\d+), saw", said):
        return _too_long(path, first + int(found[1]), sep)
    if found := re.search(r"EOF inside string starting at row (\d+)", said):
        return InputError(f"{path}, line {first + 1 + int(found[1])}: a quote is not closed")
    return InputError(f"{path} cannot be read as CSV: {said.splitlines()[0]}")


def _breaks(entry: Any) -> int:
    return entry.count("\n") if isinstance(entry, str) else 0


def _stripped(column: Any, text: bool) -> Any:
    """Return a column without blanks around its entries, of numbers if all of them are."""
    import pandas as pd

    entries = [str(entry).strip() or None if entry == entry else None for entry in column]
    column = pd.Series(entries, column.index, dtype=object)
    numbers = column if text else pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().equals(column.notna()) else column
