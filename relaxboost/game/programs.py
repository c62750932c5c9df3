"""The primal and the dual problem of a game in cvxpy, which `reference` solves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relaxboost._core.lazy import cp
from relaxboost._core.rounding import price
from relaxboost.game.domains import Domain
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_form import ConeForm


@dataclass(frozen=True)
class Model:
    """The primal or the dual problem of a game in cvxpy.

    The variable is d in the primal problem and w in the dual problem. The other vector is the sum
    of sign · multiplier over the pairs (constraint, sign) in `coupling`.
    """

    side: str
    problem: Any
    variable: Any
    coupling: tuple[tuple[Any, float], ...]
    price: float = 1.0
    """The power of two by which the objective was divided. It is 1 unless the values of the game
    are huge."""
    rows: tuple[Any, ...] = ()
    """The cvxpy constraints for the cone program of the relaxation, in the order of its rows. The
    tuple is empty without a cone program."""
    point: Any = None
    """The cvxpy variable of the relaxation's cone program, or None. Its first entries are the
    distribution d."""
    constant: float = 0.0
    """The constant term of the relaxation, which the objective omits."""

    def proof(self) -> ConeProof | None:
        """Return the multipliers and the solution of the relaxation's cone program.

        Return None if there is no cone program, or if the solver returned no values.
        """
        if self.point is None or self.point.value is None:
            return None
        parts: list[Any] = []
        for constraint in self.rows:
            given = constraint.dual_value
            if given is None or (isinstance(given, list) and any(g is None for g in given)):
                return None
            # cvxpy returns multipliers of second-order and exponential cones in several arrays.
            several = [np.asarray(g).reshape(constraint.num_cones(), -1) for g in given] if (
                isinstance(given, list)
            ) else [np.atleast_1d(given)]  # fmt: skip
            parts.append(np.hstack(several).ravel())
        y = np.concatenate([np.zeros(0), *parts])
        return ConeProof(self.price * y, np.asarray(self.point.value))

    def priced(self, size: float) -> Model:
        """Return this problem with an objective that solvers can handle.

        If its magnitude `size` is huge, the objective is divided by a power of two.
        """
        by = price(size)
        if by == 1.0:
            return self
        goal = type(self.problem.objective)(self.problem.objective.expr / by)
        coupling = tuple((constraint, by * sign) for constraint, sign in self.coupling)
        problem = cp.Problem(goal, self.problem.constraints)
        return replace(self, problem=problem, coupling=coupling, price=by)


def primal(A: Any, relaxation: Relaxation, over: Domain) -> Model:
    """Return the primal problem of a game, which minimises f(d) + g(Aᵀd) over the simplex.

    The margin matrix A may be sparse. The additional variable v bounds the edges or, for a
    Euclidean domain, is a copy of the edges. The multipliers of the constraints on v give the
    weights w.
    """
    d = cp.Variable(A.shape[0], name="d", nonneg=True)
    penalty, constraints = relaxation.cvxpy_penalty(d)
    support, coupling = over.cvxpy_support(A, d)
    coupled = [constraint for constraint, _ in coupling]
    problem = cp.Problem(cp.Minimize(penalty + support), [*coupled, cp.sum(d) == 1, *constraints])
    return Model("primal", problem, d, tuple(coupling))


def primal_in_cones(A: Any, form: ConeForm, over: Domain) -> Model:
    """Return the primal problem of a game whose relaxation is a cone program.

    The multipliers of the cone program prove a lower bound on the relaxed margin. The equations e =
    Aᵀd have half as many entries as the inequalities ±Aᵀd <= v.
    """
    from scipy import sparse

    m, n = A.shape
    x = cp.Variable(form.cost.size, name="x")
    e = cp.Variable(n, name="e")
    support, coupling = over.cvxpy_support(sparse.eye_array(n, format="csr"), e)
    slack = form.right - form.rows @ x
    zero, half = form.zero, form.zero + form.half
    rows: list[Any] = [form.rows[:zero] @ x == form.right[:zero]] if zero else []
    rows += [form.rows[zero:half] @ x <= form.right[zero:half]] if form.half else []
    for where, size in form.second_order():
        s = cp.reshape(slack[where], ((where.stop - where.start) // size, size), "C")
        rows.append(cp.SOC(s[:, 0], s[:, 1:], axis=1))
    if form.exponential:
        first = half + sum(form.second)
        s = cp.reshape(slack[first : first + 3 * form.exponential], (form.exponential, 3), "C")
        rows.append(cp.ExpCone(s[:, 0], s[:, 1], s[:, 2]))
    cost = form.cost @ x + support
    if form.quadratic.nnz:
        cost = cost + 0.5 * cp.quad_form(x, cp.psd_wrap(form.quadratic))
    d = x[:m]
    coupled = [constraint for constraint, _ in coupling]
    limits = [*coupled, e == A.T @ d, cp.sum(d) == 1, d >= 0, *rows]
    problem = cp.Problem(cp.Minimize(cost), limits)
    return Model("primal", problem, d, tuple(coupling), 1.0, tuple(rows), x, form.constant)


def dual(A: Any, relaxation: Relaxation, over: Domain) -> Model:
    """Return the dual problem of a game, which maximises F(u) − g*(w) subject to u <= A w.

    The margin matrix A may be sparse. Since F is non-decreasing, the inequality has the same
    optimum as u = A w. Its multipliers are a distribution d >= 0.
    """
    w = cp.Variable(A.shape[1], name="w")
    u = cp.Variable(A.shape[0], name="u")
    gamma = cp.Variable(name="gamma")
    value, constraints = relaxation.cvxpy_relaxed_margin(u, gamma)
    cost, domain = over.cvxpy_cost(w)
    coupling = u <= A @ w
    problem = cp.Problem(cp.Maximize(value - cost), [coupling, *domain, *constraints])
    return Model("dual", problem, w, ((coupling, 1.0),))
