"""HiGHS runs in separate threads, which leave the caller's HiGHS scheduler unchanged.

The first program that HiGHS solves in a thread fixes the number of workers of this thread. A later
program with another number of workers fails with the status 'Not Set'. If each program has its own
thread, neither the package nor its user meets this error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

SIDES = "LBUZN"
"""The letters of the basis status of a variable or row, in the order of HiGHS's codes.

L means at the lower bound, B basic, U at the upper bound, Z free and at zero, and N nonbasic.
"""

P = ParamSpec("P")
T = TypeVar("T")


class OwnThread:
    """A thread that runs HiGHS calls one after another.

    It ends when this object is deleted.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="relaxboost-highs")

    def __call__(self, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        # Ctrl-C interrupts the wait for the result, but not the call.
        todo = partial(call, *args, **options)
        return self._pool.submit(copy_context().run, todo).result()


class WarmProgram:
    """A linear program to which constraints can be added between warm-started HiGHS runs.

    The program minimises <cost, x> subject to lower <= x <= upper and row_lower <= rows x <=
    row_upper. `bounds` is (lower, upper), `rows` is a sparse CSR array, and `row_bounds` is
    (row_lower, row_upper). Bounds may be infinite. `tolerance` is the primal and dual feasibility
    tolerance.
    """

    def __init__(
        self,
        cost: NDArray[np.float64],
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        rows: Any,
        row_bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        tolerance: float,
    ) -> None:
        import highspy

        self._highspy = highspy
        self.fixed = rows.shape[0]
        """The number of rows before the first call of `add`."""
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = rows.shape
        model.col_cost_ = cost
        model.col_lower_, model.col_upper_ = bounds
        model.row_lower_, model.row_upper_ = row_bounds
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = rows.indptr
        model.a_matrix_.index_ = rows.indices
        model.a_matrix_.value_ = rows.data
        self._thread = OwnThread()
        self._running = False
        self.highs = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            # By default HiGHS drops all entries below 1e-9.
            "small_matrix_value": 1e-12,
        }
        for name, value in options.items():
            self.highs.setOptionValue(name, value)
        self.highs.passModel(model)

    def add(self, columns: NDArray[Any], last: int) -> bool:
        """Add the constraint <a, x> <= x[last] for each column a of an array.

        The entries of a column belong to the first variables of the program. Return whether HiGHS
        accepts the constraints.
        """
        rows, index = np.nonzero(columns.T)
        count = columns.shape[1]
        ends = np.searchsorted(rows, np.arange(1, count + 1))
        value = np.insert(columns[index, rows].astype(np.float64), ends, -1.0)
        index = np.insert(index, ends, last).astype(np.int32)
        starts = np.append(0, ends[:-1] + np.arange(1, count)).astype(np.int32)
        status = self.highs.addRows(
            count, np.full(count, -math.inf), np.zeros(count), index.size, starts, index, value
        )
        return bool(status != self._highspy.HighsStatus.kError)

    def sides(self) -> str:
        """Return the basis as a letter of `SIDES` for each variable and row, or "".

        The result is "" if HiGHS has no basis.
        """
        # HiGHS may still run, because Ctrl-C ends the wait for HiGHS, but not its run.
        if self._running:
            return ""
        basis = self.highs.getBasis()
        if not basis.valid:
            return ""
        return "".join([SIDES[int(s)] for s in (*basis.col_status, *basis.row_status)])

    def go_on(self, sides: str) -> None:
        """Set the starting basis of the next HiGHS run.

        `sides` is a result of the method `sides`. HiGHS repairs a singular basis.
        """
        kinds = self._highspy.HighsBasisStatus
        known = dict(zip(SIDES, map(kinds, range(len(SIDES))), strict=True))
        basis = self._highspy.HighsBasis()
        count = self.highs.getNumCol()
        basis.col_status = [known[s] for s in sides[:count]]
        basis.row_status = [known[s] for s in sides[count:]]
        basis.valid = basis.alien = True
        self.highs.setBasis(basis)

    def run(self, seconds: float = math.inf, pivots: float = math.inf) -> str:
        """Solve the linear program from its last basis, and return the HiGHS status.

        If HiGHS fails, it is restarted without a basis. The status is "Time limit reached" after
        `seconds` seconds and "Iteration limit reached" after `pivots` pivots.
        """
        known = self._highspy.HighsModelStatus
        self.highs.setOptionValue("simplex_iteration_limit", int(min(pivots, 2**31 - 1)))
        # The time limit of HiGHS counts from its first run on.
        ends = self.highs.getRunTime() + seconds
        self.highs.setOptionValue("time_limit", ends)
        self._run()
        ended = (known.kOptimal, known.kTimeLimit, known.kIterationLimit)
        if self.highs.getModelStatus() not in ended:
            self.highs.clearSolver()
            self._run()
        return str(self.highs.modelStatusToString(self.highs.getModelStatus()))

    def _run(self) -> None:
        self._running = True
        self._thread(self.highs.run)
        self._running = False
