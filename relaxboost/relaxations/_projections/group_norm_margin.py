"""The relaxed margins of group norms, without smoothing: all groups at one level γ.

For s = γ − min u the group whose [γ − u]_+ has the largest dual norm over a_g carries d, with
d_i proportional to [γ − u_i]_+^{1/q}, q = (exponent of the norm) − 1. That largest norm is c at
the γ of a penalty, and for a ball a_g ‖d_g‖ falls through the radius as s grows, by a jump where
another group takes over.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit


class Highest(NamedTuple):
    """The group with the largest dual norm h / a, log (h/a), log (a ‖d‖), and their derivatives
    in log s."""

    group: int
    dual: float
    size: float
    dual_slope: float
    size_slope: float


@njit(error_model="numpy")
def _powers(v: Vector, s: float, top: float, exponent: float) -> tuple[float, float, float]:
    """Return Σ x^{e−1}, Σ x^e, Σ x^{e+1} for x = [s − v]_+ / top where it is positive."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    for i in range(v.shape[0]):
        x = (s - v[i]) / top
        if x > 0.0:
            y = x if exponent == 1.0 else math.pow(x, exponent)
            s0 += y / x
            s1 += y
            s2 += x * y
    return s0, s1, s2


@njit(error_model="numpy")
def _highest(
    v: Vector, starts: NDArray[np.int64], least: Vector, a: Vector, s: float, q: float
) -> tuple[int, float, float, float, float]:
    """Return a `Highest`; v holds the groups one after another, `least` their minima."""
    best, found, size, grown, fallen = -1, -math.inf, 0.0, 0.0, 0.0
    for g in range(starts.shape[0] - 1):
        top = s - least[g]
        n = starts[g + 1] - starts[g]
        # No norm exceeds that of n entries of the largest.
        if not top > 0.0 or math.log(top * n / a[g]) < found:
            continue
        s0, s1, s2 = _powers(v[starts[g] : starts[g + 1]], s, top, 1.0 / q)
        dual = math.log(top / a[g]) + q / (q + 1.0) * math.log(s2)
        if dual > found:
            best, found = g, dual
            size = math.log(a[g] / s1) + math.log(s2) / (q + 1.0)
            grown = s / top * s1 / s2
            fallen = s / top * (s1 / s2 - s0 / s1) / q
    return best, found, size, grown, fallen


class Levels:
    """Margins u less their minimum, group by group, for one level after another.

    They are divided by a power of two near their mean or near `weight`, whichever is larger, which
    loses no bit: the squares of the smallest doubles are zero.
    """

    def __init__(
        self,
        u: Vector,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        a: Vector,
        q: float,
        weight: float = 0.0,
    ) -> None:
        self.low = float(u.min())
        self._order, self._starts, self._a, self._q = order, starts, a, q
        v = u[order] - self.low
        spread = float(v.mean())
        self._exponent = math.frexp(max(spread, weight))[1]
        self._v = np.ldexp(v, -self._exponent)
        self._least = np.minimum.reduceat(self._v, starts[:-1])
        self.log_weight = math.log(math.ldexp(weight, -self._exponent)) if weight else -math.inf
        """The logarithm of the weight in the same unit."""
        spread = math.ldexp(spread, -self._exponent)
        self.start = math.log(spread) if spread > 0.0 else 0.0

    def look(self, x: float) -> Highest:
        """Return what the level that is e^x units above min u leads to."""
        s = self._distance(x)
        return Highest(*_highest(self._v, self._starts, self._least, self._a, s, self._q))

    def threshold(self, x: float) -> float:
        """Return the γ that is e^x units above min u."""
        return self.low + math.ldexp(self._distance(x), self._exponent)

    @staticmethod
    def _distance(x: float) -> float:
        """Return e^x, or the least normal double if that is larger: e^x = 0 is above no margin."""
        return max(math.exp(x), sys.float_info.min)

    def distribution(self, x: float) -> Vector:
        """Return the d on the group that is highest at this level."""
        g = self.look(x).group
        part = slice(self._starts[g], self._starts[g + 1])
        hinges = np.maximum(self._distance(x) - self._v[part], 0.0)
        t = np.power(hinges / hinges.max(), 1.0 / self._q)
        d = np.zeros(self._v.size)
        d[self._order[part]] = t / t.sum()
        return d

    def face(self, radius: float) -> Vector | None:
        """Return a d on the smallest margins alone with Σ a_g ‖d_g‖ <= radius, if there is one."""
        counts = np.add.reduceat((self._v == 0.0).astype(np.float64), self._starts[:-1])
        with np.errstate(divide="ignore"):
            sizes = self._a * counts ** (-self._q / (self._q + 1.0))
        g = int(np.argmin(sizes))
        if not sizes[g] <= radius:
            return None
        part = slice(self._starts[g], self._starts[g + 1])
        d = np.zeros(self._v.size)
        d[self._order[part]] = np.where(self._v[part] == 0.0, 1.0 / counts[g], 0.0)
        return d
