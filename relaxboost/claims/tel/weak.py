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
    gamma = float(x.optimum(Game(x.A)).lower)
    for t, w in enumerate([x.w, np.zeros(x.w.size), *(v.w for v in adaboost(x.A, x.t, "lecture"))]):
        phi = reweighting(x.A, w)
        size = phi.sum()
        yield at_least(np.abs(x.A.T @ (phi / size)).max(), gamma, "γ, ‖Aᵀφ‖_∞/‖φ‖_1", t or None)


@edge.step()
def _(x: Instance) -> Slack:
    least = float(reweighting(x.A, x.w).min())
    return at_least(least * len(x.A) / math.exp(-float(np.abs(x.w).sum())), 1.0, "n φ_i/e^−‖w‖_1")


@edge.step(space=WEIGHTED)
def _(x: Instance) -> Slacks:
    gamma = x.optimum(Game(x.A))
    for phi in (x.phi, np.array([float(p) for p in x.optima[-1].d])):
        right = Bracket(gamma.lower, gamma.upper) * Fraction(float(phi.sum()))
        yield at_least(float(np.abs(x.A.T @ phi).max()), right, "γ‖φ‖_1, ‖Aᵀφ‖_∞")


@SOURCE.claim("reweighting", space=WEIGHTED)
def distribution(x: Instance) -> Slacks:
    phi = reweighting(x.A, x.w)
    yield at_least(float(phi.min()) / float(phi.sum()), 0.0, "0, least d_i")
    yield equal(math.fsum(phi / phi.sum()), 1.0, "Σ d_i, 1")
    edge = float(np.abs(x.A.T @ (phi / phi.sum())).max())
    yield at_least(edge, float(x.optimum(Game(x.A)).lower), "γ, edge of d")


@distribution.step()
def _(x: Instance) -> Slacks:
    phi = [Fraction(float(p)) for p in reweighting(x.A, x.w)]
    yield equal(sum(p / sum(phi) for p in phi), 1, "Σ d_i")
    yield at_most(max(phi) / sum(phi), 1, "d_i, 1")


@SOURCE.claim("first-order", space=WEIGHTED)
def first_order(x: Instance) -> Slack:
    phi = reweighting(x.A, x.w)
    return equal(float(np.abs(x.A.T @ phi).max()), 0.0, "‖Aᵀ∇L(−Aw)‖_∞")


@first_order.corrected()
def first_order_corrected(x: Instance) -> Slacks:
    for phi in (reweighting(x.A, x.w), x.phi, 0.0 * x.phi):
        yield at_most(float(np.abs(x.A.T @ phi).max()), float(phi.sum()), "‖Aᵀφ‖_∞, ‖φ‖_1")


@SOURCE.claim("ERM", space=WEIGHTED)
def weighted_erm(x: Instance) -> Slack:
    return equal(*_both_sides(x, 1.0), "max_j |Σ y ℓ' h_j|, max_j |(Aᵀ∇L)_j|")


@weighted_erm.corrected()
def weighted_erm_corrected(x: Instance) -> Slacks:
    left, right = _both_sides(x, 1.0 / len(x.A))
    yield equal(left, right, "max_j |(1/n) Σ y ℓ' h_j|, max_j |(Aᵀ∇L)_j|")
    gamma = float(x.optimum(Game(x.A)).lower)
    yield at_least(
        left, gamma * float(reweighting(x.A, x.w).sum()), "γ‖∇L‖_1, max_j |(1/n) Σ y ℓ' h_j|"
    )


@weighted_erm_corrected.step()
def _(x: Instance) -> Slacks:
    for a, entry in zip(x.A.T, x.A.T @ reweighting(x.A, x.w), strict=True):
        total = math.fsum(v * math.exp(-float(r @ x.w)) for v, r in zip(a, x.A, strict=True))
        yield equal(float(entry), total / len(x.A), "(Aᵀ∇L)_j, (1/n) Σ A_ij ℓ'")


@SOURCE.claim("ERM-index", space=WEIGHTED.but(j=Whole(1, "n")))
def stray_index(x: Instance, kept: bool = True) -> Slacks:
    g = x.A.T @ reweighting(x.A, x.w)
    right = np.linalg.norm(g[x.j - 1 : x.j] if kept else g, np.inf)
    yield equal(float(max(map(abs, g))), float(right), "max_k |(Aᵀ∇L)_k|, ‖(Aᵀ∇L)_j‖_∞")
    gamma = float(x.optimum(Game(x.A)).lower)
    yield at_least(
        float(right), gamma * float(reweighting(x.A, x.w).sum()), "γ‖∇L‖_1, ‖(Aᵀ∇L)_j‖_∞"
    )


@stray_index.corrected()
def stray_index_removed(x: Instance) -> Slacks:
    yield from stray_index(x, False)


def _both_sides(x: Instance, factor: float) -> tuple[float, float]:
    sums = [
        factor * sum(math.exp(-float(row @ x.w)) * float(row[j]) for row in x.A)
        for j in range(x.A.shape[1])
    ]
    return max(map(abs, sums)), float(np.abs(x.A.T @ reweighting(x.A, x.w)).max())


@SOURCE.claim("accuracy", space=WEIGHTED)
def accuracy(x: Instance) -> Slack:
    gamma, phi = float(weak_learnability(x).lower), _normalised(x.phi)
    best = max(float(phi @ (r * a > 0.0)) for a in x.A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + gamma / 2.0, "weight of the examples with the right sign")


@accuracy.corrected()
def expected_accuracy(x: Instance) -> Slacks:
    gamma, worst = float(weak_learnability(x).lower), [float(p) for p in x.optima[-1].d]
    for phi in (_normalised(x.phi), np.array(worst)):
        best = max(float(phi @ (1.0 + r * a)) / 2.0 for a in x.A.T for r in (1.0, -1.0))
        yield at_least(best, 0.5 + gamma / 2.0, "expected accuracy")


@expected_accuracy.step()
def _(x: Instance) -> Slacks:
    phi = _normalised(x.phi)
    for a in x.A.T:
        right = 0.5 + float(a @ phi) / 2.0
        yield equal(float(phi @ (1.0 + a)) / 2.0, right, "expected accuracy, 1/2 + edge/2")


@accuracy.corrected()
def accuracy_of_labels(x: Instance) -> Slack:
    A = np.where(x.A >= 0.0, 1.0, -1.0)
    gamma, phi = x.optimum(Game(A)).lower, _normalised(x.phi)
    assume(gamma > 0)
    best = max(float(phi @ (r * a > 0.0)) for a in A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + float(gamma) / 2.0, "weight of the examples with the right sign")


@accuracy_of_labels.step()
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


@infimum.step()
def _(x: Instance) -> Slack:
    v = np.eye(x.w.size)[0]
    least = float((x.A @ v).min())
    bound = math.exp(-x.s * least) * risk(x.A, x.w)
    return at_most(risk(x.A, x.w + x.s * v) / bound, 1.0, "f(w + sv)/(e^(−sγ) f(w))")


@infimum.step()
def _(x: Instance) -> Slack:
    return at_most(
        float(((x.A @ x.w) ** 2).max()), float(np.abs(x.w).sum()) ** 2, "(Av)_i², ‖v‖_1²"
    )
