"""Distributions under a power of their entries: norms, χ², Hellinger and their kin.

All of them minimise over the simplex

    <d, u> + μ Σ κ_i φ(d_i) + β Σ d_i log d_i,    φ'(t) = sign(q) t^q,  q > −1, q != 0,

with κ > 0, for a multiplier μ >= 0 that is given, or such that the energy Σ κ_i φ(d_i) meets a
bound (a ball), or such that μ is the slope of a root of the energy (a norm). The entries solve

    sign(q) μ κ_i t^q + β log t = g − u_i,

g being the multiplier of Σ d = 1 up to β. With K_i = μ κ_i |q| / β and ω the Wright function,
ω + log ω = X at X_i = q (g − u_i)/β + log K_i, the solution is t = (ω/K_i)^{1/q} =
exp((g − u_i)/β − ω/q), and dt/dg = t / (β (1 + ω)). So one pass over the entries gives every
sum that Newton's method for (g, μ) needs. Without smoothing (β = 0) t is a power of
g − u_i, and a single equation is left: see `power_margin`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost.relaxations._projections.wright import sweep

_SAMPLE = 1024
"""Entries from which the first guess of the multipliers is made when there are many more."""


class _Part:
    """Some entries of (u, κ), each standing for `weight` like it, and what a pass leaves there."""

    def __init__(self, u: Vector, kappa: Vector, weight: float) -> None:
        self.u, self.kappa, self.weight = u, kappa, weight
        self.logk = np.log(kappa)
        self.t, self.omega, self.y = np.empty(u.size), np.empty(u.size), np.empty(u.size)


class _Smoothed:
    """The equations of one (u, β), for all entries or for those of a sample."""

    def __init__(self, parts: list[_Part], q: float, beta: float) -> None:
        self.parts, self.q, self.beta = parts, float(q), float(beta)
        self.low = min(float(part.u.min()) for part in parts)
        self.high = max(float(part.u.max()) for part in parts)
        logs = [-part.logk / q for part in parts]
        top = max(float(x.max()) for x in logs)
        self.log_flat = top + math.log(
            sum(
                part.weight * float(np.exp(x - top).sum()) * (part.u.size / x.size)
                for part, x in zip(parts, logs, strict=True)
            )
        )
        """The flattest t is e^−log_flat κ^{−1/q}: there κ t^q is the same for all entries."""
        self._flattest = min(float(x.min()) for x in logs) - self.log_flat, top - self.log_flat
        self._last = math.inf
        with np.errstate(under="ignore"):
            total = sum(
                part.weight * float(np.exp((self.low - part.u) / beta).sum()) for part in parts
            )
        self.g = self.low - beta * math.log(total)
        self.sums = [0.0] * 5
        self._shift = math.nan
        self._onwards = 0.0
        self.missed = 0.0

    @property
    def solved(self) -> bool:
        """Whether both equations hold; a sample's may have no solution."""
        return self.missed <= 1e-8 and self.excess <= 1e-5

    @property
    def excess(self) -> float:
        """|Σt − 1| of the last pass."""
        return abs(self.sums[0] - 1.0)

    def normalise(self, log_mu: float, tolerance: float = 1e-9) -> None:
        """Find g with Σt = 1 up to the tolerance; leaves t and the sums of the last pass."""
        # Python's numbers: NumPy's would warn where they overflow to infinity.
        log_mu, self.g = float(log_mu), float(self.g)
        shift = log_mu + math.log(abs(self.q)) - math.log(self.beta)
        if math.isfinite(self._shift) and self.sums[1] > 0.0:
            # Along the path of normalised t: dg = β (Σ aω / Σ a) dlog μ / q.
            total, a0, a1, *_ = self.sums
            step = self.beta / a0 * (a1 * (shift - self._shift) / self.q + 1.0 - total)
            self.g += step if math.isfinite(step) else 0.0
        self._shift, self._onwards = shift, 0.0

        def excess(g: float) -> tuple[float, float]:
            x = self.q * g / self.beta + shift
            change, self._last = x - self._last, x
            self.sums = [0.0] * 5
            for part in self.parts:
                given = part.u, part.logk, g, shift, self.beta, self.q, change
                found = sweep(*given, part.y, part.omega, part.t).tolist()
                self.sums = [x + part.weight * y for x, y in zip(self.sums, found, strict=True)]
            total, slope = self.sums[0], self.sums[1] / self.beta
            if total <= 0.0:
                return math.inf, math.nan
            if not math.isfinite(total):
                return -math.inf, math.nan
            return -math.log(total), -slope / total

        log_power = log_mu - self.q * self.log_flat  # the power term at the flattest t
        power = math.exp(min(log_power, 600.0))
        reach = max(self.beta, power)
        lower, upper = -math.inf, math.inf
        if log_power <= 600.0:
            lower, upper = self._between(power, 1e-15 * (10.0 + abs(log_mu) + abs(log_power)))
        self.g = decreasing_root(excess, self.g, reach, tolerance, lower, upper)

    def _between(self, power: float, error: float) -> tuple[float, float]:
        """Return bounds of g: some entry of t is as large as that of the flattest t, of the same
        mass, and some entry is as small. `error` is the relative one of `power`."""
        power = math.copysign(power, self.q)
        low, high = (self.beta * entry for entry in self._flattest)
        lower, upper = self.low + power + low, self.high + power + high
        slack = error * (abs(lower) + abs(upper) + abs(power) - low)
        return lower - slack, upper + slack

    def move(self, step: float) -> None:
        """Take into account that the multiplier log μ is this far off, in `distribution`."""
        self._onwards = step

    def distribution(self) -> Vector:
        """Return t at the (g, μ) that solve the equations, to second order from the last pass.

        (1 + ω) dlog t = dg/β − (ω/q) dlog μ.
        """
        total, a0, a1, *_ = self.sums
        along = self._onwards / self.q
        step = (1.0 - total + a1 * along) / a0
        (part,) = self.parts
        return part.t * (1.0 + (step - part.omega * along) / (1.0 + part.omega))

    def log_energy(self, log_mu: float) -> tuple[float, float]:
        """Return log |Σ κ t^{q+1}| and its derivative in log μ along the normalised path.

        κ t^q = (β / (|q| μ)) ω, and d/dμ of Σ κ φ(t) is −Σ (κt^q)² a/β + (Σ κt^q a/β)² / Σ a/β.
        """
        total, a0, a1, a2, energy = self.sums
        if total > 0.0 and energy < 1e-290:  # ω vanishes where log ω does not
            return self._tiny_energy(), math.nan
        if not (a0 > 0.0 and energy > 0.0):
            return math.nan, math.nan
        # Where Σt = 1; far from there the correction may be of any size.
        change = (self.q + 1.0) * a1 * (1.0 - total) / (a0 * energy)
        energy *= 1.0 + change if change > -0.5 else math.exp(max(change, -500.0))
        scale = math.log(self.beta) - math.log(abs(self.q)) - log_mu
        variance = max(0.0, a2 - a1 * a1 / a0)
        sign = 1.0 if self.q > 0.0 else -1.0
        # dE/dlogμ = −μ (β/(|q|μ))² variance/β, E = sign/(q+1) (β/(|q|μ)) energy, in logs:
        return math.log(energy) + scale, -sign * (self.q + 1.0) / abs(self.q) * variance / energy

    def _tiny_energy(self) -> float:
        with np.errstate(divide="ignore"):
            terms = [
                math.log(part.weight) + part.logk + (self.q + 1.0) * np.log(part.t)
                for part in self.parts
            ]
        top = max(float(x.max()) for x in terms)
        return top + math.log(sum(float(np.exp(x - top).sum()) for x in terms))


def _root(
    equations: _Smoothed,
    miss: Callable[[float], tuple[float, float]],
    start: float,
    reach: float,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> float:
    """Return the log μ at which the decreasing `miss`, of normalised t, is zero.

    Away from the root Σt need not be one exactly, since `log_energy` corrects for it to second
    order: with a good start this is Newton's method for g and μ at once, one pass for each step.
    The sign of `miss` may be wrong then, so the root is looked for once more if it is not one.
    """
    size = 10.0 * (1.0 + abs(equations.q)) ** 2
    for roughly in (True, False):
        last = (math.inf, math.nan)

        def function(log_mu: float, roughly: bool = roughly) -> tuple[float, float]:
            nonlocal last
            for tolerance in (3e-2, 1e-3, 1e-5, 1e-9) if roughly else (1e-9,):
                if tolerance < 3e-2 and equations.excess <= tolerance:
                    continue
                equations.normalise(log_mu, tolerance)
                last = miss(log_mu)
                if size * min(equations.excess, 1e9) ** 2 <= 0.1 * abs(last[0]):
                    break
            return last

        root = decreasing_root(function, start, reach, 1e-8, lower, upper)
        value, slope = last
        equations.missed = abs(value)
        if equations.solved and slope < 0.0:
            equations.move(-value / slope)
            break
        start = root
    return root


def _equations(
    u: Vector, kappa: Vector, q: float, beta: float, solve: Callable[[_Smoothed, float], float]
) -> Vector:
    """Solve for (g, μ), on a sample first where there are many entries; return t / Σt."""
    log_mu = g = math.nan
    if u.size >= 4 * _SAMPLE:
        rough = _Smoothed(_sample(u, kappa), q, beta)
        with contextlib.suppress(ArithmeticError, ValueError):  # it may have no solution
            log_mu = solve(rough, math.nan)
            log_mu, g = (log_mu, rough.g) if rough.solved else (math.nan, math.nan)
    full = _Smoothed([_Part(u, kappa, 1.0)], q, beta)
    full.g = g if math.isfinite(g) else full.g
    solve(full, log_mu)
    d = full.distribution()
    return d / d.sum()


def _sample(u: Vector, kappa: Vector) -> list[_Part]:
    """Return one entry in s, and all of the smallest u: a few of those may carry all of d."""
    stride = u.size // _SAMPLE
    # One of each run of s, at a place that does not repeat, since margins may be periodic.
    places = np.arange(u.size // stride)
    rest = places * stride + (places * 0.6180339887498949 % 1.0 * stride).astype(np.int64)
    low = np.partition(u[rest], 1)[1]
    few = np.flatnonzero(u <= low)
    rest = rest[u[rest] > low]
    return [
        _Part(u[i], kappa if kappa.size == 1 else kappa[i], weight)
        for i, weight in ((few, 1.0), (rest, (u.size - few.size) / max(1, rest.size)))
        if i.size
    ]


def power_penalty(u: Vector, beta: float, kappa: Vector, q: float, mu: float) -> Vector:
    """Return the d in the simplex that minimises <d, u> + μ Σ κ_i φ(d_i) + β Σ d_i log d_i.

    κ > 0 has shape (m,), or (1,) for all; q, the exponent of φ', is > −1 and not 0; μ > 0.
    """
    log_mu = math.log(mu)

    def solve(equations: _Smoothed, _: float) -> float:
        equations.normalise(log_mu, 1e-7)
        return log_mu

    return _equations(u, kappa, q, beta, solve)


def power_ball(u: Vector, beta: float, kappa: Vector, q: float, bound: float) -> Vector:
    """Return the d in the simplex of bounded energy that minimises <d, u> + β Σ d_i log d_i.

    The bound is Σ κ_i d_i^{q+1} <= e^bound for q > 0, >= e^bound for q < 0; some d must meet it
    strictly. See `power_penalty` for the other parameters.
    """

    def miss(equations: _Smoothed, log_mu: float) -> tuple[float, float]:
        value, slope = equations.log_energy(log_mu)
        sign = 1.0 if q > 0.0 else -1.0
        return sign * (value - bound), sign * slope

    free = _softmin(u, beta)
    if _within(free, kappa, q, bound):
        return free

    def solve(equations: _Smoothed, start: float) -> float:
        if math.isnan(start):
            spread = equations.high - equations.low
            # Where the power term at the flattest d is as large as what it has to balance.
            start = math.log(spread + beta) + q * equations.log_flat
        return _root(equations, lambda x: miss(equations, x), start, 2.0)

    return _equations(u, kappa, q, beta, solve)


def norm_penalty(u: Vector, beta: float, kappa: Vector, q: float, c: float) -> Vector:
    """Return the d in the simplex that minimises <d, u> + c (Σ κ_i d_i^p)^{1/p} + β Σ d_i log d_i.

    p = q + 1 > 1 and c > 0; see `power_penalty` for the other parameters. The multiplier is
    μ = c N^{−q} at the norm N, which lies between those of the flattest and of the steepest d.
    """
    p = q + 1.0
    large = math.log(float(kappa.max())) / p
    inverse = np.power(kappa / kappa.max(), -1.0 / q)
    count = u.size / kappa.size
    small = large - q / p * math.log(float(inverse.sum()) * count)

    def solve(equations: _Smoothed, start: float) -> float:
        def miss(log_mu: float) -> tuple[float, float]:
            value, slope = equations.log_energy(log_mu)
            return math.log(c) - log_mu - q / p * value, -1.0 - q / p * slope

        low, high = math.log(c) - q * large - 1e-9, math.log(c) - q * small + 1e-9
        start = 0.5 * (low + high) if math.isnan(start) else start
        return _root(equations, miss, start, 1.0, low, high)

    return _equations(u, kappa, q, beta, solve)


def _softmin(u: Vector, beta: float) -> Vector:
    with np.errstate(under="ignore"):
        d = np.exp((u.min() - u) / beta)
    return d / d.sum()


def _within(d: Vector, kappa: Vector, q: float, bound: float) -> bool:
    top = float(d.max())  # a high power of d itself would vanish
    share = float((kappa * np.power(d / top, q + 1.0)).sum())
    size = (q + 1.0) * math.log(top) + math.log(share)
    return size <= bound if q > 0.0 else size >= bound
