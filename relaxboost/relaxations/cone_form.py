"""The cone program into which cvxpy compiles a relaxation, in double precision."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost.relaxations.linear import LinearForm


@dataclass(frozen=True)
class ConeForm:
    """A cone program: f(d) is the minimum of cost·x + x·quadratic x/2 + constant with x = (d, z).

    The minimum is over z, subject to rows @ x + s = right. The slacks s are zero in the first
    `zero` rows and >= 0 in the next `half` rows. The next rows form second-order cones, whose sizes
    are `second`. Then come cones of positive semidefinite matrices, whose orders are `matrix`. Each
    matrix is stored as its upper triangle, column by column, with off-diagonal entries multiplied
    by √2. The last rows form `exponential` exponential cones of three rows each.
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

    @property
    def multiplications(self) -> int:
        """The cost of the cheaper of RᵀR and R Rᵀ for R = `rows`, in multiplications."""
        counts = np.diff(self.rows.indptr).astype(np.int64), np.bincount(self.rows.indices)
        return min(int(count @ count) for count in counts)

    def second_order(self) -> Iterator[tuple[slice, int]]:
        """Yield the rows and the cone size of each run of equal second-order cones."""
        first = self.zero + self.half
        for size, equal in groupby(self.second):
            number = len(list(equal))
            yield slice(first, first + size * number), size
            first += size * number

    def matrices(self) -> Iterator[tuple[slice, int]]:
        """Yield the rows and the matrix order of each semidefinite cone."""
        first = self.zero + self.half + sum(self.second)
        for side in self.matrix:
            size = side * (side + 1) // 2
            yield slice(first, first + size), side
            first += size

    @property
    def exponentials(self) -> slice:
        """The rows of the exponential cones."""
        return slice(self.right.size - 3 * self.exponential, self.right.size)

    def linear(self, m: int) -> LinearForm | None:
        """Return this program as a linear program, or None if it is not linear.

        The linear program has the same rows and multipliers, but no constant.
        """
        if self.second or self.matrix or self.exponential or self.quadratic.nnz:
            return None
        size = self.cost.size
        lower = np.where(np.arange(size) < m, 0.0, -np.inf)
        equal = np.arange(self.right.size) < self.zero
        row_lower = np.where(equal, self.right, -np.inf)
        return LinearForm(self.cost, lower, np.full(size, np.inf), self.rows, row_lower, self.right)

    def tilted(self, theta: Vector) -> ConeForm:
        """Return the cone program of f(d) − <θ, d>."""
        cost = self.cost.copy()
        cost[: theta.size] -= theta
        return replace(self, cost=cost)


class NoConeForm(InputError):
    """Raised if the cone program of a relaxation cannot prove bounds."""


def cone_form(penalty: Callable[[Any], tuple[Any, list[Any]]], m: int) -> ConeForm:
    """Compile `penalty` for m examples into a cone program with cvxpy.

    The function raises NoConeForm if cvxpy cannot compile the penalty, rounds an exponent, or needs
    power cones.
    """
    from scipy import sparse

    variable = cp.Variable(m)
    try:
        value, constraints = penalty(variable)
        problem = cp.Problem(cp.Minimize(value + 0.0 * cp.sum(variable)), constraints)
        with warnings.catch_warnings():
            # cvxpy warns of powers that need many cones.
            warnings.simplefilter("ignore", UserWarning)
            data, _, back = problem.get_problem_data(solver="CLARABEL")
    except (cp.error.DCPError, ArithmeticError) as error:
        # For example, cvxpy rounds the exponent 1.00001 to 1, and then rejects the power.
        raise NoConeForm(f"cvxpy cannot compile the penalty: {error}") from error
    dims = data["dims"]
    size = data["A"].shape[1]
    _refuse_powers(problem, bool(dims.p3d or dims.pnd))
    first = data["param_prob"].var_id_to_col[variable.id]
    # cvxpy chooses the order of the variables, and d comes first here.
    order = np.r_[first : first + m, np.delete(np.arange(size), np.s_[first : first + m])]
    quadratic = data.get("P")
    square = sparse.csc_array((size, size)) if quadratic is None else sparse.csc_array(quadratic)
    square = square[order][:, order]
    # cvxpy may return the upper triangle only.
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
    )


def _refuse_powers(problem: Any, has_power_cones: bool) -> None:
    remedy = (
        ", or write a class that derives from Relaxation and Bounds, with its own witness, "
        "lower_bound and penalty_bound"
    )
    todo = [problem.objective.expr, *(a for c in problem.constraints for a in c.args)]
    while todo:
        atom = todo.pop()
        todo.extend(atom.args)
        used = getattr(atom, "p_used", None)
        if used is not None and float(used) != float(atom.p.value):
            raise NoConeForm(
                f"cvxpy rounds the exponent {float(atom.p.value):.10g} of {type(atom).__name__} to "
                f"{used}, which changes f; pass the fraction {used} as the exponent{remedy}"
            )
    if has_power_cones:
        raise NoConeForm(
            "f needs power cones, for example for cp.power(..., approx=False) or cp.PowCone3D, but "
            "no lower bound can be proved with power cones; pass a fraction as the exponent with "
            f"approx=True, so that cvxpy uses second-order cones{remedy}"
        )


@cache
def square_map(side: int) -> Any:
    """Return the sparse matrix that maps a triangle to the full symmetric matrix.

    `ConeForm` defines the triangle of a matrix of order `side`. The map keeps lengths, and its
    transpose is its inverse on symmetric matrices.
    """
    from scipy import sparse

    column, row = np.tril_indices(side)
    entry = np.arange(row.size)
    weight = np.where(row == column, 0.5, math.sqrt(0.5))
    places = np.concatenate([row * side + column, column * side + row])
    ends = (side * side, row.size)
    return sparse.csr_array((np.tile(weight, 2), (places, np.tile(entry, 2))), ends)
