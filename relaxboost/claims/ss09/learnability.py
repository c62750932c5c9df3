"""SS09, Sec. 3 and 4.1: margins are edges, and so are the means of the k smallest margins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost.claims import Instance, Matrix, Real, Space, Vector, Weights, Whole
from relaxboost.claims.measure import Slack, assume, at_least, at_most, equal
from relaxboost.claims.sides import (
    Exact,
    avg_min,
    exactly,
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


@SOURCE.claim(
    "T4",
    "Theorem 4",
    "A matrix is γ-weak-learnable if and only if it is linearly separable with ℓ1 margin γ.",
    formula="min_{d in S} max_j |(dᵀA)_j| = max_{w in B_1} min_i (Aw)_i",
    space=Space(A=Matrix()),
)
def equivalence(x: Instance) -> Iterator[Slack]:
    """A d and a w with the same value prove each other optimal; both are evaluated in fractions.

    The proof's last step reads the − of Theorem 3 as set exclusion; with the difference of
    vectors it is not needed, as dom(g) is the whole space.
    """
    A = exactly(x.A)
    _, d, w = optimum(x, Game(x.A))
    yield equal(largest_edge(A, on_simplex(d)), min(A @ in_l1_ball(w)), "edge and margin")
    yield at_least(min(A @ in_l1_ball(w)), 0, "w = 0 is no better")


@SOURCE.claim(
    "remark-opposite",
    "Sec. 4.1, opposite rows",
    "A matrix whose row i is the negation of its row j is neither separable nor weak-learnable.",
    formula="dᵀA = 0 for d_i = d_j = ½, and ρ = 0",
    space=Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), i=Whole(1, "m")),
).checked(trials=60)
def opposite_rows(x: Instance) -> Iterator[Slack]:
    """The row after row i is replaced by its negation."""
    A, i = np.array(x.A), x.i - 1
    j = (i + 1) % len(A)
    A[j] = -A[i]
    d = exactly(np.zeros(len(A)))
    d[i] = d[j] = Fraction(1, 2)
    yield equal(largest_edge(exactly(A), d), 0, "edges of d")
    yield equal(x.optimum(Game(A)), 0, "ρ")


SOURCE.unchecked(
    "remark-overweight",
    "Sec. 4.1, noisy examples",
    "AdaBoost over-weighs examples, which partly explains its poor performance on noisy data.",
    "An observation of other papers; neither the data nor what counts as over-weighing is given.",
)


@SOURCE.claim(
    "Eq2",
    "Eq. 2",
    "The relaxed weak learnability ρ is attained, and no d with weights of at most 1/k has less.",
    formula="ρ = min_{d in S: ‖d‖_∞ ≤ 1/k} max_j |(dᵀA)_j|",
    given="k in [m]",
    space=CAPPED,
).checked(trials=60)
def capped_learnability(x: Instance) -> Iterator[Slack]:
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
    "Sec. 4.1, before Eq. 3",
    "The conjugate of the indicator of the capped simplex is the mean of the k greatest elements.",
    formula="max_{d in S: ‖d‖_∞ ≤ 1/k} <d, θ> = (1/k) Σ_{j ≤ k} s_j(θ)",
    given="k in [m]",
    space=Space(sizes={"m": (1, 7)}, theta=Vector("m"), k=Whole(1, "m"), d=Vector("m", 0.0, 1.0)),
).checked(trials=150)
def conjugate_of_caps(x: Instance) -> Iterator[Slack]:
    """The vertices of the capped simplex have k weights of 1/k; all are tried, in fractions."""
    theta, k = exactly(x.theta), x.k
    formula = sum(sorted(theta, reverse=True)[:k]) / Fraction(k)
    vertices = itertools.combinations(theta, k)
    yield equal(max(sum(chosen) / Fraction(k) for chosen in vertices), formula, "vertices")
    yield at_most(sum(under_cap(exactly(x.d), k) * theta), formula, "the d drawn")


@SOURCE.claim(
    "Eq3",
    "Eq. 3",
    "The dual of Eq. 2, never above it, maximises the average of the k smallest margins.",
    formula="max_{w in B_1} (1/k) Σ_{j < k} s_{m−j}(Aw) ≤ max_j |(dᵀA)_j|",
    given="k in [m], d in S with ‖d‖_∞ ≤ 1/k",
    space=CAPPED,
).checked(trials=300)
def dual_of_caps(x: Instance) -> Slack:
    """Weak duality at the w and the d drawn, in fractions."""
    A = exactly(x.A)
    margins = sorted(A @ in_l1_ball(exactly(x.w)), reverse=True)
    m, k = len(margins), x.k
    left = sum(margins[m - j - 1] for j in range(k)) / Fraction(k)
    return at_most(left, largest_edge(A, under_cap(exactly(x.d), k)), "average and edge")


@SOURCE.claim(
    "C5",
    "Corollary 5",
    "The greatest average of the k smallest margins is the least edge over capped distributions.",
    formula="max_{w in B_1} AvgMin_k(Aw) = ρ",
    given="k in [m], ρ as in Eq. 2",
    space=CAPPED,
)
def averages(x: Instance) -> Iterator[Slack]:
    """The w of the optimum has ρ, which the d of the optimum proves; the w drawn has no more."""
    A = exactly(x.A)
    rho, d, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(avg_min(A @ in_l1_ball(w), x.k), largest_edge(A, d), "average and edge")
    yield equal(avg_min(A @ in_l1_ball(w), x.k), rho, "average and ρ")
    yield at_most(avg_min(A @ in_l1_ball(exactly(x.w)), x.k), rho, "the w drawn")


@SOURCE.claim(
    "remark-k-1",
    "Sec. 4.1, remark on k = 1",
    "For k = 1 AvgMin_k is the minimum, and ρ the margin of Definition 1.",
    formula="AvgMin_1(Aw) = min_i (Aw)_i",
    space=CAPPED,
).checked(trials=60)
def one_smallest(x: Instance) -> Iterator[Slack]:
    """The cap of 1 excludes no distribution."""
    u = exactly(x.A) @ in_l1_ball(exactly(x.w))
    yield equal(avg_min(u, 1), min(u), "average and minimum")
    _, _, w = optimum(x, Game(x.A, Capped(1)))
    margin, _, _ = optimum(x, Game(x.A))
    yield equal(min(exactly(x.A) @ in_l1_ball(w)), margin, "margins with k = 1 and without caps")


@SOURCE.claim(
    "remark-k-m",
    "Sec. 4.1, remark on k = m",
    "For k = m the optimal w has w_j = 1 for the feature that maximises |(dᵀA)_j|, d uniform.",
    formula="AvgMin_m(A e_j) = ρ = max_j |(dᵀA)_j| for d = 1/m",
    space=Space(A=Matrix()),
    counterexamples=[{"A": [[-1]]}],
).checked(trials=60)
def one_hypothesis(x: Instance) -> Slack:
    """The sign is missing: a feature of negative edge enters with w_j = −1."""
    j, _ = _best_feature(exactly(x.A))
    return equal(avg_min(exactly(x.A)[:, j], len(x.A)), x.optimum(Game(x.A, Capped(len(x.A)))))


@one_hypothesis.corrected(
    "w_j is the sign of (dᵀA)_j, and the best single hypothesis, or its negation, is optimal.",
    "AvgMin_m(± A e_j) = ρ = max_j |(dᵀA)_j| for d = 1/m",
)
def one_signed_hypothesis(x: Instance) -> Iterator[Slack]:
    """Only the uniform d is admissible, and a linear function of w is greatest at a vertex."""
    A, m = exactly(x.A), len(x.A)
    j, sign = _best_feature(A)
    rho = x.optimum(Game(x.A, Capped(m)))
    yield equal(avg_min(sign * A[:, j], m), rho, "best hypothesis and ρ")
    yield equal(largest_edge(A, exactly(np.ones(m)) / m), rho, "edge of the uniform d and ρ")


def _best_feature(A: Exact) -> tuple[int, int]:
    edges = [sum(column) for column in A.T]
    j = max(range(len(edges)), key=lambda j: abs(edges[j]))
    return j, -1 if edges[j] < 0 else 1


@SOURCE.claim(
    "remark-k-share",
    "Sec. 4.1, remark on k proportional to m",
    "If ρ > 0 for k = m/10, then 90% of the examples have a margin of at least ρ.",
    formula="#{i: (Aw)_i ≥ ρ} ≥ m − k",
    given="w optimal for Eq. 3, any k in [m]",
    space=CAPPED,
)
def share(x: Instance) -> Slack:
    """The k-th smallest margin is at least the mean of the k smallest: it is m − k + 1 of them.

    That is attained, e.g. by one hypothesis that errs on k − 1 examples by little, and ρ > 0 is not
    needed.
    """
    rho, _, w = optimum(x, Game(x.A, Capped(x.k)))
    margins = exactly(x.A) @ in_l1_ball(w)
    return at_least(sum(u >= rho.lower for u in margins), len(margins) - x.k, "examples")


NOISE = Space(
    sizes={"m": (1, 12), "n": (1, 4)},
    A=Matrix(),
    gamma=Real(0.2, 1.0),
    nu=Whole(0, 3),
    k=Whole(1, "m"),
)


def _noisy(x: Instance) -> Exact:
    """Return A, its first hypothesis raised to a margin of γ on all but the first ν examples."""
    A = exactly(x.A)
    A[x.nu :, 0] = [max(a, Fraction(x.gamma)) for a in A[x.nu :, 0]]
    return A


def _worst(x: Instance, k: int) -> Fraction:
    """Return (−ν + (k − ν)γ)/k."""
    return (-x.nu + (k - x.nu) * Fraction(x.gamma)) / Fraction(k)


@SOURCE.claim(
    "remark-noise",
    "Sec. 4.1, remark on noisy examples",
    "If all but ν of the examples have margin γ, the least AvgMin_k that w can have is "
    "(−ν + (k − ν)γ)/k.",
    formula="min AvgMin_k(Aw) = (−ν + (k − ν)γ)/k",
    given="A in [−1, 1]^(m×n), k in [m], ν ≤ m",
    space=NOISE,
    counterexamples=[{"A": [[1], [1]], "gamma": "1/2", "nu": 2, "k": 1}],
)
def worst_average(x: Instance) -> Iterator[Slack]:
    """For k < ν the formula is below −1, the least that there is: −2.5 against −1 in the instance.

    The worst margins are −1 on the ν examples and γ on the others.
    """
    assume(x.nu <= len(x.A))
    worst = exactly([-1] * x.nu + [x.gamma] * (len(x.A) - x.nu))
    yield equal(avg_min(worst, x.k), _worst(x, x.k), "worst margins and formula")
    yield at_least(avg_min(_noisy(x)[:, 0], x.k), _worst(x, x.k), "these margins and formula")


@worst_average.corrected("The same for ν ≤ k.", "min AvgMin_k(Aw) = (−ν + (k − ν)γ)/k if ν ≤ k")
def worst_average_of_many(x: Instance) -> Iterator[Slack]:
    """The k smallest margins are then the ν bad ones and k − ν good ones, at worst."""
    assume(x.nu <= x.k)
    yield from worst_average(x)


@SOURCE.claim(
    "remark-noise-k",
    "Sec. 4.1, remark on the choice of k",
    "With k ≥ 2ν(γ + 1)/γ at least m − k examples attain a margin of at least γ/2.",
    formula="AvgMin_k(Aw) ≥ γ/2 and #{i: (Aw)_i ≥ γ/2} ≥ m − k",
    given="all but ν examples separable with margin γ, w optimal for Eq. 3, and k ≤ m",
    space=NOISE,
).checked(trials=200)
def enough(x: Instance) -> Iterator[Slack]:
    """k is the least such number; one less does not do, so that the bound is exact.

    It is attained: γ = 1, ν = 1, k = m = 4 and margins (−1, 1, 1, 1). k ≤ m must be required; it
    leaves no room unless m ≥ 4ν. ν ≤ k follows, as (γ + 1)/γ ≥ 2.
    """
    gamma = Fraction(x.gamma)
    k = max(1, math.ceil(2 * x.nu * (gamma + 1) / gamma))
    assume(k <= len(x.A))
    yield at_least(_worst(x, k), gamma / 2, "formula at k")
    if k > 1:
        yield at_most(_worst(x, k - 1), gamma / 2, "formula at k − 1")
    for larger in range(k + 1, len(x.A) + 1):
        yield at_least(_worst(x, larger), gamma / 2, f"formula at {larger}")
    A = _noisy(x)
    yield at_least(avg_min(A[:, 0], k), gamma / 2, "AvgMin_k of the margins given")
    _, _, w = optimum(x, Game(A.astype(np.float64), Capped(k)))
    margins = A @ in_l1_ball(w)
    yield at_least(avg_min(margins, k), gamma / 2, "AvgMin_k of the best w")
    yield at_least(sum(u >= gamma / 2 for u in margins), len(margins) - k, "examples")
