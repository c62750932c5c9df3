"""A first basis for the exact simplex method, from column generation with HiGHS in floats.

No proof depends on this basis.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.highs import WarmProgram
from relaxboost._core.loop import Clock
from relaxboost.certificates.exact.program import ExactProgram
from relaxboost.certificates.exact.simplex import BASIC, FREE, LOWER, UPPER
from relaxboost.matrices.bulk import varied

MAX_ENTRIES_AT_ONCE = 600_000
"""The maximum number of entries of a margin matrix that HiGHS gets as a whole at the start. For
larger matrices, columns are added in rounds."""
BATCH_COLUMNS = 100
"""The number of columns added in a round of column generation."""


class Start(NamedTuple):
    """A first basis of the exact simplex method, with its pair (d, w) in floats."""

    signed: list[tuple[int, int]]
    """The tight rows of the basis that belong to columns, as pairs (column, sign)."""
    status: list[int]
    """The basis status of each variable, then of each row of f, and then of each row in
    `signed`."""
    d: Vector | None
    support: NDArray[np.int64]
    coefficients: Vector


def first_basis(program: ExactProgram, seconds: float) -> Start:
    """Find a first basis by column generation with HiGHS.

    If HiGHS finds no basis within `seconds` seconds, return the trivial basis.
    """
    # HiGHS gets all columns of a small A at once. Otherwise it starts with a batch of columns, and
    # each round adds another batch of columns whose edges exceed v.
    game = program.game
    n = game.n
    assert n is not None
    master = _Master(program, seconds)
    edges = game.matrix.edges(game.relaxation.center(game.m))
    worth = np.abs(edges) if program.two_sided else edges
    order = np.argsort(-worth, kind="stable")
    if game.m * n > MAX_ENTRIES_AT_ONCE:
        order = varied(order[: 10 * BATCH_COLUMNS], BATCH_COLUMNS)
    # Each column starts with one sign: with both signs HiGHS takes up to six times as long.
    master.add((j, master.sign(edges[j])) for j in order.tolist())
    # After 200 rounds, the exact simplex method adds the remaining columns.
    for _ in range(200):
        if not master.run():
            break
        d, v = master.point()
        edges = game.matrix.edges(d)
        worth = np.abs(edges) if program.two_sided else edges
        # This is the tolerance of HiGHS. Smaller violations are left to the exact method.
        beyond = np.flatnonzero(worth > v + 1e-9)
        order = varied(beyond[np.argsort(-worth[beyond], kind="stable")], BATCH_COLUMNS)
        pairs = [(j, master.sign(edges[j])) for j in order.tolist()]
        new = [pair for pair in pairs if pair not in master.signed]
        if not new:
            break
        master.add(new)
    return master.basis()


class _Master:
    """The restricted master problem in floats, with rows for some columns of the margin matrix.

    When rows are added, HiGHS continues from its last basis.
    """

    def __init__(self, program: ExactProgram, seconds: float) -> None:
        self._program = program
        self._clock = Clock(max(seconds, 0.1))
        self.signed: dict[tuple[int, int], None] = {}
        """The rows that belong to columns, in order, as pairs (column, sign)."""
        self._is_solved = False
        # A constant changes no basis, and HiGHS has no place for it here.
        form = program.form._replace(constant=Fraction(0)).doubles()
        self._doubled = WarmProgram(
            form.cost,
            (form.lower, form.upper),
            form.rows,
            (form.row_lower, form.row_upper),
            tolerance=1e-9,
        )
        self._highs = self._doubled.highs

    def sign(self, edge: float) -> int:
        """Return the sign of the row that bounds the absolute value of an edge."""
        return -1 if edge < 0.0 and self._program.two_sided else 1

    def add(self, signed: Iterable[tuple[int, int]]) -> None:
        """Add a row for each pair (column, sign)."""
        for j, sign in signed:
            column = self._program.game.matrix.column(j)
            # The row is the inequality sign · a_j·d − v <= 0.
            self._doubled.add(sign * column.astype(np.float64)[:, None], self._program.v)
            self.signed[j, sign] = None

    def run(self) -> bool:
        """Solve the linear program, and return whether an optimum was found."""
        self._is_solved = self._doubled.run(self._clock.left) == "Optimal"
        return self._is_solved

    def point(self) -> tuple[Vector, float]:
        """Return the distribution d and the bound v on its edges from the last solution."""
        values = np.array(self._highs.getSolution().col_value)
        # HiGHS may return entries slightly below 0.
        return np.maximum(values[: self._program.m], 0.0), float(values[self._program.v])

    def basis(self) -> Start:
        """Return the basis that HiGHS has found, without the basic rows that belong to columns."""
        import highspy

        program = self._program
        basis = self._highs.getBasis()
        # The trivial basis is always available, but exact pivots from there take much longer.
        if not basis.valid:
            status = [LOWER] * program.size + [BASIC] * program.fixed
            return Start([], status, None, np.empty(0, dtype=np.int64), np.empty(0))
        kinds = highspy.HighsBasisStatus
        known = {kinds.kBasic: BASIC, kinds.kUpper: UPPER, kinds.kZero: FREE}
        rows = [known.get(s, LOWER) for s in basis.row_status]
        status = [known.get(s, LOWER) for s in basis.col_status] + rows[: program.fixed]
        tight = [e for e, s in enumerate(rows[program.fixed :]) if s != BASIC]
        columns = list(self.signed)
        signed = [columns[e] for e in tight]
        status += [UPPER] * len(signed)
        if not self._is_solved:
            return Start(signed, status, None, np.empty(0, dtype=np.int64), np.empty(0))
        # The multipliers of the rows of columns are the weights w, up to the sign.
        duals = np.array(self._highs.getSolution().row_dual)[program.fixed :]
        weights = np.array([-duals[e] * s for e, (_, s) in zip(tight, signed, strict=True)])
        support = np.array([j for j, _ in signed], dtype=np.int64)
        return Start(signed, status, self.point()[0], support, weights)
