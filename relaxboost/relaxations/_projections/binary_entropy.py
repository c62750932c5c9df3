"""Distributions with logistic weights, which minimise a binary-entropy penalty.

Let u be the margins, x = k d, and σ the logistic function. The function

    <d, u> + (c/k) Σ (x log x + (1 − x) log(1 − x)) + β Σ d log d

has its minimum over the simplex at the x with Σx = k and

    log x_i − a log(1 − x_i) = (γ − u_i)/T,    T = c + β,  a = c/T in (0, 1].

For a = 1 this is x_i = σ((γ − u_i)/T). In terms of the logit ℓ of x, the left side is
ℓ − (1 − a) log(1 + e^ℓ), which is increasing and concave with a slope between a and 1.

If the margins are far apart relative to T, then all x are nearly 0 or 1, and the difference Σx − k
loses its digits to cancellation. Let n be the number of x_i > 1/2. The equation Σx = k for γ is
therefore written

    Σ over x <= 1/2 of x + [n − k]_+  =  Σ over x > 1/2 of (1 − x) + [k − n]_+.

Both sides are nearly exponential functions of γ. So Newton's method is applied to the difference
of their logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.logits import nudge, weigh
from relaxboost.relaxations._projections.vectorised import MAX_EXPONENT


def logistic_distribution(
    u: Vector, temperature: float, k: float = 1.0, share: float = 1.0
) -> tuple[Vector, float]:
    """Return the distribution d = x/k and the multiplier γ for margins u.

    The logistic weights x and γ solve log x − a log(1 − x) = (γ − u)/T and Σx = k with T =
    `temperature` > 0, a = `share` in (0, 1] and 1 <= k <= m. For k = m the distribution is uniform,
    and any large γ is valid.
    """
    if k == u.size:
        return np.full(u.size, 1.0 / u.size), float(u.max()) + 40.0 * temperature
    gamma, d = _locate(u, temperature, k, share)
    d[d < _clipped(u.size)] = 0.0
    d /= float(d.sum())
    np.minimum(d, 1.0 / k, out=d)
    return d, gamma


def _clipped(m: int) -> float:
    """Return the sum of m weights with the smallest logit, −MAX_EXPONENT.

    Smaller sums are inaccurate, because smaller logits are clipped.
    """
    return m * math.exp(-MAX_EXPONENT)


def _locate(u: Vector, temperature: float, k: float, share: float) -> tuple[float, Vector]:
    """Return the multiplier γ and the logistic weights x with Σx = k, for 0 < k < u.size."""
    reference, guess = _guess(u, temperature, k, share)
    equation = _Equation(u - reference, temperature, share, k)
    # If all margins were equal, γ would exceed them by this number. So the root lies between.
    even = temperature * (math.log(k / u.size) - share * math.log1p(-k / u.size))
    left = float(u.min()) - reference + even
    right = float(u.max()) - reference + even
    delta = decreasing_root(equation.miss, guess, temperature, 1e-14, left, right)
    return reference + (delta + equation.last_step), equation.x


def _guess(u: Vector, temperature: float, k: float, share: float) -> tuple[float, float]:
    """Return the ceil(k)-th smallest margin, and a guess of γ minus this margin."""
    j = math.ceil(k) - 1
    last = min(j + 1, u.size - 1)
    ordered = np.partition(u, (j, last))
    reference = float(ordered[j])
    # If margins are far apart, this is the x of the (j + 1)-th smallest margin.
    rest = k - j
    if rest == 1.0:
        # The x of this margin and of the following one are equally far from 1 and 0.
        return reference, share / (1.0 + share) * (float(ordered[last]) - reference)
    logit = math.log(rest) - share * math.log1p(-rest)
    return reference, temperature * min(max(logit, -3.0), 3.0)


class _Equation:
    """The equation Σx = k for γ, and the logistic weights x at the last γ."""

    def __init__(self, v: Vector, temperature: float, share: float, k: float) -> None:
        self._v = v
        self._temperature = temperature
        self._share = share
        self._k = k
        self.x = np.empty(v.size)
        self._logits = np.empty(v.size if share < 1.0 else 0)
        self._clipped = _clipped(v.size)
        self._last = math.inf
        self.last_step = 0.0
        """The change of γ in the last Taylor update of x, or 0 without an update."""

    def miss(self, delta: float) -> tuple[float, float]:
        """Compute the logistic weights x for a multiplier, and return the error of Σx = k.

        `delta` is γ minus the reference that was subtracted from the margins. The error is the
        logarithm of the right over the left side of the equation in the module docstring. Also
        return the slope for the next Newton step, or nan if no further step is needed.
        """
        change = (delta - self._last) / self._temperature
        given = self._v, delta, self._temperature, self._share, change
        sums = weigh(*given, self._logits, self.x).tolist()
        above, below, above_slope, below_slope, above_turn, below_turn, large = sums
        self._last = delta
        above += max(large - self._k, 0.0)
        below += max(self._k - large, 0.0)
        if max(above, below) < self._clipped:
            return 0.0, math.nan
        # If one side is too small to be accurate, only the sign of the difference is known.
        if min(above, below) < self._clipped:
            return math.copysign(math.inf, below - above), math.nan
        value = math.log(below / above)
        rise = above_slope / above
        fall = below_slope / below
        if value == 0.0 or not rise + fall > 0.0:
            return value, math.nan
        step = value / (rise + fall)
        # Halley's method corrects Newton's step by half the second derivative over the first
        # derivative, times the step.
        bend = below_turn / below + fall * fall + above_turn / above - rise * rise
        correction = 0.5 * step * bend / (rise + fall)
        step *= 1.0 - correction if abs(correction) <= 0.25 else 1.0
        # A step s in γ/T is at most s/a in the logits. Two derivatives of x leave an error of its
        # third power, which is a rounding here. So this step needs no further pass.
        if abs(step) <= 5e-6 * self._share:
            nudge(self.x, step, self._share)
            self.last_step = step * self._temperature
            return 0.0, math.nan
        return value, -value / (step * self._temperature)


def binary_capped_distribution(u: Vector, beta: float, k: float = 1.0) -> Vector:
    """Return the minimiser d <= 1/k of <d, u> + β Σ (d log d + (1 − d) log(1 − d)).

    It is d_i = min{1/k, σ((γ − u_i)/β)} with the logistic function σ (SS09 Sec. 6).
    """
    entropic = capped_distribution(u, beta, k)
    if k == 1.0:
        return logistic_distribution(u, beta)[0]
    cap = 1.0 / k
    free = np.where(entropic < cap * (1.0 - 1e-12), entropic, 0.0)
    i = int(np.argmax(free))
    if free[i] < 1e-300:
        return entropic  # All of its weight is at the cap.
    v = u[i] - u
    with np.errstate(over="ignore"):
        v /= beta
    d = entropic

    def miss(delta: float) -> tuple[float, float]:
        nonlocal d
        with np.errstate(over="ignore", under="ignore"):
            d = 1.0 / (1.0 + np.exp(-(v + delta)))
        inside = d < cap
        slope = float(np.sum(d[inside] * (1.0 - d[inside])))
        np.minimum(d, cap, out=d)
        total = float(d.sum())
        return -math.log(total), -slope / total

    # The entries of `entropic` below the cap are exp((γ' − u_i)/β), and γ lies between γ' and
    # γ' − β log(1 − 1/k).
    base = math.log(free[i])
    decreasing_root(miss, base, 1.0, 2e-15, base - 1e-9, base - math.log1p(-cap) + 1e-9)
    return np.minimum(d / d.sum(), cap)
