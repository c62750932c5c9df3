"""CSV files as pandas tables, indexed by line number."""

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
from relaxboost._core.names import did_you_mean

FILE = "file"
"""The key under which the `attrs` of a pandas table contain the path of its CSV file."""
# These are the first bytes of files in other formats, with a remedy for each format.
_OTHERS = {
    b"PK\x03\x04": "a zip archive or a workbook; unpack it, or export the sheet as CSV",
    b"BZh": "packed by bzip2; unpack it",
    b"\xfd7zXZ": "packed by xz; unpack it",
    b"\x93NUMPY": "an array of NumPy; write it as CSV, with the names of its columns first",
    b"{": "JSON; write it as CSV",
    b"[": "JSON; write it as CSV",
}
MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "None"]
"""The words for a missing value in a numeric column."""

UNREPEATED = "most words in {} are distinct, so sets of these words can fit any labels; {}"
"""A warning about columns of mostly distinct words. The fields are column names and advice."""


def hardly_repeats(column: Any) -> bool:
    """Return whether most words in a column are distinct, as in ids, names and dates."""
    # With at most 10 examples half of the words may be different by chance.
    return bool(2 * column.nunique() > max(column.count(), 10))


def exact_decimals() -> dict[str, Any]:
    """Return the `pandas.read_csv` options that round every decimal to the nearest double."""
    import pandas as pd

    # This is the default since pandas 3.1, which warns if the option is passed.
    is_default = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
    return {} if is_default else {"float_precision": "round_trip"}


def read_csv(
    path: str | os.PathLike[str],
    sep: str = ",",
    texts: Sequence[str] = (),
    label: str | None = None,
) -> Any:
    """Read a CSV file into a table that is indexed by line number.

    The file is UTF-8 text, possibly compressed with gzip. A column is numeric if all its entries
    are numbers and its name is not in `texts`. Blank entries are missing values, and blank rows are
    ignored. A first column without a name is a pandas index, and is ignored. If `label` names the
    label column, words such as NA and null (`MISSING`) are missing values in all other columns, and
    True and False are numbers.

    Raises
    ------
    InputError
        If the file does not exist or is not a CSV file in UTF-8, if two columns have the same name,
        or if a row is longer than the header. The message names an invalid line.
    """
    path = Path(path)
    with opened(path) as file:
        names, first = _header(path, file, sep)
        marks = {name: [""] if label in (None, name) else MISSING for name in names}
        kinds = {name: object for name in names if name in texts}
        table = _parsed(path, file, sep, (names, first), {"dtype": kinds, "na_values": marks})
    numeric = "iuf" if label is None else "biuf"
    words = [name for name in names if table[name].dtype.kind not in numeric]
    if words:
        # An entry in quotes may hold line breaks, which move the lines of all rows below.
        breaks = table[words].map(lambda x: x.count("\n") if isinstance(x, str) else 0).sum(axis=1)
        table.index += breaks.cumsum() - breaks
    table.index += first + 1
    for name in words:
        table[name] = _stripped(table[name], name in texts)
    table = _without_blank_rows(table.drop(columns=[""], errors="ignore"))
    if table.empty:
        raise InputError(f"{path} has a header but no rows; add rows")
    table.attrs[FILE] = str(path)
    return table


def _parsed(
    path: Path, file: Any, sep: str, header: tuple[list[str], int], options: dict[str, Any]
) -> Any:
    # Blank rows are kept, so that lines can be counted.
    import pandas as pd

    names, first = header
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                file,
                sep=_separator(sep),
                header=None,
                names=names,
                index_col=False,
                keep_default_na=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                low_memory=False,
                **exact_decimals(),
                **options,
            )
    except pd.errors.EmptyDataError:
        return pd.DataFrame({name: [] for name in names}, dtype=object)
    # pandas warns if the first row is longer than the header.
    except pd.errors.ParserWarning:
        raise _too_long(path, first + 1, sep) from None
    except pd.errors.ParserError as error:
        raise _refused(path, first, sep, str(error)) from None


def _without_blank_rows(table: Any) -> Any:
    # Blank rows make pandas read integers as floats, which are converted back.
    kept = table.dropna(how="all")
    if len(kept) == len(table):
        return kept
    floats = [name for name in kept if kept[name].dtype.kind == "f"]
    whole = [n for n in floats if ((kept[n] % 1 == 0) & (kept[n].abs() < 2**53)).all()]
    return kept.astype(dict.fromkeys(whole, "int64"))


def read_header(path: Path, sep: str = ",") -> list[str]:
    """Return the column names of a CSV or Parquet file.

    The names in a CSV file must be distinct.
    """
    if not is_parquet(check_input(path)):
        with opened(path) as file:
            return _header(path, file, sep)[0]
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_schema
    except ImportError:
        raise missing("Parquet files need pyarrow", "dask", "pyarrow") from None
    try:
        return list(map(str, read_schema(path).names))
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None


def next_header(name: str, file: Any, sep: str = ",") -> list[str]:
    """Read the header row of an open CSV file."""
    lines = (line.decode("utf-8-sig") for line in iter(file.readline, b""))
    try:
        return _header(name, lines, sep)[0]
    except UnicodeDecodeError:
        raise InputError(f"{name} does not start with UTF-8 text; save it as UTF-8") from None


def is_parquet(path: Path) -> bool:
    """Return whether a file is a Parquet file by its first bytes or its name."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1" or path.suffix.lower() in (".parquet", ".pq")


@contextmanager
def opened(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a file as UTF-8 text. An InputError names the first invalid line."""
    try:
        with check_input(path).open("rb") as raw:
            begin = raw.read(6)
            for mark, kind in _OTHERS.items():
                if begin.startswith(mark):
                    raise InputError(f"{path} is {kind}")
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
        raise InputError(
            f"{path} cannot be read ({error}); download or copy the file again"
        ) from None


def listed(names: Sequence[str]) -> str:
    """Join column names for a message.

    If the names look like a row of numbers, the text suggests that the header row is missing.
    """
    return few(names, 12) + _headless(names)


def no_column(table: object, name: str, known: Sequence[Any]) -> InputError:
    """Return the error for an unknown column, which suggests similar names or lists all names."""
    near = did_you_mean(name, map(str, known), 0.6) or f"; it has {listed(known)}"
    return InputError(f"{table} has no column {name!r}{near}")


def check_columns(table: object, option: str, columns: Sequence[str], known: Sequence[str]) -> None:
    """Raise an InputError if an option names an unknown column."""
    for column in columns:
        if column not in known:
            near = did_you_mean(column, known, 0.6)
            there = f" of {table}{near}" if near else f"; {table} has {listed(known)}"
            raise InputError(f"{option}={column!r} names no column{there}")


def _headless(names: Sequence[str]) -> str:
    numbers = [name for name in names if re.fullmatch(r"-?\d+(\.\d*)?(e-?\d+)?", str(name))]
    return "; if that is a row, write the names of the columns above it" * bool(numbers)


def _separator(sep: str) -> str:
    character = sep.replace("\\t", "\t")
    if len(character.encode()) != 1 or character in '"\r\n':
        raise InputError(f"sep must be one character, or \\t for a tab, got {sep!r}")
    return character


def _header(path: Path | str, file: Any, sep: str) -> tuple[list[str], int]:
    """Return the column names of a CSV file, and the number of the last line of the header."""
    rows = csv.reader(file, skipinitialspace=True, delimiter=_separator(sep))
    try:
        names = [name.strip() for name in next((row for row in rows if any(row)), [])]
    except csv.Error as error:
        raise InputError(f"{path}, line {rows.line_num}: {error}; close the open quote") from None
    if not names:
        raise InputError(f"{path} is empty; use a file with a header row and data rows")
    _check_names(path, names)
    return names, rows.line_num


def _check_names(path: Path | str, names: list[str]) -> None:
    if len(names) == 1 and names[0][0] in "#%@":
        said = f"starts with {names[0]!r}, but a CSV must start with its column names"
        raise InputError(f"{path} {said}; delete the lines above the header row")
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


def _too_long(path: Path, line: int, sep: str) -> InputError:
    return InputError(
        f"{path}, line {line}: more entries than the header has; entries with {sep!r} need quotes"
    )


def _refused(path: Path, first: int, sep: str, said: str) -> InputError:
    # pandas counts rows from the first row below the header.
    if found := re.search(r"in line (\d+), saw", said):
        return _too_long(path, first + int(found[1]), sep)
    if found := re.search(r"EOF inside string starting at row (\d+)", said):
        return InputError(f"{path}, line {first + 1 + int(found[1])}: a quote is not closed")
    return InputError(f"{path} cannot be read as CSV: {said.splitlines()[0]}")


def _stripped(column: Any, text: bool) -> Any:
    import pandas as pd

    entries = [str(entry).strip() or None if entry == entry else None for entry in column]
    column = pd.Series(entries, column.index, dtype=object)
    numbers = column if text else pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().equals(column.notna()) else column
