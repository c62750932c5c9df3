"""A feature by itself: the taut string in a tube, which solves for all of its cuts exactly.

Of the cuts of one feature, A w is y u with u a function of the level of the feature that jumps by
2 w_j at cut j and is antisymmetric at its ends. With c_b examples at level b,

    min over w of Σ_b c_b (u_b − a_b)²/2 + 2λ Σ_j |w_j|

is total variation denoising. Its dual is the shortest path through a tube of half width λ around
the sums of r = c a, level by level: the slopes of the path are u (Davies & Kovac 2001, Ann.
Statist. 29, Sec. 2). In `pull`, r is c u + σ times the sum of s at the level.
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
def _first_slope(c: Array, r: Array, tube: float, start: float, back: bool) -> float:
    """Return the first slope of the string that begins `start` below, from the back if asked."""
    n = c.size
    low, high, x, y = -np.inf, np.inf, 0.0, start
    for k in range(n):
        b = n - 1 - k if back else k
        x += c[b]
        y += r[b]
        if k == n - 1:
            break
        least, most = (y - tube) / x, (y + tube) / x
        if least > high:
            return high
        if most < low:
            return low
        low, high = max(low, least), min(high, most)
    return min(max((y + start) / x, low), high)


@njit(error_model="numpy", nogil=True)
def _sum_of_ends(c: Array, r: Array, tube: float, start: float) -> float:
    first = _first_slope(c, r, tube, start, False)
    return first + _first_slope(c, r, tube, start, True)


@njit(error_model="numpy", nogil=True)
def _start(c: Array, r: Array, tube: float, guess: float) -> float:
    """Return how far below the sums the string begins, and ends above: u sums to 0 at its ends.

    What the ends sum to rises with it, piecewise linearly: bracketed, then regula falsi.
    """
    a, at_a = guess, _sum_of_ends(c, r, tube, guess)
    if at_a == 0.0:
        return a
    step = 0.01 * tube + 0.1 * abs(at_a) * c[0]
    b, at_b = a, at_a
    for _ in range(_TRIES):
        b = a - step if at_a > 0.0 else a + step
        at_b = _sum_of_ends(c, r, tube, b)
        if (at_b > 0.0) != (at_a > 0.0):
            break
        a, at_a = b, at_b
        step *= 4.0
    for _ in range(_TRIES):
        if at_a == at_b or abs(b - a) <= _NEAR * (tube + abs(b)):
            break
        middle = (a * at_b - b * at_a) / (at_b - at_a)
        at_middle = _sum_of_ends(c, r, tube, middle)
        if (at_middle > 0.0) == (at_b > 0.0):
            at_a *= 0.5
        else:
            a, at_a = b, at_b
        b, at_b = middle, at_middle
        if at_b == 0.0:
            break
    return b


@njit(error_model="numpy", nogil=True)
def _string(c: Array, r: Array, tube: float, u: Array) -> None:
    """Write the slopes of the shortest path, in time linear in the levels.

    The sides of the tube are kept from the last knot on, the lower as its concave majorant, the
    upper as that of its negative: each level enters and leaves either once.
    """
    n = c.size
    low, high = np.empty((2, n)), np.empty((2, n))
    knot_x, knot_y, x, y, written, at = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    low_a, low_b, high_a, high_b = 0, 0, 0, 0
    for k in range(n):
        x += c[k]
        y += r[k]
        half = tube if k < n - 1 else 0.0
        low_b = _add(low, low_a, low_b, (knot_x, knot_y), (x, y - half))
        high_b = _add(high, high_a, high_b, (knot_x, -knot_y), (x, -y - half))
        while low_b - low_a == 1 and high_b - high_a > 1:  # bent around the upper side?
            x1, y1 = high[0, high_a], -high[1, high_a]
            if (y1 - knot_y) * (x - knot_x) >= (y - half - knot_y) * (x1 - knot_x):
                break
            at, written = _write(c, u, at, written, x1, (y1 - knot_y) / (x1 - knot_x))
            knot_x, knot_y = x1, y1
            high_a += 1
        while high_b - high_a == 1 and low_b - low_a > 1:
            x1, y1 = low[0, low_a], low[1, low_a]
            if (y1 - knot_y) * (x - knot_x) <= (y + half - knot_y) * (x1 - knot_x):
                break
            at, written = _write(c, u, at, written, x1, (y1 - knot_y) / (x1 - knot_x))
            knot_x, knot_y = x1, y1
            low_a += 1
    _write(c, u, at, written, x, (y - knot_y) / (x - knot_x))


@njit(error_model="numpy", nogil=True)
def _add(side: Array, a: int, b: int, knot: tuple[float, float], point: tuple[float, float]) -> int:
    """Add a point to a majorant, whose slopes fall, from a knot on; return its end."""
    x, y = point
    while b > a:
        x1, y1 = side[0, b - 1], side[1, b - 1]
        x0, y0 = (side[0, b - 2], side[1, b - 2]) if b - 1 > a else knot
        if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0):
            break
        b -= 1
    side[0, b], side[1, b] = x, y
    return b + 1


@njit(error_model="numpy", nogil=True)
def _write(c: Array, u: Array, at: int, x: float, end: float, slope: float) -> tuple[int, float]:
    """Write a slope from level `at`, which begins at x, up to `end`; return where that is."""
    while at < c.size and x < end:
        u[at] = slope
        x += c[at]
        at += 1
    return at, x


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
    r, new = np.empty(widest), np.empty(widest)
    sums[:] = 0.0
    for f in range(features):
        a, levels = offsets[f], offsets[f + 1] - offsets[f]
        if levels == 1:  # without a cut
            continue
        mine, pulls, c = new[:levels], r[:levels], counts[a : a + levels]
        mine[:] = 0.0
        for i in range(m):
            mine[codes[f, i]] += s[i]
        for b in range(levels):
            pulls[b] = c[b] * u[a + b] + sigma * mine[b]
        starts[f] = _start(c, pulls, tube, starts[f])
        pulls[0] += starts[f]
        pulls[-1] += starts[f]
        _string(c, pulls, tube, mine)
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
