"""The loop that runs the rounds of a booster or of another iterative method.

It ends when the method is finished, or at the time or round limit.
"""

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
    """The time limit has passed within a round. The run then ends with the reason "time_limit"."""


_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Set the deadline of all solvers within the context, in seconds of `time.perf_counter`."""
    token = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Return the seconds until the solvers' deadline, or raise `TimeUp` if it has passed."""
    left = _DEADLINE.get() - time.perf_counter()
    if left <= 0.0:
        raise TimeUp
    return left


class Clock:
    """A clock that measures the elapsed and the remaining time of a run.

    Parameters
    ----------
    limit : float, optional
        The time limit in seconds from now, which must be positive. By default there is no limit.
    spent : float
        The seconds that earlier runs have taken. They do not count towards `limit`.
    """

    def __init__(self, limit: float | None = None, spent: float = 0.0) -> None:
        now = time.perf_counter()
        self._start = now - spent
        self.deadline = math.inf if limit is None else now + limit
        """The deadline in seconds of `time.perf_counter`, or inf if there is no limit."""

    @property
    def seconds(self) -> float:
        """The seconds since the start of the run, including earlier runs."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        """The seconds until the time limit, at least 0, or inf if there is no limit."""
        return max(0.0, self.deadline - time.perf_counter())

    def check(self) -> None:
        """Raise `TimeUp` if the time limit has passed."""
        if time.perf_counter() >= self.deadline:
            raise TimeUp


@dataclass(frozen=True)
class Limits:
    """The limits that end a run before it reaches its goal.

    Parameters
    ----------
    max_rounds : int, optional
        The maximum number of rounds, at least 1.
    time_limit : float, optional
        The maximum duration of the run in seconds, which must be positive. It is checked after each
        round, and within long rounds.
    callback : callable, optional
        A function of the state after each round. A true result ends the run.

    Raises
    ------
    InputError
        If a limit is not positive, or if the callback is not callable.
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
        """Whether there is a time or round limit."""
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
    """Run the rounds of an iterative method, and return why the run ended.

    Parameters
    ----------
    states : iterable
        An iterable that runs a round and then yields the state after it.
    keep : callable
        A function that stores the results of a state. It returns a reason to end the run, or "" to
        continue. It should store all results in one assignment, because Ctrl-C may interrupt the
        run between two assignments.
    limits : Limits
        The round and time limits, and the callback.
    clock : Clock
        The clock, started with ``limits.time_limit``.
    first : int
        The number of the first round.
    empty : bool
        Whether the caller has a result even if no round ends. If not, Ctrl-C before the end of the
        first round raises KeyboardInterrupt.

    Returns
    -------
    str
        The reason that `keep` returned, "callback", "max_rounds", "time_limit" or "interrupted", or
        "" if `states` is exhausted.
    """
    kept = empty
    try:
        for number, state in enumerate(states, first):
            reached = keep(state)
            kept = True
            asked = limits.callback is not None and limits.callback(state)
            if reached:
                return reached
            if asked:
                return "callback"
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
