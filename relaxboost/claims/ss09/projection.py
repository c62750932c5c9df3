"""SS09, Sec. 5.3 and App. A: Lemmas 15 and 16, and what is said between them and Fig. 2."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.measure import Vacuous
from relaxboost.claims.ss09.exact import (
    Fractions,
    distribution,
    divergence,
    level,
    projected,
    projected_softmax,
    softmax,
)
from relaxboost.claims.ss09.source import SOURCE

GIVEN = "d0 ∝ e^θ, hence positive; ν = 1/k, 1 ≤ k ≤ m"


def _space(spread: float = 3.0) -> Space:
    return Space(sizes={"m": (1, 7)}, theta=Vector("m", -spread, spread), k=Whole(1, "m"))


def _sorted_d0(x: Instance) -> tuple[Fractions, Fraction]:
    """Return d0 in non-increasing order, and ν."""
    return sorted(distribution(softmax(x.theta)), reverse=True), Fraction(1, x.k)


def _solution(d0: Fractions, nu: Fraction) -> Fractions:
    """Return the solution of Eq. 14, and leave the instance out if there is none."""
    d = projected(d0, nu)
    if d is None:
        raise Vacuous
    return d


def _xi(d0: Fractions, nu: Fraction, i: int, j: int) -> Fraction:
    """Return ξ of Lemma 16; i and j from 1."""
    return (1 - nu * (i - 1)) / sum(d0[i - 1 : j])


def _candidate(d0: Fractions, nu: Fraction, i: int, j: int) -> Fractions | None:
    """Return (ν, ..., ν, ξ d0_i, ..., ξ d0_j, 0, ..., 0) if it is below the cap."""
    if nu * (i - 1) > 1 or _xi(d0, nu, i, j) * d0[i - 1] > nu:
        return None
    xi = _xi(d0, nu, i, j)
    kept = [xi * weight for weight in d0[i - 1 : j]]
    return [nu] * (i - 1) + kept + [Fraction(0)] * (len(d0) - j)


def _candidates(d0: Fractions, nu: Fraction) -> Iterator[tuple[int, int, Fractions]]:
    """Yield i, j and the point they give, for all i and j whose point is below the cap."""
    for i, j in combinations_with_replacement(range(1, len(d0) + 1), 2):
        d = _candidate(d0, nu, i, j)
        if d is not None:
            yield i, j, d


@SOURCE.claim("L15", space=Space(sizes={"m": (1, 7)}, d0=Distribution(), nu=Real(0.1, 1.0)))
def order(x: Instance) -> Slacks:
    d0 = distribution(x.d0)
    d = _solution(d0, Fraction(x.nu))
    for a, left in zip(d0, d, strict=True):
        for b, right in zip(d0, d, strict=True):
            if a > b:
                yield at_least(left, right, "d_{t,j} ≤ d_{t,i}")


@SOURCE.claim("L15-form", space=Space(sizes={"m": (1, 7)}, d0=Distribution(), nu=Real(0.1, 1.0)))
def form(x: Instance) -> Slacks:
    d0, nu = sorted(distribution(x.d0), reverse=True), Fraction(x.nu)
    d = _solution(d0, nu)
    for r, (left, right) in enumerate(pairwise([nu, *d, Fraction(0)])):
        yield at_least(left, right, f"entries {r} and {r + 1}")
        if 0 < r < len(d0) and d0[r - 1] == d0[r]:
            yield equal(left, right, f"ties {r} and {r + 1}")


@SOURCE.claim(
    "L15-proof", space=Space(sizes={"m": (2, 6)}, theta=Vector("m", -3.0, 3.0), d=Distribution())
)
def swapped(x: Instance) -> Slacks:
    d0, m = softmax(x.theta), len(x.d)
    before = divergence(x.d, d0)
    for i in range(m):
        for j in range(m):
            if d0[i] > d0[j]:
                other = x.d.copy()
                other[i], other[j] = x.d[j], x.d[i]
                change = (x.d[j] - x.d[i]) * math.log(d0[i] / d0[j])
                yield equal(near(before - divergence(other, d0)), near(change), "change")
                if x.d[i] < x.d[j]:
                    yield at_least(Fraction(change), 0, "its sign")


@SOURCE.claim("L16", given="d_t the solution of Eq. 14; " + GIVEN, space=_space(6.0))
def between(x: Instance) -> Slacks:
    theta, nu = np.sort(x.theta)[::-1], 1.0 / x.k
    d, d0 = projected_softmax(theta, nu), softmax(theta)
    inside = np.flatnonzero(theta + level(theta, nu) < math.log(nu) - 1e-12)
    assume(inside.size > 0)
    first = int(inside[0])  # i − 1
    xi = (1.0 - nu * first) / math.fsum(d0[first:].tolist())
    for r in inside:
        yield equal(near(d[r], 1e-10), near(xi * d0[r], 1e-10), "d_{t,r} and ξ d0_r")


@between.step(
    space=Space(sizes={"m": (2, 5)}, d=Distribution(), d0=Distribution(), share=Real(0.01, 0.5))
)
def _(x: Instance) -> Slacks:
    assume(min(x.d.min(), x.d0.min()) >= 0.02)
    tau = x.share * float(x.d[1])
    before, after = x.d[:2], x.d[:2] + np.array([tau, -tau])
    change = math.fsum(
        [*(after * np.log(after / x.d0[:2])), *(-before * np.log(before / x.d0[:2]))]
    )
    rates = [float(np.log(d[0] / x.d0[0]) - np.log(d[1] / x.d0[1])) for d in (before, after)]
    yield at_least(change, tau * rates[0], "τ g(d), the change")
    yield at_most(change, tau * rates[1], "the change, τ g afterwards")


@between.step()
def _(x: Instance) -> Slacks:
    d0, nu = _sorted_d0(x)
    for i, j, d in _candidates(d0, nu):
        yield equal(sum(d), 1, f"Σ d, i = {i}, j = {j}")


@SOURCE.claim(
    "L16-proof", space=Space(sizes={"m": (1, 5)}, d=Distribution(), d0=Distribution())
).checked(trials=200, resolution=1e-3)
def gradient(x: Instance, more: float = 1.0) -> Slacks:
    assume(min(x.d.min(), x.d0.min()) >= 0.02)
    step, error, m = 1e-6, 1e-8, len(x.d)

    def b(i: int, t: float) -> float:
        """Return B_h(d + t e_i ‖ d0) − B_h(d ‖ d0), from the definition of B_h."""
        h = [s * math.log(m * s) for s in (x.d[i] + t, x.d[i])]
        return h[0] - h[1] - t * (math.log(m * x.d0[i]) + 1.0)

    for i in range(m):
        below, above = -b(i, -step) / step, b(i, step) / step
        # Rounded outwards to six digits, so that a gradient of 0 is shown as 0.
        ends = math.floor((below - error) * 1e6) / 1e6, math.ceil((above + error) * 1e6) / 1e6
        yield equal(Bracket(*ends), math.log(x.d[i]) + more - math.log(x.d0[i]), "∂B_h/∂d_i")


@gradient.corrected()
def gradient_without_one(x: Instance) -> Slacks:
    yield from gradient(x, 0.0)


@SOURCE.claim(
    "L16-objective",
    given="d_t = (ν, ..., ν, ξ d0_i, ..., ξ d0_j, 0, ..., 0) for any i, j; " + GIVEN,
    space=_space(),
)
def objective(x: Instance) -> Slacks:
    d0, nu = _sorted_d0(x)
    for i, j, d in _candidates(d0, nu):
        left = math.fsum(float(nu) * math.log(nu / weight) for weight in d0[: i - 1])
        rest, xi = 1 - nu * (i - 1), _xi(d0, nu, i, j)
        right = left + (float(rest) * math.log(xi) if rest else 0.0)
        yield equal(near(divergence(d, d0)), near(right), f"i = {i}, j = {j}")


@SOURCE.claim("L16-monotone", given=GIVEN, space=_space())
def monotone(x: Instance) -> Slacks:
    d0, nu = _sorted_d0(x)
    for i in range(1, min(x.k, len(d0)) + 1):
        rest = float(1 - nu * (i - 1))
        for j in range(i, len(d0)):
            more, less = _xi(d0, nu, i, j), _xi(d0, nu, i, j + 1)
            yield at_least(more, less, f"ξ({i}, {j + 1}) ≤ ξ({i}, {j})")
            yield at_most(rest * math.log(less), rest * math.log(more), "objective")


@SOURCE.claim("L16-zeros", given=GIVEN, space=_space())
def no_zeros(x: Instance) -> Slacks:
    d0, nu = _sorted_d0(x)
    values = [(j, divergence(d, d0)) for _, j, d in _candidates(d0, nu)]
    best = min(value for j, value in values if j == len(d0))
    for j, value in values:
        if j < len(d0):
            yield at_most(best, value, f"j = m and j = {j}")
    solution = _solution(d0, nu)
    yield at_least(int(solution[-1] > 0), 1, "d_{t,m} > 0")
    yield equal(near(best), near(divergence(solution, d0)), "the best is the solution of Eq. 14")


@SOURCE.claim(
    "L16-first",
    given=GIVEN + "; among all points of the form of Lemma 16 with j = m",
    space=_space(),
)
def fewest_capped(x: Instance) -> Slacks:
    d0, nu = _sorted_d0(x)
    points = [_candidate(d0, nu, i, len(d0)) for i in range(1, len(d0) + 1)]
    values = [divergence(d, d0) for d in points if d is not None]
    for value in values[1:]:
        yield at_most(values[0], value, "first and a later i")
    solution = _solution(d0, nu)
    yield equal(near(values[0]), near(divergence(solution, d0)), "and the solution of Eq. 14")
