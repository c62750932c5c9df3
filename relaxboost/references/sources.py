"""Where the matrix of a reference comes from: a generator, a built-in game, or a file."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost import outer
from relaxboost.errors import InputError
from relaxboost.matrices import MarginMatrix, as_matrix, stumps
from relaxboost.references.corners import CORNERS
from relaxboost.references.generators import generate

FILES = ("csv", "npy", "npz")
LARGEST_FILE = 10_000_000
"""Entries of a matrix from a file: it is written into its certificate, whatever its size."""

_OVER = {"L1Ball": outer.L1Ball, "L2Ball": outer.L2Ball, "SquaredNorm": outer.SquaredNorm}
_NUMBER = r"(?:\d+/[1-9]\d*|\d+\.?\d*(?:e[-+]?\d+)?)"


class Sources:
    """Matrices by their descriptions; the last one is kept, since relaxations share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ""
        self._matrix: MarginMatrix | None = None

    def matrix(self, source: dict[str, Any]) -> MarginMatrix:
        """Return the matrix of a description such as ``{"builtin": "identity-3"}``."""
        key = json.dumps(source, sort_keys=True)
        if self._matrix is None or key != self._key:
            self._matrix = as_matrix(self._made(source))
            self._key = key
        return self._matrix

    def _made(self, source: dict[str, Any]) -> Any:
        options = dict(source)
        if "builtin" in options:
            return CORNERS[options["builtin"]].A
        if "generator" in options:
            kind, m, n = (options.pop(name) for name in ("generator", "rows", "columns"))
            return generate(kind, m, n, options.pop("seed"), **options)
        return _read(self._folder, options)


def _read(folder: Path, source: dict[str, Any]) -> Any:
    from relaxboost import datasets

    if "csv" in source:
        path = folder / source["csv"]
        data = datasets.read_csv(path, source["label"])
        cuts = source.get("max_cuts")
        return _small(path, stumps(data.X, data.y, data.feature_names, cuts), data.X.size)
    kind = "npy" if "npy" in source else "npz"
    path = folder / source[kind]
    try:
        found = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path} cannot be read as {kind}: {error}") from None
    if kind == "npz":
        if not isinstance(found, np.lib.npyio.NpzFile):
            raise InputError(f"{path} holds a single array; write npy = in place of npz =")
        with found:
            key = source.get("key", found.files[0] if len(found.files) == 1 else None)
            if key not in found.files:
                raise InputError(
                    f"{path} holds {', '.join(found.files)}; say which with key = "
                    + (f"(there is no {key!r})" if key else "")
                )
            found = found[key]
    if not isinstance(found, np.ndarray):
        found.close()
        raise InputError(f"{path} holds several arrays; write npz = in place of npy =")
    try:
        matrix = as_matrix(found)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return _small(path, matrix, found.size)


def _small(path: Path, matrix: MarginMatrix, numbers: int) -> MarginMatrix:
    if numbers > LARGEST_FILE:
        raise InputError(
            f"{path} holds {numbers} numbers, and every certificate would hold them too; a "
            f"reference set takes {LARGEST_FILE} from a file: thin it, or certify that game alone"
        )
    return matrix


def read_over(text: str) -> outer.OuterSet:
    """Return the outer set that a text such as ``L1Ball(1/2)`` names.

    Raises
    ------
    InputError
        For anything but `L1Ball`, `L2Ball` and `SquaredNorm` with one number, or ``Simplex()``.
    """
    if re.fullmatch(r"\s*Simplex\(\s*\)\s*", text):
        return outer.Simplex()
    found = re.fullmatch(rf"\s*(\w+)\(\s*({_NUMBER})\s*\)\s*", text)
    if found is None or found[1] not in _OVER:
        raise InputError(
            f"cannot read over = {text!r}: write L1Ball(radius), Simplex(), L2Ball(radius) or "
            "SquaredNorm(weight), with a number such as 2, 0.5 or 1/2"
        )
    number = found[2]
    size: int | float | Fraction = Fraction(number) if "/" in number else float(number)
    if number.isdigit():
        size = int(number)
    return _OVER[found[1]](size)
