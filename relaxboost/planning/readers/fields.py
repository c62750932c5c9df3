"""Numbers in text, and arrays in archives, checked as they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError

ANY = 2**53
"""More than any whole number may be."""


Line = int | str
"""The number of a line, or what else says where something is."""


class NumberField(NamedTuple):
    """What a number is called and must be."""

    what: str
    least: float = -math.inf
    most: int | None = None
    """Whole numbers up to this one, or `ANY`; None for finite numbers of any kind."""


def number(
    path: Path,
    n: Line,
    text: str,
    what: str,
    least: float = -math.inf,
    most: int | None = None,
) -> float:
    """Return text as the number that a `NumberField` describes, or raise with its line."""
    try:
        value = math.nan if "_" in text else float(text)  # Python takes 1_0 for 10
    except ValueError:
        value = math.nan
    wrong = ""
    if not math.isfinite(value):
        text, wrong = repr(text) if text else "missing", "a finite number"
    elif most is not None and value != math.floor(value):
        wrong = "a whole number"
    elif not least <= value <= (math.inf if most is None else most):
        wrong = f"at least {least:g}" if most in (None, ANY) else f"from {least:g} to {most}"
    if wrong:
        raise InputError(f"{path}, {_line(n)}: {what} is {text}; it must be {wrong}")
    return value


def row(
    path: Path,
    n: Line,
    fields: Sequence[str],
    columns: Sequence[NumberField],
    what: str = "it",
) -> list[float]:
    """Return the numbers of a line, one a column, or raise with its line."""
    if len(fields) != len(columns):
        names = ", ".join(column.what.removeprefix("the ") for column in columns)
        raise InputError(
            f"{path}, {_line(n)}: {len(fields)} fields; {what} needs {len(columns)}: {names}"
        )
    return [number(path, n, text, *column) for text, column in zip(fields, columns, strict=True)]


def _line(n: Line) -> str:
    return f"line {n}" if isinstance(n, int) else n


def archive(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name, or of an .npy file by the name of the file.

    Raises
    ------
    InputError
        If it is no such file, is damaged, or holds Python objects, which are never loaded.
    """
    try:
        with path.open("rb") as file:  # given a path, numpy leaves a damaged file open
            held = np.load(file, allow_pickle=False)
            if isinstance(held, np.ndarray):
                return {path.stem: held}
            return {name: held[name] for name in held.files}
    except Exception as error:  # damaged headers make numpy raise whatever its parsers do
        raise InputError(
            f"{path}: cannot be read as an array file of numbers ({error}); get it again, or save "
            "it with numpy.savez"
        ) from None
