"""Checks of user-defined relaxation classes, run when a game is declared."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost._core.rounding import sum_bounds


def is_own(f: Any) -> bool:
    """Return whether the class of a relaxation, or of one of its terms, is user-defined."""
    return has_own_class(f) or any(is_own(part) for part in f._operands)


def has_own_class(f: Any) -> bool:
    """Return whether the class of f is user-defined.

    If it is, the closed-form rules of the package's families do not apply.
    """
    return _is_foreign(type(f).__module__)


def resolved(f: Any, m: int) -> Any:
    """Call ``f.resolve(m)`` and check the result.

    InputError is raised if a user-defined class inherits a `resolve` that returns another class, or
    if `check_returns` finds an error.
    """
    found = f.resolve(m)
    inherits = has_own_class(f) and not defines(f, "resolve")
    if inherits and type(found) is not type(f):
        raise InputError(
            f"{type(f).__name__}: for m = {m} examples the inherited `resolve` returns a "
            f"{type(found).__name__}, which would replace f in the game; define a "
            f"`resolve(m)` in {type(f).__name__} that returns a {type(f).__name__}"
        )
    check_returns(found, m)
    return found


def check_returns(f: Any, m: int) -> None:
    """Raise InputError if a method of a user's class returns a value of the wrong type or shape.

    `penalty` must also agree with `penalty_bound`. Each method is called once.
    `testing.check_relaxation` checks all properties of all methods.
    """
    for part in f._operands:
        check_returns(part, m)
    if not has_own_class(f):
        return
    center = _returned(f, m, "center", m)
    d = center * (1.0 + np.linspace(0.0, 0.5, m))
    d /= d.sum()
    value = float(_returned(f, m, "penalty", d))
    # The operand f of `f.shifted(d0)` may be infinite on the whole simplex.
    if math.isfinite(value) or math.isfinite(f.penalty(center)):
        _check_formulas(f, m, d)
    if not hasattr(f, "penalty_bound"):
        return
    bound, distance = _returned(f, m, "penalty_bound", d, sum_bounds(d))
    # If the distance is positive, the bound is on f at another point than d. The tolerance allows
    # for values that a cone solver computed.
    is_comparable = math.isfinite(value) and math.isfinite(bound) and distance == 0.0
    if is_comparable and abs(value - bound) > 1e-6 * (1.0 + abs(value)):
        whose = "the inherited"
        remedy = (
            "define `penalty_bound` and `lower_bound` in the class, or derive it from Relaxation"
        )
        if defines(f, "penalty_bound"):
            whose = "its own"
            remedy = "correct one of the two methods"
        raise InputError(
            f"{type(f).__name__}.penalty: for m = {m} examples f(d) is {value:.6g} near the "
            f"center, but {whose} `penalty_bound` returns {bound:.6g}, so the bounds on the value "
            f"of a game would be wrong; {remedy}"
        )


def _check_formulas(f: Any, m: int, d: Vector) -> None:
    """Call the user-defined methods that boosters and proofs need, at a distribution d."""
    # The margins differ, because a method may treat equal margins as a special case.
    u = np.linspace(-1.0, 1.0, m)
    calls: dict[str, tuple[Any, ...]] = {
        "repair": (d,),
        "_distribution": (u, 1.0),
        "distribution": (u, 1.0),
        "relaxed_margin": (u,),
    }
    for name, arguments in calls.items():
        if defines(f, name):
            _returned(f, m, name, *arguments)
    if hasattr(f, "witness") and (defines(f, "witness") or defines(f, "lower_bound")):
        _returned(f, m, "lower_bound", u, _returned(f, m, "witness", u))


def _returned(f: Any, m: int, name: str, *arguments: Any) -> Any:
    """Call the method `name` of f, and check the type and shape of its result."""
    returned = getattr(f, name)(*(x.copy() if isinstance(x, np.ndarray) else x for x in arguments))
    need, is_right = _RETURNS[name]
    if is_right(returned, m):
        return returned
    # If only the entries of a vector are wrong, the message shows them instead of the shape.
    has_shape = isinstance(returned, np.ndarray) and returned.shape != (m,)
    got = f"an array of shape {returned.shape}" if has_shape else brief(returned, 60)
    raise InputError(
        f"{type(f).__name__}.{name}: for m = {m} examples it must return {need}, but it returned "
        f"{got}; rb.testing.check_relaxation(f, sizes=({m},)) examines the whole class"
    )


def _is_number(given: Any, m: int = 0) -> bool:
    is_scalar = isinstance(given, np.ndarray) and given.ndim == 0 and given.dtype.kind in "iuf"
    return (is_scalar or isinstance(given, Real)) and not math.isnan(given)


def _is_vector(given: Any, m: int) -> bool:
    is_array = isinstance(given, np.ndarray) and given.shape == (m,) and given.dtype.kind in "iuf"
    return is_array and not np.isnan(given).any()


def _is_pair(given: Any, m: int, is_second: Callable[[Any, int], bool]) -> bool:
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    return is_pair and _is_number(given[0]) and is_second(given[1], m)


_VECTOR = "a NumPy vector of m numbers"
_RETURNS: dict[str, tuple[str, Callable[[Any, int], bool]]] = {
    "center": (_VECTOR, _is_vector),
    "repair": (_VECTOR, _is_vector),
    "penalty": ("a number, f(d)", _is_number),
    "_distribution": (_VECTOR, _is_vector),
    "distribution": (_VECTOR, _is_vector),
    "relaxed_margin": (
        f"a pair (F(u), d) of a number and {_VECTOR}",
        partial(_is_pair, is_second=_is_vector),
    ),
    "witness": (
        "a witness, such as rb.relaxations.Witness(gamma)",
        lambda given, m: _is_number(getattr(given, "gamma", None)),
    ),
    "lower_bound": ("a number, or -inf if the witness proves nothing", _is_number),
    "penalty_bound": (
        "a pair (value, distance) of numbers",
        partial(_is_pair, is_second=_is_number),
    ),
}
"""What the methods of a relaxation must return, by method name.

Each entry has a text for error messages and a test of the result for m examples.
"""


def defines(f: Any, name: str) -> bool:
    """Return whether the method `name` of f is user-defined."""
    return _is_foreign(getattr(type(f), name).__module__)


def _is_foreign(module: Any) -> bool:
    # The module is None for some classes that were created at run time.
    return str(module).partition(".")[0] != "relaxboost"
