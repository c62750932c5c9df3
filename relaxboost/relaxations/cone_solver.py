"""Clarabel through cvxpy, as accurate as it gets."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from relaxboost._core.lazy import cp
from relaxboost._core.loop import seconds_left

_ACCURATE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 200}
SOLVED = ("optimal", "optimal_inaccurate")


def solve_problem(problem: Any) -> tuple[str, float]:
    """Solve with Clarabel, and with its default settings where the tight ones are out of reach.

    Where both fail it is asked once more, unscaled. All take as long as `until` allows; then
    `TimeUp` is raised.

    Returns the status in cvxpy's words and the optimum; ``("solver_error", nan)`` where all
    attempts fail. The optimum is the solver's own where its point is outside the domain of the
    objective by a rounding: cvxpy evaluates there, and entr(−1e-12), say, is −inf.
    """
    for variable in problem.variables():
        variable.value = None  # of which cvxpy would make starts, and fails at all of sum_largest
    # cvxpy evaluates f at a solver's point, where powers may overflow or have no value.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the level says so
        for options in (_ACCURATE, {}, _ACCURATE | {"equilibrate_enable": False}):
            left = seconds_left()
            limit = {} if left == math.inf else {"time_limit": left}
            try:
                # A warm start would let the answer depend on what was asked before.
                problem.solve(solver="CLARABEL", warm_start=False, **options, **limit)
            except cp.SolverError:
                continue
            if limit:
                seconds_left()
            status, value = str(problem.status), float(problem.value)
            if status in SOLVED and not math.isfinite(value):
                value = float(problem.solution.opt_val)
            return status, value
    return "solver_error", math.nan


def solves(problem: Any) -> bool:
    """Solve, and return whether that came to an optimum."""
    return solve_problem(problem)[0] in SOLVED
