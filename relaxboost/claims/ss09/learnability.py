"""SS09, Sec. 3 and 4.1: margins are edges, and so are the means of the k smallest margins."""

import itertools
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import (
    avg_min,
    in_l1_ball,
    largest_edge,
    on_simplex,
    optimum,
    under_cap,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

CAPPED = Space(A=Matrix(), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0), w=Weights())


POINTS = Space(A=Matrix(), d=Vector("m", 0.0, 1.0), w=Weights())


@SOURCE.claim("T4", space=Space(A=Matrix()))
def equivalence(x: Instance) -> Slacks:
    """A d and a w with the same value prove each other optimal; both are evaluated in fractions.

    Proof. Take f = I_S and g = ‖·‖_∞ in Theorem 3. f*(θ) = max_i θ_i, so that −f*(−Aw) is the least
    margin; g*(w) is 0 for ‖w‖_1 ≤ 1 and ∞ elsewhere. So the two sides are those of Definitions 1
    and 2. dom(g) = ℝⁿ, and so is the difference of vectors dom(g) − Aᵀdom(f), with 0 in its core.
    """
    A = exactly(x.A)
    _, d, w = optimum(x, Game(x.A))
    yield equal(largest_edge(A, on_simplex(d)), min(A @ in_l1_ball(w)), "edge and margin")
    yield at_least(min(A @ in_l1_ball(w)), 0, "w = 0 is no better")


@equivalence.step(
    "The conjugate of I_S at −Aw.", "max_{d in S} <d, −Aw> = −min_i (Aw)_i", space=POINTS
)
def _(x: Instance) -> Slacks:
    u, d = exactly(x.A) @ in_l1_ball(exactly(x.w)), on_simplex(exactly(x.d))
    yield equal(max(np.eye(len(u), dtype=int) @ -u), -min(u), "vertices")
    yield at_most(-d @ u, -min(u), "the d drawn")


@equivalence.step(
    "The conjugate of the ℓ∞ norm is the indicator of the ℓ1 ball.",
    "<v, w> ≤ ‖v‖_∞ ‖w‖_1, with equality for v = sign w",
    space=Space(v=Vector("n"), w=Vector("n", -3.0, 3.0)),
)
def _(x: Instance) -> Slacks:
    """sup <v, w> − ‖v‖_∞ = sup_s s (‖w‖_1 − 1) over s = ‖v‖_∞."""
    v, w = exactly(x.v), exactly(x.w)
    size = sum(abs(one) for one in w)
    yield at_most(sum(v * w), max(abs(one) for one in v) * size, "the v drawn")
    yield equal(sum(exactly(np.sign(x.w)) * w), size, "v = sign w")


@SOURCE.claim("T4-end", space=POINTS.but(v=Vector("n"), share=Real(0.0, 1.0))).checked(trials=60)
def outside(x: Instance) -> Slacks:
    """The property holds; that it suffices reads the − of Theorem 3 as the exclusion of sets.

    T3-exclusion refutes that. With the difference of vectors nothing is left to show, as
    dom(g) = ℝⁿ.

    Proof. ‖τv − Aᵀd‖_∞ ≥ ‖Aᵀd‖_∞ − τ‖v‖_∞ by the triangle inequality. The first is at least γ by
    Definition 2, the second at most τ'‖v‖_∞ = γ/2.
    """
    A = exactly(x.A)
    gamma, best, _ = optimum(x, Game(x.A))
    assume(gamma.lower > 0)
    assert isinstance(gamma.lower, Fraction)
    for d in (best, on_simplex(exactly(x.d))):
        for v in (best @ A, exactly(x.v)):
            size = max(abs(one) for one in v)
            for share in (Fraction(1), Fraction(x.share)):
                tau = share * gamma.lower / (2 * size) if size else share
                yield at_least(max(abs(e) for e in tau * v - d @ A), gamma / 2, "distance")


@outside.step("The triangle inequality.", "‖τv − Aᵀd‖_∞ ≥ ‖Aᵀd‖_∞ − τ‖v‖_∞")
def _(x: Instance) -> Slack:
    v, edges, tau = exactly(x.v), on_simplex(exactly(x.d)) @ exactly(x.A), Fraction(x.share)
    left = max(abs(e) for e in tau * v - edges)
    return at_least(left, max(abs(e) for e in edges) - tau * max(abs(one) for one in v))


@outside.step("No distribution leaves every edge below γ.", "‖Aᵀd‖_∞ ≥ γ")
def _(x: Instance) -> Slack:
    return at_least(largest_edge(exactly(x.A), on_simplex(exactly(x.d))), x.optimum(Game(x.A)))


@SOURCE.claim(
    "remark-opposite", space=Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), i=Whole(1, "m"))
).checked(trials=60)
def separable_with_zero(x: Instance) -> Slack:
    """w = 0 has margin 0, so that by Definition 1 every matrix is separable with some γ ≥ 0, and
    by Definition 2 every matrix is weak-learnable with that γ.
    """
    A, _ = _opposed(x)
    found = min(A @ exactly(np.zeros(A.shape[1]))) >= 0
    return equal(int(found), 0, "w = 0 has min (Aw)_i ≥ 0, 1 for yes")


@separable_with_zero.corrected(
    "reading: separable and weak-learnable mean that γ > 0.",
    "dᵀA = 0 for d_i = d_j = ½, and ρ = 0",
)
def opposite_rows(x: Instance) -> Slacks:
    """The row after row i is replaced by its negation: a change of one example is enough.

    Proof. The rows i and j cancel in dᵀA, so that ρ ≤ 0, and an absolute value is never below 0.
    By Theorem 4 there is no margin either: (Aw)_j = −(Aw)_i.
    """
    A, d = _opposed(x)
    yield equal(largest_edge(A, d), 0, "edges of d")
    yield equal(x.optimum(Game(A.astype(np.float64))), 0, "ρ")


def _opposed(x: Instance) -> tuple[Exact, Exact]:
    """Return A with the negation of row i after it, and half and half on the two."""
    A, i = exactly(x.A), x.i - 1
    j = (i + 1) % len(A)
    A[j] = -A[i]
    d = exactly(np.zeros(len(A)))
    d[i] = d[j] = Fraction(1, 2)
    return A, d


@opposite_rows.step("The two rows cancel.", "dᵀA = ½ A_i + ½ A_j = 0")
def _(x: Instance) -> Slack:
    A, d = _opposed(x)
    return equal(largest_edge(A, d), 0, "edges of d")


@opposite_rows.step(
    "No w is right on both.",
    "min((Aw)_i, (Aw)_j) ≤ 0",
    space=Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), i=Whole(1, "m"), w=Weights()),
)
def _(x: Instance) -> Slack:
    A, d = _opposed(x)
    return at_most(min((A @ exactly(x.w))[d > 0]), 0, "the lesser margin")


@SOURCE.claim("Eq2", space=CAPPED).checked(trials=60)
def capped_learnability(x: Instance) -> Slacks:
    """In fractions: the d of the optimum, and the d drawn, mixed with the uniform one."""
    A = exactly(x.A)
    rho, best, _ = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(largest_edge(A, best), rho, "attained")
    yield equal(sum(best), 1, "sum of d")
    yield at_least(min(best), 0, "least weight")
    yield at_most(max(best), Fraction(1, x.k), "largest weight")
    yield at_least(largest_edge(A, under_cap(exactly(x.d), x.k)), rho, "the d drawn")
    yield at_least(largest_edge(A, under_cap(exactly(np.ones(len(A))), x.k)), rho, "uniform d")


@SOURCE.claim(
    "remark-conjugate",
    space=Space(sizes={"m": (1, 7)}, theta=Vector("m"), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0)),
).checked(trials=150)
def conjugate_of_caps(x: Instance) -> Slacks:
    """The vertices of the capped simplex have k weights of 1/k; all are tried, in fractions.

    Proof. Let s be the k-th greatest element. For weights up to 1/k <d, θ> = s + Σ d_i (θ_i − s)
    is at most s + (1/k) Σ [θ_i − s]_+. The sum has at most k terms that are not 0,
    those of the k greatest elements: it is (1/k) Σ_{j ≤ k} s_j. Weights of 1/k on these attain
    it.
    """
    theta, k = exactly(x.theta), x.k
    formula = sum(sorted(theta, reverse=True)[:k]) / Fraction(k)
    vertices = itertools.combinations(theta, k)
    yield equal(max(sum(chosen) / Fraction(k) for chosen in vertices), formula, "vertices")
    yield at_most(sum(under_cap(exactly(x.d), k) * theta), formula, "the d drawn")


@conjugate_of_caps.step(
    "Elements below s are worth 0, others at most 1/k.", "<d, θ> ≤ s + (1/k) Σ [θ_i − s]_+"
)
def _(x: Instance) -> Slack:
    theta, k = exactly(x.theta), x.k
    s = sorted(theta, reverse=True)[k - 1]
    above = sum(max(t - s, Fraction(0)) for t in theta)
    return at_most(sum(under_cap(exactly(x.d), k) * theta), s + above / k)


@conjugate_of_caps.step(
    "That is the mean of the k greatest.", "s + (1/k) Σ [θ_i − s]_+ = (1/k) Σ_{j ≤ k} s_j(θ)"
)
def _(x: Instance) -> Slack:
    theta, k = exactly(x.theta), x.k
    greatest = sorted(theta, reverse=True)
    above = sum(max(t - greatest[k - 1], Fraction(0)) for t in theta)
    return equal(greatest[k - 1] + above / k, sum(greatest[:k]) / Fraction(k))


@SOURCE.claim("Eq3", space=CAPPED).checked(trials=300)
def dual_of_caps(x: Instance) -> Slack:
    """Weak duality at the w and the d drawn, in fractions.

    Proof. The mean of the k smallest margins is at most <d, Aw>, as for θ = −Aw in the conjugate
    before. <d, Aw> = <dᵀA, w> is at most the largest edge times ‖w‖_1 ≤ 1.
    """
    A = exactly(x.A)
    margins = sorted(A @ in_l1_ball(exactly(x.w)), reverse=True)
    m, k = len(margins), x.k
    left = sum(margins[m - j - 1] for j in range(k)) / Fraction(k)
    return at_most(left, largest_edge(A, under_cap(exactly(x.d), k)), "average and edge")


@dual_of_caps.step("No capped d averages less.", "AvgMin_k(Aw) ≤ <d, Aw>")
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    return at_most(avg_min(u, x.k), sum(under_cap(exactly(x.d), x.k) * u))


@dual_of_caps.step("No w of the ball has more than the largest edge.", "<dᵀA, w> ≤ ‖dᵀA‖_∞")
def _(x: Instance) -> Slack:
    A, d = exactly(x.A), under_cap(exactly(x.d), x.k)
    return at_most(sum((d @ A) * in_l1_ball(exactly(x.w))), largest_edge(A, d))


@SOURCE.claim("C5", space=CAPPED)
def averages(x: Instance) -> Slacks:
    """The w of the optimum has ρ, which the d of the optimum proves; the w drawn has no more.

    Proof. Theorem 3 as for T4, with f the indicator of the capped simplex: −f*(−Aw) = AvgMin_k(Aw)
    by remark-conjugate. dom(g) = ℝⁿ again, so that nothing is left to show for equality.
    """
    A = exactly(x.A)
    rho, d, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(avg_min(A @ in_l1_ball(w), x.k), largest_edge(A, d), "average and edge")
    yield equal(avg_min(A @ in_l1_ball(w), x.k), rho, "average and ρ")
    yield at_most(avg_min(A @ in_l1_ball(exactly(x.w)), x.k), rho, "the w drawn")


@averages.step("The mean of the k greatest of −Aw.", "f*(−Aw) = −AvgMin_k(Aw)")
def _(x: Instance) -> Slack:
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    greatest = max(sum(chosen) / Fraction(x.k) for chosen in itertools.combinations(-u, x.k))
    return equal(greatest, -avg_min(u, x.k), "vertices and AvgMin_k")
