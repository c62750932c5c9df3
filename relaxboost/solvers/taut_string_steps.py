"""Over-relaxed primal-dual steps on all stumps, with the exact proximal map of total variation.

The steps solve, for a number v,

    min over d of max over w of <d, A w> - v ||w||_1,    least <= d <= most, sum(d) = 1,

with a w of any size. The stumps of feature f map w to y times a function of the level of the
feature. That function jumps by 2 w_j at cut j, and its first and last value sum to zero, so its
total variation is 2 ||w||_1. This module writes it as g_f + o_f, where g_f has mean zero over the
examples and o_f is a number; A w depends on the o_f only through their sum o.

The proximal map of total variation is exact for each feature: the new g_f is the slope of a taut
string, which is the shortest path through a tube around the cumulative sums of the old one (Davies
& Kovac 2001, Ann. Statist. 29, Sec. 2). The kernel finds the path from the front to the back, as in
Condat (2013, IEEE Signal Process. Lett. 20). The equation that ties o to the ends of all g_f adds
one number, the `end_pull`, to the ends of every string. If o_f were separate unknowns, the cuts at
both ends of a feature, which are nearly the same column, would be told apart slowly, and the method
would need several times as many steps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit, thread_pool
from relaxboost.matrices.bulk import CutLevels

OVER_RELAXATION = 1.7
"""Each step goes this many times as far as the plain step. Below 2 the steps converge (Condat 2013,
J. Optim. Theory Appl. 158); 1.7 saves a third of the steps compared with 1."""

NEWTON_ACCURACY = 1e-12
"""Relative accuracy of the two scalar equations of a step, well above rounding."""


class _Features(NamedTuple):
    """The examples as levels of features. Features lie one after the other in arrays of levels."""

    codes: NDArray[Any]
    """The level of every example, (features, m)."""
    offsets: Whole
    """Where the levels of every feature begin, and the end, (features + 1,)."""
    counts: NDArray[np.uint32]
    """How many examples every level has."""


def _arrange(levels: CutLevels) -> _Features:
    """Return the features that have cuts. A feature with k cuts has k + 1 levels."""
    cuts = np.diff(levels.offsets)
    codes = levels.codes if cuts.all() else levels.codes[cuts > 0]
    sizes = cuts[cuts > 0] + 1
    counts = [np.bincount(code, minlength=size) for code, size in zip(codes, sizes, strict=True)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return _Features(codes, offsets, np.concatenate(counts).astype(np.uint32))


class TautStringSteps:
    """The iterates (d, w) of the primal-dual method; `step` moves both.

    A is a sum of `features` orthogonal maps, so both step sizes are 1/sqrt(features) (Chambolle &
    Pock 2011, J. Math. Imaging Vis. 40, Alg. 1). The number of steps hardly rises with m.

    If v is above the value of the game, d converges to a point without an edge above v, and w
    converges to zero. If v is below the value, w grows without bound, and its direction soon has a
    margin close to the value (Applegate, Díaz, Lu & Lubin 2024, SIAM J. Optim. 34).

    Parameters
    ----------
    levels : CutLevels
        The stumps.
    least, most : arrays of shape (m,)
        The bounds of d.
    d : array of shape (m,)
        Where d starts, within its bounds. w starts at zero.
    """

    def __init__(self, levels: CutLevels, least: Vector, most: Vector, d: Vector) -> None:
        self._features = _arrange(levels)
        self._signs = levels.signs
        self._least = least
        self._most = most
        self._shift = 0.0  # the multiplier of sum(d) = 1
        self.restart(d)

    def restart(self, d: Vector) -> None:
        """Start again with this d, and with w = 0."""
        levels = self._features.counts.size
        self.d = d
        """The end of the last plain step, within the bounds of d."""
        self._relaxed_d = d
        self._relaxed_g = np.zeros(levels)
        self._relaxed_o = 0.0
        self._relaxed_margins = np.zeros(d.size)  # y times A w
        self._strings = np.zeros(levels)
        self._end_pull = 0.0

    def step(self, v: float) -> None:
        """Take one step for the number v."""
        of = self._features
        codes, offsets, counts = of
        features, m = codes.shape
        size = 1.0 / np.sqrt(features)
        tube = 0.5 * size * v

        # The step in d ends at the projection onto the bounded simplex.
        aim = self._relaxed_d - size * (self._signs * self._relaxed_margins)
        self._shift = float(find_shift(aim, self._least, self._most, self._shift))
        self.d = np.clip(aim - self._shift, self._least, self._most)

        # The step in w sees d extrapolated. Its mean moves o, and the rest moves the functions g.
        force = self._signs * (2.0 * self.d - self._relaxed_d)
        mean = float(force.mean())
        force -= mean
        g = self._relaxed_g
        strings = self._strings
        _share(features, lambda part: gather(of, part, g, size * force, strings))
        o = self._relaxed_o + features * size * mean
        end_pull = find_end_pull(offsets, counts, strings, tube, o, self._end_pull)
        o += 2.0 * features * end_pull / m
        _share(features, lambda part: tighten(of, part, end_pull, tube, strings))
        margins = np.full(m, o)
        _share(m, lambda part: scatter(of, part, strings, margins))
        self._end_pull = end_pull

        # Over-relaxation goes further in the direction of the step.
        g += OVER_RELAXATION * (strings - g)
        self._relaxed_o += OVER_RELAXATION * (o - self._relaxed_o)
        self._relaxed_margins += OVER_RELAXATION * (margins - self._relaxed_margins)
        self._relaxed_d = self._relaxed_d + OVER_RELAXATION * (self.d - self._relaxed_d)

    def weights(self) -> tuple[Whole, Vector]:
        """Return the cuts at which the last strings bend, and their weights w."""
        offsets = self._features.offsets
        jumps = 0.5 * np.diff(self._strings)
        jumps[offsets[1:-1] - 1] = 0.0  # a jump from one feature to the next is no cut
        bends = np.flatnonzero(jumps)
        feature = np.searchsorted(offsets, bends, side="right") - 1
        return bends - feature, jumps[bends]  # every feature has one level more than it has cuts


def _share(count: int, call: Callable[[tuple[int, int]], None]) -> None:
    """Let threads call with the ranges (first, last) that make up `count` rows.

    Rows do not depend on each other, so the number of threads does not change the result.
    """
    pool, threads = thread_pool()
    ends = np.linspace(0, count, min(threads, count) + 1).astype(int).tolist()
    list((pool.map if threads > 1 else map)(call, pairwise(ends)))


@njit(error_model="numpy", nogil=True)
def gather(of: _Features, part: tuple[int, int], g: Array, force: Array, out: Array) -> None:
    """Write for every level the sum over its examples of g + force.

    `of` has the codes, offsets and counts of all features, and `part` is the range to work on.
    """
    codes, offsets, counts = of
    for f in range(part[0], part[1]):
        a = offsets[f]
        b = offsets[f + 1]
        sums = out[a:b]
        for level in range(a, b):
            out[level] = counts[level] * g[level]
        for i in range(force.size):
            sums[codes[f, i]] += force[i]


@njit(error_model="numpy", nogil=True)
def scatter(of: _Features, part: tuple[int, int], strings: Array, margins: Array) -> None:
    """Add to the margins of a range of the examples the strings at their levels."""
    codes, offsets, _ = of
    for f in range(len(codes)):
        string = strings[offsets[f] : offsets[f + 1]]
        for i in range(part[0], part[1]):
            margins[i] += string[codes[f, i]]


@njit(error_model="numpy", nogil=True)
def tighten(of: _Features, part: tuple[int, int], pull: float, tube: float, sums: Array) -> None:
    """Replace the sums of a range of the features by the slopes of their taut strings."""
    codes, offsets, counts = of
    mean = 2.0 * pull / codes.shape[1]
    for f in range(part[0], part[1]):
        a = offsets[f]
        b = offsets[f + 1]
        start = pull
        while a < b:
            slope, levels, side = first_stretch(counts[a:b], sums[a:b], tube, start, pull)
            sums[a : a + levels] = slope - mean
            start = -side * tube
            a += levels


@njit(error_model="numpy", nogil=True)
def first_stretch(
    counts: Array, sums: Array, tube: float, start: float, end: float
) -> tuple[float, int, float]:
    """Return the slope of the first straight stretch of a taut string, its levels, and its side.

    The middle of the tube rises by `sums` over levels of the widths `counts`. It is `start` above
    the string at the start and `end` below it at the end. The side is 1 if the string then bends
    around the upper side of the tube, -1 for the lower side, and 0 at the end of the string.

    The slopes between `low` and `high` lead from the start through the tube up to the present
    level. When the tube leaves them, the string bends where the last of them touches its side.
    """
    low = -np.inf
    high = np.inf
    low_levels = 0
    high_levels = 0
    x = 0.0
    y = start
    half = tube
    for k in range(counts.size):
        x += counts[k]
        y += sums[k]
        if k == counts.size - 1:  # the string ends at a point
            half = 0.0
            y += end
        if y - half > high * x:
            return high, high_levels, 1.0
        if y + half < low * x:
            return low, low_levels, -1.0
        if y - half > low * x:
            low = (y - half) / x
            low_levels = k + 1
        if y + half < high * x:
            high = (y + half) / x
            high_levels = k + 1
    return y / x, counts.size, 0.0


@njit(error_model="numpy", nogil=True)
def find_end_pull(
    offsets: Whole, counts: Array, sums: Array, tube: float, o: float, guess: float
) -> float:
    """Return the number that the equation for o adds to the first and last sum of each feature.

    The sum of o and half of the first and last slopes of all strings must be zero. It rises with
    the number and is piecewise linear, so a few of Newton's steps within a bracket are enough.
    """
    low = -np.inf
    high = np.inf
    pull = guess
    while True:
        excess = o
        rate = 0.0
        for f in range(offsets.size - 1):
            c = counts[offsets[f] : offsets[f + 1]]
            s = sums[offsets[f] : offsets[f + 1]]
            first, levels, side = first_stretch(c, s, tube, pull, pull)
            rate += (0.5 if side else 1.0) / c[:levels].sum()  # unbent: pulled at both ends
            last, levels, side = first_stretch(c[::-1], s[::-1], tube, pull, pull)
            rate += (0.5 if side else 1.0) / c[c.size - levels :].sum()
            excess += 0.5 * (first + last)
        if excess > 0.0:
            high = pull
        else:
            low = pull
        newton = pull - excess / rate
        if not low < newton < high:
            newton = 0.5 * (low + high)
        has_converged = abs(newton - pull) <= NEWTON_ACCURACY * (tube + abs(pull))
        if has_converged or not low < newton < high:  # or no number lies between both ends
            return pull
        pull = newton


@njit(error_model="numpy", nogil=True)
def find_shift(p: Array, least: Array, most: Array, guess: float) -> float:
    """Return t such that the sum of clip(p - t, least, most) is 1, by bracketed Newton's steps."""
    low = np.inf
    high = -np.inf
    for i in range(p.size):
        low = min(low, p[i] - most[i])
        high = max(high, p[i] - least[i])
    t = min(max(guess, low), high)
    while True:
        total = 0.0
        inside = 0
        for i in range(p.size):
            x = p[i] - t
            if least[i] < x < most[i]:
                inside += 1
            total += min(max(x, least[i]), most[i])
        excess = total - 1.0
        if excess > 0.0:
            low = t
        else:
            high = t
        if abs(excess) <= NEWTON_ACCURACY:
            return t
        t = t + excess / inside if inside else low
        if not low < t < high:
            t = 0.5 * (low + high)
        if not low < t < high:  # no number lies between both ends
            return t
