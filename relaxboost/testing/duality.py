"""Checks that f, its conjugate f* and their cvxpy expressions agree."""

from __future__ import annotations

import math
from typing import Any

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost.relaxations.cone_solver import solve_problem
from relaxboost.testing.core import Case, size


def optimum(problem: Any, parameter: Any, at: Vector) -> float:
    """Return the optimal value of a cvxpy problem with its parameter set to `at`.

    Return nan if the solver fails.
    """
    # A parameter keeps the compiled problem, so that cvxpy translates it once.
    parameter.value = at
    status, value = solve_problem(problem)
    solved = status in ("optimal", "optimal_inaccurate", "infeasible", "unbounded")
    return value if solved else math.nan


def _is_too_large(value: float) -> bool:
    # A cone solver does not compute such a conjugate accurately.
    return 1e4 < abs(value) < math.inf


def penalty(case: Case) -> None:
    """penalty(d) is the value of cvxpy_penalty at d, even outside of the domain and for d < 0."""
    for d in case.points(12 if case.subject.large else 24):
        value = case.f.penalty(d.copy())
        expected = case.subject.programs.penalty(d)
        promise = "penalty(d) equals cvxpy_penalty at d, and is inf if its constraints fail"
        case.equal(value, expected, case.solver_tol(size(expected)), promise, d=d)


def conjugate(case: Case) -> None:
    """conjugate(θ) is the supremum of <d, θ> − f(d) over all d, as computed by a cone solver."""
    compared = 0
    for theta in case.thetas(4 if case.subject.large else 8):
        try:
            expected = case.subject.programs.conjugate(theta)
        except InputError:  # The solver failed, so that there is no value to compare with.
            continue
        value = case.f.conjugate(theta.copy())
        if _is_too_large(value):
            continue
        compared += 1
        promise = "conjugate(θ) is the supremum over R^m of <d, θ> − f(d)"
        case.equal(value, expected, case.solver_tol(size(expected)), promise, theta=theta)
    case.demand(compared >= 2, "a cone solver finds the supremum at two θ at least")


def cvxpy_conjugate(case: Case) -> None:
    """conjugate(θ) is the value of the expression cvxpy_conjugate at θ."""
    x = cp.Variable(case.m)
    at = cp.Parameter(case.m)
    value, constraints = case.f.cvxpy_conjugate(x)
    # If the conjugate is a constant, the objective must still be an expression of x.
    problem = cp.Problem(cp.Minimize(value + 0.0 * cp.sum(x)), [x == at, *constraints])
    case.demand(problem.is_dcp(), "cvxpy_conjugate is convex by the rules of cvxpy")
    compared = 0
    for theta in case.thetas(3 if case.subject.large else 6):
        expected = optimum(problem, at, theta)
        if math.isnan(expected):
            continue
        value = case.f.conjugate(theta.copy())
        if _is_too_large(value):
            continue
        compared += 1
        promise = "conjugate(θ) equals cvxpy_conjugate at θ, and is inf if its constraints fail"
        case.equal(value, expected, case.solver_tol(size(expected)), promise, theta=theta)
    case.demand(compared >= 2, "a cone solver evaluates cvxpy_conjugate at two θ at least")


def fenchel_young(case: Case) -> None:
    """The inequality <d, θ> <= f(d) + f*(θ) of Fenchel and Young holds for all d and θ."""
    # f* may need a solver and is evaluated once for each θ.
    thetas = [(t, case.f.conjugate(t.copy())) for t in case.thetas(4 if case.subject.large else 8)]
    for d in case.points():
        value = case.f.penalty(d.copy())
        for theta, above in thetas:
            # fsum rounds once, so that the tolerance covers the errors of f and f* only.
            inner = math.fsum((d * theta).tolist())
            slack = value + above - inner
            tolerance = case.tol(size(inner, value, above))
            case.at_most(-slack, tolerance, "<d, θ> <= f(d) + f*(θ)", d=d, theta=theta, f=value)
