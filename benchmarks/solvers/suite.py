"""SUITE.toml: which games a benchmark plays, and how each is made."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.files import check_input
from relaxboost.game.domains import Domain
from relaxboost.game.game import Game
from relaxboost.instances.entries import NAME
from relaxboost.instances.generators import OPTIONS, check_options, generate
from relaxboost.instances.sources import FILES, Sources, read_over
from relaxboost.matrices import as_matrix, datasets, labelled, stumps
from relaxboost.planning.readers.places import look
from relaxboost.relaxations import HardMargin, MahalanobisBall, Relaxation
from relaxboost.relaxations.expressions import read_relaxation

_KINDS: dict[str, set[str]] = {
    "generator": {"rows", "columns", "seed", "stored"},
    "labelled": {"rows", "features", "noise", "seed"},
    "bundled": set(),
    "data": {"format", "separator", "header", "label", "positive", "rows"},
    **{kind: {"label", "key", "max_cuts"} for kind in FILES},
}
_PLAYED = {"name", "group", "relaxation", "over", "ellipsoid"}


@dataclass(frozen=True)
class BenchGame:
    """One game of a suite: what the file says of it, and where it looks for files."""

    given: dict[str, Any]
    folder: str
    data: str | None

    @property
    def name(self) -> str:
        """Its name, which results are kept under."""
        return str(self.given["name"])

    @property
    def group(self) -> str:
        """What it is counted with, such as dense, sparse or stumps."""
        return str(self.given.get("group", "others"))

    @property
    def key(self) -> str:
        """What the file says of it, as one text: another text is another game."""
        return json.dumps(self.given, sort_keys=True)

    @property
    def missing(self) -> str:
        """Why it cannot be played here, or ""."""
        if "data" not in self.given:
            return ""
        if self.data is None:
            return "needs --data DIR"
        return "" if self._path() else f"{self.data} has no {self.given['data']}, plain or with .gz"

    def game(self) -> Game:
        """Return the game itself."""
        A = as_matrix(self._matrix(self.given))
        return Game(A, self._relaxation(A.m), over=self._over)

    def small(self, most: int) -> Game:
        """Return a game of the same kind with few examples and columns.

        A solver plays it first, so that all is loaded and compiled when its clock starts.
        """
        few = {"rows": min(self.given.get("rows", most), most), "columns": 40}
        try:
            A = as_matrix(self._matrix({**self.given, **few}))
        except InputError:  # a plant that needs more room, or a sample of one class
            A = as_matrix(generate("signs", most, 20, 0))
        try:
            return Game(A, self._relaxation(A.m), over=self._over)
        except InputError:  # a radius that is too small for so few examples
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
        if "generator" in given:
            options = {k: v for k, v in given.items() if k in OPTIONS[given["generator"]]}
            size = given["rows"], given["columns"], given.get("seed", 0)
            A = generate(given["generator"], *size, **options)
            if given.get("stored") == "sparse":
                from scipy import sparse

                return sparse.csc_array(A)
            return A.astype(np.int8) if given.get("stored") == "int8" else A
        if "labelled" in given:
            return stumps(*_LABELLED[given["labelled"]](given))
        if "bundled" in given:
            known = datasets.BUNDLED[given["bundled"]]()
            step = -(-len(known.y) // given.get("rows", len(known.y)))
            return stumps(known.X[::step], known.y[::step])
        if "data" in given:
            return stumps(*self._read(given))
        if given is not self.given:
            raise InputError("a file is read whole")
        kinds = {*FILES, *_KINDS["csv"]}
        return Sources(Path(self.folder)).matrix({k: v for k, v in given.items() if k in kinds})

    def _path(self) -> Path | None:
        assert self.data is not None
        return look(Path(self.data), "", self.given["data"])

    def _read(self, given: dict[str, Any]) -> tuple[Any, Any]:
        """Return the examples of a public file: tables of numbers with a column of labels."""
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
            table = pd.read_csv(path, sep=given.get("separator", ","), header=header)
            place = given.get("label", -1)
            name = table.columns[place] if isinstance(place, int) else place
            X, label = table.drop(columns=[name]).to_numpy(), table[name].to_numpy()
        positive = given.get("positive")
        y = datasets.labels(label).signs if positive is None else np.where(label == positive, 1, -1)
        if rows is None or rows >= len(y):
            return X, y
        chosen = np.random.default_rng(0).permutation(len(y))[:rows]
        return labelled.check_labelled(X[chosen], y[chosen])[:2]


def _halfspace(given: dict[str, Any]) -> tuple[Any, Any]:
    """Return normal examples on two sides of a plane, with a share `noise` of labels turned."""
    rng = np.random.default_rng(given.get("seed", 0))
    X = rng.normal(size=(given["rows"], given["features"]))
    y = np.where(X @ rng.normal(size=given["features"]) > 0.0, 1.0, -1.0)
    return X, np.where(rng.random(len(y)) < given.get("noise", 0.0), -y, y)


def _waveform(given: dict[str, Any]) -> tuple[Any, Any]:
    """Return Breiman's waveforms to two decimals, the first kind against the other two."""
    rng = np.random.default_rng(given.get("seed", 0))
    at = np.arange(1, 22)
    bumps = [np.maximum(6 - np.abs(at - centre), 0) for centre in (11, 15, 7)]
    kind, share = rng.integers(3, size=given["rows"]), rng.random((given["rows"], 1))
    first = np.array([bumps[0], bumps[0], bumps[1]])[kind]
    second = np.array([bumps[1], bumps[2], bumps[2]])[kind]
    X = share * first + (1.0 - share) * second + rng.normal(size=first.shape)
    return np.round(X, 2), np.where(kind == 0, 1.0, -1.0)


_LABELLED = {"halfspace": _halfspace, "waveform": _waveform}


def read_suite(
    path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None
) -> list[BenchGame]:
    """Return the games of a suite, each checked as far as it can be without making it.

    Parameters
    ----------
    path : path
        A TOML file with a table ``[[game]]`` for each; docs/benchmarks.md lists the keys.
    data : path, optional
        The folder of public data that games with ``data`` are of.

    Raises
    ------
    InputError
        For a file that cannot be read, and for a key, kind, relaxation or name that is wrong.
    """
    path = check_input(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the suite {path} cannot be read: {error}") from None
    listed = content.pop("game", [])
    if content or not listed or not isinstance(listed, list):
        raise InputError(f"the suite {path} is a table [[game]] for each game, and nothing else")
    games = [
        BenchGame(
            _checked(f"{path}, game {place}", given), str(path.parent), str(data) if data else None
        )
        for place, given in enumerate(listed, 1)
    ]
    names = [game.name for game in games]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"the suite {path} has two games called {twice[0]!r}")
    return games


def _checked(where: str, given: dict[str, Any]) -> dict[str, Any]:
    if not NAME.fullmatch(str(given.get("name", ""))):
        raise InputError(f"{where} needs a name of letters, digits, dots and dashes")
    where = f"{where} ({given['name']!r})"
    kinds = [kind for kind in _KINDS if kind in given]
    if len(kinds) != 1:
        raise InputError(f"{where} needs one of {', '.join(_KINDS)}, to say where A comes from")
    kind = kinds[0]
    named: dict[str, Any] = {
        "labelled": _LABELLED,
        "bundled": datasets.BUNDLED,
        "generator": OPTIONS,
    }
    if kind in named and given[kind] not in named[kind]:
        raise InputError(
            f"{where}: no {kind} is called {given[kind]!r}; known: {', '.join(named[kind])}"
        )
    options = {k: v for k, v in given.items() if k not in _PLAYED | _KINDS[kind] | {kind}}
    if kind == "generator":
        check_options(where, given[kind], options)
    elif options:
        raise InputError(
            f"{where} does not know {', '.join(options)}; {kind} takes "
            f"{', '.join(sorted(_KINDS[kind])) or 'nothing'}"
        )
    needed = {"generator": ("rows", "columns"), "labelled": ("rows", "features")}.get(kind, ())
    for key in needed:
        if type(given.get(key)) is not int or given[key] < 1:
            raise InputError(f"{where}: {key} must be a whole number from 1 on")
    try:
        read_relaxation(given.get("relaxation", "HardMargin()"))
        read_over(given.get("over", "L1Ball(1)"))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return given
