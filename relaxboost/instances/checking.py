"""The check of a set of certified games, including all certificates and the index."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.certificates import Certificate
from relaxboost.instances.certified import CertifiedGame
from relaxboost.instances.entries import is_about
from relaxboost.instances.sets import read_index
from relaxboost.instances.sources import FILES, Sources

Progress = Callable[[int, int, str], Any]


class Checked(NamedTuple):
    """The result of checking one certified game."""

    game: CertifiedGame
    """The checked game, with the bounds from the index."""
    reason: str
    """The reason for a rejection, or "" if the game is accepted."""

    @property
    def ok(self) -> bool:
        """Whether the certificate is valid and agrees with the index."""
        return not self.reason


class Summary(NamedTuple):
    """The result of checking a set of certified games."""

    directory: Path
    rows: tuple[Checked, ...]
    problems: tuple[str, ...]
    """Problems of the whole set, such as a missing index, or files that the index does not list."""

    @property
    def failed(self) -> tuple[Checked, ...]:
        """The results for the rejected games."""
        return tuple(row for row in self.rows if not row.ok)

    @property
    def ok(self) -> bool:
        """Whether the index and all certificates are accepted."""
        return not self.problems and not self.failed

    def __bool__(self) -> bool:
        return self.ok


def check(directory: str | os.PathLike[str], progress: Progress | None = None) -> Summary:
    """Recheck every certificate of a set, and compare it with the index.

    A game is accepted if its file has the digest from the index, its recomputed proof is valid, and
    the index has the same bounds, the same level and the same game. Built-in and generated games
    are rebuilt and compared with the certificate.

    Parameters
    ----------
    directory : path
        A directory that `make` has written.
    progress : callable, optional
        A function that is called as ``progress(done, total, name)`` after each game. The first call
        has done = 0 and name = "".

    Returns
    -------
    Summary
        A summary that is true if everything is accepted.

    Raises
    ------
    InputError
        If the directory does not exist.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(
            f"{directory} is not a folder. Make a set with `relaxboost instances make` first"
        )
    try:
        games = read_index(directory)
    except InputError as error:
        return Summary(directory, (), (str(error),))
    show = progress or (lambda *_: None)
    show(0, len(games), "")
    rows = []
    sources = Sources(directory)
    for done, certified in enumerate(games, start=1):
        rows.append(Checked(certified, _wrong(certified, sources)))
        show(done, len(games), certified.name)
    named = {certified.path.name for certified in games} | {"index.json"}
    others = sorted(path.name for path in directory.glob("*.json") if path.name not in named)
    problems = tuple(
        f"{name} is not in the index: remove it, or name its game in the specification"
        for name in others
    )
    return Summary(directory, tuple(rows), problems)


def _wrong(certified: CertifiedGame, sources: Sources) -> str:
    try:
        certificate = certified.certificate()
        verdict = certified.check()
        if not verdict.ok:
            return verdict.reason
        claimed = (certified.level, certified.lower, certified.upper)
        if (verdict.level, verdict.lower, verdict.upper) != claimed:
            return "the index states different bounds or another level than the certificate proves"
        return _elsewhere(certified, certificate, sources)
    except InputError as error:
        return str(error)
    except (KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
        # These errors occur if the index contains a source that `make` never writes.
        return f"its source cannot be rebuilt: {type(error).__name__}: {error}"


def _elsewhere(certified: CertifiedGame, certificate: Certificate, sources: Sources) -> str:
    game = certified.game()
    if (game.m, game.n) != (certified.m, certified.n):
        return "the index states a different size"
    if not is_about(certificate.document, game, certified.level):
        return "the certificate is about a different game from the one in the index"
    if any(kind in certified.source for kind in FILES):
        return ""
    source = certified.source
    # A wrong size may be too large for the memory.
    made = (source["rows"], source["columns"]) if "generator" in source else (game.m, game.n)
    if made != (game.m, game.n):
        return "its source makes a matrix of a different size from that in the certificate"
    if sources.matrix(source).digest() != game.matrix.digest():
        return "its source makes a different matrix from that in the certificate"
    return ""
