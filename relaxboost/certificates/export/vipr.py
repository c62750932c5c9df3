"""VIPR certificates: each bound of a polyhedral game as one derivation that others check."""

from __future__ import annotations

from fractions import Fraction

from relaxboost.certificates.export.program import LinearProgram, Sparse

_ZERO, _ONE = Fraction(0), Fraction(1)

_COMMENT = """% A weak-learning game of a relaxboost certificate, as the program of {0}.
% The derivation proves the {1} bound. The other one rests on the point below SOL:
% it is derived in the file of the {2} bound, since some checkers look at few constraints there."""


class _File:
    """A linear program in the order of the file, with a multiplier for each constraint."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.objective: Sparse = {}
        self.point: Sparse = {}
        self.constraints: list[str] = []
        self.used: Sparse = {}

    def variable(self, name: str, value: Fraction, cost: Fraction) -> int:
        """Add a variable with its value at the point, and return its number."""
        j = len(self.names)
        self.names.append(name)
        self.objective[j], self.point[j] = cost, value
        return j

    def constrain(
        self, name: str, sense: str, right: Fraction, row: Sparse, multiplier: Fraction
    ) -> None:
        """Add row (G, L or E) right, used so many times in the derivation."""
        self.used[len(self.constraints)] = multiplier
        self.constraints.append(f"{name} {sense} {right} {_spelled(row)}")

    def text(self, comment: str, sense: str, bound: str, lower: Fraction, upper: Fraction) -> str:
        """Return the file."""
        lines = [
            comment,
            "VER 1.0",
            f"VAR {len(self.names)}",
            *self.names,
            "INT 0",
            f"OBJ {sense}",
            _spelled(self.objective),
            f"CON {len(self.constraints)} 0",
            *self.constraints,
            f"RTP range {lower} {upper}",
            "SOL 1",
            f"point {_spelled(self.point)}",
            "DER 1",
            f"bound {bound} OBJ {{ lin {_spelled(self.used)} }} -1",
        ]
        return "\n".join(lines) + "\n"


def _spelled(row: Sparse) -> str:
    used = [f"{j} {v}" for j, v in row.items() if v]
    return " ".join([str(len(used)), *used])


def lower_bound(program: LinearProgram) -> str:
    """Return the file of d's program, whose constraints times the multipliers make the bound."""
    file = _File()
    for x in program.variables:
        file.variable(x.name, x.value, x.cost)
    if program.constant:
        one = file.variable("one", _ONE, program.constant)
        file.constrain("constant", "E", _ONE, {one: _ONE}, program.constant)
    sides = [(row.name, row.coefficients, *row[2:]) for row in program.rows]
    sides += [(x.name, {j: _ONE}, *x[3:]) for j, x in enumerate(program.variables)]
    for name, row, low, high, multiplier in sides:
        if low is not None and low == high:
            file.constrain(name, "E", low, row, multiplier)
            continue
        if low is not None:
            file.constrain(f"{name}_low", "G", low, row, max(multiplier, _ZERO))
        if high is not None:
            file.constrain(f"{name}_high", "L", high, row, min(multiplier, _ZERO))
    comment = _COMMENT.format("d", "lower", "upper")
    return file.text(comment, "min", f"G {program.lower}", program.lower, program.upper)


def upper_bound(program: LinearProgram) -> str:
    """Return the file of the dual program, whose constraints times (d, z) make the upper bound.

    It has a multiplier >= 0 for each side of a row and of the bounds of a variable. For each
    variable, rows and bounds times their multipliers have to make up its cost.
    """
    file = _File()
    balance: list[Sparse] = [{} for _ in program.variables]
    slacks = []
    values = [x.value for x in program.variables]
    sides = [(row.name, row.coefficients, *row[2:]) for row in program.rows]
    sides += [(x.name, {j: _ONE}, *x[3:]) for j, x in enumerate(program.variables)]
    for name, row, low, high, multiplier in sides:
        # Of an equation the point leaves no slack; most entries of A are in equations.
        total = low if low == high else sum((v * values[j] for j, v in row.items()), _ZERO)
        for side, end, sign in (("low", low, 1), ("high", high, -1)):
            if end is not None and total is not None:
                k = file.variable(f"{name}_{side}", max(sign * multiplier, _ZERO), sign * end)
                slacks.append((k, sign * (total - end)))
                for j, v in row.items():
                    balance[j][k] = v if sign > 0 else -v
    for x, row in zip(program.variables, balance, strict=True):
        file.constrain(f"cost_{x.name}", "E", x.cost, row, x.value)
    if program.constant:
        one = file.variable("one", _ONE, program.constant)
        file.constrain("constant", "E", _ONE, {one: _ONE}, program.constant)
    for k, slack in slacks:
        file.constrain(f"{file.names[k]}_sign", "G", _ZERO, {k: _ONE}, -slack)
    comment = _COMMENT.format("the multipliers, w among them", "upper", "lower")
    return file.text(comment, "max", f"L {program.upper}", program.lower, program.upper)
