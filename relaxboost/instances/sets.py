"""Sets of certified games, with access by name and selection by conditions."""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Container, Iterator, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.files import shallow
from relaxboost._core.names import did_you_mean
from relaxboost.certificates import check
from relaxboost.game.domains import Domain
from relaxboost.instances.certified import CertifiedGame
from relaxboost.relaxations import Relaxation

CORNER_CASES = Path(__file__).parent / "corner-cases"
"""The folder of small extreme games."""
LARGER_GAMES = Path(__file__).parent / "larger-games"
"""The folder of games with 40 x 30 and 200 x 100 entries, on which solvers that stop too early
fail."""

FORMAT = "relaxboost references"
"""The format name in every index file. It must not change."""

_TEXTS = ("name", "file", "sha256", "game", "relaxation", "over", "level", "lower", "upper")
_FIELDS = {*_TEXTS, "m", "n", "source"}


class CertifiedGames(Mapping[str, CertifiedGame]):
    """A mapping from names to the certified games in some directories.

    The call ``games(name)`` checks the certificate file before it returns the game.
    """

    def __init__(self, games: list[CertifiedGame], where: str) -> None:
        self._games = {certified.name: certified for certified in games}
        self._where = where

    def __getitem__(self, name: str) -> CertifiedGame:
        if name not in self._games:
            raise KeyError(f"{name}{did_you_mean(str(name), self._games)}")
        return self._games[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def __len__(self) -> int:
        return len(self._games)

    def __repr__(self) -> str:
        return f"CertifiedGames({len(self)} games in {self._where})"

    def __call__(self, name: str) -> CertifiedGame:
        """Return the certified game with the given name, after a check of its file digest.

        Raises
        ------
        InputError
            If no game has this name, or if its file digest differs.
        """
        if name not in self._games:
            hint = did_you_mean(name, self._games)
            raise InputError(f"no certified game is called {name!r} in {self._where}{hint}")
        certified = self._games[name]
        certified.certificate()
        return certified

    def select(
        self,
        name: str | None = None,
        relaxation: Any = None,
        over: Any = None,
        m: int | Container[int] | None = None,
        n: int | Container[int] | None = None,
        level: str | None = None,
    ) -> CertifiedGames:
        """Return the games that satisfy all given conditions.

        Parameters
        ----------
        name : str, optional
            The name of a game, or a pattern such as ``"identity-*"``.
        relaxation : class of relaxations, Relaxation, or a tuple of them, optional
            The relaxation, such as ``rb.Capped`` for any cap, or ``rb.Capped(k=2)`` for this cap
            only.
        over : class of domains, domain, or a tuple of them, optional
            The domain of w, such as ``rb.Simplex`` or ``rb.L1Ball(1)``.
        m, n : int or container of int, optional
            The number of examples or hypotheses, such as ``40`` or ``range(2, 50)``.
        level : {"exact", "enclosed"}, optional
            The level of the certificate. By default, both levels are selected.

        Raises
        ------
        InputError
            If no game satisfies the conditions, or if a condition has the wrong type, such as the
            name of a relaxation instead of the relaxation.
        """
        _check_kinds("relaxation", relaxation, Relaxation, "rb.Capped or rb.Capped(k=2)")
        _check_kinds("over", over, Domain, "rb.Simplex or rb.L1Ball(1)")
        if level not in (None, "exact", "enclosed"):
            raise InputError(f"level must be 'exact' or 'enclosed', got {level!r}")
        chosen = [
            game
            for game in self.values()
            if (name is None or fnmatch.fnmatchcase(game.name, name))
            and _in(game.m, "m", m)
            and _in(game.n, "n", n)
            and level in (None, game.level)
            and _is_any(game, "relaxation", relaxation)
            and _is_any(game, "over", over)
        ]
        if not chosen:
            asked = _listed(name=name, relaxation=relaxation, over=over, m=m, n=n, level=level)
            raise InputError(f"none of the {len(self)} games in {self._where} has {asked}")
        return CertifiedGames(chosen, self._where)


def _check_kinds(key: str, given: Any, base: type, example: str) -> None:
    for kind in given if isinstance(given, tuple) else () if given is None else (given,):
        fits = issubclass(kind, base) if isinstance(kind, type) else isinstance(kind, base)
        if not fits:
            raise InputError(f"{key} must be a class or an object such as {example}, got {kind!r}")


def _is_any(game: CertifiedGame, key: str, kinds: Any) -> bool:
    if kinds is None:
        return True
    value = getattr(game, key)
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(kind, type):
            if isinstance(value, kind):
                return True
            continue
        try:  # This resolves parameters that depend on m, such as Capped(fraction=1/3).
            wanted = kind.resolve(game.m) if isinstance(kind, Relaxation) else kind
        except InputError:  # For example, f may have k = 5 in a game of 3 examples.
            continue
        if wanted.key() == value.key():
            return True
    return False


def _in(size: int, key: str, wanted: Any) -> bool:
    if wanted is None:
        return True
    if isinstance(wanted, Container) and not isinstance(wanted, str):
        return size in wanted
    if not isinstance(wanted, bool) and isinstance(wanted, Integral):
        return size == int(wanted)
    raise InputError(f"{key} must be a whole number or a range, got {wanted!r}")


def _listed(**conditions: Any) -> str:
    return ", ".join(
        f"{key}={value.__name__ if isinstance(value, type) else repr(value)}"
        for key, value in conditions.items()
        if value is not None
    )


def load(*directories: str | os.PathLike[str], **conditions: Any) -> CertifiedGames:
    """Load the games of one or more sets, by default those of the package. Only the indices are
    read. Each certificate is read at its first use, and its file digest is compared with the index.
    Use `check` to recompute the proofs.

    Parameters
    ----------
    *directories : path
        Directories that `make` has written. If two of them have a game of the same name, the game
        from the first one is used.
    **conditions
        The conditions of `CertifiedGames.select`, such as ``relaxation=rb.Capped, m=40``.

    Returns
    -------
    CertifiedGames
        A mapping from names to `CertifiedGame`.

    Raises
    ------
    InputError
        If a directory has no valid index, or if no game satisfies the conditions.
    """
    chosen = [Path(d) for d in directories] or [CORNER_CASES, LARGER_GAMES]
    games = [game for directory in reversed(chosen) for game in read_index(directory)]
    found = CertifiedGames(games, ", ".join(map(str, chosen)))
    return found.select(**conditions) if conditions else found


def read_index(directory: Path) -> list[CertifiedGame]:
    """Read the index of a directory, and return its certified games."""
    path = directory / "index.json"
    try:
        with shallow():
            content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{directory} has no index.json. Make or finish the set with "
            "`relaxboost instances make`"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    fine = isinstance(content, dict) and content.get("format") == FORMAT
    if not fine or content.get("version") != 1 or not isinstance(content.get("references"), list):
        raise InputError(f"{path} is not a version 1 index of a set of certified games")
    games = [_read(path, line) for line in content["references"]]
    if len({certified.name for certified in games}) < len(games):
        raise InputError(f"{path} lists two certified games of the same name")
    return games


def _read(path: Path, line: Any) -> CertifiedGame:
    if not isinstance(line, dict) or set(line) != _FIELDS:
        raise InputError(
            f"each entry of {path} must have exactly the fields {', '.join(sorted(_FIELDS))}"
        )
    name = line["name"]
    kinds = all(isinstance(line[key], str) for key in _TEXTS) and isinstance(line["source"], dict)
    sizes = all(type(line[key]) is int for key in ("m", "n"))
    if not (kinds and sizes and f"{os.path.basename(name)}.json" == line["file"] == f"{name}.json"):
        raise InputError(f"{path}: the entry {str(name)[:40]!r} was not written by make")
    try:
        lower, upper = (check.fraction(line[key], key) for key in ("lower", "upper"))
    except check.Rejected as error:
        raise InputError(f"{path}: the entry {name[:40]!r}: {error}") from None
    return CertifiedGame(
        name=name,
        lower=lower,
        upper=upper,
        relaxation_text=line["relaxation"],
        over_text=line["over"],
        game_digest=line["game"],
        path=path.parent / line["file"],
        **{key: line[key] for key in ("level", "m", "n", "source", "sha256")},
    )
