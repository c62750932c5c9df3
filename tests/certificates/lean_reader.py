"""A reader of exported Lean files that repeats the checks of LPVerify on what it reads.

It takes the text to be exactly of the form that is exported: the definitions `game`, `point` and
`multipliers`, and theorems about them. Lean itself is not needed, nor replaced: a file that is
accepted here states what LPVerify's functions decide to be true.
https://github.com/leanprover/lp-verify, LPVerify/Bool.lean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

Numbers = list[Fraction]
Ends = list[tuple[Fraction | None, Fraction | None]]


class RefusedError(ValueError):
    """The file is not of the form, or a theorem in it is not true."""


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise RefusedError(why)


_HEAD = r"""import LPVerify open LP LP\.Verify namespace Relaxboost
def game : Problem (\d+) (\d+) :=
\{ c := #v\[(.*?)\] a := #\[(.*?)\] rowBounds := #v\[(.*?)\]
colBounds := #v\[(.*?)\] objOffset := (.*?) \}
def point : Vector Rat (\d+) := #v\[(.*?)\]
def multipliers : DualBundle (\d+) (\d+) :=
\{ rowLower := #v\[(.*?)\] rowUpper := #v\[(.*?)\]
colLower := #v\[(.*?)\] colUpper := #v\[(.*?)\] \}
theorem feasible : isPrimalFeasible game point = true := by decide \+kernel
theorem dual_feasible : isDualFeasible game multipliers = true := by decide \+kernel
theorem upper : vPrimalObj game point ≤ (.*?) := by decide \+kernel
theorem lower : (.*?) ≤ dualObj game multipliers := by decide \+kernel"""
_OPTIMAL = r"""theorem value : vPrimalObj game point = (.*?) := by decide \+kernel
theorem optimal : IsFeasible game point\.toArray ∧ IsOptimalMin game point\.toArray :=
checkOptimal_sound \(d := multipliers\) \(by decide \+kernel\)"""
_NUMBER = r"(?:\d+|\(-\d+\)|\(-?\d+ / [1-9]\d*\))"


def _spaced(pattern: str) -> str:
    return " ".join(pattern.split())


_FILE = re.compile(
    rf"{_spaced(_HEAD)}(?: {_spaced(_OPTIMAL)})? end Relaxboost".replace("\n", " "), re.DOTALL
)


def _number(text: str) -> Fraction:
    _must(bool(re.fullmatch(_NUMBER, text)), f"{text!r} is no number")
    return Fraction(text.strip("()").replace(" ", ""))


def _numbers(text: str, size: int) -> Numbers:
    found = [_number(word) for word in text.split(", ")] if text else []
    _must(len(found) == size, f"a vector has {len(found)} entries, not {size}")
    return found


def _ends(text: str, size: int) -> Ends:
    end = rf"(none|some {_NUMBER})"
    one = rf"\({end}, {end}\)"
    _must(bool(re.fullmatch(rf"{one}(?:, {one})*", text)), "no vector of bounds")
    found = [
        tuple(None if word == "none" else _number(word.removeprefix("some ")) for word in pair)
        for pair in re.findall(one, text)
    ]
    _must(len(found) == size, f"there are {len(found)} bounds, not {size}")
    return found  # type: ignore[return-value]


def _entries(text: str, m: int, n: int) -> list[tuple[int, int, Fraction]]:
    one = rf"\((\d+), (\d+), ({_NUMBER})\)"
    _must(bool(re.fullmatch(rf"{one}(?:, {one})*", text)), "no list of entries")
    found = [(int(i), int(j), _number(v)) for i, j, v in re.findall(one, text)]
    # A numeral of Fin m is taken modulo m, so one out of range would be another row.
    _must(all(i < m and j < n for i, j, _ in found), "an entry is out of range")
    _must(len({(i, j) for i, j, _ in found}) == len(found), "an entry stands twice")
    return found


@dataclass
class Program:
    """A `Problem`, a point and a `DualBundle`, by LPVerify's names."""

    c: Numbers
    a: list[tuple[int, int, Fraction]]
    row_bounds: Ends
    col_bounds: Ends
    offset: Fraction
    point: Numbers
    row_lower: Numbers
    row_upper: Numbers
    col_lower: Numbers
    col_upper: Numbers
    lower: Fraction
    upper: Fraction
    optimal: bool

    def is_primal_feasible(self) -> bool:
        """Every variable and row of Ax is between its bounds."""
        ax = [Fraction(0)] * len(self.row_bounds)
        for i, j, v in self.a:
            ax[i] += v * self.point[j]
        pairs = [*zip(self.point, self.col_bounds, strict=True)]
        pairs += zip(ax, self.row_bounds, strict=True)
        return all((lo is None or lo <= x) and (hi is None or x <= hi) for x, (lo, hi) in pairs)

    def _sides(self) -> list[tuple[Fraction, Fraction | None]]:
        """Return every multiplier with its bound."""
        return [
            (y, ends[k])
            for vector, bounds, k in (
                (self.row_lower, self.row_bounds, 0),
                (self.row_upper, self.row_bounds, 1),
                (self.col_lower, self.col_bounds, 0),
                (self.col_upper, self.col_bounds, 1),
            )
            for y, ends in zip(vector, bounds, strict=True)
        ]

    def is_dual_feasible(self) -> bool:
        """Multipliers are >= 0, and 0 of absent bounds; Aᵀ(yL − yU) + (zL − zU) = c."""
        if not all(y >= 0 and (y == 0 or end is not None) for y, end in self._sides()):
            return False
        total = [lo - hi for lo, hi in zip(self.col_lower, self.col_upper, strict=True)]
        for i, j, v in self.a:
            total[j] += v * (self.row_lower[i] - self.row_upper[i])
        return total == self.c

    def primal_objective(self) -> Fraction:
        """Return c·x + offset."""
        return sum((c * x for c, x in zip(self.c, self.point, strict=True)), self.offset)

    def dual_objective(self) -> Fraction:
        """Return Σ (yL·lo − yU·hi) + Σ (zL·lo − zU·hi) + offset."""
        sides, m, n = self._sides(), len(self.row_bounds), len(self.col_bounds)
        signs = [1] * m + [-1] * m + [1] * n + [-1] * n
        return self.offset + sum(
            (s * y * (end or 0) for s, (y, end) in zip(signs, sides, strict=True)), Fraction(0)
        )


def read_lean(text: str) -> Program:
    """Return what a file defines, whose theorems are true.

    Raises
    ------
    RefusedError
        For a text of another form, and where a theorem is not true.
    """
    code = " ".join(re.sub(r"/-.*?-/", "", text, flags=re.DOTALL).split())
    found = _FILE.fullmatch(code)
    _must(found is not None, "not of the form")
    m, n = int(found[1]), int(found[2])
    _must((int(found[8]), int(found[10]), int(found[11])) == (n, m, n), "sizes differ")
    program = Program(
        c=_numbers(found[3], n),
        a=_entries(found[4], m, n),
        row_bounds=_ends(found[5], m),
        col_bounds=_ends(found[6], n),
        offset=_number(found[7]),
        point=_numbers(found[9], n),
        row_lower=_numbers(found[12], m),
        row_upper=_numbers(found[13], m),
        col_lower=_numbers(found[14], n),
        col_upper=_numbers(found[15], n),
        upper=_number(found[16]),
        lower=_number(found[17]),
        optimal=found[18] is not None,
    )
    _must(program.is_primal_feasible(), "theorem feasible")
    _must(program.is_dual_feasible(), "theorem dual_feasible")
    primal, dual = program.primal_objective(), program.dual_objective()
    _must(primal <= program.upper, "theorem upper")
    _must(program.lower <= dual, "theorem lower")
    if program.optimal:
        _must(primal == _number(found[18]), "theorem value")
        _must(primal == dual, "theorem optimal")
    return program
