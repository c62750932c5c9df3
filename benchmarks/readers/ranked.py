"""Ranking data in the format of LETOR and SVMlight: grade, query, features."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.readers.fields import NumberField, number
from benchmarks.readers.places import data_folder, find, lines, look
from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError

RANKED = ("mq2008", "mslr-web10k")
"""The ranking sets with folds that `read_fold` reads by name."""

FOLDS = 5


class Ranked(NamedTuple):
    """Documents of queries."""

    X: Array
    """Features, shape (N, d), finite; a feature that a line leaves out is 0."""
    y: Array
    """Grades, shape (N,); higher is better."""
    groups: Any
    """The query of each document, strings of shape (N,)."""


def read_ranked(path: str | PathLike[str]) -> Ranked:
    """Read a file with one document per line: ``2 qid:10 1:0.5 3:0.25 # comment``; gzipped or not.

    Raises
    ------
    InputError
        If the file cannot be read or has no documents, or if a line is malformed: it has no grade
        or query, a field that is not feature:value with a feature >= 1, features that do not
        increase, or a number that is not finite. The message has the number of the line.
    """
    grades: list[float] = []
    queries: list[str] = []
    pairs: list[Array] = []
    path = Path(path)
    for n, line in lines(path):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        if len(fields) < 2 or not fields[1].startswith("qid:") or len(fields[1]) == 4:
            raise InputError(
                f"{path}, line {n}: it needs a grade, then qid:<query>, then feature:value pairs"
            )
        pairs.append(_pairs(path, n, fields[2:]))
        grades.append(number(path, n, fields[0], NumberField("the grade")))
        queries.append(fields[1][4:])
    if not pairs:
        raise InputError(f"{path} has no documents; get the file again")
    rows = np.repeat(np.arange(len(pairs)), list(map(len, pairs)))
    features, values = np.concatenate(pairs).T
    X = np.zeros((len(pairs), int(features.max(initial=0.0))))
    X[rows, features.astype(np.int64) - 1] = values
    return Ranked(X, np.array(grades), np.array(queries))


def concatenated(parts: list[Ranked]) -> Ranked:
    """Concatenate parts of a set; a part without the last features gets zeros for them."""
    width = max(part.X.shape[1] for part in parts)
    X = np.concatenate([_widened(part.X, width) for part in parts])
    y = np.concatenate([part.y for part in parts])
    return Ranked(X, y, np.concatenate([part.groups for part in parts]))


def read_fold(name: str, folder: str | PathLike[str], fold: int) -> tuple[Ranked, Ranked]:
    """Return the training and the test part of fold 1 to 5 of one of `RANKED`.

    They are ``Fold1/train.txt``, ``Fold1/test.txt`` etc., or for MQ2008 three and one of S1.txt to
    S5.txt, as its authors combine them; in ``folder/<set>``, ``folder/<SET>`` or `folder`, each
    gzipped or not. The validation part is not used.

    Raises
    ------
    InputError
        As `fold_files` and `read_ranked` raise.
    """
    train, test = fold_files(name, folder, fold)
    halves = [concatenated([read_ranked(path) for path in paths]) for paths in (train, [test])]
    width = max(half.X.shape[1] for half in halves)
    trained, tested = (half._replace(X=_widened(half.X, width)) for half in halves)
    return trained, tested


def fold_files(name: str, folder: str | PathLike[str], fold: int) -> tuple[list[Path], Path]:
    """Return the files for training and the file for the test of a fold, or raise InputError."""
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


def _pairs(path: Path, n: int, texts: list[str]) -> Array:
    """Return the features of a line and their values, or raise InputError with the wrong field."""
    try:
        made = np.array([text.split(":") for text in texts], dtype=np.float64)
        made = made.reshape(len(texts), 2)
        features = made[:, 0]
        good = np.isfinite(made).all() and (np.diff(features, prepend=0.0) > 0.0).all()
        if good and (features == np.floor(features)).all() and "_" not in "".join(texts):
            return made  # Python takes 1_0 for 10
    except ValueError:
        pass
    before = 0
    for text in texts:
        feature, colon, value = text.partition(":")
        try:
            finite = np.isfinite(float(value))
        except ValueError:
            finite = False
        if not colon or not feature.isdecimal() or not finite or "_" in value:
            raise InputError(
                f"{path}, line {n}: {text!r} is not feature:value with a whole number and a finite "
                "one"
            )
        if int(feature) <= before:
            raise InputError(
                f"{path}, line {n}: feature {feature} comes after {before}; features start at 1 "
                "and increase"
            )
        before = int(feature)
    raise InputError(f"{path}, line {n}: fields must be feature:value")
