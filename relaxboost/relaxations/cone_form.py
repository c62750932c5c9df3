"""An f that is not polyhedral as a cone program in doubles, for solvers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost.relaxations.linear import LinearForm


@dataclass(frozen=True)
class ConeForm:
    """An f as a cone program: f(d) = min over z of cost·x + x·quadratic x/2, x = (d, z).

    subject to rows @ x + s = right with s zero in the first `zero` entries, then >= 0 in `half`
    entries, then in second-order cones of the sizes `second`, then in cones of positive matrices of
    the sides `matrix` (upper triangles by columns, off the diagonal times √2), then in
    `exponential` cones of three entries each, then in cones |s_3| <= s_1^α s_2^{1 − α} with the α
    in `power`, plus a constant.
    """

    cost: Vector
    quadratic: Any
    rows: Any
    right: Vector
    zero: int
    half: int
    second: tuple[int, ...]
    exponential: int
    constant: float
    matrix: tuple[int, ...] = ()
    power: tuple[float, ...] = ()

    @property
    def multiplications(self) -> int:
        """About how many a factor of RᵀR or R Rᵀ takes, R = `rows`: of the cheaper one."""
        counts = np.diff(self.rows.indptr).astype(np.int64), np.bincount(self.rows.indices)
        return min(int(count @ count) for count in counts)

    def second_order(self) -> Iterator[tuple[slice, int]]:
        """Yield the rows of second-order cones of one size, one after the other."""
        first = self.zero + self.half
        for size, equal in groupby(self.second):
            number = len(list(equal))
            yield slice(first, first + size * number), size
            first += size * number

    def linear(self, m: int) -> LinearForm | None:
        """Return it without its constant as a linear program; None where it has other cones.

        The rows are the same ones, and so are their multipliers.
        """
        if self.second or self.matrix or self.exponential or self.power or self.quadratic.nnz:
            return None
        size = self.cost.size
        lower = np.where(np.arange(size) < m, 0.0, -np.inf)
        equal = np.arange(self.right.size) < self.zero
        row_lower = np.where(equal, self.right, -np.inf)
        return LinearForm(self.cost, lower, np.full(size, np.inf), self.rows, row_lower, self.right)

    def tilted(self, theta: Vector) -> ConeForm:
        """Return that of f − <θ, .>."""
        cost = self.cost.copy()
        cost[: theta.size] -= theta
        return replace(self, cost=cost)


def cone_form(penalty: Callable[[Any], tuple[Any, list[Any]]], m: int) -> ConeForm | None:
    """Return f as the cone program that cvxpy makes of `penalty`, None where it has other cones."""
    from scipy import sparse

    variable = cp.Variable(m)
    value, constraints = penalty(variable)
    problem = cp.Problem(cp.Minimize(value + 0.0 * cp.sum(variable)), constraints)
    with warnings.catch_warnings():
        # Of powers that take many cones, or a rational near by: bounds are proved by f itself.
        warnings.simplefilter("ignore", UserWarning)
        data, _, back = problem.get_problem_data(solver="CLARABEL")
    dims, size = data["dims"], data["A"].shape[1]
    if dims.pnd:
        return None
    first = data["param_prob"].var_id_to_col[variable.id]
    order = np.r_[first : first + m, np.delete(np.arange(size), np.s_[first : first + m])]
    quadratic = data.get("P")
    square = sparse.csc_array((size, size)) if quadratic is None else sparse.csc_array(quadratic)
    square = square[order][:, order]
    square = square + sparse.triu(square, 1).T if sparse.tril(square, -1).nnz == 0 else square
    return ConeForm(
        data["c"][order],
        square,
        sparse.csr_array(data["A"][:, order]),
        data["b"],
        dims.zero,
        dims.nonneg,
        tuple(dims.soc),
        dims.exp,
        float(back[-1]["offset"]),
        tuple(dims.psd),
        tuple(map(float, dims.p3d)),
    )
