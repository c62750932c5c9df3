"""The parameter k of relaxations with d_i <= 1/k, given directly or as a fraction of m."""

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
    """The base class of relaxations with a parameter k or `fraction` = k/m.

    If `fraction` is given, k is known only after a game has set the number of examples m.
    """

    k: Any
    fraction: Any

    def __post_init__(self) -> None:
        owner = self.family.rpartition(".")[2]
        if (self.k is None) == (self.fraction is None):
            raise InputError(f"{owner} needs either k or fraction, but not both")
        if self.k is not None:
            k = exact(owner, "k", self.k)
            if k < 1:
                raise InputError(
                    f"{owner}(k={spell(k)}) needs k >= 1, since no weight d_i exceeds 1/k"
                )
            object.__setattr__(self, "k", k)
            return
        share = exact(owner, "fraction", self.fraction)
        if not 0 < share <= 1:
            raise InputError(f"{owner}(fraction={spell(share)}) needs 0 < fraction <= 1")
        kept = share if isinstance(self.fraction, Rational) else float(self.fraction)
        object.__setattr__(self, "fraction", kept)

    @property
    def exact_k(self) -> Fraction:
        """The exact parameter k, or InputError if only `fraction` is known."""
        if self.k is None:
            raise InputError(
                f"{self!r} has no k before the number of examples m is known; call resolve(m)"
            )
        return self.k

    @cached_property
    def double_k(self) -> float:
        """The parameter k, rounded to the nearest double."""
        return float(self.exact_k)

    def exact_caps(self, m: int) -> list[Groups]:
        return [([[i] for i in range(m)], [1 / self.exact_k] * m)]

    def entropy_range(self, m: int) -> float:
        """Return log(m/k), a bound on the relative entropy of d to the uniform weights.

        The bound is attained if k is an integer.
        """
        return math.log(m / self.double_k)


def exact_between(
    owner: str, name: str, value: Any, low: Any, high: Any, remedy: str = ""
) -> Fraction:
    """Return the exact value of a parameter, or raise InputError unless low <= value <= high."""
    found = exact(owner, name, value)
    if not low <= found <= high:
        rule = f"{owner} needs {float(low):g} <= {name} <= {float(high):g}, got {value!r}"
        raise InputError(f"{rule}; {remedy}" if remedy else rule)
    return found


def exact_share(fraction: Any) -> Fraction:
    """Return the exact value of `fraction`. A float means the decimal number that Python prints."""
    return Fraction(repr(fraction) if isinstance(fraction, float) else fraction)


def near_integer(k: Fraction) -> Fraction:
    """Round k to the nearest integer if the relative difference is at most 1e-12."""
    return Fraction(round(k)) if abs(k - round(k)) <= Fraction(1, 10**12) * k else k


def resolve_k(shown: str, k: Fraction | None, fraction: Any, m: int) -> Fraction:
    """Return the parameter k for m examples, or raise InputError unless 1 <= k <= m."""
    if k is None:
        # The fraction 1/3 as a float and m = 3 mean k = 1.
        k = near_integer(exact_share(fraction) * m)
        if k < 1:
            raise InputError(
                f"{shown} gives k = {float(k):g} on this game with m = {m} examples, but k must "
                f"be at least 1; use a fraction of at least 1/m = {1 / m:.6g}"
            )
    if k > m:
        raise InputError(
            f"{shown} needs 1 <= k <= m, but this game has m = {number_of(m, 'example')}: "
            f"weights of at most 1/k sum to 1 only if 1/k is at least 1/m = {1 / m:.6g}"
        )
    return k
