"""The cvxpy problems of a relaxation, compiled once for each number of examples."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, SolverError, brief
from relaxboost._core.lazy import cp
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.relaxations.dcp import plain
from relaxboost.relaxations.pointwise import Pointwise


class _Problem(NamedTuple):
    problem: Any
    d: Any
    parameters: tuple[Any, ...]


class CompiledProblems:
    """Compiled minimisation problems over d for a relaxation and m examples."""

    # The relaxation is of type `Any`, because `base` imports this module.
    def __init__(self, relaxation: Any, m: int) -> None:
        self._relaxation = relaxation
        self._m = m
        self._last: dict[str, tuple[Vector, Any]] = {}
        self.center: Vector | None = None
        """The cached center of a `Sum`."""

    def known(self, kind: str, at: Vector) -> Any:
        """Return the result of a kind of problem, such as "conjugate", at the vector `at`.

        Only the last result of each kind is kept. If it belongs to another vector, return None.
        Vectors that differ by rounding count as equal.
        """
        # Certificates recompute the margins of a solution, and the last bits can then differ.
        before, result = self._last.get(kind, (None, None))
        if before is None or before.shape != at.shape:
            return None
        apart = float(np.abs(before - at).max(initial=0.0))
        return result if apart <= 1e-14 * float(np.abs(at).max(initial=0.0)) else None

    def keep(self, kind: str, at: Vector, result: Any) -> Any:
        """Cache `result` until the next result of the same kind, and return it."""
        self._last[kind] = at.copy(), result
        return result

    def solved_margin(self, u: Vector) -> tuple[float, Vector, float, Vector]:
        """Return the relaxed margin F(u), the minimiser d, the threshold γ, and a vector x.

        They satisfy F(u) = γ − f*(x) and x = γ − u + s, where s >= 0 are the multipliers of d >= 0.
        """
        program = self._margin_problem
        program.parameters[0].value = u
        value = self._solve(program, "the relaxed margin F(u)")
        simplex, positive = program.problem.constraints[:2]
        gamma = -float(simplex.dual_value)
        # By stationarity, u + g = γ + s for a subgradient g of f and the multipliers s.
        slack = np.maximum(np.asarray(positive.dual_value), 0.0)
        return value, np.asarray(program.d.value), gamma, gamma - u + slack

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d) + β Σ d log d over the simplex."""
        if self._m == 1:
            return np.ones(1)  # This is the only distribution, and a huge β may stop the solver.
        program = self._distribution_problem
        program.parameters[0].value = u
        program.parameters[1].value = beta
        self._solve(program, "the distribution")
        return np.asarray(program.d.value)

    def conjugate(self, theta: Vector) -> float:
        """Return the conjugate f*(θ), the maximum of <d, θ> − f(d) over d in R^m."""
        found: float | None = self.known("conjugate", theta)
        if found is not None:
            return found
        program = self._conjugate_problem
        program.parameters[0].value = theta
        status, value = solve_problem(program.problem)
        if status in SOLVED:
            return self.keep("conjugate", theta, value)
        if "unbounded" in status:
            return math.inf
        raise InputError(
            f"cvxpy ended with status {status} for the conjugate of {brief(self._relaxation)}"
        )

    def _parts(self) -> tuple[Any, Any, list[Any]]:
        d = cp.Variable(self._m, name="d")
        value, constraints = self._relaxation.cvxpy_penalty(d)
        # The term 0 Σd makes d a variable of every problem.
        return d, *plain(value + 0.0 * cp.sum(d), list(constraints))

    @cached_property
    def _pointwise(self) -> Pointwise:
        return Pointwise(*self._parts())

    @cached_property
    def _margin_problem(self) -> _Problem:
        d, value, constraints = self._parts()
        u = cp.Parameter(self._m)
        limits = [cp.sum(d) == 1, d >= 0, *constraints]
        return _Problem(cp.Problem(cp.Minimize(u @ d + value), limits), d, (u,))

    @cached_property
    def _distribution_problem(self) -> _Problem:
        d, value, constraints = self._parts()
        u = cp.Parameter(self._m)
        beta = cp.Parameter(nonneg=True)
        goal = cp.Minimize(u @ d + value - beta * cp.sum(cp.entr(d)))
        return _Problem(cp.Problem(goal, [cp.sum(d) == 1, *constraints]), d, (u, beta))

    @cached_property
    def _conjugate_problem(self) -> _Problem:
        d, value, constraints = self._parts()
        theta = cp.Parameter(self._m)
        return _Problem(cp.Problem(cp.Maximize(theta @ d - value), constraints), d, (theta,))

    def _solve(self, program: _Problem, what: str) -> float:
        """Solve the problem, and return the optimal value, which errors call `what`."""
        status, value = solve_problem(program.problem)
        if status in SOLVED and program.d.value is not None:
            return value
        name = brief(self._relaxation)
        # If a margin or β exceeds 1e5, Clarabel may report any problem as infeasible.
        is_large = max(np.abs(p.value).max() for p in program.parameters) > 1e5
        even = np.full(self._m, 1.0 / self._m)
        has_minimum = self._pointwise.explicit and math.isfinite(self._pointwise.at(even))
        if is_large or has_minimum:  # A closed f that is finite somewhere has a minimum.
            status += " (f or margins are too large to scale)"
        elif "infeasible" in status:
            raise InputError(
                f"{name} is +inf on the whole simplex for m = {self._m}, so no distribution is "
                "feasible; enlarge its domain"
            )
        elif "unbounded" in status:
            raise InputError(
                f"{name} is not bounded below on the simplex for m = {self._m}; add a lower bound"
            )
        raise SolverError(f"cvxpy ended with status {status} for {what} of {name}")
