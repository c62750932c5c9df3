"""The restricted master of column generation: a linear program with some columns of the game."""

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
    """HiGHS cannot solve the restricted master."""


class RestrictedMaster:
    """The restricted master of column generation, a linear program solved by HiGHS.

    The program minimises f(d) + r v over distributions d and numbers v, subject to <column, d> <= v
    for each of its columns. f is a polyhedral relaxation, and r is the size of the atoms of the
    domain, such as the radius of an l1 ball. The program is Eq. 13 of Shalev-Shwartz & Singer
    (2009) for β → 0. The multipliers of the constraints are the weights w of the columns, which sum
    to r. If the domain contains w = 0, the program also requires v >= 0, and the weights sum to at
    most r.

    A new column adds a constraint, and the old basis stays dual feasible, so a few dual simplex
    pivots lead to the new optimum.

    Parameters
    ----------
    form : LinearForm
        The linear program whose optimal value is f(d).
    m : int
        The number of examples.
    over : AtomicSet
        The domain of w, a set with atoms such as an l1 ball.
    """

    def __init__(self, form: LinearForm, m: int, over: AtomicSet) -> None:
        self._m = m
        # The variables are d, the auxiliary variables of f, and v, whose index is `_edge`.
        self._edge = form.cost.size
        variables = self._edge + 1
        table = sparse.csr_array((np.ones(m), ([0] * m, range(m))), (1, variables))
        row_lower = np.ones(1)
        row_upper = np.ones(1)
        if form.rows is not None:
            rows = sparse.csr_array(form.rows)
            rows.resize(rows.shape[0], variables)
            table = sparse.vstack([table, rows], format="csr")
            row_lower = np.append(row_lower, form.row_lower)
            row_upper = np.append(row_upper, form.row_upper)
        least_v = 0.0 if over.holds_zero else -math.inf
        self._program = WarmProgram(
            np.append(form.cost, over.scale),
            (np.append(form.lower, least_v), np.append(form.upper, math.inf)),
            table,
            (row_lower, row_upper),
            # The smallest tolerance that HiGHS accepts.
            tolerance=1e-10,
        )

    def add(self, columns: NDArray[Any]) -> None:
        """Add the constraint <column, d> <= v for each column of the array.

        Raise a ProgramError if HiGHS rejects a column.
        """
        if not self._program.add(columns, self._edge):
            raise ProgramError("HiGHS rejected a column of the restricted linear program")

    def basis(self, keys: list[tuple[int, int]]) -> Basis:
        """Return the simplex basis, with only the columns of active constraints.

        `keys` contains the index and the sign of each column of the program, in order.
        """
        # Columns without an active constraint have no weight. They would accumulate if each run
        # started from the basis of the previous one.
        sides = self._program.sides()
        # An interrupted program has no basis.
        if not sides:
            return Basis(tuple(keys))
        # The letters of the variables and fixed rows come first, then a letter for each column. The
        # letter B means basic, and the row of an inactive constraint is basic.
        head = sides[: -len(keys)]
        tail = zip(keys, sides[-len(keys) :], strict=True)
        active = [(key, side) for key, side in tail if side != "B"]
        return Basis(tuple(key for key, _ in active), head + "".join(side for _, side in active))

    def go_on(self, basis: Basis, keys: list[tuple[int, int]]) -> None:
        """Start from the basis of another restricted master.

        A basis for another number of variables, or of rows that do not belong to columns, is
        ignored. `keys` contains the index and the sign of each column of this program, in order.
        """
        head = basis.sides[: -len(basis.columns)]
        if len(head) != self._edge + 1 + self._program.fixed:
            return
        # The constraint of a new column is not active yet, so the row of this constraint is basic.
        tail = dict(zip(basis.columns, basis.sides[len(head) :], strict=True))
        self._program.go_on(head + "".join(tail.get(key, "B") for key in keys))

    def solve(self, clock: Clock) -> tuple[Vector, Vector]:
        """Return the optimal distribution d and the optimal column weights.

        The weights are the multipliers >= 0 of the constraints <column, d> <= v.

        Raises
        ------
        InputError
            If the relaxation f is infinite at every distribution.
        ProgramError
            If HiGHS cannot solve the program.
        TimeUp
            If the time limit passes first.
        """
        status = self._program.run(clock.left)
        if status == "Time limit reached":
            raise TimeUp
        # HiGHS has several status texts for infeasible programs.
        if "nfeasible" in status:
            raise InputError(
                "the relaxation f is infinite at every distribution; use a relaxation that is "
                "finite at some distribution"
            )
        if status != "Optimal":
            raise ProgramError(f"HiGHS ended with status {status} on the restricted linear program")
        solution = self._program.highs.getSolution()
        # Bounds hold up to the tolerance of HiGHS, so negative entries are cut off.
        d = np.maximum(np.array(solution.col_value)[: self._m], 0.0)
        weights = np.maximum(-np.array(solution.row_dual)[self._program.fixed :], 0.0)
        return d / d.sum(), weights
