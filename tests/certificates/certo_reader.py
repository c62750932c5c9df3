"""A reader of exported certo files that repeats what certo-math checks of a range.

https://pypi.org/project/certo-math, version 0.37, certo/rangebound.py and certo/certificate.py.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

Rows = dict[str, dict[str, Any]]


class RefusedError(ValueError):
    """The file does not prove what it says."""


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise RefusedError(why)


def _end(rows: Rows, end: dict[str, Any], variable: str, sign: int) -> Fraction:
    """Return a bound that is the sum of rows times multipliers."""
    total: dict[str, Fraction] = {}
    side = Fraction(0)
    _must(end["used"] == list(end["multipliers"]), "rows are used without a multiplier")
    for name, text in end["multipliers"].items():
        y = Fraction(text)
        _must(y >= 0 and name in rows, f"the multiplier of {name}")
        for other, value in rows[name]["coeffs"].items():
            total[other] = total.get(other, Fraction(0)) + y * Fraction(value)
        side -= y * Fraction(rows[name]["const"])
    total = {name: value for name, value in total.items() if value}
    _must(total == {variable: Fraction(sign)}, "the rows do not add up to the variable")
    _must(side == sign * Fraction(end["bound"]), "the bound is another one")
    return sign * side


def read_certo(text: str) -> tuple[Fraction, Fraction, Rows]:
    """Return the range that a file proves for its variable, and its inequalities by name."""
    content = json.loads(text)
    given = content["payload"]
    _must((content["schema"], content["kind"]) == (5, "variable_range"), "another kind")
    rows = {row["name"]: row for row in given["rows"]}
    _must(len(rows) == len(given["rows"]), "two rows have one name")
    names = given["variables"]
    _must(len(set(names)) == len(names) and given["variable"] in names, "the names of variables")
    _must(all(set(row["coeffs"]) <= set(names) for row in rows.values()), "an unknown variable")
    _must(not given["empty"] and not any(row["strict"] for row in rows.values()), "strict rows")
    lower = _end(rows, given["lower"], given["variable"], -1)
    upper = _end(rows, given["upper"], given["variable"], 1)
    _must(given["interval"] == f"[{lower}, {upper}]", "the interval is another one")
    return lower, upper, rows
