"""The history of a run, which drops every second record when it is full."""

from __future__ import annotations

from typing import Generic, TypeVar

R = TypeVar("R")

MAX_RECORDS = 10_000
# A plot cannot show more, and 10 000 records take a few megabytes.
"""The maximum number of records in the history of a run."""


class History(Generic[R]):
    """The records of a run's rounds, thinned to at most 10 000.

    When the history is full, it drops every second record, and then stores only half as many of the
    following ones. The first and the last record are always stored.
    """

    def __init__(self) -> None:
        self._kept: list[R] = []
        self._stride = 1
        self.rounds = 0
        """The number of added records, including dropped ones."""
        self.last: R | None = None
        """The record that was added last, or None."""

    def add(self, record: R) -> None:
        """Add the record of the next round. A thinned history stores only some of the records."""
        skipped = self.rounds % self._stride
        self.rounds += 1
        self.last = record
        if skipped:
            return
        if len(self._kept) == MAX_RECORDS - 1:
            self._kept = self._kept[::2]
            self._stride *= 2
            if (self.rounds - 1) % self._stride:
                return
        self._kept.append(record)

    def records(self, last: R | None = None) -> tuple[R, ...]:
        """Return the stored records. If `last` is given, it replaces the last record."""
        if self.last is None:
            return ()
        kept = self._kept[:-1] if self._kept[-1] is self.last else self._kept
        return (*kept, self.last if last is None else last)
