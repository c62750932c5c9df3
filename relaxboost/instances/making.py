"""The creation of a set of certified games. Each file is written atomically."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from relaxboost._core.errors import InputError, error_prefix
from relaxboost._core.files import check_output, write_atomically
from relaxboost.certificates import Certificate, certify, check, check_certificate
from relaxboost.certificates.certificate import precisely
from relaxboost.certificates.proof import PRECISION_BITS
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.instances.entries import Entry, is_about
from relaxboost.instances.sets import FORMAT
from relaxboost.instances.sources import Sources
from relaxboost.instances.spec import read_spec
from relaxboost.solvers.boosters.lpboost import LPBoost
from relaxboost.solvers.reference import reference
from relaxboost.solvers.solve import solve

INDEX = "index.json"

MAX_LPBOOST_ENTRIES = 20_000
"""The largest margin matrix, in entries, whose game LPBoost solves if the relaxation is piecewise
linear. Its certified gap is mostly a rounding error, far below the requested gap. With 90 000
entries, LPBoost takes 50 times as long as the default method."""

Progress = Callable[[int, int, str], Any]


class Made(NamedTuple):
    """The result of `make`: the directory of a set, and the names of its certificates."""

    directory: Path
    made: tuple[str, ...]
    """The certificates that this run has written."""
    kept: tuple[str, ...]
    """The existing certificates that were kept, because they are about the same game."""
    wide: tuple[str, ...]
    """The games whose bounds are valid but farther apart than requested."""
    log: Path
    """The log file of `make`, with the solvers and their times. It is not part of the set."""


def make(
    spec: str | os.PathLike[str], out: str | os.PathLike[str], progress: Progress | None = None
) -> Made:
    """Make or complete the set of certified games for a specification.

    `make` writes a certificate NAME.json for each game, and finally index.json. The same
    specification always gives files with the same bytes. Solvers and times are written to OUT.log
    next to the directory.

    An existing certificate is kept if it is about the same game, was made for the same gap, and
    proves its bounds. So an interrupted run loses only one game. Run `make` again to finish the
    set.

    Parameters
    ----------
    spec : path
        A TOML file in the format described on the page on instances. Its paths are relative to the
        file.
    out : path
        The directory of the set. It is created if it does not exist.
    progress : callable, optional
        A function that is called as ``progress(done, total, name)`` after each game. The first call
        has done = 0 and name = "".

    Raises
    ------
    InputError
        Before any work, if the specification is invalid, or if the directory cannot be written to.
    MissingDependencyError
        Before any work, if an enclosed certificate is needed and python-flint is not installed.
    """
    from threadpoolctl import threadpool_limits

    entries, sources = read_spec(spec)
    sizes = (entry.source.get("rows") or sources.matrix(entry.source).m for entry in entries)
    levels = [entry.resolved(m)[2] for entry, m in zip(entries, sizes, strict=True)]
    if "enclosed" in levels:
        with precisely("enclosed", PRECISION_BITS):
            pass
    directory = _directory(Path(out))
    with _log(directory) as log, threadpool_limits(1):  # One thread fixes the order of sums.
        _remove_temporary(directory, entries)
        return _make_all(entries, sources, directory, log, progress or (lambda *_: None))


def _make_all(
    entries: list[Entry], sources: Sources, directory: Path, log: TextIO, progress: Progress
) -> Made:
    made: list[str] = []
    kept: list[str] = []
    wide: list[str] = []
    lines = []
    progress(0, len(entries), "")
    for done, entry in enumerate(entries, start=1):
        start = time.perf_counter()
        with error_prefix(f"game {entry.name!r}: "):
            game = entry.game(sources.matrix(entry.source))
            certificate, how = _certificate(entry, game, directory / f"{entry.name}.json")
        (kept if how == "kept" else made).append(entry.name)
        if certificate.gap > Fraction(entry.tol):
            wide.append(entry.name)
        lines.append(_line(entry, game, certificate))
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
        seconds = time.perf_counter() - start
        gap = float(certificate.gap)
        log.write(f"{stamp} {entry.name}: {how}, gap {gap:.2g}, {seconds:.3f} s\n")
        log.flush()
        progress(done, len(entries), entry.name)
    content = {"format": FORMAT, "version": 1, "references": lines}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_atomically(directory / INDEX, text.encode())
    return Made(directory, tuple(made), tuple(kept), tuple(wide), Path(log.name))


def _line(entry: Entry, game: Game, certificate: Certificate) -> dict[str, Any]:
    document = certificate.document
    return {
        "name": entry.name,
        "file": f"{entry.name}.json",
        "sha256": hashlib.sha256(certificate.tobytes()).hexdigest(),
        "game": game.digest,
        "m": game.m,
        "n": game.n,
        "source": entry.source,
        "relaxation": entry.relaxation,
        "over": entry.over,
        "level": certificate.level,
        "lower": document["lower"],
        "upper": document["upper"],
    }


def _certificate(entry: Entry, game: Game, path: Path) -> tuple[Certificate, str]:
    """Return the certificate of a game, and its origin: "kept", or "made by" and a solver name."""
    _, _, level = entry.resolved(game.m)
    # The comments store the requested tol, so another tol gives another certificate.
    comments = {"name": entry.name, "tol": repr(entry.tol)}
    found = _kept(path, game, level, comments)
    if found is not None:
        return found, "kept"
    proved, how = _proved(game, level, entry)
    with precisely(level, PRECISION_BITS):
        if "rows" in proved.document["game"]:
            # The checker must accept the certificate before it is written.
            check.check(proved.document)
    certificate = Certificate({**proved.document, "comments": comments})
    write_atomically(path, certificate.tobytes())
    return certificate, how


def _kept(path: Path, game: Game, level: str, comments: dict[str, str]) -> Certificate | None:
    if not path.exists():
        return None
    try:
        certificate = Certificate.load(path)
    except (InputError, OSError):
        return None
    document = certificate.document
    if document.get("comments") != comments or not is_about(document, game, level):
        return None
    if certificate.tobytes() != path.read_bytes():  # The file may have other spaces, for example.
        return None
    if "rows" not in document["game"]:
        return certificate if check_certificate(path, game.matrix) else None
    with precisely(level, PRECISION_BITS):
        found, *_ = check.verdict(os.fspath(path))
    return certificate if found == level else None


def _proved(game: Game, level: str, entry: Entry) -> tuple[Certificate, str]:
    if entry.tol == 0:
        from relaxboost.certificates import exact_optimum  # This module needs python-flint.

        best = exact_optimum(game)
        proved = certify(best, level, inline=entry.inline)
        if not proved.gap:  # The fractions are short enough for the checker.
            # Existing sets contain the certificate of the pair (d, w), in which a sum is described
            # as a sum and not as a linear program. The witness of this certificate is computed in
            # doubles. If it leaves a gap, the certificate of `exact_optimum` is used instead.
            pair = certify(game, level, d=best.d, w=(best.support, best.w), inline=entry.inline)
            if not pair.gap or not is_about(proved.document, game, level):
                proved = pair
        return proved, "made by exact_optimum"
    solution = _solution(game, entry.tol)
    how = f"made by {solution.method}, {solution.rounds} rounds, {solution.status}"
    w = (solution.support, solution.coefficients)
    return certify(game, level, d=solution.d, w=w, inline=entry.inline), how


def _solution(game: Game, tol: float) -> Solution:
    is_linear = game.over.linear and game.linear_form is not None
    is_small = game.m * (game.n or 0) <= MAX_LPBOOST_ENTRIES
    method = LPBoost() if is_linear and is_small else "auto"
    # The result must be reproducible, so that the rounds are limited and not the time.
    best = _uninterrupted(solve(game, tol, method, max_rounds=100_000))
    if best.gap > tol:
        other = _uninterrupted(reference(game, tol=tol))
        best = other if other.gap < best.gap else best
    return best


def _uninterrupted(solution: Solution) -> Solution:
    # Solvers return their best points at Ctrl-C, but a set must contain only final solutions.
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    return solution


def _directory(path: Path) -> Path:
    path = path.absolute()
    if (path.exists() and not path.is_dir()) or not path.name:
        is_what = "a file" if path.name else "the root of the file system"
        raise InputError(
            f"the set cannot be written to {path}, which is {is_what}. Choose a folder"
        )
    if not path.exists():
        check_output(path)  # The parent folder must exist and be writable.
        path.mkdir()
    check_output(path / INDEX)
    check_output(path.with_name(f"{path.name}.log"))
    return path


@contextmanager
def _log(directory: Path) -> Iterator[TextIO]:
    # The lock keeps two runs from removing each other's temporary files.
    path = directory.with_name(f"{directory.name}.log")
    with path.open("a", encoding="utf-8") as log:
        try:
            import fcntl

            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # This system has no such locks.
            pass
        except OSError:
            raise InputError(
                f"another run is making {directory}. Wait until it ends, or choose another folder"
            ) from None
        yield log


def _remove_temporary(directory: Path, entries: list[Entry]) -> None:
    ours = {f".{entry.name}.json" for entry in entries} | {f".{INDEX}"}
    for path in directory.glob(".*.json.*"):
        if path.stem in ours:
            path.unlink()
