"""Compilation of kernels, cached on disk where there is somewhere to cache, and their threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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


@cache
def thread_pool() -> tuple[ThreadPoolExecutor, int]:
    """Return the threads that kernels compiled with `nogil` share, and how many there are.

    Plain threads, since OpenMP's neither survive a fork nor may be entered from two of them.
    """
    threads = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    return ThreadPoolExecutor(threads, thread_name_prefix="relaxboost"), threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=thread_pool.cache_clear)  # threads stay behind in a fork


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C raised this: inside numba's dispatcher it comes as a SystemError.

    It may come as one that another one caused.
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)
