"""The history of a run, thinned by doubling, and its progress bar."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from relaxboost.boosters.rounds import State
from relaxboost.solution import Record

MOST_RECORDS = 10_000


class Trace:
    """Keeps at most 10 000 records: when they are full every second one goes, and from then on
    only every second round is kept. The first and the last round always stay."""

    def __init__(self) -> None:
        self._kept: list[Record] = []
        self._stride = 1
        self._last: Record | None = None

    @property
    def rounds(self) -> int:
        """Number of the last round seen."""
        return 0 if self._last is None else self._last.round

    def add(self, state: State, seconds: float, lower: float, upper: float) -> None:
        """Record a round."""
        active = state.active
        self._last = Record(
            state.round,
            seconds,
            lower,
            upper,
            state.smoothed_gap,
            active.used,
            state.step,
            state.inner,
        )
        if (state.round - 1) % self._stride:
            return
        if len(self._kept) == MOST_RECORDS - 1:
            self._kept = self._kept[::2]
            self._stride *= 2
            if (state.round - 1) % self._stride:
                return
        self._kept.append(self._last)

    def records(self, lower: float, upper: float) -> tuple[Record, ...]:
        """Return the records kept and the last one, which gets the bounds certified at the end."""
        if self._last is None:
            return ()
        kept = [record for record in self._kept if record is not self._last]
        return (*kept, self._last._replace(lower=lower, upper=upper))

    @staticmethod
    @contextmanager
    def display(verbose: int, tol: float) -> Iterator[Callable[[int, float, float], None]]:
        """Give a function that shows the progress of the gap towards `tol`.

        The bar is logarithmic in the gap. Nothing is shown unless standard error is a terminal.
        """
        if verbose <= 0 or not sys.stderr.isatty():
            yield lambda round, lower, upper: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("gap {task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=1.0)
            widest = math.log(max(2.0 * tol, 1.0) / tol)
            due = 0.0

            def show(round: int, lower: float, upper: float) -> None:
                nonlocal due
                now = time.perf_counter()
                if now < due:
                    return
                due = now + 0.1
                gap = upper - lower
                done = 0.0
                if 0.0 < gap < math.inf:
                    done = min(1.0, max(0.0, 1.0 - math.log(gap / tol) / widest))
                text = f"{gap:.3g} of {tol:g}, round {round}"
                progress.update(task, completed=done, description=text)

            yield show
