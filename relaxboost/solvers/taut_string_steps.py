"""Over-relaxed primal-dual steps on all stumps, with the exact proximal map of total variation.

A stump is a cut of a feature at a threshold. A is the margin matrix of all stumps, d is a
distribution over the examples, and w are the weights of the stumps. For a number v the steps solve

    min over d of max over w of <d, A w> - v ||w||_1,    least <= d <= most, sum(d) = 1,

where w is unrestricted.

The level of an example for a feature is the number of the feature's cuts below the example. The
stump weights of a feature f define a function of the level, which jumps by 2 w_j at cut j. Its
first and last values sum to zero, and its total variation is twice the l1 norm of the weights. The
margin of an example is the sum of these functions over all features, times the label.

This module writes the function as g_f + o_f, where g_f has mean zero over the examples, and o_f is
a number. The margins A w depend on the numbers o_f only through their sum o.

The total-variation proximal map is computed exactly for each feature. The new values of g_f are the
slopes of a taut string, the shortest path through a tube around the cumulative sums of the old
values (Davies & Kovac 2001, Ann. Statist. 29, Sec. 2). The path is computed from start to end, as
in Condat (2013, IEEE Signal Process. Lett. 20).

Since the first and last values of each function sum to zero, 2 o is minus the sum of the first and
last values of all g_f. The steps satisfy this equation by adding one number, the `end_pull`, to
both ends of every string. A separate unknown o_f for each feature would take several times more
steps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit, thread_pool
from relaxboost._core.rounding import UNIT
from relaxboost.matrices.bulk import CutLevels

OVER_RELAXATION = 1.7
# The steps converge for every multiple below 2 (Condat 2013, J. Optim. Theory Appl. 158). With 1.7,
# the method needs a third fewer steps than with 1.
"""The length of a step as a multiple of the plain primal-dual step."""


class _Features(NamedTuple):
    # Arrays over all levels are ordered by feature. A feature with k cuts has k + 1 levels.
    codes: NDArray[Any]
    """The level of each example for each feature, of shape (features, examples)."""
    offsets: Whole
    """The index of each feature's first level, and the total number of levels."""
    counts: NDArray[np.uint32]
    """The number of examples at each level of each feature."""


def _arrange(levels: CutLevels) -> _Features:
    # A feature without cuts has one level and no stump, and is left out.
    cuts = np.diff(levels.offsets)
    codes = levels.codes if cuts.all() else levels.codes[cuts > 0]
    sizes = cuts[cuts > 0] + 1
    counts = [np.bincount(code, minlength=size) for code, size in zip(codes, sizes, strict=True)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return _Features(codes, offsets, np.concatenate(counts).astype(np.uint32))


class TautStringSteps:
    """The iterates d and w of the primal-dual method on all stumps.

    The margins are a sum of one function for each feature. The linear map from the functions to
    their sum has the norm sqrt(features), so both step sizes are 1/sqrt(features) (Chambolle & Pock
    2011, J. Math. Imaging Vis. 40, Alg. 1). The number of steps hardly increases with m.

    If v is above the value of the game, w converges to zero, and d to a distribution for which no
    stump has an edge above v. If v is below the value, w diverges, but its direction converges. The
    weights w / ||w||_1 then prove a lower bound above v (Applegate, Díaz, Lu & Lubin 2024, SIAM J.
    Optim. 34).

    Parameters
    ----------
    levels : CutLevels
        The stumps as levels of the examples, with labels.
    least, most : arrays of shape (m,)
        The lower and the upper bounds of d.
    d : array of shape (m,)
        The first distribution d, within its bounds. The first w is zero.
    """

    def __init__(self, levels: CutLevels, least: Vector, most: Vector, d: Vector) -> None:
        self._features = _arrange(levels)
        self._signs = levels.signs
        self._least = least
        self._most = most
        # This is the multiplier of the constraint sum(d) = 1.
        self._shift = 0.0
        self.restart(d)

    def restart(self, d: Vector) -> None:
        """Restart from the distribution d and the weights w = 0."""
        levels = self._features.counts.size
        self.d = d
        """The distribution after the last step, before over-relaxation."""
        self._relaxed_d = d
        self._relaxed_g = np.zeros(levels)
        self._relaxed_o = 0.0
        # This vector is the product of the labels y and the margins A w.
        self._relaxed_margins = np.zeros(d.size)
        self._strings = np.zeros(levels)
        self._end_pull = 0.0

    def step(self, v: float) -> None:
        """Take a primal-dual step towards a distribution with no stump edge above `v`."""
        of = self._features
        codes, offsets, counts = of
        features, m = codes.shape
        size = 1.0 / np.sqrt(features)
        tube = 0.5 * size * v

        # The step in d is projected onto the distributions within the bounds.
        aim = self._relaxed_d - size * (self._signs * self._relaxed_margins)
        self._shift = float(find_shift(aim, self._least, self._most, self._shift))
        self.d = np.clip(aim - self._shift, self._least, self._most)

        # The step in w uses an extrapolated d, as the method requires. The mean of the force on the
        # examples moves o, and the force minus this mean moves the functions g.
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
        """Return the column indices and the weights of the stumps with nonzero weight.

        A stump has nonzero weight if the function of its feature jumps at the cut.
        """
        offsets = self._features.offsets
        jumps = 0.5 * np.diff(self._strings)
        # There is no cut between the last level of a feature and the first level of the next one.
        jumps[offsets[1:-1] - 1] = 0.0
        bends = np.flatnonzero(jumps)
        feature = np.searchsorted(offsets, bends, side="right") - 1
        # Every feature has one level more than it has cuts.
        return bends - feature, jumps[bends]


def _share(count: int, call: Callable[[tuple[int, int]], None]) -> None:
    # Threads share the indices below `count`. No call depends on another call, so the result does
    # not depend on the number of threads.
    pool, threads = thread_pool()
    ends = np.linspace(0, count, min(threads, count) + 1).astype(int).tolist()
    list((pool.map if threads > 1 else map)(call, pairwise(ends)))


@njit(error_model="numpy", nogil=True)
def gather(of: _Features, part: tuple[int, int], g: Array, force: Array, out: Array) -> None:
    """Write a sum for each level of each feature to `out`.

    The sum runs over the examples at the level. Each adds the entry of `g` for the level and its
    own entry of `force`. `part` is a range of features.
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
    """Add the functions of all features to the margins of the examples.

    `strings` contains the function values by feature and level. `part` is a range of examples.
    """
    codes, offsets, _ = of
    for f in range(len(codes)):
        string = strings[offsets[f] : offsets[f + 1]]
        for i in range(part[0], part[1]):
            margins[i] += string[codes[f, i]]


@njit(error_model="numpy", nogil=True)
def tighten(of: _Features, part: tuple[int, int], pull: float, tube: float, sums: Array) -> None:
    """Replace the sums of some features by the slopes of their taut strings.

    `sums` has an entry for each level of each feature, and `tube` is half the height of the tube
    around their cumulative sums. First, `pull` is added to the first and last entry of each
    feature. `part` is a range of features.
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
    """Return (slope, number of levels, side) for the first straight stretch of a taut string.

    `tube` is half the height of the tube. Over level k, which has the width `counts[k]`, its middle
    line rises by `sums[k]`. The string starts `start` below the middle line and ends `end` above
    it. The side is 1 if the stretch ends at the upper side of the tube, -1 if it ends at the lower
    side, and 0 if it reaches the end of the tube.
    """
    # A straight line from the start stays inside the tube up to the current level if its slope
    # lies between `low` and `high`. If no such slope exists up to the next level, the string bends
    # where the line with the last possible slope touches a side of the tube.
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
    """Return the end pull, which is added to the first and the last sum of each feature.

    The end pull is the number for which all o_j add up to `o`, where o_j is minus half the sum of
    the first and last slope of the string of feature j. `guess` is the end pull of the previous
    step.
    """
    # The equation is monotone and piecewise linear, so a few Newton steps suffice.
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
        has_converged = abs(newton - pull) <= offsets[-1] * 2.0 * UNIT * (tube + abs(pull))
        # If no number lies strictly between both ends of the bracket, no better solution exists.
        if has_converged or not low < newton < high:
            return pull
        pull = newton


@njit(error_model="numpy", nogil=True)
def find_shift(p: Array, least: Array, most: Array, guess: float) -> float:
    """Return the number t for which the entries of clip(p - t, least, most) sum to 1.

    The clipped vector is the distribution nearest to p between the bounds. `guess` is the t of the
    previous call.
    """
    # At `low` every entry is at its upper bound, and at `high` at its lower bound.
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
        # The sum of the entries has a relative rounding error of up to this number.
        if abs(excess) <= p.size * 2.0 * UNIT:
            return t
        # The sum has the slope -1 for each entry inside its bounds, or is locally constant.
        t = t + excess / inside if inside else low
        if not low < t < high:
            t = 0.5 * (low + high)
        # If no number lies strictly between both ends of the bracket, no better solution exists.
        if not low < t < high:
            return t
