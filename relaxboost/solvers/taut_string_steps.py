"""Over-relaxed primal-dual steps on all stumps, with the exact proximal map of total variation.

A is the margin matrix of all stumps, d a distribution over the examples, and w the weights of the
stumps. For a number v the steps solve

    min over d of max over w of <d, A w> - v ||w||_1,    least <= d <= most, sum(d) = 1,

where w may have any size. The stumps of feature f map w to the label y of each example times a
function of the level of the feature. This function jumps by 2 w_j at cut j, and its first and last
value sum to zero. Therefore its total variation is 2 ||w||_1. This module writes the function as
g_f + o_f, where g_f has mean zero over the examples and o_f is a number. A w depends on the numbers
o_f only through their sum o.

The proximal map of total variation is exact for each feature. The new g_f is the slope of a taut
string, which is the shortest path through a tube around the cumulative sums of the old g_f (Davies
& Kovac 2001, Ann. Statist. 29, Sec. 2). The kernel finds the path from the front to the back, as in
Condat (2013, IEEE Signal Process. Lett. 20). An equation ties o to the ends of all g_f. It adds the
same number, the `end_pull`, to both ends of every string. With separate unknowns o_f the method
would need several times as many steps: the cuts at both ends of a feature are nearly the same
column, and their weights would converge slowly.
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
"""Each step goes 1.7 times as far as the plain step. Below 2 the steps converge (Condat 2013,
J. Optim. Theory Appl. 158). A factor of 1.7 saves a third of the steps compared with 1."""

EPSILON = float(np.finfo(np.float64).eps)
"""The relative rounding error of a number. A sum of m numbers has an error of up to m times this,
and the two scalar equations of a step are solved up to the error of the sums in them."""


class _Features(NamedTuple):
    """The level of each example for each feature.

    Arrays over levels have the levels of the first feature first, then those of the second.
    """

    codes: NDArray[Any]
    """The level of every example, of shape (features, m)."""
    offsets: Whole
    """The index of the first level of every feature, and the number of all levels."""
    counts: NDArray[np.uint32]
    """The number of examples at every level."""


def _arrange(levels: CutLevels) -> _Features:
    """Return the features that have cuts. A feature with k cuts has k + 1 levels."""
    # A feature without cuts has one level and no stump.
    cuts = np.diff(levels.offsets)
    codes = levels.codes if cuts.all() else levels.codes[cuts > 0]
    sizes = cuts[cuts > 0] + 1
    counts = [np.bincount(code, minlength=size) for code, size in zip(codes, sizes, strict=True)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return _Features(codes, offsets, np.concatenate(counts).astype(np.uint32))


class TautStringSteps:
    """The iterates d and w of the primal-dual method; `step` moves both.

    The matrix A is a sum of orthogonal maps, one for each feature, so that both step sizes are
    1/sqrt(features) (Chambolle & Pock 2011, J. Math. Imaging Vis. 40, Alg. 1). The number of steps
    hardly rises with the number m of examples.

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
        The first d, within its bounds. The first w is zero.
    """

    def __init__(self, levels: CutLevels, least: Vector, most: Vector, d: Vector) -> None:
        self._features = _arrange(levels)
        self._signs = levels.signs
        self._least = least
        self._most = most
        # The multiplier of the constraint sum(d) = 1.
        self._shift = 0.0
        self.restart(d)

    def restart(self, d: Vector) -> None:
        """Restart the steps from this d and w = 0."""
        levels = self._features.counts.size
        self.d = d
        """The d of the last plain step, which is within its bounds."""
        self._relaxed_d = d
        self._relaxed_g = np.zeros(levels)
        self._relaxed_o = 0.0
        # The labels y times A w.
        self._relaxed_margins = np.zeros(d.size)
        self._strings = np.zeros(levels)
        self._end_pull = 0.0

    def step(self, v: float) -> None:
        """Move d and w by one step of the problem with the number v."""
        of = self._features
        codes, offsets, counts = of
        features, m = codes.shape
        size = 1.0 / np.sqrt(features)
        tube = 0.5 * size * v

        # The step in d is projected onto the distributions within the bounds.
        aim = self._relaxed_d - size * (self._signs * self._relaxed_margins)
        self._shift = float(find_shift(aim, self._least, self._most, self._shift))
        self.d = np.clip(aim - self._shift, self._least, self._most)

        # The step in w uses d extrapolated, as the method requires. The mean of the force on the
        # examples moves o, and the rest moves the functions g.
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
        """Return the numbers of the cuts with weight, and their weights w.

        These are the cuts at which the strings of the last step bend.
        """
        offsets = self._features.offsets
        jumps = 0.5 * np.diff(self._strings)
        # Between the last level of a feature and the first of the next there is no cut.
        jumps[offsets[1:-1] - 1] = 0.0
        bends = np.flatnonzero(jumps)
        feature = np.searchsorted(offsets, bends, side="right") - 1
        # Every feature has one level more than it has cuts.
        return bends - feature, jumps[bends]


def _share(count: int, call: Callable[[tuple[int, int]], None]) -> None:
    """Divide `count` rows into ranges (first, last), and call a function for each in a thread.

    Rows do not depend on each other, so that the number of threads does not change the result.
    """
    pool, threads = thread_pool()
    ends = np.linspace(0, count, min(threads, count) + 1).astype(int).tolist()
    list((pool.map if threads > 1 else map)(call, pairwise(ends)))


@njit(error_model="numpy", nogil=True)
def gather(of: _Features, part: tuple[int, int], g: Array, force: Array, out: Array) -> None:
    """Write to `out` the sum of g + force over the examples of every level.

    `of` has the codes, offsets and counts of all features, and `part` is the range of features to
    work on. `g` has an entry for each level, and `force` one for each example.
    """
    codes, offsets, counts = of
    for f in range(part[0], part[1]):
        a = offsets[f]
        b = offsets[f + 1]
        sums = out[a:b]
        # A loop compiles faster than an assignment to the slice, which needs an error for shapes.
        for level in range(a, b):
            out[level] = counts[level] * g[level]
        for i in range(force.size):
            sums[codes[f, i]] += force[i]


@njit(error_model="numpy", nogil=True)
def scatter(of: _Features, part: tuple[int, int], strings: Array, margins: Array) -> None:
    """Add the slopes of the strings at the levels of each example to its margin.

    `part` is the range of examples to work on.
    """
    codes, offsets, _ = of
    for f in range(len(codes)):
        string = strings[offsets[f] : offsets[f + 1]]
        for i in range(part[0], part[1]):
            margins[i] += string[codes[f, i]]


@njit(error_model="numpy", nogil=True)
def tighten(of: _Features, part: tuple[int, int], pull: float, tube: float, sums: Array) -> None:
    """Replace the sums of a range of features by the slopes of their taut strings.

    `pull` is added to the first and the last sum of each feature, and `tube` is half the width of
    the tube.
    """
    codes, offsets, counts = of
    # The pull at both ends shifts the mean of the slopes, which has to stay zero.
    mean = 2.0 * pull / codes.shape[1]
    for f in range(part[0], part[1]):
        a = offsets[f]
        b = offsets[f + 1]
        start = pull
        while a < b:
            slope, levels, side = first_stretch(counts[a:b], sums[a:b], tube, start, pull)
            sums[a : a + levels] = slope - mean
            # The next stretch starts at the side of the tube around which the string bends.
            start = -side * tube
            a += levels


@njit(error_model="numpy", nogil=True)
def first_stretch(
    counts: Array, sums: Array, tube: float, start: float, end: float
) -> tuple[float, int, float]:
    """Return the slope of the first straight stretch of a taut string, its levels, and its side.

    The middle of the tube rises by `sums` over levels of the widths `counts`, and the tube reaches
    from `tube` below to `tube` above. The middle starts `start` above the string, and ends `end`
    below it. The side is 1 if the string bends around the upper side of the tube after the stretch,
    -1 for the lower side, and 0 if the stretch reaches the end of the string.

    The slopes between `low` and `high` lead from the start through the tube up to the present
    level. If no slope remains at the next level, the string bends at the level where the last of
    the slopes touches its side.
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
        # The string ends at a point, where the tube has no width.
        if k == counts.size - 1:
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
    """Return the end pull, which is the number added to the first and last sum of each feature.

    The sum of o and of half the first and last slopes of all strings must be zero. This sum rises
    with the end pull and is piecewise linear, so that a few Newton steps within a bracket suffice.
    `guess` is the end pull of the step before.
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
            # A string that does not bend is pulled at both ends: its slope changes twice as much.
            rate += (0.5 if side else 1.0) / c[:levels].sum()
            last, levels, side = first_stretch(c[::-1], s[::-1], tube, pull, pull)
            rate += (0.5 if side else 1.0) / c[c.size - levels :].sum()
            excess += 0.5 * (first + last)
        if excess > 0.0:
            high = pull
        else:
            low = pull
        newton = pull - excess / rate
        # Newton's method may leave the bracket at a corner of the function; bisection does not.
        if not low < newton < high:
            newton = 0.5 * (low + high)
        has_converged = abs(newton - pull) <= offsets[-1] * EPSILON * (tube + abs(pull))
        # If no number lies strictly between both ends of the bracket, no better solution exists.
        if has_converged or not low < newton < high:
            return pull
        pull = newton


@njit(error_model="numpy", nogil=True)
def find_shift(p: Array, least: Array, most: Array, guess: float) -> float:
    """Return t such that the sum of clip(p - t, least, most) is 1, by Newton steps in a bracket.

    `guess` is the t of the step before.
    """
    # At the lower end of the bracket every entry is at its upper bound, and conversely.
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
        if abs(excess) <= p.size * EPSILON:
            return t
        # The sum falls by one for each entry inside its bounds. Without any it is locally constant.
        t = t + excess / inside if inside else low
        if not low < t < high:
            t = 0.5 * (low + high)
        # If no number lies strictly between both ends of the bracket, no better solution exists.
        if not low < t < high:
            return t
