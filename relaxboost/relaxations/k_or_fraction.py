"""The parameter k of a relaxation that spreads d over at least k examples, or k as a share of m."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.parameters import exact, spell
from relaxboost.relaxations.base import Relaxation
from relaxboost.relaxations.bounds import Bounds
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.exact_points import Groups


class WithK(Relaxation, Bounds, Description):
    """What relaxations with a k share: which may be given as a share of m until a game tells m."""

    k: Any
    fraction: Any

    def __post_init__(self) -> None:
        k, fraction = check_k(self.family.rpartition(".")[2], self.k, self.fraction)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "fraction", fraction)

    @property
    def exact_k(self) -> Fraction:
        """The k, once a game or the user has given it."""
        if self.k is None:
            raise InputError(f"{self!r} has no k before a game gives m; use resolve(m) first")
        k: Fraction = self.k
        return k

    @cached_property
    def double_k(self) -> float:
        """The same as a double."""
        return float(self.exact_k)

    def exact_caps(self, m: int) -> list[Groups]:
        return [([[i] for i in range(m)], [1 / self.exact_k] * m)]

    def entropy_range(self, m: int) -> float:
        """Return log(m/k): no capped distribution has Σ d log d above −log k."""
        return math.log(m / self.double_k)


def check_k(owner: str, k: Any, fraction: Any) -> tuple[Fraction | None, Any]:
    """Return (k, fraction) with the one that is given kept exactly, or raise an InputError."""
    if (k is None) == (fraction is None):
        raise InputError(f"{owner} needs either k or fraction, and not both")
    if k is not None:
        k = exact(owner, "k", k)
        if k < 1:
            raise InputError(f"{owner}(k={spell(k)}) needs k >= 1: no d_i exceeds 1/k")
        return k, None
    share = exact(owner, "fraction", fraction)
    if not 0 < share <= 1:
        raise InputError(f"{owner}(fraction={spell(share)}) needs 0 < fraction <= 1")
    return None, share if isinstance(fraction, Rational) else float(fraction)


def exact_share(fraction: Any) -> Fraction:
    """Return a fraction as it is meant: a float is the decimal it prints as."""
    return Fraction(repr(fraction) if isinstance(fraction, float) else fraction)


def resolve_k(shown: str, k: Fraction | None, fraction: Any, m: int) -> Fraction:
    """Return k with 1 <= k <= m, or raise an InputError that names `shown`.

    Of a fraction, see `exact_share`; a k within 1e-12 of a whole number, relatively, is that
    number.
    """
    if k is None:
        k = exact_share(fraction) * m
        if abs(k - round(k)) <= Fraction(1, 10**12) * k:
            k = Fraction(round(k))
        if k < 1:
            raise InputError(
                f"{shown} gives k = {float(k):g} on this game with m = {m} examples, and k is "
                f"never below 1; use a fraction of at least 1/m = {1 / m:.6g}"
            )
    if k > m:
        raise InputError(
            f"{shown} needs 1 <= k <= m, and this game has m = {number_of(m, 'example')}: the "
            f"smallest cap 1/k that meets the simplex is 1/m = {1 / m:.6g}"
        )
    return k
