"""Read a suite of games, such as `benchmarks/suite.toml`, and make its games."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.readers.places import look
from relaxboost._core.errors import InputError
from relaxboost._core.files import check_input
from relaxboost.game.domains import Domain
from relaxboost.game.game import Game
from relaxboost.instances.entries import NAME
from relaxboost.instances.expressions import read_relaxation
from relaxboost.instances.generators import OPTIONS, check_options, generate
from relaxboost.instances.sources import FILES, Sources, read_over
from relaxboost.matrices import as_matrix, datasets, labelled, stumps
from relaxboost.relaxations import HardMargin, MahalanobisBall, Relaxation

KEYS: dict[str, set[str]] = {
    "generator": {"rows", "columns", "seed", "stored"},
    "labelled": {"rows", "features", "noise", "seed"},
    "bundled": set(),
    "data": {"format", "separator", "header", "label", "positive", "rows"},
    **{kind: {"label", "key", "max_cuts"} for kind in FILES},
}
"""The sources of a matrix, each with the other keys that it takes."""
NEEDED_KEYS = {"generator": ("rows", "columns"), "labelled": ("rows", "features")}
COMMON_KEYS = {"name", "group", "relaxation", "over", "ellipsoid"}
"""The keys that every game may have."""


@dataclass(frozen=True)
class BenchGame:
    """One game of a suite.

    `given` is its table in the file, `folder` that of the suite, `data` that of public data.
    """

    given: dict[str, Any]
    folder: str
    data: str | None

    @property
    def name(self) -> str:
        """The name of the game, which also names its results."""
        return str(self.given["name"])

    @property
    def group(self) -> str:
        """The group over which its ratio is averaged, such as dense, sparse or stumps."""
        return str(self.given.get("group", "others"))

    @property
    def key(self) -> str:
        """The table of the game as one text; two games with different texts differ."""
        return json.dumps(self.given, sort_keys=True)

    @property
    def missing(self) -> str:
        """The reason why the game cannot be made here, or ""."""
        if "data" not in self.given:
            return ""
        if self.data is None:
            return "needs --data DIR"
        return "" if self._path() else f"{self.data} has no {self.given['data']}, plain or with .gz"

    def game(self) -> Game:
        """Return the game itself."""
        A = as_matrix(self._matrix(self.given))
        return Game(A, self._relaxation(A.m), over=self._over)

    def small(self, rows: int) -> Game:
        """Return a game of the same kind with at most `rows` rows and 40 columns.

        A solver plays it first, so that its code is loaded and compiled when the clock starts.
        """
        few = {"rows": min(self.given.get("rows", rows), rows), "columns": 40}
        try:
            A = as_matrix(self._matrix({**self.given, **few}))
        except InputError:  # a planted optimum needs more room, or a sample has one class only
            A = as_matrix(generate("signs", rows, 20, 0))
        try:
            return Game(A, self._relaxation(A.m), over=self._over)
        except InputError:  # the radius of f is too small for so few rows
            return Game(A, HardMargin(), over=self._over)

    @property
    def _over(self) -> Domain:
        return read_over(self.given.get("over", "L1Ball(1)"))

    def _relaxation(self, m: int) -> Relaxation:
        ellipsoid = self.given.get("ellipsoid")
        if ellipsoid is None:
            return read_relaxation(self.given.get("relaxation", "HardMargin()"))
        Q = np.random.default_rng(ellipsoid["seed"]).normal(size=(ellipsoid["rank"], m))
        return MahalanobisBall(Q, ellipsoid["radius"] * float(np.linalg.norm(Q.mean(axis=1))))

    def _matrix(self, given: dict[str, Any]) -> Any:
        """Return the matrix that a table describes, which need not be that of the game."""
        if "generator" in given:
            options = {k: v for k, v in given.items() if k in OPTIONS[given["generator"]]}
            size = given["rows"], given["columns"], given.get("seed", 0)
            A = generate(given["generator"], *size, **options)
            if given.get("stored") == "sparse":
                from scipy import sparse

                return sparse.csc_array(A)
            return A.astype(np.int8) if given.get("stored") == "int8" else A
        if "labelled" in given:
            return stumps(*LABELLED[given["labelled"]](given))
        if "bundled" in given:
            known = datasets.BUNDLED[given["bundled"]]()
            step = -(-len(known.y) // given.get("rows", len(known.y)))
            return stumps(known.X[::step], known.y[::step])
        if "data" in given:
            return stumps(*self._examples(given))
        if given is not self.given:
            raise InputError("a file of a matrix is always read whole")
        kinds = {*FILES, *KEYS["csv"]}
        return Sources(Path(self.folder)).matrix({k: v for k, v in given.items() if k in kinds})

    def _path(self) -> Path | None:
        assert self.data is not None
        return look(Path(self.data), "", self.given["data"])

    def _examples(self, given: dict[str, Any]) -> tuple[Any, Any]:
        """Return the features and labels of a public file, or of a sample of its rows."""
        path, rows = self._path(), given.get("rows")
        if path is None:
            raise InputError(f"game {self.name!r}: {self.missing}")
        if given.get("format", "table") == "libsvm":
            from sklearn.datasets import load_svmlight_file

            X, label = load_svmlight_file(str(path))
            X = X.toarray()
        else:
            import pandas as pd

            header = 0 if given.get("header", True) else None
            frame = pd.read_csv(path, sep=given.get("separator", ","), header=header)
            place = given.get("label", -1)
            name = frame.columns[place] if isinstance(place, int) else place
            X, label = frame.drop(columns=[name]).to_numpy(), frame[name].to_numpy()
        positive = given.get("positive")
        y = datasets.labels(label).signs if positive is None else np.where(label == positive, 1, -1)
        if rows is None or rows >= len(y):
            return X, y
        chosen = np.random.default_rng(0).permutation(len(y))[:rows]
        return labelled.check_labelled(X[chosen], y[chosen])[:2]


def _halfspace(given: dict[str, Any]) -> tuple[Any, Any]:
    """Return normal examples on two sides of a plane; a share `noise` of labels is flipped."""
    rng = np.random.default_rng(given.get("seed", 0))
    X = rng.normal(size=(given["rows"], given["features"]))
    y = np.where(X @ rng.normal(size=given["features"]) > 0.0, 1.0, -1.0)
    return X, np.where(rng.random(len(y)) < given.get("noise", 0.0), -y, y)


def _waveform(given: dict[str, Any]) -> tuple[Any, Any]:
    """Return Breiman's waveforms to two decimals, the first class against the other two."""
    rng = np.random.default_rng(given.get("seed", 0))
    at = np.arange(1, 22)
    bumps = [np.maximum(6 - np.abs(at - centre), 0) for centre in (11, 15, 7)]
    kind, share = rng.integers(3, size=given["rows"]), rng.random((given["rows"], 1))
    first = np.array([bumps[0], bumps[0], bumps[1]])[kind]
    second = np.array([bumps[1], bumps[2], bumps[2]])[kind]
    X = share * first + (1.0 - share) * second + rng.normal(size=first.shape)
    return np.round(X, 2), np.where(kind == 0, 1.0, -1.0)


LABELLED = {"halfspace": _halfspace, "waveform": _waveform}
"""The generators of examples with labels, by name."""


def read_suite(
    path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None
) -> list[BenchGame]:
    """Return the games of a suite. Each is checked as far as possible without making it.

    The file has a table ``[[game]]`` for each game; docs/benchmarks.md lists the keys. `data` is
    the folder of public data, for games with the key ``data``.

    Raises
    ------
    InputError
        If the file cannot be read, or a key, a name, a source or a relaxation is wrong.
    """
    path = check_input(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the suite {path} cannot be read: {error}") from None
    listed = content.pop("game", [])
    if content or not listed or not isinstance(listed, list):
        raise InputError(f"the suite {path} is a table [[game]] for each game, and nothing else")
    folder = None if data is None else str(data)
    games = []
    for place, given in enumerate(listed, 1):
        _check(f"{path}, game {place}", given)
        games.append(BenchGame(given, str(path.parent), folder))
    names = [game.name for game in games]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"the suite {path} has two games called {twice[0]!r}")
    return games


def _check(where: str, given: dict[str, Any]) -> None:
    """Raise an InputError if the table of a game is wrong."""
    if not NAME.fullmatch(str(given.get("name", ""))):
        raise InputError(f"{where} needs a name of letters, digits, dots and dashes")
    where = f"{where} ({given['name']!r})"
    kinds = [kind for kind in KEYS if kind in given]
    if len(kinds) != 1:
        raise InputError(f"{where} needs one of {', '.join(KEYS)}, to say where A comes from")
    kind = kinds[0]
    known: Any = {"labelled": LABELLED, "bundled": datasets.BUNDLED, "generator": OPTIONS}
    if kind in known and given[kind] not in known[kind]:
        names = ", ".join(known[kind])
        raise InputError(f"{where}: no {kind} is called {given[kind]!r}; choose one of {names}")
    options = {k: v for k, v in given.items() if k not in COMMON_KEYS | KEYS[kind] | {kind}}
    if kind == "generator":
        check_options(where, given[kind], options)
    elif options:
        takes = ", ".join(sorted(KEYS[kind])) or "nothing"
        raise InputError(f"{where} does not know {', '.join(options)}; {kind} takes {takes}")
    for key in NEEDED_KEYS.get(kind, ()):
        if type(given.get(key)) is not int or given[key] < 1:
            raise InputError(f"{where}: {key} must be a whole number from 1 on")
    try:
        read_relaxation(given.get("relaxation", "HardMargin()"))
        read_over(given.get("over", "L1Ball(1)"))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
