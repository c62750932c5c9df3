"""Default options of general convex solvers, and solver calls through cvxpy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError
from relaxboost._core.highs import OwnThread
from relaxboost.game.programs import Model
from relaxboost.relaxations.cone_bounds import ConeProof

SOLVERS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9},
    "ECOS": {"abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9, "max_iters": 500},
    "SCS": {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": 100_000},
    "HIGHS": {
        "highs_options": {
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
        }
    },
}
"""The options of the tested solvers, more accurate than the solvers' defaults. All other solvers
run with cvxpy's defaults."""

INTERIOR_POINT: dict[str, dict[str, Any]] = {
    "HIGHS": {
        "highs_options": {
            **SOLVERS["HIGHS"]["highs_options"],
            "solver": "ipm",
            "run_crossover": "off",
            "ipm_optimality_tolerance": 1e-9,
        }
    },
}
# HiGHS runs its interior point method without crossover, because the solution need not be a vertex.
"""The options for problems that contain the cone form of f. They replace those of `SOLVERS`."""


@dataclass(frozen=True)
class Answer:
    """An unverified result of a general solver for the primal or dual of a game.

    d is a distribution over the examples, and w are the weights of the hypotheses.
    """

    side: str
    """The solved problem: "primal" or "dual"."""
    status: str
    """The status that cvxpy reports, or "failed" followed by the error message."""
    value: float
    """The optimal value that the solver reports."""
    point: NDArray[np.float64] | None
    """The solution: d for the primal, and w for the dual. None if there is no solution."""
    other: NDArray[np.float64] | None
    """The vector from the multipliers: w for the primal, and d for the dual. None without
    multipliers."""
    proof: ConeProof | None = None
    """The solution and the multipliers of the cone program of f, or None if the solver got f in
    another form."""


def check_solver(name: str | None, curved: str | None) -> str:
    """Return cvxpy's name of the solver to use.

    Parameters
    ----------
    name : str, optional
        The user's choice. The default is HIGHS for linear programs, and CLARABEL otherwise.
    curved : str, optional
        The words for the nonpolyhedral part of the problem in the error message, such as "this f".
        None means that the problem is a linear program.

    Raises
    ------
    InputError
        If the solver is unknown or not installed, or if HIGHS was chosen for a problem that is not
        a linear program.
    """
    import cvxpy as cp

    installed = cp.installed_solvers()
    if name is None:
        return "HIGHS" if curved is None else "CLARABEL"
    solver = str(name).upper()
    if solver not in installed:
        # The message says how to install the solvers that the package is tested with.
        missing = {s: "highspy" if s == "HIGHS" else s.lower() for s in {*SOLVERS} - {*installed}}
        more = ", ".join(f"{s}: pip install {missing[s]}" for s in sorted(missing))
        raise InputError(
            f"solver {name!r} is not available; installed solvers are {', '.join(installed)}"
            + (f"; to install others: {more}" if more else "")
        )
    if solver == "HIGHS" and curved is not None:
        raise InputError(
            f"HIGHS solves only linear programs, but {curved} is not polyhedral; use CLARABEL"
        )
    return solver


def ask(
    model: Model, solver: str, options: dict[str, Any], defaults: dict[str, Any] | None = None
) -> Answer:
    """Solve a problem with a general convex solver.

    If the solver fails, the status of the result begins with "failed", and no error is raised.

    Parameters
    ----------
    model : Model
        The problem in cvxpy.
    solver : str
        The name of the solver in cvxpy.
    options : dict
        The user's options, which override the defaults.
    defaults : dict, optional
        The default options. By default they are those of `SOLVERS`.

    Raises
    ------
    InputError
        If the solver does not accept one of the user's options.
    """
    import cvxpy as cp

    problem = model.problem
    defaults = SOLVERS.get(solver, {}) if defaults is None else defaults
    with warnings.catch_warnings():
        # "Solution may be inaccurate": the bracket measures how inaccurate.
        warnings.simplefilter("ignore", UserWarning)
        # For HiGHS cvxpy derives bounds of expressions, and multiplies zeros by infinite ones.
        # `np.errstate` does not reach the thread of the solver.
        matmul = "invalid value encountered in matmul"
        warnings.filterwarnings("ignore", matmul, RuntimeWarning)
        try:
            # cvxpy evaluates f at the solver's point, where powers may overflow. NumPy's settings
            # are those of a thread.
            solve = np.errstate(all="ignore")(problem.solve)
            OwnThread()(solve, solver=solver, **{**defaults, **options})
        except (TypeError, AttributeError, KeyError) as error:
            if not options:
                raise
            # Solvers raise these errors for options that they do not know.
            raise InputError(
                f"{solver} does not accept these options: {_first_line(error)}"
            ) from error
        except (cp.SolverError, ValueError, ArithmeticError) as error:
            status = f"failed ({_first_line(error)})"
            return Answer(model.side, status, float("nan"), None, None)
    point = model.variable.value
    # The other point is the sum of the multipliers of some constraints, each with a sign.
    parts = [(constraint.dual_value, sign) for constraint, sign in model.coupling]
    other = None
    if all(part is not None for part, _ in parts):
        other = np.sum([sign * np.atleast_1d(part) for part, sign in parts], axis=0)
    value = float("nan") if problem.value is None else model.price * float(problem.value)
    return Answer(
        model.side, str(problem.status), value + model.constant, point, other, model.proof()
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
