"""A polyhedral game as a linear program with a feasible point and multipliers, for all exports."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.certificates import check
from relaxboost.certificates.export.relaxation import Bound, Sparse, relaxation_program


class Row(NamedTuple):
    """A row low <= coefficients·x <= high, with its multiplier."""

    name: str
    coefficients: Sparse
    low: Bound
    high: Bound
    multiplier: Fraction
    """The multiplier of the row in the proof of the lower bound. A positive multiplier belongs to
    `low`, and a negative one to `high`."""


class Variable(NamedTuple):
    """A variable, with its value at the feasible point and its reduced cost."""

    name: str
    value: Fraction
    cost: Fraction
    low: Bound
    high: Bound
    price: Fraction


@dataclass
class LinearProgram:
    """The linear program of a game, with a feasible point and multipliers.

    The program minimises cost·x + constant subject to rows and variable bounds. Its feasible point
    costs at most `upper`, and its multipliers prove the bound `lower`.
    """

    rows: list[Row]
    variables: list[Variable]
    constant: Fraction
    lower: Fraction
    upper: Fraction

    def bound_row(self, j: int) -> Row:
        """Return the bounds of variable `j` as a row, whose multiplier is the reduced cost."""
        x = self.variables[j]
        return Row(x.name, {j: check.ONE}, x.low, x.high, x.price)

    def all_rows(self) -> list[Row]:
        """Return the rows, followed by the variable bounds as rows."""
        return [*self.rows, *(self.bound_row(j) for j in range(len(self.variables)))]

    def at_point(self, row: Row) -> Fraction:
        """Return the value of a row at the feasible point."""
        values = (v * self.variables[j].value for j, v in row.coefficients.items())
        return sum(values, check.ZERO)


def game_program(document: dict[str, Any], path: str | None = None) -> LinearProgram:
    """Return the game of an accepted exact certificate as a linear program.

    The variables are the distribution d, the auxiliary variables z of f, the edges e = Aᵀd, and a
    bound t >= g(e). The objective is t + cost·(d, z). The multipliers are the weights w, the
    threshold γ, and the multipliers in the witness of f. If the certificate contains only the
    digest of the matrix, `path` names a file with the matrix.

    Raises
    ------
    InputError
        If the level is not exact, or if the relaxation or the domain has no linear description.
    """
    if document["level"] != "exact":
        raise InputError(
            "only a certificate of level 'exact' can be exported, but this one is level "
            f"{document['level']!r}"
        )
    doc = check.Fields(document, "the document")
    game = doc.take("game", dict)
    m = game.whole("m", 1, check.MAX_MATRIX_ENTRIES)
    n = game.whole("n", 1, check.MAX_MATRIX_ENTRIES)
    A, _ = check.matrix(game, m, n, path)
    d = doc.vector("d", m)
    columns = doc.take("columns", list)
    w = dict(zip(columns, doc.vector("w", len(columns)), strict=True))
    u, edges = check.products(A, d, w)
    f = relaxation_program(
        game.take("relaxation", dict),
        doc.take("witness", dict),
        check.part(doc, "auxiliaries"),
        d,
        u,
    )
    first_edge = m + len(f.z)
    rows = [Row("simplex", dict.fromkeys(range(m), check.ONE), check.ONE, check.ONE, f.gamma)]
    for j in range(n):
        column = {i: Fraction(line[j]) for i, line in enumerate(A) if line[j]}
        column[first_edge + j] = -check.ONE
        rows.append(Row(f"edge{j}", column, check.ZERO, check.ZERO, -w.get(j, check.ZERO)))
    size, size_rows = _size_rows(game.take("over", dict), w, edges, first_edge)
    rows += size_rows
    for k, (sides, y) in enumerate(zip(f.rows, f.multipliers, strict=True)):
        rows.append(Row(f"f{k}", *sides, y))
    names = [*_names("d", m), *_names("z", len(f.z)), *_names("e", n), "t"]
    values = [*d, *f.z, *edges, size]
    costs = {**f.cost, len(names) - 1: check.ONE}
    bounds = dict(f.bounds)
    for i in range(m):
        low, high = f.bounds.get(i, (None, None))
        bounds[i] = (max(low or check.ZERO, check.ZERO), high)
    prices = _prices(costs, rows, len(names))
    variables = [
        Variable(
            name,
            values[j],
            costs.get(j, check.ZERO),
            *bounds.get(j, (None, None)),
            prices[j],
        )
        for j, name in enumerate(names)
    ]
    return LinearProgram(rows, variables, f.constant, doc.number("lower"), doc.number("upper"))


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(count)]


def _prices(costs: Sparse, rows: list[Row], size: int) -> list[Fraction]:
    # These are the reduced costs c − Aᵀy for the row multipliers y.
    prices = [costs.get(j, check.ZERO) for j in range(size)]
    for row in rows:
        if row.multiplier:
            for j, v in row.coefficients.items():
                prices[j] -= row.multiplier * v
    return prices


def _size_rows(
    over: Any, w: dict[int, Fraction], edges: list[Fraction], first_edge: int
) -> tuple[Fraction, list[Row]]:
    # The rows are t >= g(e) for the edges e = Aᵀd, and their multipliers are the weights w.
    kind = over.take("kind")
    if kind not in ("l1", "simplex", "full-simplex"):
        raise InputError(
            f"exports need a polyhedral domain, but the domain is {kind!r}. Certify a game over "
            "L1Ball, Simplex or FullSimplex"
        )
    is_ball = kind == "l1"
    r = over.number("size", 0) if "size" in over.left else check.ONE
    spare = check.ONE - sum(map(abs, w.values()), check.ZERO) / r
    t = first_edge + len(edges)
    rows = []
    for j in range(len(edges)):
        share = w.get(j, check.ZERO) / r
        # The multipliers of t must sum to 1. If w has a norm below r, the rest is spread evenly
        # over the first two rows of the ball, whose edges then cancel.
        half = spare / 2 if is_ball and j == 0 else check.ZERO
        for name, sign in (("above", 1), ("below", -1)) if is_ball else (("above", 1),):
            row = {t: check.ONE, first_edge + j: -sign * r}
            multiplier = max(sign * share, check.ZERO) + half
            rows.append(Row(f"{name}{j}", row, check.ZERO, None, multiplier))
    if kind == "full-simplex":
        rows.append(Row("size", {t: check.ONE}, check.ZERO, None, spare))
    least = check.ZERO if kind == "full-simplex" else min(edges)
    return r * max(least, *(map(abs, edges) if is_ball else edges)), rows


class Constraint(NamedTuple):
    """A linear constraint of a `BoundProof`.

    The field `sense` is "G" for coefficients·x >= side, "L" for <=, and "E" for an equation.
    """

    name: str
    sense: str
    side: Fraction
    coefficients: Sparse
    multiplier: Fraction


@dataclass
class BoundProof:
    """A linear program with a feasible point, and multipliers that prove a bound on its optimum."""

    names: list[str]
    objective: Sparse
    point: Sparse
    constraints: list[Constraint]

    def add_variable(self, name: str, value: Fraction, cost: Fraction) -> int:
        """Add a variable with its value at the feasible point and its cost, and return its
        index."""
        j = len(self.names)
        self.names.append(name)
        self.objective[j] = cost
        self.point[j] = value
        return j

    def add(self, name: str, sense: str, side: Fraction, row: Sparse, y: Fraction) -> None:
        """Add a constraint with its multiplier y."""
        self.constraints.append(Constraint(name, sense, side, row, y))

    def add_constant(self, constant: Fraction) -> None:
        """Add a constant to the objective, as the cost of a new variable that is fixed at 1."""
        if constant:
            one = self.add_variable("one", check.ONE, constant)
            self.add("constant", "E", check.ONE, {one: check.ONE}, constant)

    def proved(self) -> Fraction:
        """Return the bound that the multipliers prove: the sum of right-hand sides times
        multipliers."""
        return sum((c.multiplier * c.side for c in self.constraints), check.ZERO)


def lower_proof(program: LinearProgram) -> BoundProof:
    """Return the linear program of d, whose multipliers prove the lower bound on the value."""
    proof = BoundProof([], {}, {}, [])
    for x in program.variables:
        proof.add_variable(x.name, x.value, x.cost)
    proof.add_constant(program.constant)
    for name, row, low, high, y in program.all_rows():
        if low is not None and low == high:
            proof.add(name, "E", low, row, y)
            continue
        if low is not None:
            proof.add(f"{name}_low", "G", low, row, max(y, check.ZERO))
        if high is not None:
            proof.add(f"{name}_high", "L", high, row, min(y, check.ZERO))
    return proof


def upper_proof(program: LinearProgram) -> BoundProof:
    """Return the dual linear program, whose multipliers prove the upper bound on the value.

    For each variable of `program`, it has an equation. The multiplier of this equation is the value
    of the variable.
    """
    # It has a multiplier >= 0 for each side of a row and for each bound of a variable. Rows and
    # bounds times their multipliers must add up to the cost of each variable.
    proof = BoundProof([], {}, {}, [])
    balance: list[Sparse] = [{} for _ in program.variables]
    slacks = []
    for row in program.all_rows():
        # The point satisfies an equation without slack. This saves most products with A.
        total = row.low if row.low == row.high else program.at_point(row)
        for side, end, sign in (("low", row.low, 1), ("high", row.high, -1)):
            if end is None or total is None:
                continue
            value = max(sign * row.multiplier, check.ZERO)
            k = proof.add_variable(f"{row.name}_{side}", value, sign * end)
            slacks.append((k, sign * (total - end)))
            for j, v in row.coefficients.items():
                balance[j][k] = sign * v
    for x, column in zip(program.variables, balance, strict=True):
        proof.add(f"cost_{x.name}", "E", x.cost, column, x.value)
    proof.add_constant(program.constant)
    for k, slack in slacks:
        proof.add(f"{proof.names[k]}_sign", "G", check.ZERO, {k: check.ONE}, -slack)
    return proof
