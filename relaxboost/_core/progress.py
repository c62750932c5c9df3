"""Terminal progress bars for items, or for the gap of a run."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import TYPE_CHECKING, Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import is_given

if TYPE_CHECKING:
    from rich.progress import Progress

SECONDS_BETWEEN_UPDATES = 0.5
# Users cannot read faster updates, and slower ones cost little even if a round takes microseconds.
"""The minimum number of seconds between two updates of a progress bar or of a run's file."""

quiet: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether all progress bars are switched off."""


def _shown(wanted: bool) -> bool:
    return wanted and not quiet.get() and sys.stderr.isatty()


class Bar:
    """A progress bar with the number of finished items and the current item's name.

    If `progress` is None, nothing is shown.
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        if progress is not None:
            self._task = progress.add_task("", total=None)

    def __call__(self, done: int, total: int | None, name: str) -> None:
        """Show that `done` of `total` items are finished, and the current item's name."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done, total=total, description=name)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Hide the progress bar while lines are printed on standard output."""
        if self._progress is not None:
            self._progress.stop()
        yield
        if self._progress is not None:
            self._progress.start()


@contextmanager
def _on_terminal(label: str, counted: bool) -> Iterator[Progress]:
    from rich import progress as rich
    from rich.console import Console

    columns: list[rich.ProgressColumn] = [rich.TextColumn(label), rich.BarColumn()]
    if counted:
        columns.append(rich.MofNCompleteColumn())
    columns += [rich.TimeElapsedColumn(), rich.TextColumn("{task.description}")]
    console = Console(stderr=True)
    with rich.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield progress


@contextmanager
def bar(label: str, wanted: bool = True) -> Iterator[Bar]:
    """Return a progress bar, hidden if `wanted` is false or there is no terminal."""
    if not _shown(wanted):
        yield Bar(None)
        return
    with _on_terminal(label, counted=True) as progress:
        yield Bar(progress)


@contextmanager
def closing(label: str, tol: float, wanted: bool = True) -> Iterator[Callable[[float, int], None]]:
    """Show the gap of a run on a progress bar within the context.

    Yield the function that updates the bar. Its arguments are the gap and the round number. The bar
    goes from a gap of 1 to a gap of `tol` on a logarithmic scale. It is hidden if `wanted` is false
    or there is no terminal.
    """
    if not _shown(wanted):
        yield lambda gap, round: None
        return
    with _on_terminal(label, counted=False) as progress:
        task = progress.add_task("", total=1.0)
        widest = math.log(max(2.0 * tol, 1.0) / tol)
        most = due = 0.0

        def show(gap: float, round: int) -> None:
            nonlocal most, due
            now = time.perf_counter()
            if now < due:
                return
            due = now + SECONDS_BETWEEN_UPDATES
            if 0.0 < gap < math.inf:
                most = max(most, min(1.0, 1.0 - math.log(gap / tol) / widest))
            text = f"gap {gap:.3g} of {tol:g}, round {round}"
            progress.update(task, completed=most, description=text)

        yield show


def check_verbose(verbose: Any) -> None:
    """Raise an InputError if `verbose` is not a number."""
    if not is_given(verbose, Real):
        raise InputError(
            "verbose must be 0 for no output, 1 for a progress bar, or 2 for a progress bar and "
            f"the decisions of the run, got {verbose!r:.60}"
        )
