"""Relaxed margins of the group norm Σ_g a_g ‖d_g‖, without entropy.

Let h_g be the dual norm of [γ − u]_+ in the group g at a threshold γ. Only the group with the
largest h_g / a_g has positive weight. Its weights d_i are proportional to [γ − u_i]_+^{1/q}, where
q is the exponent of the norm minus one. For a penalty of weight c, the best γ is the threshold at
which the largest h_g / a_g equals c. For a ball, it is the threshold at which a_g ‖d_g‖ falls below
the radius. As γ grows, a_g ‖d_g‖ decreases, and it jumps when the weight moves to another group.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.group_norm import Grouping


class Highest(NamedTuple):
    """The group g with the largest h_g / a_g at a threshold γ = min u + s.

    h_g is the dual norm of [γ − u]_+ in the group, and d denotes the weights at this threshold.
    """

    group: int
    dual: float
    """The logarithm of h_g / a_g."""
    size: float
    """The logarithm of a_g ‖d_g‖."""
    dual_slope: float
    """The derivative of `dual` in log s."""
    size_slope: float
    """The derivative of `size` in log s."""


@njit(error_model="numpy")
def _powers(v: Vector, s: float, top: float, exponent: float) -> tuple[float, float, float]:
    """Return the sums of x^{e−1}, x^e and x^{e+1} over the positive x = (s − v_i) / top.

    The number e is `exponent`.
    """
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
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
    best = -1
    found = -math.inf
    size = 0.0
    grown = 0.0
    fallen = 0.0
    for g in range(starts.shape[0] - 1):
        top = s - least[g]
        n = starts[g + 1] - starts[g]
        # Most groups are skipped, because no norm exceeds the norm of n entries `top`.
        if not top > 0.0 or math.log(top * n / a[g]) < found:
            continue
        s0, s1, s2 = _powers(v[starts[g] : starts[g + 1]], s, top, 1.0 / q)
        dual = math.log(top / a[g]) + q / (q + 1.0) * math.log(s2)
        if dual > found:
            best = g
            found = dual
            size = math.log(a[g] / s1) + math.log(s2) / (q + 1.0)
            grown = s / top * s1 / s2
            fallen = s / top * (s1 / s2 - s0 / s1) / q
    return best, found, size, grown, fallen


class Levels:
    """The group that has all the weight, as a function of the threshold γ = min u + e^x.

    The distance e^x is in a unit in which no square of a margin underflows: a power of two near the
    larger of the mean of u − min u and `weight`, which is 0 for a ball.
    """

    def __init__(self, u: Vector, norm: Grouping, weight: float = 0.0) -> None:
        self.low = float(u.min())
        self._norm = norm
        v = u[norm.order] - self.low
        spread = float(v.mean())
        self._exponent = math.frexp(max(spread, weight))[1]
        # A multiplication by a power of two loses no bit.
        self._v = np.ldexp(v, -self._exponent)
        self._least = np.minimum.reduceat(self._v, norm.starts[:-1])
        self.log_weight = math.log(math.ldexp(weight, -self._exponent)) if weight else -math.inf
        """The logarithm of `weight`, in the unit of the distances e^x. It is −inf for a ball."""
        spread = math.ldexp(spread, -self._exponent)
        self.start = math.log(spread) if spread > 0.0 else 0.0

    def look(self, x: float) -> Highest:
        """Return the group with all the weight at the threshold γ = min u + e^x."""
        s = self._distance(x)
        norm = self._norm
        return Highest(*_highest(self._v, norm.starts, self._least, norm.a, s, norm.q))

    def threshold(self, x: float) -> float:
        """Return the threshold γ = min u + e^x in the unit of the margins."""
        return self.low + math.ldexp(self._distance(x), self._exponent)

    @staticmethod
    def _distance(x: float) -> float:
        # If e^x underflows, the distance is the smallest normal double.
        return max(math.exp(x), sys.float_info.min)

    def distribution(self, x: float) -> Vector:
        """Return the distribution d at the threshold γ = min u + e^x."""
        g = self.look(x).group
        hinges = np.maximum(self._distance(x) - self._v, 0.0)
        return self._inside(g, hinges, 1.0 / self._norm.q)

    def face(self, radius: float) -> Vector | None:
        """Return a distribution in the ball on the examples of smallest margin, or None."""
        smallest = (self._v == 0.0).astype(np.float64)
        counts = np.add.reduceat(smallest, self._norm.starts[:-1])
        # A uniform d has the least norm of all d on the smallest margins of a group.
        with np.errstate(divide="ignore"):
            sizes = self._norm.a * counts ** (-self._norm.q / (self._norm.q + 1.0))
        g = int(np.argmin(sizes))
        return self._inside(g, smallest, 1.0) if sizes[g] <= radius else None

    def _inside(self, g: int, weights: Vector, exponent: float) -> Vector:
        """Return the distribution proportional to weights^exponent in the group g.

        It is 0 in the other groups.
        """
        part = slice(self._norm.starts[g], self._norm.starts[g + 1])
        t = np.power(weights[part] / weights[part].max(), exponent)
        d = np.zeros(self._v.size)
        d[self._norm.order[part]] = t / t.sum()
        return d
