"""The entropic projection onto the capped simplex (Shalev-Shwartz & Singer 2009, Fig. 2).

The procedure of Fig. 2 sorts d_0 and walks down it: with the first i − 1 entries held at the
cap ν = 1/k, the rest would be ξ d_0 with ξ = (1 − ν(i − 1)) / Z_i and Z_i the sum of the
rest; it stops at the first i with ξ d_{0,i} <= ν. With d_{0,i} proportional to exp(−u_i/β) and
u sorted in increasing order, put

    T_i = Z_i / d_{0,i} = Σ_{r >= i} exp(−(u_r − u_i)/β) = 1 + exp(−(u_{i+1} − u_i)/β) T_{i+1}.

The test reads k − (i − 1) <= T_i. Every T_i lies in [1, m − i + 1] and every exponent is a
difference of two margins divided by β, so nothing can over- or underflow, whereas the
linear-domain procedure divides by zero once Z is exhausted. T_i >= 1 also shows that the walk
stops at i <= ceil(k): only the ceil(k) smallest margins need an order, and the others enter
through one sum. Since T_{i+1} >= T_i − 1 the test, once met, holds from there on, so that only
margins around that place need an order. That is `capped_distribution`; `by_sorting` is Fig. 2 to
the letter.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.selection import count_between, plain_sum, take_between
from relaxboost.relaxations._projections.vectorised import CHUNK, REORDER, exp

_FEW = 4096
"""Margins up to which the ceil(k) smallest are ordered; beyond, those near where the walk ends."""
_SAMPLE = 4096
"""Margins at most that tell where that is."""
_CLOSE = 30.0
"""Times β that two margins may be apart for one's exponentials to serve for the other."""


@njit()
def _walk(head: Vector, last_tail: float, beta: float, k: float) -> tuple[int, float]:
    """Return (i, T_i), i from 0, at which Fig. 2 stops; i is the length where it goes on.

    `head` holds margins in increasing order, `last_tail` is T at its last entry. It is walked
    backwards, to where the test fails.
    """
    n = head.shape[0]
    found, tail_there, tail = n, last_tail, last_tail
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            # Equal margins first: it also covers two infinite ones, whose difference is nan.
            equal = head[i + 1] == head[i]
            tail = 1.0 + (1.0 if equal else math.exp(-((head[i + 1] - head[i]) / beta))) * tail
        if k - i > tail:
            break
        found, tail_there = i, tail
    return found, tail_there


@njit(error_model="numpy", fastmath={"contract"})
def uncapped(u: Vector, pivot: float, beta: float, e: Vector) -> None:
    """Set e = exp((pivot − u)/β), cut far beyond what is surely at its cap."""
    for i in range(u.shape[0]):
        e[i] = exp((pivot - u[i]) / beta)


@njit(error_model="numpy")
def _soft_min(u: Vector, low: float, beta: float) -> Vector:
    """Return exp((low − u)/β) over its sum, `low` being the smallest margin."""
    d, total = np.empty(u.shape[0]), 0.0
    for start in range(0, u.shape[0], CHUNK):
        part = d[start : start + CHUNK]
        uncapped(u[start : start + CHUNK], low, beta, part)
        total += plain_sum(part)
    for i in range(d.shape[0]):
        d[i] /= total
    return d


@njit(error_model="numpy", fastmath=REORDER)
def _sum_above(e: Vector, u: Vector, edge: float) -> tuple[float, int]:
    total, upto = 0.0, 0
    for i in range(u.shape[0]):
        total += e[i] if u[i] > edge else 0.0
        upto += u[i] <= edge
    return total, upto


@njit(error_model="numpy")
def _beyond(u: Vector, edge: float, beta: float, d: Vector) -> tuple[float, int]:
    """Set d = exp((edge − u)/β); return its sum over u > edge, and how many u are not."""
    total, upto = 0.0, 0
    for start in range(0, u.shape[0], CHUNK):
        part, e = u[start : start + CHUNK], d[start : start + CHUNK]
        uncapped(part, edge, beta, e)
        more, others = _sum_above(e, part, edge)
        total, upto = total + more, upto + others
    return total, upto


@njit(error_model="numpy", fastmath={"contract"})
def _cut(
    u: Vector, edge: float, pivot: float, beta: float, cap: float, scale: float, d: Vector
) -> None:
    """Turn d = exp((edge − u)/β) into min{cap, scale · exp((pivot − u)/β)}; u < pivot is capped."""
    apart = (edge - pivot) / beta
    if apart <= _CLOSE:
        scale *= math.exp(-apart)
        for i in range(u.shape[0]):
            d[i] = min(cap, scale * d[i])
    else:
        for i in range(u.shape[0]):
            free = min(cap, scale * exp((pivot - u[i]) / beta))
            d[i] = cap if u[i] < pivot else free


def by_sorting(u: Vector, beta: float, k: float) -> Vector:
    """Return `capped_distribution` by Fig. 2 as printed but in the log domain, O(m log m)."""
    ordered = np.sort(u)
    i, tail = _walk(ordered, 1.0, beta, k)
    above = np.maximum(u - ordered[i], 0.0)
    with np.errstate(over="ignore", under="ignore"):
        d = np.minimum(1.0 / k, (k - i) / k / tail * np.exp(-(above / beta)))
    d[u < ordered[i]] = 1.0 / k
    return d


def _near(u: Vector, beta: float, k: float) -> tuple[Vector, int]:
    """Return margins in increasing order, the pivot most likely among them, and how many are less.

    They lie between two of a sample, around where the walk over that ends.
    """
    size = min(_SAMPLE, u.size // 16)
    sample = np.sort(u[:: u.size // size][:size])
    i, _ = _walk(sample, 1.0, beta, k * size / u.size)
    spread = 4.0 * math.sqrt(i * (size - i) / size) + 4.0
    first, last = math.floor(i - spread), math.ceil(i + spread)
    low = sample[first] if first >= 0 else -math.inf
    high = sample[last] if last < size else math.inf
    below, inside = count_between(u, low, high)
    return np.sort(take_between(u, low, high, inside)), below


def place(u: Vector, beta: float, k: float) -> tuple[float, float, Vector, float]:
    """Return (pivot, scale, d, edge): the projection is min{1/k, scale · exp((pivot − u)/β)}.

    d is exp((edge − u)/β). For k = 1 the scale is left at 1.
    """
    if k == 1.0:
        return float(u.min()), 1.0, u, math.inf
    size, below = math.ceil(k), 0
    if u.size > _FEW:
        head, below = _near(u, beta, k)
    else:
        head = np.sort(np.partition(u, size - 1)[:size] if size < u.size else u)
    d, edge = np.empty(u.size), head[-1]
    total, upto = _beyond(u, edge, beta, d)
    i, tail = _walk(head, total + (upto - below - head.size + 1), beta, k - below)
    if i == head.size or (i == 0 and below > 0):  # the sample was not like the rest
        head, below, edge = np.sort(u), 0, math.inf
        i, tail = _walk(head, 1.0, beta, k)
    return float(head[i]), (k - below - i) / k / tail, d, float(edge)


def capped_distribution(u: Vector, beta: float, k: float = 1.0) -> Vector:
    """Return the d in the simplex with d_i <= 1/k that minimises <d, u> + β Σ d_i log d_i.

    This is the distribution d_t of Fig. 1 for the capped simplex: the entropic projection
    (Fig. 2) of the d_0 proportional to exp(−u/β), computed from margins and β together so that
    no logarithm or exponential is ever formed of anything but a difference of margins.

    It orders only the ceil(k) smallest margins, of many only those that a sample shows to matter,
    O(m); `benchmarks/projection.py` compares it with `by_sorting`.

    k is the reciprocal of the cap ν, 1 <= k <= m; k = 1 leaves the simplex uncapped (soft-max). A
    margin of ``+inf`` stands for a zero of d_0 (Fig. 2's own input is ``u = -log(d0), beta = 1``)
    and gets weight 0; at least k are finite. Equal margins get equal weights.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 2, Lemmas 15 and 16, Eq. 14. The printed procedure
    accepts ν < 1/m, for which no distribution is left.
    """
    if k == 1.0:
        return _soft_min(u, u.min(), beta)
    pivot, scale, d, edge = place(u, beta, k)
    _cut(u, edge, pivot, beta, 1.0 / k, scale, d)
    return d
