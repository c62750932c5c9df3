"""TEL: the weak learning assumption (WLA), with equivalent conditions and consequences."""

import math

import numpy as np
from scipy.special import logsumexp

from relaxboost.claims.language import *
from relaxboost.claims.sides import largest_edge, near, optimum
from relaxboost.claims.tel import SOURCE
from relaxboost.claims.votes import reweighting, risk, weak_learnability
from relaxboost.game.game import Game

WEIGHTED = Space(
    sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), phi=Vector("m", 0, 1), w=Vector("n", -2, 2)
)


@SOURCE.claim("Gordan", space=WEIGHTED)
def gordan(x: Instance) -> Slacks:
    A = exactly(x.A)
    gamma, d, w = optimum(x, Game(x.A))
    yield equal(largest_edge(A, d) / sum(d), gamma, "‖Aᵀφ‖_∞/‖φ‖_1 at the best φ, γ")
    yield equal(min(A @ w), gamma, "margin of the best w, γ")
    yield at_most(sum(map(abs, w)), 1, "‖w‖_1")
    if x.phi.sum() > 1e-3:
        other = float(np.abs(x.A.T @ x.phi).max()) / float(x.phi.sum())
        yield at_least(other, gamma, "γ, ‖Aᵀφ‖_∞/‖φ‖_1")
    best = exactly(x.w) if gamma.lower <= 0 else w
    yield equal(near(float(min(A @ best) > 0)), float(gamma.lower > 0), "[Av > 0], [γ > 0]")


@gordan.step()
def _(x: Instance) -> Slack:
    phi = x.phi + 1e-9
    right = float(np.abs(x.A.T @ phi).max() * np.abs(x.w).sum())
    return at_most(float((x.A @ x.w).min() * phi.sum()), right, "min (Av)_i ‖φ‖_1, ‖Aᵀφ‖_∞ ‖v‖_1")


@SOURCE.claim("accuracy", space=WEIGHTED)
def accuracy(x: Instance) -> Slack:
    gamma = float(weak_learnability(x).lower)
    phi = _normalised(x.phi)
    return at_least(
        _best(x.A, phi), 0.5 + gamma / 2.0, "weight of the examples with the right sign"
    )


@accuracy.corrected()
def expected_accuracy(x: Instance) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    for phi in (_normalised(x.phi), np.array([float(p) for p in x.optima[-1].d])):
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
    gamma = x.optimum(Game(A)).lower
    phi = _normalised(x.phi)
    assume(gamma > 0)
    return at_least(_best(A, phi), 0.5 + float(gamma) / 2.0, "weight of those with the right sign")


@accuracy_of_labels.step()
def _(x: Instance) -> Slacks:
    for a in np.where(x.A >= 0.0, 1.0, -1.0).ravel():
        yield equal(int(a > 0.0), (1 + int(a)) / 2, "[a > 0], (1 + a)/2")


def _best(A: Array, phi: Array) -> float:
    return max(float(phi @ (r * a > 0.0)) for a in A.T for r in (1.0, -1.0))


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
        cut = np.where(np.arange(len(x.A)) == 0, 0.0, 1.0)[:, None]
        for A, at in ((x.A, x.w), (cut, np.array([30.0]))):
            yield at_least(risk(A, at), 1.0 / len(A), "1/n, L(−Aw)")
        return
    v = w.astype(np.float64)
    there = x.w + x.s * v
    most = math.exp(-x.s * gamma) * risk(x.A, x.w)
    yield at_most(risk(x.A, there), most, "f(w + sv), e^(−sγ) f(w)")
    bend = float((x.A @ v) ** 2 @ reweighting(x.A, there))
    yield at_most(bend, most, "vᵀ∇²f(w + sv)v, e^(−sγ) f(w)")
    # Both sides are smaller than the assumed float error, but their logarithms are not.
    steep = -(x.A @ (40.0 / gamma * v))
    log_risk = float(logsumexp(steep)) - math.log(steep.size)
    yield at_most(log_risk, -40.0, "log f(sv) at s = 40/γ, −40")
    yield at_least(math.log(risk(x.A, x.w)), -float(np.abs(x.w).sum()), "−‖w‖_1, log f(w)")


@infimum.step()
def _(x: Instance) -> Slack:
    v = np.eye(x.w.size)[0]
    bound = math.exp(-x.s * float((x.A @ v).min())) * risk(x.A, x.w)
    return at_most(risk(x.A, x.w + x.s * v) / bound, 1.0, "f(w + sv)/(e^(−sγ) f(w))")
