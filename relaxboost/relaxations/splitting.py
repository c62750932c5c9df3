"""The best split of margins between the two terms of a sum of relaxations, found with cvxpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import SolverError
from relaxboost._core.lazy import cp
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem


def split(total: Any, u: Vector) -> Vector:
    """Return the margins v that maximise F1(v) + F2(u − v) for the sum `total` of f1 and f2.

    F1 and F2 are the relaxed margins of the terms. The program minimises
    <u, d1> + f1(d1) + f2(d2) over two copies d1, d2 of d. With the multipliers λ of d1 = d2, the
    result is v = u + λ: the minimum of <u + λ, d1> + f1(d1) over the simplex is F1(u + λ), and
    F2(−λ) is at least the minimum of f2(d2) − <λ, d2> over R^m.
    """
    cache = vars(total).setdefault("_programs", {})
    m = len(u)
    if ("split", m) not in cache:
        d1 = cp.Variable(m)
        d2 = cp.Variable(m)
        margins = cp.Parameter(m)
        first, constraints = total.first.cvxpy_penalty(d1)
        second, more = total.second.cvxpy_penalty(d2)
        equal = d1 == d2
        goal = cp.Minimize(margins @ d1 + first + second)
        problem = cp.Problem(goal, [equal, cp.sum(d1) == 1, d1 >= 0, *constraints, *more])
        cache["split", m] = problem, margins, equal
    problem, margins, equal = cache["split", m]
    margins.value = u
    status, _ = solve_problem(problem)
    if status not in SOLVED:
        raise SolverError(
            f"cvxpy ended with status {status} for the relaxed margin F(u) of {total!r}"
        )
    return u + np.asarray(equal.dual_value)
