"""Semidefinite programs that are solved in floats, with exact proofs of bounds on the optimum."""

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, SolverError
from relaxboost.certificates.exact.equations import Equations
from relaxboost.claims.measure import exact_bracket

Terms: TypeAlias = dict[tuple[int, ...], Any]
"""A linear combination of the unknowns of a semidefinite program: a dictionary from unknowns to
coefficients. The key (i,) stands for value i of a functional, (i, j) with i <= j for the inner
product of elements i and j, and () for the constant term. In an `Element`, the key (i,) stands for
element i."""


class Program:
    """A semidefinite program in inner products of elements and values of functionals.

    A solver finds a worst instance and multipliers in floats, and `proof` proves the bound in exact
    arithmetic.

    Parameters
    ----------
    objective : Terms
        The expression to maximise.
    rows : sequence of Terms
        The left sides of the constraints.
    free : sequence of bool
        For each constraint, whether its left side must be 0, rather than at most 0.
    """

    def __init__(self, objective: Terms, rows: Sequence[Terms], free: Sequence[bool]) -> None:
        self.objective = objective
        self.rows = rows
        self.free = np.array(free)
        keys = sorted({key for row in (objective, *self.rows) for key in row})
        self.values = [key for key in keys if len(key) == 1]
        self.elements = sorted({i for key in keys if len(key) == 2 for i in key})
        *numbers, target = [self._floats(row) for row in (*rows, objective)]
        self.matrices, self.slopes, self.constants = map(np.array, zip(*numbers, strict=True))
        self.matrix, self.slope, self.constant = target

    def _floats(self, terms: Terms) -> tuple[Array, Array, float]:
        matrix = np.array([[middle(x) for x in row] for row in self._matrix(terms)])
        slopes = np.array([middle(terms.get(key, 0)) for key in self.values])
        return matrix.ravel(), slopes, middle(terms.get((), 0))

    def _matrix(self, terms: Terms) -> list[list[Any]]:
        upper = {key: x if key[:1] == key[-1:] else x / 2 for key, x in terms.items()}
        return [
            [upper.get((min(i, j), max(i, j)), Fraction(0)) for j in self.elements]
            for i in self.elements
        ]

    def solve(self) -> tuple[float, dict[int, Array], Array]:
        """Solve the program in floats.

        Return the optimal value, the elements of a worst instance by element number, and the
        multipliers of the constraints. The elements are vectors in Euclidean space.
        """
        import cvxpy as cp

        n = len(self.elements)
        G, F = cp.Variable((n, n), PSD=True), cp.Variable(len(self.values))
        flat = cp.vec(G, order="C")
        left = self.matrices @ flat + self.slopes @ F + self.constants
        bounded = left[~self.free] <= 0
        equal = left[self.free] == 0
        problem = cp.Problem(
            cp.Maximize(self.matrix @ flat + self.slope @ F + self.constant), [bounded, equal]
        )
        _solve(problem)
        if G.value is None:
            raise InputError(
                f"the worst-case program is {problem.status}. The requirements must not "
                "contradict each other, and must bound the objective"
            )
        sizes, axes = np.linalg.eigh(G.value)
        columns = (axes * np.sqrt(np.maximum(sizes, 0.0))).tolist()
        found = {i: np.array(x) for i, x in zip(self.elements, columns, strict=True)}
        y = np.zeros(len(self.rows))
        for rows, constraint in ((~self.free, bounded), (self.free, equal)):
            if rows.any():
                y[rows] = constraint.dual_value
        return float(problem.value), found, y

    def multipliers(self, y: Array, limit: float, share: float) -> list[Fraction]:
        """Return multipliers whose proof is valid in spite of rounding errors.

        The optimal multipliers `y` satisfy some inequalities of the proof only with equality, so
        rounding can violate them. The result therefore lies between `y` and the multipliers that
        prove the weaker bound `limit` with the most room in all inequalities. `share` is 0 at `y`,
        and 1 at those. The fractions are corrected so that the functional values cancel exactly.
        """
        import cvxpy as cp

        n = len(self.elements)
        inner = cp.Variable(len(self.rows))
        margin = cp.Variable()
        form = cp.reshape(self.matrices.T @ inner - self.matrix, (n, n), order="C")
        below = [self.constant - self.constants @ inner <= limit, inner[~self.free] >= margin]
        square = (form + form.T) / 2 >> margin * np.eye(n)
        cancelled = self.slopes.T @ inner == self.slope
        _solve(cp.Problem(cp.Maximize(margin), [square, *below, cancelled]))
        if inner.value is None:
            raise SolverError("the solver found no proof of the worst case. Increase `tolerance`")
        y = (1.0 - share) * y + share * inner.value
        # With a common denominator, exact sums of the multipliers have short fractions.
        exact = [Fraction(round(x * 2**60), 2**60) for x in y.tolist()]
        # The values of functionals must cancel exactly. Multipliers near 0 are not changed, so that
        # they stay >= 0.
        large = self.free | (y > 1e-6 * y.max())
        rows, missing = [], []
        for key in self.values:
            numbers = [Fraction(row.get(key, 0)) for row in (*self.rows, self.objective)]
            unit = math.lcm(*(x.denominator for x in numbers))
            *row, right = [int(x * unit) for x in numbers]
            rows.append({i: x for i, x in enumerate(row) if x})
            missing.append(right - sum(x * exact[i] for i, x in rows[-1].items()))
        for i, change in Equations(rows, large.tolist()).correction(missing).items():
            exact[i] += change
        return exact

    def proof(self, multipliers: list[Fraction]) -> Fraction:
        """Return the upper bound on the objective that the multipliers prove in exact arithmetic.

        Raises
        ------
        SolverError
            If the multipliers prove no bound.
        """
        left = {key: -x for key, x in self.objective.items()}
        for x, row in zip(multipliers, self.rows, strict=True):
            for key, number in row.items():
                left[key] = left.get(key, 0) + number * x
        signs = all(x >= 0 for x, free in zip(multipliers, self.free, strict=True) if not free)
        cancelled = not any(left.get(key, 0) for key in self.values)
        if not (signs and cancelled and _positive_definite(self._matrix(left))):
            raise SolverError(
                "the solver found no exact proof of the worst case. Increase `tolerance`, and pass "
                "requirements that bound all elements and that some instance satisfies strictly"
            )
        return Fraction(exact_bracket(-left.get((), Fraction(0))).upper)


def _solve(problem: Any) -> None:
    import cvxpy as cp

    with warnings.catch_warnings():
        # The exact proof decides whether the answer of a solver is accurate enough.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        try:
            problem.solve(cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        except cp.SolverError as error:
            raise SolverError(
                "the solver Clarabel failed on the worst case. Increase `tolerance`, or change the "
                "numbers in the requirements slightly"
            ) from error


def _positive_definite(matrix: list[list[Any]]) -> bool:
    """Return whether every symmetric matrix in the intervals is proved positive definite."""
    ends = [
        [(Fraction(x.lower), Fraction(x.upper)) for x in map(exact_bracket, row)] for row in matrix
    ]
    M = [[(low + high) / 2 for low, high in row] for row in ends]
    # A symmetric matrix with entries of at most `spread` has eigenvalues of at most n · spread.
    spread = max((high - low for row in ends for low, high in row), default=Fraction(0))
    for i, row in enumerate(M):
        row[i] -= len(M) * spread
    for i, pivot in enumerate(M):
        if pivot[i] <= 0:
            return False
        for row in M[i + 1 :]:
            ratio = row[i] / pivot[i]
            row[i:] = [a - ratio * b for a, b in zip(row[i:], pivot[i:], strict=True)]
    return True


def middle(number: Any) -> float:
    """Return a float near a number or near the midpoint of an interval."""
    return exact_bracket(number).middle
