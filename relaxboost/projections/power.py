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

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relaxboost.compiled import njit
from relaxboost.parameters import positive
from relaxboost.projections.roots import decreasing_root

Vector = NDArray[np.float64]

_SAMPLE = 4096
"""Entries from which the first guess of the multipliers is made when there are many more."""


@njit()
def _closer(w: float, x: float) -> float:
    """Take the step of Fritsch, Shafer & Crowley from w to the root of w + log w = x; its error is
    the fourth power of the last one's."""
    r = x - w - math.log(w)
    s = 1.0 + w
    p = 2.0 * s * (s + 2.0 * r / 3.0)
    return w * (1.0 + r / s * (p - r) / (p - 2.0 * r))


@njit()
def _omega(x: float) -> float:
    """Return ω with ω + log ω = x (Lawrence, Corless & Jeffrey 2012, the real case)."""
    if x < -40.0:
        return math.exp(x)
    if x < -1.0:
        w = math.exp(x)
        w = w / (1.0 + w)
    elif x < 3.5:
        s = x - 1.0
        w = 1.0 + s * (0.5 + s * (0.0625 - s * 0.0052083))
    else:
        s = math.log(x)
        w = x - s + s / x
    return _closer(_closer(w, x), x)


@njit()
def _pass(
    u: Vector,
    kappa: Vector,
    logk: Vector,
    g: float,
    shift: float,
    beta: float,
    q: float,
    t: Vector,
    omega: Vector,
    change: float,
) -> tuple[float, float, float, float, float]:
    """Fill `t` and `omega`; return Σt, Σa, Σaω, Σaω², Σtω with a = t / (1 + ω) = β dt/dg.

    `shift` is log(μ |q| / β), so that log K_i = log κ_i + shift. `kappa` and `logk` have length m,
    or 1 where all are equal. Where |`change`| is small, X has changed by it everywhere since the
    last pass, whose `omega` is then one step away from the new one.
    """
    total, a0, a1, a2, energy = 0.0, 0.0, 0.0, 0.0, 0.0
    stride = 0 if kappa.shape[0] == 1 else 1
    linear = q == 1.0 and abs(shift) < 300.0
    factor = math.exp(-shift) if linear else 0.0
    warm = abs(change) < 0.05
    for i in range(u.shape[0]):
        z = (g - u[i]) / beta
        if q > 0.0 and z < -745.0:
            t[i] = omega[i] = 0.0
            continue
        k = logk[stride * i] + shift
        x = q * z + k
        w = omega[i]
        close = warm and w > 1e-17
        w = _closer(w * (1.0 + change / (1.0 + w)), x) if close else _omega(x)
        omega[i] = w
        if w <= 1.0:
            y = math.exp(z - w / q)
        elif linear:
            y = w * factor / kappa[stride * i]
        else:
            y = math.exp((math.log(w) - k) / q)
        t[i] = y
        a = y / (1.0 + w)
        total += y
        a0 += a
        a1 += a * w
        a2 += a * w * w
        energy += y * w
    return total, a0, a1, a2, energy


class _Smoothed:
    """The equations of one (u, β), for all or for every s-th entry, scaled to a unit mass.

    `mass` is the share of the simplex that the entries carry: 1 for all of them.
    """

    def __init__(self, u: Vector, kappa: Vector, q: float, beta: float, mass: float) -> None:
        self.u, self.kappa, self.q, self.beta, self.mass = u, kappa, q, beta, mass
        self.logk = np.log(kappa)
        logs = -self.logk / q
        top = float(logs.max())
        self.log_flat = top + math.log(float(np.exp(logs - top).sum()) * (u.size / kappa.size))
        self.log_flat -= math.log(mass)
        """The flattest t is e^−log_flat κ^{−1/q}: there κ t^q is the same for all entries."""
        self._flattest = float(logs.min()) - self.log_flat, top - self.log_flat
        self.t, self._omega = np.empty(u.size), np.empty(u.size)
        self._last = math.inf
        low = float(u.min())
        with np.errstate(under="ignore"):
            self.g = low - beta * math.log(float(np.exp((low - u) / beta).sum()) / mass)
        self.sums = (0.0,) * 5
        self._shift = math.nan

    def normalise(self, log_mu: float) -> None:
        """Find g with Σt = mass(1 ± 1e-9) at this μ; leaves t and the sums of the last pass."""
        shift = log_mu + math.log(abs(self.q)) - math.log(self.beta)
        if math.isfinite(self._shift) and self.sums[1] > 0.0:
            # Along the path of normalised t: dg = β (Σ aω / Σ a) dlog μ / q.
            step = self.beta * self.sums[2] / self.sums[1] * (shift - self._shift) / self.q
            self.g += step if math.isfinite(step) else 0.0
        self._shift = shift

        def excess(g: float) -> tuple[float, float]:
            x = self.q * g / self.beta + shift
            change, self._last = x - self._last, x
            arrays = (self.t, self._omega, change)
            self.sums = _pass(self.u, self.kappa, self.logk, g, shift, self.beta, self.q, *arrays)
            total, slope = self.sums[0], self.sums[1] / self.beta
            if total <= 0.0:
                return math.inf, math.nan
            if not math.isfinite(total):
                return -math.inf, math.nan
            return math.log(self.mass / total), -slope / total

        log_power = log_mu - self.q * self.log_flat  # the power term at the flattest t
        power = math.exp(min(log_power, 600.0))
        reach = max(self.beta, power)
        lower, upper = -math.inf, math.inf
        if log_power <= 600.0:
            lower, upper = self._between(power, 1e-15 * (10.0 + abs(log_mu) + abs(log_power)))
        self.g = decreasing_root(excess, self.g, reach, 1e-9, lower, upper)

    def _between(self, power: float, error: float) -> tuple[float, float]:
        """Return bounds of g: some entry of t is as large as that of the flattest t, of the same
        mass, and some entry is as small. `error` is the relative one of `power`."""
        power = math.copysign(power, self.q)
        low, high = (self.beta * entry for entry in self._flattest)
        lower, upper = float(self.u.min()) + power + low, float(self.u.max()) + power + high
        slack = error * (abs(lower) + abs(upper) + abs(power) - low)
        return lower - slack, upper + slack

    def distribution(self) -> Vector:
        """Return t at the g where it sums to one, to second order from the last pass."""
        total, a0, *_ = self.sums
        step = (self.mass - total) / a0
        return self.t * (1.0 + step / (1.0 + self._omega))

    def log_energy(self, log_mu: float) -> tuple[float, float]:
        """Return log |Σ κ t^{q+1}| and its derivative in log μ along the normalised path.

        κ t^q = (β / (|q| μ)) ω, and d/dμ of Σ κ φ(t) is −Σ (κt^q)² a/β + (Σ κt^q a/β)² / Σ a/β.
        """
        total, a0, a1, a2, energy = self.sums
        if energy < 1e-290:  # ω vanishes where log ω does not
            return self._tiny_energy(), math.nan
        energy += (self.q + 1.0) * a1 * (self.mass - total) / a0  # where Σt is the mass
        scale = math.log(self.beta) - math.log(abs(self.q)) - log_mu
        variance = max(0.0, a2 - a1 * a1 / a0)
        sign = 1.0 if self.q > 0.0 else -1.0
        # dE/dlogμ = −μ (β/(|q|μ))² variance/β, E = sign/(q+1) (β/(|q|μ)) energy, in logs:
        return math.log(energy) + scale, -sign * (self.q + 1.0) / abs(self.q) * variance / energy

    def _tiny_energy(self) -> float:
        with np.errstate(divide="ignore"):
            terms = self.logk + (self.q + 1.0) * np.log(self.t)
        top = float(terms.max())
        return top + math.log(float(np.exp(terms - top).sum()))


def _equations(
    u: Vector, kappa: Vector, q: float, beta: float, solve: Callable[[_Smoothed, float], float]
) -> Vector:
    """Solve for (g, μ), on a sample first where there are many entries; return t / Σt."""
    beta = positive("beta", beta)
    stride = u.size // _SAMPLE
    log_mu, g = math.nan, math.nan
    if stride >= 8:
        part = kappa if kappa.size == 1 else np.ascontiguousarray(kappa[::stride])
        sample = np.ascontiguousarray(u[::stride])
        rough = _Smoothed(sample, part, q, beta, sample.size / u.size)
        log_mu = solve(rough, math.nan)
        g = rough.g
    full = _Smoothed(u, kappa, q, beta, 1.0)
    if math.isfinite(g):
        full.g = g
    solve(full, log_mu)
    d = full.distribution()
    return d / d.sum()


def power_penalty(u: Vector, beta: float, kappa: Vector, q: float, mu: float) -> Vector:
    """Return the d in the simplex that minimises <d, u> + μ Σ κ_i φ(d_i) + β Σ d_i log d_i.

    Parameters
    ----------
    u : array of shape (m,)
        Margins, finite.
    beta : float
        Entropic smoothing, > 0.
    kappa : array of shape (m,) or (1,)
        Positive factors, or one for all.
    q : float
        Exponent of φ', > −1 and not 0.
    mu : float
        Weight, > 0.
    """
    log_mu = math.log(mu)

    def solve(equations: _Smoothed, _: float) -> float:
        equations.normalise(log_mu)
        return log_mu

    return _equations(u, kappa, q, beta, solve)


def power_ball(u: Vector, beta: float, kappa: Vector, q: float, bound: float) -> Vector:
    """Return the d in the simplex of bounded energy that minimises <d, u> + β Σ d_i log d_i.

    The bound is Σ κ_i d_i^{q+1} <= e^bound for q > 0, >= e^bound for q < 0; some d must meet it
    strictly. See `power_penalty` for the other parameters.
    """

    def miss(equations: _Smoothed, log_mu: float) -> tuple[float, float]:
        equations.normalise(log_mu)
        value, slope = equations.log_energy(log_mu)
        sign = 1.0 if q > 0.0 else -1.0
        # A sample carries its share of the sum, at entries of the same size as in the whole.
        return sign * (value - bound - math.log(equations.mass)), sign * slope

    free = _softmin(u, positive("beta", beta))
    if _within(free, kappa, q, bound):
        return free

    def solve(equations: _Smoothed, start: float) -> float:
        if math.isnan(start):
            spread = float(equations.u.max() - equations.u.min())
            # Where the power term at the flattest d is as large as what it has to balance.
            start = math.log(spread + beta) + q * equations.log_flat
        return decreasing_root(lambda x: miss(equations, x), start, 2.0, 1e-13)

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
            equations.normalise(log_mu)
            value, slope = equations.log_energy(log_mu)
            value -= math.log(equations.mass)
            return math.log(c) - log_mu - q / p * value, -1.0 - q / p * slope

        low, high = math.log(c) - q * large - 1e-9, math.log(c) - q * small + 1e-9
        start = 0.5 * (low + high) if math.isnan(start) else start
        return decreasing_root(miss, start, 1.0, 1e-13, low, high)

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
