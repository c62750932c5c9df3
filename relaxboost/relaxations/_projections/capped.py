"""The entropic projection onto the capped simplex (Shalev-Shwartz & Singer 2009, Fig. 2).

The projection of a distribution d_0 is min{1/k, ξ d_0}, where the factor ξ makes the sum equal to
one. Figure 2 sorts d_0 in decreasing order. If the first i − 1 entries are at the cap 1/k, the
other entries are ξ d_0 with ξ = (1 − (i − 1)/k)/Z_i, where Z_i is the sum of d_0 from the entry i
on. The procedure stops at the first i with ξ d_{0,i} <= 1/k.

Here d_0 is proportional to exp(−u/β). For margins u in increasing order define

    T_i = Z_i / d_{0,i} = Σ_{r >= i} exp(−(u_r − u_i)/β) = 1 + exp(−(u_{i+1} − u_i)/β) T_{i+1}.

The condition of Fig. 2 then reads k − (i − 1) <= T_i. Every T_i lies in [1, m − i + 1], and every
exponent is a difference of two margins divided by β, so nothing overflows or underflows. The
procedure as printed divides by zero once Z_i underflows.

`by_sorting` computes Fig. 2 in this form. `capped_distribution` sorts fewer margins. The procedure
stops at an i <= ceil(k), since T_i >= 1. So only the ceil(k) smallest margins must be sorted, and
the others are summed. Since T_{i+1} >= T_i − 1, the condition stays true once it is true. So only
the margins near the index at which the procedure stops must be sorted. A sample of the margins
shows where this index is.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.matrices.kernels import MIN_VECTORISED_TERMS
from relaxboost.relaxations._projections.vectorised import ENTRIES_PER_CHUNK, REORDER, exp

MAX_SAMPLE = 4096
"""The largest sample from which the stopping point of SS09 Fig. 2 is estimated.

The error of an estimated rank is about 1 % of the number of margins. A larger sample takes longer
and hardly shortens the passes over all margins that follow.
"""


@njit()
def _walk(head: Vector, last_tail: float, beta: float, k: float) -> tuple[int, float]:
    """Return the index i, counted from 0, at which the procedure of Fig. 2 stops, and T_i.

    `head` contains the smallest margins in increasing order, and `last_tail` is the sum T of its
    last margin. If the procedure does not stop within `head`, i is len(head).
    """
    n = head.shape[0]
    found = n
    found_tail = last_tail
    tail = last_tail
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            # The test for equality also covers two infinite margins, whose difference is nan.
            equal = head[i + 1] == head[i]
            tail = 1.0 + (1.0 if equal else math.exp(-((head[i + 1] - head[i]) / beta))) * tail
        if k - i > tail:
            break
        found = i
        found_tail = tail
    return found, found_tail


@njit(error_model="numpy", fastmath={"contract"})
def exponentials(u: Vector, reference: float, beta: float, e: Vector) -> None:
    """Set e_i = exp((reference − u_i)/β), or e^709 if this overflows."""
    for i in range(u.shape[0]):
        e[i] = exp((reference - u[i]) / beta)


@njit(error_model="numpy", fastmath=REORDER)
def _sum_above(e: Vector, u: Vector, last: float) -> tuple[float, int]:
    """Return the sum of `e` over the margins above `last`, and the number of other margins."""
    total = 0.0
    upto = 0
    for i in range(u.shape[0]):
        total += e[i] if u[i] > last else 0.0
        upto += u[i] <= last
    return total, upto


@njit(error_model="numpy")
def _exponentials_and_sum(u: Vector, last: float, beta: float, e: Vector) -> tuple[float, int]:
    """Set e_i = exp((last − u_i)/β), and return their sum over the margins above `last`.

    Also return the number of the other margins.
    """
    # The second pass over a chunk finds it in the cache.
    total = 0.0
    upto = 0
    for start in range(0, u.shape[0], ENTRIES_PER_CHUNK):
        stop = start + ENTRIES_PER_CHUNK
        exponentials(u[start:stop], last, beta, e[start:stop])
        part, count = _sum_above(e[start:stop], u[start:stop], last)
        total += part
        upto += count
    return total, upto


@njit(error_model="numpy", fastmath={"contract"})
def _cut(
    u: Vector, last: float, pivot: float, beta: float, cap: float, scale: float, d: Vector
) -> None:
    """Replace the weights d = exp((last − u)/β) by min{cap, scale · exp((pivot − u)/β)}.

    `last` and `pivot` are two of the margins u, and `scale` is at most the cap.
    """
    apart = (last - pivot) / beta
    # The factor e^30 between the two references leaves all exponentials in the range of doubles.
    if apart <= 30.0:
        scale *= math.exp(-apart)
        for i in range(u.shape[0]):
            d[i] = min(cap, scale * d[i])
    else:
        # The exponentials of margins near the pivot overflowed, so they are computed again.
        for i in range(u.shape[0]):
            free = min(cap, scale * exp((pivot - u[i]) / beta))
            d[i] = cap if u[i] < pivot else free


def by_sorting(u: Vector, beta: float, k: float) -> Vector:
    """Return the result of `capped_distribution` by sorting all m margins, in O(m log m).

    This is the procedure of SS09 Fig. 2 as printed, but in the log domain.
    """
    ordered = np.sort(u)
    i, tail = _walk(ordered, 1.0, beta, k)
    above = np.maximum(u - ordered[i], 0.0)
    with np.errstate(over="ignore", under="ignore"):
        d = np.minimum(1.0 / k, (k - i) / k / tail * np.exp(-(above / beta)))
    # These exponents were cut at 0, so their entries are not exactly at the cap.
    d[u < ordered[i]] = 1.0 / k
    return d


def _ordered_part(u: Vector, beta: float, k: float) -> tuple[Vector, int]:
    """Return the sorted margins near the stopping index of SS09 Fig. 2.

    Also return the number of smaller margins.
    """
    if k == 1.0:
        return np.array([u.min()]), 0
    if u.size <= MAX_SAMPLE:
        size = math.ceil(k)
        return np.sort(np.partition(u, size - 1)[:size] if size < u.size else u), 0
    size = min(MAX_SAMPLE, u.size // 16)
    sample = np.sort(u[:: u.size // size][:size])
    i, _ = _walk(sample, 1.0, beta, k * size / u.size)
    # The spread is four standard deviations of the rank in a binomial sample.
    spread = 4.0 * math.sqrt(i * (size - i) / size) + 4.0
    first = math.floor(i - spread)
    last = math.ceil(i + spread)
    low = float(sample[first]) if first >= 0 else -math.inf
    high = float(sample[last]) if last < size else math.inf
    is_below = u < low
    near = u[~is_below & (u <= high)]
    return np.sort(near), int(np.count_nonzero(is_below))


def capped_distribution(u: Vector, beta: float, k: float = 1.0) -> Vector:
    """Return the minimiser d <= 1/k of <d, u> + β Σ d_i log d_i, in O(m) for any k.

    This is the distribution d_t of SS09 Fig. 1 for the capped simplex, by the procedure of Fig. 2,
    with 1 <= k <= m. For k = 1 the result is the softmax of −u/β. An example with the margin
    ``+inf`` gets weight 0, but at least k margins must be finite. Equal margins get equal weights.
    """
    # If there are few margins, all of them are sorted. Then no sum is reordered, and all CPUs give
    # the same result.
    head, below = (np.sort(u), 0) if u.size < MIN_VECTORISED_TERMS else _ordered_part(u, beta, k)
    last = float(head[-1])
    d = np.empty(u.size)
    total, upto = _exponentials_and_sum(u, last, beta, d)
    # T at the last margin of `head` counts this margin, its ties and all margins above.
    i, tail = _walk(head, total + (upto - below - head.size + 1), beta, k - below)
    # If the procedure does not stop within the ordered margins, the sample was misleading.
    if i == head.size or (i == 0 and below > 0):
        head = np.sort(u)
        below = 0
        last = math.inf
        i, tail = _walk(head, 1.0, beta, k)
    _cut(u, last, float(head[i]), beta, 1.0 / k, (k - below - i) / k / tail, d)
    return d
