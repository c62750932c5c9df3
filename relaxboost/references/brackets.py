"""`assert_bracketed`: a value against a certified bracket, with a message one can act on."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from relaxboost.errors import InputError
from relaxboost.rounding import float_down, float_up


def assert_bracketed(value: Any, reference: Any, tol: Any = 0) -> None:
    """Raise an AssertionError unless lower − tol <= value <= upper + tol.

    Parameters
    ----------
    value : int, float, Fraction, or an array with one entry
        What is claimed to be the optimum. A float is the rational it is, and is compared with the
        bracket rounded outwards to doubles, so that the double nearest to an optimum of 1/3 is
        accepted.
    reference : Reference or Certificate
        Anything with `lower` and `upper`.
    tol : int, float or Fraction
        What the value may be off by, >= 0.

    Raises
    ------
    AssertionError
        With the value, the bracket, the side it is on and by how much.
    InputError
        If `tol` is negative or no number.
    """
    __tracebackhide__ = True
    allowed = _rational(tol)
    if allowed is None or allowed < 0:
        raise InputError(f"tol must be a number >= 0, got {tol!r}")
    lower, upper = (_rational(getattr(reference, name, None)) for name in ("lower", "upper"))
    if lower is None or upper is None:  # a text has methods of these names
        raise InputError(
            f"assert_bracketed takes a reference, as relaxboost_reference(name) returns, "
            f"got {type(reference).__name__}"
        )
    given = _rational(value)
    if given is None:
        raise AssertionError(_message(f"{value!r} is no finite number", value, reference, tol))
    low, high = lower - allowed, upper + allowed
    if not isinstance(_scalar(value), Rational):
        low, high = Fraction(float_down(low)), Fraction(float_up(high))
    if low <= given <= high:
        return
    side, by = ("below", lower - given) if given < low else ("above", given - upper)
    what = f"{_number(given)} is {side} the certified bracket by {float(by):.6g}"
    raise AssertionError(_message(what, value, reference, tol))


def _scalar(value: Any) -> Any:
    """Return the one number in an array or a NumPy scalar, or the value as it is."""
    if getattr(value, "size", 0) == 1 and hasattr(value, "item"):
        return value.item()
    return value


def _rational(value: Any) -> Fraction | None:
    """Return a number as the rational it is; None for what is none."""
    number = _scalar(value)
    if isinstance(number, bool) or not isinstance(number, Real):
        return None
    if isinstance(number, Rational):
        return Fraction(number)
    return Fraction(float(number)) if math.isfinite(number) else None


def _number(x: Fraction) -> str:
    """Return a decimal, with the fraction before it where that is short and says more."""
    decimal = f"{float(x):.16g}"
    return decimal if len(str(x)) > 24 or Fraction(decimal) == x else f"{x} (about {decimal})"


def _message(what: str, value: Any, reference: Any, tol: Any) -> str:
    lower, upper = Fraction(reference.lower), Fraction(reference.upper)
    lines = [
        what,
        f"  value:    {value!r}",
        f"  bracket:  {_number(lower)} <= rho <= {_number(upper)}, gap {float(upper - lower):.2g}",
        f"  allowed:  tol = {tol}",
        f"  level:    {getattr(reference, 'level', 'unknown')}",
    ]
    if hasattr(reference, "description"):
        lines.append(f"  game:     {reference.name}: {reference.description}")
        lines.append(f"  proof:    relaxboost check {reference.path}")
    return "\n".join(lines)
