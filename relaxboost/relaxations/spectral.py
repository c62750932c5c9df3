"""Spectral risk measures: weighted means of the sorted margins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.digits import vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT, sum_bounds, up
from relaxboost.relaxations import spectra
from relaxboost.relaxations.base import Traits, as_margins, onto_simplex
from relaxboost.relaxations.bounds import Bounds, Witness
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.exact_points import Groups, within_caps
from relaxboost.relaxations.hard_margin import CAP_TRAITS
from relaxboost.relaxations.k_or_fraction import exact_between, exact_share
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.spectra import OfSpectrum
from relaxboost.relaxations.vectors import exact_vector, spell_vector


@njit()
def _pooled(u: Vector, s: Vector, beta: float) -> Vector:
    """Return the minimiser of <d, u> + β Σ d log d over the d majorised by the spectrum s.

    The margins u are in increasing order.
    """
    # The algorithm pools adjacent violators (Lim & Wright 2016). A block of neighbours has the mass
    # S = Σ s, the least margin r, and T = Σ exp(−(u − r)/β) >= 1. Its weights are
    # d = S exp(−(u − r)/β) / T.
    m = u.shape[0]
    first = np.empty(m, np.int64)
    low = np.empty(m)
    size = np.empty(m)
    mass = np.empty(m)
    n = 0
    for i in range(m):
        first[n] = i
        low[n] = u[i]
        size[n] = 1.0
        mass[n] = s[i]
        n += 1
        # d is optimal once log(T/S) − r/β does not increase from a block to the next one. A block
        # without mass is pooled as well, because its logarithm is infinite.
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


class _BoundsOfRisk(OfSpectrum, Bounds):
    def witness(self, u: Vector) -> Witness:
        # The best threshold γ is the largest margin with a positive weight.
        u = as_margins(u, self)
        rank = np.count_nonzero(self._spectrum(u.size).near) - 1
        return Witness(float(np.partition(u, rank)[rank]))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # γ − f*([γ − u]₊) is a lower bound on F(u) for every γ.
        if not math.isfinite(witness.gamma):
            return -math.inf
        u = np.sort(np.asarray(u, dtype=np.float64))
        # Margins near the largest double overflow, and the bound is then nan.
        with np.errstate(over="ignore", invalid="ignore"):
            hinge = (Interval(witness.gamma) - Interval(u)).positive()
            cost = (hinge * self._spectrum(u.size).enclosed).sum()
            below = (Interval(witness.gamma) - cost).down
        return -math.inf if math.isnan(below) else below

    def entropy_range(self, m: int) -> float:
        # The spectrum s majorises every feasible d, so that Σ d log d is at most Σ s log s.
        s = self._spectrum(m).near
        s = s[s > 0.0]
        return max(0.0, math.log(m) + math.fsum((s * np.log(s)).tolist()))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        m = d.size
        spectrum = self._spectrum(m)
        ordered = np.sort(d)[::-1]
        bound = spectrum.sums * (total[0] * (1.0 - (8.0 + 4.0 * m) * UNIT))
        if (np.cumsum(ordered)[:-1] <= bound[:-1]).all():
            return 0.0, 0.0
        # At a vertex of the domain the sums of doubles equal their bounds up to rounding errors, so
        # exact integers are compared.
        entries = spectra.integers([Fraction(x) for x in ordered.tolist()])
        whole = sum(entries)
        # Let S_j be the sum of the j largest entries. The share t of the way is enough if t (S_j −
        # j/m) >= S_j − φ(j) for every j.
        share = 0.0
        sums = zip(accumulate(entries), accumulate(spectrum.integers()), strict=True)
        for j, (part, most) in enumerate(sums, 1):
            over = part * spectrum.below - most * whole
            if over > 0:
                share = max(share, up(over * m / ((part * m - j * whole) * spectrum.below)))
        apart = up(sum_bounds(np.abs(d / total[0] - 1.0 / m))[1] + 16.0 * UNIT)
        return 0.0, up(share * apart)

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        # Within l1 distance r of d / Σd, the sum of the j largest entries is larger by at most r.
        m = d.size
        spectrum = self._spectrum(m)
        bound = spectrum.sums * (total[0] * (1.0 - (12.0 + 4.0 * m) * UNIT))
        sums = np.cumsum(np.sort(d)[::-1]) + up(distance * total[1])
        # From the last positive weight of the spectrum on, the bound is 1, which all sums satisfy.
        last = np.count_nonzero(spectrum.near) - 1
        return 0.0 if (sums[:last] <= bound[:last]).all() else math.inf


class _DescriptionOfRisk(OfSpectrum, Description):
    # If a risk is no linear program, certificates contain its spectrum.
    @property
    def is_exact(self) -> bool:
        # If f is no linear program, the checker of certificates sorts the margins exactly.
        return True

    def exact_form(self, m: int) -> ExactForm | None:
        # The constraints are d <= Σ x_l, x_l <= p_l/k_l and 1ᵀx_l <= p_l.
        # The result is None for a spectrum of many soft margins, which would have m² variables.
        if not self._is_program(m):
            return None
        parts = self._mixture(m)
        one = Fraction(1)
        starts = [m * (j + 1) for j in range(len(parts))]
        free = ExactForm.free(m, m * len(parts))
        caps = [cap for k, p in parts for cap in [p / k] * m]
        return free._replace(
            upper=[*free.upper[:m], *caps],
            # The first m rows bound the entries of d. The other rows bound the sums of the x_l.
            rows=[{i: one} | {start + i: -one for start in starts} for i in range(m)]
            + [dict.fromkeys(range(start, start + m), one) for start in starts],
            row_lower=[None] * (m + len(parts)),
            row_upper=[*[Fraction(0)] * m, *(p for _, p in parts)],
        )

    def cone_form(self, m: int) -> ConeForm | None:
        return super().cone_form(m) if self._is_program(m) else None

    def describe(self, m: int) -> dict[str, Any]:
        weights = {"kind": "spectral", "spectrum": vector(self._spectrum(m).fractions())}
        return super().describe(m) or weights

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]]:
        # t_l is the ceil(k_l)-th largest entry of x = [γ − u]₊. At this t the dual cost
        # p_l t + (p_l/k_l) Σ [x − t]₊ is least.
        ranks = [math.ceil(k) - 1 for k, _ in self._mixture(len(u))]
        ordered = sorted(u)
        gamma = ordered[max(ranks)]
        return gamma, [-max(gamma - x, Fraction(0)) for x in u] + [
            ordered[r] - gamma for r in ranks
        ]

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction]:
        # Let r_l be the rest of p_l in units of the cap p_l/k_l. The entries of d are divided in
        # decreasing order. Each takes at most one unit from each r_l, such that the largest r_l
        # fall to a common level. This leaves the most for the following entries.
        mixture = self._mixture(len(d))
        caps = [p / k for k, p in mixture]
        left = [k for k, _ in mixture]
        parts = [[Fraction(0)] * len(d) for _ in caps]
        for i in sorted(range(len(d)), key=d.__getitem__, reverse=True):
            level = spectra.common_level(left, caps, d[i])
            for part, cap in enumerate(caps):
                kept = max(left[part] - 1, min(left[part], level), Fraction(0))
                parts[part][i] = cap * (left[part] - kept)
                left[part] = kept
        return [x for part in parts for x in part]

    def exact_caps(self, m: int) -> list[Groups]:
        # Sums with other relaxations use these caps. If the largest share of the spectrum exceeds
        # 1/m, all other constraints hold strictly at the center.
        return [([[i] for i in range(m)], [self._spectrum(m).fractions()[0]] * m)]

    def exact_point(self, d: Sequence[float]) -> list[Fraction]:
        # The sums of the j largest entries of d and of s are concave in j, and so is their minimum.
        # So the entries keep their order.
        point = within_caps(d, [])
        order = sorted(range(len(d)), key=point.__getitem__, reverse=True)
        sums = accumulate(point[i] for i in order)
        bounds = accumulate(self._spectrum(len(d)).fractions())
        before = Fraction(0)
        for i, upto in zip(order, map(min, sums, bounds), strict=True):
            point[i] = upto - before
            before = upto
        return point


@dataclass(frozen=True)
class SpectralRisk(_BoundsOfRisk, _DescriptionOfRisk):
    """A spectral risk measure: the relaxed margin is a weighted mean Σ s_j u_(j) of sorted margins.

    The losses are −u. The margins in increasing order are u_(1) <= u_(2) <= ..., and their weights
    s_1 >= s_2 >= ... >= 0, the *spectrum*, sum to one. `SpectralRisk(ks, weights)` is the mixture Σ
    p_l AvgMin_{k_l}(u) of soft margins. Its spectrum is s_j = φ(j) − φ(j − 1) with φ(j) = Σ p_l
    min(1, j/k_l). For a single k the risk is that of `Capped(k)`. The method `from_spectrum`
    accepts any spectrum. The methods `gini`, `exponential`, `extremile`, `power` and `mean_cvar`
    return spectra from the literature.

    The relaxation f is the indicator of the d whose j largest |d_i| sum to at most φ(j) = s_1 + ...
    + s_j for every j. The conjugate is f*(θ) = Σ s_j |θ|_(j) with the |θ_i| in decreasing order.
    For a mixture the domain is {d: |d| <= Σ x_l, 0 <= x_l <= p_l/k_l, 1ᵀx_l <= p_l}, since both
    sets are closed and convex, depend on |d| only, and have the same support function. If the
    mixture has more than 32 soft margins, f is not written as a linear program, and certificates
    contain the spectrum.

    Parameters
    ----------
    ks : sequence of int, float or Fraction
        The parameters k_l of the soft margins, 1 <= k_l <= m, kept exactly.
    weights : sequence of int, float or Fraction
        A share p_l >= 0 for each k_l. The shares must sum to one within 1e-9, and they are divided
        by their exact sum.

    Raises
    ------
    InputError
        If `ks` and `weights` differ in length, if a k is below 1 or a weight is negative, or if the
        sum of the weights is not one. A game raises InputError if a k exceeds m.

    References
    ----------
    Acerbi (2002), Spectral measures of risk; Shalev-Shwartz & Singer (2009), Sec. 4.1, for one k;
    Lim & Wright (2016), Efficient Bregman projections onto the permutahedron.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.relaxations.SpectralRisk.gini().relaxed_margin([0.0, 1.0])[0]
    0.25
    """

    family = "relaxboost.SpectralRisk"

    ks: Any
    weights: Any
    _rule: Any = field(default=None, init=False, repr=False)
    """The rule for the spectrum if `ks` and `weights` are empty."""

    def __post_init__(self) -> None:
        ks = exact_vector("SpectralRisk", "ks", self.ks)
        weights = exact_vector("SpectralRisk", "weights", self.weights)
        if len(ks) != len(weights):
            raise InputError(
                f"SpectralRisk needs one weight for each k, got {len(ks)} values of k and "
                f"{len(weights)} weights"
            )
        if min(ks) < 1:
            raise InputError(f"SpectralRisk needs ks >= 1, got {float(min(ks)):g}")
        if min(weights) < 0:
            raise InputError(f"SpectralRisk needs weights >= 0, got {float(min(weights)):g}")
        spectra.check_sum("SpectralRisk", weights)
        object.__setattr__(self, "ks", ks)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def _of(cls, rule: spectra.Rule) -> SpectralRisk:
        made = object.__new__(cls)
        for name, value in (("ks", ()), ("weights", ()), ("_rule", rule)):
            object.__setattr__(made, name, value)
        return made

    @classmethod
    def _of_number(
        cls,
        name: str,
        parameter: str,
        value: Any,
        remedy: str,
        low: Any = Fraction(1, 10**9),
        high: Any = 10**9,
    ) -> SpectralRisk:
        # Outside of [1e-9, 1e9] the spectrum is the mean or the minimum for every m that fits into
        # memory.
        owner = f"SpectralRisk.{name}({parameter})"
        found = exact_between(owner, parameter, value, low, high, remedy)
        return cls._of(spectra.Rule.named(name, found))

    @classmethod
    def from_spectrum(cls, sigma: Any) -> SpectralRisk:
        """Return the risk with the given spectrum.

        Parameters
        ----------
        sigma : sequence of int, float or Fraction, or callable
            A sequence contains the weights s_1 >= ... >= s_m >= 0, in which s_1 is the weight of
            the worst example. The weights must sum to one within 1e-9, and they are divided by
            their exact sum. A callable is the *integrated* spectrum φ: φ(t) is the total weight of
            the worst share t of the examples. The function φ must be concave on [0, 1], with
            φ(0) = 0 and φ(1) = 1 within 1e-9. A game with m examples calls φ with the fractions
            j/m, and s_j = φ(j/m) − φ((j − 1)/m) is exact. If φ returns floats, rounding may make
            s_j exceed s_{j−1} by at most 2^-50. Then s_j is lowered to s_{j−1}, and the weights are
            divided by their exact sum.

        Raises
        ------
        InputError
            If a weight is negative or exceeds the previous weight, or if the sum is not one. A game
            raises InputError if the number of weights is not m.

        Examples
        --------
        >>> import relaxboost as rb
        >>> f = rb.relaxations.SpectralRisk.from_spectrum(lambda t: 1 - (1 - t) ** 2)
        >>> f.resolve(10) == rb.relaxations.SpectralRisk.gini().resolve(10)
        True
        """
        if callable(sigma):
            return cls._of(spectra.Rule.named("from_spectrum", sigma))
        values = exact_vector("SpectralRisk.from_spectrum", "sigma", sigma)
        shown = f"from_spectrum({spell_vector(values)})"
        return cls._of(spectra.Rule.only(spectra.of_weights(values), shown))

    @classmethod
    def gini(cls) -> SpectralRisk:
        """Return the risk of the mean margin minus half of Gini's mean difference.

        The relaxed margin F(u) = mean(u) − Σ_ij |u_i − u_j| / (2m²) is the mean of min(u_i, u_j)
        over all pairs of i and j. The exact weight of the r-th smallest margin is (2(m − r) + 1)/m²
        (Yitzhaki 1982).
        """
        return cls._of(spectra.Rule.named("gini"))

    @classmethod
    def exponential(cls, c: Any) -> SpectralRisk:
        """Return the exponential spectral risk with absolute risk aversion c in [1e-9, 1e9].

        The integrated spectrum is φ(t) = (1 − e^(−ct)) / (1 − e^(−c)). The relaxed margin F tends
        to the mean as c tends to 0 (Dowd, Cotter & Sorwar 2008). The weights are rounded down to
        multiples of 2^-80 of the largest weight, and then divided by their sum.
        """
        remedy = "for c near 0 the risk is nearly the mean, for large c nearly the worst margin"
        return cls._of_number("exponential", "c", c, remedy)

    @classmethod
    def extremile(cls, r: Any) -> SpectralRisk:
        """Return the risk whose relaxed margin is the extremile of order r in [1, 1e9].

        For an integer r, F(u) is the expected minimum of r margins drawn with replacement. The
        integrated spectrum is φ(t) = 1 − (1 − t)^r (Daouia, Gijbels & Stupfler 2019, with r =
        log(1/2)/log(1 − τ)). The weights are exact if r is an integer and r times the number of
        bits of m is at most 4096. Otherwise the weights are rounded as for `exponential`.
        """
        remedy = "the extremile is the expected minimum of r random margins; r = 1 is the mean"
        return cls._of_number("extremile", "r", r, remedy, low=1)

    @classmethod
    def power(cls, r: Any) -> SpectralRisk:
        """Return the risk of the proportional hazard transform with exponent r in [1e-9, 1].

        The integrated spectrum is φ(t) = t^r (Wang 1995, whose ρ is 1/r). The weights are rounded
        as for `exponential`.
        """
        remedy = "r = 1 is the mean, and a smaller r weighs bad examples more"
        return cls._of_number("power", "r", r, remedy, high=1)

    @classmethod
    def mean_cvar(cls, weight: Any, fraction: Any) -> SpectralRisk:
        """Return the risk that mixes the mean and the CVaR of the margins.

        The relaxed margin is (1 − weight) · mean + weight · CVaR. The CVaR is the mean of the worst
        `fraction` of the margins. `weight` and `fraction` are exact. A float `fraction` means the
        decimal number that Python prints.
        """
        owner = "SpectralRisk.mean_cvar(weight, fraction)"
        weight = exact_between(owner, "weight", weight, 0, 1, "0 is the mean, and 1 is the CVaR")
        remedy = "the CVaR is the mean of this share of the worst margins"
        exact_between(owner, "fraction", fraction, Fraction(1, 10**9), 1, remedy)
        return cls._of(spectra.Rule.named("mean_cvar", weight, exact_share(fraction)))

    def __repr__(self) -> str:
        if self._rule is not None:
            return f"SpectralRisk.{self._rule.shown}"
        return f"SpectralRisk({spell_vector(self.ks)}, {spell_vector(self.weights)})"

    def key(self) -> str:
        if self._rule is not None:
            return f"{self.family}({self._rule.key()})"
        spelled = (f"[{', '.join(map(str, values))}]" for values in (self.ks, self.weights))
        return f"{self.family}(ks={next(spelled)}, weights={next(spelled)})"

    def resolve(self, m: int) -> SpectralRisk:
        spectrum = self._spectrum(m)
        if self._rule is None or self._rule.m is not None:
            return self
        return self._of(spectra.Rule.only(spectrum, self._rule.shown))

    @property
    def traits(self) -> Traits:
        # A rule that fits every m has one soft margin for each example.
        few = self._rule is None or self._rule.m is not None
        return CAP_TRAITS._replace(polyhedral=few and self._is_program(self._fixed_m or 0))

    def penalty(self, d: Vector) -> float:
        m = len(d)
        sums = np.cumsum(np.sort(np.abs(d))[::-1])
        near = sums <= self._spectrum(m).sums * (1.0 + (8.0 + 2.0 * m) * UNIT)
        return 0.0 if near.all() else math.inf

    def conjugate(self, theta: Vector) -> float:
        s = self._spectrum(len(theta)).near
        return math.fsum((np.sort(np.abs(theta))[::-1] * s).tolist())

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        d = np.empty(u.size)
        d[np.argsort(u, kind="stable")] = self._spectrum(u.size).near
        return math.fsum((d * u).tolist()), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        order = np.argsort(u, kind="stable")
        d = np.empty(u.size)
        d[order] = _pooled(u[order], self._spectrum(u.size).near, beta)
        return d

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        m = d.shape[0]
        # cvxpy knows the sign of d in a game, and then needs no variables for |d|.
        size = d if d.is_nonneg() else cp.abs(d)
        # For many soft margins the constraint is |d| <= x, where x is a mean of permutations of s.
        if not self._is_program(m):
            x = cp.Variable(m)
            outputs, network = spectra.sorted_outputs(x, m)
            return 0.0, [size <= x, outputs == self._spectrum(m).near, *network]
        parts = [(float(p), float(p / k), cp.Variable(m, nonneg=True)) for k, p in self._mixture(m)]
        limits = [c for p, cap, x in parts for c in (x <= cap, cp.sum(x) <= p)]
        return 0.0, [size <= cp.sum([x for *_, x in parts]), *limits]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        # For a mixture it is the least Σ_l p_l t_l + (p_l/k_l) Σ_i [|x_i| − t_l]₊ over t >= 0.
        m = x.shape[0]
        # For many soft margins the value is <s, y>, where y are the outputs of a sorting network.
        if not self._is_program(m):
            size = cp.Variable(m)
            outputs, network = spectra.sorted_outputs(size, m)
            return self._spectrum(m).near @ outputs, [cp.abs(x) <= size, *network]
        mixture = self._mixture(m)
        total = 0.0
        t = cp.Variable(len(mixture), nonneg=True)
        for level, (k, p) in zip(t, mixture, strict=True):
            total += float(p) * level + float(p / k) * cp.sum(cp.pos(cp.abs(x) - level))
        return total, []

    def repair(self, d: Vector) -> Vector:
        # For each j, the sum of the j largest entries is reduced to at most s_1 + ... + s_j.
        d = onto_simplex(d, repr(self))
        if math.isfinite(self.penalty(d)):
            return d
        order = np.argsort(-d, kind="stable")
        sums = np.minimum(np.cumsum(d[order]), self._spectrum(d.size).sums)
        d[order] = np.maximum(np.diff(sums, prepend=0.0), 0.0)
        return d
