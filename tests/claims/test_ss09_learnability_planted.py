"""Wrong variants of true statements of SS09, Sections 2 to 4: each is found out, by little data."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.claims import at_least, at_most, equal
from relaxboost.claims.sides import avg_min, exactly, in_l1_ball, largest_edge, on_simplex, optimum
from relaxboost.claims.ss09 import learnability as good
from relaxboost.claims.ss09.penalties import PENALTIES, hinge_side

X = rb.claims.Source("X", "Statements that are wrong by a little.")
FROM = {c.id.removeprefix("SS09-"): c.space for c in rb.claims.all("SS09")}


def planted(name, of):
    return X.claim(name, f"like {of}", name, formula="", space=FROM[of]).checked(trials=60)


@planted("every w has the margin, not some", "D1")
def quantifier(x):
    return at_least(min(exactly(x.A) @ in_l1_ball(exactly(x.w))), x.optimum(rb.Game(x.A)))


@planted("edges without absolute values", "T4")
def unsigned(x):
    _, d, w = optimum(x, rb.Game(x.A))
    return equal(max(on_simplex(d) @ exactly(x.A)), min(exactly(x.A) @ in_l1_ball(w)))


@planted("dual norms swapped", "Sec2-dual-norms")
def swapped(x):
    w = exactly(x.w)
    corners = itertools.product((-1, 1), repeat=len(w))
    return equal(max(sum(a * b for a, b in zip(w, c, strict=True)) for c in corners), max(abs(w)))


@planted("f*(Aw) in place of f*(−Aw)", "T3")
def sign_in_fenchel(x):
    if x.pair != "squares":
        return
    f = lambda d: 0.5 * float(np.sum((d - x.b) ** 2))  # noqa: E731
    left = -0.5 * float(x.A @ x.w @ x.A @ x.w) - float(x.b @ x.A @ x.w)
    left -= 0.5 * float(x.w @ x.w) + float(x.c @ x.w)
    yield at_most(left, f(x.d) + 0.5 * float(np.sum((x.d @ x.A - x.c) ** 2)))


@planted("k + 1 greatest", "remark-conjugate")
def one_more(x):
    theta, k = exactly(x.theta), x.k
    best = max(sum(c) / Fraction(k) for c in itertools.combinations(theta, k))
    return equal(best, sum(sorted(theta)[::-1][: k + 1]) / Fraction(k + 1))


@planted("average of k − 1", "C5")
def one_less(x):
    rho, _, w = optimum(x, rb.Game(x.A, rb.Capped(x.k)))
    return equal(avg_min(exactly(x.A) @ in_l1_ball(w), max(1, x.k - 1)), rho)


@planted("caps of 2/k", "Eq2")
def wide_caps(x):
    _, d, _ = optimum(x, rb.Game(x.A, rb.Capped(max(1, Fraction(x.k, 2)))))
    return equal(largest_edge(exactly(x.A), d), x.optimum(rb.Game(x.A, rb.Capped(x.k))))


@planted("one example more than m − k + 1", "remark-k-share")
def count(x):
    rho, _, w = optimum(x, rb.Game(x.A, rb.Capped(x.k)))
    margins = exactly(x.A) @ in_l1_ball(w)
    return at_least(sum(u >= rho.lower for u in margins), min(len(margins), len(margins) - x.k + 2))


@planted("half the k", "remark-noise-k")
def half(x):
    gamma = Fraction(x.gamma)
    k = max(1, math.ceil(x.nu * (gamma + 1) / gamma))
    rb.claims.assume(k <= len(x.A))
    A = good._noisy(x).astype(np.float64)
    return at_least(x.optimum(rb.Game(A, rb.Capped(k))), gamma / 2)


@planted("hinge losses over m", "E1-soft-margin")
def average_loss(x):
    u = exactly(x.u)
    best = max(g - sum(max(g - v, Fraction(0)) for v in u) / Fraction(len(u)) for g in u)
    return equal(best, avg_min(u, x.k))


@planted("γ − θ for γ + θ", "L8")
def other_sign(x):
    if x.f == "open cube":
        return
    f = PENALTIES[x.f]
    best = f.relaxation(x.theta.size, x.s).resolve(x.theta.size).relaxed_margin(-x.theta)[1]
    left = float(x.theta @ best) - f.f(best, x.s)
    yield at_most(left, -hinge_side(x.theta, f, x.s) + 1e-6)


@planted("no positive part", "L8-minimiser")
def no_positive_part(x):
    f, least = PENALTIES[x.f], x.theta + x.gamma
    return at_most(f.f_star(least, x.s), f.f_star(least + x.more, x.s))


@planted("3/2-norm for the 3-norm", "T7")
def norm_swapped(x):
    f = PENALTIES["3-norm ball"]
    m = len(x.A)
    nu = (1.05 + x.s) * m ** (1 / 3 - 1)
    rho, _, w = optimum(x, rb.Game(x.A, f.relaxation(m, x.s)))
    u = (x.A @ w).astype(float)
    best = max(
        g - nu * float(np.linalg.norm(np.maximum(g - u, 0), 3))
        for g in u.min() + np.linspace(0, 9, 901)
    )
    return at_most(best, rho)


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_wrong_statements_are_found_out(claim):
    verdict = claim.attack(60 if "norm for" in claim.id else 400, seed=1)
    assert verdict.status == "false as stated"
    found = verdict.counterexample.instance
    if "A" in found:
        assert np.asarray(found["A"], dtype=object).size <= 8, found
    else:
        assert all(len(v) <= 3 for v in found.values() if isinstance(v, list)), found
