"""Newton's equations for stumps, solved by matrix-free conjugate gradients.

A stump is a cut of a feature at a threshold. The cuts divide the values of a feature into
intervals, which are the levels of the feature. Weights y of the stumps define a function u_f of
each feature f, which is constant on each level and jumps by 2 y_j at cut j. The margin of an
example x is the label of x times u(x) = Σ u_f(x_f), the sum over all features. For a diagonal
matrix Θ with the entries θ_i of the examples i,

    yᵀ (Aᵀ Θ⁻¹ A + D⁻¹) y = Σ u(x_i)²/θ_i + Σ (jump at cut j)²/(4 D_j).

The right-hand side is the quadratic form of a penalised additive model. The matrix on the left is
never formed, since a product with it takes only two passes over the levels of all examples.

The preconditioner adds two approximate solutions: of the tridiagonal equations of each feature, and
of the equations of all features on some cuts with large D_j.

References
----------
Hastie & Tibshirani (1990), Generalized Additive Models, Ch. 5, for backfitting.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.blas import MULTIPLICATIONS_PER_ENTRY
from relaxboost._core.compiled import njit
from relaxboost._core.loop import seconds_left
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.block import diagonal_gram
from relaxboost.solvers.interior_point.factor import Factor

MAX_CG_ITERATIONS = 1000
# Well-conditioned equations need ten to a hundred. At the maximum, later steps factorise the matrix
# instead, unless it is too large.
"""The maximum number of conjugate gradient iterations for one right-hand side."""


def _cuts_together(entries: int) -> int:
    # A dense matrix of this order takes as much work to factorise as ten passes over the entries.
    return int(np.cbrt(3.0 * MULTIPLICATIONS_PER_ENTRY * 10.0 * entries))


@njit(error_model="numpy", inline="always")
def _level_values(offsets: Whole, y: Array) -> Array:
    # The values of a step function of each feature. The function jumps by 2 y_j at cut j, and its
    # values at the first and the last level sum to 0.
    features = offsets.size - 1
    values = np.empty(offsets[features] + features)
    # A feature with b − a cuts has one level more, so its levels begin at a + f.
    for f in range(features):
        a = offsets[f]
        b = offsets[f + 1]
        total = 0.0
        for j in range(a, b):
            total += y[j]
        values[a + f] = -total
        for j in range(a, b):
            values[j + f + 1] = values[j + f] + 2.0 * y[j]
    return values


@njit(error_model="numpy", inline="always")
def _cut_sums(offsets: Whole, levels: Array, out: Array) -> None:
    # For each cut, the sum of `levels` above the cut minus the sum below the cut.
    for f in range(offsets.size - 1):
        a = offsets[f]
        b = offsets[f + 1]
        total = levels[a + f : b + f + 1].sum()
        below = 0.0
        for j in range(a, b):
            below += levels[j + f]
            out[j] = total - 2.0 * below


@njit(error_model="numpy", fastmath={"contract"})
def _product(codes: NDArray[Any], offsets: Whole, signs: Array, inverse: Array, y: Array) -> Array:
    # The result is Bᵀ diag(inverse) B y with B = [A, −1]. Here codes[f, i] is the level of feature
    # f at example i, and offsets[f] to offsets[f + 1] − 1 are the cuts of feature f.
    features, m = codes.shape
    n = offsets[features]
    values = _level_values(offsets, y)
    levels = np.zeros(values.size)
    u = -y[n] * signs
    # The first pass sums the functions of all features at each example.
    for f in range(features):
        first = offsets[f] + f
        for i in range(m):
            u[i] += values[first + codes[f, i]]
    # u is B y times the labels. They cancel in the product, except in its last entry.
    u *= inverse
    # The second pass sums over the examples at each level.
    for f in range(features):
        first = offsets[f] + f
        for i in range(m):
            levels[first + codes[f, i]] += u[i]
    out = np.empty(n + 1)
    _cut_sums(offsets, levels, out)
    out[n] = -(u * signs).sum()
    return out


@njit(error_model="numpy")
def _masses(codes: NDArray[Any], offsets: Whole, inverse: Array) -> Array:
    # The sum of `inverse` over the examples at each level of each feature.
    features, m = codes.shape
    out = np.zeros(offsets[features] + features)
    for f in range(features):
        mine = out[offsets[f] + f :]
        for i in range(m):
            mine[codes[f, i]] += inverse[i]
    return out


@njit(error_model="numpy")
def _factorise(offsets: Whole, mass: Array, D: Array) -> tuple[Array, Array, Array]:
    # The factors L diag(pivots) Lᵀ of a tridiagonal matrix for each feature. The matrix is that of
    # a quadratic form in the values of a function at the levels: the sum of mass · value² over the
    # levels, plus the sum of jump²/(4 D_j) over the cuts j. The third result is the solution for
    # the right-hand side 1 at the first and the last level, and 0 elsewhere.
    features = offsets.size - 1
    pivots = mass.copy()
    below = np.zeros(mass.size)
    ends = np.zeros(mass.size)
    for f in range(features):
        a = offsets[f]
        b = offsets[f + 1]
        # The penalty of a jump of φ_k at cut j is its square over 4 D_j.
        for j in range(a, b):
            stiff = 0.25 / D[j]
            pivots[j + f] += stiff
            pivots[j + f + 1] += stiff
        # The loop computes the factor L diag(pivots) Lᵀ of a tridiagonal matrix.
        for j in range(a, b):
            stiff = 0.25 / D[j]
            below[j + f] = -stiff / pivots[j + f]
            pivots[j + f + 1] -= stiff * stiff / pivots[j + f]
        # The constraint that both ends of φ_k sum to 0 borders the matrix with one column.
        if b > a:
            ends[a + f] += 1.0
            ends[b + f] += 1.0
            _sweep(pivots, below, ends, a + f, b + f)
    return pivots, below, ends


@njit(error_model="numpy", inline="always")
def _sweep(pivots: Array, below: Array, g: Array, first: int, last: int) -> None:
    # Solve L diag(pivots) Lᵀ x = g for one feature, and overwrite g[first : last + 1] with x.
    # Forward substitution comes first, then backward substitution.
    for k in range(first, last):
        g[k + 1] -= below[k] * g[k]
    g[last] /= pivots[last]
    for k in range(last - 1, first - 1, -1):
        g[k] = g[k] / pivots[k] - below[k] * g[k + 1]


@njit(error_model="numpy")
def _by_feature(offsets: Whole, factors: tuple[Array, Array, Array], r: Array) -> Array:
    # Solve Newton's equations restricted to the cuts of each feature, for the right-hand side r.
    pivots, below, ends = factors
    features = offsets.size - 1
    out = np.zeros(r.size)
    g = np.zeros(pivots.size)
    for f in range(features):
        a = offsets[f]
        b = offsets[f + 1]
        # A feature without cuts has no unknowns.
        if b == a:
            continue
        # A right-hand side for the jumps at the cuts becomes one for the values at the levels.
        for j in range(a, b):
            g[j + f] -= 0.5 * r[j]
            g[j + f + 1] += 0.5 * r[j]
        _sweep(pivots, below, g, a + f, b + f)
        # Restore the constraint on the ends, and return from levels to the jumps at the cuts.
        off = (g[a + f] + g[b + f]) / (ends[a + f] + ends[b + f])
        for j in range(a, b):
            high = g[j + f + 1] - off * ends[j + f + 1]
            out[j] = 0.5 * (high - (g[j + f] - off * ends[j + f]))
    return out


class Additive:
    """Conjugate gradients for the matrix M = Bᵀ diag(inverse) B + diag(1/D, 0) + ρ e eᵀ.

    M is the matrix of Newton's equations for the columns; see `ByColumns`. B is [A, −1], where A is
    the game matrix and −1 a column of entries −1.

    Parameters
    ----------
    bulk : Bulk
        The game matrix A, whose columns are n stumps (cuts of a feature at a threshold).
    inverse : array of shape (m,)
        The reciprocals of the diagonal entries of the matrix K for the m examples.
    D : array of shape (n,)
        The positive diagonal of the matrix D in Newton's equations.
    e : array of shape (n + 1,)
        The vector e of the outer product e eᵀ.
    rho : float
        The weight ρ of the outer product.
    """

    def __init__(self, bulk: Bulk, inverse: Vector, D: Vector, e: Vector, rho: float) -> None:
        assert bulk.levels is not None
        self._levels = bulk.levels
        codes, offsets, _ = bulk.levels
        self._inverse = inverse
        self._D = D
        self._e = e
        self._rho = rho
        # Conjugate gradients find a third of the digits of a double, and iterative refinement
        # doubles them. If every column has one sign, ρ e outweighs the rest of a right-hand side,
        # and a third of the digits would leave gaps of 1e-4 to 1e-6. Half of them cost little.
        digits = 1.0 / 2.0 if (e[:-1] == 1.0).all() else 1.0 / 3.0
        self._tolerance = float(np.finfo(np.float64).eps) ** digits
        """The largest residual of a solution, relative to the right-hand side, in the
        preconditioner's norm."""
        self._by_feature = _factorise(offsets, _masses(codes, offsets, inverse), D)
        chosen = _largest(offsets, D, _cuts_together(codes.size))
        self._chosen = np.append(chosen, bulk.n)
        # The preconditioner couples the features by the matrix of some of the cuts and of Δλ.
        gram = diagonal_gram(bulk.restricted(chosen), inverse)
        gram += rho * np.outer(e[self._chosen], e[self._chosen])
        place = np.arange(chosen.size)
        gram[place, place] += 1.0 / D[chosen]
        self._together = Factor(gram)
        self.iterations = 0
        """The largest number of conjugate gradient iterations of a `solve` call."""

    def _times(self, y: Vector) -> Vector:
        out: Vector = _product(*self._levels, self._inverse, y)
        out[:-1] += y[:-1] / self._D
        return out + self._rho * float(self._e @ y) * self._e

    def _precondition(self, r: Vector) -> Vector:
        # The first summand solves the equations of each feature by itself. The second summand
        # couples the features, for a subset of the cuts.
        out: Vector = _by_feature(self._levels.offsets, self._by_feature, r)
        out[self._chosen] += self._together.solve(r[self._chosen])
        return out

    def solve(self, h: Vector) -> Vector:
        """Solve M x = h to within the tolerance.

        After the maximum number of iterations, return the last iterate. Raise `TimeUp` at the time
        limit.
        """
        x = np.zeros_like(h)
        r = h.copy()
        p = z = self._precondition(r)
        size = float(r @ z)
        least = self._tolerance**2 * size
        count = 0
        # This is the preconditioned method of conjugate gradients, which starts from 0.
        while size > least and count < MAX_CG_ITERATIONS:
            seconds_left()
            q = self._times(p)
            step = size / float(p @ q)
            x += step * p
            r -= step * q
            z = self._precondition(r)
            before = size
            size = float(r @ z)
            p = z + (size / before) * p
            count += 1
        self.iterations = max(self.iterations, count)
        return x


def _largest(offsets: Whole, D: Vector, most: int) -> Whole:
    # Neighbouring cuts are similar. So each feature is divided into groups of neighbouring cuts,
    # about `most` for all features, and the cut with the largest D represents its group.
    chosen = []
    for a, b in pairwise(offsets.tolist()):
        groups = max(1, most * (b - a) // D.size)
        ends = np.unique(np.linspace(a, b, groups + 1).astype(int))
        chosen += [p + int(np.argmax(D[p:q])) for p, q in pairwise(ends.tolist())]
    return np.array(chosen)
