"""The search for leaf values: the numbers that, added to f in a leaf, most decrease the risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit
from relaxboost._core.rounding import RELATIVE_ROUNDING


@njit(nogil=True)
def sums(leaf: Whole, values: Array, leaves: int) -> Array:
    """Return the sum of the values in each leaf."""
    total = np.zeros(leaves)
    for n in range(leaf.size):
        total[leaf[n]] += values[n]
    return total


@njit(nogil=True)
def means(leaf: Whole, weights: Array, values: Array, leaves: int) -> Array:
    """Return the weighted mean of the values in each leaf, or 0 for a leaf of weight 0."""
    total = np.zeros(leaves)
    weight = np.zeros(leaves)
    for n in range(leaf.size):
        total[leaf[n]] += weights[n] * values[n]
        weight[leaf[n]] += weights[n]
    for i in range(leaves):
        total[i] = total[i] / weight[i] if weight[i] > 0.0 else 0.0
    return total


def quantiles(kinks: Array, weights: Array, low: Array, leaf: Whole) -> Array:
    """Return, for each leaf, the minimiser v of Σ w max(q (k − v), (q − 1)(k − v)) nearest to 0.

    The sum is over the examples of the leaf. To the left of all corners k, the slope of the sum in
    v is −L. Each corner adds its weight w >= 0 to the slope. The array `low` contains L for each
    leaf. If a leaf has weight 0, the result is 0.
    """
    order, ends = _by_leaf(leaf, low.size)
    return _select(kinks[order], weights[order], ends, low)


@njit(nogil=True)
def _by_leaf(leaf: Whole, leaves: int) -> tuple[Whole, Whole]:
    # A counting sort, because leaves are small numbers. `ends` holds where each leaf begins.
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
    # Quickselect reorders the corners k and the weights w in place, and takes linear time.
    values = np.zeros(low.size)
    for i in range(low.size):
        start, stop = ends[i], ends[i + 1]
        total = w[start:stop].sum()
        if not total > 0.0:
            continue
        # Sums of weights have rounding errors, which must not move v past a flat stretch.
        slack = RELATIVE_ROUNDING * total
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
    """Return the smallest k whose cumulative weight reaches `goal`, and the excess over `goal`."""
    # Quickselect with a three-way partition around the median of three.
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
        # The search continues in the part in which the sum reaches the goal.
        if first > start and goal <= below:
            stop = first
        elif goal <= below + same or last == stop:
            return pivot, below + same - goal
        else:
            goal -= below + same
            start = last


def clipped(kinks: Array, weights: Array, most: float, leaf: Whole, leaves: int) -> Array:
    """Return, for each leaf, a root v of Σ w clip(v − k, −most, most), summed over its examples.

    Each example has a weight w and a corner k. If a leaf has weight 0, the result is 0.
    """
    order, ends = _by_leaf(leaf, leaves)
    return _clipped(kinks[order], weights[order], most, ends)


@njit(nogil=True)
def _clipped(k: Array, w: Array, most: float, ends: Whole) -> Array:
    # Newton's method finds each root, safeguarded by a bracket.
    values = np.zeros(ends.size - 1)
    for i in range(values.size):
        start, stop = ends[i], ends[i + 1]
        if not w[start:stop].sum() > 0.0:
            continue
        low, high = k[start:stop].min(), k[start:stop].max()
        v = min(max(0.0, low), high)
        last = math.inf
        while low < high:
            slope = size = bend = 0.0
            for n in range(start, stop):
                s = min(max(v - k[n], -most), most)
                slope += w[n] * s
                size += w[n] * abs(s)
                bend += w[n] * (abs(s) < most)
            # A sum within the rounding errors of its terms counts as 0.
            if abs(slope) <= RELATIVE_ROUNDING * size:
                break
            if slope > 0.0:
                high = v
            else:
                low = v
            # Newton's step is taken only inside the bracket, and if the last step halved the slope.
            step = v - slope / bend if bend > 0.0 and abs(slope) <= last / 2.0 else low
            last = abs(slope)
            if not low < step < high:
                step = low / 2.0 + high / 2.0
                # Doubles may have no number between the ends.
                if not low < step < high:
                    break
            v = step
        values[i] = v
    return values


def damped(gradient: Array, curvature: Array) -> Array:
    """Return −sign(G) log(1 + |G|/H) for sums G of slopes and H of second derivatives."""
    # If |φ'''| <= φ'', as for exp and log(1 + exp), then φ(v) <= φ(0) + φ'(0) v + φ''(0) (e^|v| − 1
    # − |v|). The result v minimises this bound, so that φ(v) <= φ(0). It is at most as long as
    # Newton's step, and exists even if a leaf of one class has no minimiser. If H underflows to 0,
    # a larger H only makes v shorter.
    size = np.abs(gradient)
    # A positive H keeps the ratio |G|/H finite.
    least = np.finfo(float).tiny * np.maximum(size, 1.0)
    return -np.sign(gradient) * np.log1p(size / np.maximum(curvature, least))


def roots(
    slopes: Callable[[Array], tuple[Array, Array | None]],
    weights: Array,
    leaf: Whole,
    leaves: int,
) -> Array:
    """Return, for each leaf, the v at which the weighted slopes sum to zero, for any convex loss.

    The function `slopes` takes the numbers that are added to f(x_n), and returns the slopes of the
    losses and their second derivatives, or None if these are unknown. If the sum jumps over 0, the
    jump is found up to rounding. If there is no v between −1e100 and 1e100, the result is one of
    these two numbers.
    """
    # The method is Newton's, safeguarded by a bracket. If there are no derivatives, or if Newton's
    # step leaves the bracket, steps double until the sign changes, and bisection follows.
    far = 1e100
    newton_steps = 100
    low = np.full(leaves, -math.inf)
    high = np.full(leaves, math.inf)
    v = np.zeros(leaves)
    reach = np.ones(leaves)
    size = reach
    lost = np.zeros(leaves, dtype=bool)
    # The loop ends within 1100 turns: after the Newton steps, steps double beyond 1e100 within 334
    # turns, and bisection shortens a bracket from 2e100 to 1e-100 within 667 turns.
    for turn in count():
        slope, bend = slopes(np.where(lost, 0.0, v)[leaf])
        g = sums(leaf, weights * slope, leaves)
        if turn == 0:
            size = sums(leaf, weights * np.abs(slope), leaves)
        # A sum within the rounding errors of its terms counts as 0.
        flat = np.abs(g) <= RELATIVE_ROUNDING * size
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
            step = v
            if bend is not None and turn < newton_steps:
                step = v - g / sums(leaf, weights * bend, leaves)
            # Newton's step is taken only inside the bracket.
            good = (np.abs(step) < far) & (step > low) & (step < high)
        v = np.where(open_, np.where(good, step, other), v)
        lost |= ~(np.abs(v) < far)  # also nan
        v = np.clip(v, -far, far)
    raise AssertionError("unreachable code: the loop above always returns")
