"""Checks of relaxations whose class a user wrote, made when a game is declared."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.rounding import sum_bounds

_ALIKE = 1e-6
"""The relative difference that is allowed between a penalty and its bound, as solvers have it."""


def is_own(f: Any) -> bool:
    """Return whether f is of a class that is not relaxboost's, or computed from one that is."""
    return has_own_class(f) or any(is_own(part) for part in f._operands)


def has_own_class(f: Any) -> bool:
    """Return whether the class of f is not relaxboost's, so that no rule of a family is for it."""
    return _is_foreign(type(f).__module__)


def resolved(f: Any, m: int) -> Any:
    """Return what f resolves to, after plain checks.

    Raises
    ------
    InputError
        If f does not fit m, or if the class is the user's and inherits a `resolve` that returns a
        relaxation of another class; and see `check_returns`.
    """
    found = f.resolve(m)
    inherits = has_own_class(f) and not _is_foreign(type(f).resolve.__module__)
    if inherits and type(found) is not type(f):
        raise InputError(
            f"{type(f).__name__}: for m = {m} examples the `resolve` that it inherits returns a "
            f"{type(found).__name__}, and the game would be of its f; give {type(f).__name__} a "
            "`resolve(m)` that returns one of its own"
        )
    check_returns(found, m)
    return found


def check_returns(f: Any, m: int) -> None:
    """Raise an InputError unless a user's penalty is a number that its bound agrees with.

    Both are evaluated once, near `center`; `testing.check_relaxation` looks at all methods.
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
            f"{type(f).__name__}.penalty: for m = {m} examples it must return a number, f(d), and "
            f"returned a {type(returned).__name__}"
        )
    value = float(returned)
    if not hasattr(f, "penalty_bound"):
        return
    bound, distance = f.penalty_bound(d, sum_bounds(d))
    is_known = math.isfinite(value) and math.isfinite(bound) and distance == 0.0
    if is_known and abs(value - bound) > _ALIKE * (1.0 + abs(value)):
        raise InputError(
            f"{type(f).__name__}.penalty: for m = {m} examples it is {value:.6g} near the center, "
            f"where the `penalty_bound` that it inherits is {bound:.6g}, so that brackets would be "
            "of another f; give it a `penalty_bound` and a `lower_bound` of its own, or derive it "
            "from Relaxation"
        )


def _is_foreign(module: Any) -> bool:
    """Return whether a module is not relaxboost's; what a class is made of may be of none."""
    return str(module).partition(".")[0] != "relaxboost"
