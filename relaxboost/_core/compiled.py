"""Compilation of kernels, cached on disk where there is somewhere to cache, and their threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's `njit` with a disk cache; without one where no folder can be written.

    A read-only installation of a user without a home folder has nowhere to cache; there the
    kernels are compiled anew in each process.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # numba: no locator available
            return numba.njit(**options)(function)

    return decorate


_most: ContextVar[int | None] = ContextVar("most", default=None)


@cache
def _threads() -> tuple[ThreadPoolExecutor, int]:
    threads = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    return ThreadPoolExecutor(threads, thread_name_prefix="relaxboost"), threads


def thread_pool() -> tuple[ThreadPoolExecutor, int]:
    """Return the threads that kernels compiled with `nogil` share, and how many may be used.

    Plain threads, since OpenMP's neither survive a fork nor may be entered from two of them.
    """
    pool, threads = _threads()
    return pool, min(threads, _most.get() or threads)


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Let kernels that are called within use so many threads at most; None for all."""
    token = _most.set(threads)
    try:
        yield
    finally:
        _most.reset(token)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # threads stay behind in a fork


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C raised this: inside numba's dispatcher it comes as a SystemError.

    It may come as one that another one caused.
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)
