"""The primal and the dual of a game as cvxpy problems, with the parts a reference reads off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxboost.matrices import MarginMatrix
from relaxboost.relaxations import Relaxation


@dataclass(frozen=True)
class Model:
    """A cvxpy problem, its variable, and the constraints whose multipliers are the other player.

    For the primal the multipliers of the two constraints are the positive and the negative part
    of w; for the dual those of the one constraint are d.
    """

    side: str
    problem: Any
    variable: Any
    coupling: tuple[Any, ...]


def primal(matrix: MarginMatrix, relaxation: Relaxation) -> Model:
    """Return min f(d) + v over the simplex, subject to −v <= Aᵀd <= v.

    The sup-norm is written in epigraph form, which every solver takes without complaint.
    """
    import cvxpy as cp

    A = matrix.tocvxpy()
    d = cp.Variable(matrix.m, name="d", nonneg=True)
    v = cp.Variable(name="v")
    penalty, constraints = relaxation.cvxpy_penalty(d)
    edges = A.T @ d
    coupling = (edges <= v, -edges <= v)
    problem = cp.Problem(cp.Minimize(penalty + v), [*coupling, cp.sum(d) == 1, *constraints])
    return Model("primal", problem, d, coupling)


def dual(matrix: MarginMatrix, relaxation: Relaxation) -> Model:
    """Return max F(u) subject to u <= A w and ‖w‖_1 <= 1.

    F is non-decreasing, so the inequality costs nothing and its multipliers come out as d >= 0.
    """
    import cvxpy as cp

    A = matrix.tocvxpy()
    w = cp.Variable(matrix.n, name="w")
    u = cp.Variable(matrix.m, name="u")
    gamma = cp.Variable(name="gamma")
    value, constraints = relaxation.cvxpy_relaxed_margin(u, gamma)
    coupling = (u <= A @ w,)
    problem = cp.Problem(cp.Maximize(value), [*coupling, cp.norm1(w) <= 1, *constraints])
    return Model("dual", problem, w, coupling)
