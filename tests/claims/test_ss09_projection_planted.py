"""Wrong variants of true statements of SS09 Sec. 5 and its appendices: each must be refuted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from relaxboost.claims import Distribution, Real, Source, Space, Vector, Whole, get
from relaxboost.claims.measure import at_least, at_most, equal
from relaxboost.claims.sides import exactly, near
from relaxboost.claims.ss09 import appendix, conjugates, exact, projection
from relaxboost.claims.ss09.strong import KINDS, dual, dual_vector

X = Source("X", "Wrong variants")


def wrong(name, like=None, space=None):
    """Register a check over the space of a claim."""
    space = space or get(f"SS09-{like}").space
    return X.claim(name, "test", "wrong", formula="", space=space)


@wrong("sigma-larger", "D10-entropy")
def sigma_larger(x):
    a, d = x.alpha, x.alpha * x.v + (1 - x.alpha) * x.u
    bend = 1.1 / 2 * a * (1 - a) * np.abs(x.v - x.u).sum() ** 2
    h = exact.entropy
    return at_most(h(d) + bend, a * h(x.v) + (1 - a) * h(x.u))


@wrong("half-forgotten", "D10-entropy")
def half_forgotten(x):
    a, d = x.alpha, x.alpha * x.v + (1 - x.alpha) * x.u
    bend = a * (1 - a) * np.abs(x.v - x.u).sum() ** 2
    h = exact.entropy
    return at_most(h(d) + bend, a * h(x.v) + (1 - a) * h(x.u))


@wrong("smooth-halved", "L18")
def smooth_halved(x):
    f, step = KINDS[x.f], x.step * x.v
    left = f.conjugate(x.theta + step) - f.conjugate(x.theta)
    return at_most(
        left, near(float(f.argmax(x.theta) @ step) + f.dual_size(step) ** 2 / (4 * f.sigma))
    )


@wrong("smooth-in-another-norm", "L18")
def smooth_in_max_norm(x):
    f, step = KINDS[x.f], x.step * x.v
    left = f.conjugate(x.theta + step) - f.conjugate(x.theta)
    bend = np.abs(step).max() ** 2 / (2 * f.sigma)
    return at_most(left, near(float(f.argmax(x.theta) @ step) + bend))


@wrong("sigma-not-inverted", "L18")
def sigma_not_inverted(x):
    f, step = KINDS[x.f], x.step * x.v
    left = f.conjugate(x.theta + step) - f.conjugate(x.theta)
    bend = f.sigma * f.dual_size(step) ** 2 / 2
    return at_most(left, near(float(f.argmax(x.theta) @ step) + bend))


@wrong("gradient-without-normalising", "L18-gradient")
def gradient_of_another(x):
    f, s = KINDS["relative entropy"], x.step
    w = np.exp(x.theta) / len(x.theta)
    ahead = f.conjugate(x.theta + s * x.v) - f.conjugate(x.theta)
    return at_most(s * float(w @ x.v), near(ahead))


@wrong("equality-elsewhere", "L17")
def equality_elsewhere(x):
    w, theta, value, star = appendix.SUBGRADIENTS[x.f](x.w, x.chosen)
    return equal(near(value + star), near(float(theta @ w) / 2))


@wrong("sandwich-reversed", "L19")
def sandwich_reversed(x):
    linear = x.D @ x.theta
    f = x.g - x.c * x.share
    return at_most((linear - f).max(), (linear - x.g).max())


@wrong("index-shifted", "L20")
def index_shifted(x):
    for t, epsilon in enumerate(appendix.sequence(x), 1):
        yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 2)), round=t)


@wrong(
    "any-r",
    space=Space(
        sizes={"t": (1, 4)}, first=Real(0, 1), r=Real(0.1, 1, log=True), less=Vector("t", 0, 1)
    ),
)
def any_r(x):
    for t, epsilon in enumerate(appendix.sequence(x, 20), 1):
        yield at_most(epsilon, 1 / (Fraction(x.r) * (t + 1)), round=t)


@wrong("own-norm", "AppB-1")
def own_norm(x):
    p = conjugates.NORMS[x.p]
    best = x.nu * dual_vector(x.theta, p)
    return equal(near(float(best @ x.theta)), near(x.nu * float(np.linalg.norm(x.theta, p))))


@wrong("square-of-nu", "AppB-4")
def one_and_not_half(x):
    p = conjugates.NORMS[x.p]
    size = float(np.linalg.norm(x.theta, dual(p)))
    best = size * dual_vector(x.theta, p)
    gained = float(best @ x.theta) - 0.5 * float(np.linalg.norm(best, p)) ** 2
    return equal(near(gained), near(size**2))


@wrong("without-1/m", "AppB-3")
def without_m(x):
    best = exact.softmax(x.theta)
    value = float(np.logaddexp.reduce(x.theta))
    return equal(near(float(best @ x.theta) - exact.entropy(best)), near(value))


FINITE = conjugates.FINITE


@wrong("negative-multiple", space=Space(sizes={"m": (1, 4)}, **FINITE, c=Real(-2, -0.1)))
def negative_multiple(x):
    points, values, theta = conjugates._finite(x)
    c = Fraction(x.c)
    left = conjugates.conjugate(points, c * values, theta)
    return equal(left, c * conjugates.conjugate(points, values, theta / c))


@wrong("sign-of-translate", "AppB-6")
def sign_of_translate(x):
    points, values, theta = conjugates._finite(x)
    d0 = exactly(x.d0)
    right = conjugates.conjugate(points, values, theta) + theta @ d0
    return equal(conjugates.conjugate(points - d0, values, theta), right)


@wrong("dilation-not-inverted", "AppB-7")
def dilation_not_inverted(x):
    points, values, theta = conjugates._finite(x)
    c = Fraction(x.c) or Fraction(1)
    left = conjugates.conjugate(points / c, values, theta)
    return equal(left, conjugates.conjugate(points, values, theta * c))


@wrong("l1-with-l2", "Sec2-dual-norms")
def l1_with_l2(x):
    return equal(near(np.abs(x.w).sum()), near(float(np.linalg.norm(x.w))))


@wrong("strict-order", "L15")
def strict_order(x):
    d0 = exact.distribution(x.d0)
    d = exact.projected(d0, Fraction(x.nu)) or []
    if d:
        pairs = [(i, j) for i in range(len(d)) for j in range(len(d)) if d0[i] > d0[j]]
        for i, j in pairs:
            yield at_least(d[i] - d[j], Fraction(1, 10**9))


@wrong("i-for-i-1", "L16")
def shifted_xi(x):
    theta, nu = np.sort(x.theta)[::-1], 1.0 / x.k
    d, d0 = exact.projected_softmax(theta, nu), exact.softmax(theta)
    for first in np.flatnonzero(d < nu - 1e-9)[:1]:
        xi = (1 - nu * (first + 1)) / d0[first:].sum()
        yield equal(near(d[first]), near(xi * d0[first]))


@wrong("most-capped", "L16-first")
def most_capped(x):
    d0, nu = projection._sorted_d0(x)
    points = [projection._candidate(d0, nu, i, len(d0)) for i in range(1, len(d0) + 1)]
    values = [exact.divergence(d, d0) for d in points if d is not None]
    return at_most(values[-1], min(values))


@wrong("sign-of-Aw", "Eq14")
def sign_of_margins(x):
    u = x.A @ x.w / x.beta
    for left, right in zip(
        exact.projected_softmax(u, 1 / x.k), exact.projected_softmax(-u, 1 / x.k), strict=True
    ):
        yield equal(near(left), near(right))


@wrong(
    "swap-reversed",
    space=Space(sizes={"m": (2, 6)}, theta=Vector("m", -3, 3), d=Distribution(), k=Whole(1, 2)),
)
def swap_reversed(x):
    d0, other = exact.softmax(x.theta), x.d.copy()
    other[:2] = x.d[1::-1] if len(x.d) == 2 else [x.d[1], x.d[0]]
    change = (x.d[0] - x.d[1]) * math.log(d0[0] / d0[1])
    return equal(near(exact.divergence(x.d, d0) - exact.divergence(other, d0)), near(change))


@wrong("more-than-the-curvature", "D10-curvature")
def more_than_the_curvature(x):
    b, c, p, a = (Fraction(value) for value in (x.b, x.c, x.p, x.alpha))
    v, u = Fraction(x.v), Fraction(x.u)

    def f(s):
        return b * s**2 / 2 + c * (s - p) ** 4 / 12

    bend = (b + c / 10) * a * (1 - a) * (v - u) ** 2 / 2
    return at_most(f(a * v + (1 - a) * u) + bend, a * f(v) + (1 - a) * f(u))


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_planted_errors_are_found(claim):
    verdict = claim.attack(budget=600, seed=0)
    assert verdict.status == "false as stated", str(verdict)
    found = verdict.counterexample
    assert claim.space.complexity(claim.space.from_json(found.instance)) <= 60, found.instance
    sizes = claim.space._sizes(claim.space.from_json(found.instance))
    assert all(size <= 3 for size in sizes.values()), found.instance
    assert claim.check().status == "false as stated"
