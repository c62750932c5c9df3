"""The restricted linear program of column generation, kept warm in HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relaxboost.errors import InputError
from relaxboost.outer import AtomicSet
from relaxboost.relaxations import LinearForm

Vector = NDArray[np.float64]


class ProgramError(Exception):
    """HiGHS gave up on a restricted program."""


class RestrictedMaster:
    """min f(d) + r v over the simplex, with <column, d> <= v for the columns added so far.

    This is Eq. 13 of SS09 for β -> 0: the multipliers of the rows are the weights w, which sum to
    r, the size of the atoms of the outer set; where w = 0 is in it, v is at least zero, and they
    sum to at most r. A new column is one new row, after which the old
    basis is dual feasible and a few dual simplex pivots restore optimality.
    """

    def __init__(self, form: LinearForm, m: int, over: AtomicSet) -> None:
        import highspy

        self._m = m
        self._columns = form.cost.size + 1
        self._edge = form.cost.size
        infinity = highspy.kHighsInf
        model = highspy.HighsLp()
        model.num_col_ = self._columns
        model.col_cost_ = np.append(form.cost, over.scale)
        least = 0.0 if over.holds_zero else -infinity
        model.col_lower_ = np.append(form.lower, least)
        model.col_upper_ = np.append(form.upper, infinity)
        simplex_row = sparse.csr_array((np.ones(m), ([0] * m, range(m))), (1, self._columns))
        table, low, high = simplex_row, np.ones(1), np.ones(1)
        if form.rows is not None:
            rows = sparse.csr_array(form.rows)
            rows.resize(rows.shape[0], self._columns)
            table = sparse.vstack([table, rows], format="csr")
            low = np.concatenate([low, form.row_lower])
            high = np.concatenate([high, form.row_upper])
        model.num_row_ = self._fixed = table.shape[0]
        model.row_lower_, model.row_upper_ = low, high
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = table.indptr
        model.a_matrix_.index_ = table.indices
        model.a_matrix_.value_ = table.data
        self._highs = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
            "small_matrix_value": 1e-12,  # by default entries below 1e-9 are dropped
        }
        for name, value in options.items():
            self._highs.setOptionValue(name, value)
        self._highs.passModel(model)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._infinity = infinity
        self._error = highspy.HighsStatus.kError

    def add(self, column: NDArray[Any]) -> None:
        """Add the row <column, d> <= v."""
        index = np.flatnonzero(column)
        value = np.append(column[index].astype(np.float64), -1.0)
        index = np.append(index, self._edge).astype(np.int32)
        status = self._highs.addRow(-self._infinity, 0.0, index.size, index, value)
        if status == self._error:
            raise ProgramError("HiGHS refused a column")

    def solve(self) -> tuple[Vector, Vector]:
        """Return (d, weights): the optimal distribution and one multiplier >= 0 for each row added.

        Raises
        ------
        InputError
            If the relaxation leaves no distribution.
        ProgramError
            If HiGHS gives up.
        """
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            self._highs.clearSolver()  # once more, without the old basis
            self._highs.run()
        status = self._highs.getModelStatus()
        if status != self._optimal:
            name = self._highs.modelStatusToString(status)
            if "nfeasible" in name:
                raise InputError("the relaxation is infinite on the whole simplex")
            raise ProgramError(f"HiGHS ended with status {name} on the restricted problem")
        solution = self._highs.getSolution()
        d = np.maximum(np.array(solution.col_value)[: self._m], 0.0)
        weights = np.maximum(-np.array(solution.row_dual)[self._fixed :], 0.0)
        return d / d.sum(), weights
