"""Newton's equations of cuts without a matrix, by conjugate gradients: an additive model.

Of cuts, A y is a sum of functions of one feature each, u(x) = Σ_f u_f(x_f), constant between cuts:

    yᵀ(AᵀΘ⁻¹A + D⁻¹)y = Σ_i u(x_i)²/θ_i + Σ_f Σ_b (u_f(b + 1) − u_f(b))²/(4 D_b),

the penalised least squares of an additive model. A feature by itself is tridiagonal in the values
of u_f, of which the first and the last sum to 0. All features by themselves, Jacobi's form of
backfitting (Hastie & Tibshirani 1990, Generalized Additive Models, Ch. 5), precondition the
conjugate gradients; beside them some cuts of each feature, those of largest D, are solved for
together. A product is a pass over the levels of the examples.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.blas import one_blas_thread
from relaxboost._core.compiled import njit
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.block import diagonal_gram

_BLOCK = 131_072
"""Examples at a time: their margins stay in the cache, and so does each feature in its turn."""
_TOGETHER, _SHARE = 1000, 10.0
"""Cuts that are solved for together, at least, and for each cube root of the levels of all
examples: so their factor takes the time of some passes, however many examples there are."""
TOL, LEFT, MOST = 1e-4, 1e-3, 1000
"""What may be left of the right-hand side, in the norm of the preconditioner, since solutions are
refined; of what that leaves, in the refinement; and iterations at most."""
_JITTER = 1e-12
"""Relative addition to the diagonal of the cuts together, which may be equal on the examples."""
MULTIPLY = 2e-11
"""Seconds on one core of a multiplication in a dense factorisation."""
_ENTRY, _SCATTER, _TRIANGLES = 6e-10, 1.5e-9, 4e-4
"""Those of a level in a product, of an entry of a histogram, and of the cuts solved together."""
_SOLVES = 8
"""Right-hand sides of a step."""


def seconds_dense(features: int, m: int, n: int) -> float:
    """Return about how long a step with a matrix of order n takes: histograms and a factor."""
    return _SCATTER * m * features**2 / 2 + MULTIPLY * n**3 / 3


def seconds_of_passes(features: int, m: int, iterations: float) -> float:
    """Return about how long a step takes with so many iterations a right-hand side."""
    return _SOLVES * iterations * (2.0 * _ENTRY * m * features + _TRIANGLES)


@njit(error_model="numpy", fastmath={"contract"})
def _product(codes: NDArray[Any], offsets: Whole, signs: Array, inverse: Array, y: Array) -> Array:
    """Return Bᵀ diag(inverse) B y for B = [A, −1]."""
    features, m = codes.shape
    n = offsets[features]
    values, levels = np.empty(n + features), np.zeros(n + features)
    for f in range(features):
        a, b = offsets[f], offsets[f + 1]
        total = 0.0
        for j in range(a, b):
            total += y[j]
        values[a + f] = -total
        for j in range(a, b):
            values[j + f + 1] = values[j + f] + 2.0 * y[j]
    u = np.empty(_BLOCK)
    last = 0.0
    for start in range(0, m, _BLOCK):
        rows = min(_BLOCK, m - start)
        for i in range(rows):
            u[i] = -y[n] * signs[start + i]
        for f in range(features):
            mine = values[offsets[f] + f :]
            for i in range(rows):
                u[i] += mine[codes[f, start + i]]
        for i in range(rows):
            u[i] *= inverse[start + i]
            last -= u[i] * signs[start + i]
        for f in range(features):
            sums = levels[offsets[f] + f :]
            for i in range(rows):
                sums[codes[f, start + i]] += u[i]
    out = np.empty(n + 1)
    for f in range(features):
        a, b = offsets[f], offsets[f + 1]
        total = levels[a + f : b + f + 1].sum()
        below = 0.0
        for j in range(a, b):
            below += levels[j + f]
            out[j] = total - 2.0 * below
    out[n] = last
    return out


@njit(error_model="numpy")
def _masses(codes: NDArray[Any], offsets: Whole, inverse: Array) -> Array:
    """Return the sum of `inverse` between each two cuts, feature after feature."""
    features, m = codes.shape
    out = np.zeros(offsets[features] + features)
    for f in range(features):
        mine = out[offsets[f] + f :]
        for i in range(m):
            mine[codes[f, i]] += inverse[i]
    return out


@njit(error_model="numpy")
def _factorise(offsets: Whole, mass: Array, D: Array) -> tuple[Array, Array, Array]:
    """Return the factors of each feature's matrix in u, and its solution for e_first + e_last."""
    features = offsets.size - 1
    pivots, below = mass.copy(), np.zeros(mass.size)
    ends = np.zeros(mass.size)
    for f in range(features):
        a, b = offsets[f], offsets[f + 1]
        for j in range(a, b):
            stiff = 0.25 / D[j]
            pivots[j + f] += stiff
            pivots[j + f + 1] += stiff
        for j in range(a, b):
            stiff = 0.25 / D[j]
            below[j + f] = -stiff / pivots[j + f]
            pivots[j + f + 1] -= stiff * stiff / pivots[j + f]
        if b > a:
            ends[a + f] += 1.0
            ends[b + f] += 1.0
            _sweep(pivots, below, ends, a + f, b + f)
    return pivots, below, ends


@njit(error_model="numpy", inline="always")
def _sweep(pivots: Array, below: Array, g: Array, first: int, last: int) -> None:
    for k in range(first, last):
        g[k + 1] -= below[k] * g[k]
    g[last] /= pivots[last]
    for k in range(last - 1, first - 1, -1):
        g[k] = g[k] / pivots[k] - below[k] * g[k + 1]


@njit(error_model="numpy")
def _by_feature(offsets: Whole, factors: tuple[Array, Array, Array], r: Array) -> Array:
    """Return the solution of each feature by itself."""
    pivots, below, ends = factors
    features = offsets.size - 1
    out = np.zeros(r.size)
    g = np.zeros(pivots.size)
    for f in range(features):
        a, b = offsets[f], offsets[f + 1]
        if b == a:
            continue
        for j in range(a, b):
            g[j + f] -= 0.5 * r[j]
            g[j + f + 1] += 0.5 * r[j]
        _sweep(pivots, below, g, a + f, b + f)
        off = (g[a + f] + g[b + f]) / (ends[a + f] + ends[b + f])
        for j in range(a, b):
            high = g[j + f + 1] - off * ends[j + f + 1]
            out[j] = 0.5 * (high - (g[j + f] - off * ends[j + f]))
    return out


class Additive:
    """Solves with M = Bᵀ diag(inverse) B + diag(1/D, 0) + ρ e eᵀ, for B = [A, −1] and A of cuts.

    Parameters
    ----------
    bulk : Bulk
        With levels.
    inverse : array of shape (m,)
        Positive.
    D : array of shape (n,)
        Positive.
    e : array of shape (n + 1,)
    rho : float
    """

    def __init__(self, bulk: Bulk, inverse: Vector, D: Vector, e: Vector, rho: float) -> None:
        from scipy.linalg import cho_factor

        assert bulk.levels is not None
        codes, offsets, _ = self._levels = bulk.levels
        self._inverse, self._D, self._e, self._rho = inverse, D, e, rho
        self._factors = _factorise(offsets, _masses(codes, offsets, inverse), D)
        chosen = _largest(offsets, D, max(_TOGETHER, int(_SHARE * np.cbrt(codes.size))))
        gram = diagonal_gram(bulk.restricted(chosen), inverse)
        self._chosen = np.append(chosen, bulk.n)
        gram += rho * np.outer(e[self._chosen], e[self._chosen])
        place = np.arange(chosen.size)
        gram[place, place] += 1.0 / D[chosen]
        gram.flat[:: len(gram) + 1] *= 1.0 + _JITTER
        with one_blas_thread():
            self._together = cho_factor(gram, lower=True, check_finite=False)
        self.tol = TOL
        self.iterations = 0
        """The most that a right-hand side took."""

    def _times(self, y: Vector) -> Vector:
        out: Vector = _product(*self._levels, self._inverse, y)
        out[:-1] += y[:-1] / self._D
        return out + self._rho * float(self._e @ y) * self._e

    def _near(self, r: Vector) -> Vector:
        """Return the preconditioner's solution."""
        from scipy.linalg import cho_solve

        out: Vector = _by_feature(self._levels.offsets, self._factors, r)
        with one_blas_thread():
            out[self._chosen] += cho_solve(self._together, r[self._chosen], check_finite=False)
        return out

    def solve(self, h: Vector) -> Vector:
        """Return the solution up to `tol`, or the last iterate."""
        x, r = np.zeros_like(h), h.copy()
        p = z = self._near(r)
        size = first = float(r @ z)
        count = 0
        while size > self.tol**2 * first and count < MOST:
            q = self._times(p)
            step = size / float(p @ q)
            x += step * p
            r -= step * q
            z = self._near(r)
            before, size = size, float(r @ z)
            p = z + (size / before) * p
            count += 1
        self.iterations = max(self.iterations, count)
        return x


def _largest(offsets: Whole, D: Vector, most: int) -> Whole:
    """Return the cut of largest D of each so many neighbours, `most` cuts or somewhat less."""
    chosen = []
    for a, b in pairwise(offsets.tolist()):
        groups = max(1, most * (b - a) // D.size)
        ends = np.unique(np.linspace(a, b, groups + 1).astype(int))
        chosen += [p + int(np.argmax(D[p:q])) for p, q in pairwise(ends.tolist())]
    return np.array(chosen)
