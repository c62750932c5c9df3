"""Compilation of kernels with a disk cache, and the threads that run them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numba
from numba.core.event import TimingListener, register, unregister

from relaxboost._core.progress import quiet


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's `njit` decorator with a disk cache.

    If no cache folder is writable, the decorator has no cache.
    """
    # Nobody calls the compiled functions from C, and the wrappers for C take 10 % of the time.
    options["no_cfunc_wrapper"] = True

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        # Numba raises this error if it finds no folder for its cache.
        except RuntimeError:
            return numba.njit(**options)(function)

    return decorate


class _Saying(TimingListener):
    # A long compilation is announced once, on standard error.
    def on_end(self, event: Any) -> None:
        """Print a note once compilation has taken more than a second."""
        super().on_end(event)
        # The time of a kernel includes the time of the kernels that it calls.
        if self.done and self.duration > 1.0:
            unregister("numba:compile", self)
            if not quiet.get():
                sys.stderr.write("\rrelaxboost: compiles its kernels; later starts are faster\n")


if sys.stderr is not None and sys.stderr.isatty():
    register("numba:compile", _Saying())


def ready(*calls: Callable[[], object]) -> None:
    """Compile kernels, or load them from the cache, by calling the given functions.

    Solvers call this function before their clock starts. The given functions use the game's own
    matrix and relaxation, because numba compiles for the argument types. If Ctrl-C is pressed,
    KeyboardInterrupt is raised only after the current call.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        for call in calls:
            call()
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        for call in calls:
            if not pressed:
                call()
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


_most: ContextVar[int | None] = ContextVar("most", default=None)


@cache
def _threads() -> tuple[ThreadPoolExecutor, int]:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    # In a value such as "4,2", the second number is for nested loops.
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    threads = min(8, cpus, int(asked) or 1 if asked.isdecimal() else 8)
    return ThreadPoolExecutor(threads, thread_name_prefix="relaxboost"), threads


def thread_pool() -> tuple[ThreadPoolExecutor, int]:
    """Return the thread pool in which compiled kernels run, and the number of threads to use."""
    # The pool consists of plain Python threads, because OpenMP's threads do not survive a fork, and
    # only one thread at a time may start them.
    pool, threads = _threads()
    return pool, min(threads, _most.get() or threads)


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Limit the number of threads of compiled kernels within the context.

    If `threads` is None, there is no limit.
    """
    token = _most.set(threads)
    try:
        yield
    finally:
        _most.reset(token)


if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork, so a forked process creates its own pool.
    os.register_at_fork(after_in_child=_threads.cache_clear)


def is_interrupt(error: BaseException) -> bool:
    """Return whether an error was caused by Ctrl-C, possibly within a compiled kernel."""
    # Within numba's dispatcher, a KeyboardInterrupt becomes the cause of a SystemError, which may
    # be the cause of another SystemError.
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)
