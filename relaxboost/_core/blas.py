"""Limits on the BLAS threads, which slow down small problems on a busy machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, local
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL_ORDER = 1000
# A dense factorisation of this order takes a few tens of milliseconds.
"""The largest order of a square matrix that counts as small."""
MULTIPLICATIONS_PER_ENTRY = 25.0
# On machines of the last ten years, this ratio was 10 to 50.
"""The time to read an array entry from memory, in units of the time of one multiplication in a
dense matrix product."""


@cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg.blas  # noqa: F401, which brings a library beside NumPy's

    return ThreadpoolController()


class _Limit:
    """The process-wide limit of one BLAS thread.

    A counter stores how many threads of the process need the limit. The first of them sets it, and
    the last one restores the earlier number of BLAS threads.
    """

    def __init__(self) -> None:
        self.renew()
        self._inside = 0
        self._before: Any = None

    def renew(self) -> None:
        """Replace the lock after a fork."""
        # In a forked process, the old lock may be held by a thread that does not exist there.
        self._lock = Lock()

    def enter(self) -> None:
        """Limit BLAS to one thread, unless the limit is already active."""
        with self._lock:
            if self._inside == 0:
                self._before = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        """Restore the earlier number of BLAS threads if no other thread needs the limit."""
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._before.restore_original_limits()
            for library in _libraries().lib_controllers:
                # Since threadpoolctl 3.8 a thread that sets limits locks out all others.
                getattr(library, "clear_controlling_thread", lambda: None)()


_limit = _Limit()
_here = local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.renew)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread within the context."""
    if getattr(_here, "inside", False):
        yield
        return
    _limit.enter()
    _here.inside = True
    try:
        yield
    finally:
        _here.inside = False
        _limit.leave()


def threads_for(m: int, n: int | None) -> AbstractContextManager[None]:
    """Limit BLAS to one thread within the context if an m × n matrix is small.

    If `n` is None, the number of columns is unknown, and counts as large.
    """
    small = m * min(SMALL_ORDER if n is None else n, SMALL_ORDER) <= SMALL_ORDER**2
    return one_blas_thread() if small else nullcontext()
