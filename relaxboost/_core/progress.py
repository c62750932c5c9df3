"""Progress on a terminal: how many of a known number are done, or how a gap closes."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_PAUSE = 0.1
"""Seconds between two looks of a gap, which changes with every round."""

quiet: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether nothing is shown anywhere."""


def _shown(wanted: bool) -> bool:
    return wanted and not quiet.get() and sys.stderr.isatty()


class Bar:
    """Shows how many are done, and of which name; here, off a terminal, nothing."""

    def __call__(self, done: int, total: int | None, name: str) -> None:
        """Say how far it is."""

    def aside(self) -> AbstractContextManager[None]:
        """Clear the way for lines on standard output."""
        return nullcontext()


class _TerminalBar(Bar):
    """A bar of rich's on standard error."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._task = progress, progress.add_task("", total=None)

    def __call__(self, done: int, total: int | None, name: str) -> None:
        """Move the bar on."""
        self._progress.update(self._task, completed=done, total=total, description=name)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away for a while."""
        self._progress.stop()
        yield
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
    """Give a bar on a terminal (standard error), and nothing elsewhere or if it is not wanted."""
    if not _shown(wanted):
        yield Bar()
        return
    with _on_terminal(label, counted=True) as progress:
        yield _TerminalBar(progress)


@contextmanager
def closing(label: str, tol: float, wanted: bool = True) -> Iterator[Callable[[float, int], None]]:
    """Give a function of (gap, round) that shows how a gap closes on a terminal.

    A gap falls by factors, so the bar shows how many digits of those between 1 and `tol`
    are done. Elsewhere than on a terminal, and if it is not `wanted`, nothing is shown.
    """
    if not _shown(wanted):
        yield lambda gap, round: None
        return
    with _on_terminal(label, counted=False) as progress:
        task = progress.add_task("", total=1.0)
        widest = math.log(max(2.0 * tol, 1.0) / tol)
        most, due = 0.0, 0.0

        def show(gap: float, round: int) -> None:
            nonlocal most, due
            now = time.perf_counter()
            if now < due:
                return
            due = now + _PAUSE
            if 0.0 < gap < math.inf:
                most = max(most, min(1.0, 1.0 - math.log(gap / tol) / widest))
            text = f"gap {gap:.3g} of {tol:g}, round {round}"
            progress.update(task, completed=most, description=text)

        yield show
