"""Compilation of kernels, cached on disk where there is somewhere to cache."""

from __future__ import annotations

from collections.abc import Callable
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


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C raised this: inside numba's dispatcher it comes as a SystemError."""
    cause = error.__cause__ if isinstance(error, SystemError) else error
    return isinstance(cause, KeyboardInterrupt)
