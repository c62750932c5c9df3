"""Conversion of users' parameters (int, float or Fraction) to exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real
from types import UnionType
from typing import Any

from relaxboost._core.errors import InputError


def exact(owner: str, name: str, value: object) -> Fraction:
    """Convert a finite parameter to an exact rational number, or raise an InputError.

    The message names the parameter and its owner, such as a class.
    """
    if not isinstance(value, bool) and isinstance(value, Rational):
        # Integers of NumPy could overflow, so they become integers of Python.
        return Fraction(int(value.numerator), int(value.denominator))
    if not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value):
        return Fraction(float(value))
    raise InputError(f"{owner} needs {name} to be a finite real number, got {value!r}")


def is_given(value: object, kind: type | UnionType) -> bool:
    """Return whether a public argument has its annotated type."""
    # After `isinstance`, a type checker would treat the code for other types as unreachable.
    return isinstance(value, kind)


def positive_size(
    owner: str, name: str, value: object, least: Fraction = Fraction(1, 10**100)
) -> Fraction:
    """Convert a radius or weight to an exact rational number.

    Raise an InputError if it is not between `least` and 1e100. Outside this range, computations in
    doubles would fail.
    """
    size = exact(owner, name, value)
    if size <= 0:
        raise InputError(f"{owner} needs {name} > 0, got {value!r}")
    if not least <= size <= Fraction(1e100):
        log = math.log10(size.numerator) - math.log10(size.denominator)
        raise InputError(
            f"{owner} needs {float(least):g} <= {name} <= 1e100, got about 1e{log:.0f}; "
            "rescale f and the game"
        )
    return size


def spell(q: Fraction) -> str:
    """Return a short Python expression whose value is exactly `q`."""
    if q.denominator == 1:
        return str(q.numerator)
    try:
        return repr(float(q)) if Fraction(float(q)) == q else repr(q)
    except OverflowError:
        return repr(q)


def nearest(q: Any) -> float:
    """Return the double nearest to a rational number, or ±inf outside the range of doubles."""
    try:
        return float(q)
    except OverflowError:
        return math.inf if q > 0 else -math.inf


def positive(name: str, value: Any) -> float:
    """Return the value of a parameter as a positive float.

    Raise an InputError that contains `name` if the value is not positive and finite.
    """
    if not isinstance(value, bool) and isinstance(value, Real) and 0.0 < nearest(value) < math.inf:
        return float(value)
    raise InputError(f"{name} must be a positive number, got {value!r}")


def count(name: str, value: Any) -> int:
    """Return the value of a parameter as an int.

    Raise an InputError that contains `name` if the value is not a whole number >= 1.
    """
    return natural(name, value, 1)


def share(name: str, value: Any) -> float:
    """Return the value of a parameter as a float.

    Raise an InputError that contains `name` if the value is not strictly between 0 and 1.
    """
    if not isinstance(value, bool) and isinstance(value, Real) and 0.0 < nearest(value) < 1.0:
        return float(value)
    raise InputError(f"{name} must lie strictly between 0 and 1, got {value!r}")


def natural(name: str, value: Any, least: int = 0) -> int:
    """Return the value of a parameter as an int.

    Raise an InputError that contains `name` if the value is not a whole number >= `least`.
    """
    if not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least:
        return int(value)
    raise InputError(f"{name} must be a whole number >= {least}, got {value!r}")
