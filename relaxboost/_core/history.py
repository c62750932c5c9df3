"""The history of a run, which drops every second record when it is full."""

from __future__ import annotations

from typing import Generic, TypeVar

R = TypeVar("R")

MAX_RECORDS = 10_000
"""The maximum number of records that the history of a run stores. More records could not be
distinguished in a plot. With this limit, the history of a long run takes a few megabytes."""


class History(Generic[R]):
    """The records of the rounds of a run, of which at most 10 000 are stored.

    When the history is full, it drops every second record, and stores only half as many of the
    records that follow. The records of the first and of the last round are always stored.
    """

    def __init__(self) -> None:
        self._kept: list[R] = []
        self._stride = 1
        self.rounds = 0
        """The number of records that were added to the history, including those that it no longer
        stores."""
        self.last: R | None = None
        """The last record that was added to the history. It is None if there is none."""

    def add(self, record: R) -> None:
        """Add the record of the next round.

        If the history has been full before, it stores only every second record, every fourth
        record, and so on.
        """
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
