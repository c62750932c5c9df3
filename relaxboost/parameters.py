"""Parameters: int, float or Fraction in, the exact rational kept."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real

from relaxboost.errors import InputError


def exact(owner: str, name: str, value: object) -> Fraction:
    """Return `value` as the rational it is.

    Raises
    ------
    InputError
        If `value` is not a finite real number.
    """
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        return Fraction(float(value))
    raise InputError(f"{owner} needs {name} to be a finite real number, got {value!r}")


def spell(q: Fraction) -> str:
    """Return the shortest Python expression whose value is exactly `q`."""
    if q.denominator == 1:
        return str(q.numerator)
    return repr(float(q)) if Fraction(float(q)) == q else repr(q)
