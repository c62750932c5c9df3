"""The lines of a source, each with the claims about it; and its errata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from relaxboost._core.errors import InputError


@dataclass(frozen=True)
class Misprint:
    """A line of the table of errata of a source."""

    id: str
    """Of the claim that refutes what is printed, if there is one; else a name in the source."""
    place: str
    printed: str
    read: str
    harm: str
    """What it does to a reader."""


@dataclass(frozen=True)
class Line:
    """A display, definition, statement or remark of a source, and what became of it."""

    place: str
    """Its number, e.g. "Eq. 5"."""
    words: str
    ids: tuple[str, ...]
    """Of the claims about it, and of what is listed as not checked."""
    reason: str
    """Why there is no claim, where there is none."""


def lines_of(key: str, table: str, known: Set[str]) -> Iterator[Line]:
    """Yield the displays and statements of a source, in the order of the text.

    Parameters
    ----------
    key : str
        The key of the source.
    table : str
        A row each: ``place | what it says | names of claims | why there are none``, with ``-``
        for no names and the last cell where it is needed. A row that begins with ``|`` is
        about the place of the row above. Lines that are indented continue their row.
    known : set of str
        The ids that rows may name.

    Raises
    ------
    InputError
        If a row has neither claims nor a reason, or names one that is not declared so far.
    """
    place = ""
    for row in re.split(r"\n(?! )", table.strip()):
        cells = f" {' '.join(row.split())}".split(" | ")
        if len(cells) not in (3, 4):
            raise InputError(f"a row is place | words | claims | reason, not {row!r}")
        where, words, names, reason = (*cells, "")[:4]
        place = where.strip() or place
        ids = tuple(f"{key}-{name}" for name in names.split(", ") if name != "-")
        if not known >= {*ids} or not (ids or reason):
            raise InputError(f"{place} needs claims declared before, or a reason; got {row!r}")
        yield Line(place, words, ids, reason)
