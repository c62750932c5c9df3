"""Mixtures of soft margins: spectral risk measures of the losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT, float_up, sum_bounds, up
from relaxboost.relaxations.base import Relaxation, Traits, as_margins, onto_simplex
from relaxboost.relaxations.bounds import Bounds, Witness
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.exact_points import within_caps
from relaxboost.relaxations.linear import ZERO, ExactForm
from relaxboost.relaxations.vectors import enclose_vector, exact_vector, spell_vector


@njit()
def _pooled(u: Vector, s: Vector, beta: float) -> Vector:
    """Return the minimiser of <d, u> + β Σ d log d among the d majorised by s, for increasing u.

    Neighbours are pooled into blocks: a block of mass S = Σ s has d = S exp(−(u − r)/β) / T, with r
    its least margin and T = Σ exp(−(u − r)/β) >= 1. Two blocks are pooled while log(T/S) − r/β
    would increase from the one to the next.
    """
    m = u.shape[0]
    first = np.empty(m, np.int64)
    low, size, mass = np.empty(m), np.empty(m), np.empty(m)
    n = 0
    for i in range(m):
        first[n], low[n], size[n], mass[n] = i, u[i], 1.0, s[i]
        n += 1
        while n > 1:
            apart = (low[n - 1] - low[n - 2]) / beta
            if mass[n - 1] > 0.0:
                here = math.log(size[n - 1]) - math.log(mass[n - 1])
                if apart + math.log(size[n - 2]) - math.log(mass[n - 2]) >= here:
                    break
            n -= 1
            size[n - 1] += math.exp(-apart) * size[n]
            mass[n - 1] += mass[n]
    d = np.empty(m)
    for b in range(n):
        end = first[b + 1] if b + 1 < n else m
        for i in range(first[b], end):
            d[i] = mass[b] / size[b] * math.exp(-(u[i] - low[b]) / beta)
    return d


@dataclass(frozen=True)
class SpectralRisk(Relaxation, Bounds, Description):
    """A mixture of soft margins, F(u) = Σ p_l AvgMin_{k_l}(u): a spectral risk of the losses −u.

    With the margins in increasing order F(u) = Σ s_j u_(j), where the spectrum
    s_j = φ(j) − φ(j − 1) of φ(j) = Σ p_l min(1, j/k_l) does not increase. With one k the game is
    that of `Capped(k)`.

    f is the indicator of |d| <= Σ x_l with 0 <= x_l <= p_l/k_l and 1ᵀx_l <= p_l. These are the d
    whose j largest entries sum to at most φ(j) in size, for every j: both sets are closed, convex
    and depend on |d| only, and f*(θ) = Σ (p_l/k_l) · (the k_l largest |θ_i|, the last one in part)
    = Σ s_j |θ|_(j) is the support function of both, by the greedy algorithm for the second. It is
    smaller than the one cap Σ p_l/k_l that the parts `Capped(k_l)` have together.

    Parameters
    ----------
    ks : sequence of int, float or Fraction
        1 <= k_l <= m, kept exactly.
    weights : sequence of int, float or Fraction
        p_l >= 0, one for each k; they sum to one within 1e-9 and are divided by their exact sum.

    Raises
    ------
    InputError
        If the two differ in length, a weight is negative, the sum is not one, or a k is out of
        range (k > m when the game is declared).

    References
    ----------
    Acerbi (2002), Spectral measures of risk; Shalev-Shwartz & Singer (2009), Sec. 4.1, for one k;
    Lim & Wright (2016), Efficient Bregman projections onto the permutahedron.
    """

    family = "relaxboost.SpectralRisk"

    ks: Any
    weights: Any

    def __post_init__(self) -> None:
        ks = exact_vector("SpectralRisk", "ks", self.ks)
        weights = exact_vector("SpectralRisk", "weights", self.weights)
        if len(ks) != len(weights):
            raise InputError(
                f"SpectralRisk needs one weight for each k, got {len(ks)} ks and {len(weights)} "
                "weights"
            )
        if min(ks) < 1:
            raise InputError(f"SpectralRisk needs ks >= 1, got {float(min(ks)):g}")
        if min(weights) < 0:
            raise InputError(f"SpectralRisk needs weights >= 0, got {float(min(weights)):g}")
        total = sum(weights, ZERO)
        if abs(total - 1) > Fraction(1, 10**9):
            raise InputError(
                f"SpectralRisk needs weights that sum to one, and these sum to {float(total):.12g}"
            )
        object.__setattr__(self, "ks", ks)
        object.__setattr__(self, "weights", weights)

    def __repr__(self) -> str:
        return f"SpectralRisk({spell_vector(self.ks)}, {spell_vector(self.weights)})"

    def resolve(self, m: int) -> SpectralRisk:
        """Return itself, if no k exceeds m."""
        if max(self.ks) > m:
            raise InputError(
                f"{self!r} needs 1 <= k <= m for every k, and this game has m = {m} examples"
            )
        return self

    @property
    def _mixture(self) -> list[tuple[Fraction, Fraction]]:
        """The pairs (k, p) with p > 0, Σ p = 1."""
        total = sum(self.weights, ZERO)
        return [(k, p / total) for k, p in zip(self.ks, self.weights, strict=True) if p]

    @lru_cache(maxsize=64)  # noqa: B019  # every F asks for it, and it is short
    def _spectrum(self, m: int) -> list[tuple[Fraction, int]]:
        """Return s_1 >= ... >= s_m as runs (value, length)."""
        ends = {math.floor(k) for k, _ in self._mixture} | {math.ceil(k) for k, _ in self._mixture}
        stops = [*sorted(j for j in ends if j < m), m]
        return [
            (self._bound(stop) - self._bound(stop - 1), stop - start)
            for start, stop in zip([0, *stops], stops, strict=False)
        ]

    def _bound(self, j: int) -> Fraction:
        """Return φ(j)."""
        return sum((p * min(Fraction(1), j / k) for k, p in self._mixture), ZERO)

    def _enclosed(self, m: int) -> Interval:
        """Enclose the spectrum, length m."""
        values, counts = zip(*self._spectrum(m), strict=True)
        runs = enclose_vector(values)
        return Interval(np.repeat(runs.lower, counts), np.repeat(runs.upper, counts))

    def _near(self, m: int) -> Vector:
        """Return the spectrum in doubles."""
        values, counts = zip(*self._spectrum(m), strict=True)
        return np.repeat([float(x) for x in values], counts)

    @property
    def traits(self) -> Traits:
        return Traits(
            polyhedral=True, monotone=True, symmetric=True, zero_minimum=True, zero_in_core=True
        )

    def penalty(self, d: Vector) -> float:
        """Return 0 if no j largest entries exceed φ(j) by more than their roundings, else inf."""
        m = len(d)
        sums, bound = np.cumsum(np.sort(np.abs(d))[::-1]), np.cumsum(self._near(m))
        return 0.0 if (sums <= bound * (1.0 + (8.0 + 2.0 * m) * UNIT)).all() else math.inf

    def conjugate(self, theta: Vector) -> float:
        """Return Σ s_j |θ|_(j), the largest first."""
        return math.fsum((np.sort(np.abs(theta))[::-1] * self._near(len(theta))).tolist())

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and its minimiser; among ties the lowest index gets weight first."""
        u = as_margins(u, self)
        d = np.empty(u.size)
        d[np.argsort(u, kind="stable")] = self.resolve(u.size)._near(u.size)
        return math.fsum((d * u).tolist()), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + β Σ d log d: one sort, and one pass that pools."""
        order, d = np.argsort(u, kind="stable"), np.empty(u.size)
        d[order] = _pooled(u[order], self.resolve(u.size)._near(u.size), beta)
        return d

    def witness(self, u: Vector) -> Witness:
        """Return γ, the ceil(k)-th smallest margin for the largest k."""
        u = as_margins(u, self)
        rank = math.ceil(max(k for k, _ in self.resolve(u.size)._mixture)) - 1
        return Witness(float(np.partition(u, rank)[rank]))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − f*([γ − u]₊), rounded downwards; valid for every γ."""
        if not math.isfinite(witness.gamma):
            return -math.inf
        u = np.sort(np.asarray(u, dtype=np.float64))
        with np.errstate(over="ignore", invalid="ignore"):
            hinge = (Interval(witness.gamma) - Interval(u)).positive()
            below = (Interval(witness.gamma) - (hinge * self._enclosed(u.size)).sum()).down
        return -math.inf if math.isnan(below) else below

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to |d| <= Σ x_l, 0 <= x_l <= p_l/k_l, 1ᵀx_l <= p_l."""
        parts = [
            (float(p), float(p / k), cp.Variable(d.shape[0], nonneg=True)) for k, p in self._mixture
        ]
        size = d if d.is_nonneg() else cp.abs(d)
        limits = [c for p, cap, x in parts for c in (x <= cap, cp.sum(x) <= p)]
        return 0.0, [size <= cp.sum([x for *_, x in parts]), *limits]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return Σ p_l t_l + (p_l/k_l) Σ [|x| − t_l]₊, to be minimised over t >= 0."""
        t, total = cp.Variable(len(self._mixture), nonneg=True), 0.0
        for level, (k, p) in zip(t, self._mixture, strict=True):
            total += float(p) * level + float(p / k) * cp.sum(cp.pos(cp.abs(x) - level))
        return total, []

    def exact_form(self, m: int) -> ExactForm:
        """Return d <= Σ x_l, x_l <= p_l/k_l and 1ᵀx_l <= p_l, without cost; z is x_1, x_2, ..."""
        parts, one = self.resolve(m)._mixture, Fraction(1)
        starts = [m * (j + 1) for j in range(len(parts))]
        free = ExactForm.free(m, m * len(parts))
        minus, caps = -one, [cap for k, p in parts for cap in [p / k] * m]
        return free._replace(
            upper=[*free.upper[:m], *caps],
            rows=[{i: one} | {start + i: minus for start in starts} for i in range(m)]
            + [dict.fromkeys(range(start, start + m), one) for start in starts],
            row_lower=[None] * (m + len(parts)),
            row_upper=[*[ZERO] * m, *(p for _, p in parts)],
        )

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]]:
        """Return γ and −[γ − u]₊ for the rows of d, −t_l for those of x_l.

        t_l is the ceil(k_l)-th largest of [γ − u]₊, at which p_l t_l + (p_l/k_l) Σ [· − t_l]₊ is
        least.
        """
        ranks = [math.ceil(k) - 1 for k, _ in self._mixture]
        ordered = sorted(u)
        gamma = ordered[max(ranks)]
        return gamma, [-max(gamma - x, ZERO) for x in u] + [ordered[r] - gamma for r in ranks]

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction]:
        """Return x_1, x_2, ... with Σ x_l = d, for a d of the simplex where f is 0.

        The largest entries are served first. With r_l = (what is left of p_l) / (p_l/k_l), each
        entry takes at most one unit of each r_l, of the largest first and down to a common level,
        which leaves the most for all that follow.
        """
        caps = [p / k for k, p in self._mixture]
        left = [k for k, _ in self._mixture]
        parts = [[ZERO] * len(d) for _ in caps]
        for i in sorted(range(len(d)), key=d.__getitem__, reverse=True):
            level = _level(left, caps, d[i])
            for part, cap in enumerate(caps):
                kept = max(left[part] - 1, min(left[part], level), ZERO)
                parts[part][i], left[part] = cap * (left[part] - kept), kept
        return [x for part in parts for x in part]

    def exact_point(self, d: Sequence[float]) -> list[Fraction]:
        """Return `d` in fractions, its largest entries cut so that they sum to φ(j) at most.

        Sums of the largest entries and φ are both concave in j, and so is the smaller of the two.
        """
        point, m = within_caps(d, []), len(d)
        order = sorted(range(m), key=point.__getitem__, reverse=True)
        sums = accumulate(point[i] for i in order)
        bounds = accumulate(s for s, count in self._spectrum(m) for _ in range(count))
        before = ZERO
        for i, both in zip(order, zip(sums, bounds, strict=True), strict=True):
            point[i], before = min(both) - before, min(both)
        return point

    def entropy_range(self, m: int) -> float:
        """Return log m + Σ s log s: Σ d log d is Schur-convex, and d is majorised by s."""
        s = self._near(m)
        s = s[s > 0.0]
        return max(0.0, math.log(m) + math.fsum((s * np.log(s)).tolist()))

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped, normalised, and its largest entries cut as in `exact_point`."""
        d = onto_simplex(d, repr(self))
        if math.isfinite(self.penalty(d)):
            return d
        order = np.argsort(-d, kind="stable")
        sums = np.minimum(np.cumsum(d[order]), np.cumsum(self._near(d.size)))
        d[order] = np.maximum(np.diff(sums, prepend=0.0), 0.0)
        return d

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (0, distance) to a point on the way from d / Σd to the uniform distribution.

        A share t of the way is enough where t (S_j − j/m) >= S_j − φ(j) for every j, with S_j the
        sum of the j largest entries.
        """
        m = d.size
        ordered = np.sort(d)[::-1]
        bound = np.cumsum(self._near(m)) * (total[0] * (1.0 - (8.0 + 4.0 * m) * UNIT))
        if (np.cumsum(ordered)[:-1] <= bound[:-1]).all():
            return 0.0, 0.0
        exact = [Fraction(x) for x in ordered.tolist()]
        whole, share = sum(exact, ZERO), ZERO
        allowed = accumulate(s for s, count in self._spectrum(m) for _ in range(count))
        for j, (part, most) in enumerate(zip(accumulate(exact), allowed, strict=True), 1):
            if part > most * whole:
                share = max(share, (part - most * whole) / (part - Fraction(j, m) * whole))
        apart = up(sum_bounds(np.abs(d / total[0] - 1.0 / m))[1] + 16.0 * UNIT)
        return 0.0, up(float_up(share) * apart)


def _level(left: list[Fraction], caps: list[Fraction], need: Fraction) -> Fraction:
    """Return τ with Σ cap · (what of `left` is above τ, at most 1) = `need`, or 0 if none has."""
    ends = sorted({*left, *(max(x - 1, ZERO) for x in left), ZERO}, reverse=True)
    taken = ZERO
    for high, low in pairwise(ends):
        open_caps = (c for x, c in zip(left, caps, strict=True) if x >= high and x - 1 <= low)
        rate = sum(open_caps, ZERO)
        if rate and taken + rate * (high - low) >= need:
            return high - (need - taken) / rate
        taken += rate * (high - low)
    return ZERO
