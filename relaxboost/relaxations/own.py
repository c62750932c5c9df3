"""Relaxations of one's own: whether f is one, and whether its methods return what is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.rounding import sum_bounds

_ALIKE = 1e-6
"""The part by which a penalty and its bound may differ: solvers may be behind either."""


def is_own(f: Any) -> bool:
    """Whether f is of a class that is not relaxboost's, or computed from one that is."""
    return _foreign(type(f)) or any(is_own(part) for part in f._operands)


def changes(f: Any) -> bool:
    """Whether f is of a class of one's own with methods anew, and rules of its family may fail."""
    return bool(_overridden(type(f)))


def resolved(f: Any, m: int) -> Any:
    """Return what f resolves to, of its own class, after a look at what it returns.

    Raises
    ------
    InputError
        If it does not fit m, or a family's `resolve` leaves what a class of one's own overrides;
        and see `check_returns`.
    """
    found, kind = f.resolve(m), type(f)
    lost = sorted(_overridden(kind)) if type(found) is not kind else []
    if lost and "resolve" not in lost:
        raise InputError(
            f"{kind.__name__}: for m = {m} examples the `resolve` that it inherits returns a "
            f"{type(found).__name__}, without the `{lost[0]}` of {kind.__name__}; give it a "
            "`resolve(m)` that returns one of its own"
        )
    check_returns(found, m)
    return found


def check_returns(f: Any, m: int) -> None:
    """Raise an InputError unless what a class overrides returns what is asked for.

    It is tried at `center` and at margins of 0, where runs begin; of what f is computed from too.
    """
    for part in f._operands:
        check_returns(part, m)
    asked: dict[str, Callable[[], tuple[Any, ...]]] = {
        "penalty": lambda: (f.center(m),),
        "relaxed_margin": lambda: (np.zeros(m),),
        "distribution": lambda: (np.zeros(m), 1.0),
    }
    for name, arguments in asked.items():
        if _foreign(_owner(f, name)):
            with suppress(NotImplementedError):  # runs that need it meet it; others never ask
                looked_at(f, name, *arguments())
                has_bound = hasattr(f, "penalty_bound") and not _foreign(_owner(f, "penalty_bound"))
                if name == "penalty" and has_bound:
                    _check_bound(f, m)


def _check_bound(f: Any, m: int) -> None:
    """Raise an InputError where a penalty of one's own has the bound of another f.

    They are compared at one d near `center`; `testing.check_relaxation` looks at many.
    """
    d = f.center(m) * (1.0 + np.linspace(0.0, 0.5, m))
    d /= d.sum()
    value = float(looked_at(f, "penalty", d))
    bound, distance = f.penalty_bound(d, sum_bounds(d))
    known = math.isfinite(value) and math.isfinite(bound) and distance == 0.0
    if known and abs(value - bound) > _ALIKE * (1.0 + abs(value)):
        raise InputError(
            f"{type(f).__name__}.penalty: for m = {m} examples it is {value:.6g} near the center, "
            f"where the `penalty_bound` that it inherits is {bound:.6g}, so that brackets would be "
            "of another f; give it a `penalty_bound` and a `lower_bound` of its own, or derive it "
            "from Relaxation"
        )


def looked_at(f: Any, name: str, x: Any, *more: Any) -> Any:
    """Return what a method of f returns at the vector x.

    Where a class of one's own has it and it returns something else, an InputError says so; what
    it raises has a note that says where it was asked.
    """
    method, m = getattr(f, name), len(x)
    if not _foreign(_owner(f, name)):
        return method(x, *more)
    called, (at, what, fits) = f"{type(f).__name__}.{name}", _ASKED[name]
    try:
        returned = method(x, *more)
    except Exception as error:
        error.add_note(
            f"relaxboost asked {called} at {at}, for m = {m} examples; it must return {what}"
        )
        raise
    if not fits(returned, m):
        raise InputError(
            f"{called}: for m = {m} examples it must return {what}, and returned {_told(returned)}"
        )
    return returned


def _owner(f: Any, name: str) -> type:
    """Return the class that a method of f is from."""
    return next(kind for kind in type(f).__mro__ if name in vars(kind))


def _overridden(kind: type) -> set[str]:
    """Return the methods and properties of a family that a class of one's own has anew.

    Those by which it is made, printed and compared are not among them.
    """
    if not _foreign(kind):
        return set()
    own = {name for part in kind.__mro__ if _foreign(part) for name in vars(part)}
    ours = [vars(part) for part in kind.__mro__ if not _foreign(part)]
    return {
        name
        for names in ours
        for name, what in names.items()
        if name in own
        and name[:2] != "__"
        and (callable(what) or isinstance(what, property | cached_property))
    }


def _foreign(kind: type) -> bool:
    """Whether a class is not relaxboost's; what it is made of may be of no module."""
    return str(kind.__module__).partition(".")[0] != "relaxboost"


def _number(x: Any, m: int) -> bool:
    if isinstance(x, np.ndarray | np.generic):
        return x.shape == () and x.dtype.kind in "biuf"
    return isinstance(x, Real)


def _vector(x: Any, m: int) -> bool:
    return isinstance(x, np.ndarray) and x.shape == (m,)


def _pair(x: Any, m: int) -> bool:
    return isinstance(x, tuple) and len(x) == 2 and _number(x[0], m) and _vector(x[1], m)


_ASKED: dict[str, tuple[str, str, Callable[[Any, int], bool]]] = {
    "penalty": ("a d of the simplex, inside or outside dom f", "a number, f(d)", _number),
    "relaxed_margin": (
        "margins of 0, where runs begin",
        "a pair, F(u) and an array of the d that attains it",
        _pair,
    ),
    "distribution": ("margins of 0, where runs begin", "an array d", _vector),
}
"""Where methods are asked, what they must return, and whether something is that."""


def _told(x: Any) -> str:
    shape = f" of shape {x.shape}" if isinstance(x, np.ndarray) else ""
    return f"{type(x).__name__}{shape}"
