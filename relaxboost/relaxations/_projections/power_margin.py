"""The relaxed margin under a power of the entries: `power` for β = 0.

Let s = |g − min u|. For q > 0 the entries are t_i = ((g − u_i)_+ / κ_i)^{1/q}, which grow with s
from zero. For q < 0 they are t_i = ((u_i − g) / κ_i)^{1/q}, which decrease. The distribution d is t
divided by Σt. One equation determines s: Σt is given (a penalty), or the energy of t divided by
(Σt)^{q+1} is given (a ball), or the energy of t is given (a norm).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.roots import decreasing_root, falling_root
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations._projections.power import log_energy

MIN_DISTANCE = 1e-140
"""The smallest distance s. Margins that differ by less count as equal: their squares underflow."""

MAX_EXPONENT = 700.0
"""e^700 is a double."""


@njit()
def _sums(
    v: Vector, kappa: Vector, s: float, q: float, t: Vector
) -> tuple[float, float, float, float]:
    """Set t up to a factor e^top; return top, and with that t Σt, dΣt/ds and Σ t h = Σ κ t^{q+1}.

    h = |g − u| and v = u − min u. The largest t is 1 unless q = 1, when top is zero. With a large
    1/q no double could represent h^{1/q}.
    """
    top = 0.0 if q == 1.0 else -math.inf
    stride = 0 if kappa.shape[0] == 1 else 1
    sign = 1.0 if q > 0.0 else -1.0
    # The first loop computes log t, because t itself may overflow unless it is divided by e^top.
    for i in range(v.shape[0]):
        h = s - sign * v[i]
        if h <= 0.0:
            t[i] = 0.0 if q == 1.0 else -math.inf
        elif q == 1.0:
            t[i] = h / kappa[stride * i]
        else:
            t[i] = math.log(h / kappa[stride * i]) / q
            top = max(top, t[i])
    total = 0.0
    slope = 0.0
    energy = 0.0
    for i in range(v.shape[0]):
        h = s - sign * v[i]
        if h <= 0.0:
            t[i] = 0.0
            continue
        if q != 1.0:
            t[i] = math.exp(t[i] - top)
        total += t[i]
        slope += t[i] / (q * h)
        energy += t[i] * h
    return top, total, slope, energy


class _Level:
    """The sums over t as functions of x = log s, for one vector of margins."""

    def __init__(self, u: Vector, kappa: Vector, q: float) -> None:
        self.low = float(u.min())
        self.v = u - self.low
        self.kappa = kappa
        self.q = q
        # The squares of such margins are no doubles. The error of γ is less than the margins.
        if float(self.v.max()) < MIN_DISTANCE:
            self.v[:] = 0.0
        self.t = np.empty(u.size)
        self.log_total = math.nan
        self._top = math.nan
        self._last = math.nan
        # Without ties, d reaches over margins up to about their mean.
        spread = float(self.v.mean())
        self._start = math.log(spread) if spread > 0.0 else 0.0

    def solve(self, miss: Callable[[float], tuple[float, float]]) -> float:
        """Return the x at which the decreasing function `miss` vanishes, and set t at this x."""
        x = decreasing_root(miss, self._start, 2.0, 1e-15)
        if x != self._last:
            self.evaluate(x)
        return x

    def evaluate(self, x: float) -> tuple[float, float, float, float]:
        """Return log Σt, log Σκt^{q+1} and their derivatives in x = log s."""
        self._last = x
        s = self._distance(x)
        self._top, total, slope, energy = _sums(self.v, self.kappa, s, self.q, self.t)
        energy_slope = (1.0 + 1.0 / self.q) * total
        self.log_total = self._top + math.log(total)
        log_energy = self._top + math.log(energy)
        return self.log_total, log_energy, s * slope / total, s * energy_slope / energy

    @staticmethod
    def _distance(x: float) -> float:
        """Return s, neither infinite nor so small that its square is no double."""
        return math.exp(min(max(x, math.log(MIN_DISTANCE)), MAX_EXPONENT))

    def log_energy(self) -> float:
        """Return log Σ κ d^{q+1} of d = t / Σt."""
        return log_energy(self.t / self.t.sum(), np.log(self.kappa), self.q)

    def put_on_least(self) -> None:
        """Set t to the d of extreme energy among those on the least margins alone."""
        least = self.v == 0.0
        logs = (-np.log(self.kappa) / self.q * np.ones(self.v.size))[least]
        self.t[:] = 0.0
        self.t[least] = np.exp(logs - logs.max())

    def refine(self, x: float, miss: Callable[[], float]) -> None:
        """Move t between its values at g one rounding lower and higher so that `miss` vanishes.

        For q > 1 the entries rise steeply from zero: to 0.15 at h = 1e-16 for q = 19. So no double
        g may have the right sum. `miss` is a decreasing function of t, which reads `t` and
        `log_total`.
        """
        s = self._distance(x)
        # x may lie beyond the limits of s, and s must stay larger than its width.
        width = (4.0 + abs(math.log(s))) * 4.0 * UNIT * s
        if self.q <= 1.0 or abs(miss()) <= 1e-13:
            return
        ends = np.clip(s - self.v + np.array([[-width], [width]]), 0.0, None) / self.kappa
        less, more = ends ** (1.0 / self.q) * math.exp(-self._top)

        def miss_between(share: float) -> float:
            self.t = less + share * (more - less)
            self.log_total = self._top + math.log(float(self.t.sum()))
            return miss()

        falling_root(miss_between, 1e-14)

    def result(self, x: float) -> tuple[float, float, Vector]:
        """Return (g, μ, d) at x = log s. Since h = μ κ d^q, the multiplier is μ = (Σt)^q."""
        g = self.low + math.copysign(self._distance(x), self.q)
        mu = math.exp(min(self.q * self.log_total, MAX_EXPONENT))
        return g, mu, self.t / self.t.sum()


def power_penalty_margin(
    u: Vector, kappa: Vector, q: float, mu: float
) -> tuple[float, float, Vector]:
    """Return (g, μ, d): d minimises <d, u> + μ Σ κ_i φ(d_i) over the simplex, g is its multiplier.

    See `power.power_penalty` for the parameters.
    """
    level = _Level(u, kappa, q)
    sign = math.copysign(1.0, q)
    log_total = math.log(mu) / q

    def miss(x: float) -> tuple[float, float]:
        total, _, slope, _ = level.evaluate(x)
        return sign * (log_total - total), -sign * slope

    x = level.solve(miss)
    level.refine(x, lambda: log_total - level.log_total)
    g, _, d = level.result(x)
    return g, mu, d


def power_ball_margin(
    u: Vector, kappa: Vector, q: float, log_bound: float
) -> tuple[float, float, Vector]:
    """Return (g, μ, d): d of bounded energy minimises <d, u> over the simplex.

    μ is the multiplier of the bound in the normalisation of `power`, or 0 if it does not bind. See
    `power.power_ball` for the parameters.
    """
    level = _Level(u, kappa, q)
    sign = math.copysign(1.0, q)
    level.put_on_least()
    if sign * (level.log_energy() - log_bound) <= 0.0:
        return level.low, 0.0, level.t / level.t.sum()

    def miss(x: float) -> tuple[float, float]:
        total, energy, slope, energy_slope = level.evaluate(x)
        value = energy - (q + 1.0) * total - log_bound
        return sign * value, sign * (energy_slope - (q + 1.0) * slope)

    x = level.solve(miss)
    level.refine(x, lambda: level.log_energy() - log_bound)
    return level.result(x)


def norm_penalty_margin(u: Vector, kappa: Vector, q: float, c: float) -> tuple[float, Vector]:
    """Return (γ, d): d minimises <d, u> + c (Σ κ_i d_i^p)^{1/p} over the simplex, to the value γ.

    p = q + 1 > 1 and c > 0. At γ the dual norm of [γ − u]_+ is c.
    """
    level = _Level(u, kappa, q)

    def miss(x: float) -> tuple[float, float]:
        _, energy, _, energy_slope = level.evaluate(x)
        return math.log(c) / q - energy / (q + 1.0), -energy_slope / (q + 1.0)

    gamma, _, d = level.result(level.solve(miss))
    return gamma, d
