"""A polyhedral f as a linear program, in doubles for solvers and in fractions for proofs.

The variables (d, z) are the weights d of the m examples and auxiliary variables z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, pairwise
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import bounds, number, vector
from relaxboost._core.errors import InputError

Bound = Fraction | None
"""A bound on a variable or a row of a linear program, or None if there is no bound."""
Row = dict[int, Fraction]
"""The nonzero coefficients of a row, by index into the variables (d, z)."""


@dataclass(frozen=True)
class LinearForm:
    """A polyhedral relaxation f as a linear program in double precision.

    f(d) is the minimum of cost·(d, z) over z, subject to ``lower <= (d, z) <= upper`` and
    ``row_lower <= rows @ (d, z) <= row_upper``. The matrix `rows` is None if there are no rows.
    """

    cost: Vector
    lower: Vector
    upper: Vector
    rows: Any = None
    row_lower: Vector = field(default_factory=lambda: np.empty(0))
    row_upper: Vector = field(default_factory=lambda: np.empty(0))

    def exactly(self) -> ExactForm:
        """Convert the doubles of this linear program to exact fractions."""
        rows: list[Row] = []
        if self.rows is not None:
            from scipy import sparse

            table = sparse.csr_array(self.rows)
            for start, stop in pairwise(table.indptr.tolist()):
                places = table.indices[start:stop].tolist()
                entries = map(Fraction, table.data[start:stop].tolist())
                rows.append(dict(zip(places, entries, strict=True)))
        return ExactForm(
            cost=[Fraction(c) for c in self.cost.tolist()],
            lower=_bounds(self.lower),
            upper=_bounds(self.upper),
            rows=rows,
            row_lower=_bounds(self.row_lower) if rows else [],
            row_upper=_bounds(self.row_upper) if rows else [],
        )


class ExactForm(NamedTuple):
    """A polyhedral relaxation f on d >= 0 as a linear program with exact fractions.

    f(d) is `constant` plus the minimum of cost·(d, z) over z, subject to ``lower <= (d, z) <=
    upper`` and ``row_lower <= rows @ (d, z) <= row_upper``. A missing bound is None. The numbers
    are the user's parameters, without rounding.
    """

    cost: list[Fraction]
    """The costs of (d, z), as many as entries in `lower` and `upper`."""
    lower: list[Bound]
    upper: list[Bound]
    rows: list[Row]
    """The nonzero coefficients of each row, by index into the variables (d, z).

    For m = 3 examples the row d_0 − z_0 is ``{0: Fraction(1), 3: Fraction(-1)}``.
    """
    row_lower: list[Bound]
    row_upper: list[Bound]
    constant: Fraction = Fraction(0)

    @classmethod
    def free(cls, m: int, more: int = 0) -> ExactForm:
        """Return the linear program with cost 0 and (d, z) >= 0, where z has `more` entries."""
        size = m + more
        return cls([Fraction(0)] * size, [Fraction(0)] * size, [None] * size, [], [], [])

    def doubles(self) -> LinearForm:
        """Return this linear program in double precision.

        Raise InputError if an entry is not a fraction, or if the lengths of fields differ.
        """
        self._check()
        cost = self.cost
        lower = self.lower
        upper = self.upper
        # Solvers of linear programs accept no constant. A variable fixed to 1 has it as its cost.
        if self.constant:
            cost = [*cost, self.constant]
            lower = [*lower, Fraction(1)]
            upper = [*upper, Fraction(1)]
        box = _near(cost, 0.0), _near(lower, -np.inf), _near(upper, np.inf)
        if not self.rows:
            return LinearForm(*box)
        from scipy import sparse

        start = np.cumsum([0, *map(len, self.rows)])
        place = np.array([j for row in self.rows for j in row])
        value = _near([x for row in self.rows for x in row.values()], 0.0)
        rows = sparse.csr_array((value, place, start), (len(self.rows), len(cost)))
        return LinearForm(*box, rows, _near(self.row_lower, -np.inf), _near(self.row_upper, np.inf))

    def _check(self) -> None:
        sizes = {len(self.cost), len(self.lower), len(self.upper)}
        counts = {len(self.rows), len(self.row_lower), len(self.row_upper)}
        if len(sizes) > 1 or len(counts) > 1:
            raise InputError(
                "an ExactForm needs `cost`, `lower` and `upper` of the same length, and `rows`, "
                "`row_lower` and `row_upper` of the same length"
            )
        if not all(isinstance(row, dict) for row in self.rows):
            raise InputError(
                "each row of an ExactForm must be a dict that maps the index of a variable to its "
                "coefficient, such as {0: Fraction(1), 2: Fraction(-1)}"
            )
        bounds = chain(self.lower, self.upper, self.row_lower, self.row_upper)
        coefficients = chain.from_iterable(row.values() for row in self.rows)
        kinds = {type(x): x for x in chain(self.cost, bounds, coefficients)}
        for kind, x in kinds.items():
            if not issubclass(kind, Fraction | int | NoneType):
                raise InputError(
                    f"the numbers of an ExactForm must be fractions, got {x!r}; write "
                    f"Fraction({x!r}), or Fraction(1, 10) for a tenth"
                )

    def describe(self, m: int) -> dict[str, Any]:
        """Return this linear program as a certificate entry of the kind ``polyhedral``."""
        return {
            "kind": "polyhedral",
            "auxiliaries": len(self.cost) - m,
            "constant": number(self.constant),
            "cost": vector(self.cost),
            "lower": bounds(self.lower),
            "upper": bounds(self.upper),
            "columns": [list(row) for row in self.rows],
            "coefficients": vector([x for row in self.rows for x in row.values()]),
            "row_lower": bounds(self.row_lower),
            "row_upper": bounds(self.row_upper),
        }

    def plus(self, other: ExactForm, m: int) -> ExactForm:
        """Return the linear program of f + g, where `other` is the linear program of g."""
        # Both programs share d. The z of `other` move behind those of this program.
        gap = len(self.cost) - m
        moved = [{j if j < m else j + gap: x for j, x in row.items()} for row in other.rows]
        return ExactForm(
            [p + q for p, q in zip(self.cost[:m], other.cost[:m], strict=True)]
            + self.cost[m:]
            + other.cost[m:],
            _tighter(max, self.lower, other.lower, m),
            _tighter(min, self.upper, other.upper, m),
            self.rows + moved,
            self.row_lower + other.row_lower,
            self.row_upper + other.row_upper,
            self.constant + other.constant,
        )


def _bounds(sides: Vector) -> list[Bound]:
    return [Fraction(x) if np.isfinite(x) else None for x in sides.tolist()]


def _near(numbers: Sequence[Bound], none: float) -> Vector:
    """Return the double nearest to each fraction, and `none` for each None."""
    # Conversions are slow, and many numbers are often the same object. The method `count` compares
    # an object with itself by identity, which is fast.
    if numbers and numbers[-1] is numbers[0] and numbers.count(numbers[0]) == len(numbers):
        return np.full(len(numbers), _double(numbers[0], none))
    distinct = {id(x): x for x in numbers}
    known = {place: _double(x, none) for place, x in distinct.items()}
    return np.array([known[id(x)] for x in numbers], dtype=np.float64)


def _double(x: Bound, none: float) -> float:
    if x is None:
        return none
    try:
        near = float(x)
    except OverflowError:
        near = math.inf if x > 0 else -math.inf
    # Numbers are clipped, so that sums of them do not overflow.
    return max(-1e300, min(near, 1e300))


def _tighter(
    choose: Callable[..., Fraction], one: list[Bound], other: list[Bound], m: int
) -> list[Bound]:
    # The programs have the variables (d, z) and (d, z'), and their sum has (d, z, z').
    pairs = zip(one[:m], other[:m], strict=True)
    both: list[Bound] = [q if p is None else p if q is None else choose(p, q) for p, q in pairs]
    return both + one[m:] + other[m:]
