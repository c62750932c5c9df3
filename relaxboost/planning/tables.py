"""Checks of pandas tables, with errors that name the table row or the line in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Flags
from relaxboost._core.errors import InputError
from relaxboost._core.names import did_you_mean
from relaxboost._core.tables import FILE


def called(what: str, table: Any) -> str:
    """Return the name of a table in error messages: the name of its file, or else `what`."""
    return str(getattr(table, "attrs", {}).get(FILE, what))


def at(what: str, table: Any, row: Any) -> str:
    """Return the location of a row for error messages, such as "edges, row 3" or "roads.csv, line
    3"."""
    return f"{called(what, table)}, {'line' if FILE in table.attrs else 'row'} {row!r}"


def check_table(what: str, table: Any, columns: Sequence[str]) -> None:
    """Raise an InputError if a table has no rows, lacks a given column, or has missing values in
    it."""
    if not hasattr(table, "iloc") or len(table) == 0:
        found = f"{type(table).__name__}{' without any' if hasattr(table, 'iloc') else ''}"
        raise InputError(f"{what} must be a pandas.DataFrame with rows, got {found}")
    for name in columns:
        if name not in table.columns:
            known = [str(column) for column in table.columns]
            near = did_you_mean(name, known, 0.6)
            remedy = near or f", only {', '.join(known)}; add it, or rename another"
            raise InputError(f"{called(what, table)} has no column {name!r}{remedy}")
        # A column with a repeated name would be a frame.
        if list(table.columns).count(name) > 1:
            raise InputError(
                f"{called(what, table)} has two columns named {name!r}; rename one of them"
            )
        _check_whole(what, table, name, table[name].isna().to_numpy())


def _check_whole(what: str, table: Any, name: str, missing: Flags) -> None:
    if missing.any():
        first = int(missing.argmax())
        raise InputError(
            f"{at(what, table, table.index.tolist()[first])}: {name!r} is "
            f"{table[name].iloc[first]} ({missing.sum()} in all); fill in a value, or leave such "
            "rows out"
        )


def numbers(what: str, table: Any, name: str) -> Array:
    """Return a column of a table as an array of doubles.

    An InputError is raised if an entry is not a finite number.
    """
    try:
        # Columns of pandas may hold its own missing value.
        made: Array = table[name].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{called(what, table)}: column {name!r} must contain numbers ({error})"
        ) from None
    # An infinite feature would make all costs infinite, or undefined.
    _check_whole(what, table, name, ~np.isfinite(made))
    return made
