"""The threads of BLAS: they wait busily, and on a busy machine small work takes one far less."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, local
from typing import Any

from threadpoolctl import ThreadpoolController

_ORDER = 1000
"""Of matrices whose factors several threads win little at: milliseconds."""


@cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg.blas  # noqa: F401, which brings a library beside NumPy's

    return ThreadpoolController()


class _Limit:
    """One thread for BLAS as long as anyone asks for it, since the setting is the process's."""

    def __init__(self) -> None:
        self.renew()
        self._inside = 0
        self._before: Any = None

    def renew(self) -> None:
        """Take a new lock, in a fork, where the thread that held it is gone."""
        self._lock = Lock()

    def enter(self) -> None:
        """Set it, where it is not set yet."""
        with self._lock:
            if self._inside == 0:
                self._before = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        """Let the last of those who asked restore what was before."""
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._before.restore_original_limits()
            for library in _libraries().lib_controllers:
                # Since 3.8 one thread only can set limits until it says that it is done.
                getattr(library, "clear_controlling_thread", lambda: None)()


_limit, _here = _Limit(), local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.renew)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread within."""
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
    """Let BLAS use one thread within, unless there are many rows and columns; None for any."""
    small = m * min(_ORDER if n is None else n, _ORDER) <= _ORDER**2
    return one_blas_thread() if small else nullcontext()
