"""The outline of a source: each line with the claims about it, and the errata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from relaxboost._core.errors import InputError


@dataclass(frozen=True)
class Misprint:
    """A misprint of a source, which is a row of its table of errata."""

    id: str
    """The id of the claim that refutes the printed text. If there is no such claim, it is a name of
    the misprint that is unique in the source."""
    place: str
    printed: str
    read: str
    harm: str
    """The consequence of the misprint for the reader."""


@dataclass(frozen=True)
class Line:
    """A display, definition, statement or remark of a source, with the claims about it."""

    place: str
    """The number or name of the line in the source, e.g. "Eq. 5"."""
    words: str
    ids: tuple[str, ...]
    """The ids of the claims about the line, and of its statements that have no check."""
    reason: str
    """The reason why no claim is about the line, or "" if there are claims."""


def lines_of(key: str, table: str, known: Set[str]) -> Iterator[Line]:
    """Yield the displays and statements of a source, in the order of the text.

    Parameters
    ----------
    key : str
        The key of the source.
    table : str
        Rows ``place | content of the line | names of claims | reason for no claim``. A row without
        claims has ``-`` as its third cell. Only a row without claims needs the last cell. A row
        that starts with ``|`` has the same place as the row above it. An indented line continues
        the row above it.
    known : set of str
        The ids of the declared claims. Rows may contain no other ids.

    Raises
    ------
    InputError
        If a row has neither claims nor a reason, or if it contains an id that is not in `known`.
    """
    place = ""
    for row in re.split(r"\n(?! )", table.strip()):
        cells = f" {' '.join(row.split())}".split(" | ")
        if len(cells) not in (3, 4):
            raise InputError(
                f"a row must have the form place | words | claims | reason, got {row!r}"
            )
        where, words, names, reason = (*cells, "")[:4]
        place = where.strip() or place
        ids = tuple(f"{key}-{name}" for name in names.split(", ") if name != "-")
        if not known >= {*ids} or not (ids or reason):
            raise InputError(
                f"the row of {place} must name claims that are already declared, or give a reason "
                f"why there is no claim, got {row!r}"
            )
        yield Line(place, words, ids, reason)
