"""SS09, Fig. 2: the procedure as printed, in fractions, in doubles, and counted."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import distribution, projected, projected_softmax, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.relaxations._projections import by_sorting


def fig2(d0: Any, nu: Any, literal: bool = False) -> list[Any]:
    """Return d_t by the pseudo-code of Fig. 2, in the arithmetic of its arguments.

    Its first ENDFOR is read as the ENDIF that is missing; with `literal` as what is printed, so
    that Z keeps its first value throughout the loop. A division by zero is ZeroDivisionError.
    """
    u = sorted(d0, reverse=True)
    z, xi = sum(u), None
    for i in range(1, len(u) + 1):
        xi = (1 - nu * (i - 1)) / z
        if xi * u[i - 1] <= nu:
            break
        if not literal:
            z = z - u[i - 1]
    smaller = np.minimum if isinstance(u[0], float) else min  # the first passes nan on
    return [smaller(nu, xi * weight) for weight in d0]


def _solves(d: list[Any], d0: list[Fraction], nu: Fraction) -> Slacks:
    """Yield whether d is the solution of Eq. 14, which `projected` finds in another way."""
    yield equal(sum(d), 1, "mass")
    if sum(d) != 1:  # the plainest thing that can be wrong
        return
    solution = projected(d0, nu)
    for weight, right in zip(d, solution or [], strict=solution is not None):
        yield equal(weight, right, "d_t and the solution of Eq. 14")


@SOURCE.claim(
    "F2", space=Space(sizes={"m": (1, 8)}, d0=Distribution(), nu=Real(0.02, 0.99))
).checked(trials=300)
def figure(x: Instance) -> Slacks:
    d0, nu = distribution(x.d0), Fraction(x.nu)
    try:
        d = fig2(d0, nu)
    except ZeroDivisionError:
        yield equal(0, 1, "no mass, division by zero")
        return
    yield from _solves(d, d0, nu)


@figure.corrected()
def figure_feasible(x: Instance) -> Slacks:
    assume(Fraction(x.nu) * int(np.count_nonzero(x.d0)) >= 1)
    yield from figure(x)


CAPS = Space(sizes={"m": (2, 8)}, theta=Vector("m", -3.0, 3.0), k=Whole(2, "m"))
GIVEN = "d0 ∝ e^θ, ν = 1/k, 2 ≤ k ≤ m; in fractions"


@SOURCE.claim("F2-ENDFOR", given=GIVEN, space=CAPS)
def end_for(x: Instance, literal: bool = True) -> Slacks:
    d0, nu = distribution(softmax(x.theta)), Fraction(1, x.k)
    yield from _solves(fig2(d0, nu, literal), d0, nu)


@end_for.corrected()
def end_if(x: Instance) -> Slacks:
    yield from end_for(x, False)


def _levels(x: Instance) -> tuple[list[Fraction], Fraction]:
    """Return ξ u_i for each i that the procedure examines if it never stops, and ν."""
    u, nu = sorted(distribution(softmax(x.theta)), reverse=True), Fraction(1, x.k)
    return [(1 - nu * i) / sum(u[i:]) * u[i] for i in range(min(x.k, len(u)))], nu


@SOURCE.claim("F2-strict", given=GIVEN, space=CAPS)
def strict(x: Instance) -> Slack:
    levels, nu = _levels(x)
    return at_most(1, sum(level < nu for level in levels), "indices that pass the test")


@strict.corrected()
def not_strict(x: Instance) -> Slacks:
    levels, nu = _levels(x)
    yield at_most(1, sum(level <= nu for level in levels), "indices that pass the test")
    yield from end_for(x, False)


@SOURCE.claim(
    "F2-doubles", space=Space(sizes={"m": (2, 8)}, theta=Vector("m", -60.0, 0.0), k=Whole(2, "m"))
)
def doubles(x: Instance) -> Slacks:
    with np.errstate(all="ignore"):
        d = fig2(list(softmax(x.theta)), 1.0 / x.k)
    mass = math.fsum(d)
    if math.isnan(mass):
        yield equal(math.inf, 1, "mass, which is not a number")
        return
    yield from _accurate(d, x, mass)


@doubles.corrected()
def in_fractions(x: Instance) -> Slacks:
    assume(bool(softmax(x.theta).all()))
    yield from end_for(x, False)


@doubles.corrected()
def log_domain(x: Instance) -> Slacks:
    d = by_sorting(-x.theta, 1.0, x.k)
    yield from _accurate(d, x, math.fsum(d))


def _accurate(d: Any, x: Instance, mass: float) -> Slacks:
    yield equal(mass, near(1.0), "mass")
    if abs(mass - 1.0) > 1e-9:
        return
    for weight, right in zip(d, projected_softmax(x.theta, 1.0 / x.k), strict=True):
        yield equal(float(weight), near(right), "d_t and the solution of Eq. 14")


class _Counted:
    """A fraction that counts, in `done`, the operations it takes part in."""

    def __init__(self, value: Fraction, done: Counter[str]) -> None:
        self.value, self.done = value, done

    def __lt__(self, other: _Counted) -> bool:
        self.done["comparisons to sort"] += 1
        return self.value < other.value

    def __le__(self, other: Any) -> bool:
        self.done["others"] += 1
        return self.value <= _plain(other)

    def _counted(self, value: Fraction) -> _Counted:
        self.done["others"] += 1
        return _Counted(value, self.done)

    def __add__(self, other: Any) -> _Counted:
        return self._counted(self.value + _plain(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> _Counted:
        return self._counted(self.value - _plain(other))

    def __rsub__(self, other: Any) -> _Counted:
        return self._counted(_plain(other) - self.value)

    def __mul__(self, other: Any) -> _Counted:
        return self._counted(self.value * _plain(other))

    def __truediv__(self, other: Any) -> _Counted:
        return self._counted(self.value / _plain(other))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, _Counted) else value


LONG = Space(sizes={"m": (2, 150)}, theta=Vector("m", -3.0, 3.0), k=Whole(2, "m"))


@SOURCE.claim("F2-time", space=LONG).checked(trials=40)
def time(x: Instance) -> Slacks:
    m = len(x.theta)
    done: Counter[str] = Counter()
    d0 = [_Counted(weight, done) for weight in distribution(softmax(x.theta))]
    sorted(d0, reverse=True)
    yield at_most(done["comparisons to sort"], m * math.log2(m), "comparisons to sort")
    done.clear()
    fig2(d0, _Counted(Fraction(1, x.k), done))
    yield at_most(done.total(), m * math.log2(m) + 9 * m, "all")


@SOURCE.claim("F2-linear", space=LONG).checked(trials=40)
def linear(x: Instance) -> Slacks:
    d0, nu = distribution(softmax(x.theta)), Fraction(1, x.k)
    xi, seen = _by_medians(d0, nu)
    m = len(d0)
    yield at_most(seen, 2 * m + math.log2(m) + 1, "weights looked at")
    yield from _solves([min(nu, xi * weight) for weight in d0], d0, nu)


def _by_medians(d0: list[Fraction], nu: Fraction) -> tuple[Fraction, int]:
    """Return ξ, and how many weights have been looked at."""
    left, above, tail, seen = list(d0), 0, Fraction(0), 0  # tail: sum of what is surely uncapped
    while left:
        seen += len(left)
        pivot = sorted(left)[len(left) // 2]
        larger = [weight for weight in left if weight > pivot]
        others = [weight for weight in left if weight <= pivot]
        z = tail + sum(others)
        if (1 - nu * (above + len(larger))) * pivot <= nu * z:
            left, tail = larger, z
        else:
            equal_to = sum(weight == pivot for weight in others)
            above += len(larger) + equal_to
            left = [weight for weight in others if weight < pivot]
    return (1 - nu * above) / tail, seen
