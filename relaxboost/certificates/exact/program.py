"""The game as a linear program with integer data, to which rows for columns of A are added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from relaxboost._core.errors import InputError, brief
from relaxboost.certificates.exact.integers import Columns, Integer, flint, integer_columns
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game, check_game
from relaxboost.relaxations.base import operands_of
from relaxboost.relaxations.description import description_of
from relaxboost.relaxations.linear import Bound, ExactForm


class ExactProgram:
    """The linear program of a game with integer data: minimise f(d) + r v over distributions d.

    Here r is the radius of the domain of the weights. The variables are d, the auxiliary variables
    z of f, and an upper bound v on the edges. All variables are multiplied by `unit`, the common
    denominator of the bounds. The first row is sum(d) = 1, and the rows of f follow. Rows
    ± <a_j, d> <= v for columns a_j of the margin matrix are added later, from the index `fixed` on.
    Each row is scaled to integers.

    If `form` is given, it replaces the linear program of f. If the game has no exact linear
    program, an InputError is raised.
    """

    def __init__(self, game: Game, form: ExactForm | None = None) -> None:
        over = _checked_domain(game)
        self.game = game
        self.form = _with_value(_form(game) if form is None else form, game.m, over)
        """The program in fractions, without rows for columns of A. Its last variable is v."""
        self.cost_unit = lcm(*(c.denominator for c in self.form.cost))
        self.cost = [int(c * self.cost_unit) for c in self.form.cost]
        # Costs, rows and bounds are scaled to integers once, because arithmetic with fractions
        # would reduce each intermediate result.
        self.factors = [lcm(*(x.denominator for x in row.values()), 1) for row in self.form.rows]
        self.rows = [
            {j: int(x * k) for j, x in row.items() if x}
            for row, k in zip(self.form.rows, self.factors, strict=True)
        ]
        low = self.form.lower + _scaled(self.form.row_lower, self.factors)
        high = self.form.upper + _scaled(self.form.row_upper, self.factors)
        self.unit = lcm(*(b.denominator for b in low + high if b is not None))
        self.bounds = list(zip(_whole(low, self.unit), _whole(high, self.unit), strict=True))
        """The bounds (lower, upper) of each variable and then of each row, as integers.

        They are multiplied by `unit`, and a missing bound is None.
        """
        self.columns = Columns([], [])
        self.ids: list[int] = []
        """The index in the margin matrix of each column of the program."""
        self.edges: list[tuple[int, int]] = []
        """For each row of a column, the position of the column in `columns` and the sign of the
        row."""
        self._matrix: Any = None

    @property
    def m(self) -> int:
        """The number of examples."""
        return self.game.m

    @property
    def two_sided(self) -> bool:
        """Whether the weights may be negative, so that a column may have a row for each sign."""
        return _checked_domain(self.game).two_sided

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.cost)

    @property
    def v(self) -> int:
        """The index of v, the last variable."""
        return len(self.cost) - 1

    @property
    def fixed(self) -> int:
        """The number of rows that do not belong to columns of A."""
        return len(self.rows)

    @property
    def height(self) -> int:
        """The number of rows, including those of the columns added so far."""
        return self.fixed + len(self.edges)

    def add(self, signed: Iterable[tuple[int, int]]) -> None:
        """Add the rows ± <a_j, d> <= v of pairs (column, sign), except rows that exist already."""
        signed = list(signed)
        new = sorted({j for j, _ in signed}.difference(self.ids))
        if new:
            found = integer_columns(self.game.matrix, new)
            self.ids += new
            self.columns.entries.extend(found.entries)
            self.columns.shifts.extend(found.shifts)
            # Products with all columns are the largest part of the work, and python-flint
            # multiplies matrices faster than Python.
            self._matrix = flint().fmpz_mat(self.columns.entries)
        places = {j: place for place, j in enumerate(self.ids)}
        known = set(self.edges)
        for j, sign in signed:
            row = (places[j], sign)
            if row not in known:
                self.edges.append(row)
                self.bounds.append((None, 0))
                known.add(row)

    def bits(self, k: int) -> int:
        """Return the base-2 logarithm of the scale of a row, rounded down, or 0 for a variable.

        The index k counts all variables first, and then the rows.
        """
        if k < self.size:
            return 0
        row = k - self.size
        if row < self.fixed:
            return self.factors[row].bit_length() - 1
        return self.columns.shifts[self.edges[row - self.fixed][0]]

    def coefficients(self, row: int, variables: Sequence[int]) -> list[int]:
        """Return the coefficients of some variables in a row."""
        if row < self.fixed:
            sparse = self.rows[row]
            return [sparse.get(j, 0) for j in variables]
        place, sign = self.edges[row - self.fixed]
        column = self.columns.entries[place]
        # The row ± a_j·d <= v is multiplied by the denominator of the column.
        rest = {self.v: -(1 << self.columns.shifts[place])}
        return [sign * column[j] if j < self.m else rest.get(j, 0) for j in variables]

    def times(self, x: Sequence[Integer]) -> list[Integer]:
        """Return the value of each row at the point `x`."""
        out = [sum((a * x[j] for j, a in row.items()), 0) for row in self.rows]
        if not self.edges:
            return out
        edges = (self._matrix * flint().fmpz_mat([[t] for t in x[: self.m]])).entries()
        v = x[self.v]
        shifts = self.columns.shifts
        return out + [sign * edges[place] - (v << shifts[place]) for place, sign in self.edges]

    def transposed(self, y: Sequence[Integer]) -> list[Integer]:
        """Return the sum of all rows, weighted by the multipliers `y`, as an entry for each
        variable."""
        out: list[Integer] = [0] * self.size
        if self.edges:
            total: list[Integer] = [0] * len(self.ids)
            shifts = self.columns.shifts
            for (place, sign), t in zip(self.edges, y[self.fixed :], strict=True):
                total[place] += sign * t
                out[self.v] -= t << shifts[place]
            product = flint().fmpz_mat([total]) * self._matrix
            out[: self.m] = product.entries()
        for row, t in zip(self.rows, y[: self.fixed], strict=True):
            if t:
                for j, a in row.items():
                    out[j] += a * t
        return out


def _checked_domain(game: Game) -> AtomicSet:
    check_game(game, "exact optima need")
    if not isinstance(game.over, AtomicSet):
        raise InputError(
            f"the optimum over {game.over!r} need not be a fraction. Use over=L1Ball(radius), "
            "Simplex(radius) or FullSimplex(radius), or bracket the optimum with "
            "reference(game) or solve(game)"
        )
    # A weak learner with slack may miss the largest edge, so it proves no upper bound.
    if game.n is None or game.matrix.slack > 0.0:
        raise InputError(
            f"exact optima need every column, but {game.matrix!r} does not enumerate its columns. "
            "Bracket the optimum with solve(game)"
        )
    return game.over


def on_simplex(form: ExactForm, m: int) -> ExactForm:
    """Return the linear program `form` with d >= 0, and with sum(d) = 1 as an added first row."""
    zero = Fraction(0)
    one = Fraction(1)
    # The program of f holds for d >= 0 only, and it need not contain this constraint.
    inside: list[Bound] = [zero if b is None else max(b, zero) for b in form.lower[:m]]
    return form._replace(
        lower=inside + form.lower[m:],
        rows=[dict.fromkeys(range(m), one), *form.rows],
        row_lower=[one, *form.row_lower],
        row_upper=[one, *form.row_upper],
    )


def _with_value(form: ExactForm, m: int, over: AtomicSet) -> ExactForm:
    # The variable v is an upper bound on all edges.
    form = on_simplex(form, m)
    # The largest absolute edge is never negative. The largest edge may be, unless w = 0 is allowed.
    least: Bound = Fraction(0) if over.holds_zero else None
    return form._replace(
        cost=[*form.cost, over.size], lower=[*form.lower, least], upper=[*form.upper, None]
    )


def _form(game: Game) -> ExactForm:
    f = game.relaxation
    form = description_of(f).exact_form(game.m)
    if form is not None:
        return form
    # f is polyhedral, but its data are known as doubles only.
    if game.linear_form is not None:
        raise InputError(
            f"{brief(f)} has a linear program only in floats. Define a method exact_form(m) that "
            "returns a relaxboost.relaxations.ExactForm"
        )
    # Each operand is polyhedral, so the transformation of one of them is the reason.
    if operands_of(f) and all(part.traits.polyhedral for part in operands_of(f)):
        raise InputError(
            f"{brief(f)} evaluates the relaxation f outside of d >= 0, but the linear program of f "
            "is valid only for d >= 0. Use f.shifted(d0) with d0 >= 0 and f.scaled(c) with c > 0, "
            "or bracket the optimum with reference(game) or solve(game)"
        )
    raise InputError(
        f"{brief(f)} is not polyhedral, so the optimum need not be a fraction. Bracket it with "
        "reference(game) or solve(game)"
    )


def _scaled(bounds: Sequence[Bound], factors: Sequence[int]) -> list[Bound]:
    return [None if b is None else b * k for b, k in zip(bounds, factors, strict=True)]


def _whole(bounds: Sequence[Bound], unit: int) -> list[int | None]:
    return [None if b is None else int(b * unit) for b in bounds]
