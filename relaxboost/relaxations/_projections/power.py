"""Distributions under penalties on powers of the weights: p-norms, χ² and power divergences.

All kernels minimise over the simplex

    <d, u> + μ Σ κ_i φ(d_i) + β Σ d_i log d_i,    φ'(t) = sign(q) t^q,  q > −1, q != 0,

with κ > 0. For a penalty the multiplier μ >= 0 is given. For a ball, μ is the multiplier at which
the energy Σ κ_i d_i^{q+1} equals a bound. For a norm, μ is the derivative of a root of the energy.
The entries t of d solve

    sign(q) μ κ_i t^q + β log t = g − u_i,

where g + β is the multiplier of Σ d = 1. Let K_i = μ κ_i |q| / β and X_i = q (g − u_i)/β + log K_i.
Let ω_i be the value at X_i of the Wright function (Corless & Jeffrey 2002), which solves ω + log ω
= X. Then t = (ω/K_i)^{1/q} = exp((g − u_i)/β − ω/q), and dt/dg = t / (β (1 + ω)). So one pass over
the entries computes all sums for a Newton step in (g, μ). For β = 0 see `power_margin`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost._core.rounding import MIN_PRECISE, UNIT
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.vectorised import MAX_EXPONENT
from relaxboost.relaxations._projections.wright import sweep

SUM_TOLERANCE = 1e-9
"""The tolerance for the equation Σt = 1 of Newton's method.

One second-order step corrects a smaller error. What remains is about the square of this number,
below the rounding errors.
"""


def log_sum_exp(x: Vector) -> float:
    """Return log Σ exp(x_i) without overflow. At least one x_i must be finite."""
    top = float(x.max())
    terms = x - top
    with np.errstate(under="ignore"):
        np.exp(terms, out=terms)
    return top + math.log(float(terms.sum()))


def log_energy(t: Vector, log_kappa: Vector, q: float) -> float:
    """Return the logarithm of the energy Σ κ_i t_i^{q+1}, finite even if the powers overflow."""
    with np.errstate(divide="ignore"):
        return log_sum_exp(log_kappa + (q + 1.0) * np.log(t))


class _Entries:
    """The margins u and factors κ of all examples, and the weights t at the last multiplier g."""

    def __init__(self, u: Vector, kappa: Vector, q: float, beta: float) -> None:
        self.u = u
        self.q = q
        self.beta = beta
        self.log_kappa = np.log(kappa)
        self.t = np.empty(u.size)
        self.omega = np.empty(u.size)
        self._log_omega = np.empty(u.size)
        self._last = math.inf
        self.sums = [0.0] * 5
        """The sums Σt, Σa, Σaω, Σaω² and Σtω of the last `sweep`, with a = t/(1 + ω) = β dt/dg."""

    def sweep(self, g: float, shift: float) -> None:
        """Compute the weights t, the numbers ω, and `sums` at the multiplier g.

        `shift` is log(μ |q| / β). The module docstring defines t and ω.
        """
        x = self.q * g / self.beta + shift
        change = x - self._last
        self._last = x
        # ω of the last pass, in `_log_omega`, is the start of this one.
        given = self.u, self.log_kappa, g, shift, self.beta, self.q, change
        self.sums = sweep(*given, self._log_omega, self.omega, self.t).tolist()

    def log_sum_exp(self, x: Vector) -> float:
        """Return log Σ exp(x_i) over all examples. A single entry `x` stands for equal x_i."""
        return log_sum_exp(x) + math.log(self.u.size / x.size)

    def log_energy(self) -> float:
        """Return the logarithm of the energy Σ κ t^{q+1} of the last pass, even if it overflows."""
        with np.errstate(divide="ignore"):
            return self.log_sum_exp(self.log_kappa + (self.q + 1.0) * np.log(self.t))


class _Equations:
    """The equations for the multipliers g and μ: Σ d = 1, and one for the energy Σ κ_i d_i^{q+1}.

    The vector t contains the entries of d at the current (g, μ). It is normalised if Σt = 1.
    """

    def __init__(self, entries: _Entries) -> None:
        self.entries = entries
        self.q = entries.q
        self.beta = entries.beta
        self.low = float(entries.u.min())
        self.high = float(entries.u.max())
        least = int(entries.u.argmin()) if entries.log_kappa.size > 1 else 0
        self._log_least_kappa = float(entries.log_kappa[least])
        # The t with equal forces κ t^q is κ^{−1/q} e^−log_flat.
        logs = -entries.log_kappa / entries.q
        self.log_flat = entries.log_sum_exp(logs)
        self._flattest = float(logs.min()) - self.log_flat, float(logs.max()) - self.log_flat
        log_total = entries.log_sum_exp((self.low - entries.u) / self.beta)
        self.g = self.low - self.beta * log_total
        self._shift = math.nan
        self._log_mu_step = 0.0

    @property
    def excess(self) -> float:
        """The error |Σt − 1| after the last pass."""
        return abs(self.entries.sums[0] - 1.0)

    def normalise(self, log_mu: float, tolerance: float = SUM_TOLERANCE) -> None:
        """Set the multiplier g so that Σt = 1, up to the tolerance."""
        # NumPy's scalars would warn where Python's overflow to infinity.
        log_mu = float(log_mu)
        shift = log_mu + math.log(abs(self.q)) - math.log(self.beta)
        total, a0, a1, *_ = self.entries.sums
        if math.isfinite(self._shift) and a0 > 0.0:
            # Along the path of normalised t, dg = β (Σaω / Σa) dlog μ / q.
            step = self.beta / a0 * (a1 * (shift - self._shift) / self.q + 1.0 - total)
            self.g += step if math.isfinite(step) else 0.0
        self._shift = shift
        self._log_mu_step = 0.0

        def log_total(g: float) -> tuple[float, float]:
            self.entries.sweep(g, shift)
            total, a0, *_ = self.entries.sums
            if total <= 0.0:
                return math.inf, math.nan
            if not math.isfinite(total):
                return -math.inf, math.nan
            return -math.log(total), -a0 / self.beta / total

        # `power` is the term μ κ t^q at the flattest t.
        log_power = log_mu - self.q * self.log_flat
        power = math.exp(min(log_power, MAX_EXPONENT))
        lower = -math.inf
        upper = math.inf
        if log_power <= MAX_EXPONENT:
            lower, upper = self._bounds(
                log_mu, power, 1e-15 * (10.0 + abs(log_mu) + abs(log_power))
            )
        reach = max(self.beta, power)
        self.g = decreasing_root(log_total, float(self.g), reach, tolerance, lower, upper)

    def _bounds(self, log_mu: float, power: float, error: float) -> tuple[float, float]:
        """Return a lower and an upper bound on the multiplier g at which Σt = 1.

        For some t of sum one, μ κ_i t_i^q is the same number `power` for all examples i. `error` is
        its relative error.
        """
        # Some entry of t is at least as large as that of the flattest t, because both have the same
        # sum, and some entry is at most as large. No entry exceeds 1, nor does that of the least
        # margin.
        power = math.copysign(power, self.q)
        smallest, largest = self._flattest
        lower = self.low + power + self.beta * smallest
        lower -= error * (abs(self.low) + abs(power) - self.beta * smallest)
        upper = self.high + power + self.beta * largest
        upper += error * (abs(self.high) + abs(power) + self.beta * abs(largest))
        # Without this bound, g far below the second margin would take too many bisections.
        log_force = log_mu + self._log_least_kappa
        if log_force <= MAX_EXPONENT:
            force = math.copysign(math.exp(log_force), self.q)
            upper = min(upper, self.low + force + error * (abs(self.low) + abs(force)))
        return lower, upper

    def solve_for_mu(
        self,
        miss: Callable[[float], tuple[float, float]],
        start: float,
        reach: float,
        lower: float = -math.inf,
        upper: float = math.inf,
        tolerance: float = 1e-8,
    ) -> None:
        """Find the multiplier μ at which `miss` is zero, and normalise t for this μ.

        `miss` returns a decreasing function of log μ, and its derivative.
        """
        size = 10.0 * (1.0 + abs(self.q)) ** 2
        # Far from the root, Σt need not be exactly one, because `log_energy` corrects for it to
        # second order. With a good start this is Newton's method for g and μ together, with one
        # pass for each step. The sign of `miss` may then be wrong, so if the result is not a root,
        # a second search computes Σt = 1 at each step.
        for tolerances in ((3e-2, 1e-3, 1e-5, SUM_TOLERANCE), (SUM_TOLERANCE,)):
            last = (math.inf, math.nan)

            def function(
                log_mu: float, tolerances: tuple[float, ...] = tolerances
            ) -> tuple[float, float]:
                nonlocal last
                for tolerance in tolerances:
                    # Σt is this accurate already, unless μ has changed.
                    if tolerance < tolerances[0] and self.excess <= tolerance:
                        continue
                    self.normalise(log_mu, tolerance)
                    last = miss(log_mu)
                    # The error of the correction is small compared with the value.
                    if size * min(self.excess, 1e9) ** 2 <= 0.1 * abs(last[0]):
                        break
                return last

            start = decreasing_root(function, start, reach, tolerance, lower, upper)
            value, slope = last
            if abs(value) <= tolerance and self.excess <= 1e-6 and slope < 0.0:
                self._log_mu_step = -value / slope
                break

    def log_energy(self, log_mu: float) -> tuple[float, float]:
        """Return the logarithm of the energy Σ κ t^{q+1}, and its derivative in log μ.

        t stays normalised: as μ changes, g changes so that Σt = 1.
        """
        # κ t^q = (β / (|q| μ)) ω, and the derivative of Σ κ φ(t) in μ is
        # (Σ κt^q a)² / (β Σa) − Σ (κt^q)² a / β.
        total, a0, a1, a2, energy = self.entries.sums
        # ω may underflow although log ω does not.
        if total > 0.0 and energy < MIN_PRECISE:
            return self.entries.log_energy(), math.nan
        if not (a0 > 0.0 and energy > 0.0):
            return math.nan, math.nan
        # The energy is corrected to first order for Σt = 1. If Σt is far from 1, the correction may
        # have any size, so it is limited.
        change = (self.q + 1.0) * a1 * (1.0 - total) / (a0 * energy)
        energy *= 1.0 + change if change > -0.5 else math.exp(max(change, -500.0))
        scale = math.log(self.beta) - math.log(abs(self.q)) - log_mu
        variance = max(0.0, a2 - a1 * a1 / a0)
        return math.log(energy) + scale, -(self.q + 1.0) / self.q * variance / energy

    def distribution(self) -> Vector:
        """Return the distribution at the solution (g, μ), extrapolated from the last pass.

        The error is of second order in the remaining change of (g, μ).
        """
        total, a0, a1, *_ = self.entries.sums
        # (1 + ω) dlog t = dg/β − (ω/q) dlog μ.
        along = self._log_mu_step / self.q
        step = (1.0 - total + a1 * along) / a0
        omega = self.entries.omega
        t = self.entries.t * (1.0 + (step - omega * along) / (1.0 + omega))
        return np.asarray(t / t.sum())


def _solve(
    u: Vector, beta: float, kappa: Vector, q: float, solve: Callable[[_Equations], None]
) -> Vector:
    """Return the distribution whose multipliers satisfy two equations.

    The function `solve` changes the multipliers until both equations hold. For the other arguments,
    see `power_penalty`.
    """
    # The difference g − min u may be less than a rounding of min u, but not of 0.
    equations = _Equations(_Entries(u - u.min(), kappa, q, beta))
    solve(equations)
    return equations.distribution()


def power_penalty(u: Vector, beta: float, kappa: Vector, q: float, mu: float) -> Vector:
    """Return the minimiser of <d, u> + μ Σ κ_i φ(d_i) + β Σ d_i log d_i over the simplex.

    `kappa` has an entry κ_i for each example, or a single entry if all κ_i are equal. The numbers
    κ, β and μ are positive. The derivative of φ is sign(q) t^q, with q above −1 and not 0.
    """
    log_mu = math.log(mu)

    def solve(equations: _Equations) -> None:
        equations.normalise(log_mu, 1e-7)

    return _solve(u, beta, kappa, q, solve)


def power_ball(u: Vector, beta: float, kappa: Vector, q: float, log_bound: float) -> Vector:
    """Return the minimiser of <d, u> + β Σ d_i log d_i over the distributions d of bounded energy.

    The energy Σ κ_i d_i^{q+1} is at most e^log_bound for q > 0, and at least e^log_bound for q < 0.
    Some d in the simplex must satisfy this inequality strictly. See `power_penalty` for the other
    parameters.
    """
    sign = math.copysign(1.0, q)
    free = capped_distribution(u, beta)
    if sign * (log_energy(free, np.log(kappa), q) - log_bound) <= 0.0:
        return free

    def solve(equations: _Equations) -> None:
        def miss(log_mu: float) -> tuple[float, float]:
            value, slope = equations.log_energy(log_mu)
            return sign * (value - log_bound), sign * slope

        # At this start, the power term at the flattest d is as large as the terms that it balances.
        spread = equations.high - equations.low
        start = math.log(spread + beta) + q * equations.log_flat
        # The energies of a small ball are all near that of the flattest d.
        room = abs(log_bound + q * equations.log_flat)
        tolerance = max(1e-8 * min(1.0, room), 4.0 * UNIT)
        equations.solve_for_mu(miss, start, 2.0, tolerance=tolerance)

    return _solve(u, beta, kappa, q, solve)


def norm_penalty(u: Vector, beta: float, kappa: Vector, q: float, c: float) -> Vector:
    """Return the minimiser of <d, u> + c (Σ κ_i d_i^p)^{1/p} + β Σ d_i log d_i over the simplex.

    The exponent is p = q + 1 > 1, and c > 0 is the weight of the penalty. See `power_penalty` for
    the other parameters.
    """
    # The flattest d in the norm is proportional to κ^{−1/q}, and the steepest d is a vertex.
    p = q + 1.0
    log_kappa = np.log(kappa)
    log_largest = float(log_kappa.max()) / p
    count = math.log(u.size / kappa.size)
    log_smallest = -q / p * (log_sum_exp(-log_kappa / q) + count)
    low = math.log(c) - q * log_largest - 1e-9
    high = math.log(c) - q * log_smallest + 1e-9

    def solve(equations: _Equations) -> None:
        # The equation is μ = c N^{−q}, where log N is the logarithm of the energy over p.
        def miss(log_mu: float) -> tuple[float, float]:
            value, slope = equations.log_energy(log_mu)
            return math.log(c) - log_mu - q / p * value, -1.0 - q / p * slope

        equations.solve_for_mu(miss, 0.5 * (low + high), 1.0, low, high)

    return _solve(u, beta, kappa, q, solve)
