"""An f that is not polyhedral as a cone program in doubles, for solvers."""

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
    """An f as a cone program: f(d) = min over z of cost·x + x·quadratic x/2, x = (d, z).

    subject to rows @ x + s = right with s zero in the first `zero` entries, then >= 0 in `half`
    entries, then in second-order cones of the sizes `second`, then in cones of positive matrices of
    the sides `matrix` (upper triangles by columns, off the diagonal times √2), then in
    `exponential` cones of three entries each, plus a constant.
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

    def matrices(self) -> Iterator[tuple[slice, int]]:
        """Yield the rows of each cone of matrices, and its side."""
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
        """Return it without its constant as a linear program; None where it has other cones.

        The rows are the same ones, and so are their multipliers.
        """
        if self.second or self.matrix or self.exponential or self.quadratic.nnz:
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


class NoConeForm(InputError):
    """The reason why an f has no cone program here; only its own bounds can prove anything."""


def cone_form(penalty: Callable[[Any], tuple[Any, list[Any]]], m: int) -> ConeForm:
    """Return f as the cone program that cvxpy makes of `penalty`.

    Raises
    ------
    NoConeForm
        If the program has power cones, or is of another f, since cvxpy rounds an exponent.
    """
    from scipy import sparse

    variable = cp.Variable(m)
    value, constraints = penalty(variable)
    problem = cp.Problem(cp.Minimize(value + 0.0 * cp.sum(variable)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of powers that take many cones
        data, _, back = problem.get_problem_data(solver="CLARABEL")
    dims, size = data["dims"], data["A"].shape[1]
    _refuse_powers(problem, bool(dims.p3d or dims.pnd))
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
    )


def _refuse_powers(problem: Any, has_power_cones: bool) -> None:
    """Raise an error that names the atom if an exponent is rounded or kept in a power cone."""
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
                f"{used}, and bounds would be those of another f; give the fraction {used} as the "
                f"exponent{remedy}"
            )
    if has_power_cones:
        raise NoConeForm(
            "f needs power cones, as cp.power(..., approx=False) and cp.PowCone3D do, and no lower "
            "bound is proved in these; give a fraction as the exponent with approx=True, which "
            f"makes second-order cones{remedy}"
        )


@cache
def square_map(side: int) -> Any:
    """Return the isometry from upper triangles, as in a cone of matrices, to flat squares.

    Its transpose maps symmetric squares back.
    """
    from scipy import sparse

    column, row = np.tril_indices(side)
    entry = np.arange(row.size)
    weight = np.where(row == column, 0.5, math.sqrt(0.5))
    places = np.concatenate([row * side + column, column * side + row])
    ends = (side * side, row.size)
    return sparse.csr_array((np.tile(weight, 2), (places, np.tile(entry, 2))), ends)
