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
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError
from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.tilted import finite_margins

Vector = NDArray[np.float64]

_CHUNK = 16384  # of all temporaries of a pass, so that they stay in the cache
_SAMPLE = 40_000  # margins that are enough to guess γ from
_WINDOW = 10.0  # times T, around the k-th smallest margin: where they are taken from
_BEYOND = 650.0  # logits are cut here, since numbers that underflow are ten times as slow
_NOTHING = 1e-270  # weights that come from the cut


def logistic_distribution(
    u: ArrayLike, temperature: float, k: float = 1.0, share: float = 1.0
) -> tuple[Vector, float]:
    """Return d = x/k with log x − a log(1 − x) = (γ − u)/T and Σ x = k, and γ.

    For a = 1 it minimises <d, u> + T/k Σ x log x + (1 − x) log(1 − x) over the simplex.

    Parameters
    ----------
    u : array of shape (m,)
        Finite margins. One of them is subtracted before anything is divided by T.
    temperature : float
        T > 0.
    k : float
        1 <= k <= m; for k = m only the uniform d is left, and γ is just large.
    share : float
        a in (0, 1].

    Raises
    ------
    InputError
        If one of these is out of range.
    """
    u = finite_margins(u)
    if not (0.0 < temperature < math.inf and 0.0 < share <= 1.0 and 1.0 <= k <= u.size):
        raise InputError(
            f"needs temperature > 0, 0 < share <= 1 and 1 <= k <= m = {u.size}, "
            f"got {temperature}, {share} and {k}"
        )
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
    ordered = np.partition(u, (j, min(j + 1, u.size - 1)))
    reference = float(ordered[j])
    if u.size > 2 * _SAMPLE:
        # Far from it x is nearly 0 or 1; nearby a sample will do, unless few margins decide.
        far = _WINDOW * temperature
        window = u[np.abs(u - reference) <= far]
        inside = k - int(np.count_nonzero(reference - u > far))
        stride = max(1, window.size // _SAMPLE)
        sample = window[::stride]
        inside *= sample.size / window.size
        if 0.0 < inside < sample.size and (stride == 1 or inside >= 10.0):
            return _locate(sample, temperature, inside, share)[0], 0.0
    rest = k - j  # of the (j + 1)-th smallest margin, if margins are far apart
    if rest == 1.0:
        # x_j and x_{j+1} are then equally far from 1 and 0.
        return reference, share / (1.0 + share) * (float(ordered[j + 1]) - reference)
    logit = math.log(rest) - share * math.log1p(-rest)
    return reference, temperature * min(max(logit, -3.0), 3.0)


def _solve(
    weighing: _Weighing, delta: float, left: float, right: float, temperature: float
) -> float:
    """Return the γ (less the reference margin) with Σ x = k, leaving its x in `weighing`."""
    previous = math.inf
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
            slope = balance.above_slope / above + balance.below_slope / below
            step = math.log(below / above) / slope if slope > 0.0 else math.nan
        if residual <= 1e-14:
            break
        inside = left < delta + step < right
        tiny = abs(step) <= 1e-8 * temperature and residual < 0.01
        if delta + step == delta or (tiny and (residual >= previous or not inside)):
            break  # down to rounding
        if inside and weighing.nudge(step):
            return delta + step
        previous = residual
        delta = delta + step if inside else 0.5 * (left + right)
    return delta


class _Balance(NamedTuple):
    above: float
    below: float
    above_slope: float
    below_slope: float


class _Weighing:
    """The x of a γ, and both sides of the equation for γ with their slopes."""

    def __init__(self, v: Vector, temperature: float, share: float, k: float) -> None:
        self._v, self._temperature, self._share, self._k = v, temperature, share, k
        self.x = np.empty(v.size)
        self._logits = np.empty(v.size) if share < 1.0 else None
        self._cold = True

    def weigh(self, delta: float) -> _Balance:
        """Set x to that of γ = `delta`."""
        large = 0
        sums = np.zeros(4)
        for start in range(0, self._v.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            with np.errstate(over="ignore"):
                w = (delta - self._v[part]) / self._temperature
            np.clip(w, -_BEYOND, _BEYOND * self._share, out=w)  # logits up to 650
            large += self._weigh_part(part, w, sums)
        self._cold = False
        excess = large - self._k
        low, high, low_slope, high_slope = sums.tolist()
        return _Balance(
            low + max(excess, 0.0),
            high + max(-excess, 0.0),
            low_slope / self._temperature,
            high_slope / self._temperature,
        )

    def nudge(self, step: float) -> bool:
        """Move x to γ + `step` by its derivative in γ, if that is exact to rounding.

        The second derivative of x in γ/T is at most 0.15/a.
        """
        step /= self._temperature
        if abs(step) > 1e-7 * math.sqrt(self._share):
            return False
        for start in range(0, self.x.size, _CHUNK):
            x = self.x[start : start + _CHUNK]
            change = 1.0 - x
            change *= x
            if self._share < 1.0:
                change /= 1.0 - (1.0 - self._share) * x
            change *= step
            x += change
        return True

    def _weigh_part(self, part: slice, w: Vector, sums: Vector) -> int:
        """Write x of a chunk, add to `sums`, and return how many x are above 1/2."""
        logits = w
        if self._logits is not None:
            logits = self._logits[part]
            if self._cold:
                logits[:] = _first_logits(w, self._share)
            _refine(logits, w, self._share)
        small = _exponential(logits)
        small /= 1.0 + small  # the smaller of x and 1 − x, to full relative accuracy
        large = logits > 0.0
        one = large.astype(np.float64)
        slope = 1.0 - small
        x = self.x[part]
        x[:] = small
        np.copyto(x, slope, where=large)
        slope *= small
        if self._share < 1.0:
            slope /= 1.0 - (1.0 - self._share) * x
        other = 1.0 - one
        sums += (small @ other, small @ one, slope @ other, slope @ one)
        return int(np.count_nonzero(large))


def _first_logits(w: Vector, share: float) -> Vector:
    """Return a first guess of the logits."""
    if share > 0.5:
        return np.maximum(w, w / share)
    # −log x =: s solves s + a log(1 − e^−s) = −w; with log s for log(1 − e^−s) and s = a e^p
    # this is e^p + p = −w/a − log a, Wright's omega.
    y = -w / share - math.log(share)
    p = np.minimum(y, np.log(np.maximum(y, 1.0)))
    for _ in range(2):
        e = np.exp(p)
        p -= (e + p - y) / (e + 1.0)
    s = share * np.exp(p)
    return -s - np.log(-np.expm1(-s))


def _refine(logits: Vector, w: Vector, share: float) -> None:
    """Solve ℓ − (1 − a) log(1 + e^ℓ) = w by Halley's method, in place."""
    bend = 1.0 - share
    for _ in range(60):
        e = _exponential(logits)
        step = np.minimum(logits, share * logits)
        step -= w
        step -= bend * np.log1p(e)
        small = e / (1.0 + e)
        slope = 1.0 - bend * small
        np.copyto(slope, share + bend * small, where=logits > 0.0)
        step /= slope
        small *= 1.0 - small
        small *= 0.5 * bend
        small /= slope  # −G''/(2 G'), at most 1/2
        small *= step
        small += 1.0
        step /= np.maximum(small, 0.5, out=small)
        logits -= step
        # The third derivative is at most the slope too, so the error left is below the step cubed.
        if np.abs(step).max() <= 1e-5:
            return


def _exponential(logits: Vector) -> Vector:
    """Return exp(−|ℓ|)."""
    e = np.abs(logits)
    np.negative(e, out=e)
    return np.exp(e, out=e)


def binary_capped_distribution(u: ArrayLike, beta: float, k: float = 1.0) -> Vector:
    """Return the d in the simplex, d <= 1/k, minimising <d, u> + β Σ d log d + (1−d) log(1−d).

    It is d_i = min{1/k, σ((γ − u_i)/β)}. With γ' that of the entropic projection d', whose uncapped
    entries are exp((γ' − u_i)/β), γ lies between γ' and γ' − β log(1 − 1/k).

    Parameters
    ----------
    u : array of shape (m,)
        Finite margins.
    beta : float
        Smoothing, > 0.
    k : float
        Reciprocal of the cap, 1 <= k <= m.

    Raises
    ------
    InputError
        As for `capped_distribution`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6: binary entropies in place of the relative entropy.
    """
    u = finite_margins(u)
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
