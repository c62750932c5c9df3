"""The game as a linear program in Lean, which the library LPVerify checks in Lean's kernel."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from relaxboost.certificates.export.program import LinearProgram, Row, Variable

_FILE = """/-
A weak-learning game of a relaxboost certificate as a linear program: d, auxiliaries of the
relaxation, the edges and t. Its rows: {rows}.
It needs LPVerify: require LPVerify from git "https://github.com/leanprover/lp-verify"
-/
import LPVerify

open LP LP.Verify

namespace Relaxboost

def game : Problem {m} {n} :=
  {{ c := #v[{cost}]
    a := #[{entries}]
    rowBounds := #v[{row_bounds}]
    colBounds := #v[{column_bounds}]
    objOffset := {offset} }}

/-- {points}. -/
def point : Vector Rat {n} := #v[{point}]

/-- γ, the weights w and the witness of the relaxation. -/
def multipliers : DualBundle {m} {n} :=
  {{ rowLower := #v[{row_lower}]
    rowUpper := #v[{row_upper}]
    colLower := #v[{column_lower}]
    colUpper := #v[{column_upper}] }}

theorem feasible : isPrimalFeasible game point = true := by decide +kernel

theorem dual_feasible : isDualFeasible game multipliers = true := by decide +kernel

theorem upper : vPrimalObj game point ≤ {upper} := by decide +kernel

theorem lower : {lower} ≤ dualObj game multipliers := by decide +kernel
{optimal}
end Relaxboost
"""
_OPTIMAL = """
theorem value : vPrimalObj game point = {value} := by decide +kernel

/-- `point` is feasible, and no feasible point costs less. -/
theorem optimal : IsFeasible game point.toArray ∧ IsOptimalMin game point.toArray :=
  checkOptimal_sound (d := multipliers) (by decide +kernel)
"""


def lean(program: LinearProgram) -> str:
    """Return a Lean file with the linear program of a game, a feasible point and multipliers.

    If both bounds are equal, the file proves that the point is optimal.
    """
    rows = program.rows
    variables = program.variables
    multipliers = [row.multiplier for row in rows]
    prices = [x.price for x in variables]
    entries = [
        f"({i}, {j}, {_rational(v)})"
        for i, row in enumerate(rows)
        for j, v in row.coefficients.items()
        if v
    ]
    is_optimal = program.lower == program.upper
    return _FILE.format(
        rows=", ".join(dict.fromkeys(row.name.rstrip("0123456789") for row in rows)),
        m=len(rows),
        n=len(variables),
        cost=_listed(x.cost for x in variables),
        entries=", ".join(entries),
        row_bounds=", ".join(map(_range, rows)),
        column_bounds=", ".join(map(_range, variables)),
        offset=_rational(program.constant),
        points=", ".join(x.name for x in variables),
        point=_listed(x.value for x in variables),
        row_lower=_positive_parts(multipliers, 1),
        row_upper=_positive_parts(multipliers, -1),
        column_lower=_positive_parts(prices, 1),
        column_upper=_positive_parts(prices, -1),
        upper=_rational(program.upper),
        lower=_rational(program.lower),
        optimal=_OPTIMAL.format(value=_rational(program.upper)) if is_optimal else "",
    )


def _rational(x: Fraction) -> str:
    if x.denominator == 1 and x >= 0:
        return str(x)
    return f"({x.numerator} / {x.denominator})" if x.denominator > 1 else f"({x})"


def _listed(values: Iterable[Fraction]) -> str:
    return ", ".join(map(_rational, values))


def _positive_parts(values: Iterable[Fraction], sign: int) -> str:
    return _listed(max(sign * v, Fraction(0)) for v in values)


def _range(x: Row | Variable) -> str:
    low, high = ("none" if b is None else f"some {_rational(b)}" for b in (x.low, x.high))
    return f"({low}, {high})"
