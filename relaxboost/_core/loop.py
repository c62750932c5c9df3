"""The loop of every run: rounds, time, Ctrl-C and callbacks, for games, losses and planning."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive

S = TypeVar("S")


class TimeUp(Exception):
    """Raised within a round that checks the clock; the loop then ends with "time_limit"."""


_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Set the deadline, in seconds of `time.perf_counter`, of all solvers within the context."""
    token = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Return the seconds that a solver may take, or inf without a deadline.

    Raises
    ------
    TimeUp
        If no seconds are left.
    """
    left = _DEADLINE.get() - time.perf_counter()
    if left <= 0.0:
        raise TimeUp
    return left


class Clock:
    """The seconds since the start of a run, and the seconds left.

    Parameters
    ----------
    limit : float, optional
        Seconds, > 0, from now on.
    spent : float
        The seconds of the earlier runs that this run continues; they do not count towards `limit`.
    """

    def __init__(self, limit: float | None = None, spent: float = 0.0) -> None:
        now = time.perf_counter()
        self._start = now - spent
        self.deadline = math.inf if limit is None else now + limit
        """The deadline in seconds of `time.perf_counter`; inf without a limit."""

    @property
    def seconds(self) -> float:
        """The seconds so far, including those of earlier runs."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        """The seconds left, at least 0; inf without a limit."""
        return max(0.0, self.deadline - time.perf_counter())

    def check(self) -> None:
        """Raise `TimeUp` if no time is left."""
        if time.perf_counter() >= self.deadline:
            raise TimeUp


@dataclass(frozen=True)
class Limits:
    """The limits of a run, which end it even if its goal is not reached.

    Parameters
    ----------
    max_rounds : int, optional
        At least 1.
    time_limit : float, optional
        Seconds from the start of the run, > 0. The limit is checked after each round, and within
        rounds that may take long.
    callback : callable, optional
        Called with the state of each round, including the last. The run ends if it returns a true
        value.

    Raises
    ------
    InputError
        For limits that are not positive, or a callback that cannot be called.
    """

    max_rounds: int | None = None
    time_limit: float | None = None
    callback: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        if self.max_rounds is not None:
            object.__setattr__(self, "max_rounds", count("max_rounds", self.max_rounds))
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", positive("time_limit", self.time_limit))
        if self.callback is not None and not callable(self.callback):
            raise InputError(
                f"callback must be a function of the state of a round, got {self.callback!r}"
            )

    @property
    def bounded(self) -> bool:
        """Whether a run ends even if it never reaches its goal."""
        return self.max_rounds is not None or self.time_limit is not None


def run(
    states: Iterable[S],
    keep: Callable[[S], str],
    limits: Limits,
    clock: Clock,
    *,
    first: int = 1,
    empty: bool = False,
) -> str:
    """Run rounds until the goal, a limit, the callback or Ctrl-C; return which.

    Parameters
    ----------
    states : iterable
        The states of the rounds, one each. The end of the iterable ends the run.
    keep : callable
        A function that takes a state, stores its results, and returns the reason to stop, or "". It
        should store all results in one assignment, so that Ctrl-C leaves no half-stored results.
    limits : Limits
    clock : Clock
        Started with ``limits.time_limit``.
    first : int
        The number of the first round.
    empty : bool
        Whether a run that is interrupted before its first round has a result. If not,
        KeyboardInterrupt is raised again.

    Returns
    -------
    str
        The reason that `keep` returned, "callback", "max_rounds", "time_limit", "interrupted", or
        "" if the states ended.
    """
    kept = empty
    try:
        for number, state in enumerate(states, first):
            reached = keep(state)
            kept = True
            asked = limits.callback is not None and limits.callback(state)
            if reached or asked:
                return reached or "callback"
            if limits.max_rounds is not None and number >= limits.max_rounds:
                return "max_rounds"
            if not clock.left:
                return "time_limit"
    except TimeUp:
        return "time_limit"
    except (KeyboardInterrupt, SystemError) as error:
        if not kept or not is_interrupt(error):
            raise
        return "interrupted"
    return ""
