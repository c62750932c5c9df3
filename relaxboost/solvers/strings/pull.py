"""A feature by itself: the taut string in a tube, which solves for all of its cuts exactly.

Of the cuts of one feature, A w is y u with u a function of the level of the feature that jumps by
2 w_j at cut j and is antisymmetric at its ends. With c_b examples at level b,

    min over w of Σ_b c_b (u_b − a_b)²/2 + 2λ Σ_j |w_j|

is total variation denoising. Its dual is the shortest path through a tube of half width λ around
the sums of c a (Davies & Kovac 2001, Ann. Statist. 29, Sec. 2): the slopes of the path are u. It
takes O(levels), since every level enters and leaves each side of the tube once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit

_NEAR, _TRIES = 1e-12, 60
"""Relative accuracy of the ends, and how often they are tried."""


@njit(error_model="numpy", nogil=True)
def _first_slope(X: Array, R: Array, tube: float, start: float, back: bool) -> float:
    """Return the first slope of the string that starts `start` below, from the back if asked."""
    n = X.size - 1
    low, high = -np.inf, np.inf
    for k in range(1, n):
        x, r = (X[n] - X[n - k], R[n] - R[n - k]) if back else (X[k], R[k])
        least, most = (r + start - tube) / x, (r + start + tube) / x
        if least > high:
            return high
        if most < low:
            return low
        low, high = max(low, least), min(high, most)
    return min(max((R[n] + 2.0 * start) / X[n], low), high)


@njit(error_model="numpy", nogil=True)
def _sum_of_ends(X: Array, R: Array, tube: float, start: float) -> float:
    first = _first_slope(X, R, tube, start, False)
    return first + _first_slope(X, R, tube, start, True)


@njit(error_model="numpy", nogil=True)
def _start(X: Array, R: Array, tube: float, guess: float) -> float:
    """Return how far below the sums the string starts, and ends above: u sums to 0 at its ends.

    What the ends sum to rises with it, piecewise linearly: bracketed, then regula falsi.
    """
    a, at_a = guess, _sum_of_ends(X, R, tube, guess)
    if at_a == 0.0:
        return a
    step = 0.01 * tube + 0.1 * abs(at_a) * X[1]
    b, at_b = a, at_a
    for _ in range(_TRIES):
        b = a - step if at_a > 0.0 else a + step
        at_b = _sum_of_ends(X, R, tube, b)
        if (at_b > 0.0) != (at_a > 0.0):
            break
        a, at_a = b, at_b
        step *= 4.0
    for _ in range(_TRIES):
        if at_a == at_b or abs(b - a) <= _NEAR * (tube + abs(b)):
            break
        c = (a * at_b - b * at_a) / (at_b - at_a)
        at_c = _sum_of_ends(X, R, tube, c)
        if (at_c > 0.0) == (at_b > 0.0):
            at_a *= 0.5
        else:
            a, at_a = b, at_b
        b, at_b = c, at_c
        if at_c == 0.0:
            break
    return b


@njit(error_model="numpy", nogil=True)
def _pull(X: Array, R: Array, tube: float, start: float, u: Array, low: Array, high: Array) -> None:
    """Write the slopes of the shortest path through the tube.

    `low` and `high`, shape (2, levels + 1), hold the points of the concave majorant of the lower
    side and of the convex minorant of the upper one, from the last knot on.
    """
    n = X.size - 1
    knot_x, knot_y, done = 0.0, -start, 0
    low_a, low_b, high_a, high_b = 0, 0, 0, 0
    for k in range(1, n + 1):
        x = X[k]
        below = R[k] - tube if k < n else R[n] + start
        above = R[k] + tube if k < n else below
        while low_b > low_a:
            x1, y1 = low[0, low_b - 1], low[1, low_b - 1]
            x0 = low[0, low_b - 2] if low_b - 1 > low_a else knot_x
            y0 = low[1, low_b - 2] if low_b - 1 > low_a else knot_y
            if (y1 - y0) * (x - x1) > (below - y1) * (x1 - x0):
                break
            low_b -= 1
        low[0, low_b], low[1, low_b] = x, below
        low_b += 1
        while high_b > high_a:
            x1, y1 = high[0, high_b - 1], high[1, high_b - 1]
            x0 = high[0, high_b - 2] if high_b - 1 > high_a else knot_x
            y0 = high[1, high_b - 2] if high_b - 1 > high_a else knot_y
            if (y1 - y0) * (x - x1) < (above - y1) * (x1 - x0):
                break
            high_b -= 1
        high[0, high_b], high[1, high_b] = x, above
        high_b += 1
        if low_b - low_a == 1:  # it may cut off the upper side: the string bends around that
            while high_b - high_a > 1:
                x1, y1 = high[0, high_a], high[1, high_a]
                if (y1 - knot_y) * (x - knot_x) >= (below - knot_y) * (x1 - knot_x):
                    break
                slope = (y1 - knot_y) / (x1 - knot_x)
                while X[done] < x1:
                    u[done] = slope
                    done += 1
                knot_x, knot_y = x1, y1
                high_a += 1
        if high_b - high_a == 1:
            while low_b - low_a > 1:
                x1, y1 = low[0, low_a], low[1, low_a]
                if (y1 - knot_y) * (x - knot_x) <= (above - knot_y) * (x1 - knot_x):
                    break
                slope = (y1 - knot_y) / (x1 - knot_x)
                while X[done] < x1:
                    u[done] = slope
                    done += 1
                knot_x, knot_y = x1, y1
                low_a += 1
    slope = (R[n] + start - knot_y) / (X[n] - knot_x)
    while done < n:
        u[done] = slope
        done += 1


@njit(error_model="numpy", nogil=True)
def pull(
    codes: NDArray[Any],
    offsets: Whole,
    counts: Array,
    s: Array,
    state: tuple[Array, Array],
    steps: tuple[float, float, float],
    sums: Array,
    kept: Array,
) -> None:
    """Move u to what each of some features makes of a = u + σ s / c, and add that up.

    Parameters
    ----------
    codes : array of shape (features, m)
        The level of each example.
    offsets : array of shape (features + 1,)
        Where the levels of each feature begin, and the end.
    counts : array
        The examples of each level.
    s : array of shape (m,)
    state : (u, starts)
        u on all levels, and where the strings started last.
    steps : (σ, λ, relaxation)
        Of the way to the new u so much is gone.
    sums : array of shape (m,)
        Gets the sum of the new u.
    kept : array
        Gets the new u, on all levels, where it is not empty.
    """
    u, starts = state
    sigma, tube, relaxation = steps
    features, m = codes.shape
    widest = np.diff(offsets).max()
    X, R, new = np.zeros(widest + 1), np.zeros(widest + 1), np.empty(widest)
    low, high = np.empty((2, widest + 1)), np.empty((2, widest + 1))
    sums[:] = 0.0
    for f in range(features):
        a, levels = offsets[f], offsets[f + 1] - offsets[f]
        if levels == 1:  # without a cut
            continue
        mine = new[:levels]
        mine[:] = 0.0
        for i in range(m):
            mine[codes[f, i]] += s[i]
        for b in range(levels):
            X[b + 1] = X[b] + counts[a + b]
            R[b + 1] = R[b] + counts[a + b] * u[a + b] + sigma * mine[b]
        xs, rs = X[: levels + 1], R[: levels + 1]
        starts[f] = _start(xs, rs, tube, starts[f])
        _pull(xs, rs, tube, starts[f], mine, low, high)
        for i in range(m):
            sums[i] += mine[codes[f, i]]
        for b in range(levels):
            u[a + b] += relaxation * (mine[b] - u[a + b])
        if kept.size:
            kept[a : a + levels] = mine


@njit(error_model="numpy", nogil=True)
def nearest(p: Array, least: Array, most: Array, shift: float) -> float:
    """Return t with Σ clip(p − t, least, most) = 1, by Newton's steps from `shift`, bracketed."""
    low, high = np.inf, -np.inf
    for i in range(p.size):
        low, high = min(low, p[i] - most[i]), max(high, p[i] - least[i])
    t = min(max(shift, low), high)
    for _ in range(200):
        total, inside = 0.0, 0
        for i in range(p.size):
            x = p[i] - t
            if x <= least[i]:
                total += least[i]
            elif x >= most[i]:
                total += most[i]
            else:
                total += x
                inside += 1
        over = total - 1.0
        if abs(over) <= 1e-13:
            break
        if over > 0.0:
            low = t
        else:
            high = t
        newton = t + over / inside if inside else t
        t = newton if low < newton < high else 0.5 * (low + high)
        if t <= low or t >= high:
            break
    return t
