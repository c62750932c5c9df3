"""The spectra of `SpectralRisk`: weights of the sorted margins, integers over a denominator."""

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
from relaxboost.relaxations.linear import ZERO
from relaxboost.relaxations.vectors import enclose_vector

BITS = 80
"""Bits of a weight that is not rational, relative to the largest weight; doubles have 53."""
_DIGITS = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
"""40 digits leave BITS of a difference of powers right for every m that fits into memory. Unlike
those of floats, functions of decimals have the same digits on every machine."""
LONGEST = 4096
"""Bits up to which whole powers of m are kept exactly."""
LARGEST = 10**9
"""Parameters beyond give the worst example all the weight, for every m that fits into memory."""
_SUM = Fraction(1, 10**9)
"""How far a sum of weights may be from one: floats that are meant to have the sum one miss it."""
_NOISE = Fraction(1, 2**50)
"""By how much the weights of a function in floats may increase: four roundings of its values."""


class Spectrum:
    """Weights s_1 >= ... >= s_m >= 0 with sum one, in proportion to integers.

    Parameters
    ----------
    tops : iterable of int
        The non-increasing integers.
    counts : iterable of int, optional
        How often each of them occurs; by default once.
    """

    def __init__(self, tops: Iterable[int], counts: Iterable[int] | None = None) -> None:
        pairs = zip(tops, counts, strict=True) if counts is not None else ((t, 1) for t in tops)
        runs = [(top, sum(n for _, n in run)) for top, run in groupby(pairs, key=lambda p: p[0])]
        # In lowest terms, so that equal spectra are equal objects and have one key.
        common = math.gcd(*(top for top, _ in runs))
        self.tops = tuple(top // common for top, _ in runs)
        self.counts = tuple(n for _, n in runs)
        self.below = sum(map(int.__mul__, self.tops, self.counts))
        self.m = sum(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spectrum):
            return NotImplemented
        return (self.tops, self.counts) == (other.tops, other.counts)

    def __hash__(self) -> int:
        return hash((self.tops, self.counts))

    def key(self) -> str:
        """Return the number of weights and a SHA-256 of all of them."""
        text = ",".join(f"{t:x}*{n}" for t, n in zip(self.tops, self.counts, strict=True))
        return f"{self.m} weights {sha256(text.encode()).hexdigest()}"

    def integers(self) -> Iterator[int]:
        """Yield the m numerators, the largest first; the denominator is `below`."""
        for top, count in zip(self.tops, self.counts, strict=True):
            yield from [top] * count

    def fractions(self) -> list[Fraction]:
        """Return the m weights."""
        values = [Fraction(top, self.below) for top in self.tops]
        return [s for s, n in zip(values, self.counts, strict=True) for _ in range(n)]

    def mixture(self) -> list[tuple[Fraction, Fraction]]:
        """Return pairs (k, p): s is the sum of p/k on the first k, with whole k and Σ p = 1."""
        ends = accumulate(self.counts)
        drops = (here - after for here, after in pairwise([*self.tops, 0]))
        return [
            (Fraction(k), Fraction(k * x, self.below))
            for k, x in zip(ends, drops, strict=True)
            if x
        ]

    @cached_property
    def near(self) -> Vector:
        """The weights in doubles."""
        return np.repeat([top / self.below for top in self.tops], self.counts)

    @cached_property
    def sums(self) -> Vector:
        """The sums φ(1) <= ... <= φ(m) in doubles."""
        return np.cumsum(self.near)

    @cached_property
    def enclosed(self) -> Interval:
        """Intervals of doubles that hold the weights."""
        runs = enclose_vector(tuple(Fraction(top, self.below) for top in self.tops))
        return Interval(np.repeat(runs.lower, self.counts), np.repeat(runs.upper, self.counts))


def integers(values: Sequence[Fraction]) -> list[int]:
    """Return the numerators of the values over their common denominator."""
    below = math.lcm(*{x.denominator for x in values})
    return [x.numerator * (below // x.denominator) for x in values]


def of_mixture(m: int, pairs: Iterable[tuple[Fraction, Fraction]]) -> Spectrum:
    """Return the spectrum of Σ p AvgMin_k for the pairs (k, p)."""
    # φ(j) = Σ over k <= j of p, plus j times the slope Σ over k > j of p/k: one sweep over all k.
    ordered = sorted(pairs)
    ends = {j for k, _ in ordered for j in (math.floor(k), math.ceil(k)) if 0 < j < m}
    stops = sorted(ends | {m})
    values, left = [], list(reversed(ordered))
    full, slope = ZERO, sum((p / k for k, p in ordered), ZERO)
    before = {}
    for j in sorted({0} | ends | {m} | {stop - 1 for stop in stops}):
        while left and left[-1][0] <= j:
            k, p = left.pop()
            full += p
            slope -= p / k
        before[j] = full + j * slope
    values = [before[stop] - before[stop - 1] for stop in stops]
    return Spectrum(integers(values), np.diff([0, *stops]).tolist())


def of_weights(values: Sequence[Fraction]) -> Spectrum:
    """Return the spectrum of a vector of weights, after a check."""
    tops = integers(values)
    for j, (here, after) in enumerate(pairwise(tops)):
        if after > here:
            raise InputError(
                f"{_OWNER} needs weights that do not increase, the worst example's first, and "
                f"sigma[{j + 1}] = {float(values[j + 1]):g} exceeds sigma[{j}] = "
                f"{float(values[j]):g}; give sorted(sigma, reverse=True)"
            )
    if tops[-1] < 0:
        raise InputError(
            f"{_OWNER} needs weights >= 0, and the last is {float(values[-1]):g}; negative weights "
            "would reward losses"
        )
    total = sum(values, ZERO)
    if abs(total - 1) > _SUM:
        raise InputError(
            f"{_OWNER} needs weights that sum to one, and these sum to {float(total):.12g}; divide "
            "them by their sum"
        )
    return Spectrum(tops)


def of_function(m: int, phi: Callable[[Fraction], Any]) -> Spectrum:
    """Return the spectrum φ(j/m) − φ((j − 1)/m) of a function, after a check."""
    given = [phi(Fraction(j, m)) for j in range(m + 1)]
    values = [exact(_OWNER, f"phi({j}/{m})", value) for j, value in enumerate(given)]
    if abs(values[0]) > _SUM or abs(values[-1] - 1) > _SUM:
        raise InputError(
            f"{_OWNER} needs a function phi with phi(0) = 0 and phi(1) = 1, and phi(0) = "
            f"{float(values[0]):g}, phi(1) = {float(values[-1]):g}; a density has to be integrated "
            "first: phi(t) is the weight of the worst share t of the examples"
        )
    # Floats round the values of a concave function to ones that are concave but for roundings.
    noise = ZERO if all(isinstance(x, int | Fraction) for x in given) else _NOISE
    steps = [after - here for here, after in pairwise(values)]
    lowest = list(accumulate(steps, min))
    for j, (step, low) in enumerate(zip(steps, lowest, strict=True)):
        if step > low + noise or step < -noise:
            raise InputError(
                f"{_OWNER} needs a function phi that is concave and does not decrease, and on m = "
                f"{m} examples weight {j} is {float(step):g} after {float(lowest[max(0, j - 1)]):g}"
                "; give the integral of a spectrum that is non-negative and does not increase"
            )
    return Spectrum(integers([max(low, ZERO) for low in lowest]))


def gini(m: int) -> Spectrum:
    """Return φ(t) = 1 − (1 − t)²: the weights are the odd numbers 2m − 1, ..., 3, 1 over m²."""
    return Spectrum(range(2 * m - 1, 0, -2))


def extremile(m: int, r: Fraction) -> Spectrum:
    """Return φ(t) = 1 − (1 − t)^r, exactly where r is whole and m^r is short."""
    if r.denominator == 1 and r.numerator * m.bit_length() <= LONGEST:
        powers: list[Any] = [j**r.numerator for j in range(m, -1, -1)]
        return Spectrum(here - after for here, after in pairwise(powers))
    powers = _powers(m, r)[::-1]
    return _rounded([_DIGITS.subtract(here, after) for here, after in pairwise(powers)])


def power(m: int, r: Fraction) -> Spectrum:
    """Return φ(t) = t^r."""
    return _rounded([_DIGITS.subtract(after, here) for here, after in pairwise(_powers(m, r))])


def exponential(m: int, c: Fraction) -> Spectrum:
    """Return φ(t) = (1 − e^(−ct)) / (1 − e^(−c)): the weights are in proportion to e^(−cj/m)."""
    ratio = _DIGITS.exp(_DIGITS.divide(-c.numerator, c.denominator * m))
    return _rounded(list(accumulate([decimal.Decimal(1), *[ratio] * (m - 1)], _DIGITS.multiply)))


def mean_cvar(m: int, weight: Fraction, fraction: Fraction) -> Spectrum:
    """Return φ(t) = (1 − weight) t + weight min(1, t/fraction)."""
    return of_mixture(m, [(Fraction(m), 1 - weight), (fraction * m, weight)])


def _powers(m: int, r: Fraction) -> list[decimal.Decimal]:
    """Return j^r for j = 0, ..., m; only those of primes are computed, and others multiplied."""
    exponent = _DIGITS.divide(r.numerator, r.denominator)
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
    """Return weights rounded down to multiples of 2^-BITS of the first, which is the largest."""
    scale = _DIGITS.divide(2**BITS, weights[0])
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
    """What gives a spectrum for every m, or one for a single m."""

    name: str
    parameters: tuple[Any, ...]
    shown: str = field(compare=False)
    """The text of the call that made it."""

    @classmethod
    def named(cls, name: str, *parameters: Any) -> Rule:
        """Return one of the rules of this file."""
        texts = (spell(x) if isinstance(x, Fraction) else repr(x) for x in parameters)
        return cls(name, parameters, f"{name}({', '.join(texts)})")

    @classmethod
    def only(cls, spectrum: Spectrum, shown: str) -> Rule:
        """Return the rule of one spectrum, which fits its own m only."""
        return cls("", (spectrum,), shown)

    @property
    def m(self) -> int | None:
        """The number of examples that it fits, None if it fits every number."""
        return self.parameters[0].m if not self.name else None

    def at(self, m: int) -> Spectrum:
        """Return the spectrum of m examples."""
        if self.name:
            return _RULES[self.name](m, *self.parameters)
        if self.m != m:
            raise InputError(
                f"SpectralRisk.{self.shown} has {self.m} weights, and this game has m = {m} "
                "examples; give one weight for each, or a rule such as SpectralRisk.gini()"
            )
        found: Spectrum = self.parameters[0]
        return found

    def key(self) -> str:
        """Return the exact text of the rule."""
        return self.parameters[0].key() if not self.name else self.shown


def check_range(
    name: str, parameter: str, value: Any, low: Any, high: Any, remedy: str
) -> Fraction:
    """Return a parameter of a named spectrum exactly, or raise an InputError with the remedy."""
    found = exact(f"SpectralRisk.{name}", parameter, value)
    if not low <= found <= high:
        raise InputError(
            f"SpectralRisk.{name} needs {float(low):g} <= {parameter} <= {float(high):g}, got "
            f"{value!r}; {remedy}"
        )
    return found


def sorted_outputs(x: Any, m: int) -> tuple[Any, list[Any]]:
    """Return the outputs of a sorting network for x in cvxpy, the largest first, and constraints.

    A comparator keeps the sum of two wires, and its larger output is at least as large as both. The
    outputs then have sums of the first j that are at least those of the j largest entries. The x
    for which they can be the weights of a spectrum are the means of permutations of the weights,
    and the least of their products with the weights is that with x sorted. Some m log² m numbers
    are enough for it (Goemans 2015).
    """
    from scipy import sparse

    wires, entries, count = list(range(m)), [], 0
    for i, j in _network(m):
        low, high = m + 2 * count, m + 2 * count + 1
        entries += [(3 * count, wires[i], 1.0), (3 * count, wires[j], 1.0)]
        entries += [(3 * count, low, -1.0), (3 * count, high, -1.0)]
        entries += [(3 * count + 1, high, 1.0), (3 * count + 1, wires[i], -1.0)]
        entries += [(3 * count + 2, high, 1.0), (3 * count + 2, wires[j], -1.0)]
        wires[i], wires[j] = high, low
        count += 1
    at, of, value = zip(*entries, strict=True)
    rows = sparse.csr_array((value, (at, of)), (3 * count, m + 2 * count))
    flow = cp.hstack([x, cp.Variable(2 * count)])
    ends = sparse.csr_array((np.ones(m), (range(m), wires)), (m, m + 2 * count))
    kept = np.arange(3 * count) % 3 == 0
    return ends @ flow, [rows[kept] @ flow == 0, rows[~kept] @ flow >= 0]


def _network(m: int) -> Iterator[tuple[int, int]]:
    """Yield the comparators of a sorting network (Knuth 1998, Sec. 5.2.2)."""
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
