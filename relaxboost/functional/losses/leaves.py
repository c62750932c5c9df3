"""The numbers that lower a risk most when they are added to f, one number in each leaf."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import TypeAlias

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit


@njit(nogil=True)
def sums(leaf: Whole, values: Array, leaves: int) -> Array:
    """Return the sums of values in each leaf."""
    total = np.zeros(leaves)
    for n in range(leaf.size):
        total[leaf[n]] += values[n]
    return total


@njit(nogil=True)
def means(leaf: Whole, weights: Array, values: Array, leaves: int) -> Array:
    """Return the weighted mean of the values in each leaf, 0 for a leaf without weight."""
    total = np.zeros(leaves)
    weight = np.zeros(leaves)
    for n in range(leaf.size):
        total[leaf[n]] += weights[n] * values[n]
        weight[leaf[n]] += weights[n]
    for i in range(leaves):
        total[i] = total[i] / weight[i] if weight[i] > 0.0 else 0.0
    return total


Slopes: TypeAlias = Callable[[Array], tuple[Array, Array | None]]
"""Given a shift of each example, returns slopes and second derivatives (None if unknown) there."""
Totals: TypeAlias = Callable[[Array], tuple[Array, Array | None, Array]]
"""Given a shift of each leaf, returns the sums of slopes, second derivatives and |slopes| there."""

_ROUNDING = 1e-12
"""Sums over a leaf count as equal if they differ by less than this share of its weight."""


def quantiles(kinks: Array, weights: Array, low: Array, leaf: Whole) -> Array:
    """Return the minimiser in each leaf of Σ w max(q (k − v), (q − 1)(k − v)), nearest to 0.

    Every piecewise linear loss with a corner k_n for each example has this form: to the left of all
    corners the slope of the sum is −L, and corner n adds w_n >= 0 to it. `low` holds L for each
    leaf, which is the weight of the corners after which the slope is no longer negative. A leaf
    without weight gets 0.
    """
    order, ends = _by_leaf(leaf, low.size)
    return _select(kinks[order], weights[order], ends, low)


@njit(nogil=True)
def _by_leaf(leaf: Whole, leaves: int) -> tuple[Whole, Whole]:
    """Return the examples leaf by leaf, and the places where leaves end, after a 0."""
    # Counting sort: the leaves are small numbers.
    ends = np.zeros(leaves + 1, np.int64)
    for n in range(leaf.size):
        ends[leaf[n] + 1] += 1
    ends = ends.cumsum()
    at = ends.copy()
    order = np.empty(leaf.size, np.int64)
    for n in range(leaf.size):
        order[at[leaf[n]]] = n
        at[leaf[n]] += 1
    return order, ends


@njit(nogil=True)
def _select(k: Array, w: Array, ends: Whole, low: Array) -> Array:
    """Return the minimiser of each leaf, by selection in linear time; k and w are reordered."""
    values = np.zeros(low.size)
    for i in range(low.size):
        start, stop = ends[i], ends[i + 1]
        total = w[start:stop].sum()
        if not total > 0.0:
            continue
        # Sums of weights have rounding errors, which must not move v past a flat stretch.
        slack = _ROUNDING * total
        if low[i] <= slack:
            # Every v up to the first corner is a minimiser.
            values[i] = min(0.0, _reach(k, w, start, stop, slack)[0])
            continue
        v, rest = _reach(k, w, start, stop, min(low[i], total) - slack)
        if rest > 2.0 * slack:
            values[i] = v
            continue
        # The sum is flat from v to the next corner.
        after = math.inf
        for n in range(start, stop):
            if k[n] > v and w[n] > 0.0:
                after = min(after, k[n])
        values[i] = min(max(v, 0.0), after)
    return values


@njit(nogil=True)
def _reach(k: Array, w: Array, start: int, stop: int, goal: float) -> tuple[float, float]:
    """Return the first k at which the weights of all k' <= k reach the goal, and the excess.

    The method is quickselect with a three-way partition about the median of three. The excess
    includes the weights of all examples with this k.
    """
    while True:
        a, b, c = k[start], k[(start + stop) // 2], k[stop - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        below = 0.0
        same = 0.0
        first = start
        last = stop
        n = start
        while n < last:
            if k[n] < pivot:
                k[n], k[first] = k[first], k[n]
                w[n], w[first] = w[first], w[n]
                below += w[first]
                first += 1
                n += 1
            elif k[n] > pivot:
                last -= 1
                k[n], k[last] = k[last], k[n]
                w[n], w[last] = w[last], w[n]
            else:
                same += w[n]
                n += 1
        # Only the part that holds the goal is searched further.
        if first > start and goal <= below:
            stop = first
        elif goal <= below + same or last == stop:
            return pivot, below + same - goal
        else:
            goal -= below + same
            start = last


def damped(gradient: Array, curvature: Array) -> Array:
    """Return −sign(G) log(1 + |G|/H) for sums G of slopes and H of second derivatives.

    If |φ'''| <= φ'', as for exp and log(1 + exp), then φ(v) <= φ(0) + φ'(0) v + φ''(0) (e^|v| − 1 −
    |v|). This v minimises the bound, so that φ never rises. It equals Newton's step up to second
    order, and is never longer, also in a leaf of one class, which has no minimiser. An H that is 0
    by underflow counts as the least normal double: a larger φ'' makes v shorter.
    """
    size = np.abs(gradient)
    least = np.finfo(float).tiny * np.maximum(size, 1.0)  # so that the ratio is finite
    return -np.sign(gradient) * np.log1p(size / np.maximum(curvature, least))


def roots(slopes: Slopes, weights: Array, leaf: Whole, leaves: int) -> Array:
    """Return where the weighted slopes of each leaf sum to zero, for any convex loss.

    The result is ±1e100 if no minimiser is nearer.
    """

    def total(v: Array) -> tuple[Array, Array | None, Array]:
        slope, bend = slopes(v[leaf])
        size = sums(leaf, weights * np.abs(slope), leaves)
        bends = None if bend is None else sums(leaf, weights * bend, leaves)
        return sums(leaf, weights * slope, leaves), bends, size

    return _newton(total, leaves)


def clipped(kinks: Array, weights: Array, most: float, leaf: Whole, leaves: int) -> Array:
    """Return for each leaf a root of Σ w clip(v − k, −most, most)."""
    return _newton(lambda v: _clip_sums(kinks, weights, most, leaf, v), leaves)


@njit(nogil=True)
def _clip_sums(
    kinks: Array, weights: Array, most: float, leaf: Whole, v: Array
) -> tuple[Array, Array, Array]:
    """Return Σ w s with s = clip(v − k, −most, most), the weight inside, and Σ w |s|."""
    slope = np.zeros(v.size)
    bend = np.zeros(v.size)
    size = np.zeros(v.size)
    for n in range(leaf.size):
        i = leaf[n]
        s = min(max(v[i] - kinks[n], -most), most)
        slope[i] += weights[n] * s
        size[i] += weights[n] * abs(s)
        bend[i] += weights[n] * (abs(s) < most)
    return slope, bend, size


def _newton(total: Totals, leaves: int) -> Array:
    """Return a root of a monotone function of each leaf, by Newton's method in a bracket.

    If there are no derivatives, or if they do not help, steps double until the sign changes, and
    then halve the bracket; jumps are found to rounding.
    """
    far, newton_steps = 1e100, 100
    low = np.full(leaves, -math.inf)
    high = np.full(leaves, math.inf)
    v = np.zeros(leaves)
    reach = np.ones(leaves)
    lost = np.zeros(leaves, dtype=bool)
    # The loop ends within 1100 turns. After the Newton steps it doubles steps, past 1e100 by turn
    # 334, or halves a bracket, whose width falls from 2e100 to 1e-100 within 667 more.
    for turn in count():
        g, bend, sizes = total(np.where(lost, 0.0, v))
        if turn == 0:
            size = sizes
        # A sum that is rounding of its terms is a root.
        flat = np.abs(g) <= _ROUNDING * size
        low = np.where((g <= 0.0) | flat, v, low)
        high = np.where((g >= 0.0) | flat, v, high)
        inside = np.isfinite(low) & np.isfinite(high)
        with np.errstate(all="ignore"):
            fine = 1e-13 * np.maximum(np.abs(low), np.abs(high))
            closed = inside & (high - low <= np.maximum(fine, 1.0 / far))
            open_ = ~(lost | flat | closed)
            if not open_.any():
                return v
            other = np.where(inside, low / 2.0 + high / 2.0, v - np.sign(g) * reach)
            reach = np.where(inside, reach, 2.0 * reach)
            step = v if bend is None or turn >= newton_steps else v - g / bend
            # Newton's step is taken only inside the bracket.
            good = (np.abs(step) < far) & (step > low) & (step < high)
        v = np.where(open_, np.where(good, step, other), v)
        lost |= ~(np.abs(v) < far)  # also nan
        v = np.clip(v, -far, far)
    raise AssertionError("unreachable: the loop returns")
