"""All cuts of all features at once: taut strings in tubes, which share how they begin.

Of the cuts of feature f, A w is y u with u a function of the level of the feature that jumps by
2 w_j at cut j and whose ends sum to 0. Here u is g, of mean 0 over the examples, and what is left
of all features together, a number o = −Σ (g_first + g_last)/2. With c_b examples at level b,

    min over w of Σ_f Σ_b c_b (g_b − a_b)²/2 + m/F (o − a_o)²/2 + 2λ ‖w‖_1

is total variation denoising, but for o. For one feature, its dual is the shortest path through a
tube of half width λ around the sums of r = c a, level by level: the slopes of the path are g
(Davies & Kovac 2001, Ann. Statist. 29, Sec. 2). The multiplier of the equation for o adds the same
number to r at the first and the last level of every feature: where the strings begin, and end.

Were each u a variable by itself, cuts at the ends of features, which are all nearly the same
column, would be told apart so slowly that steps took several times as many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit

Room = tuple[Whole, Array]
"""What kernels work in: to allocate there takes long to compile."""

_NEAR, _TRIES = 1e-10, 60
"""Relative accuracy of the ends, and how often they are tried."""
_SPARSE, _PINNED = 8, 20
"""A string is pinned where it has so many levels for each bend; and how often pins may go."""


def room_for(offsets: Whole) -> Room:
    """Return room for features whose levels begin at `offsets`."""
    levels = int(np.diff(offsets).max())
    return np.empty((2, levels), dtype=np.int64), np.empty((7, levels))


@njit(error_model="numpy", nogil=True)
def _first_slope(c: Array, r: Array, tube: float, start: float, back: bool) -> tuple[float, float]:
    """Return the first slope of a string, from the back if asked, and how it rises with `start`."""
    n = c.size
    low, high, low_x, high_x, x, y = -np.inf, np.inf, 1.0, 1.0, 0.0, start
    for k in range(n):
        b = n - 1 - k if back else k
        x += c[b]
        y += r[b]
        if k == n - 1:
            break
        if y - tube > high * x:
            return high, 1.0 / high_x
        if y + tube < low * x:
            return low, 1.0 / low_x
        if y - tube > low * x:
            low, low_x = (y - tube) / x, x
        if y + tube < high * x:
            high, high_x = (y + tube) / x, x
    last = (y + start) / x
    if last > high:
        return high, 1.0 / high_x
    if last < low:
        return low, 1.0 / low_x
    return last, 2.0 / x


@njit(error_model="numpy", nogil=True)
def begin(c: Array, r: Array, offsets: Whole, tube: float, m: int, o: float, guess: float) -> float:
    """Return what the first and the last r of each feature are raised by, from a guess.

    What o then lacks to its equation rises with it, piecewise linearly: Newton's steps, bracketed.
    """
    low, high, start = -np.inf, np.inf, guess
    for _ in range(_TRIES):
        features = offsets.size - 1
        lacking, rate = o + 2.0 * features * start / m, 2.0 * features / m
        for f in range(features):
            a, b = offsets[f], offsets[f + 1]
            if b - a > 1:
                for back in (False, True):
                    slope, rise = _first_slope(c[a:b], r[a:b], tube, start, back)
                    lacking += 0.5 * slope - start / m
                    rate += 0.5 * rise - 1.0 / m
        if lacking > 0.0:
            high = start
        else:
            low = start
        before, start = start, start - lacking / rate
        if not low <= start <= high:
            start = 0.5 * (low + high)
        if abs(start - before) <= _NEAR * (tube + abs(start)):
            break
    return start


@njit(error_model="numpy", nogil=True)
def _string(c: Array, r: Array, tube: float, sides: Array, u: Array, room: Room) -> None:
    """Write the slopes of the shortest path of a feature, and on which sides it bends.

    Steps hardly move the bends. So the path is first pinned to where it bent before, and each
    stretch from pin to pin is solved for by itself. A pin goes where the path bends around it the
    wrong way.
    """
    n = c.size
    places, numbers = room
    pins, dirty, first, last = places[0], places[1], numbers[4], numbers[5]
    used = 0
    for k in range(n - 1):
        pins[used] = k
        used += sides[k] != 0
    if used > n // _SPARSE:
        used = 0
    for k in range(used + 1):
        dirty[k] = 1
    tries = 0
    while True:
        for k in range(used + 1):
            if dirty[k]:
                a, b = pins[k - 1] + 1 if k else 0, pins[k] + 1 if k < used else n
                y = -sides[a - 1] * tube if k else 0.0
                end = sides[b - 1] * tube if k < used else 0.0
                _stretch(c[a:b], r[a:b], tube, (y, end), u[a:b], numbers)
                first[k], last[k], dirty[k] = u[a], u[b - 1], 0
        kept, tries = 0, tries + 1
        for k in range(used):
            if tries < _PINNED and (first[k + 1] - last[k]) * sides[pins[k]] > 0.0:
                pins[kept] = pins[k]
                kept += 1
                first[kept], last[kept], dirty[kept] = first[k + 1], last[k + 1], 0
            else:
                dirty[kept] = 1
        if kept == used:
            break
        used = kept
    for k in range(n - 1):
        sides[k] = (u[k + 1] > u[k]) - (u[k + 1] < u[k])


@njit(error_model="numpy", nogil=True)
def _stretch(
    c: Array, r: Array, tube: float, ends: tuple[float, float], u: Array, room: Array
) -> None:
    """Write the slopes of the shortest path between two points: a line, where that is in the tube.

    `ends` say how far the middle of the tube is above the path at first, and below it at last.
    """
    y, end = ends
    x, rise = 0.0, y + end
    for k in range(c.size):
        x += c[k]
        rise += r[k]
    slope = rise / x
    off, least, most = y, y, y
    for k in range(c.size - 1):
        off += r[k] - slope * c[k]
        least, most = off if off < least else least, off if off > most else most
    if -tube <= least and most <= tube:
        u[:] = slope
    else:
        _path(c, r, tube, ends, u, room)


@njit(error_model="numpy", nogil=True)
def _path(
    c: Array, r: Array, tube: float, ends: tuple[float, float], u: Array, room: Array
) -> None:
    """Write the slopes of the shortest path of a `_stretch`, in time linear in the levels.

    The sides of the tube are kept from the last knot on, the lower as its concave majorant, the
    upper as that of its negative: each level enters and leaves either once.
    """
    n = c.size
    low, high = room[:2], room[2:4]
    knot_x, knot_y, x, y, written = 0.0, 0.0, 0.0, ends[0], 0.0
    # A literal 0 would have `_add` and `_write` compiled twice.
    at = low_a = low_b = high_a = high_b = np.int64(0)
    for k in range(n):
        x += c[k]
        y += r[k]
        half = tube
        if k == n - 1:
            half, y = 0.0, y + ends[1]
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
def gather(
    codes: NDArray[Any], offsets: Whole, c: Array, g: Array, s: Array, sigma: float, r: Array
) -> None:
    """Write r = c (g + σ s) by level, with s the mean of that of the examples there.

    Parameters
    ----------
    codes : array of shape (features, m)
        The level of each example.
    offsets : array of shape (features + 1,)
        Where the levels of each feature begin, and the end.
    c, g, r : arrays
        For all levels.
    s : array of shape (m,)
    sigma : float
    """
    features, m = codes.shape
    for f in range(features):
        a, b = offsets[f], offsets[f + 1]
        mine = r[a:b]
        mine[:] = 0.0
        for i in range(m):
            mine[codes[f, i]] += s[i]
        for k in range(a, b):
            r[k] = c[k] * g[k] + sigma * r[k]


@njit(error_model="numpy", nogil=True)
def pull(
    of: tuple[NDArray[Any], Whole, Array],
    r: Array,
    g: Array,
    steps: tuple[float, float, float],
    sides: Array,
    sums: Array,
    room: Room,
) -> None:
    """Move g to the strings, write these in the place of r, and their sum on the examples.

    Parameters
    ----------
    of : (codes, offsets, c)
        As in `gather`, and so are r and g.
    steps : (start, λ, relaxation)
        Of `begin`, the half width, and how much of the way to the strings g goes.
    sides : array of int8, for all levels
        On which side of the tube the last string bends after the level, as a sign, else 0.
    sums : array of shape (m,)
    room : (integers of shape (2, levels), numbers of shape (7, levels))
        See `room_for`. What they hold is of no use to the caller.
    """
    (codes, offsets, c), (start, tube, relaxation) = of, steps
    features, m = codes.shape
    new = room[1][6]
    shift = 2.0 * start / m
    sums[:] = 0.0
    for f in range(features):
        a, b = offsets[f], offsets[f + 1]
        if b - a == 1:  # without a cut, where g is 0
            r[a] = 0.0
            continue
        mine = new[: b - a]
        r[a] += start
        r[b - 1] += start
        _string(c[a:b], r[a:b], tube, sides[a:b], mine, room)
        for k in range(a, b):
            r[k] = mine[k - a] - shift
            g[k] += relaxation * (r[k] - g[k])
        mine = r[a:b]
        for i in range(m):
            sums[i] += mine[codes[f, i]]


@njit(error_model="numpy", nogil=True)
def nearest(p: Array, least: Array, most: Array, shift: float) -> float:
    """Return t with Σ clip(p − t, least, most) = 1, by Newton's steps from `shift`, bracketed."""
    low, high = np.inf, -np.inf
    for i in range(p.size):
        below, above = p[i] - most[i], p[i] - least[i]
        low, high = below if below < low else low, above if above > high else high
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
