"""The linear program of a game in free MPS format, and a file with a point and multipliers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction

from relaxboost.certificates.check import ONE, ZERO
from relaxboost.certificates.export.program import LinearProgram, Row, Variable

_COMMENT = """* A weak-learning game of a relaxboost certificate as a linear program, in free MPS.
* Its optimum is at least {lower} and at most {upper}.
* Numbers are exact decimals. A row with another number is multiplied by a factor below 2."""


def mps(program: LinearProgram) -> dict[str, str]:
    """Return two files for the linear program of a game, as a mapping from suffix to text.

    The file ".mps" contains the program, and ".points.json" contains a feasible point, row
    multipliers, and reduced costs.
    """
    # All numbers are exact decimals. If a row has a number without a finite decimal expansion, the
    # row is multiplied by the odd part of the common denominator, divided by a power of two. Only
    # rows can be multiplied. So the objective is a variable `value` with its own row, and a bound
    # of a variable without a finite decimal expansion is written as a row.
    rows = [_with_decimals(row) for row in _all_rows(program)]
    names = [*(x.name for x in program.variables), "value"]
    lines = [
        _COMMENT.format(lower=program.lower, upper=program.upper),
        "NAME relaxboost",
        "ROWS",
        " N objective",
        *(f" {_sense(row)} {row.name}" for row in rows),
        "COLUMNS",
        *_columns(rows, names),
        "RHS",
        *(f" RHS {row.name} {_decimal(_side(row))}" for row in rows if _side(row)),
        *_ranges(rows),
        "BOUNDS",
        *(line for x in program.variables for line in _bounds(x)),
        " FR BOUND value",
        "ENDATA",
    ]
    return {".mps": "\n".join(lines) + "\n", ".points.json": _points(program, rows)}


def _all_rows(program: LinearProgram) -> Iterator[Row]:
    # These are the row of the objective, the other rows, and the bounds that are written as rows.
    costs = {j: -x.cost for j, x in enumerate(program.variables) if x.cost}
    entries = {len(program.variables): ONE, **costs}
    yield Row("value", entries, program.constant, program.constant, ONE)
    yield from (row for row in program.rows if (row.low, row.high) != (None, None))
    for j, x in enumerate(program.variables):
        if not _has_decimals(x):
            yield program.bound_row(j)._replace(name=f"{x.name}_bounds")


def _has_decimals(x: Variable) -> bool:
    return all(b is None or _odd_part(b.denominator) == 1 for b in (x.low, x.high))


def _points(program: LinearProgram, rows: list[Row]) -> str:
    # The point proves the upper bound, and the multipliers prove the lower bound.
    objective = program.constant + sum((x.cost * x.value for x in program.variables), ZERO)
    primal = {x.name: str(x.value) for x in program.variables} | {"value": str(objective)}
    dual = {row.name: str(row.multiplier) for row in rows if row.multiplier}
    prices = {x.name: str(x.price) for x in program.variables if x.price}
    for row in rows:
        # The multiplier of the row replaces the reduced cost of the variable.
        prices.pop(row.name.removesuffix("_bounds"), None)
    content = {
        "lower": str(program.lower),
        "upper": str(program.upper),
        "primal": primal,
        "dual": dual,
        "reduced_costs": prices,
    }
    return json.dumps(content, indent=1) + "\n"


def _odd_part(denominator: int) -> int:
    # The result is 1 if and only if the decimal expansion is finite.
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator


def _decimal(x: Fraction) -> str:
    places = 0
    while (x * 10**places).denominator != 1:
        places += 1
    digits = str(abs(x.numerator) * 10**places // x.denominator).zfill(places + 1)
    point = len(digits) - places
    return ("-" if x < 0 else "") + digits[:point] + ("." + digits[point:] if places else "")


def _with_decimals(row: Row) -> Row:
    numbers = [*row.coefficients.values(), *(x for x in (row.low, row.high) if x is not None)]
    k = math.lcm(*(_odd_part(x.denominator) for x in numbers))
    # The power of two keeps the factor between 1 and 2: solvers reject very large entries.
    factor = Fraction(k, 1 << (k.bit_length() - 1))
    if factor == 1:
        return row
    low, high = (None if x is None else factor * x for x in (row.low, row.high))
    entries = {j: factor * v for j, v in row.coefficients.items()}
    return Row(row.name, entries, low, high, row.multiplier / factor)


def _side(row: Row) -> Fraction:
    # A range in the section RANGES extends downwards from the side of the row in the section RHS.
    side = row.low if row.high is None else row.high
    assert side is not None
    return side


def _sense(row: Row) -> str:
    return "E" if row.low == row.high else "G" if row.high is None else "L"


def _columns(rows: list[Row], names: list[str]) -> Iterator[str]:
    entries: list[list[str]] = [[] for _ in names]
    entries[-1].append("objective 1")
    for row in rows:
        for j, v in row.coefficients.items():
            if v:
                entries[j].append(f"{row.name} {_decimal(v)}")
    for name, column in zip(names, entries, strict=True):
        yield from (f" {name} {entry}" for entry in column)


def _ranges(rows: list[Row]) -> list[str]:
    lines = [
        f" RANGE {row.name} {_decimal(row.high - row.low)}"
        for row in rows
        if row.low is not None and row.high is not None and row.low != row.high
    ]
    return ["RANGES", *lines] if lines else []


def _bounds(x: Variable) -> list[str]:
    if (x.low, x.high) == (None, None) or not _has_decimals(x):
        return [f" FR BOUND {x.name}"]
    lower = "MI" if x.low is None else "LO"
    number = "" if x.low is None else f" {_decimal(x.low)}"
    lines = [f" {lower} BOUND {x.name}{number}"]
    return lines if x.high is None else [*lines, f" UP BOUND {x.name} {_decimal(x.high)}"]
