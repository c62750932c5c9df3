"""The primal and the dual of a game as cvxpy problems, with the parts a reference reads off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from relaxboost._core.lazy import cp
from relaxboost._core.rounding import price
from relaxboost.game.domains import Domain
from relaxboost.relaxations import Relaxation


@dataclass(frozen=True)
class Model:
    """A cvxpy problem, its variable, and the constraints whose multipliers are the other player.

    The other player is the sum of sign times multiplier over `coupling`, pairs of a constraint
    and its sign: w for the primal, d for the dual.
    """

    side: str
    problem: Any
    variable: Any
    coupling: tuple[tuple[Any, float], ...]
    price: float = 1.0
    """What the problem's value is to be multiplied by."""

    def priced(self, size: float) -> Model:
        """Return the problem for a value of such a size, with a huge one divided by its price."""
        by = price(size)
        if by == 1.0:
            return self
        goal = type(self.problem.objective)(self.problem.objective.expr / by)
        coupling = tuple((constraint, by * sign) for constraint, sign in self.coupling)
        problem = cp.Problem(goal, self.problem.constraints)
        return replace(self, problem=problem, coupling=coupling, price=by)


def primal(A: Any, relaxation: Relaxation, over: Domain) -> Model:
    """Return min f(d) + g(Aᵀd) over the simplex, for an array or sparse A of shape (m, n).

    g is written in epigraph form or on a copy v of the edges, so that the multipliers are w.
    """
    d = cp.Variable(A.shape[0], name="d", nonneg=True)
    penalty, constraints = relaxation.cvxpy_penalty(d)
    support, coupling = over.cvxpy_support(A, d)
    coupled = [constraint for constraint, _ in coupling]
    problem = cp.Problem(cp.Minimize(penalty + support), [*coupled, cp.sum(d) == 1, *constraints])
    return Model("primal", problem, d, tuple(coupling))


def dual(A: Any, relaxation: Relaxation, over: Domain) -> Model:
    """Return max F(u) − g*(w) subject to u <= A w, for an array or sparse A of shape (m, n).

    F is non-decreasing, so the inequality costs nothing and its multipliers come out as d >= 0.
    """
    w = cp.Variable(A.shape[1], name="w")
    u = cp.Variable(A.shape[0], name="u")
    gamma = cp.Variable(name="gamma")
    value, constraints = relaxation.cvxpy_relaxed_margin(u, gamma)
    cost, domain = over.cvxpy_cost(w)
    coupling = u <= A @ w
    problem = cp.Problem(cp.Maximize(value - cost), [coupling, *domain, *constraints])
    return Model("dual", problem, w, ((coupling, 1.0),))
