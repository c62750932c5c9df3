"""Calls to Clarabel through cvxpy with tight tolerances."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from relaxboost._core.lazy import cp
from relaxboost._core.loop import seconds_left

SOLVER_TOLERANCE = 1e-10
"""The requested tolerance of cone solvers, for the gap and for constraint violations.

Clarabel's default is 1e-8, and it rarely reaches a tolerance far below 1e-10.
"""
ACCURATE = {
    "tol_gap_abs": SOLVER_TOLERANCE,
    "tol_gap_rel": SOLVER_TOLERANCE,
    "tol_feas": SOLVER_TOLERANCE,
    "max_iter": 200,
}
POINT_ACCURACY = 1e-7
"""The accuracy of points and bounds from cone solvers, relative to numbers around 1.

A point closer than this to the boundary of a set does not count as an interior point. A bound
farther than this from the solver's optimum counts as loose.
"""
SOLVED = ("optimal", "optimal_inaccurate")


def solve_problem(problem: Any) -> tuple[str, float]:
    """Solve `problem` with Clarabel, and return cvxpy's status and the optimal value.

    Looser tolerances and safer settings are tried after a failure. If all fail, the result is
    ``("solver_error", nan)``. When the time limit of the run is over, `TimeUp` is raised.
    """
    for variable in problem.variables():
        # Otherwise cvxpy starts from old values, which fails for sum_largest.
        variable.value = None
    # cvxpy evaluates f at the point of the solver, where powers may overflow or have no value.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # cvxpy warns that solutions may be inaccurate, but the level already shows this.
        warnings.simplefilter("ignore", UserWarning)
        patient = ACCURATE | {"equilibrate_enable": False, "max_step_fraction": 0.9}
        for options in (ACCURATE, {}, patient):
            left = seconds_left()
            limit = {} if left == math.inf else {"time_limit": left}
            try:
                # With a warm start, the result would depend on earlier problems.
                problem.solve(solver="CLARABEL", warm_start=False, **options, **limit)
            except BaseException as error:
                if isinstance(error, cp.SolverError) or is_panic(error):
                    continue
                raise
            if limit:
                seconds_left()
            status = str(problem.status)
            value = float(problem.value)
            # The point of the solver may leave the domain of f by a rounding, where cvxpy finds
            # that entr(−1e-12) is −inf. The optimal value of the solver is finite.
            if status in SOLVED and not math.isfinite(value):
                value = float(problem.solution.opt_val)
            return status, value
    return "solver_error", math.nan


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a Clarabel panic, which does not derive from Exception."""
    return type(error).__name__ == "PanicException"


def solves(problem: Any) -> bool:
    """Solve the problem, and return whether Clarabel found an optimum."""
    return solve_problem(problem)[0] in SOLVED
