"""The restricted linear program of column generation, kept warm in HiGHS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.highs import WarmProgram
from relaxboost._core.loop import Clock, TimeUp
from relaxboost.game.domains import AtomicSet
from relaxboost.game.solution import Basis
from relaxboost.relaxations import LinearForm


class ProgramError(Exception):
    """HiGHS gave up on a restricted program."""


class RestrictedMaster:
    """min f(d) + r v over the simplex, with <column, d> <= v for the columns added so far.

    This is Eq. 13 of SS09 for β -> 0: the multipliers of the rows are the weights w, which sum to
    r, the size of the atoms of the domain; where w = 0 is in it, v is at least zero, and they
    sum to at most r. A new column is one new row, after which the old
    basis is dual feasible and a few dual simplex pivots restore optimality.
    """

    def __init__(self, form: LinearForm, m: int, over: AtomicSet) -> None:
        self._m = m
        self._edge = form.cost.size
        self._over = over
        table = sparse.csr_array((np.ones(m), ([0] * m, range(m))), (1, self._edge + 1))
        low, high = np.ones(1), np.ones(1)
        if form.rows is not None:
            rows = sparse.csr_array(form.rows)
            rows.resize(rows.shape[0], self._edge + 1)
            table = sparse.vstack([table, rows], format="csr")
            low = np.concatenate([low, form.row_lower])
            high = np.concatenate([high, form.row_upper])
        self._program = WarmProgram(
            *self._data(form),
            table,
            (low, high),
            tolerance=1e-10,
        )

    def _data(self, form: LinearForm) -> tuple[Vector, tuple[Vector, Vector]]:
        """Return the cost and the bounds of (d, z, v)."""
        lower = np.append(form.lower, 0.0 if self._over.holds_zero else -math.inf)
        return np.append(form.cost, self._over.scale), (lower, np.append(form.upper, math.inf))

    def add(self, columns: NDArray[Any]) -> None:
        """Add the row <column, d> <= v for each column of an array."""
        if not self._program.add(columns, self._edge):
            raise ProgramError("HiGHS refused a column")

    def basis(self, keys: list[tuple[int, int]]) -> Basis:
        """Return where the program stands, of the columns `keys` those that matter.

        All that are not basic stay, and a third as many others, the last that came in: each costs
        time, and a program that goes on again and again would keep all that were ever of use.
        """
        sides = self._program.sides()
        if not sides:
            return Basis(tuple(keys))
        head, tail = sides[: -len(keys)], sides[-len(keys) :]
        loose = [place for place, side in enumerate(tail) if side == "B"]
        gone = set(loose[: max(0, len(loose) - (len(keys) - len(loose)) // 3)])
        stay = [place for place in range(len(keys)) if place not in gone]
        return Basis(tuple(keys[p] for p in stay), head + "".join(tail[p] for p in stay))

    def go_on(self, basis: Basis, keys: list[tuple[int, int]]) -> None:
        """Start where another program of the same form stood, `keys` being the columns here."""
        head = basis.sides[: -len(basis.columns)]
        if len(head) != self._edge + 1 + self._program.fixed:
            return
        tail = dict(zip(basis.columns, basis.sides[len(head) :], strict=True))
        self._program.go_on(head + "".join(tail.get(key, "B") for key in keys))

    def solve(self, clock: Clock) -> tuple[Vector, Vector]:
        """Return (d, weights): the optimal distribution and one multiplier >= 0 for each row added.

        Raises
        ------
        InputError
            If the relaxation leaves no distribution.
        ProgramError
            If HiGHS gives up.
        TimeUp
            If the clock runs out before.
        """
        status = self._program.run(clock.left)
        if status == "Time limit reached":
            raise TimeUp
        if status != "Optimal":
            if "nfeasible" in status:
                raise InputError("the relaxation is infinite on the whole simplex")
            raise ProgramError(f"HiGHS ended with status {status} on the restricted problem")
        solution = self._program.highs.getSolution()
        d = np.maximum(np.array(solution.col_value)[: self._m], 0.0)
        weights = np.maximum(-np.array(solution.row_dual)[self._program.fixed :], 0.0)
        return d / d.sum(), weights
