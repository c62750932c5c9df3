"""Compiled loops over columns. Each column is summed by itself, so threads change nothing."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit, thread_pool

# Sums may be re-ordered and fused so that they vectorise; γ_n covers every order.
_SUM = {"reassoc", "contract"}
FEW = 64
"""Numbers that are added in their order are fewer: sums of more depend on the CPU in last bits."""


@njit(nogil=True)
def dots(H: NDArray[Any], used: int, d: Array) -> Array:
    """Return <column, d> for the first `used` columns of the Fortran-ordered `H`."""
    m = H.shape[0]
    if m >= FEW:
        return _many_dots(H, used, d)
    out = np.zeros(used)
    for j in range(used):
        for i in range(m):
            out[j] += H[i, j] * d[i]
    return out


@njit(fastmath=_SUM, nogil=True)
def _many_dots(H: NDArray[Any], used: int, d: Array) -> Array:
    """Return the same.

    Eight columns go at a time: `d` is read once for all, and while bytes are widened others come
    from memory. The order of a column's sum is the same wherever it stands.
    """
    m, last = H.shape[0], used - 1
    out = np.empty(used)
    for j in range(0, used, 8):
        a, b = H[:, j], H[:, min(j + 1, last)]  # beyond the last one again
        c, e = H[:, min(j + 2, last)], H[:, min(j + 3, last)]
        f, g = H[:, min(j + 4, last)], H[:, min(j + 5, last)]
        h, k = H[:, min(j + 6, last)], H[:, min(j + 7, last)]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(m):
            v = d[i]
            s0, s1, s2, s3 = s0 + a[i] * v, s1 + b[i] * v, s2 + c[i] * v, s3 + e[i] * v
            s4, s5, s6, s7 = s4 + f[i] * v, s5 + g[i] * v, s6 + h[i] * v, s7 + k[i] * v
        sums = (s0, s1, s2, s3, s4, s5, s6, s7)
        for place in range(min(8, used - j)):
            out[j + place] = sums[place]
    return out


def dots_shared(H: NDArray[Any], used: int, d: Array) -> Array:
    """Return the same as `dots`, to the bit, with the columns shared between threads."""
    pool, threads = thread_pool()
    if threads == 1:
        return dots(H, used, d)
    # An array of one column counts as ordered by rows, and is summed in another order.
    cuts = np.linspace(0, used, min(threads, max(used // 2, 1)) + 1).astype(int)
    parts = [H[:, a:b] for a, b in pairwise(cuts.tolist()) if b > a]
    return np.concatenate(list(pool.map(lambda part: dots(part, part.shape[1], d), parts)))


@njit()
def _four_levels(codes: NDArray[Any], first: int, yd: Array, levels: Array) -> None:
    """Add yd up by the levels of four features, in the rows of `levels`.

    They go together: an addition to a level waits for the one before, and they do not wait for
    each other. Each is still summed by itself, in the order of the examples.
    """
    last = codes.shape[0] - 1
    levels[:] = 0.0
    a, b = codes[first], codes[min(first + 1, last)]  # beyond the last one again, unread
    c, d = codes[min(first + 2, last)], codes[min(first + 3, last)]
    for i in range(yd.shape[0]):
        value = yd[i]
        levels[0, a[i]] += value
        levels[1, b[i]] += value
        levels[2, c[i]] += value
        levels[3, d[i]] += value


@njit()
def stump_column(codes: NDArray[Any], offsets: Whole, y: Array, j: int, out: NDArray[Any]) -> None:
    """Write the column of a stump: y where the code is above the cut, −y elsewhere."""
    f = 0
    while offsets[f + 1] <= j:
        f += 1
    cut, levels = j - offsets[f], codes[f]
    for i in range(out.shape[0]):
        out[i] = 1 if (levels[i] > cut) == (y[i] > 0.0) else -1


@njit()
def _begun(offsets: Whole, yd: Array) -> tuple[float, Array]:
    """Return Σ yd, and room for the levels of four features.

    Loops only, here and below: `sum`, `diff` and `max` take numba seconds to compile.
    """
    total, widest = 0.0, 0
    for i in range(yd.shape[0]):
        total += yd[i]
    for f in range(offsets.shape[0] - 1):
        widest = max(widest, offsets[f + 1] - offsets[f])
    return total, np.empty((4, widest + 1))


@njit()
def stump_edges(codes: NDArray[Any], offsets: Whole, yd: Array) -> Array:
    """Return the edges of all stumps; `codes` has a row for each feature.

    The stump that cuts after level b of a feature has the edge Σ yd − 2 Σ_{code <= b} yd.
    """
    out = np.empty(offsets[-1])
    total, levels = _begun(offsets, yd)
    for f in range(codes.shape[0]):
        if f % 4 == 0:
            _four_levels(codes, f, yd, levels)
        below = 0.0
        for k in range(offsets[f + 1] - offsets[f]):
            below += levels[f % 4, k]
            out[offsets[f] + k] = total - 2.0 * below
    return out


@njit()
def _larger(value: float, k: int, peak: tuple[int, float]) -> tuple[int, float]:
    return (k, value) if abs(value) > abs(peak[1]) else peak


@njit()
def stump_best(
    codes: NDArray[Any], offsets: Whole, yd: Array, columns: Whole
) -> tuple[tuple[int, float], Array]:
    """Return the `first_largest` of `stump_edges`, and those of some columns; the rest is lost."""
    features, best, some = codes.shape[0], (0, 0.0), np.empty(columns.shape[0])
    total, levels = _begun(offsets, yd)
    if math.isnan(total):  # then so are all edges
        for place in range(some.shape[0]):
            some[place] = total
        return (0, total), some
    p, q, r, s = levels[0], levels[1], levels[2], levels[3]
    for first in range(0, features, 4):
        last = min(first + 4, features)
        _four_levels(codes, first, yd, levels)
        widest = 0
        for f in range(first, last):
            cuts = offsets[f + 1] - offsets[f]
            levels[f - first, cuts] = 0.0  # is no cut; what follows is no larger than what was
            widest = max(widest, cuts)
        a = b = c = d = 0.0
        in_p = in_q = in_r = in_s = (0, 0.0)
        for k in range(widest):
            a, b, c, d = a + p[k], b + q[k], c + r[k], d + s[k]
            p[k], q[k], r[k], s[k] = a, b, c, d
            in_p = _larger(total - 2.0 * a, k, in_p)
            in_q = _larger(total - 2.0 * b, k, in_q)
            in_r = _larger(total - 2.0 * c, k, in_r)
            in_s = _larger(total - 2.0 * d, k, in_s)
        peaks = (in_p, in_q, in_r, in_s)
        for f in range(first, last):
            if offsets[f + 1] > offsets[f]:
                best = _larger(peaks[f - first][1], offsets[f] + peaks[f - first][0], best)
        for place in range(columns.shape[0]):
            j = columns[place]
            for f in range(first, last):
                if offsets[f] <= j < offsets[f + 1]:
                    some[place] = total - 2.0 * levels[f - first, j - offsets[f]]
    return best, some


@njit()
def _below(codes: NDArray[Any], offsets: Whole, weights: Array) -> tuple[Array, Array]:
    """Return the weights of the cuts below each value, (features, m), and their totals."""
    features, m = codes.shape
    below, totals = np.zeros((features, m)), np.zeros(features)
    for f in range(features):
        start, cuts = offsets[f], offsets[f + 1] - offsets[f]
        sums = np.zeros(cuts + 1)
        for b in range(cuts):
            sums[b + 1] = sums[b] + weights[start + b]
        for i in range(m):
            below[f, i] = sums[codes[f, i]]
        totals[f] = sums[cuts]
    return below, totals


@njit()
def stump_margins(codes: NDArray[Any], offsets: Whole, signs: Array, w: Array) -> Array:
    """Return A w for a weight on every stump: cuts below a value count +, the others −.

    Each weight is added once, to those below a level or to those above it, so that few roundings
    meet it. Loops only: to load a kernel that sums by `sum` numba loads SciPy, .05 s of each start.
    """
    features, m = codes.shape
    u, widest = np.zeros(m), 0
    for f in range(features):
        widest = max(widest, offsets[f + 1] - offsets[f])
    values = np.empty(widest + 1)
    for f in range(features):
        start, cuts, above = offsets[f], offsets[f + 1] - offsets[f], 0.0
        for b in range(cuts, -1, -1):
            values[b] = -above
            above += w[start + b - 1] if b else 0.0
        below = 0.0
        for b in range(cuts):
            below += w[start + b]
            values[b + 1] += below
        for i in range(m):
            u[i] += values[codes[f, i]]
    for i in range(m):
        u[i] *= signs[i]
    return u


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
    """Return A diag(scaling) Aᵀ in its lower triangle, rows shared between threads."""
    below, totals = _below(codes, offsets, scaling)
    m = codes.shape[1]
    out = np.zeros((m, m))
    pool, threads = thread_pool()
    cuts = np.unique((m * np.sqrt(np.linspace(0.0, 1.0, 4 * threads + 1))).astype(int))
    parts = [(a, out[a:b]) for a, b in pairwise(cuts.tolist())]
    total = float(totals.sum())
    list(pool.map(lambda part: _gram_rows(below, total, signs, part[0], part[1]), parts))
    return out


@njit(nogil=True)
def _cross_block(left: NDArray[Any], right: NDArray[Any], weights: Array, out: Array) -> None:
    """Write Σ weights · s_a t_b for the cuts a and b of two features: s_a is −1 up to its cut."""
    rows, cols = out.shape
    table = np.zeros((rows + 1, cols + 1))
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
            out[a, b] = total - 2.0 * table[a, cols] - 2.0 * table[rows, b] + 4.0 * table[a, b]


@njit(nogil=True)
def stump_rows(codes: NDArray[Any], offsets: Whole, out: Array) -> None:
    """Write ±1 for each example and cut, (m, n): −1 up to the cut."""
    features, m = codes.shape
    for i in range(m):
        for f in range(features):
            start, code = offsets[f], codes[f, i]
            for b in range(offsets[f + 1] - start):
                out[i, start + b] = 1.0 if code > b else -1.0


def stump_cross(codes: NDArray[Any], offsets: Whole, weights: Array, out: Array) -> None:
    """Write Aᵀ diag(weights) A in its lower triangle, features shared by threads."""
    parts = list(pairwise(offsets.tolist()))

    def fill(f: int) -> None:
        a, b = parts[f]
        for g, (c, e) in enumerate(parts[: f + 1]):
            if b > a and e > c:
                _cross_block(codes[f], codes[g], weights, out[a:b, c:e])

    pool, _ = thread_pool()
    list(pool.map(fill, reversed(range(len(parts)))))  # those with the most pairs first


def stump_beside(
    codes: NDArray[Any],
    offsets: Whole,
    others: NDArray[Any],
    bounds: Whole,
    weights: Array,
    out: Array,
) -> None:
    """Write A₁ᵀ diag(weights) A₂ for cuts of the same features, given by their levels."""
    for f, (a, b) in enumerate(pairwise(offsets.tolist())):
        for g, (c, e) in enumerate(pairwise(bounds.tolist())):
            if b > a and e > c:
                _cross_block(codes[f], others[g], weights, out[a:b, c:e])


Compressed = tuple[Whole, Whole, Array]
"""The indptr, indices, by increasing number, and data of compressed rows."""


@njit(nogil=True)
def sparse_cross(transposed: Compressed, A: Compressed, weights: Array, out: Array) -> None:
    """Write Aᵀ diag(weights) A in its lower triangle, row by row, so that one stays in the cache.

    `transposed` is Aᵀ. What stands above the diagonal is left as it is.
    """
    starts, examples, values = transposed
    firsts, columns, entries = A
    seen = firsts.copy()  # where the rows of A get beyond the columns so far
    for j in range(out.shape[0]):
        row = out[j]
        row[: j + 1] = 0.0
        for p in range(starts[j], starts[j + 1]):
            i = examples[p]
            scaled = weights[i] * values[p]
            seen[i] += 1
            across, beside = columns[firsts[i] : seen[i]], entries[firsts[i] : seen[i]]
            for q in range(across.size):
                row[np.uint32(across[q])] += scaled * beside[q]  # unsigned: none is from the end


@njit()
def peaks(edges: Array, columns: Whole, level: float, both: bool) -> Whole:
    """Return which column between each two of `columns` has the largest edge, where above `level`.

    With `both` also which has the smallest, where below −level.
    """
    out = np.empty(2 * columns.size + 2, dtype=np.int64)
    found, start = 0, 0
    for k in range(columns.size + 1):
        stop = columns[k] if k < columns.size else edges.size
        high = low = -1
        for j in range(start, stop):
            if edges[j] > level and (high < 0 or edges[j] > edges[high]):
                high = j
            if both and -edges[j] > level and (low < 0 or edges[j] < edges[low]):
                low = j
        for j in (min(high, low), max(high, low)):
            if j >= 0:
                out[found] = j
                found += 1
        start = stop + 1
    return out[:found]


@njit()
def reach(edges: Array, change: Array, level: float, rise: float, both: bool) -> float:
    """Return the largest t <= 1 with edges + t·change <= level + t·rise; 0 where there is none.

    With `both` so are their negatives.
    """
    t = 1.0
    for j in range(edges.size):
        if level - edges[j] < t * (change[j] - rise):
            t = (level - edges[j]) / (change[j] - rise)
        if both and level + edges[j] < t * (-change[j] - rise):
            t = (level + edges[j]) / (-change[j] - rise)
    return max(t, 0.0)


@njit()
def first_largest(edges: Array) -> tuple[int, float]:
    """Return (index, value) of the entry of largest absolute value, the first among equals."""
    best, size = 0, -1.0
    for j in range(edges.shape[0]):
        if abs(edges[j]) > size:
            best, size = j, abs(edges[j])
    return best, edges[best]


@njit()
def add_scaled(u: Array, column: NDArray[Any], c: float) -> None:
    """Add `c` times `column` to `u`, in place."""
    for i in range(u.shape[0]):
        u[i] += c * column[i]


@njit()
def sum_columns(A: NDArray[Any], support: Whole, coefficients: Array) -> Array:
    """Return A w, column by column."""
    u = np.zeros(A.shape[0])
    for place in range(support.size):
        add_scaled(u, A[:, support[place]], coefficients[place])
    return u


@njit()
def sum_stumps(
    codes: NDArray[Any], offsets: Whole, signs: Array, support: Whole, coefficients: Array
) -> Array:
    """Return A w for weights on some stumps, column by column, as written down."""
    u, f = np.zeros(signs.size), 0
    for place in range(support.size):
        j, c = support[place], coefficients[place]
        f = np.searchsorted(offsets, j, side="right") - 1
        cut, levels = j - offsets[f], codes[f]
        for i in range(u.size):
            u[i] += c * (signs[i] if levels[i] > cut else -signs[i])
    return u


@njit()
def apart(a: NDArray[Any], s: float, b: NDArray[Any], t: float, out: Array) -> float:
    """Write s a − t b to `out`, which is quicker than to return it; return its `largest`."""
    bits = np.int64(0)
    for i in range(a.shape[0]):
        out[i] = s * a[i] - t * b[i]
        bits = max(bits, np.float64(abs(out[i])).view(np.int64))
    return np.int64(bits).view(np.float64)


@njit(error_model="numpy")
def within(d: Array, most: float) -> bool:
    """Return whether no entry is above `most` or below −most, or nan."""
    inside = 0
    for i in range(d.shape[0]):
        inside += abs(d[i]) <= most
    return inside == d.shape[0]


@njit()
def largest(v: Array) -> float:
    """Return max |v|.

    The bits of numbers that are not negative are in their order, and loops over bits vectorise.
    """
    bits = np.int64(0)
    for i in range(v.shape[0]):
        bits = max(bits, np.float64(abs(v[i])).view(np.int64))
    return np.int64(bits).view(np.float64)


@njit()
def least(u: Array) -> float:
    """Return the smallest of finite numbers, by bits too: those of negative ones are turned."""
    low = unsigned = np.int64(2**63 - 1)  # all bits but the sign
    for i in range(u.shape[0]):
        bits = np.float64(u[i]).view(np.int64)
        low = min(low, bits ^ ((bits >> np.int64(63)) & unsigned))
    low ^= (low >> np.int64(63)) & unsigned
    return np.int64(low).view(np.float64)


@njit(fastmath=_SUM)
def _many(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit()
def dot(a: Array, b: Array) -> float:
    """Return <a, b>, the same for any number of threads, which BLAS does not promise."""
    if a.shape[0] >= FEW:
        return _many(a, b)
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit()
def along(u: Array, v: Array, eta: float) -> Array:
    """Return u + ηv."""
    out = np.empty(u.shape[0])
    for i in range(u.shape[0]):
        out[i] = u[i] + eta * v[i]
    return out


@njit(fastmath={"contract"})
def combine(H: NDArray[Any], used: int, weights: Array) -> Array:
    """Return H[:, :used] @ weights, adding four columns that have weight at a time."""
    m = H.shape[0]
    u, four = np.zeros(m), np.zeros(4)
    kept = np.flatnonzero(weights[:used])
    last = kept.size - 1
    for first in range(0, kept.size, 4):
        for step in range(4):
            four[step] = weights[kept[first + step]] if first + step <= last else 0.0
        p, q, r, s = four
        a, b = H[:, kept[first]], H[:, kept[min(first + 1, last)]]
        c, d = H[:, kept[min(first + 2, last)]], H[:, kept[min(first + 3, last)]]
        for i in range(m):
            u[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i])
    return u
