"""Lossless conversion of integers and fractions to text for certificates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any


def finite(value: float) -> float | None:
    # JSON has no infinities and no nan.
    """Return a finite number as a float, and None for infinities and nan."""
    return float(value) if math.isfinite(value) else None


def integer(value: int) -> str:
    """Return the decimal digits of an integer of any size."""
    # Python limits str(value) to 4300 digits.
    return str(Decimal(value))


def number(value: Any) -> str:
    """Return a rational number as certificates store it, such as ``"-3/7"``."""
    q = Fraction(value)
    return integer(q.numerator) + (f"/{integer(q.denominator)}" if q.denominator != 1 else "")


def vector(values: Sequence[Any] | None) -> dict[str, Any] | str:
    """Return a vector of rational numbers as certificates store it.

    The result has the common denominator and the integer numerators, all as strings. If all entries
    are equal, it is a single number. None stands for a vector of ones.
    """
    exact = bounds([Fraction(v) for v in ([1] if values is None else values)])
    return {"denominator": "1", "numerators": []} if exact is None else exact


def bounds(values: Sequence[Fraction | None]) -> dict[str, Any] | str | None:
    """Return a vector of bounds as certificates store it.

    The result has the common denominator and the integer numerators, all as strings. A missing
    bound is None. If all bounds are equal, the result is a single number or None.
    """
    known = [v for v in values if v is not None]
    if not known:
        return None
    if len(known) == len(values) and all(v == known[0] for v in known):
        return number(known[0])
    below = math.lcm(*(v.denominator for v in known))
    items = [None if v is None else integer(v.numerator * (below // v.denominator)) for v in values]
    return {"denominator": integer(below), "numerators": items}
