"""Distributions with logistic weights: what binary entropies play in place of soft-max.

With x = k d, Σ x = k, stationarity of <d, u> + c/k Σ x log x + (1 − x) log(1 − x) + β Σ d log d is

    log x_i − a log(1 − x_i) = (γ − u_i)/T,    T = c + β,  a = c/T in (0, 1],

a logistic function for a = 1. In the logit ℓ of x the left side is ℓ − (1 − a) log(1 + e^ℓ),
increasing and concave with slope between a and 1: Newton's method for ℓ stays below the root from
its second iterate on. γ solves Σ x = k. Where margins are far apart on the scale of T all x are
nearly 0 or 1 and Σ x − k cancels; so with n the number of x_i > 1/2 the equation is written

    Σ over x <= 1/2 of x + [n − k]_+  =  Σ over x > 1/2 of (1 − x) + [k − n]_+

and solved through its logarithm, in which both sides are nearly exponentials of γ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.logits import nudge, weigh
from relaxboost.relaxations._projections.selection import count_between, pair_of_rank, take_between

_SAMPLE = 40_000  # margins that are enough to guess γ from
_WINDOW = 10.0  # times T, around the k-th smallest margin: where they are taken from
_NOTHING = 1e-270  # weights that come from the cut of the logits


def logistic_distribution(
    u: Vector, temperature: float, k: float = 1.0, share: float = 1.0
) -> tuple[Vector, float]:
    """Return d = x/k with log x − a log(1 − x) = (γ − u)/T and Σ x = k, and γ.

    For a = 1 it minimises <d, u> + T/k Σ x log x + (1 − x) log(1 − x) over the simplex. T > 0,
    1 <= k <= m, and the share a is in (0, 1]. For k = m only the uniform d is left, and γ is large.
    """
    if k == u.size:
        return np.full(u.size, 1.0 / u.size), float(u.max()) + 40.0 * temperature
    gamma, d = _locate(u, temperature, k, share)
    d[d < _NOTHING] = 0.0
    d /= float(d.sum())
    np.minimum(d, 1.0 / k, out=d)
    return d, gamma


def _locate(u: Vector, temperature: float, k: float, share: float) -> tuple[float, Vector]:
    """Return γ and x; 0 < k < m."""
    reference, guess = _guess(u, temperature, k, share)
    v = u - reference
    weighing = _Weighing(v, temperature, share, k)
    # If all margins were equal γ would exceed them by T times this; so the root lies between.
    even = temperature * (math.log(k / u.size) - share * math.log1p(-k / u.size))
    left, right = float(v.min()) + even, float(v.max()) + even
    delta = _solve(weighing, min(max(guess, left), right), left, right, temperature)
    return reference + delta, weighing.x


def _guess(u: Vector, temperature: float, k: float, share: float) -> tuple[float, float]:
    """Return a number near γ, to be subtracted from all margins, and a guess of γ less it."""
    j = math.ceil(k) - 1
    reference, following = pair_of_rank(u, j)
    if u.size > 2 * _SAMPLE:
        # Far from it x is nearly 0 or 1; nearby a sample will do, unless few margins decide.
        far = _WINDOW * temperature
        low, high = reference - far, reference + far
        below, near = count_between(u, low, high)
        inside, stride = k - below, max(1, near // _SAMPLE)
        sample = take_between(u, low, high, near)[stride - 1 :: stride].copy()
        inside *= sample.size / near
        if 0.0 < inside < sample.size and (stride == 1 or inside >= 10.0):
            return _locate(sample, temperature, inside, share)[0], 0.0
    rest = k - j  # of the (j + 1)-th smallest margin, if margins are far apart
    if rest == 1.0:
        # x_j and x_{j+1} are then equally far from 1 and 0.
        return reference, share / (1.0 + share) * (following - reference)
    logit = math.log(rest) - share * math.log1p(-rest)
    return reference, temperature * min(max(logit, -3.0), 3.0)


def _solve(
    weighing: _Weighing, delta: float, left: float, right: float, temperature: float
) -> float:
    """Return the γ (less the reference margin) with Σ x = k, leaving its x in `weighing`."""
    previous, slow = math.inf, 0
    for _ in range(200):
        balance = weighing.weigh(delta)
        above, below = balance.above, balance.below
        if above > below:
            right = delta
        else:
            left = delta
        if max(above, below) < _NOTHING or right - left <= 1e-15 * (abs(left) + abs(right)):
            break
        step, residual = math.nan, math.inf
        if min(above, below) >= _NOTHING:  # else it comes from the cut, and so does its slope
            residual = abs(math.log(below / above))
            step = balance.step() * temperature
        if residual <= 1e-14:
            break
        slow = slow + 1 if residual > 0.5 * previous else 0
        inside = left < delta + step < right and slow < 4
        tiny = abs(step) <= 1e-8 * temperature and residual < 0.01
        if delta + step == delta or (tiny and (residual >= previous or not inside)):
            break  # down to rounding
        if inside and weighing.nudge(step):
            return delta + step
        previous, slow = residual, slow if inside else 0
        delta = delta + step if inside else 0.5 * (left + right)
    return delta


class _Balance(NamedTuple):
    """Both sides of the equation for γ, and what they owe x: T Σ dx/dγ and T² Σ d²x/dγ²."""

    above: float
    below: float
    above_rates: tuple[float, float]
    below_rates: tuple[float, float]

    def step(self) -> float:
        """Return the step in γ/T to the root of log(below/above); its error is of third order."""
        rise, fall = self.above_rates[0] / self.above, self.below_rates[0] / self.below
        slope = rise + fall
        if not slope > 0.0:
            return math.nan
        newton = math.log(self.below / self.above) / slope
        # Half the second derivative over the first, times Newton's step.
        bend = self.below_rates[1] / self.below + fall * fall
        bend += self.above_rates[1] / self.above - rise * rise
        correction = 0.5 * newton * bend / slope
        return newton * (1.0 - correction) if abs(correction) <= 0.25 else newton


class _Weighing:
    """The x of a γ, and both sides of the equation for γ with their slopes."""

    def __init__(self, v: Vector, temperature: float, share: float, k: float) -> None:
        self._v, self._temperature, self._share, self._k = v, temperature, share, k
        self.x = np.empty(v.size)
        self._logits = np.empty(v.size if share < 1.0 else 0)
        self._last = math.inf

    def weigh(self, delta: float) -> _Balance:
        """Set x to that of γ = `delta`."""
        change = (delta - self._last) / self._temperature
        given = self._v, delta, self._temperature, self._share, change
        sums = weigh(*given, self._logits, self.x).tolist()
        low, high, low_slope, high_slope, low_turn, high_turn, large = sums
        self._last = delta
        excess = large - self._k
        low, high = low + max(excess, 0.0), high + max(-excess, 0.0)
        return _Balance(low, high, (low_slope, low_turn), (high_slope, high_turn))

    def nudge(self, step: float) -> bool:
        """Move x to γ + `step` by its derivatives in γ, if that is exact to rounding.

        A step s in γ/T is at most s/a in the logits, whose function x is, and the error is of
        the order of its cube.
        """
        step /= self._temperature
        if abs(step) > 5e-6 * self._share:
            return False
        nudge(self.x, step, self._share)
        return True


def binary_capped_distribution(u: Vector, beta: float, k: float = 1.0) -> Vector:
    """Return the d in the simplex, d <= 1/k, minimising <d, u> + β Σ d log d + (1−d) log(1−d).

    It is d_i = min{1/k, σ((γ − u_i)/β)}. With γ' that of the entropic projection d', whose uncapped
    entries are exp((γ' − u_i)/β), γ lies between γ' and γ' − β log(1 − 1/k).

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6: binary entropies in place of the relative entropy.
    """
    entropic = capped_distribution(u, beta, k)
    if k == 1.0:
        return logistic_distribution(u, beta)[0]
    cap = 1.0 / k
    free = np.where(entropic < cap * (1.0 - 1e-12), entropic, 0.0)
    i = int(np.argmax(free))
    if free[i] < 1e-300:
        return entropic  # all its weight is at the cap
    v = u[i] - u
    with np.errstate(over="ignore"):
        v /= beta
    base = math.log(free[i])
    left, right = base - 1e-9, base - math.log1p(-cap) + 1e-9
    delta = base
    for _ in range(100):
        with np.errstate(over="ignore", under="ignore"):
            d = 1.0 / (1.0 + np.exp(-(v + delta)))
        inside = d < cap
        slope = float(np.sum(d[inside] * (1.0 - d[inside])))
        np.minimum(d, cap, out=d)
        total = float(d.sum())
        if total > 1.0:
            right = delta
        else:
            left = delta
        step = -math.log(total) * total / slope if slope > 0.0 else math.nan
        if abs(step) <= 2e-15 or right - left <= 1e-15:
            break
        delta = delta + step if left < delta + step < right else 0.5 * (left + right)
    return np.minimum(d / total, cap)
