"""Norm penalties within many groups at once, which group norms need.

In each group p minimises <p, u> + c ‖p‖ + β Σ p log p over the simplex. As in `power`, with
q = (exponent of the norm) − 1, its entries solve μ p^q + β log p = g − u_i with Σ p = 1 and
μ = c N^{−q} at the norm N. Then the minimum itself is g, since Σ p (μ p^q) = c N. Newton's method
solves both equations at once; where it fails, nested bracketed roots.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.roots import decreasing_root
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.wright import add, entries, omegas

_CLOSE = 1e-7
"""Steps of log p that may be taken to second order only."""
LEAST_BETA = 2.0**-40
"""The least β for margins with a spread of one. Log p has the roundings of the margins divided by
β, which then are below 2^-12; at 2^-46 Newton's method fails for high norms."""


@njit(error_model="numpy")
def _evaluate(
    u: Vector,
    g: float,
    log_mu: float,
    last: float,
    problem: tuple[float, float, float],
    work: Vector,
    sums: Vector,
) -> tuple[float, float, float]:
    """Fill the rows y, ω, t of `work` and the sums of `wright.sweep`.

    Returns q g/β + log μ, and both misses: log Σt, log (c N^{−q}/μ).
    """
    log_c, q, beta = problem
    z, k, y, w, t = work[0], work[1], work[2], work[3], work[4]
    shift = log_mu + math.log(q / beta)
    x = q * g / beta + shift
    change = abs(x - last)
    for i in range(u.shape[0]):
        z[i] = min(max((g - u[i]) / beta, -1e300), 1e300)
        k[i] = shift
    cold = not change <= 0.05
    omegas(z, k, q, cold, 3 if cold else 1 if change <= 1e-5 else 2, y, w)
    entries(z, k, q, y, w, t)
    sums[:] = 0.0
    add(t, w, sums)
    log_energy = math.log(sums[4]) - shift
    return x, math.log(sums[0]), log_c - log_mu - q / (q + 1.0) * log_energy


@njit(error_model="numpy")
def _newton(sums: Vector, q: float, miss: float, other: float) -> tuple[float, float]:
    """Return the steps of (g/β, log μ) at which the linearised misses vanish."""
    total, a0, a1, a2, energy = sums[0], sums[1], sums[2], sums[3], sums[4]
    gg, gm = a0 / total, -a1 / (q * total)
    mg, mm = -q * a1 / energy, a2 / energy - 1.0
    det = gg * mm - gm * mg
    return (gm * other - mm * miss) / det, (mg * miss - gg * other) / det


@njit(error_model="numpy")
def _bracketed(
    u: Vector, log_mu: float, problem: tuple[float, float, float], work: Vector, sums: Vector
) -> tuple[float, float]:
    """Return (g, log μ) from nested roots, each kept in a bracket that is halved if need be."""
    log_c, q, beta = problem
    size = math.log(u.shape[0])
    low, high = log_c - 1e-9, log_c + q * q / (q + 1.0) * size + 1e-9
    log_mu = min(max(log_mu, low), high)
    smallest, largest, g = u.min(), u.max(), math.nan
    for _ in range(100):
        power = math.exp(min(log_mu - q * size, 700.0))
        slack = 1e-14 * (abs(smallest) + abs(largest) + power + beta * size)
        left, right = smallest + power - beta * size - slack, largest + power - beta * size + slack
        g = g if left < g < right else left
        other = 0.0
        for _ in range(200):
            _, miss, other = _evaluate(u, g, log_mu, math.inf, problem, work, sums)
            if abs(miss) <= 1e-10:
                break
            left, right = (g, right) if miss < 0.0 else (left, g)
            following = g - beta * miss * sums[0] / sums[1]
            # Far off the tangent may be of no use: a sum of few entries that are nearly powers.
            following = following if left < following < right else 0.5 * (left + right)
            if following == g:
                break
            g = following
        low, high = (log_mu, high) if other > 0.0 else (low, log_mu)
        a0, a1, a2, energy = sums[1], sums[2], sums[3], sums[4]
        step = other / (1.0 - a2 / energy + a1 * a1 / (a0 * energy))
        if abs(other) <= 1e-9 or high - low <= 1e-15 * abs(low):
            break
        log_mu = log_mu + step if low < log_mu + step < high else 0.5 * (low + high)
    return g, log_mu


@njit(error_model="numpy")
def _group(
    u: Vector, problem: tuple[float, float, float], state: Vector, work: Vector, p: Vector
) -> None:
    """Solve one group from `state` = (g, log μ, X of `p`, their derivatives in log c)."""
    log_c, q, beta = problem
    sums = np.empty(5)
    low = log_c - 1e-9
    high = log_c + q * q / (q + 1.0) * math.log(u.shape[0]) + 1e-9
    g, log_mu, last = state[0], min(max(state[1], low), high), state[2]
    step, onwards = math.inf, math.inf
    for attempt in range(14):
        if attempt == 13:
            g, log_mu = _bracketed(u, log_mu, problem, work, sums)
            last = math.inf
        last, miss, other = _evaluate(u, g, log_mu, last, problem, work, sums)
        step, onwards = _newton(sums, q, miss, other)
        if abs(step) + abs(onwards) <= _CLOSE or attempt == 13:
            break
        if not (abs(step) <= 1e3 and abs(onwards) <= 1e3):
            log_mu = 0.5 * (low + high)
            g, log_mu = _bracketed(u, log_mu, problem, work, sums)
            last = math.inf
            continue
        g += beta * step
        following = log_mu + onwards
        log_mu = min(max(following, 0.5 * (low + log_mu)), 0.5 * (high + log_mu))
    state[0], state[1], state[2] = g + beta * step, log_mu + onwards, last
    state[3], state[4] = _newton(sums, q, 0.0, 1.0)
    state[3] *= beta
    w, t = work[3], work[4]
    total = 0.0
    for i in range(u.shape[0]):
        p[i] = t[i] * (1.0 + (step - w[i] * onwards / q) / (1.0 + w[i]))
        total += p[i]
    for i in range(u.shape[0]):
        p[i] /= total


@njit(error_model="numpy")
def norm_penalties(
    u: Vector,
    starts: NDArray[np.int64],
    log_c: Vector,
    q: float,
    beta: float,
    states: Vector,
    y: Vector,
    p: Vector,
) -> None:
    """Fill p for all groups, u[starts[g] : starts[g + 1]] each, and the rows of `states`.

    A row holds g, log μ, what the next call starts from besides (inf at first), and the
    derivatives of g and log μ in log c; `y` is kept for the next call, too.
    """
    most = 0
    for r in range(starts.shape[0] - 1):
        most = max(most, starts[r + 1] - starts[r])
    buffers = np.empty(5 * most)
    for r in range(starts.shape[0] - 1):
        part = slice(starts[r], starts[r + 1])
        n = starts[r + 1] - starts[r]
        work = buffers[: 5 * n].reshape(5, n)
        if n == 1:
            p[part] = 1.0
            c = math.exp(log_c[r])
            states[r, 0], states[r, 1] = u[starts[r]] + c, log_c[r]
            states[r, 3], states[r, 4] = c, 1.0
            continue
        if states[r, 2] == math.inf:
            # Groups are often alike.
            states[r, 0] = states[r - 1, 0] if r > 0 else math.nan
            states[r, 1] = states[r - 1, 1] + log_c[r] - log_c[r - 1] if r > 0 else log_c[r]
        work[2] = y[part]
        _group(u[part], (log_c[r], q, beta), states[r], work, p[part])
        y[part] = work[2]


@njit(error_model="numpy")
def group_norms(d: Vector, order: NDArray[np.int64], starts: NDArray[np.int64], p: float) -> Vector:
    """Return ‖d_g‖_p of each group, scaled so that nothing over- or underflows."""
    norms = np.zeros(starts.shape[0] - 1)
    for g in range(norms.shape[0]):
        largest = 0.0
        for r in range(starts[g], starts[g + 1]):
            largest = max(largest, abs(d[order[r]]))
        total = 0.0
        for r in range(starts[g], starts[g + 1] if largest > 0.0 else starts[g]):
            x = abs(d[order[r]]) / largest
            total += x * x if p == 2.0 else math.pow(x, p)
        norms[g] = largest * math.pow(total, 1.0 / p)
    return norms


class Spreading:
    """The minimiser d of <d, u> + λ Σ a_g ‖d_g‖ + β Σ d log d along a sequence of λ."""

    def __init__(
        self,
        u: Vector,
        beta: float,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        a: Vector,
        q: float,
    ) -> None:
        self._order, self._starts, self._a, self._q, self._beta = order, starts, a, q, beta
        self._u = u[order] - u.min()
        self._y, self._p = np.zeros(u.size), np.empty(u.size)
        self._states = np.full((a.size, 5), np.inf)
        self._shares, self._log_c = np.empty(0), np.empty(0)
        self._last = math.nan

    def move(self, log_weight: float) -> tuple[float, float]:
        """Solve for the λ whose logarithm this is; return log Σ a_g ‖d_g‖ and its slope."""
        states = self._states
        if math.isfinite(self._last):
            states[:, :2] += states[:, 3:] * (log_weight - self._last)
        self._last = log_weight
        self._log_c = log_weight + np.log(self._a)
        given = self._u, self._starts, self._log_c, self._q, self._beta, states
        norm_penalties(*given, self._y, self._p)
        return self._share(0.0)

    def settle(self, log_size: float) -> None:
        """Divide d among the groups again so that Σ a_g ‖d_g‖ is e^log_size.

        Where groups tie on the scale of β, the log λ at which it is may lie between two doubles.
        What is missing is small, and so a number with digits of its own.
        """

        def miss(x: float) -> tuple[float, float]:
            size, slope = self._share(x)
            return size - log_size, slope

        decreasing_root(miss, 0.0, 1e-17, 1e-14)

    def _share(self, onwards: float) -> tuple[float, float]:
        """Set the groups' shares for λ e^onwards; return log Σ a_g ‖d_g‖ and its slope."""
        states = self._states
        g = int(np.argmin(states[:, 0]))
        values = states[:, 0] - states[g, 0] + onwards * (states[:, 3] - states[g, 3])
        self._shares = capped_distribution(values, self._beta, 1.0)
        # d log N = (1 − d log μ)/q, and V_g has the slope a_g N_g in λ.
        slopes = (1.0 - states[:, 4]) / self._q
        norms = np.exp((self._log_c - states[:, 1]) / self._q + onwards * slopes)
        parts = self._shares * self._a * norms
        size = float(parts.sum())
        slopes -= (states[:, 3] - float(self._shares @ states[:, 3])) / self._beta
        return math.log(size), float(parts @ slopes) / size

    def distribution(self) -> Vector:
        """Return d."""
        d = np.empty(self._u.size)
        d[self._order] = np.repeat(self._shares, np.diff(self._starts)) * self._p
        return d / d.sum()
