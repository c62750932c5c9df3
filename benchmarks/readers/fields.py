"""Numbers in text, and arrays in archives, checked as they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError


class NumberField(NamedTuple):
    """The name of a number and its bounds; the number must also be finite."""

    what: str
    least: float = -math.inf
    most: float = math.inf
    whole: bool = False


def number(path: Path, n: int, text: str, field: NumberField) -> float:
    """Return text as a number, or raise InputError with the line."""
    what, least, most, whole = field
    try:
        value = math.nan if "_" in text else float(text)  # Python takes 1_0 for 10
    except ValueError:
        value = math.nan
    wrong = ""
    if not math.isfinite(value):
        text, wrong = repr(text) if text else "missing", "a finite number"
    elif whole and value != math.floor(value):
        wrong = "a whole number"
    elif not least <= value <= most:
        wrong = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
    if wrong:
        raise InputError(f"{path}, line {n}: {what} is {text}; it must be {wrong}")
    return value


def row(
    path: Path, n: int, texts: Sequence[str], fields: Sequence[NumberField], what: str = "it"
) -> list[float]:
    """Return the numbers of a line, one for each field, or raise InputError with the line."""
    if len(texts) != len(fields):
        names = ", ".join(field.what.removeprefix("the ") for field in fields)
        raise InputError(
            f"{path}, line {n}: {len(texts)} fields; {what} needs {len(fields)}: {names}"
        )
    return [number(path, n, *pair) for pair in zip(texts, fields, strict=True)]


def archive(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name, or of an .npy file by the name of the file.

    Raises
    ------
    InputError
        If the file is damaged or not an array file, or holds Python objects, which are not loaded.
    """
    try:
        with path.open("rb") as file:  # numpy leaves a damaged file open if it gets a path
            held = np.load(file, allow_pickle=False)
            if isinstance(held, np.ndarray):
                return {path.stem: held}
            return {name: held[name] for name in held.files}
    except Exception as error:  # the parsers of numpy raise many kinds of errors
        raise InputError(
            f"{path}: cannot be read as an array file of numbers ({error}); get it again, or save "
            "it with numpy.savez"
        ) from None
