"""Exponential tilting of a prior π: d_i proportional to π_i exp(−g_i/T), and the KL ball.

The entropic kin of SS09 Sec. 6 all play such a d. With KL(d‖π) = Σ d log(d/π),

    argmin over the simplex of <d, u> + λ KL(d‖π) + β Σ d log d

is the tilt by g = u + β log π at the temperature T = λ + β: a penalty gives λ, a ball makes it
the multiplier at which KL(d‖π) equals its radius r, or 0 if the ball does not bind. With η = 1/T
and s = g − min g, KL of the tilt is increasing in η, d KL / d log η = η² Var_d(s), and by
Hoeffding at most η² (max s)² / 8; so log KL is solved for in log η by Newton's method, kept inside
a bracket.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector

_HOTTEST = 1e300  # of η times the spread of the margins; beyond it d does not change any more
_COLDEST = math.ulp(0.0)
"""The least temperature, where margins are so small that theirs would be 0."""
_MILD = 1e-3
"""The spread of g/T below which the sum is taken by what its terms differ from one."""


def tilt(g: Vector, temperature: float, log_prior: Vector | None = None) -> tuple[Vector, float]:
    """Return d proportional to π exp(−g/T), and −T log Σ π exp(−g/T).

    T > 0; `log_prior` holds finite log π, and π is uniform without it.
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
    if float(g.max()) - low < _MILD * temperature:  # the sum is one but for little, which counts
        grown = np.expm1((low - g) / temperature)
        mean = grown.mean() if log_prior is None else np.exp(log_prior) @ grown
        return d, low - temperature * math.log1p(float(mean))
    return d, low - temperature * (top + math.log(total))


def kl_ball_distribution(
    u: Vector, beta: float, radius: float, log_prior: Vector | None = None
) -> tuple[Vector, float]:
    """Return the d in the simplex with KL(d‖π) <= r that minimises <d, u> + β Σ d_i log d_i.

    And the multiplier λ >= 0 of the constraint, 0 where it does not bind. r > 0, and β may be 0:
    then the minimiser is π restricted to the smallest margins, if the ball does not bind.
    `log_prior` is that of `tilt`.
    """
    # β log π is shifted by its own maximum, which changes nothing and loses less.
    g = u if log_prior is None or beta == 0.0 else u + beta * (log_prior - log_prior.max())
    low = float(g.min())
    spread = float(g.max()) - low
    if spread == 0.0:
        return tilt(g, 1.0, log_prior)[0], 0.0
    s = (g - low) / spread
    hottest = min(spread / beta, _HOTTEST) if beta > 0.0 else _HOTTEST
    divergence = _Divergence(s, log_prior, radius < 0.01)
    if divergence.at_most(hottest, radius):
        return tilt(g, max(spread / hottest, _COLDEST), log_prior)[0], 0.0
    eta = _root(divergence, radius, hottest)
    temperature = max(spread / eta, _COLDEST)
    return tilt(g, temperature, log_prior)[0], max(temperature - beta, 0.0)


class _Divergence:
    """KL(d‖π) of the tilt by s at η, s in [0, 1], and its derivative in log η."""

    def __init__(self, s: Vector, log_prior: Vector | None, small: bool) -> None:
        """Prepare for values that are `small` and would drown in cancellation, or for others."""
        self._s, self._log_prior = s, log_prior
        self._weights = np.full(s.size, 1.0 / s.size) if log_prior is None else np.exp(log_prior)
        mean = float(self._weights @ s)
        self._centred = s - mean
        self._near_up_to = 30.0 / mean if small and mean > 0.0 else 0.0  # exp must not overflow
        self.variance = float(self._weights @ self._centred**2)
        self._buffer = np.empty(s.size)

    def at_most(self, eta: float, radius: float) -> bool:
        """Return whether KL at η is at most `radius`; no tilt exceeds −log min π."""
        smallest = -math.log(self._s.size)
        if self._log_prior is not None:
            smallest = float(self._log_prior.min())
        return radius >= -smallest or self(eta)[0] <= radius

    def __call__(self, eta: float) -> tuple[float, float]:
        """Return (KL, η² Var)."""
        return self._near(eta) if eta <= self._near_up_to else self._far(eta)

    def _near(self, eta: float) -> tuple[float, float]:
        """Without cancellation, from terms x e^x − (e^x − 1) ~ x²/2 that are never negative."""
        x, p = -eta * self._centred, self._weights
        grown = np.expm1(x)
        excess = float(p @ grown)  # Z − 1
        total = 1.0 + excess
        generalised = float(p @ (x * grown + (x - grown)))
        kl = generalised / total + excess / total - math.log1p(excess)
        p = p * (1.0 + grown)
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
            # E s² − (E s)² may cancel; a poor slope costs a step, not accuracy.
            spread = float(e @ self._s) / total - mean * mean
        return -eta * mean - top - math.log(total), eta * (eta * max(spread, 0.0))


def _root(divergence: _Divergence, radius: float, hottest: float) -> float:
    """Return the η with KL = r; KL is at most r at the left end of the bracket, above r at the
    right."""
    low = math.sqrt(8.0 * radius)  # Hoeffding
    left, right = math.log(min(low, hottest)), math.log(hottest)
    x = math.log(math.sqrt(2.0 * radius) / math.sqrt(divergence.variance))
    x = min(max(x, left), right)
    accuracy = 2.0**-51 * (radius + math.sqrt(radius))
    for _ in range(200):
        kl, slope = divergence(math.exp(x))
        if kl > radius:
            right = x
        else:
            left = x
        if abs(kl - radius) <= accuracy or right - left <= 1e-15 * max(1.0, abs(x)):
            break
        step = math.inf
        if kl > 0.0 and slope > 0.0:
            step = -math.log(kl / radius) * kl / slope
        # Where KL saturates Newton overshoots by orders of magnitude.
        proposal = x + min(max(step, -3.0), 3.0)
        if not left < proposal < right:
            proposal = 0.5 * (left + right) if math.isfinite(left + right) else x + 1.0
        x, moved = proposal, proposal - x
        if abs(moved) <= 1e-12 and abs(step) <= 1e-12:
            break
    return math.exp(x)
