"""Sources of the matrices of certified games: generators, built-in games and files."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError, error_prefix
from relaxboost._core.files import check_input
from relaxboost.certificates import check
from relaxboost.game import domains
from relaxboost.instances.corners import CORNERS
from relaxboost.instances.generators import generate
from relaxboost.matrices import MarginMatrix, as_matrix, datasets, stumps

FILES = ("csv", "npy", "npz")

_NUMBER = r"(?:\d+/[1-9]\d*|\d+\.?\d*(?:e[-+]?\d+)?)"


class Sources:
    """A factory for the margin matrices of certified games."""

    # A specification often has several games with the same matrix, so the last matrix is kept.

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ""
        self._matrix: MarginMatrix | None = None

    def matrix(self, source: dict[str, Any]) -> MarginMatrix:
        """Return the margin matrix for a description such as ``{"builtin": "identity-3"}``."""
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
    if "csv" in source:
        path = folder / source["csv"]
        data = datasets.read_csv(path, source["label"])
        cuts = source.get("max_cuts")
        return _small(path, stumps(data.X, data.y, data.feature_names, cuts), data.X.size)
    kind = "npy" if "npy" in source else "npz"
    path = check_input(folder / source[kind], folder=True)
    try:
        found = _array(path, kind, source.get("key"))
    except InputError:
        raise
    except Exception as error:  # Damaged archives raise many kinds of errors.
        said = str(error) or type(error).__name__
        raise InputError(f"{path} cannot be read as {kind}: {said}") from None
    with error_prefix(f"{path}: "):
        matrix = as_matrix(found)
    return _small(path, matrix, found.size)


def _array(path: Path, kind: str, key: str | None) -> Any:
    # np.load leaves a damaged file open if it opened the file itself.
    with path.open("rb") as file, warnings.catch_warnings():
        # NumPy warns about headers that Python 2 wrote.
        warnings.simplefilter("ignore", UserWarning)
        found = np.load(file, allow_pickle=False)
        if isinstance(found, np.ndarray) == (kind == "npz"):
            holds, other = ("a single array", "npy") if kind == "npz" else ("several arrays", "npz")
            raise InputError(f"{path} has {holds}. Replace the key {kind} by {other}")
        if kind == "npy":
            return found
        if key is None and len(found.files) == 1:
            key = found.files[0]
        if key not in found.files:
            raise InputError(
                f"{path} has the arrays {', '.join(found.files)}"
                + (f", but no {key!r}" if key else "")
                + ". Select one of them with the key `key`"
            )
        return found[key]


def _small(path: Path, matrix: MarginMatrix, numbers: int) -> MarginMatrix:
    # A double takes up to 25 characters of the certificate, which the checker must be able to load.
    most = check.MAX_BYTES // 25
    if numbers > most:
        raise InputError(
            f"{path} has {numbers} numbers. A matrix from a file may have at most {most}, because "
            "every certificate contains the whole matrix. Select fewer examples or hypotheses, or "
            "certify this game alone"
        )
    return matrix


def read_over(text: str) -> domains.Domain:
    """Return the domain for a string such as ``L1Ball(1/2)`` or ``Simplex()``.

    Raise an InputError unless the string describes a domain with at most one number.
    """
    found = re.fullmatch(rf"\s*(\w+)\(\s*({_NUMBER})?\s*\)\s*", text)
    name, number = found.groups() if found else ("", None)
    kind = getattr(domains, name) if name in domains.__all__ else None
    takes = len(fields(kind)) if is_dataclass(kind) else 0
    if not isinstance(kind, type) or (number is None and kind is not domains.Simplex) or not takes:
        raise InputError(
            f"cannot read over = {text!r}. Write L1Ball(radius), Simplex(), Simplex(radius), "
            "FullSimplex(radius), L2Ball(radius) or SquaredNorm(weight), with a number such as 2, "
            "0.5 or 1/2"
        )
    if number is None:
        return kind()
    if number.isdigit():
        return kind(int(number))
    return kind(Fraction(number) if "/" in number else float(number))
