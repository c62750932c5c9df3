"""Numbers in text, and arrays in archives, checked as they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError


def number(path: Path, n: int, text: str, what: str, least: float = -math.inf) -> float:
    """Return text as a finite number, at least `least`, or raise with its line.

    Raises
    ------
    InputError
        If it is no such number.
    """
    try:
        value = math.nan if "_" in text else float(text)  # Python takes 1_0 for 10
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        shown = repr(text) if text else "missing"
        raise InputError(f"{path}, line {n}: {what} is {shown}; it must be a finite number")
    if value < least:
        raise InputError(f"{path}, line {n}: {what} is {text}; it must be at least {least:g}")
    return value


def whole(path: Path, n: int, text: str, what: str, least: int, most: int = 2**53) -> int:
    """Return text as a whole number from `least` to `most`, or raise with its line.

    Raises
    ------
    InputError
        If it is no such number; 1e3 and 12.0 are.
    """
    value = number(path, n, text, what)
    if value != math.floor(value):
        raise InputError(f"{path}, line {n}: {what} is {text}; it must be a whole number")
    if not least <= value <= most:
        bounds = f"{least} or more" if most == 2**53 else f"from {least} to {most}"
        raise InputError(f"{path}, line {n}: {what} is {text}; it must be {bounds}")
    return int(value)


class NumberField(NamedTuple):
    """What the numbers of a column are called and must be."""

    what: str
    least: float = -math.inf
    most: int | None = None
    """Whole numbers up to this one; None for finite numbers of any kind."""


def row(
    path: Path, n: int, fields: Sequence[str], columns: Sequence[NumberField], what: str = "it"
) -> list[float]:
    """Return the numbers of a line, one a column, or raise with its line.

    Raises
    ------
    InputError
        If there are more fields or fewer, or one is no such number.
    """
    if len(fields) != len(columns):
        names = ", ".join(column.what.removeprefix("the ") for column in columns)
        raise InputError(
            f"{path}, line {n}: {len(fields)} fields; {what} needs {len(columns)}: {names}"
        )
    return [
        number(path, n, text, column.what, column.least)
        if column.most is None
        else whole(path, n, text, column.what, int(column.least), column.most)
        for text, column in zip(fields, columns, strict=True)
    ]


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
