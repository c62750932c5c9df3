"""The default options of the general convex solvers, and a call of one solver through cvxpy."""

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
"""The default options of the solvers with which the package is tested. These options request more
accuracy than the defaults of the solvers. Any other solver runs with the defaults of cvxpy."""

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
"""The default options for problems that contain the cone form of the relaxation f. The cone form
describes f by a linear program or by a cone program. These options replace the options of
`SOLVERS`. HiGHS then runs its interior point method without the crossover to a vertex, because the
solution need not be a vertex."""


@dataclass(frozen=True)
class Answer:
    """The result of a general convex solver for the primal or the dual of a game, not yet verified.

    d is a distribution over the examples, and w are the weights of the hypotheses.
    """

    side: str
    """The problem of the game that the solver has solved: "primal" or "dual"."""
    status: str
    """The status of the problem that cvxpy reports. If the solver failed, it is "failed" followed
    by the error message."""
    value: float
    """The optimal value of the problem that the solver reports."""
    point: NDArray[np.float64] | None
    """The solution that the solver returned: the distribution d for the primal, and the weights w
    for the dual. It is None if the solver returned no solution."""
    other: NDArray[np.float64] | None
    """The vector that follows from the multipliers of the constraints: the weights w for the
    primal, and the distribution d for the dual. It is None if the solver returned no
    multipliers."""
    proof: ConeProof | None = None
    """The solution and the multipliers of the cone program of the relaxation f. It is None if the
    problem does not contain this cone program."""


def check_solver(name: str | None, curved: str | None) -> str:
    """Return the name of the solver to use, as cvxpy writes it.

    Parameters
    ----------
    name : str, optional
        The name that the user passed. The default is HIGHS for linear programs and CLARABEL for
        all other problems.
    curved : str, optional
        The words with which the error message names the part of the problem that is not polyhedral,
        such as "this f". None means that the problem is a linear program.

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
    """Call a general convex solver for one problem and return its result.

    If the solver fails, the status of the result begins with "failed", and no error is raised.

    Parameters
    ----------
    model : Model
        The problem in cvxpy.
    solver : str
        The name of the solver in cvxpy.
    options : dict
        The options that the user passed. They override the default options.
    defaults : dict, optional
        The default options. If None, the options in the dictionary `SOLVERS` are used.

    Raises
    ------
    InputError
        If the solver does not accept one of the options that the user passed.
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
