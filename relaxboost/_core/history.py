"""The history of a run, thinned by doubling so that it stays small."""

from __future__ import annotations

from typing import Generic, TypeVar

R = TypeVar("R")

MOST_RECORDS = 10_000
"""How many records a history keeps."""


class History(Generic[R]):
    """Keeps at most 10 000 records, a record for each round.

    When it is full every second one goes, and from then on only every second round is kept. The
    first and the last round always stay.
    """

    def __init__(self) -> None:
        self._kept: list[R] = []
        self._stride = 1
        self.rounds = 0
        """How many records were added."""
        self.last: R | None = None
        """The record added last."""

    def add(self, record: R) -> None:
        """Take the record of the next round."""
        skipped = self.rounds % self._stride
        self.rounds += 1
        self.last = record
        if skipped:
            return
        if len(self._kept) == MOST_RECORDS - 1:
            self._kept = self._kept[::2]
            self._stride *= 2
            if (self.rounds - 1) % self._stride:
                return
        self._kept.append(record)

    def records(self, last: R | None = None) -> tuple[R, ...]:
        """Return the records kept, the last round's among them, or `last` in its place."""
        if self.last is None:
            return ()
        kept = self._kept[:-1] if self._kept[-1] is self.last else self._kept
        return (*kept, self.last if last is None else last)
