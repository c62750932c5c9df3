"""The game as a linear program in integers, on the columns that count so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.certificates.exact.integers import Columns, flint, integer_columns
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.relaxations.base import operands_of
from relaxboost.relaxations.description import description_of
from relaxboost.relaxations.linear import Bound, ExactForm

Integer = Any
"""A Python integer or one of python-flint; they mix."""


class ExactProgram:
    """min f(d) + r v over the simplex with ± <a_j, d> <= v for the columns added, in integers.

    The variables are (d, z, v) times `unit`, the common denominator of all bounds, and every row is
    multiplied by what makes it integral. The rows are that of the simplex, those of f and, from
    `fixed` on, one for each signed column. A bound is None where there is none.

    Parameters
    ----------
    game : Game
        Its f polyhedral, over an l1 ball or a simplex, with its columns enumerated.
    form : ExactForm, optional
        In place of that of its f.

    Raises
    ------
    InputError
        For any other game.
    """

    def __init__(self, game: Game, form: ExactForm | None = None) -> None:
        _check(game)
        self.game, self.m = game, game.m
        self.form = form = _form(game) if form is None else form
        over = game.over
        assert isinstance(over, AtomicSet)
        self.two_sided, self.radius = over.two_sided, over.size
        self.v = len(form.cost)
        self.size = self.v + 1
        cost = [*form.cost, self.radius]
        self.cost_unit = lcm(*(c.denominator for c in cost))
        self.cost = _times(cost, self.cost_unit)
        zero = Fraction(0)
        lower: list[Bound] = [zero if b is None else max(b, zero) for b in form.lower[: self.m]]
        # The largest absolute edge is never negative; the largest edge may be, unless w = 0 is in.
        self.floor: Bound = zero if over.holds_zero else None
        lower += [*form.lower[self.m :], self.floor]
        upper: list[Bound] = [*form.upper, None]
        one = Fraction(1)
        rows = [dict.fromkeys(range(self.m), one), *form.rows]
        self.factors = factors = [lcm(*(x.denominator for x in row.values()), 1) for row in rows]
        self.rows = [
            {j: int(x * k) for j, x in row.items() if x}
            for row, k in zip(rows, factors, strict=True)
        ]
        row_lower = _scaled([one, *form.row_lower], factors)
        row_upper = _scaled([one, *form.row_upper], factors)
        everything = [*lower, *upper, *row_lower, *row_upper]
        self.unit = lcm(*(b.denominator for b in everything if b is not None))
        self.low, self.high = _whole(lower, self.unit), _whole(upper, self.unit)
        self.row_low, self.row_high = _whole(row_lower, self.unit), _whole(row_upper, self.unit)
        self.fixed = len(self.rows)
        """How many rows are not columns of A; they are `factors` times what the form says."""
        self.columns = Columns([], [])
        self.ids: list[int] = []
        """The columns in `columns`."""
        self.edges: list[tuple[int, int]] = []
        """(place in `columns`, sign) of each row from `fixed` on."""
        self._place: dict[int, int] = {}
        self._matrix: Any = None

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.fixed + len(self.edges)

    def add(self, signed: Iterable[tuple[int, int]]) -> None:
        """Add a row for each (column, sign) that has none yet."""
        signed = list(signed)
        new = sorted({j for j, _ in signed} - self._place.keys())
        if new:
            entries, shifts = integer_columns(self.game.matrix, new)
            for j in new:
                self._place[j] = len(self._place)
            self.ids += new
            self.columns.entries.extend(entries)
            self.columns.shifts.extend(shifts)
            self._matrix = flint().fmpz_mat(self.columns.entries)
        known = set(self.edges)
        for j, sign in signed:
            row = (self._place[j], sign)
            if row not in known:
                self.edges.append(row)
                self.row_low.append(None)
                self.row_high.append(0)
                known.add(row)

    def bits(self, k: int) -> int:
        """Return the log2 of what row k − size was multiplied by, about; 0 for a variable."""
        if k < self.size:
            return 0
        row = k - self.size
        if row < self.fixed:
            return self.factors[row].bit_length() - 1
        return self.columns.shifts[self.edges[row - self.fixed][0]]

    def coefficients(self, row: int, variables: Sequence[int]) -> list[int]:
        """Return a row at some variables."""
        if row < self.fixed:
            sparse = self.rows[row]
            return [sparse.get(j, 0) for j in variables]
        place, sign = self.edges[row - self.fixed]
        column = self.columns.entries[place]
        rest = {self.v: -(1 << self.columns.shifts[place])}
        return [sign * column[j] if j < self.m else rest.get(j, 0) for j in variables]

    def times(self, x: Sequence[Integer]) -> list[Integer]:
        """Return every row at the point `x`."""
        out = [sum((a * x[j] for j, a in row.items()), 0) for row in self.rows]
        if not self.edges:
            return out
        at = (self._matrix * flint().fmpz_mat([[t] for t in x[: self.m]])).entries()
        v, shifts = x[self.v], self.columns.shifts
        return out + [sign * at[place] - (v << shifts[place]) for place, sign in self.edges]

    def transposed(self, y: Sequence[Integer]) -> list[Integer]:
        """Return the combination of the rows with multipliers `y`, one number for each variable."""
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


def _check(game: Game) -> None:
    """Raise an InputError unless the game is a linear program with rational data."""
    if not isinstance(game, Game):
        raise InputError(f"exact optima need a Game, got {type(game).__name__}; write Game(A, f)")
    if not isinstance(game.over, AtomicSet):
        raise InputError(
            f"the optimum over {game.over!r} need not be a fraction; play over L1Ball(radius), "
            "Simplex(radius) or FullSimplex(radius), or bracket it with reference(game) or "
            "solve(game)"
        )
    if game.n is None or game.matrix.slack > 0.0:
        raise InputError(
            f"exact optima need every column, and {game.matrix!r} does not enumerate them; "
            "bracket the optimum with solve(game)"
        )


def _form(game: Game) -> ExactForm:
    """Return the linear program of f; raises an InputError that says why there is none."""
    f = game.relaxation
    form = description_of(f).exact_form(game.m)
    if form is not None:
        return form
    if game.linear_form is not None:
        raise InputError(
            f"{f!r} gives its linear program in doubles only; give it a method exact_form(m) that "
            "returns a relaxboost.relaxations.ExactForm"
        )
    if operands_of(f) and all(part.traits.polyhedral for part in operands_of(f)):
        raise InputError(
            f"{f!r} leaves d >= 0, where the linear program of f holds; use f.shifted(d0) with "
            "d0 >= 0 and f.scaled(c) with c > 0, or bracket the optimum with reference(game) or "
            "solve(game)"
        )
    raise InputError(
        f"{f!r} is not polyhedral, so its optimum need not be a fraction; bracket it with "
        "reference(game) or solve(game)"
    )


def _times(numbers: Sequence[Fraction], k: int) -> list[int]:
    return [int(x * k) for x in numbers]


def _scaled(bounds: Sequence[Bound], factors: Sequence[int]) -> list[Bound]:
    return [None if b is None else b * k for b, k in zip(bounds, factors, strict=True)]


def _whole(bounds: Sequence[Bound], unit: int) -> list[int | None]:
    return [None if b is None else int(b * unit) for b in bounds]
