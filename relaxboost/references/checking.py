"""Check a reference set: every certificate, and that the index says what they prove."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from relaxboost.certificates import Certificate
from relaxboost.errors import InputError
from relaxboost.references.entries import is_about
from relaxboost.references.sets import Reference, read_index
from relaxboost.references.sources import FILES, Sources

Progress = Callable[[int, int, str], Any]


class Checked(NamedTuple):
    """What checking one reference came to."""

    name: str
    ok: bool
    level: str
    lower: Fraction
    """As the index claims."""
    upper: Fraction
    reason: str
    """Why it is not accepted."""


class Summary(NamedTuple):
    """What checking a set came to."""

    directory: Path
    rows: tuple[Checked, ...]
    problems: tuple[str, ...]
    """What is wrong with the set as a whole: no index, files that it does not name."""

    @property
    def failed(self) -> tuple[Checked, ...]:
        """The references that are not accepted."""
        return tuple(row for row in self.rows if not row.ok)

    @property
    def ok(self) -> bool:
        """Whether the index and every certificate hold."""
        return not self.problems and not self.failed

    def __bool__(self) -> bool:
        return self.ok


def check(directory: str | os.PathLike[str], progress: Progress | None = None) -> Summary:
    """Check every certificate of a set again, and the index against them.

    A reference is accepted if its file is the one that the index names, proves its bracket when
    everything is recomputed, has the bounds and the level that the index claims, and is one of the
    game that the index describes; where that game comes from a generator or is a built-in one, it
    is made again and compared.

    Parameters
    ----------
    directory : path
        What `make` made.
    progress : callable, optional
        Called as ``progress(done, total, name)`` after each reference, and first with 0 and "".

    Returns
    -------
    Summary
        True where all is well.

    Raises
    ------
    InputError
        If there is no such directory.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(f"{directory} is no folder; make a set first: relaxboost reference make")
    try:
        references = read_index(directory)
    except InputError as error:
        return Summary(directory, (), (str(error),))
    show = progress or (lambda *_: None)
    show(0, len(references), "")
    rows, sources = [], Sources(directory)
    for done, reference in enumerate(references, start=1):
        reason = _wrong(reference, sources)
        rows.append(
            Checked(
                reference.name,
                not reason,
                reference.level,
                reference.lower,
                reference.upper,
                reason,
            )
        )
        show(done, len(references), reference.name)
    named = {reference.path.name for reference in references} | {"index.json"}
    others = sorted(path.name for path in directory.glob("*.json") if path.name not in named)
    problems = tuple(
        f"{name} is not in the index: remove it, or name its game in the specification"
        for name in others
    )
    return Summary(directory, tuple(rows), problems)


def _wrong(reference: Reference, sources: Sources) -> str:
    """Return why a reference is not accepted, or nothing."""
    try:
        certificate = reference.certificate()
        verdict = reference.check()
        if not verdict.ok:
            return verdict.reason
        if (verdict.level, verdict.lower, verdict.upper) != (
            reference.level,
            reference.lower,
            reference.upper,
        ):
            return "the index claims another bracket or level than the certificate proves"
        return _elsewhere(reference, certificate, sources)
    except InputError as error:
        return str(error)
    except (KeyError, TypeError, ValueError) as error:  # a source that no make has written
        return f"its source cannot be made again: {type(error).__name__}: {error}"


def _elsewhere(reference: Reference, certificate: Certificate, sources: Sources) -> str:
    """Return what is wrong if the certificate is of another game than the index describes."""
    game = reference.game()
    if (game.m, game.n) != (reference.m, reference.n):
        return "the index gives it another size"
    if not is_about(certificate.document, game, reference.level):
        return "the certificate is one of another game than the index describes"
    if any(kind in reference.source for kind in FILES):
        return ""
    if sources.matrix(reference.source).digest() != game.matrix.digest():
        return "its source makes another matrix than that of the certificate"
    return ""
