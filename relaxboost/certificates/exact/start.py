"""A first basis from HiGHS, by column generation in floating point; nothing in it is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relaxboost._core.arrays import Vector
from relaxboost._core.highs import WarmProgram
from relaxboost._core.loop import Clock
from relaxboost.certificates.exact.program import ExactProgram
from relaxboost.certificates.exact.simplex import BASIC, FREE, LOWER, UPPER
from relaxboost.matrices.bulk import varied
from relaxboost.relaxations.linear import Bound

_ALL_COLUMNS = 600_000
"""Entries up to which HiGHS gets all columns at once; beyond, they are priced in."""
_FIRST, _MORE = 100, 100
_ROUNDS = 200
"""Rounds of pricing after which the rest is left to the exact method."""


class Start(NamedTuple):
    """A basis of a program, and the floating-point pair that goes with it."""

    signed: list[tuple[int, int]]
    """(column, sign) of the rows that are tight."""
    status: list[int]
    """Of the variables, the rows of f, and the rows `signed`."""
    d: Vector | None
    support: NDArray[np.int64]
    coefficients: Vector


def first_basis(program: ExactProgram, seconds: float) -> Start:
    """Return the optimal basis that HiGHS finds within `seconds`, or the trivial one.

    The program is the one without columns; only those that are tight are in what is returned.
    """
    game, n = program.game, program.game.n
    assert n is not None
    master = _Master(program, seconds)
    edges = game.matrix.edges(game.relaxation.center(game.m))
    worth = np.abs(edges) if program.two_sided else edges
    order = np.argsort(-worth, kind="stable")
    if game.m * n > _ALL_COLUMNS:
        order = varied(order[: 10 * _FIRST], _FIRST)
    # One sign of each: with both, HiGHS takes up to six times as long.
    master.add((j, master.sign(edges[j])) for j in order.tolist())
    for _ in range(_ROUNDS):
        if not master.run():
            break
        d, v = master.point()
        edges = game.matrix.edges(d)
        worth = np.abs(edges) if program.two_sided else edges
        beyond = np.flatnonzero(worth > v + 1e-9)
        new = [
            pair
            for j in varied(beyond[np.argsort(-worth[beyond], kind="stable")], _MORE).tolist()
            if (pair := (j, master.sign(edges[j]))) not in master.known
        ]
        if not new:
            break
        master.add(new)
    return master.basis()


class _Master:
    """The program in doubles, kept warm in HiGHS."""

    def __init__(self, program: ExactProgram, seconds: float) -> None:
        self._program, self._clock = program, Clock(max(seconds, 0.1))
        self._signed: list[tuple[int, int]] = []
        self.known: set[tuple[int, int]] = set()
        self.signs = (1, -1) if program.two_sided else (1,)
        self._solved = False
        form, m = program.form, program.m
        lower: list[Bound] = [
            Fraction(0) if b is None else max(b, Fraction(0)) for b in form.lower[:m]
        ]
        lower += [*form.lower[m:], program.floor]
        rows = [dict.fromkeys(range(m), Fraction(1)), *form.rows]
        table = sparse.csr_array(
            (
                _doubles([x for row in rows for x in row.values()], np.inf),
                np.array([j for row in rows for j in row], dtype=np.int32),
                np.cumsum([0, *map(len, rows)]).astype(np.int32),
            ),
            shape=(program.fixed, program.size),
        )
        self._doubled = WarmProgram(
            _doubles([*form.cost, program.radius], np.inf),
            (_doubles(lower, -np.inf), _doubles([*form.upper, None], np.inf)),
            table,
            (
                np.append(1.0, _doubles(form.row_lower, -np.inf)),
                np.append(1.0, _doubles(form.row_upper, np.inf)),
            ),
            tolerance=1e-9,
        )
        self._highs = self._doubled.highs

    def sign(self, edge: float) -> int:
        """Return the sign of the row that bounds this edge."""
        return -1 if edge < 0.0 and len(self.signs) == 2 else 1

    def add(self, signed: Any) -> None:
        """Add the rows of signed columns."""
        for j, sign in signed:
            column = self._program.game.matrix.column(j)
            self._doubled.add(sign * column.astype(np.float64)[:, None], self._program.v)
            self._signed.append((j, sign))
            self.known.add((j, sign))

    def run(self) -> bool:
        """Solve, and return whether HiGHS calls the result optimal."""
        self._solved = self._doubled.run(self._clock.left) == "Optimal"
        return self._solved

    def point(self) -> tuple[Vector, float]:
        """Return (d, v)."""
        values = np.array(self._highs.getSolution().col_value)
        return np.maximum(values[: self._program.m], 0.0), float(values[self._program.v])

    def basis(self) -> Start:
        """Return the basis, without the rows of columns that are not tight in it."""
        program, basis = self._program, self._highs.getBasis()
        if not basis.valid:
            status = [LOWER] * program.size + [BASIC] * program.fixed
            return Start([], status, None, np.empty(0, dtype=np.int64), np.empty(0))
        import highspy

        kinds = highspy.HighsBasisStatus
        known = {kinds.kBasic: BASIC, kinds.kUpper: UPPER, kinds.kZero: FREE}
        rows = [known.get(s, LOWER) for s in basis.row_status]
        status = [known.get(s, LOWER) for s in basis.col_status] + rows[: program.fixed]
        tight = [e for e, s in enumerate(rows[program.fixed :]) if s != BASIC]
        signed = [self._signed[e] for e in tight]
        status += [UPPER] * len(signed)
        if not self._solved:
            return Start(signed, status, None, np.empty(0, dtype=np.int64), np.empty(0))
        duals = np.array(self._highs.getSolution().row_dual)[program.fixed :]
        weights = np.array([-duals[e] * s for e, (_, s) in zip(tight, signed, strict=True)])
        support = np.array([j for j, _ in signed], dtype=np.int64)
        return Start(signed, status, self.point()[0], support, weights)


def _doubles(numbers: Sequence[Bound], none: float) -> Vector:
    """Return the nearest doubles; what is beyond 1e20 is no bound to HiGHS."""
    most = Fraction(10**19)
    return np.array([none if x is None else float(max(-most, min(x, most))) for x in numbers])
