"""The tilt of a prior distribution π by margins, and the minimiser in a KL ball.

The tilt of π by g at the temperature T is the distribution d proportional to π exp(−g/T). With
KL(d‖π) = Σ d_i log(d_i/π_i) and margins u, the relative-entropy relaxations (SS09, Sec. 6) minimise

    <d, u> + λ KL(d‖π) + β Σ d_i log d_i

over the simplex. The minimiser is the tilt by g = u + β log π at T = λ + β. For a penalty, λ is the
weight of the penalty. For a ball, λ is the multiplier at which KL(d‖π) equals the radius r. If the
constraint is slack, λ is 0.

Let η = 1/T and s = g − min g. The KL of the tilt increases in η, and its derivative in log η is η²
Var_d(s). By Hoeffding's lemma (1963) KL is at most η² (max s)² / 8. So Newton's method in a bracket
finds the log η at which log KL = log r.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost._core.rounding import MAX_SUMMABLE, UNIT

MIN_TEMPERATURE = math.ulp(0.0)
"""The minimum temperature T of a tilt, which replaces temperatures that underflow."""

SMALL_CHANGE = 1e-2
"""The bound on exponents below which differences from 1 use expm1 and log1p.

It applies to the exponents (g − min g)/T of a tilt, and to the radius r of a ball. Above the bound,
the faster exp and log lose at most two digits to cancellation.
"""


def tilt(g: Vector, temperature: float, log_prior: Vector | None = None) -> tuple[Vector, float]:
    """Return the distribution d proportional to π exp(−g/T), and −T log Σ π exp(−g/T).

    T > 0 is `temperature`. `log_prior` contains the finite logarithms of the prior π, or is None if
    π is uniform.
    """
    low = float(g.min())
    d = low - g
    with np.errstate(over="ignore", under="ignore"):
        d /= temperature
        top = -math.log(d.size)
        if log_prior is not None:
            d += log_prior
            top = float(d.max())
            d -= top
        np.exp(d, out=d)
    total = float(d.sum())
    d /= total
    # The sum differs from 1 by little, and the logarithm would lose the digits of this difference.
    if float(g.max()) - low < SMALL_CHANGE * temperature:
        grown = np.expm1((low - g) / temperature)
        mean = grown.mean() if log_prior is None else np.exp(log_prior) @ grown
        return d, low - temperature * math.log1p(float(mean))
    return d, low - temperature * (top + math.log(total))


def kl_ball_distribution(
    u: Vector, beta: float, radius: float, log_prior: Vector | None = None
) -> tuple[Vector, float]:
    """Return the minimiser of <d, u> + β Σ d_i log d_i in the KL ball, and its multiplier λ.

    If the constraint KL(d‖π) <= r is slack, λ is 0. If also β = 0, then d is the prior π restricted
    to the examples of smallest margin. For `log_prior`, see `tilt`.
    """
    # Shifting log π by its maximum changes no tilt, and g loses fewer digits.
    g = u if log_prior is None or beta == 0.0 else u + beta * (log_prior - log_prior.max())
    low = float(g.min())
    spread = float(g.max()) - low
    if spread == 0.0:
        return tilt(g, 1.0, log_prior)[0], 0.0
    s = (g - low) / spread
    # A larger inverse temperature gives the same tilt.
    largest = MAX_SUMMABLE
    if beta > 0.0:
        largest = min(spread / beta, largest)
    divergence = _Divergence(s, log_prior, radius < SMALL_CHANGE)
    # No distribution has a KL above −log min π.
    most = math.log(s.size) if log_prior is None else -float(log_prior.min())
    if radius >= most or divergence(largest)[0] <= radius:
        # If the spread is one of the smallest doubles, spread / beta underflows and `largest` is 0.
        coldest = spread / largest if largest > 0.0 else beta
        return tilt(g, max(coldest, MIN_TEMPERATURE), log_prior)[0], 0.0
    eta = _inverse_temperature(divergence, radius, largest)
    temperature = max(spread / eta, MIN_TEMPERATURE)
    return tilt(g, temperature, log_prior)[0], max(temperature - beta, 0.0)


class _Divergence:
    """KL(d‖π) and its derivative in log η for the distribution d proportional to π e^(−η s)."""

    def __init__(self, s: Vector, log_prior: Vector | None, is_small: bool) -> None:
        self._s = s
        self._log_prior = log_prior
        self._prior = np.full(s.size, 1.0 / s.size) if log_prior is None else np.exp(log_prior)
        mean = float(self._prior @ s)
        self._centred = s - mean
        # Up to this η no exponent exceeds 30, so that no exponential overflows.
        self._largest_near = 30.0 / mean if is_small and mean > 0.0 else 0.0
        self.variance = float(self._prior @ self._centred**2)
        self._buffer = np.empty(s.size)

    def __call__(self, eta: float) -> tuple[float, float]:
        """Return KL(d‖π) at η, and its derivative η² Var_d(s) in log η."""
        return self._near(eta) if eta <= self._largest_near else self._far(eta)

    def _near(self, eta: float) -> tuple[float, float]:
        # The terms x e^x − (e^x − 1) are about x²/2, and never negative.
        x = -eta * self._centred
        grown = np.expm1(x)
        excess = float(self._prior @ grown)
        total = 1.0 + excess
        generalised = float(self._prior @ (x * grown + (x - grown)))
        kl = generalised / total + excess / total - math.log1p(excess)
        p = self._prior * (1.0 + grown)
        mean = float(p @ x) / total
        return kl, float(p @ (x - mean) ** 2) / total

    def _far(self, eta: float) -> tuple[float, float]:
        e = np.multiply(self._s, -eta, out=self._buffer)
        top = -math.log(e.size)
        with np.errstate(under="ignore"):
            if self._log_prior is not None:
                e += self._log_prior
                top = float(e.max())
                e -= top
            np.exp(e, out=e)
            total = float(e.sum())
            mean = float(e @ self._s) / total
            e *= self._s
            # This variance may cancel. An inaccurate slope costs a step and no accuracy.
            variance = float(e @ self._s) / total - mean * mean
        return -eta * mean - top - math.log(total), eta * (eta * max(variance, 0.0))


def _inverse_temperature(divergence: _Divergence, radius: float, largest: float) -> float:
    """Return the inverse temperature η <= `largest` at which KL(d‖π) equals the radius."""
    last = (math.inf, math.nan)

    def log_ratio(x: float) -> tuple[float, float]:
        nonlocal last
        kl, slope = divergence(math.exp(x))
        last = (math.log(radius / kl), -slope / kl) if kl > 0.0 else (math.inf, math.nan)
        return last

    # Near η = 0, KL is η² Var_π(s) / 2. Hoeffding's bound gives the least η.
    start = 0.5 * math.log(2.0 * radius / divergence.variance)
    # For such a radius this approximation is exact up to rounding, but computed KL are not.
    if radius < UNIT**2:
        return min(math.exp(start), largest)
    low = min(0.5 * math.log(8.0 * radius), math.log(largest))
    # KL itself has an error of some 2^-52 (r + √r).
    tolerance = max(1e-10, 2.0**-51 / math.sqrt(radius))
    x = decreasing_root(log_ratio, start, 3.0, tolerance, low, math.log(largest))
    # The last step of Newton's method needs no further value: its error is below rounding.
    value, slope = last
    return math.exp(x - value / slope if slope < 0.0 else x)
