"""Ranking data in the format of LETOR and SVMlight: grade, query, features."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.planning.readers.fields import number
from relaxboost.planning.readers.places import data_folder, find, lines, look

RANKED = ("mq2008", "mslr-web10k")
"""The ranking sets whose folds can be read by name."""

FOLDS = 5
_BLOCK = 4096  # lines turned into numbers together: one by one is slow, all at once takes memory


class Ranked(NamedTuple):
    """Documents of queries."""

    X: Array
    """Features, shape (N, d), finite; those a file leaves out are 0."""
    y: Array
    """Grades, shape (N,); higher is better."""
    groups: Any
    """The query of each document, strings of shape (N,)."""


def read_ranked(path: str | PathLike[str]) -> Ranked:
    """Read a file with a document a line: ``2 qid:10 1:0.5 3:0.25 # comment``; gzipped or not.

    Raises
    ------
    InputError
        If the file cannot be read or has no documents, or a line is malformed: no grade, no
        query, a field that is not feature:value with a feature >= 1, features that do not
        increase, a number that is not finite; with the line's number.
    """
    grades: list[str] = []
    queries: list[str] = []
    blocks: list[tuple[Any, Any, Array]] = []
    held: list[tuple[int, list[str]]] = []
    numbers: list[int] = []
    path = Path(path)
    for n, line in lines(path):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        if len(fields) < 2 or not fields[1].startswith("qid:") or len(fields[1]) == 4:
            raise InputError(
                f"{path}, line {n}: it needs a grade, then qid:<query>, then feature:value pairs"
            )
        grades.append(fields[0])
        queries.append(fields[1][4:])
        numbers.append(n)
        held.append((n, fields[2:]))
        if len(held) == _BLOCK:
            blocks.append(_block(path, held))
            held = []
    if held:
        blocks.append(_block(path, held))
    if not blocks:
        raise InputError(f"{path} has no documents; get the file again")
    y = np.array(
        [number(path, n, text, "the grade") for n, text in zip(numbers, grades, strict=True)]
    )
    width = max(int(columns.max(initial=0)) for _, columns, _ in blocks)
    X = np.zeros((len(y), width))
    start = 0
    for counts, columns, values in blocks:
        rows = np.repeat(np.arange(start, start + len(counts)), counts)
        X[rows, columns - 1] = values
        start += len(counts)
    return Ranked(X, y, np.array(queries))


def concatenated(parts: list[Ranked]) -> Ranked:
    """Return several parts of one set as one; a part that lacks the last features has them 0."""
    width = max(part.X.shape[1] for part in parts)
    X = np.concatenate([_widened(part.X, width) for part in parts])
    y = np.concatenate([part.y for part in parts])
    return Ranked(X, y, np.concatenate([part.groups for part in parts]))


def read_fold(name: str, folder: str | PathLike[str], fold: int) -> tuple[Ranked, Ranked]:
    """Return the training and the test part of fold 1 to 5 of one of `RANKED`.

    They are Fold<k>/train.txt and Fold<k>/test.txt, or for MQ2008 three and one of S1.txt to
    S5.txt, as its authors combine them; in `folder`/<set>, `folder`/<SET> or `folder`, each
    gzipped or not. The validation part is not used.

    Raises
    ------
    InputError
        As `fold_files` and `read_ranked` raise.
    """
    train, test = fold_files(name, folder, fold)
    parts = concatenated([read_ranked(path) for path in train])
    tested = read_ranked(test)
    width = max(parts.X.shape[1], tested.X.shape[1])
    return (
        parts._replace(X=_widened(parts.X, width)),
        tested._replace(X=_widened(tested.X, width)),
    )


def fold_files(name: str, folder: str | PathLike[str], fold: int) -> tuple[list[Path], Path]:
    """Return the training files and the test file of a fold, or raise where one is missing."""
    if name not in RANKED:
        raise InputError(f"no ranking set {name!r}; there are {', '.join(RANKED)}")
    if not 1 <= fold <= FOLDS:
        raise InputError(f"{name} has folds 1 to {FOLDS}, got {fold}")
    folder = data_folder(folder)
    train = look(folder, name, f"Fold{fold}/train.txt")
    test = look(folder, name, f"Fold{fold}/test.txt")
    if train is not None and test is not None:
        return [train], test
    if name != "mq2008":
        missing = "train.txt" if train is None else "test.txt"
        return [find(folder, name, f"Fold{fold}/{missing}")], Path()
    order = [f"S{(fold - 1 + place) % FOLDS + 1}.txt" for place in range(FOLDS)]
    try:
        found = [find(folder, name, order[place]) for place in (0, 1, 2, 4)]
    except InputError as error:
        raise InputError(f"{error}; Fold{fold}/train.txt and test.txt will do as well") from None
    return found[:3], found[3]


def _widened(X: Array, width: int) -> Array:
    return X if X.shape[1] == width else np.pad(X, ((0, 0), (0, width - X.shape[1])))


def _block(path: Path, held: list[tuple[int, list[str]]]) -> tuple[Any, Any, Array]:
    """Return the counts of pairs of each line, and all their features and values."""
    counts = np.array([len(pairs) for _, pairs in held])
    texts = " ".join([pair for _, pairs in held for pair in pairs]).replace(":", " : ").split()
    try:
        columns = np.fromiter(map(float, texts[::3]), dtype=np.float64)
        values = np.fromiter(map(float, texts[2::3]), dtype=np.float64)
        good = (
            len(texts) == 3 * counts.sum()
            and not any("_" in text for text in texts)  # Python takes 1_0 for 10
            and texts[1::3].count(":") == len(columns)
            and bool(np.isfinite(columns).all() and np.isfinite(values).all())
            and bool((columns >= 1).all() and (columns == np.floor(columns)).all())
        )
    except ValueError:
        good = False
    if good:
        # Where a line begins its first feature need not be larger than the one before.
        begins = np.zeros(len(columns) + 1, dtype=bool)
        begins[np.concatenate([[0], np.cumsum(counts)])] = True
        good = bool((np.diff(columns) > 0)[~begins[1:-1]].all()) if len(columns) else True
    if not good:
        for n, pairs in held:
            _check_line(path, n, pairs)
        raise InputError(f"{path}, near line {held[0][0]}: fields must be feature:value")
    return counts, columns.astype(np.int64), values


def _check_line(path: Path, n: int, pairs: list[str]) -> None:
    """Raise for what is wrong with the pairs of a line, if anything is."""
    before = 0
    for pair in pairs:
        feature, colon, value = pair.partition(":")
        try:
            finite = np.isfinite(float(value))
        except ValueError:
            finite = False
        if not colon or not feature.isdecimal() or not finite or "_" in value:
            raise InputError(
                f"{path}, line {n}: {pair!r} is not feature:value with a whole number and a finite "
                "one"
            )
        if int(feature) <= before:
            raise InputError(
                f"{path}, line {n}: feature {feature} comes after {before}; features start at 1 "
                "and increase"
            )
        before = int(feature)
