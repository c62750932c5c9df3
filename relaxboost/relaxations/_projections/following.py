"""Capped projections and soft margins of margins that move little, from where the last ones ended.

The projection of `capped.py` is d_i = min{ν, exp((γ − u_i)/β)} for one level γ. With L near it,
e_i = exp((L − u_i)/β), and r entries at the cap, it is min{ν, x e_i} with

    x = (1 − r ν) / Σ of the other e_i,    γ = L + β log x.

Σ min{ν, x e_i} is concave and piecewise linear in x: from the left Newton's method, which is this
formula for the r of the last x, increases x and ends when r stays. From the level of the margins
before that takes a pass or two. L is the multiple of 32β that is nearest to γ: so the result does
not depend, to the bit, on where the search began.

A level that turns out to be far from there is made afresh. Likewise the margin of a rank is sought
near the one before, and then among those that are left.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.matrices.kernels import FEW, dot
from relaxboost.relaxations._projections.capped import capped_distribution, place
from relaxboost.relaxations._projections.selection import count_between, ranked, take_between
from relaxboost.relaxations._projections.vectorised import CHUNK, REORDER, exp

_APART = 32.0
"""Times β that levels are apart for which exponentials are formed."""
_STEPS, _SOME = 40, 31
"""Steps of a search at most, and the margins whose median stands for that of many."""


@njit()
def _moved(u: Vector, v: Vector, eta: float, there: Vector) -> None:
    for i in range(u.shape[0]):
        there[i] = u[i] + eta * v[i]


@njit(error_model="numpy", fastmath={"contract"})
def _raised(u: Vector, level: float, rate: float, e: Vector) -> None:
    """Set e = exp((level − u) · rate)."""
    for i in range(u.shape[0]):
        e[i] = exp((level - u[i]) * rate)


# Leave to reorder sums belongs to a function: so each of these loops is there with and without it.
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
def _part_sums(e: Vector, top: float) -> tuple[int, float]:
    """Return the two of a chunk: few are added in order, so that CPUs play small games alike."""
    return _few_sums(e, top) if e.shape[0] < FEW else _many_sums(e, top)


@njit(error_model="numpy")
def _sums(e: Vector, top: float) -> tuple[int, float]:
    """Return how many entries reach the top, and the sum of the others."""
    reach, rest = 0, 0.0
    for start in range(0, e.shape[0], CHUNK):
        more, others = _part_sums(e[start : start + CHUNK], top)
        reach, rest = reach + more, rest + others
    return reach, rest


@njit(error_model="numpy")
def _factor(e: Vector, x: float, k: float, reach: int, rest: float) -> float:
    """Return the x with Σ min{1/k, x e} = 1, near that of these `_sums`, nan if there is none."""
    cap = 1.0 / k
    if k == 1.0:  # a sum of one needs no cap of one
        return 1.0 / rest
    while reach >= k and x > 0.0:  # so far right that Newton's step ends below zero
        x *= 0.5
        reach, rest = _sums(e, cap / x)
    for _ in range(_STEPS):
        x = (k - reach) * cap / rest
        before = reach
        reach, rest = _sums(e, cap / x)
        if reach == before or reach >= k:  # beyond k by rounding
            return x
    return math.nan


@njit(error_model="numpy")
def _scaled(e: Vector, x: float, top: float) -> None:
    for i in range(e.shape[0]):
        e[i] = min(top, x * e[i])


@njit(error_model="numpy")
def follow(
    u: Vector,
    v: Vector,
    eta: float,
    rule: tuple[float, float, float],
    there: Vector,
    d: Vector,
) -> tuple[float, float, float]:
    """Set u + ηv and its d; return the level, <d, v> and <d, u + ηv>.

    `rule` is β, k and the level to begin at. The level is nan where it is not found from there.
    """
    beta, k, level = rule
    grid, top, slope, product = _APART * beta, 1.0 / k, 0.0, 0.0
    for turn in range(3):
        near, reach, rest = math.floor(level / grid + 0.5) * grid, 0, 0.0
        if not abs(level - near) <= grid:  # nan, or β is below the spacing of the margins
            break
        x = math.exp((level - near) / beta)
        for a in range(0, u.shape[0], CHUNK):
            here, part = there[a : a + CHUNK], d[a : a + CHUNK]
            if turn == 0:
                _moved(u[a : a + CHUNK], v[a : a + CHUNK], eta, here)
            _raised(here, near, 1.0 / beta, part)
            more, others = _part_sums(part, top / x if k > 1.0 else math.inf)
            reach, rest = reach + more, rest + others
        x = _factor(d, x, k, reach, rest)
        level = near + beta * math.log(x) if 0.0 < x < math.inf else math.nan
        if math.floor(level / grid + 0.5) * grid == near:
            for a in range(0, u.shape[0], CHUNK):
                part = d[a : a + CHUNK]
                _scaled(part, x, top)
                slope += dot(part, v[a : a + CHUNK])
                product += dot(part, there[a : a + CHUNK])
            return level, slope, product
    return math.nan, slope, product


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


@njit(error_model="numpy")
def stretch(d: Vector, v: Vector, size: float, k: float, accuracy: float) -> float:
    """Return how many times the step of Fig. 1 a search along v had best try first, 1 at least.

    `d` is where it begins, and `size` is ‖v‖_inf. The entries at the cap stay there at first: so
    <d, v> falls by η/β times the variance of v over the others, times their mass, and Newton's step
    is to where it is half of `accuracy` times what it was.
    """
    few = d.shape[0] < FEW
    mass, mean, square = _few_free(d, v, 1.0 / k) if few else _many_free(d, v, 1.0 / k)
    bend = square - mean * mean / mass
    return max(1.0, (1.0 - 0.5 * accuracy) * size * size / bend) if bend > 0.0 else math.inf


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
        there, d = np.empty(m), np.empty(m)
        level = self.level
        if math.isnan(level) and eta == 0.0 and not u.any():  # where runs begin: d is uniform
            level = -beta * math.log(m)
        level, slope, product = follow(u, v, eta, (beta, k, level), there, d)
        if math.isnan(level):
            there = u + eta * v
            pivot, scale, _, _ = place(there, beta, k)
            level = pivot + beta * math.log(scale)
            level, slope, product = follow(u, v, eta, (beta, k, level), there, d)
        if math.isnan(level):
            d = capped_distribution(there, beta, k)
            slope, product = dot(d, v), dot(d, there)
        self.level = level
        return there, d, slope, product

    def stretch(self, d: Vector, v: Vector, size: float, accuracy: float) -> float:
        """Return how many times the step of Fig. 1 a search had best begin with."""
        return stretch(d, v, size, self.k, accuracy)


@njit()
def _one_between(u: Vector, low: float, high: float) -> float:
    """Return about the median of the numbers from `low` to `high`, of which there are many."""
    some, found, stride = np.empty(_SOME), 0, 1 + u.shape[0] // 4096
    for start in range(stride):
        for i in range(start, u.shape[0], stride):
            some[found] = u[i]
            found += (u[i] >= low) & (u[i] <= high)
            if found == _SOME:
                return ranked(some, _SOME // 2)
    return low


@njit(error_model="numpy")
def _guess(low: float, high: float, many: int, rank: int) -> tuple[float, float]:
    """Return bounds on the margin of a rank, if `many` lie evenly from `low` to `high`."""
    apart = (high - low) / many
    middle, reach = low + (rank + 0.5) * apart, (1.0 + math.sqrt(many) + many / 16) * apart
    return max(low, middle - reach), min(high, middle + reach)


@njit(error_model="numpy")
def _margin(u: Vector, rank: int, gamma: float, width: float) -> float:
    """Return the margin of a rank; it is sought first within `width` of `gamma`.

    It is one of those from `low` to `high`. These become fewer until they are worth a copy.
    """
    low, high, below, upto = -math.inf, math.inf, 0, u.shape[0]
    left, right = gamma - width, gamma + width
    for _ in range(_STEPS):
        inside = upto - below
        if inside <= FEW + u.shape[0] // 1024:
            break
        if not low <= left <= right <= high:
            left = right = _one_between(u, low, high)
        under, near = count_between(u, left, right)
        if under > rank:
            high, upto = np.nextafter(left, -math.inf), under
        elif under + near <= rank:
            low, below = np.nextafter(right, math.inf), under + near
        elif left == right:
            return left
        else:
            low, high, below, upto = left, right, under, under + near
        if 4 * (upto - below) <= 3 * inside:
            left, right = _guess(low, high, upto - below, rank - below)
        else:
            left = math.nan  # they are not as far apart as that
    return ranked(take_between(u, low, high, upto - below), rank - below)


@njit(error_model="numpy")
def _few_gaps(u: Vector, gamma: float) -> float:
    total = 0.0
    for i in range(u.shape[0]):
        total += gamma - u[i] if u[i] < gamma else 0.0
    return total


@njit(error_model="numpy", fastmath=REORDER)
def _many_gaps(u: Vector, gamma: float) -> float:
    total = 0.0
    for i in range(u.shape[0]):
        total += gamma - u[i] if u[i] < gamma else 0.0
    return total


@njit(error_model="numpy")
def average(
    u: Vector, rank: int, k: float, before: float, width: float
) -> tuple[float, float, float]:
    """Return AvgMin_k(u), the `_margin` of the rank, and how far off the next may well be."""
    gamma, short = _margin(u, rank, before, width), 0.0
    moved = abs(gamma - before)
    for start in range(0, u.shape[0], CHUNK):
        part = u[start : start + CHUNK]
        short += _few_gaps(part, gamma) if part.shape[0] < FEW else _many_gaps(part, gamma)
    width = max(0.8 * width, 2.0 * moved) if moved < math.inf else 0.0
    return gamma - short / k, gamma, width


class MeanFollower:
    """AvgMin_k as a function of finite margins, quickest where they are near the last.

    `rank` is that of the last margin that counts, from 0 and in order.
    """

    def __init__(self, k: float, rank: int) -> None:
        self._k, self.rank = k, rank
        self._gamma, self._width = math.nan, 0.0

    def __call__(self, u: Vector) -> float:
        """Return the value, up to rounding."""
        value, self._gamma, self._width = average(u, self.rank, self._k, self._gamma, self._width)
        return value
