"""Compiled loops over columns of margin matrices. The number of threads changes no result.

Each signature of a kernel takes 0.1 s to compile, and each allocation, `min`, `sum` or search in it
takes another 0.1 s. Therefore a kernel is a plain loop over arrays that its caller allocates.
Everything else is done in Python, NumPy or BLAS.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit, thread_pool

# The compiler may reorder and fuse sums to vectorise them. The error bound with γ_n holds for every
# order of the terms.
_SUM = {"reassoc", "contract"}
MIN_VECTORISED_TERMS = 64
"""The number of terms from which sums use vector instructions.

The last bits of such sums depend on the CPU. Shorter sums, and so results for small games, are the
same on every CPU.
"""


def _read_only(H: NDArray[Any]) -> NDArray[Any]:
    # Writable and read-only arrays differ in signature, and each signature would be compiled.
    if H.flags.writeable:
        H = H.view()
        H.flags.writeable = False
    return H


def dots(H: NDArray[Any], used: int, d: Array) -> Array:
    """Return the inner products of d with the first `used` columns of the Fortran-ordered `H`."""
    out = np.empty(8 * math.ceil(used / 8))  # `_many_dots` writes eight results at a time.
    sums = _few_dots if H.shape[0] < MIN_VECTORISED_TERMS else _many_dots
    sums(_read_only(H), used, d, out)
    return out[:used]


@njit(nogil=True)
def _few_dots(H: NDArray[Any], used: int, d: Array, out: Array) -> None:
    for j in range(used):
        total = 0.0
        for i in range(d.shape[0]):
            total += H[i, j] * d[i]
        out[j] = total


@njit(fastmath=_SUM, nogil=True)
def _many_dots(H: NDArray[Any], used: int, d: Array, out: Array) -> None:
    # Eight columns share each load of an entry of `d`, and the CPU converts entries of some columns
    # while it loads those of others. All are summed in the same order. The last one is repeated.
    last = used - 1
    for j in range(0, used, 8):
        a, b = H[:, j], H[:, min(j + 1, last)]
        c, e = H[:, min(j + 2, last)], H[:, min(j + 3, last)]
        f, g = H[:, min(j + 4, last)], H[:, min(j + 5, last)]
        h, k = H[:, min(j + 6, last)], H[:, min(j + 7, last)]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(d.shape[0]):
            v = d[i]
            s0 += a[i] * v
            s1 += b[i] * v
            s2 += c[i] * v
            s3 += e[i] * v
            s4 += f[i] * v
            s5 += g[i] * v
            s6 += h[i] * v
            s7 += k[i] * v
        out[j], out[j + 1], out[j + 2], out[j + 3] = s0, s1, s2, s3
        out[j + 4], out[j + 5], out[j + 6], out[j + 7] = s4, s5, s6, s7


def dots_shared(H: NDArray[Any], used: int, d: Array) -> Array:
    """Return the inner products of `dots`, bit for bit, computed by several threads."""
    pool, threads = thread_pool()
    if threads == 1:
        return dots(H, used, d)
    # Each thread gets at least two columns, because NumPy treats an array of one column as ordered
    # by rows, which would change the order of sums.
    cuts = np.linspace(0, used, min(threads, max(used // 2, 1)) + 1).astype(int)
    parts = [H[:, a:b] for a, b in pairwise(cuts.tolist()) if b > a]
    return np.concatenate(list(pool.map(lambda part: dots(part, part.shape[1], d), parts)))


@njit()
def _sums_below(codes: NDArray[Any], cuts: int, yd: Array, below: Array) -> None:
    """For each cut of a feature, write the sum of y_i d_i over the examples below it to `below`."""
    for k in range(cuts + 1):
        below[k] = 0.0
    for i in range(yd.shape[0]):
        below[codes[i]] += yd[i]
    total = 0.0
    for k in range(cuts):
        total += below[k]
        below[k] = total


@njit()
def stump_column(codes: NDArray[Any], offsets: Whole, y: Array, j: int, out: NDArray[Any]) -> None:
    """Write column j to `out`: the label y above the cut, and −y otherwise."""
    f = 0
    while offsets[f + 1] <= j:
        f += 1
    cut = j - offsets[f]
    levels = codes[f]
    for i in range(out.shape[0]):
        out[i] = 1 if (levels[i] > cut) == (y[i] > 0.0) else -1


def _one_per_level(offsets: Whole) -> Array:
    return np.empty(int((offsets[1:] - offsets[:-1]).max()) + 1)


def stump_edges(codes: NDArray[Any], offsets: Whole, yd: Array) -> Array:
    """Return the edges of all stumps in column order.

    `codes` contains the number of cuts below each value, with features in rows. `yd` contains the
    products of labels and weights.
    """
    out = np.empty(offsets[-1])
    _stump_edges(codes, offsets, yd, float(np.add.reduce(yd)), _one_per_level(offsets), out)
    return out


@njit()
def _stump_edges(
    codes: NDArray[Any], offsets: Whole, yd: Array, total: float, below: Array, out: Array
) -> None:
    # The edge of the stump that cuts after the level b is Σ y d − 2 Σ_{code <= b} y d.
    for f in range(codes.shape[0]):
        start = offsets[f]
        cuts = offsets[f + 1] - start
        _sums_below(codes[f], cuts, yd, below)
        for k in range(cuts):
            out[start + k] = total - 2.0 * below[k]


def stump_best(
    codes: NDArray[Any], offsets: Whole, yd: Array, columns: Whole
) -> tuple[tuple[int, float], Array]:
    """Return the index and the edge of the stump with the largest absolute edge.

    Also return the edges of the stumps with the indices `columns`.
    """
    total = float(np.add.reduce(yd))
    some = np.empty(columns.size)
    if math.isnan(total):  # In this case every edge is nan.
        some[:] = total
        return (0, total), some
    below = _one_per_level(offsets)
    return _stump_best(codes, offsets, yd, total, below, columns, some), some


@njit()
def _stump_best(
    codes: NDArray[Any],
    offsets: Whole,
    yd: Array,
    total: float,
    below: Array,
    columns: Whole,
    some: Array,
) -> tuple[int, float]:
    best = 0
    peak = 0.0
    size = np.int64(0)  # Sizes are compared as bits; see `apart`.
    for f in range(codes.shape[0]):
        start, stop = offsets[f], offsets[f + 1]
        _sums_below(codes[f], stop - start, yd, below)
        most = np.int64(0)
        for k in range(stop - start):
            here = np.float64(abs(total - 2.0 * below[k])).view(np.int64)
            most = here if here > most else most
        if most > size:  # Few features get here, so the place is searched only here.
            k = 0
            size = most
            while np.float64(abs(total - 2.0 * below[k])).view(np.int64) != most:
                k += 1
            best = start + k
            peak = total - 2.0 * below[k]
        for place in range(columns.shape[0]):
            if start <= columns[place] < stop:
                some[place] = total - 2.0 * below[columns[place] - start]
    return best, peak


@njit()
def _below(codes: NDArray[Any], offsets: Whole, weights: Array) -> tuple[Array, Array]:
    """Return the total weight of the cuts below each value, and that of all cuts per feature.

    The first result has features in rows. `weights` has one entry for each cut, a column of the
    matrix.
    """
    features, m = codes.shape
    below, totals = np.zeros((features, m)), np.zeros(features)  # Numba aligns these arrays.
    for f in range(features):
        sums = np.zeros(offsets[f + 1] - offsets[f] + 1)
        for b in range(sums.shape[0] - 1):
            sums[b + 1] = sums[b] + weights[offsets[f] + b]
        for i in range(m):
            below[f, i] = sums[codes[f, i]]
        totals[f] = sums[-1]
    return below, totals


def stump_margins(codes: NDArray[Any], offsets: Whole, signs: Array, w: Array) -> Array:
    """Return the margins A w of all examples, for a weight on every stump.

    A stump predicts +1 for an example above its cut, and −1 otherwise.
    """
    u = np.zeros(codes.shape[1])
    _stump_margins(codes, offsets, w, np.empty(int(np.diff(offsets).max()) + 1), u)
    u *= signs
    return u


@njit()
def _stump_margins(codes: NDArray[Any], offsets: Whole, w: Array, values: Array, u: Array) -> None:
    # The labels are treated as +1. For each level, the weights of the cuts below and above it are
    # summed separately, so that each weight is rounded only a few times.
    for f in range(codes.shape[0]):
        start = offsets[f]
        cuts = offsets[f + 1] - start
        if not w[start : start + cuts].any():
            continue  # This test is faster than a pass over the examples.
        above = below = 0.0
        for b in range(cuts, -1, -1):
            values[b] = -above
            above += w[start + b - 1] if b else 0.0
        for b in range(cuts):
            below += w[start + b]
            values[b + 1] += below
        levels = codes[f]
        for i in range(u.shape[0]):
            u[i] += values[levels[i]]


@njit(fastmath=_SUM, nogil=True)
def _gram_rows(below: Array, total: float, signs: Array, first: int, out: Array) -> None:
    features = below.shape[0]
    for i in range(first, first + out.shape[0]):
        row = out[i - first]
        for j in range(i + 1):
            row[j] = 0.0
        for f in range(features):
            here = below[f, i]
            for j in range(i + 1):
                row[j] += abs(here - below[f, j])
        for j in range(i + 1):
            row[j] = signs[i] * signs[j] * (total - 2.0 * row[j])


def stump_gram(codes: NDArray[Any], offsets: Whole, signs: Array, scaling: Array) -> Array:
    """Return the lower triangle of A diag(scaling) Aᵀ, where the columns of A are all stumps."""
    below, totals = _below(codes, offsets, scaling)
    m = codes.shape[1]
    out = np.zeros((m, m))
    total = float(totals.sum())
    pool, threads = thread_pool()
    cuts = np.unique((m * np.sqrt(np.linspace(0.0, 1.0, 4 * threads + 1))).astype(int))
    parts = [(a, out[a:b]) for a, b in pairwise(cuts.tolist())]
    list(pool.map(lambda part: _gram_rows(below, total, signs, part[0], part[1]), parts))
    return out


@njit(nogil=True)
def _cross_block(
    codes: tuple[NDArray[Any], NDArray[Any]],
    weights: Array,
    table: Array,
    out: Array,
    place: tuple[int, int],
) -> None:
    # The entry of the cuts a and b is Σ weights · s_a t_b for the sides s_a, t_b = ±1 of examples.
    # The block is at `place` in `out`, because slices would need more signatures. `table` is a zero
    # matrix with one more row and column than the block.
    left, right = codes
    first, start = place
    rows, cols = table.shape[0] - 1, table.shape[1] - 1
    for i in range(weights.shape[0]):
        table[left[i], right[i]] += weights[i]
    for a in range(rows + 1):
        for b in range(cols):
            table[a, b + 1] += table[a, b]
    for a in range(rows):
        for b in range(cols + 1):
            table[a + 1, b] += table[a, b]
    total = table[rows, cols]
    for a in range(rows):
        for b in range(cols):
            alone = total - 2.0 * table[a, cols] - 2.0 * table[rows, b]
            out[first + a, start + b] = alone + 4.0 * table[a, b]


@njit(nogil=True)
def stump_rows(codes: NDArray[Any], offsets: Whole, out: Array) -> None:
    """Write the predictions of all stumps to `out`, with examples in rows and stumps in columns.

    A prediction is −1 up to the cut, and +1 above it.
    """
    features, m = codes.shape
    for i in range(m):
        for f in range(features):
            start = offsets[f]
            code = codes[f, i]
            for b in range(offsets[f + 1] - start):
                out[i, start + b] = 1.0 if code > b else -1.0


def stump_cross(codes: NDArray[Any], offsets: Whole, weights: Array, out: Array) -> None:
    """Write the lower triangle of Aᵀ diag(weights) A to `out`; the columns of A are all stumps."""
    parts = list(pairwise(offsets.tolist()))

    def fill(f: int) -> None:
        a, b = parts[f]
        for g, (c, e) in enumerate(parts[: f + 1]):
            if b > a and e > c:  # A restriction leaves many features without cuts.
                table = np.zeros((b - a + 1, e - c + 1))
                _cross_block((codes[f], codes[g]), weights, table, out, (a, c))

    pool, _ = thread_pool()
    list(pool.map(fill, reversed(range(len(parts)))))  # The largest tasks come first.


Compressed = tuple[Whole, Whole, Array]
"""The arrays indptr, indices (increasing in each row) and data of a compressed sparse matrix."""


@njit(nogil=True)
def sparse_cross(transposed: Compressed, A: Compressed, weights: Array, out: Array) -> None:
    """Write the lower triangle of Aᵀ diag(weights) A to `out`."""
    starts, examples, values = transposed
    firsts, columns, entries = A
    seen = firsts.copy()  # This is the first unused entry of each row of A.
    # The loop computes one row at a time, because a row fits in the cache.
    for j in range(out.shape[0]):
        row = out[j]
        row[: j + 1] = 0.0
        for p in range(starts[j], starts[j + 1]):
            i = examples[p]
            scaled = weights[i] * values[p]
            seen[i] += 1
            across = columns[firsts[i] : seen[i]]
            beside = entries[firsts[i] : seen[i]]
            for q in range(across.size):
                row[np.uint32(across[q])] += scaled * beside[q]  # An unsigned index is faster.


def peaks(edges: Array, columns: Whole, level: float, both: bool) -> Whole:
    """Return the sorted indices of columns with large edges.

    The increasing indices `columns` divide the other columns into intervals. From each interval the
    column with the largest edge is returned if the edge exceeds `level`. With `both`, the column
    with the smallest edge is also returned if the edge is below −`level`.
    """
    ends = np.append(columns, edges.size)
    out = np.empty(2 * ends.size, dtype=np.int64)
    found = out[: _peaks(edges, ends, level, both, out)]
    found.sort()  # In a gap, the smallest edge may come before the largest.
    return found


@njit()
def _peaks(edges: Array, ends: Whole, level: float, both: bool, out: Whole) -> int:
    found = start = 0
    for stop in ends:
        high = low = -1
        for j in range(start, stop):
            if edges[j] > level and (high < 0 or edges[j] > edges[high]):
                high = j
            if both and -edges[j] > level and (low < 0 or edges[j] < edges[low]):
                low = j
        if high >= 0:
            out[found] = high
            found += 1
        if low >= 0:
            out[found] = low
            found += 1
        start = stop + 1
    return found


@njit(error_model="numpy")
def reach(edges: Array, change: Array, level: float, rise: float, both: bool) -> float:
    """Return the largest step length t in [0, 1] before an edge exceeds the bound.

    After the step, the edges are edges + t · change, and the bound is level + t · rise. With
    `both`, the bound applies to absolute values. The edges must satisfy the bound at t = 0.
    """
    t = 1.0
    for j in range(edges.size):
        if level - edges[j] < t * (change[j] - rise):
            t = (level - edges[j]) / (change[j] - rise)
        if both and level + edges[j] < t * (-change[j] - rise):
            t = (level + edges[j]) / (-change[j] - rise)
    return t if t > 0.0 else 0.0


def first_largest(edges: Array) -> tuple[int, float]:
    """Return the index and value of the first edge with the largest absolute value."""
    best = int(np.abs(edges).argmax())
    return best, float(edges[best])


@njit()
def add_scaled(u: Array, column: NDArray[Any], c: float) -> None:
    """Add `c` times `column` to `u` in place."""
    for i in range(u.shape[0]):
        u[i] += c * column[i]


@njit()
def apart(a: NDArray[Any], s: float, b: NDArray[Any], t: float, out: Array) -> float:
    """Write s·a − t·b to `out`, and return max |out_i|."""
    bits = np.int64(0)  # The bits of non-negative doubles have the order of their values.
    for i in range(a.shape[0]):
        out[i] = s * a[i] - t * b[i]
        here = np.float64(abs(out[i])).view(np.int64)
        bits = here if here > bits else bits
    return np.int64(bits).view(np.float64)


@njit(error_model="numpy")
def within(d: Array, most: float) -> bool:
    """Return whether all entries of `d` lie in [−most, most], False if one is nan."""
    inside = 0
    for i in range(d.shape[0]):
        inside += abs(d[i]) <= most
    return inside == d.shape[0]


def largest(v: Array) -> float:
    """Return the largest absolute value in `v`."""
    return max(float(v.max()), -float(v.min()))


@njit(fastmath=_SUM)
def _many_products(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit()
def _few_products(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


def dot(a: Array, b: Array) -> float:
    """Return the inner product <a, b>.

    Unlike in BLAS, the result does not depend on the number of threads.
    """
    return float(_few_products(a, b) if a.size < MIN_VECTORISED_TERMS else _many_products(a, b))


def along(u: Array, v: Array, eta: float) -> Array:
    """Return u + eta · v."""
    out = eta * v
    out += u
    return out


def combine(H: NDArray[Any], used: int, weights: Array) -> Array:
    """Return H[:, :used] @ weights, computed from four columns of nonzero weight at a time."""
    u = np.zeros(H.shape[0])
    kept = np.flatnonzero(weights[:used])
    if kept.size:
        four = np.append(kept, np.full(-kept.size % 4, kept[-1]))  # This repeats the last column.
        shares = weights[four]
        shares[kept.size :] = 0.0
        _combine(_read_only(H), four, shares, u)
    return u


@njit(fastmath={"contract"})
def _combine(H: NDArray[Any], kept: Whole, shares: Array, u: Array) -> None:
    for first in range(0, kept.shape[0], 4):
        p, q, r, s = shares[first], shares[first + 1], shares[first + 2], shares[first + 3]
        a, b = H[:, kept[first]], H[:, kept[first + 1]]
        c, d = H[:, kept[first + 2]], H[:, kept[first + 3]]
        for i in range(u.shape[0]):
            u[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i])
