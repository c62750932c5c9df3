"""The best numbers in leaves: what to add to f, constant on each leaf, to lower a risk most."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    """Return the weighted means of values in each leaf, 0 where there is no weight."""
    total, weight = np.zeros(leaves), np.zeros(leaves)
    for n in range(leaf.size):
        total[leaf[n]] += weights[n] * values[n]
        weight[leaf[n]] += weights[n]
    for i in range(leaves):
        total[i] = total[i] / weight[i] if weight[i] > 0.0 else 0.0
    return total


Slopes: TypeAlias = Callable[[Array], tuple[Array, Array | None]]
"""Takes a shift of each example; gives slopes and second derivatives there, None if unknown."""

_ROUNDING = 1e-12
"""Share of a leaf's weight within which its sums count as equal."""
_FAR = 1e100
"""Beyond it `roots` looks for nothing."""
_NEWTON = 100
"""Turns after which `roots` takes no more of Newton's steps."""
_FINE = 1e-13
"""Relative width at which the bracket of a minimiser is closed."""


def quantiles(kinks: Array, weights: Array, low: Array, leaf: Whole) -> Array:
    """Return the minimiser in each leaf of Σ w max(q (k − v), (q − 1)(k − v)), nearest to 0.

    Every piecewise linear loss with a corner k_n for each example is of this kind: left of all
    corners the slope of the sum is −L, and corner n adds w_n >= 0 to it. `low` has L for each leaf:
    the weight of corners after which the slope is no longer negative. It is 0 where a leaf has no
    weight.
    """
    k, w, ends = _gathered(kinks, weights, leaf, low.size)
    return _select(k, w, ends, low)


def clipped(kinks: Array, weights: Array, most: float, leaf: Whole, leaves: int) -> Array:
    """Return for each leaf a root of Σ w clip(v − k, −δ, δ), as `roots` does."""
    return _clipped(*_gathered(kinks, weights, leaf, leaves), most)


@njit(nogil=True)
def _gathered(kinks: Array, weights: Array, leaf: Whole, leaves: int) -> tuple[Array, Array, Whole]:
    """Return kinks and weights leaf by leaf, and where leaves end, after a 0."""
    ends = np.zeros(leaves + 1, np.int64)
    for n in range(leaf.size):
        ends[leaf[n] + 1] += 1
    ends = ends.cumsum()
    at = ends.copy()
    k, w = np.empty(leaf.size), np.empty(leaf.size)
    for n in range(leaf.size):
        place = at[leaf[n]]
        at[leaf[n]] = place + 1
        k[place], w[place] = kinks[n], weights[n]
    return k, w, ends


@njit(nogil=True)
def _clipped(k: Array, w: Array, ends: Whole, most: float) -> Array:
    found = np.zeros(ends.size - 1)
    for i in range(found.size):
        v, low, high, reach = 0.0, -math.inf, math.inf, 1.0
        slope, bend, size = _slopes(k[ends[i] : ends[i + 1]], w[ends[i] : ends[i + 1]], v, most)
        turn = 0
        while abs(slope) > _ROUNDING * size:
            low, high = (v, high) if slope < 0.0 else (low, v)
            width = high - low
            if width < math.inf and width <= _FINE * max(abs(low), abs(high)):
                break
            step = v - slope / bend if bend > 0.0 and turn < _NEWTON else v
            if low < step < high:
                v = step
            elif width < math.inf:
                v = low / 2.0 + high / 2.0
            else:
                v, reach = v - math.copysign(reach, slope), 2.0 * reach
            slope, bend, _ = _slopes(k[ends[i] : ends[i + 1]], w[ends[i] : ends[i + 1]], v, most)
            turn += 1
        found[i] = v
    return found


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _slopes(k: Array, w: Array, v: float, most: float) -> tuple[float, float, float]:
    """Return Σ w s with s = clip(v − k, −δ, δ), the weight of those within, and Σ w |s|."""
    slope, bend, size = 0.0, 0.0, 0.0
    for n in range(k.size):
        s = min(max(v - k[n], -most), most)
        slope += w[n] * s
        size += w[n] * abs(s)
        bend += w[n] if abs(s) < most else 0.0
    return slope, bend, size


@njit(nogil=True)
def _select(k: Array, w: Array, ends: Whole, low: Array) -> Array:
    """Return the minimiser of each leaf, by selection in linear time; k and w are reordered."""
    values, starts, ends = np.zeros(low.size), ends[:-1], ends[1:]
    for i in range(low.size):
        total = 0.0
        for n in range(starts[i], ends[i]):
            total += w[n]
        if not total > 0.0:
            continue
        slack = _ROUNDING * total
        if low[i] <= slack:  # minimal up to the first corner
            values[i] = min(0.0, _reach(k, w, starts[i], ends[i], slack)[0])
        else:
            v, rest = _reach(k, w, starts[i], ends[i], min(low[i], total) - slack)
            if rest > 2.0 * slack:
                values[i] = v
                continue
            after = math.inf  # flat from v to the next corner
            for n in range(starts[i], ends[i]):
                if k[n] > v and w[n] > 0.0:
                    after = min(after, k[n])
            values[i] = min(max(v, 0.0), after)
    return values


@njit(nogil=True)
def _reach(k: Array, w: Array, start: int, stop: int, goal: float) -> tuple[float, float]:
    """Return the first k at which the weights of all k' <= k reach the goal, and what is over.

    Three-way partition about the median of three; the weight beyond the goal counts all that have
    this k.
    """
    while True:
        a, b, c = k[start], k[(start + stop) // 2], k[stop - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        below, same = 0.0, 0.0
        first, last, n = start, stop, start
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
        if first > start and goal <= below:
            stop = first
        elif goal <= below + same or last == stop:
            return pivot, below + same - goal
        else:
            goal -= below + same
            start = last


def damped(gradient: Array, curvature: Array) -> Array:
    """Return −sign(G) log(1 + |G|/H) for sums G of slopes and H of second derivatives.

    Where |φ'''| <= φ'', as for exp and log(1 + exp), φ(v) <= φ(0) + φ'(0) v + φ''(0) (e^|v| − 1 −
    |v|); this v minimises the bound, so that φ never rises. It is Newton's step up to second order,
    and never longer, also in a leaf of one class, where nothing is minimal. An H that is 0 by
    underflow counts as the least normal double: a φ'' above the true one shortens v.
    """
    size = np.abs(gradient)
    least = np.finfo(float).tiny * np.maximum(size, 1.0)  # so that the ratio is finite
    return -np.sign(gradient) * np.log1p(size / np.maximum(curvature, least))


def roots(slopes: Slopes, weights: Array, leaf: Whole, leaves: int) -> Array:
    """Return where the weighted slopes of each leaf sum to zero: Newton's method in a bracket.

    For any convex loss. Where there are no second derivatives, or they are no help, it doubles
    steps until the slope changes its sign, then halves; corners are found to rounding. It is ±1e100
    where a minimiser is not nearer.
    """
    low, high = np.full(leaves, -math.inf), np.full(leaves, math.inf)
    v, reach = np.zeros(leaves), np.ones(leaves)
    far = np.zeros(leaves, dtype=bool)
    # It ends within 1100 turns: after _NEWTON steps only double, past _FAR by turn 334, or halve a
    # bracket, of width 2 _FAR at most, to 1 / _FAR within 667 more.
    turn = 0
    while True:
        slope, bend = slopes(np.where(far, 0.0, v)[leaf])
        g = sums(leaf, weights * slope, leaves)
        if turn == 0:
            size = sums(leaf, weights * np.abs(slope), leaves)
        flat = np.abs(g) <= _ROUNDING * size
        low = np.where((g <= 0.0) | flat, v, low)
        high = np.where((g >= 0.0) | flat, v, high)
        inside = np.isfinite(low) & np.isfinite(high)
        with np.errstate(invalid="ignore"):
            fine = _FINE * np.maximum(np.abs(low), np.abs(high))
            closed = high - low <= np.maximum(fine, 1.0 / _FAR)
        open_ = ~far & ~flat & ~(inside & closed)
        if not open_.any():
            return v
        with np.errstate(all="ignore"):
            halved = np.where(inside, low / 2.0 + high / 2.0, v - np.sign(g) * reach)
            reach = np.where(inside, reach, 2.0 * reach)
            step = v
            if bend is not None and turn < _NEWTON:
                step = v - g / sums(leaf, weights * bend, leaves)
            good = (np.abs(step) < _FAR) & (step > low) & (step < high)
        v = np.where(open_, np.where(good, step, halved), v)
        far |= ~(np.abs(v) < _FAR)  # also nan
        v = np.clip(v, -_FAR, _FAR)
        turn += 1
