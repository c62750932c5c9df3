"""The general convex solvers: their default options, and a call of one solver through cvxpy."""

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
"""The default options of the solvers that the package is tested with. They ask for more accuracy
than the solvers do by default. Other solvers run with the defaults of cvxpy."""

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
"""The options of a first run. A bracket needs a nearly optimal pair and no vertex, so the interior
point method is enough, without the crossover to a vertex."""


@dataclass(frozen=True)
class Answer:
    """The answer of a solver to one problem. The caller has to check everything in it."""

    side: str
    """The problem, "primal" or "dual"."""
    status: str
    value: float
    """The optimal value that the solver claims."""
    point: NDArray[np.float64] | None
    """The variable of the problem: d of the primal, w of the dual."""
    other: NDArray[np.float64] | None
    """The other one of d and w, made of multipliers."""
    proof: ConeProof | None = None
    """The multipliers of the cone form of f, if the problem has its rows."""


def check_solver(name: str | None, curved: str | None) -> str:
    """Return the name of a solver in cvxpy.

    Parameters
    ----------
    name : str, optional
        The name that the user gave. The default is HIGHS for linear programs, else CLARABEL.
    curved : str, optional
        The part of the problem that is not polyhedral. None stands for a linear program.

    Raises
    ------
    InputError
        If the solver is unknown or not installed, or if HIGHS is to solve a problem that is not
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
            f"solver {name!r} is not available; installed are {', '.join(installed)}"
            + (f"; to get others: {more}" if more else "")
        )
    if solver == "HIGHS" and curved is not None:
        raise InputError(
            f"HIGHS solves linear programs only, and {curved} is not polyhedral; use CLARABEL"
        )
    return solver


def ask(
    model: Model, solver: str, options: dict[str, Any], defaults: dict[str, Any] | None = None
) -> Answer:
    """Run a solver on one problem and return its answer, also if the solver gives up.

    Parameters
    ----------
    model : Model
    solver : str
    options : dict
        The options of the user, which override the defaults.
    defaults : dict, optional
        The default options. Without them those of `SOLVERS` are used.

    Raises
    ------
    InputError
        If the solver does not accept an option.
    """
    import cvxpy as cp

    problem = model.problem
    defaults = SOLVERS.get(solver, {}) if defaults is None else defaults
    with warnings.catch_warnings():
        # "Solution may be inaccurate": the bracket measures how inaccurate.
        warnings.simplefilter("ignore", UserWarning)
        try:
            OwnThread()(problem.solve, solver=solver, **{**defaults, **options})
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
    # Multipliers of several constraints, each with its sign, add up to the other one of d and w.
    parts = [(constraint.dual_value, sign) for constraint, sign in model.coupling]
    other = None
    if all(part is not None for part, _ in parts):
        other = np.sum([sign * np.atleast_1d(part) for part, sign in parts], axis=0)
    value = float("nan") if problem.value is None else model.price * float(problem.value)
    return Answer(
        model.side, str(problem.status), value + model.constant, point, other, model.proof()
    )


def _first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
