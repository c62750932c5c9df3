"""Tools that move multipliers into dual cones and solve linear equations for multipliers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.blas import SMALL_ORDER
from relaxboost._core.rounding import MIN_PRECISE, UNIT
from relaxboost.relaxations.cone_form import ConeForm, square_map

LONG_COLUMN_ENTRIES = 20.0
"""The number of nonzero entries above which a column of a sparse matrix S is long.

If most entries are in long columns, S Sᵀ is too dense to be factorised.
"""


class DualCones:
    """The dual cones of a cone program, which contain its feasible multipliers.

    The first m variables of the program are the entries of d.
    """

    def __init__(self, form: ConeForm, m: int) -> None:
        from scipy import sparse

        self._form = form
        # A row that is scaled by 1000 has a multiplier that is smaller by this factor. The rows of
        # other cones have no units of their own, since scaling a single row changes the cone.
        self._unit = np.ones(form.right.size)
        plain = slice(0, form.zero + form.half)
        largest = abs(form.rows[plain]).max(axis=1).toarray().ravel()
        self._unit[plain] = np.where(largest > 0.0, largest, 1.0)
        # A multiplier outside an exponential cone is repaired by its second or its third entry.
        # The third one is raised if only the second one would change q_z.
        alone = np.diff(sparse.csr_array(form.rows[:, m:]).indptr) == 0
        self._third = alone[form.exponentials][2::3] & ~alone[form.exponentials][1::3]

    def room(self, point: Vector) -> Vector:
        """Return how far each multiplier can move into the dual cones.

        A move reduces the lower bound by about 1. For a cone of several rows, only one row has a
        nonzero distance.
        """
        form = self._form
        most = 1.0 / np.maximum(self._unit, np.abs(form.right - form.rows @ point))
        room = np.zeros(form.right.size)
        plain = slice(0, form.zero + form.half)
        room[plain] = most[plain]
        for rows, size in form.second_order():
            room[rows][::size] = most[rows][::size]
        for rows, _ in form.matrices():
            room[rows][:1] = most[rows].min()
        room[form.exponentials][1::3] = most[form.exponentials][1::3]
        return room

    def raised(self, y: Vector, room: Vector) -> Vector:
        """Raise the multipliers `y` until a box around them is in the dual cones.

        The half-widths of the box are the entries of `room`.
        """
        form = self._form
        y = y.copy()
        half = slice(form.zero, form.zero + form.half)
        y[half] = np.maximum(y[half], room[half])
        for rows, size in form.second_order():
            part = y[rows].reshape(-1, size)
            around = room[rows].reshape(-1, size)
            reach = np.abs(part[:, 1:]) + around[:, 1:]
            largest = reach.max(axis=1, initial=1e-300)  # Squares of tiny numbers underflow.
            norm = largest * np.sqrt(np.square(reach / largest[:, None]).sum(axis=1))
            norm = norm * (1.0 + (size + 8) * UNIT) + around[:, 0]
            part[:, 0] = np.maximum(part[:, 0], norm)
        for rows, side in form.matrices():
            y[rows] = _positive(y[rows], side, float(np.linalg.norm(room[rows])))
        if form.exponential:
            rows = form.exponentials
            y[rows] = self._above(y[rows].reshape(-1, 3), room[rows].reshape(-1, 3)).ravel()
        return y

    def _above(self, y: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
        # Each row (a, b, c) of the result stays in the dual exponential cone if its entries change
        # by at most `room`. The condition on b and c jumps at a = 0, so all these a are below 0.
        a = np.minimum(y[:, 0], -np.where(room[:, 0] > 0.0, 2.0 * room[:, 0] + MIN_PRECISE, 0.0))
        flat = a > -MIN_PRECISE
        least_b = np.full(a.size, -np.inf)
        b = y[:, 1]
        c = np.maximum(y[:, 2], room[:, 2])
        with np.errstate(all="ignore"):
            # The bounds on b and c are convex in a, so that they are largest at an end of the room.
            for end in (room[:, 0], -room[:, 0]):
                steep = np.where(flat, 1.0, end - a)
                exponent = np.clip((room[:, 1] - b) / steep, -700.0, 700.0) - 1.0
                needed = steep * np.exp(exponent) * (1.0 + 1e-13)
                least_c = np.where(self._third, needed, steep * MIN_PRECISE) + room[:, 2]
                c = np.where(flat, c, np.maximum(c, least_c))
            for end in (room[:, 0], -room[:, 0]):
                steep = np.where(flat, 1.0, end - a)
                growth = 1.0 + np.log((c - room[:, 2]) / steep)
                rounding = 8.0 * UNIT * steep * (1.0 + np.abs(growth))
                least_b = np.maximum(least_b, rounding - steep * growth)
        b = np.maximum(b, np.where(flat, 0.0, least_b) + room[:, 1])
        return np.stack([np.where(flat, 0.0, a), b, c], axis=1)

    @property
    def moves(self) -> Vector:
        """The move of each multiplier that changes a reduced cost by about 1."""
        return 1.0 / self._unit

    def metric(self, y: Vector, wanted: float) -> Any:
        """Return a matrix R such that y + R x stays (almost) in the dual cones for short x.

        R Rᵀ is about the inverse Hessian of the barrier of the cones. Multipliers of equations are
        free, and scaled by the larger of `wanted` and the largest multiplier.
        """
        from scipy import sparse

        form = self._form
        # The size of a move is the geometric mean of the multiplier and the largest multiplier. If
        # it were the size of the multiplier, a tiny multiplier could not grow to the size that the
        # equations require.
        share = np.abs(y) * self._unit
        largest = float(share.max(initial=1e-12))
        size = np.sqrt(share + 1e-12 * largest) * math.sqrt(largest)
        size[: form.zero] += max(largest, wanted)
        size /= self._unit
        blocks = []
        for rows, k in form.second_order():
            part = y[rows].reshape(-1, k)
            with np.errstate(over="ignore"):
                length = np.sqrt(np.square(part[:, 1:]).sum(axis=1))
            spare = np.maximum(part[:, 0] - length, 0.0)
            size[rows] = np.repeat(np.sqrt(spare * part[:, 0]), k)
            # The multipliers of a second-order cone may always be scaled together.
            cone = np.repeat(np.arange(len(part)), k)
            blocks.append((rows, sparse.csr_array((y[rows], (np.arange(cone.size), cone)))))
        for rows, side in form.matrices():
            size[rows] = 0.0
            blocks.append((rows, _congruences(y[rows], side)))
        placed = [
            sparse.vstack([
                sparse.csr_array((rows.start, block.shape[1])),
                block,
                sparse.csr_array((y.size - rows.stop, block.shape[1])),
            ])
            for rows, block in blocks
        ]  # fmt: skip
        return sparse.csr_array(sparse.hstack([sparse.diags_array(size), *placed]))


def shortest(spread: Any, q: Vector) -> Vector:
    """Return the shortest x with spread @ x = q up to rounding, for a sparse `spread`."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    # A multiple of the identity above rounding errors avoids zero pivots of dependent rows.
    counts = np.diff(spread.indptr)
    squares = spread.multiply(spread).sum(axis=1)
    if counts @ counts <= LONG_COLUMN_ENTRIES * counts.sum():
        system = spread @ spread.T + sparse.diags_array(1e-14 * squares + 1e-300)
        return np.asarray(spread.T @ splu(sparse.csc_array(system), "MMD_AT_PLUS_A").solve(q))
    # A long column fills spread @ spread.T, but not this larger system.
    size = counts.size
    ridge = sparse.diags_array(1e-15 * squares + 1e-300)
    system = sparse.block_array([[sparse.eye_array(size), spread.T], [spread, -ridge]])
    right = np.concatenate([np.zeros(size), q])
    factor = splu(
        sparse.csc_array(system),
        "MMD_AT_PLUS_A",
        diag_pivot_thresh=0.01,
        options={"SymmetricMode": True},
    )
    return np.asarray(factor.solve(right)[:size])


def least_singular_value(spread: Any) -> float:
    """Return a rigorous lower bound on the smallest singular value of a matrix with unit rows.

    The bound is 0 if none is proved. If L Lᵀ equals spread @ spread.T − λ I up to an error of norm
    e, then no eigenvalue of spread @ spread.T is below λ − e (Rump 2006, "Verification of positive
    definiteness").
    """
    from scipy import sparse

    spread = sparse.csr_array(spread)
    lengths = np.bincount(spread.indices, minlength=spread.shape[1])
    if lengths @ lengths > LONG_COLUMN_ENTRIES * lengths.sum():
        # A long column makes the product dense. No singular value becomes larger if the long
        # columns are left out, so that the bound stays valid.
        bound = _least_singular_value(spread[:, lengths <= LONG_COLUMN_ENTRIES])
        if bound > 0.0 or spread.shape[0] > SMALL_ORDER:
            return bound
    return _least_singular_value(spread)


def _least_singular_value(spread: Any) -> float:
    from scipy import sparse
    from scipy.sparse.linalg import splu

    square = sparse.csc_array(spread @ spread.T)
    count = square.shape[0]
    if not count:
        return 1.0
    eye = sparse.eye_array(count, format="csc")
    # Inverse iteration estimates the least eigenvalue, and fractions of the estimate are proved.
    inverse = splu(sparse.csc_array(square + 1e-14 * eye), "MMD_AT_PLUS_A")
    vector = np.ones(count) + np.arange(count) / count
    for _ in range(8):
        vector = inverse.solve(vector / np.linalg.norm(vector))
    level = 1.0 / float(np.linalg.norm(vector))
    for part in (0.5, 0.1, 0.01):
        moved = sparse.csc_array(square - part * level * eye)
        try:
            factor = splu(
                moved, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:  # SciPy raises this error if a pivot is zero.
            continue
        pivots = factor.U.diagonal()
        if not (pivots > 0.0).all() or (factor.perm_r != factor.perm_c).any():
            continue
        root = sparse.csr_array(factor.L @ sparse.diags_array(np.sqrt(pivots)))[factor.perm_r]
        left = abs(moved - root @ root.T).sum(axis=1).max()
        terms = sum(abs(x) @ (abs(x).T @ np.ones(count)) for x in (spread, root))
        longest = max(np.diff(spread.indptr).max(), np.diff(root.indptr).max())
        error = left + 2.0 * UNIT * (longest + 8.0) * (float(terms.max()) + 1.0)
        if error <= 0.5 * part * level:
            return math.sqrt(part * level - error)
    return 0.0


def implied_rows(spread: Any, terms: Any, unit: Vector) -> NDArray[np.int64]:
    """Return the indices of rows of `terms` that are exact linear combinations of other rows.

    `spread` is `terms` without its first column, with scaled columns, and with each row divided by
    its entry of `unit`. The null space suggests combinations, which are rounded to simple fractions
    and checked exactly.
    """
    from scipy.linalg import qr

    if spread.shape[0] > SMALL_ORDER:
        return np.empty(0, dtype=np.int64)
    values, vectors = np.linalg.eigh((spread @ spread.T).toarray())
    kernel = (vectors / unit[:, None])[:, values < 1e-9]
    # In terms of these pivots, each combination has one pivot with weight 1, and no other pivot.
    pivots = qr(kernel.T, mode="r", pivoting=True)[1][: kernel.shape[1]]
    weights = kernel @ np.linalg.pinv(kernel[pivots])
    found = []
    for row, combination in zip(pivots, weights.T, strict=True):
        fractions = [Fraction(x).limit_denominator(64) for x in combination]
        used = [i for i, weight in enumerate(fractions) if weight]
        table = terms[used].tocsc()
        sums = (
            sum(fractions[used[i]] * Fraction(x) for i, x in zip(rows, entries, strict=True))
            for rows, entries in (
                (table.indices[part].tolist(), table.data[part].tolist())
                for part in starmap(slice, pairwise(table.indptr.tolist()))
            )
        )
        if not any(sums):
            found.append(row)
    return np.array(found, dtype=np.int64)


def merged_equations(rows: Any) -> NDArray[np.float64] | None:
    """Return a matrix that moves multipliers of dependent equations to independent ones.

    The lower bound stays valid. The result is None if all equations are independent, or if there
    are too many to check.
    """
    from scipy import sparse
    from scipy.linalg import qr

    length = np.sqrt(rows.multiply(rows).sum(axis=1))
    unit = np.where(length > 0.0, length, 1.0)
    scaled = sparse.csr_array(sparse.diags_array(1.0 / unit) @ rows)
    if scaled.shape[0] > SMALL_ORDER or least_singular_value(scaled) > 0.0:
        return None
    dense = scaled.toarray()
    triangle, order = qr(dense.T, mode="r", pivoting=True)
    sizes = np.abs(np.diagonal(triangle))
    kept = order[: sizes.size][sizes > 1e-11]
    weights = np.zeros((order.size, order.size))
    weights[kept] = np.linalg.lstsq(dense[kept].T, dense.T)[0]
    weights[:, kept] = np.eye(order.size)[:, kept]
    return weights * (unit / unit[:, None])


def _positive(triangle: Vector, side: int, room: float) -> Vector:
    of = square_map(side)
    values = np.linalg.eigvalsh((of @ triangle).reshape(side, side))
    least = 16.0 * side * UNIT * np.abs(values).max(initial=0.0) + room
    short = max(least - float(values.min()), 0.0)
    return triangle + short * (of.T @ np.eye(side).ravel())


def _congruences(triangle: Vector, side: int) -> Any:
    """Return directions in which a positive semidefinite matrix can move within its cone.

    The directions are the triangles of L E Lᵀ, where L Lᵀ is the matrix of `triangle` and E a
    symmetric basis matrix. Above order 12, E is only the identity.
    """
    from scipy import sparse

    of = square_map(side)
    values, vectors = np.linalg.eigh((of @ triangle).reshape(side, side))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    if side > 12:
        return sparse.csr_array((of.T @ (root @ root.T).ravel())[:, None])
    return sparse.csr_array(of.T @ (of.T @ np.kron(root, root).T).T)
