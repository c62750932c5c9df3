"""Distributions under norm penalties, computed for many groups at once.

Within each group the distribution p minimises <p, u> + c ‖p‖ + β Σ p log p over the simplex. Let N
be the norm ‖p‖, and q the exponent of this norm minus one. As in `power`, the entries solve μ p_i^q
+ β log p_i = g − u_i with Σ p = 1 and μ = c N^{−q}. The minimum is g, since Σ p_i (μ p_i^q) = c N.
Newton's method solves both equations for (g, log μ) at once. If it fails, nested bracketed root
searches solve them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.roots import decreasing_root
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.wright import add, entries, omegas

MIN_BETA_PER_SPREAD = 2.0**-40
"""The minimum entropy weight β of group norms, divided by the spread of the margins.

The error of log p is the rounding error of the margins divided by β, at most 2^-12 with this
minimum. With a minimum of 2^-46, Newton's method fails for large exponents of the norm.
"""


class Grouping(NamedTuple):
    """The norm Σ_g a_g ‖d_g‖ over disjoint groups of examples."""

    order: NDArray[np.int64]
    """The indices of the examples, sorted by group."""
    starts: NDArray[np.int64]
    """The start of each group in `order`, followed by the number of examples."""
    a: Vector
    """The factors a_g of the groups."""
    q: float
    """The exponent of the norm within a group, minus one."""


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
    """Compute the weights t of one group from the multipliers g and μ, and return three numbers.

    The first is x = q g/β + log(μ q/β), the argument `last` of the next call. The others are the
    errors log Σt of Σt = 1 and log(c N^{−q}/μ) of μ = c N^{−q} for the norm N of t. `problem` is
    (log c, q, β). The rows 2, 3 and 4 of `work` receive log ω, ω and t, where ω are the values of
    the Wright function. `sums` receives the sums that `wright.add` computes.
    """
    log_c, q, beta = problem
    z = work[0]
    k = work[1]
    shift = log_mu + math.log(q / beta)
    x = q * g / beta + shift
    change = abs(x - last)
    for i in range(u.shape[0]):
        z[i] = min(max((g - u[i]) / beta, -1e300), 1e300)
        k[i] = shift
    # After a small change ω of the last call is a good start, and fewer steps are enough.
    cold = not change <= 0.05
    omegas(z, k, q, cold, 3 if cold else 1 if change <= 1e-5 else 2, work[2], work[3])
    entries(z, k, q, work[2], work[3], work[4])
    sums[:] = 0.0
    add(work[4], work[3], sums)
    log_energy = math.log(sums[4]) - shift
    return x, math.log(sums[0]), log_c - log_mu - q / (q + 1.0) * log_energy


@njit(error_model="numpy")
def _newton(sums: Vector, q: float, miss: float, other: float) -> tuple[float, float]:
    """Return the Newton step in g/β and log μ for one group.

    `miss` and `other` are the errors of the equations Σt = 1 and μ = c N^{−q}.
    """
    a1 = sums[2]
    energy = sums[4]
    # These are the derivatives of the errors in g/β and in log μ.
    gg = sums[1] / sums[0]
    gm = -a1 / (q * sums[0])
    mg = -q * a1 / energy
    mm = sums[3] / energy - 1.0
    det = gg * mm - gm * mg
    return (gm * other - mm * miss) / det, (mg * miss - gg * other) / det


@njit(error_model="numpy")
def _bracketed(
    u: Vector, log_mu: float, problem: tuple[float, float, float], work: Vector, sums: Vector
) -> tuple[float, float]:
    # If Newton's method fails, this is the fallback.
    log_c, q, beta = problem
    size = math.log(u.shape[0])
    # N lies between the norm of the uniform distribution and 1.
    low = log_c - 1e-9
    high = log_c + q * q / (q + 1.0) * size + 1e-9
    log_mu = min(max(log_mu, low), high)
    smallest = u.min()
    largest = u.max()
    g = math.nan
    for _ in range(100):
        # Some entry of p is at least 1/m, and some is at most 1/m, so g lies between these bounds.
        power = math.exp(min(log_mu - q * size, 700.0))
        slack = 1e-14 * (abs(smallest) + abs(largest) + power + beta * size)
        left = smallest + power - beta * size - slack
        right = largest + power - beta * size + slack
        g = g if left < g < right else left
        other = 0.0
        for _ in range(200):
            _, miss, other = _evaluate(u, g, log_mu, math.inf, problem, work, sums)
            if abs(miss) <= 1e-10:
                break
            left, right = (g, right) if miss < 0.0 else (left, g)
            following = g - beta * miss * sums[0] / sums[1]
            # Far from the root the tangent may leave the bracket, which is then halved.
            following = following if left < following < right else 0.5 * (left + right)
            if following == g:
                break
            g = following
        low, high = (log_mu, high) if other > 0.0 else (low, log_mu)
        # Newton's step for log μ along the path of normalised p.
        energy = sums[4]
        step = other / (1.0 - sums[3] / energy + sums[2] * sums[2] / (sums[1] * energy))
        if abs(other) <= 1e-9 or high - low <= 1e-15 * abs(low):
            break
        log_mu = log_mu + step if low < log_mu + step < high else 0.5 * (low + high)
    return g, log_mu


@njit(error_model="numpy")
def _group(
    u: Vector, problem: tuple[float, float, float], state: Vector, work: Vector, p: Vector
) -> None:
    """Compute the distribution p within one group of examples.

    `state` contains the five numbers that `norm_penalties` lists, from which Newton's method
    starts, and receives the solution.
    """
    log_c, q, beta = problem
    sums = np.empty(5)
    low = log_c - 1e-9
    high = log_c + q * q / (q + 1.0) * math.log(u.shape[0]) + 1e-9
    g = state[0]
    log_mu = min(max(state[1], low), high)
    last = state[2]
    step = math.inf
    onwards = math.inf
    for attempt in range(14):
        if attempt == 13:
            g, log_mu = _bracketed(u, log_mu, problem, work, sums)
            last = math.inf
        last, miss, other = _evaluate(u, g, log_mu, last, problem, work, sums)
        step, onwards = _newton(sums, q, miss, other)
        # The square of such a step is below the roundings, so the step needs no evaluation.
        if abs(step) + abs(onwards) <= 1e-7 or attempt == 13:
            break
        # Newton's method diverges, or the start was nan.
        if not (abs(step) <= 1e3 and abs(onwards) <= 1e3):
            log_mu = 0.5 * (low + high)
            g, log_mu = _bracketed(u, log_mu, problem, work, sums)
            last = math.inf
            continue
        # log μ goes at most half of the way to its bounds.
        g += beta * step
        following = log_mu + onwards
        log_mu = min(max(following, 0.5 * (low + log_mu)), 0.5 * (high + log_mu))
    state[0] = g + beta * step
    state[1] = log_mu + onwards
    state[2] = last
    state[3], state[4] = _newton(sums, q, 0.0, 1.0)
    state[3] *= beta
    # The last step changes p to second order, as in `power`.
    total = 0.0
    for i in range(u.shape[0]):
        w = work[3, i]
        p[i] = work[4, i] * (1.0 + (step - w * onwards / q) / (1.0 + w))
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
    """Write the minimising distribution within each group to `p`.

    Group r has the margins u[starts[r] : starts[r + 1]]. The arrays `states` and `y` contain the
    results of the previous call, from which Newton's method starts, and receive the new results.
    Row r of `states` contains five numbers about group r: the multipliers g and log μ, the number q
    g/β + log(μ q/β) at the last evaluation (inf before the first call), and the derivatives of g
    and of log μ in log c. `y` contains the logarithms of the values ω of the Wright function.
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
            # A group of one example has p = 1 and N = 1.
            p[part] = 1.0
            c = math.exp(log_c[r])
            states[r, 0] = u[starts[r]] + c
            states[r, 1] = log_c[r]
            states[r, 3] = c
            states[r, 4] = 1.0
            continue
        # The first start is the solution of the group before, because groups are often similar.
        if states[r, 2] == math.inf:
            states[r, 0] = states[r - 1, 0] if r > 0 else math.nan
            states[r, 1] = states[r - 1, 1] + log_c[r] - log_c[r - 1] if r > 0 else log_c[r]
        work[2] = y[part]
        _group(u[part], (log_c[r], q, beta), states[r], work, p[part])
        y[part] = work[2]


@njit(error_model="numpy")
def group_norms(d: Vector, order: NDArray[np.int64], starts: NDArray[np.int64], p: float) -> Vector:
    """Return the p-norm of `d` within each group."""
    # Entries are divided by the largest of their group.
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
    """The minimiser d of <d, u> + λ Σ a_g ‖d_g‖ + β Σ d log d, as a function of λ."""

    def __init__(self, u: Vector, beta: float, norm: Grouping) -> None:
        self._norm = norm
        self._beta = beta
        self._u = u[norm.order] - u.min()
        self._y = np.zeros(u.size)
        self._p = np.empty(u.size)
        self._states = np.full((norm.a.size, 5), np.inf)
        self._shares = np.empty(0)
        self._log_c = np.empty(0)
        self._last = math.nan

    def move(self, log_weight: float) -> tuple[float, float]:
        """Compute the minimiser for the penalty weight λ = e^log_weight.

        Return log Σ a_g ‖d_g‖ and its derivative in log λ.
        """
        states = self._states
        # The derivatives predict the next (g, log μ).
        if math.isfinite(self._last):
            states[:, :2] += states[:, 3:] * (log_weight - self._last)
        self._last = log_weight
        self._log_c = log_weight + np.log(self._norm.a)
        given = self._u, self._norm.starts, self._log_c, self._norm.q, self._beta, states
        norm_penalties(*given, self._y, self._p)
        return self._share(0.0)

    def settle(self, log_size: float) -> None:
        """Adjust the total weights of the groups so that Σ a_g ‖d_g‖ is e^log_size."""

        # If groups tie on the scale of β, the solution log λ may lie between two doubles. The small
        # change of log λ is a double of its own.
        def miss(x: float) -> tuple[float, float]:
            size, slope = self._share(x)
            return size - log_size, slope

        decreasing_root(miss, 0.0, 1e-17, 1e-14)

    def _share(self, onwards: float) -> tuple[float, float]:
        """Update the total weights of the groups as log λ changes by `onwards` after a `move`.

        Return log Σ a_g ‖d_g‖ and its derivative in log λ.
        """
        states = self._states
        g = int(np.argmin(states[:, 0]))
        values = states[:, 0] - states[g, 0] + onwards * (states[:, 3] - states[g, 3])
        self._shares = capped_distribution(values, self._beta, 1.0)
        # The derivative of log N is (1 − (log μ)')/q, and V_g has the derivative a_g N_g in λ.
        slopes = (1.0 - states[:, 4]) / self._norm.q
        norms = np.exp((self._log_c - states[:, 1]) / self._norm.q + onwards * slopes)
        parts = self._shares * self._norm.a * norms
        size = float(parts.sum())
        slopes -= (states[:, 3] - float(self._shares @ states[:, 3])) / self._beta
        return math.log(size), float(parts @ slopes) / size

    def distribution(self) -> Vector:
        """Return the minimiser of the last `move` or `settle`."""
        d = np.empty(self._u.size)
        d[self._norm.order] = np.repeat(self._shares, np.diff(self._norm.starts)) * self._p
        return d / d.sum()
