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
through one sum. That is `capped_distribution`; `by_sorting` is Fig. 2 to the letter.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.caps import cap_exponentials
from relaxboost.relaxations._projections.selection import pair_of_rank

_LONG = 8192
"""Margins to order at most; sorting more costs more than two further passes over all."""


@njit()
def _walk(head: Vector, last_tail: float, beta: float, k: float) -> tuple[int, float]:
    """Return (i, T_i), i from 0, at which Fig. 2 stops.

    `head` holds the smallest margins in increasing order, all of them or at least ceil(k);
    `last_tail` is T at its last entry.
    """
    n = head.shape[0]
    tails = np.empty(n)
    tail = last_tail
    tails[n - 1] = tail
    for i in range(n - 2, -1, -1):
        # Equal margins first: it also covers two infinite ones, whose difference is nan.
        step = 1.0 if head[i + 1] == head[i] else math.exp(-((head[i + 1] - head[i]) / beta))
        tail = 1.0 + step * tail
        tails[i] = tail
    for i in range(n):
        if k - i <= tails[i]:
            return i, tails[i]
    return n - 1, tails[n - 1]


@njit()
def _beyond(d: Vector, u: Vector, edge: float) -> tuple[int, float]:
    """Return how many u are <= edge, and the sum of `d` over the others, in index order."""
    below, total = 0, 0.0
    for r in range(u.shape[0]):
        if u[r] > edge:
            total += d[r]
        else:
            below += 1
    return below, total


@njit()
def _fill_above(
    d: Vector, u: Vector, beta: float, k: float, i: int, tail: float, pivot: float, edge: float
) -> None:
    """Turn `d` = exp(−(u − edge)/β) into min{ν, ξ d_0} in place, with new exponentials only
    where u <= edge."""
    cap = 1.0 / k
    rest = (k - i) / k / tail
    scale = rest * math.exp(-((edge - pivot) / beta))
    for r in range(u.shape[0]):
        if u[r] > edge:
            d[r] = min(cap, scale * d[r])
        elif u[r] < pivot:
            d[r] = cap
        elif u[r] == pivot:
            d[r] = min(cap, rest)
        else:
            d[r] = min(cap, rest * math.exp(-((u[r] - pivot) / beta)))


def by_sorting(u: Vector, beta: float, k: float) -> Vector:
    """Return `capped_distribution` by Fig. 2 as printed but in the log domain, O(m log m)."""
    ordered = np.sort(u)
    i, tail = _walk(ordered, 1.0, beta, k)
    above = np.maximum(u - ordered[i], 0.0)
    with np.errstate(over="ignore", under="ignore"):
        d = np.minimum(1.0 / k, (k - i) / k / tail * np.exp(-(above / beta)))
    d[u < ordered[i]] = 1.0 / k
    return d


def _by_ratios(u: Vector, beta: float, k: float) -> Vector:
    """Return the projection as that of equal caps, without an order of the k smallest margins."""
    d = np.empty(u.size)
    cap_exponentials(u, pair_of_rank(u, math.ceil(k) - 1)[0], beta, np.full(u.size, 1.0 / k), d)
    return d


def capped_distribution(u: Vector, beta: float, k: float = 1.0) -> Vector:
    """Return the d in the simplex with d_i <= 1/k that minimises <d, u> + β Σ d_i log d_i.

    This is the distribution d_t of Fig. 1 for the capped simplex: the entropic projection
    (Fig. 2) of the d_0 proportional to exp(−u/β), computed from margins and β together so that
    no logarithm or exponential is ever formed of anything but a difference of margins.

    It orders only the ceil(k) smallest margins, O(m + k log k), and not even these if they are
    many; `benchmarks/projection.py` compares it with `by_sorting`.

    k is the reciprocal of the cap ν, 1 <= k <= m; k = 1 leaves the simplex uncapped (soft-max). A
    margin of ``+inf`` stands for a zero of d_0 (Fig. 2's own input is ``u = -log(d0), beta = 1``)
    and gets weight 0; at least k are finite. Equal margins get equal weights.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 2, Lemmas 15 and 16, Eq. 14. The printed procedure
    accepts ν < 1/m, for which no distribution is left.
    """
    size = math.ceil(k)
    if size > _LONG:
        return _by_ratios(u, beta, k)
    if size < u.size:
        head = np.sort(np.partition(u, size - 1)[:size]) if size > 1 else u.min(keepdims=True)
    else:
        head = np.sort(u)
    edge = head[-1]
    with np.errstate(over="ignore", under="ignore"):
        d = np.exp(np.minimum((edge - u) / beta, 0.0))
    below, total = _beyond(d, u, edge)
    ties = below - size  # entries equal to `edge` beyond the head
    i, tail = _walk(head, 1.0 + ties + total, beta, k)
    _fill_above(d, u, beta, k, i, tail, head[i], edge)
    return d
