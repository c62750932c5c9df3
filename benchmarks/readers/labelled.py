"""The four UCI sets of GB11's Fig. 3: letter, pendigits, satimage, connect4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.readers.fields import NumberField, number
from benchmarks.readers.places import data_folder, find, lines
from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError

_BOARD = {"b": "0", "o": "1", "x": "2"}
_RESULT = {"draw": "0", "loss": "1", "win": "2"}


class Labelled(NamedTuple):
    """Examples of several classes."""

    name: str
    X: Array
    """Features, shape (N, d), finite."""
    y: Any
    """Labels, shape (N,): letters as strings, or whole numbers."""
    train: int
    """The number of rows for training, which come first in a published split."""
    published: bool
    """Whether the split is published; otherwise the user of the data draws one."""


def read_labelled(name: str, folder: str | PathLike[str] | None = None) -> Labelled:
    """Read one of `LABELLED` from ``folder/<set>`` or `folder`.

    * letter: letter-recognition.data, 20 000 rows; its authors train on the first 16 000
      (here: four fifths).
    * pendigits: pendigits.tra and pendigits.tes, split by writer.
    * satimage: sat.trn and sat.tst.
    * connect4: connect-4.tsv (PMLB: b, o, x as 0, 1, 2 and draw, loss, win as 0, 1, 2, with a
      header) or connect-4.data (UCI, the letters); without a published split.

    Each may be gzipped.

    Parameters
    ----------
    name : str
    folder : path, optional
        By default the value of the environment variable; see `data_folder`.

    Raises
    ------
    InputError
        If the set is unknown, a file is missing (the message names its source) or has no rows, or
        a line is malformed (with its number).
    """
    paths = labelled_files(name, folder)
    read, kind, published = LABELLED[name][1:]
    parts = [read(path) for path in paths]
    widths = [X.shape[1] for X, _ in parts]
    if len(set(widths)) > 1:
        raise InputError(f"{paths[0]} has {widths[0]} features and {paths[1]} has {widths[1]}")
    X = np.concatenate([X for X, _ in parts])
    y = np.concatenate([y for _, y in parts])
    train = len(parts[0][1]) if len(parts) > 1 else len(y) * 4 // 5
    return Labelled(name, X, y if kind is str else y.astype(np.int64), train, published)


def labelled_files(name: str, folder: str | PathLike[str] | None = None) -> list[Path]:
    """Return the files of a set, or raise InputError if one is missing."""
    if name not in LABELLED:
        raise InputError(f"no data set {name!r}; there are {', '.join(LABELLED)}")
    place = data_folder(folder)
    return [find(place, name, *names) for names in LABELLED[name][0]]


Part = tuple[Array, Any]


def _letter(path: Path) -> Part:
    fields = [(n, line.split(",")) for n, line in lines(path)]
    for n, row in fields:
        if len(row[0]) != 1 or not row[0].isalpha():
            raise InputError(f"{path}, line {n}: starts with {row[0]!r}, which is no letter")
    X = _numbers(path, [(n, row[1:]) for n, row in fields], 16, "numbers after the letter")
    return X, np.array([row[0] for _, row in fields])


def _last(separator: str | None, width: int) -> Callable[[Path], Part]:
    """Return a reader of rows of `width` numbers and a label that is a whole number."""

    def read(path: Path) -> Part:
        rows = [(n, line.split(separator)) for n, line in lines(path)]
        return _split(path, rows, width)

    return read


def _connect4(path: Path) -> Part:
    rows = []
    for n, line in lines(path):
        if "\t" in line:
            if not (n == 1 and line.endswith("target")):
                rows.append((n, line.split("\t")))
            continue
        fields = [field.strip() for field in line.split(",")]
        if not set(fields[:-1]) <= set(_BOARD) or fields[-1] not in _RESULT:
            raise InputError(
                f"{path}, line {n}: fields must be b, o or x, and the last win, loss or draw"
            )
        rows.append((n, [*map(_BOARD.__getitem__, fields[:-1]), _RESULT[fields[-1]]]))
    return _split(path, rows, 42)


def _split(path: Path, rows: list[tuple[int, list[str]]], width: int) -> Part:
    table = _numbers(path, rows, width + 1, f"numbers, {width} features and a class")
    broken = np.flatnonzero(table[:, -1] != np.floor(table[:, -1]))
    if broken.size:
        n, row = rows[broken[0]]
        raise InputError(f"{path}, line {n}: class {row[-1].strip()!r} is no whole number")
    return table[:, :-1], table[:, -1]


def _numbers(path: Path, rows: list[tuple[int, list[str]]], width: int, what: str) -> Array:
    """Return rows of text as finite numbers, or raise InputError with the first wrong line."""
    if not rows:
        raise InputError(f"{path} has no rows; get the file again")
    for n, row in rows:
        if len(row) != width:
            raise InputError(f"{path}, line {n}: {len(row)} fields; it needs {width} {what}")
    return np.array(
        [[number(path, n, v.strip(), NumberField("a field")) for v in row] for n, row in rows]
    )


LABELLED: dict[str, tuple[Sequence[tuple[str, ...]], Callable[[Path], Part], type, bool]] = {
    "connect4": ([("connect-4.tsv", "connect-4.data")], _connect4, int, False),
    "letter": ([("letter-recognition.data",)], _letter, str, True),
    "pendigits": ([("pendigits.tra",), ("pendigits.tes",)], _last(",", 16), int, True),
    "satimage": ([("sat.trn",), ("sat.tst",)], _last(None, 36), int, True),
}
"""For each set: names of its files, the reader, the type of labels, whether the split is public."""
