"""The function `assert_bracketed`, which compares a value with certified bounds."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import exact
from relaxboost._core.rounding import float_down, float_up
from relaxboost.instances.certified import CertifiedGame


def assert_bracketed(value: Any, certified: Any, tol: Any = 0) -> None:
    """Raise an AssertionError unless lower − tol <= value <= upper + tol.

    Parameters
    ----------
    value : int, float, Fraction, or an array with one entry
        The optimum according to a solver. For a float, the bounds are first rounded outwards to
        floats, so that the float nearest to an optimum of 1/3 is accepted.
    certified : CertifiedGame or Certificate
        The certified bounds on the optimum. Any object with numbers `lower` and `upper` is
        accepted.
    tol : int, float or Fraction
        The amount, at least 0, by which the value may lie outside the bounds.

    Raises
    ------
    AssertionError
        If the value is outside this interval. The message contains the value, the bounds, and the
        distance to the nearer bound.
    InputError
        If `tol` is negative or is not a number.
    """
    __tracebackhide__ = True
    allowed = _rational(tol)
    if allowed is None or allowed < 0:
        raise InputError(f"tol must be a number >= 0, got {tol!r}")
    try:
        lower, upper = _rational(certified.lower), _rational(certified.upper)
    except AttributeError:
        lower = upper = None
    if lower is None or upper is None:  # Strings have methods with these names.
        raise InputError(
            "`certified` must be a certified game, such as certified_games(name), or a "
            f"certificate, got {type(certified).__name__}"
        )
    given = _rational(value)
    if given is None:
        raise AssertionError(_message(f"{value!r} is not a finite number", value, certified, tol))
    low, high = lower - allowed, upper + allowed
    if not isinstance(_scalar(value), Rational):
        low, high = Fraction(float_down(low)), Fraction(float_up(high))
    if low <= given <= high:
        return
    is_below = given < low
    end = "below the certified lower bound" if is_below else "above the certified upper bound"
    by = float(lower - given if is_below else given - upper)
    what = f"{_number(given)} is {end} by {by:.6g}"
    raise AssertionError(_message(what, value, certified, tol))


def _scalar(value: Any) -> Any:
    is_scalar = getattr(value, "size", 0) == 1 and hasattr(value, "item")
    return value.item() if is_scalar else value


def _rational(value: Any) -> Fraction | None:
    try:
        return exact("assert_bracketed", "value", _scalar(value))
    except InputError:
        return None


def _number(x: Fraction) -> str:
    # A short fraction that is not a decimal is shown before its decimal.
    decimal = f"{float(x):.16g}"
    return decimal if len(str(x)) > 24 or Fraction(decimal) == x else f"{x} (about {decimal})"


def _message(what: str, value: Any, certified: Any, tol: Any) -> str:
    lower, upper = Fraction(certified.lower), Fraction(certified.upper)
    lines = [
        what,
        f"  value:    {value!r}",
        f"  bounds:   {_number(lower)} <= rho <= {_number(upper)}, gap {float(upper - lower):.2g}",
        f"  allowed:  tol = {tol}",
    ]
    if isinstance(certified, CertifiedGame):
        lines.append(f"  level:    {certified.level}")
        lines.append(f"  game:     {certified.name}: {certified.description}")
        lines.append(f"  proof:    relaxboost check {certified.path}")
    return "\n".join(lines)
