"""Conversion of exact integers and fractions to text, as certificates (proof files) store them.

No digit is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any


def finite(value: float) -> float | None:
    """Return a finite number as a float.

    Return None for infinities and nan, which JSON cannot express.
    """
    return float(value) if math.isfinite(value) else None


def integer(value: int) -> str:
    """Return the decimal digits of an integer of any size."""
    # Python limits str(value) to 4300 digits.
    return str(Decimal(value))


def number(value: Any) -> str:
    """Return an exact rational number as a string such as ``"-3/7"``, as certificates store it."""
    q = Fraction(value)
    return integer(q.numerator) + (f"/{integer(q.denominator)}" if q.denominator != 1 else "")


def vector(values: Sequence[Any] | None) -> dict[str, Any] | str:
    """Return a vector of rational numbers in the form in which certificates store it.

    The result is a dictionary with the common denominator and the list of the integer numerators,
    all as strings. If all entries are equal, the result is a single number as a string. The value
    None stands for a vector whose entries are all 1.
    """
    exact = bounds([Fraction(v) for v in ([1] if values is None else values)])
    return {"denominator": "1", "numerators": []} if exact is None else exact


def bounds(values: Sequence[Fraction | None]) -> dict[str, Any] | str | None:
    """Return a vector of bounds in the form in which certificates store it.

    The result is a dictionary with the common denominator and the list of the integer numerators,
    all as strings. An entry that is None means that there is no bound. If all bounds exist and are
    equal, the result is a single number as a string. If all entries are None, the result is None.
    """
    known = [v for v in values if v is not None]
    if not known:
        return None
    if len(known) == len(values) and all(v == known[0] for v in known):
        return number(known[0])
    below = math.lcm(*(v.denominator for v in known))
    items = [None if v is None else integer(v.numerator * (below // v.denominator)) for v in values]
    return {"denominator": integer(below), "numerators": items}
