"""The spectra of `SpectralRisk`: weights of the sorted margins."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, groupby, pairwise
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, spell
from relaxboost.relaxations.base import Relaxation
from relaxboost.relaxations.vectors import enclose_vector

_DIGITS = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
"""The decimal context of powers and exponentials.

With 40 digits, a difference of powers has 80 correct bits. Unlike floats, decimals have the same
digits on every machine.
"""


@dataclass(init=False, repr=False, unsafe_hash=True)
class Spectrum:
    """Weights s_1 >= ... >= s_m >= 0 with sum one, proportional to integers.

    The integers `tops` do not increase. Each occurs `counts` times, by default once.
    """

    tops: tuple[int, ...]
    counts: tuple[int, ...]

    def __init__(self, tops: Iterable[int], counts: Iterable[int] | None = None) -> None:
        pairs = zip(tops, counts, strict=True) if counts is not None else ((t, 1) for t in tops)
        runs = [(top, sum(n for _, n in run)) for top, run in groupby(pairs, key=lambda p: p[0])]
        # In lowest terms, equal spectra are equal objects and have one key.
        common = math.gcd(*(top for top, _ in runs))
        self.tops = tuple(top // common for top, _ in runs)
        self.counts = tuple(n for _, n in runs)
        self.below = sum(map(int.__mul__, self.tops, self.counts))
        self.m = sum(self.counts)

    def key(self) -> str:
        """Return a string with the number of weights and their SHA-256 digest."""
        text = ",".join(f"{t:x}*{n}" for t, n in zip(self.tops, self.counts, strict=True))
        return f"{self.m} weights {sha256(text.encode()).hexdigest()}"

    def integers(self) -> Iterator[int]:
        """Yield the integers to which the weights are proportional, in decreasing order.

        Each weight is its integer divided by `below`, the sum of all integers.
        """
        for top, count in zip(self.tops, self.counts, strict=True):
            yield from [top] * count

    def fractions(self) -> list[Fraction]:
        """Return the weights as fractions, one for each sorted margin."""
        values = [Fraction(top, self.below) for top in self.tops]
        return [s for s, n in zip(values, self.counts, strict=True) for _ in range(n)]

    def mixture(self) -> list[tuple[Fraction, Fraction]]:
        """Return the pairs (k, p) of the mixture Σ p AvgMin_k with this spectrum, with integer k.

        AvgMin_k is the mean of the k smallest margins.
        """
        ends = accumulate(self.counts)
        drops = (here - after for here, after in pairwise([*self.tops, 0]))
        return [
            (Fraction(k), Fraction(k * x, self.below))
            for k, x in zip(ends, drops, strict=True)
            if x
        ]

    @cached_property
    def near(self) -> Vector:
        """The weights as doubles, from the smallest margin to the largest."""
        return np.repeat([top / self.below for top in self.tops], self.counts)

    @cached_property
    def sums(self) -> Vector:
        """The cumulative sums φ(j) = s_1 + ... + s_j as doubles."""
        return np.cumsum(self.near)

    @cached_property
    def enclosed(self) -> Interval:
        """Intervals of doubles around the exact weights."""
        runs = enclose_vector(tuple(Fraction(top, self.below) for top in self.tops))
        return Interval(np.repeat(runs.lower, self.counts), np.repeat(runs.upper, self.counts))


def integers(values: Sequence[Fraction]) -> list[int]:
    """Return the numerators of the values over their common denominator."""
    below = math.lcm(*{x.denominator for x in values})
    return [x.numerator * (below // x.denominator) for x in values]


def of_mixture(m: int, pairs: Iterable[tuple[Fraction, Fraction]]) -> Spectrum:
    """Return the spectrum of the mixture Σ p AvgMin_k for m examples, from its pairs (k, p).

    AvgMin_k is the mean of the k smallest margins.
    """
    # φ(j) is the sum of p over k <= j, plus j times the slope, the sum of p/k over k > j. One sweep
    # over all k in increasing order computes φ(j) at each j at which s may change, and before it.
    ordered = sorted(pairs)
    ends = {j for k, _ in ordered for j in (math.floor(k), math.ceil(k)) if 0 < j < m}
    stops = sorted(ends | {m})
    left = list(reversed(ordered))
    full = Fraction(0)
    slope = sum((p / k for k, p in ordered), Fraction(0))
    phi = {}
    for j in sorted({*stops, *(stop - 1 for stop in stops)}):
        while left and left[-1][0] <= j:
            k, p = left.pop()
            full += p
            slope -= p / k
        phi[j] = full + j * slope
    values = [phi[stop] - phi[stop - 1] for stop in stops]
    return Spectrum(integers(values), np.diff([0, *stops]).tolist())


def check_sum(owner: str, weights: Sequence[Fraction]) -> None:
    """Raise InputError unless the weights sum to one, up to the rounding of floats."""
    total = sum(weights, Fraction(0))
    if abs(total - 1) > Fraction(1, 10**9):
        raise InputError(
            f"{owner} needs weights that sum to one, but these sum to {float(total):.12g}; divide "
            "them by their sum"
        )


def of_weights(values: Sequence[Fraction]) -> Spectrum:
    """Return the spectrum with the given weights, or raise InputError if they are invalid."""
    tops = integers(values)
    for j, (here, after) in enumerate(pairwise(tops)):
        if after > here:
            raise InputError(
                f"{_OWNER} needs weights that do not increase, but sigma[{j + 1}] = "
                f"{float(values[j + 1]):g} exceeds sigma[{j}] = {float(values[j]):g}; the first "
                "weight is for the worst example, so pass sorted(sigma, reverse=True)"
            )
    if tops[-1] < 0:
        raise InputError(
            f"{_OWNER} needs weights >= 0, but the last is {float(values[-1]):g}; negative weights "
            "would reward losses"
        )
    check_sum(_OWNER, values)
    return Spectrum(tops)


def of_function(m: int, phi: Callable[[Fraction], Any]) -> Spectrum:
    """Return the spectrum with the cumulative sums φ(j/m) for a function φ = `phi`.

    InputError is raised if φ is not concave, if it decreases, or if φ(0) is not 0 or φ(1) is not 1.
    """
    given = [phi(Fraction(j, m)) for j in range(m + 1)]
    values = [exact(_OWNER, f"phi({j}/{m})", value) for j, value in enumerate(given)]
    if max(abs(values[0]), abs(values[-1] - 1)) > Fraction(1, 10**9):
        raise InputError(
            f"{_OWNER} needs a function phi with phi(0) = 0 and phi(1) = 1, but these are "
            f"{float(values[0]):g} and {float(values[-1]):g}; phi(t) is the weight of the worst "
            "share t of the examples, so pass the integral of a density"
        )
    # The difference of two floats of a concave function may increase by four roundings.
    noise = Fraction(0) if all(isinstance(x, int | Fraction) for x in given) else Fraction(1, 2**50)
    steps = [after - here for here, after in pairwise(values)]
    lowest = list(accumulate(steps, min))
    for j, (step, low) in enumerate(zip(steps, lowest, strict=True)):
        if step > low + noise or step < -noise:
            raise InputError(
                f"{_OWNER} needs a function phi that is concave and does not decrease, but for m = "
                f"{m} examples weight {j} is {float(step):g} after {float(lowest[max(0, j - 1)]):g}"
                "; pass the integral of a spectrum that is non-negative and does not increase"
            )
    return Spectrum(integers([max(low, Fraction(0)) for low in lowest]))


def gini(m: int) -> Spectrum:
    """Return the spectrum of `SpectralRisk.gini` for m examples, (2m − 1, ..., 3, 1)/m².

    Its cumulative sums are φ(j/m) with φ(t) = 1 − (1 − t)².
    """
    return Spectrum(range(2 * m - 1, 0, -2))


def extremile(m: int, r: Fraction) -> Spectrum:
    """Return the spectrum of `SpectralRisk.extremile` for m examples.

    Its cumulative sums are φ(j/m) with φ(t) = 1 − (1 − t)^r.
    """
    # The weights are exact if r is an integer and all powers of j surely have at most 4096 bits.
    # Larger integers would make every operation with the weights slow.
    if r.denominator == 1 and r.numerator * m.bit_length() <= 4096:
        powers: list[Any] = [j**r.numerator for j in range(m, -1, -1)]
        return Spectrum(here - after for here, after in pairwise(powers))
    powers = _powers(m, r)[::-1]
    return _rounded([_DIGITS.subtract(here, after) for here, after in pairwise(powers)])


def power(m: int, r: Fraction) -> Spectrum:
    """Return the spectrum of `SpectralRisk.power` for m examples.

    Its cumulative sums are φ(j/m) with φ(t) = t^r.
    """
    return _rounded([_DIGITS.subtract(after, here) for here, after in pairwise(_powers(m, r))])


def exponential(m: int, c: Fraction) -> Spectrum:
    """Return the spectrum of `SpectralRisk.exponential` for m examples.

    Its cumulative sums are φ(j/m) with φ(t) = (1 − e^(−ct)) / (1 − e^(−c)).
    """
    # s_j is proportional to e^(−cj/m).
    ratio = _DIGITS.exp(_DIGITS.divide(-c.numerator, c.denominator * m))
    return _rounded(list(accumulate([decimal.Decimal(1), *[ratio] * (m - 1)], _DIGITS.multiply)))


def mean_cvar(m: int, weight: Fraction, fraction: Fraction) -> Spectrum:
    """Return the spectrum of `SpectralRisk.mean_cvar` for m examples.

    Its cumulative sums are φ(j/m) with φ(t) = (1 − weight) t + weight min(1, t/fraction).
    """
    return of_mixture(m, [(Fraction(m), 1 - weight), (fraction * m, weight)])


def _powers(m: int, r: Fraction) -> list[decimal.Decimal]:
    exponent = _DIGITS.divide(r.numerator, r.denominator)
    # A power of a decimal costs some hundred products. So only the powers of primes are computed,
    # and those of other j are products. The sieve of Eratosthenes finds a prime factor of each j.
    factor = list(range(m + 1))
    for p in range(2, math.isqrt(m) + 1):
        if factor[p] == p:
            for multiple in range(p * p, m + 1, p):
                factor[multiple] = p
    found = [decimal.Decimal(0), decimal.Decimal(1)]
    for j in range(2, m + 1):
        p = factor[j]
        found.append(
            _DIGITS.power(j, exponent) if p == j else _DIGITS.multiply(found[p], found[j // p])
        )
    return found


def _rounded(weights: list[decimal.Decimal]) -> Spectrum:
    # The rounded weights are multiples of 2^-80 of the first weight.
    scale = _DIGITS.divide(2**80, weights[0])
    # The last digit of a difference may be wrong, so the minimum keeps the weights non-increasing.
    return Spectrum(accumulate((int(_DIGITS.multiply(x, scale)) for x in weights), min))


_OWNER = "SpectralRisk.from_spectrum(sigma)"
_RULES: dict[str, Callable[..., Spectrum]] = {
    "from_spectrum": of_function,
    "gini": gini,
    "exponential": exponential,
    "extremile": extremile,
    "power": power,
    "mean_cvar": mean_cvar,
}


@dataclass(frozen=True)
class Rule:
    """A rule for the spectrum of a `SpectralRisk`, for any number of examples or only one."""

    name: str
    parameters: tuple[Any, ...]
    shown: str = field(compare=False)
    """The source text of the call that created the rule, such as ``gini()``."""

    @classmethod
    def named(cls, name: str, *parameters: Any) -> Rule:
        """Return the rule that calls the function `name` in `_RULES` with the given parameters."""
        texts = (spell(x) if isinstance(x, Fraction) else repr(x) for x in parameters)
        return cls(name, parameters, f"{name}({', '.join(texts)})")

    @classmethod
    def only(cls, spectrum: Spectrum, shown: str) -> Rule:
        """Return the rule that always yields the given spectrum.

        It is valid only for the number of examples of this spectrum.
        """
        return cls("", (spectrum,), shown)

    @property
    def m(self) -> int | None:
        """The only number of examples for which the rule is valid, or None for any number."""
        return self.parameters[0].m if not self.name else None

    def at(self, m: int) -> Spectrum:
        """Return the spectrum for m examples, or raise InputError if the rule is for another m."""
        if self.name:
            return _RULES[self.name](m, *self.parameters)
        if self.m != m:
            raise InputError(
                f"SpectralRisk.{self.shown} has {self.m} weights, but this game has m = {m} "
                "examples; pass one weight for each example, or a rule such as SpectralRisk.gini()"
            )
        return self.parameters[0]

    def key(self) -> str:
        """Return the text of the rule in `SpectralRisk.key`."""
        return self.parameters[0].key() if not self.name else self.shown


class OfSpectrum(Relaxation):
    """The base class of `SpectralRisk`, which computes the spectrum for m examples."""

    ks: Any
    weights: Any
    _rule: Any

    @property
    def _fixed_m(self) -> int | None:
        return None if self._rule is None else self._rule.m

    @cached_property
    def _spectra(self) -> dict[int, Spectrum]:
        return {}

    def _spectrum(self, m: int) -> Spectrum:
        """Return the spectrum for m examples, or raise InputError if it is for another m."""
        known = self._spectra
        if m not in known:
            if self._rule is not None:
                known[m] = self._rule.at(m)
            elif max(self.ks) > m:
                raise InputError(
                    f"{self!r} needs 1 <= k <= m for every k, but this game has m = {m} examples"
                )
            else:
                known[m] = of_mixture(m, zip(self.ks, self.weights, strict=True))
        return known[m]

    def _mixture(self, m: int) -> list[tuple[Fraction, Fraction]]:
        """Return the pairs (k, p) of the mixture Σ p AvgMin_k that is the risk.

        The shares satisfy p > 0 and Σ p = 1.
        """
        if self._rule is not None:
            return self._spectrum(m).mixture()
        total = sum(self.weights, Fraction(0))
        return [(k, p / total) for k, p in zip(self.ks, self.weights, strict=True) if p]

    def _is_program(self, m: int) -> bool:
        """Return whether f mixes few enough soft margins for a small linear program."""
        parts = self._spectrum(m).tops if self._rule is not None else self.ks
        # The program has m variables for each soft margin. The sorting network, which replaces it,
        # has about 2 log² m variables for each example.
        return len(parts) <= 32


def sorted_outputs(x: Any, m: int) -> tuple[Any, list[Any]]:
    """Return the outputs of a sorting network for a cvxpy variable x, and its constraints.

    The constraints relax the network: the outputs only majorise the sorted entries of x.
    """
    from scipy import sparse

    # A comparator keeps the sum of two wires, and its larger output is at least as large as both
    # inputs. So the first j outputs sum to at least the j largest entries of x. The outputs can be
    # the weights of a spectrum if and only if x is a mean of permutations of the weights. The least
    # product of the outputs with the weights is that with x sorted. The network has some m log² m
    # variables (Goemans 2015).
    wires = list(range(m))
    entries = []
    count = 0
    for i, j in _network(m):
        # Comparator `count` has three rows: one for the sum, and one for each input.
        low = m + 2 * count
        high = low + 1
        entries += [(3 * count, wires[i], 1.0), (3 * count, wires[j], 1.0)]
        entries += [(3 * count, low, -1.0), (3 * count, high, -1.0)]
        entries += [(3 * count + 1, high, 1.0), (3 * count + 1, wires[i], -1.0)]
        entries += [(3 * count + 2, high, 1.0), (3 * count + 2, wires[j], -1.0)]
        wires[i] = high
        wires[j] = low
        count += 1
    at, of, value = zip(*entries, strict=True)
    rows = sparse.csr_array((value, (at, of)), (3 * count, m + 2 * count))
    flow = cp.hstack([x, cp.Variable(2 * count)])
    ends = sparse.csr_array((np.ones(m), (range(m), wires)), (m, m + 2 * count))
    kept = np.arange(3 * count) % 3 == 0
    return ends @ flow, [rows[kept] @ flow == 0, rows[~kept] @ flow >= 0]


def _network(m: int) -> Iterator[tuple[int, int]]:
    """Yield the comparators of a sorting network for m entries (Knuth 1998, Sec. 5.2.2)."""
    p = 1
    while p < m:
        k = p
        while k:
            for j in range(k % p, m - k, 2 * k):
                for i in range(j, min(j + k, m - k)):
                    if i // (2 * p) == (i + k) // (2 * p):
                        yield i, i + k
            k //= 2
        p *= 2


def common_level(left: list[Fraction], caps: list[Fraction], need: Fraction) -> Fraction:
    """Return the level τ >= 0 to which several supplies fall when a total of `need` is taken.

    `left` contains each supply in units of its cap in `caps`. At most one unit is taken from each,
    so τ solves Σ cap · min(1, [left − τ]_+) = `need`. The result is 0 if there is no such τ.
    """
    # The sum is piecewise linear in τ. τ falls from one end of a piece to the next.
    ends = sorted({*left, *(max(x - 1, Fraction(0)) for x in left), Fraction(0)}, reverse=True)
    taken = Fraction(0)
    for high, low in pairwise(ends):
        open_caps = (c for x, c in zip(left, caps, strict=True) if x >= high and x - 1 <= low)
        rate = sum(open_caps, Fraction(0))
        if rate and taken + rate * (high - low) >= need:
            return high - (need - taken) / rate
        taken += rate * (high - low)
    return Fraction(0)
