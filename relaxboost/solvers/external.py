"""The general solvers: which are installed, the options that make them accurate, one call."""

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
"""Default options of the solvers the package is tested with; others run on cvxpy's defaults."""
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
"""Options of a first run: a bracket needs a nearly optimal pair, not a vertex."""


@dataclass(frozen=True)
class Answer:
    """What a solver says about one problem; nothing in it is trusted.

    `point` is the player whose problem it is, `other` the one that the multipliers make.
    """

    side: str
    status: str
    value: float
    point: NDArray[np.float64] | None
    other: NDArray[np.float64] | None
    proof: ConeProof | None = None
    """The multipliers of f's cone form, if the problem has its rows."""


def check_solver(name: str | None, curved: str | None) -> str:
    """Return the name cvxpy knows the solver by; HIGHS by default for linear games, else CLARABEL.

    `curved` names what is not polyhedral in the game, None if all of it is.

    Raises
    ------
    InputError
        If it is unknown or not installed, or cannot solve what is not linear.
    """
    import cvxpy as cp

    installed = cp.installed_solvers()
    if name is None:
        return "HIGHS" if curved is None else "CLARABEL"
    solver = str(name).upper()
    if solver not in installed:
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
    """Run `solver` on one problem and return what it says, also if it gives up.

    `options` are the user's, over the defaults, which are those of `SOLVERS` if not given.
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
            # An option the solver does not know.
            raise InputError(f"{solver} cannot be run so: {_first_line(error)}") from error
        except (cp.SolverError, ValueError, ArithmeticError) as error:
            status = f"failed ({_first_line(error)})"
            return Answer(model.side, status, float("nan"), None, None)
    point = model.variable.value
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
