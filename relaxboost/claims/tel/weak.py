"""TEL, the weak learning assumption (WLA): what it is equivalent to and what it gives."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import largest_edge, near, optimum
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import adaboost, reweighting, risk, weak_learnability
from relaxboost.game.game import Game

WEIGHTED = Space(
    sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), phi=Vector("m", 0, 1), w=Vector("n", -2, 2)
)


@SOURCE.claim("WLA", space=WEIGHTED)
def assumption(x: Instance) -> Slacks:
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
        yield at_least(other, gamma, "γ, ‖Aᵀφ‖_∞/‖φ‖_1")


@SOURCE.claim("Gordan", space=WEIGHTED)
def gordan(x: Instance) -> Slacks:
    """Either the best w has A w ≥ γ > 0, or Aᵀφ = 0 for a φ ≥ 0 of sum 1: then <φ, Av> = 0.

    Each instance is decided by such a point, in fractions; the sides compare both truth values.
    """
    A = exactly(x.A)
    gamma, d, w = optimum(x, Game(x.A))
    if gamma.lower > 0:
        yield equal(near(float(min(A @ w) > 0)), 1.0, "[Av > 0] at the best v, [γ > 0]")
    else:
        yield equal(largest_edge(A, d), 0, "‖Aᵀφ‖_∞")
        yield equal(sum(d), 1, "Σ φ")
        yield at_least(min(d), 0, "min φ_i")
        yield equal(near(float(min(A @ exactly(x.w)) > 0)), 0.0, "[Av > 0] at another v, [γ > 0]")


@SOURCE.claim(
    "edge",
    space=Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), t=Whole(1, 12), w=Vector("n", -2, 2)),
)
def edge(x: Instance) -> Slacks:
    """AdaBoost drives φ = ∇L(−Aw) towards the minimiser.

    Proof. φ has positive entries (1), and ‖Aᵀφ‖_∞ ≥ γ‖φ‖_1 for all such φ, by definition of γ (2).
    """
    gamma = float(x.optimum(Game(x.A)).lower)
    for t, w in enumerate([x.w, np.zeros(x.w.size), *(v.w for v in adaboost(x.A, x.t, "lecture"))]):
        phi = reweighting(x.A, w)
        size = phi.sum()
        yield at_least(np.abs(x.A.T @ (phi / size)).max(), gamma, "γ, ‖Aᵀφ‖_∞/‖φ‖_1", t or None)


@edge.step("The entries of ∇L are positive.", "(∇L(−Aw))_i ≥ exp(−‖w‖_1)/n > 0")
def _(x: Instance) -> Slack:
    least = float(reweighting(x.A, x.w).min())
    return at_least(least * len(x.A) / math.exp(-float(np.abs(x.w).sum())), 1.0, "n φ_i/e^−‖w‖_1")


@edge.step("γ bounds all ratios from below.", "‖Aᵀφ‖_∞ ≥ γ‖φ‖_1 for φ ≥ 0", space=WEIGHTED)
def _(x: Instance) -> Slacks:
    gamma = x.optimum(Game(x.A))
    for phi in (x.phi, np.array([float(p) for p in x.optima[-1].d])):
        right = Bracket(gamma.lower, gamma.upper) * Fraction(float(phi.sum()))
        yield at_least(float(np.abs(x.A.T @ phi).max()), right, "γ‖φ‖_1, ‖Aᵀφ‖_∞")


@SOURCE.claim("reweighting", space=WEIGHTED)
def distribution(x: Instance) -> Slacks:
    """Proof. ℓ' = exp > 0 (TEL-edge, 1), so that both can be divided. The edge of d is at least γ
    by definition (TEL-edge, 2). What can vanish, where A is not separable, is Aᵀ∇L.
    """
    phi = reweighting(x.A, x.w)
    yield at_least(float(phi.min()) / float(phi.sum()), 0.0, "0, least d_i")
    yield equal(math.fsum(phi / phi.sum()), 1.0, "Σ d_i, 1")
    edge = float(np.abs(x.A.T @ (phi / phi.sum())).max())
    yield at_least(edge, float(x.optimum(Game(x.A)).lower), "γ, edge of d")


@distribution.step("A positive vector over its sum has sum 1.", "Σ φ_i/Σ φ_k = 1, φ_i/Σ φ_k ≤ 1")
def _(x: Instance) -> Slacks:
    phi = [Fraction(float(p)) for p in reweighting(x.A, x.w)]
    yield equal(sum(p / sum(phi) for p in phi), 1, "Σ d_i")
    yield at_most(max(phi) / sum(phi), 1, "d_i, 1")


@SOURCE.claim("first-order", space=WEIGHTED)
def first_order(x: Instance) -> Slack:
    """= 0 is meant, which would imply it."""
    phi = reweighting(x.A, x.w)
    return equal(float(np.abs(x.A.T @ phi).max()), 0.0, "‖Aᵀ∇L(−Aw)‖_∞")


@first_order.corrected(
    "The conditions would be satisfied if ∇L(−Aw) = 0.",
    "‖Aᵀφ‖_∞ ≤ ‖φ‖_1, which is 0 for φ = ∇L(−Aw) = 0 only",
)
def first_order_corrected(x: Instance) -> Slacks:
    """∇L is never 0 for ℓ = exp (TEL-edge, step 1). The sides are compared at ∇L, at φ and at 0."""
    for phi in (reweighting(x.A, x.w), x.phi, 0.0 * x.phi):
        yield at_most(float(np.abs(x.A.T @ phi).max()), float(phi.sum()), "‖Aᵀφ‖_∞, ‖φ‖_1")


@SOURCE.claim("ERM", space=WEIGHTED)
def weighted_erm(x: Instance) -> Slack:
    """The factor 1/n of L is lost on the left; the maximiser j is the same."""
    return equal(*_both_sides(x, 1.0), "max_j |Σ y ℓ' h_j|, max_j |(Aᵀ∇L)_j|")


@weighted_erm.corrected(
    "The problem has this value with 1/n in front of the sum.",
    "max_j |(1/n) Σ_i y_i ℓ'(−(Aw)_i) h_j(x_i)| = max_j |(Aᵀ∇L(−Aw))_j| ≥ γ‖∇L(−Aw)‖_1",
)
def weighted_erm_corrected(x: Instance) -> Slacks:
    """Proof. The first equality is the definition of ∇L, with ℓ' = exp (1); for the inequality see
    TEL-edge.
    """
    left, right = _both_sides(x, 1.0 / len(x.A))
    yield equal(left, right, "max_j |(1/n) Σ y ℓ' h_j|, max_j |(Aᵀ∇L)_j|")
    gamma = float(x.optimum(Game(x.A)).lower)
    yield at_least(
        left, gamma * float(reweighting(x.A, x.w).sum()), "γ‖∇L‖_1, max_j |(1/n) Σ y ℓ' h_j|"
    )


@weighted_erm_corrected.step("The entries of Aᵀ∇L.", "(Aᵀ∇L)_j = (1/n) Σ_i A_ij ℓ'(−(Aw)_i)")
def _(x: Instance) -> Slacks:
    for a, entry in zip(x.A.T, x.A.T @ reweighting(x.A, x.w), strict=True):
        total = math.fsum(v * math.exp(-float(r @ x.w)) for v, r in zip(a, x.A, strict=True))
        yield equal(float(entry), total / len(x.A), "(Aᵀ∇L)_j, (1/n) Σ A_ij ℓ'")


@SOURCE.claim("ERM-index", space=WEIGHTED.but(j=Whole(1, "n")))
def stray_index(x: Instance, kept: bool = True) -> Slacks:
    """The index j has stayed behind: one entry is not the largest, and may be 0."""
    g = x.A.T @ reweighting(x.A, x.w)
    right = np.linalg.norm(g[x.j - 1 : x.j] if kept else g, np.inf)
    yield equal(float(max(map(abs, g))), float(right), "max_k |(Aᵀ∇L)_k|, ‖(Aᵀ∇L)_j‖_∞")
    gamma = float(x.optimum(Game(x.A)).lower)
    yield at_least(
        float(right), gamma * float(reweighting(x.A, x.w).sum()), "γ‖∇L‖_1, ‖(Aᵀ∇L)_j‖_∞"
    )


@stray_index.corrected(
    "The largest entry is the ℓ∞ norm of the vector.",
    "max_j |(Aᵀ∇L(−Aw))_j| = ‖Aᵀ∇L(−Aw)‖_∞ ≥ γ‖∇L(−Aw)‖_1",
)
def stray_index_removed(x: Instance) -> Slacks:
    """The definition of the norm, and TEL-edge."""
    yield from stray_index(x, False)


def _both_sides(x: Instance, factor: float) -> tuple[float, float]:
    sums = [
        factor * sum(math.exp(-float(row @ x.w)) * float(row[j]) for row in x.A)
        for j in range(x.A.shape[1])
    ]
    return max(map(abs, sums)), float(np.abs(x.A.T @ reweighting(x.A, x.w)).max())


@SOURCE.claim("accuracy", space=WEIGHTED)
def accuracy(x: Instance) -> Slack:
    """True of labels, where accuracy = 1/2 + edge/2; the lecture's h_j are real.

    An edge can come from a few confident answers: for columns (1, −1/10), (−1/10, 1) and equal
    weights γ = .45, and each sign is right on one of two examples: 1/2 < .725.
    """
    gamma, phi = float(weak_learnability(x).lower), _normalised(x.phi)
    best = max(float(phi @ (r * a > 0.0)) for a in x.A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + gamma / 2.0, "weight of the examples with the right sign")


@accuracy.corrected(
    "reading: the expected accuracy, where h_j(x) predicts 1 with probability (1 + h_j(x))/2.",
    "max_{j,r} Σ_i φ_i (1 + r A_ij)/2 ≥ 1/2 + γ/2",
)
def expected_accuracy(x: Instance) -> Slacks:
    """Tight at the worst weights.

    Proof. It is 1/2 + edge/2 (1), and the best edge is at least γ (TEL-edge, 2).
    """
    gamma, worst = float(weak_learnability(x).lower), [float(p) for p in x.optima[-1].d]
    for phi in (_normalised(x.phi), np.array(worst)):
        best = max(float(phi @ (1.0 + r * a)) / 2.0 for a in x.A.T for r in (1.0, -1.0))
        yield at_least(best, 0.5 + gamma / 2.0, "expected accuracy")


@expected_accuracy.step(
    "The expected accuracy is half of one plus the edge.",
    "Σ φ_i (1 + r A_ij)/2 = 1/2 + r(Aᵀφ)_j/2 for Σ φ_i = 1",
)
def _(x: Instance) -> Slacks:
    phi = _normalised(x.phi)
    for a in x.A.T:
        right = 0.5 + float(a @ phi) / 2.0
        yield equal(float(phi @ (1.0 + a)) / 2.0, right, "expected accuracy, 1/2 + edge/2")


@accuracy.corrected(
    "reading: h_j: X → {−1, 1}, and the weight of the examples with the right sign.",
    "A ∈ {−1, 1}^(n×d) ⇒ max_{j,r} Σ_i φ_i [r A_ij > 0] ≥ 1/2 + γ/2",
)
def accuracy_of_labels(x: Instance) -> Slack:
    """As above, with h_j replaced by its sign before γ is computed.

    Proof. [a > 0] = (1 + a)/2 for a = ±1 (1), and then as above.
    """
    A = np.where(x.A >= 0.0, 1.0, -1.0)
    gamma, phi = x.optimum(Game(A)).lower, _normalised(x.phi)
    assume(gamma > 0)
    best = max(float(phi @ (r * a > 0.0)) for a in A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + float(gamma) / 2.0, "weight of the examples with the right sign")


@accuracy_of_labels.step(
    "Of labels, what is right is what is expected to be.", "[a > 0] = (1 + a)/2"
)
def _(x: Instance) -> Slacks:
    for a in np.where(x.A >= 0.0, 1.0, -1.0).ravel():
        yield equal(int(a > 0.0), (1 + int(a)) / 2, "[a > 0], (1 + a)/2")


def _normalised(phi: Array) -> Array:
    assume(phi.sum() > 1e-3)
    return np.asarray(phi / phi.sum())


@SOURCE.claim(
    "infimum",
    space=Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), w=Vector("n", -2, 2), s=Whole(1, 12)),
)
def infimum(x: Instance) -> Slacks:
    """Without the WLA f ≥ 1/n: <φ, Av> = 0 for some distribution φ ≤ 1, so that Σ exp(−(Av)_i) ≥
    Σ φ_i exp(−(Av)_i) ≥ 1 by Jensen. Nearly equal where only one row is not right by much.

    Proof. Along a separator v of margin γ and ‖v‖_1 ≤ 1, f(w + sv) ≤ e^(−sγ) f(w) (1), which tends
    to 0 and is not attained, as f > 0. And vᵀ∇²f v ≤ f, since (Av)_i² ≤ 1 (2).
    """
    rho, _, w = optimum(x, Game(x.A))
    gamma = float(rho.lower)
    if gamma == 0.0:
        cut = np.where(np.arange(len(x.A)) == 0, 0.0, 1.0)[:, None]  # one row is 0, others are 1
        for A, at in ((x.A, x.w), (cut, np.array([30.0]))):
            yield at_least(risk(A, at), 1.0 / len(A), "1/n, L(−Aw)")
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
    yield at_least(math.log(risk(x.A, x.w)), -float(np.abs(x.w).sum()), "−‖w‖_1, log f(w)")


@infimum.step("The risk falls along a separator.", "f(w + sv) ≤ e^(−sγ) f(w), γ = min (Av)_i")
def _(x: Instance) -> Slack:
    v = np.eye(x.w.size)[0]
    least = float((x.A @ v).min())
    bound = math.exp(-x.s * least) * risk(x.A, x.w)
    return at_most(risk(x.A, x.w + x.s * v) / bound, 1.0, "f(w + sv)/(e^(−sγ) f(w))")


@infimum.step("Margins of the unit ball are at most 1.", "(Av)_i² ≤ ‖v‖_1²")
def _(x: Instance) -> Slack:
    return at_most(
        float(((x.A @ x.w) ** 2).max()), float(np.abs(x.w).sum()) ** 2, "(Av)_i², ‖v‖_1²"
    )
