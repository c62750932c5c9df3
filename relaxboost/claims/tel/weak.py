"""TEL, the weak learning assumption (WLA): what it is equivalent to and what it gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Instance, Matrix, Space, Vector, Whole
from relaxboost.claims.measure import Slack, assume, at_least, at_most, equal
from relaxboost.claims.sides import exactly, largest_edge, optimum
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import adaboost, reweighting, risk, weak_learnability
from relaxboost.game.game import Game

GAMES = Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix())
WEIGHTED = Space(
    sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), phi=Vector("m", 0, 1), w=Vector("n", -2, 2)
)


@SOURCE.claim(
    "WLA",
    "Definition of the WLA",
    "The best γ of the WLA is the value of the game, and the greatest ℓ1 margin.",
    formula="inf {‖Aᵀφ‖_∞/‖φ‖_1 : φ ∈ R_+^n \\ {0}} = max {min_i (Aw)_i : ‖w‖_1 ≤ 1}",
    given="A in [−1, 1]^(n×d)",
    space=WEIGHTED,
)
def assumption(x: Instance) -> Iterator[Slack]:
    """The ratio does not depend on the length of φ, so that φ is a distribution; then minimax.

    Both sides are attained by the points of the certificate, in fractions. Without a separator the
    margin is 0, at w = 0.
    """
    A = exactly(x.A)
    gamma, d, w = optimum(x, Game(x.A))
    yield equal(largest_edge(A, d) / sum(d), gamma, "‖Aᵀφ‖_∞/‖φ‖_1 at the best φ, γ")
    yield equal(min(A @ w), gamma, "margin of the best w, γ")
    yield at_most(sum(map(abs, w)), 1, "‖w‖_1")
    if x.phi.sum() > 1e-3:
        other = float(np.abs(x.A.T @ x.phi).max()) / float(x.phi.sum())
        yield at_least(other, gamma, "‖Aᵀφ‖_∞/‖φ‖_1, γ")


@SOURCE.claim(
    "Gordan",
    "Remarks on the WLA, Gordan's theorem",
    "The WLA holds iff A is separable.",
    formula="γ > 0 ⇔ ∃v: Av > 0",
    given="A in [−1, 1]^(n×d)",
    space=WEIGHTED,
)
def gordan(x: Instance) -> Iterator[Slack]:
    """Either the best w has A w ≥ γ > 0, or Aᵀφ = 0 for a φ ≥ 0 of sum 1: then <φ, Av> = 0.

    Each instance is decided by such a point, in fractions.
    """
    A = exactly(x.A)
    gamma, d, w = optimum(x, Game(x.A))
    if gamma.lower > 0:
        yield at_least(min(A @ w), Fraction(gamma.lower), "min (Av)_i, γ")
    else:
        yield equal(largest_edge(A, d), 0, "‖Aᵀφ‖_∞")
        yield equal(sum(d), 1, "Σ φ")
        yield at_least(min(d), 0, "min φ_i")
        yield at_most(float((x.A @ x.w).min()), 0, "min (Av)_i of another v")


@SOURCE.claim(
    "edge",
    "Remarks on the WLA, steepest descent",
    "The WLA bounds the gradient from below at every iterate, as at every other point.",
    formula="‖Aᵀ∇L(−Aw)‖_∞ ≥ γ‖∇L(−Aw)‖_1",
    given="WLA with γ",
    space=Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), t=Whole(1, 12), w=Vector("n", -2, 2)),
)
def edge(x: Instance) -> Iterator[Slack]:
    """φ = ∇L(−Aw) in the definition of the WLA. AdaBoost drives φ towards the minimiser."""
    gamma = float(x.optimum(Game(x.A)).lower)
    for t, w in enumerate([x.w, np.zeros(x.w.size), *(v.w for v in adaboost(x.A, x.t, "lecture"))]):
        phi = reweighting(x.A, w)
        size = phi.sum()
        yield at_least(np.abs(x.A.T @ (phi / size)).max(), gamma, "‖Aᵀφ‖_∞/‖φ‖_1, γ", t or None)


@SOURCE.claim(
    "ERM",
    "Remarks on the WLA, re-weighted ERM",
    "The re-weighted ERM problem has the value ‖Aᵀ∇L‖_∞, which is at least γ‖∇L‖_1.",
    formula="max_j |Σ_i y_i ℓ'(−(Aw)_i) h_j(x_i)| = max_j |(Aᵀ∇L(−Aw))_j| ≥ γ‖∇L(−Aw)‖_1",
    given="L(v) = (1/n) Σ ℓ(v_i)",
    space=WEIGHTED,
    counterexamples=[{"A": [[1], [1]], "phi": [1, 1], "w": [0]}],
)
def weighted_erm(x: Instance) -> Slack:
    """The factor 1/n of L is lost on the left; the maximiser j is the same."""
    return equal(*_both_sides(x, 1.0), "max_j |Σ y ℓ' h_j|, max_j |(Aᵀ∇L)_j|")


@weighted_erm.corrected(
    "It is with 1/n in front of the sum.",
    "max_j |(1/n) Σ_i y_i ℓ'(−(Aw)_i) h_j(x_i)| = max_j |(Aᵀ∇L(−Aw))_j| ≥ γ‖∇L(−Aw)‖_1",
)
def weighted_erm_corrected(x: Instance) -> Iterator[Slack]:
    """Then the first equality is the definition of ∇L, and the inequality the WLA."""
    left, right = _both_sides(x, 1.0 / len(x.A))
    yield equal(left, right, "max_j |(1/n) Σ y ℓ' h_j|, max_j |(Aᵀ∇L)_j|")
    gamma = float(x.optimum(Game(x.A)).lower)
    yield at_least(left, gamma * float(reweighting(x.A, x.w).sum()), "the same, γ‖∇L‖_1")


def _both_sides(x: Instance, factor: float) -> tuple[float, float]:
    sums = [
        factor * sum(math.exp(-float(row @ x.w)) * float(row[j]) for row in x.A)
        for j in range(x.A.shape[1])
    ]
    return max(map(abs, sums)), float(np.abs(x.A.T @ reweighting(x.A, x.w)).max())


@SOURCE.claim(
    "accuracy",
    "Remarks on the WLA, re-weighted ERM",
    "Under the WLA some h_j or −h_j has weighted accuracy at least 1/2 + γ/2.",
    formula="max_{j,r} Σ_i φ_i [r A_ij > 0] ≥ 1/2 + γ/2",
    given="h_j: X → [−1, 1], accuracy being the weight of the examples with the right sign",
    space=WEIGHTED,
    counterexamples=[
        {"A": [[1, 0], [0, 1]], "phi": [1, 1], "w": [0, 0]},
        {"A": [[1, "-1/10"], ["-1/10", 1]], "phi": [1, 1], "w": [0, 0]},
    ],
)
def accuracy(x: Instance) -> Slack:
    """True of labels, where accuracy = 1/2 + edge/2; the lecture's h_j are real.

    An edge can come from a few confident answers: for columns (1, −1/10), (−1/10, 1) and equal
    weights γ = .45, and each sign is right on one of two examples: 1/2 < .725.
    """
    gamma, phi = float(weak_learnability(x).lower), _normalised(x.phi)
    best = max(float(phi @ (r * a > 0.0)) for a in x.A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + gamma / 2.0, "weight of the examples with the right sign")


@accuracy.corrected(
    "The expected accuracy is, if h_j(x) is taken as predicting 1 with probability (1 + h_j(x))/2.",
    "max_{j,r} Σ_i φ_i (1 + r A_ij)/2 ≥ 1/2 + γ/2",
)
def expected_accuracy(x: Instance) -> Iterator[Slack]:
    """It is 1/2 + edge/2, and the best edge is at least γ; tight at the worst weights."""
    gamma, worst = float(weak_learnability(x).lower), [float(p) for p in x.optima[-1].d]
    for phi in (_normalised(x.phi), np.array(worst)):
        best = max(float(phi @ (1.0 + r * a)) / 2.0 for a in x.A.T for r in (1.0, -1.0))
        yield at_least(best, 0.5 + gamma / 2.0, "expected accuracy")


@accuracy.corrected(
    "It is for h_j: X → {−1, 1}.", "A ∈ {−1, 1}^(n×d) ⇒ max_{j,r} Σ_i φ_i [r A_ij > 0] ≥ 1/2 + γ/2"
)
def accuracy_of_labels(x: Instance) -> Slack:
    """As above, with h_j replaced by its sign before γ is computed."""
    A = np.where(x.A >= 0.0, 1.0, -1.0)
    gamma, phi = x.optimum(Game(A)).lower, _normalised(x.phi)
    assume(gamma > 0)
    best = max(float(phi @ (r * a > 0.0)) for a in A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + float(gamma) / 2.0, "weight of the examples with the right sign")


def _normalised(phi: Array) -> Array:
    assume(phi.sum() > 1e-3)
    return np.asarray(phi / phi.sum())


@SOURCE.claim(
    "infimum",
    "Remarks on the theorem, and on separability",
    "The WLA implies inf L(−Aw) = 0, which is not attained, and rules out strong convexity.",
    formula="Av > 0 ⇒ inf_w L(−Aw) = 0 < L(−Aw) for every w, and vᵀ∇²f(w + sv)v → 0",
    given="L with ℓ = exp",
    space=Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), w=Vector("n", -2, 2), s=Whole(1, 12)),
)
def infimum(x: Instance) -> Iterator[Slack]:
    """Along the separator v of margin γ, f(w + sv) ≤ e^(−sγ) f(w), and so is vᵀ∇²f v ≤ ‖v‖_1² f.

    Conversely, without WLA f ≥ 1/n: <φ, Av> = 0 for some distribution φ ≤ 1, so that
    Σ exp(−(Av)_i) ≥ Σ φ_i exp(−(Av)_i) ≥ 1 by Jensen.
    """
    rho, _, w = optimum(x, Game(x.A))
    gamma = float(rho.lower)
    if gamma == 0.0:
        yield at_least(risk(x.A, x.w), 1.0 / len(x.A), "L(−Aw), 1/n")
        return
    v = w.astype(np.float64)
    there = x.w + x.s * v
    most = math.exp(-x.s * gamma) * risk(x.A, x.w)
    yield at_most(risk(x.A, there), most, "f(w + sv), e^(−sγ) f(w)")
    bend = float((x.A @ v) ** 2 @ reweighting(x.A, there))
    yield at_most(bend, most, "vᵀ∇²f(w + sv)v, e^(−sγ) f(w)")
    far = 40.0 / gamma
    # In logarithms, as both sides are below all that a float is granted.
    steep = -(x.A @ (far * v))
    log_risk = steep.max() + math.log(np.mean(np.exp(steep - steep.max())))
    yield at_most(log_risk, -40.0, "log f(sv) at s = 40/γ, −40")
    yield at_least(math.log(risk(x.A, x.w)), -float(np.abs(x.w).sum()), "log f(w), −‖w‖_1")
