"""Checks of relaxations whose class a user has defined.

The checks run when a game is declared.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.rounding import sum_bounds


def is_own(f: Any) -> bool:
    """Return whether f has a user-defined class, or is composed of a relaxation that has one."""
    return has_own_class(f) or any(is_own(part) for part in f._operands)


def has_own_class(f: Any) -> bool:
    """Return whether the class of f is user-defined.

    The closed-form rules of the package's families do not apply to such a class.
    """
    return _is_foreign(type(f).__module__)


def resolved(f: Any, m: int) -> Any:
    """Return the result of ``f.resolve(m)`` for m examples after checks.

    The function raises InputError if a user-defined class inherits a `resolve` that returns another
    class, or if `check_returns` finds an error.
    """
    found = f.resolve(m)
    inherits = has_own_class(f) and not _is_foreign(type(f).resolve.__module__)
    if inherits and type(found) is not type(f):
        raise InputError(
            f"{type(f).__name__}: for m = {m} examples the inherited `resolve` returns a "
            f"{type(found).__name__}, which would replace f in the game; define a "
            f"`resolve(m)` in {type(f).__name__} that returns a {type(f).__name__}"
        )
    check_returns(found, m)
    return found


def check_returns(f: Any, m: int) -> None:
    """Raise InputError unless a user's `penalty` returns a number near the `penalty_bound`.

    The two methods are called once, near `center`. `testing.check_relaxation` checks all methods.
    """
    for part in f._operands:
        check_returns(part, m)
    if not has_own_class(f):
        return
    d = f.center(m) * (1.0 + np.linspace(0.0, 0.5, m))
    d /= d.sum()
    returned = f.penalty(d)
    is_scalar = isinstance(returned, np.ndarray) and returned.ndim == 0
    if not (is_scalar or isinstance(returned, Real)):
        raise InputError(
            f"{type(f).__name__}.penalty: for m = {m} examples it must return a number, f(d), but "
            f"it returned a {type(returned).__name__}"
        )
    value = float(returned)
    if not hasattr(f, "penalty_bound"):
        return
    bound, distance = f.penalty_bound(d, sum_bounds(d))
    # With a distance, the bound is on f at another point. Both can be as accurate as a solver.
    is_comparable = math.isfinite(value) and math.isfinite(bound) and distance == 0.0
    if is_comparable and abs(value - bound) > 1e-6 * (1.0 + abs(value)):
        whose = "the inherited"
        remedy = (
            "define `penalty_bound` and `lower_bound` in the class, or derive it from Relaxation"
        )
        if _is_foreign(type(f).penalty_bound.__module__):
            whose = "its own"
            remedy = "correct one of the two methods"
        raise InputError(
            f"{type(f).__name__}.penalty: for m = {m} examples f(d) is {value:.6g} near the "
            f"center, but {whose} `penalty_bound` returns {bound:.6g}, so brackets would be "
            f"wrong; {remedy}"
        )


def _is_foreign(module: Any) -> bool:
    # The module is None for some classes that were created at run time.
    return str(module).partition(".")[0] != "relaxboost"
