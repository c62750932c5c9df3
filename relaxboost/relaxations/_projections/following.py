"""Capped projections and soft margins of margins that move little, from where the last ones ended.

The projection of `capped.py` is d_i = min{ν, exp((γ − u_i)/β)} for one level γ. With L near it,
e_i = exp((L − u_i)/β), and r entries at the cap, it is min{ν, x e_i} with

    x = (1 − r ν) / Σ of the other e_i,    γ = L + β log x.

Σ min{ν, x e_i} is concave and piecewise linear in x: from the left Newton's method, which is this
formula for the r of the last x, increases x and ends when r stays. From the level of the margins
before that takes a pass or two. L is the multiple of 32β that is nearest to γ: so the result does
not depend, to the bit, on where the search began.

If the level turns out to be far from there, the search starts from the level of `capped.py`.
Likewise the margin of a rank is sought near the one before, and then among all.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.matrices.kernels import FEW, dot
from relaxboost.relaxations._projections.capped import capped_distribution, place
from relaxboost.relaxations._projections.vectorised import REORDER, exp

_APART = 32.0
"""Times β that levels are apart for which exponentials are formed."""
_MAX_STEPS = 40
"""Newton's steps for a level, of which one or two are usual."""


@njit(error_model="numpy", fastmath={"contract"})
def _raise(u: Vector, level: float, rate: float, e: Vector) -> None:
    """Set e = exp((level − u) · rate)."""
    for i in range(u.shape[0]):
        e[i] = exp((level - u[i]) * rate)


# A function may reorder all of its sums or none. Few numbers are summed in order, so that small
# games give the same on all CPUs; so each of these loops is there with and without reordering.
@njit(error_model="numpy")
def _few_sums(e: Vector, top: float) -> tuple[int, float]:
    reach, rest = 0, 0.0
    for i in range(e.shape[0]):
        reach += e[i] >= top
        rest += 0.0 if e[i] >= top else e[i]
    return reach, rest


@njit(error_model="numpy", fastmath=REORDER)
def _many_sums(e: Vector, top: float) -> tuple[int, float]:
    reach, rest = 0, 0.0
    for i in range(e.shape[0]):
        reach += e[i] >= top
        rest += 0.0 if e[i] >= top else e[i]
    return reach, rest


@njit(error_model="numpy")
def _few_scaled(e: Vector, x: float, top: float, v: Vector, there: Vector) -> tuple[float, float]:
    slope, product = 0.0, 0.0
    for i in range(e.shape[0]):
        free = x * e[i]
        e[i] = free if free < top else top
        slope += e[i] * v[i]
        product += e[i] * there[i]
    return slope, product


@njit(error_model="numpy", fastmath=REORDER)
def _many_scaled(e: Vector, x: float, top: float, v: Vector, there: Vector) -> tuple[float, float]:
    slope, product = 0.0, 0.0
    for i in range(e.shape[0]):
        free = x * e[i]
        e[i] = free if free < top else top
        slope += e[i] * v[i]
        product += e[i] * there[i]
    return slope, product


@njit(error_model="numpy")
def _few_free(d: Vector, v: Vector, top: float) -> tuple[float, float, float]:
    mass, mean, square = 0.0, 0.0, 0.0
    for i in range(d.shape[0]):
        free = d[i] if d[i] < top else 0.0
        mass, mean, square = mass + free, mean + free * v[i], square + free * v[i] * v[i]
    return mass, mean, square


@njit(error_model="numpy", fastmath=REORDER)
def _many_free(d: Vector, v: Vector, top: float) -> tuple[float, float, float]:
    mass, mean, square = 0.0, 0.0, 0.0
    for i in range(d.shape[0]):
        free = d[i] if d[i] < top else 0.0
        mass, mean, square = mass + free, mean + free * v[i], square + free * v[i] * v[i]
    return mass, mean, square


def _scaled(e: Vector, x: float, top: float, v: Vector, there: Vector) -> tuple[float, float]:
    """Set d = min{top, x e} in the place of e; return <d, v> and <d, there>."""
    return (_few_scaled if e.size < FEW else _many_scaled)(e, x, top, v, there)


def _factor(e: Vector, x: float, k: float) -> float:
    """Return the x with Σ min{1/k, x e} = 1, from one near it, nan if there is none."""
    sums = _few_sums if e.size < FEW else _many_sums
    if k == 1.0:  # a sum of one needs no cap of one
        rest = sums(e, math.inf)[1]
        return 1.0 / rest if rest > 0.0 else math.nan
    cap = 1.0 / k
    reach, rest = sums(e, cap / x)
    while reach >= k and x > 0.0:  # so far right that Newton's step ends below zero
        x *= 0.5
        reach, rest = sums(e, cap / x if x > 0.0 else math.inf)
    for _ in range(_MAX_STEPS):
        x, before = (k - reach) * cap / rest if rest > 0.0 else math.nan, reach
        if not x > 0.0:
            return math.nan
        reach, rest = sums(e, cap / x)
        if reach == before or reach >= k:  # beyond k by rounding
            return x
    return math.nan


class CappedFollower:
    """`capped_distribution` at β and k of finite margins, quickest where they are near the last."""

    def __init__(self, beta: float, k: float) -> None:
        self.beta, self.k, self.level = beta, k, math.nan

    def __call__(self, u: Vector) -> Vector:
        """Return d, the same wherever the search for it began."""
        return self.along(u, u, 0.0)[1]

    def along(self, u: Vector, v: Vector, eta: float) -> tuple[Vector, Vector, float, float]:
        """Return u + ηv, its d, <d, v> and <d, u + ηv>."""
        beta, k, m = self.beta, self.k, u.size
        there, d = eta * v, np.empty(m)
        there += u
        level = self.level
        if math.isnan(level) and eta == 0.0 and not u.any():  # where runs begin: d is uniform
            level = -beta * math.log(m)
        self.level, x = self._found(there, level, d)
        if math.isnan(self.level):
            pivot, scale, _, _ = place(there, beta, k)
            self.level, x = self._found(there, pivot + beta * math.log(scale), d)
        if math.isnan(self.level):
            d = capped_distribution(there, beta, k)
            return there, d, dot(d, v), dot(d, there)
        return there, d, *_scaled(d, x, 1.0 / k, v, there)

    def _found(self, u: Vector, level: float, e: Vector) -> tuple[float, float]:
        """Return the level, and x for the e that are set; nan where it is not found from there."""
        beta, grid, x = self.beta, _APART * self.beta, math.nan
        for _ in range(3):
            near = _nearest(level, grid)
            if not abs(level - near) <= grid:  # nan, or β is below the spacing of the margins
                break
            _raise(u, near, 1.0 / beta if beta >= 1e-300 else math.inf, e)
            x = _factor(e, math.exp((level - near) / beta), self.k)
            level = near + beta * math.log(x) if 0.0 < x < math.inf else math.nan
            if _nearest(level, grid) == near:
                return level, x
        return math.nan, x

    def stretch(self, d: Vector, v: Vector, size: float, accuracy: float) -> float:
        """Return how many times the step of Fig. 1 a search along v had best try first, 1 at least.

        `d` is where it begins, and `size` is ‖v‖_inf. The entries at the cap stay there at first:
        so <d, v> falls by η/β times the variance of v over the others, times their mass, and
        Newton's step is to where it is half of `accuracy` times what it was.
        """
        sums = _few_free if d.size < FEW else _many_free
        mass, mean, square = sums(d, v, 1.0 / self.k)
        bend = square - mean * mean / mass if mass > 0.0 else 0.0
        return max(1.0, (1.0 - 0.5 * accuracy) * size * size / bend) if bend > 0.0 else math.inf


def _nearest(level: float, grid: float) -> float:
    """Return the multiple of `grid` that is nearest to a level, nan where doubles have none."""
    count = level / grid if grid > 0.0 else math.nan
    return math.floor(count + 0.5) * grid if abs(count) < 2.0**52 else math.nan


@njit()
def _near(u: Vector, left: float, right: float, near: Vector) -> tuple[int, int, float]:
    """Gather the u from `left` to `right`; return how many, how many are less, and Σ [left − u]_+.

    Sums are in order, so that they do not depend on the CPU.
    """
    found, below, short = 0, 0, 0.0
    for i in range(u.shape[0]):
        near[found] = u[i]  # is overwritten by the next one if it is not among them
        found += (u[i] >= left) & (u[i] <= right)
        less = u[i] < left
        below += less
        short += left - u[i] if less else 0.0
    return found, below, short


class MeanFollower:
    """AvgMin_k as a function of finite margins, quickest where they are near the last.

    `rank` is that of the last margin that counts, from 0 and in order.
    """

    def __init__(self, k: float, rank: int) -> None:
        self._k, self.rank = k, rank
        self._gamma, self._width = math.nan, 0.0

    def __call__(self, u: Vector) -> float:
        """Return the value, up to rounding."""
        before, (gamma, short) = self._gamma, self._search(u)
        moved = abs(gamma - before)
        self._gamma = gamma
        self._width = max(0.8 * self._width, 2.0 * moved) if moved < math.inf else 0.0
        return gamma - short / self._k

    def _search(self, u: Vector) -> tuple[float, float]:
        """Return γ, the margin of the rank, and Σ [γ − u]_+.

        The margin is sought first among those near the last one: no others need an order then.
        """
        left, room = self._gamma - self._width, np.empty(u.size + 1)
        found, below, short = _near(u, left, self._gamma + self._width, room)
        near, rank = room[:found], self.rank - below
        if not 0 <= rank < found:
            near, rank, below, short = u, self.rank, 0, 0.0
        ordered = np.partition(near, rank)
        gamma = float(ordered[rank])
        if below:
            short += below * (gamma - left)
        return gamma, short + float(np.add.reduce(gamma - ordered[:rank]))
