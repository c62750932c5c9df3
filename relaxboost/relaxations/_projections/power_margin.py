"""The relaxed margin under penalties on powers of the weights d, as in `power` but with β = 0.

The margins are u, the weights of the entries are κ > 0, the exponent is q > −1, and g is the
multiplier of Σd = 1. For q > 0 the vector t has the entries t_i = ([g − u_i]_+ / κ_i)^{1/q}, and
for q < 0 it has the entries t_i = ((u_i − g) / κ_i)^{1/q}. The minimiser d is t / Σt. One equation
determines the distance s = |g − min u|. For a penalty, the equation prescribes Σt. For a ball, the
equation prescribes the energy Σ κ d^{q+1}, and for a norm it prescribes the energy Σ κ t^{q+1}.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root, falling_root
from relaxboost._core.rounding import MIN_NORMAL, UNIT
from relaxboost.relaxations._projections.power import log_energy

MIN_DISTANCE = math.sqrt(MIN_NORMAL)
"""The minimum distance s of g from the smallest margin, so that s² does not underflow."""


def _sums(
    v: Vector, kappa: Vector, s: float, q: float, t: Vector
) -> tuple[float, float, float, float]:
    """Compute the unnormalised weights t at the distance s, and return (top, Σt, dΣt/ds, energy).

    The energy is Σ κ t^{q+1}. The weights and the sums are divided by e^top, so that no weight
    overflows. The vector v contains the margins minus the smallest margin.
    """
    h = np.maximum(s - math.copysign(1.0, q) * v, 0.0)
    top = 0.0
    if q == 1.0:
        np.divide(h, kappa, out=t)
    else:
        # The factor makes the largest t equal to 1, because t may overflow for a small q.
        with np.errstate(divide="ignore", under="ignore"):
            logs = np.log(h / kappa) / q
            top = float(logs.max())
            np.exp(logs - top, out=t)
    # In terms of h = |g − u|, the sums are Σ t / (q h) for the derivative and Σ t h for the energy.
    slope = float(np.divide(t, q * h, out=np.zeros(t.size), where=h > 0.0).sum())
    return top, float(t.sum()), slope, float((t * h).sum())


class _Level:
    """The unnormalised weights t, and sums of them, as functions of x = log s.

    The distance s is |g − min u| for the multiplier g and the margins u.
    """

    def __init__(self, u: Vector, kappa: Vector, q: float) -> None:
        self.low = float(u.min())
        self.v = u - self.low
        self.kappa = kappa
        self.q = q
        # The squares of such margins would underflow.
        if float(self.v.max()) < MIN_DISTANCE:
            self.v[:] = 0.0
        self.t = np.empty(u.size)
        self.log_total = math.nan
        self._top = math.nan
        self._last = math.nan
        # This start is of the right order for spread-out margins.
        spread = float(self.v.mean())
        self._start = math.log(spread) if spread > 0.0 else 0.0

    def solve(self, miss: Callable[[float], tuple[float, float]]) -> float:
        """Return x = log s at which `miss` is zero, and store the weights t there.

        `miss` returns a decreasing function of x, and its derivative.
        """
        x = decreasing_root(miss, self._start, 2.0, 1e-15)
        if x != self._last:
            self.evaluate(x)
        return x

    def evaluate(self, x: float) -> tuple[float, float, float, float]:
        """Compute the vector t at the distance s = e^x from the smallest margin.

        Return log Σt, log Σ κ t^{q+1} and the derivatives of both in x.
        """
        self._last = x
        s = self._distance(x)
        self._top, total, slope, energy = _sums(self.v, self.kappa, s, self.q, self.t)
        energy_slope = (1.0 + 1.0 / self.q) * total
        self.log_total = self._top + math.log(total)
        log_energy = self._top + math.log(energy)
        return self.log_total, log_energy, s * slope / total, s * energy_slope / energy

    @staticmethod
    def _distance(x: float) -> float:
        # The distance s = e^x is clipped so that neither s nor s² overflows or underflows.
        return math.exp(min(max(x, math.log(MIN_DISTANCE)), 700.0))

    def log_energy(self) -> float:
        """Return the logarithm of the energy Σ κ d^{q+1} of the distribution d = t / Σt."""
        return log_energy(self.t / self.t.sum(), np.log(self.kappa), self.q)

    def put_on_least(self) -> None:
        """Put all the weight on the examples of smallest margin.

        Among the distributions on these examples, t has the smallest energy for q > 0, and the
        largest for q < 0.
        """
        least = self.v == 0.0
        logs = (-np.log(self.kappa) / self.q * np.ones(self.v.size))[least]
        self.t[:] = 0.0
        self.t[least] = np.exp(logs - logs.max())

    def refine(self, x: float, miss: Callable[[], float]) -> None:
        """Change the weights t slightly, so that `miss` is zero up to rounding.

        x is a root of `miss` up to the rounding of doubles. For q > 1 this can be inaccurate,
        because t then changes a lot between adjacent doubles g. So t is interpolated between the
        weights on both sides of the root.
        """
        # For q > 1 the entries rise steeply from zero: to 0.15 at g − u = 1e-16 for q = 19. So no
        # double g may have the right sum.
        s = self._distance(x)
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
        """Return the multipliers g of Σd = 1 and μ of the energy, and d, at the distance e^x."""
        g = self.low + math.copysign(self._distance(x), self.q)
        # From |g − u| = κ t^q = μ κ d^q follows μ = (Σt)^q.
        mu = math.exp(min(self.q * self.log_total, 700.0))
        return g, mu, self.t / self.t.sum()


def power_penalty_margin(
    u: Vector, kappa: Vector, q: float, mu: float
) -> tuple[float, float, Vector]:
    """Return (g, μ, d) for the minimiser d of <d, u> + μ Σ κ_i φ(d_i) over the simplex.

    g is the multiplier of Σd = 1, and μ the given weight. See `power.power_penalty` for the
    parameters.
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
    """Return (g, μ, d) for the minimiser d of <d, u> over the distributions of bounded energy.

    g is the multiplier of Σd = 1, and μ is the multiplier of the bound, 0 if the bound is slack.
    See `power.power_ball` for the parameters.
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
    """Return the minimum of <d, u> + c (Σ κ_i d_i^p)^{1/p} over the simplex, and the minimiser d.

    The factors κ_i are positive, the exponent is p = q + 1 > 1, and c > 0 is the weight of the
    norm.
    """
    level = _Level(u, kappa, q)

    # At the minimum γ the dual norm of [γ − u]_+ is c, which is an equation for the energy of t.
    def miss(x: float) -> tuple[float, float]:
        _, energy, _, energy_slope = level.evaluate(x)
        return math.log(c) / q - energy / (q + 1.0), -energy_slope / (q + 1.0)

    gamma, _, d = level.result(level.solve(miss))
    return gamma, d
