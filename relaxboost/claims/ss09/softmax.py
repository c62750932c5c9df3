"""SS09, Sec. 5.1, first paragraph: the soft-max of AdaBoost as a relaxation."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import optimum
from relaxboost.claims.ss09.exact import entropy, log_mean_exp, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import KLPenalty

POINTS = Space(sizes={"m": (1, 6), "n": (1, 5)}, A=Matrix(), w=Weights(), d=Distribution())


@SOURCE.claim("Sec5.1-soft-max", space=POINTS).checked(trials=30)
def soft_margin(x: Instance) -> Slacks:
    """AdaBoost does not keep w in the ball. Over all w the soft margin has no bound where ρ > 0.

    Proof. −log((1/m) Σ e^{−u_i}) = min_{d in S} <d, u> + h(d) by AppB-3. As 0 ≤ h ≤ log m, it is
    between min u and min u + log m. Theorem 3 for f = h + I_S, closed, and g = ‖·‖_∞, of domain ℝⁿ,
    makes the greatest of them the minimum on the right.
    """
    rho = x.optimum(Game(x.A))
    soft, d, w = optimum(x, Game(x.A, KLPenalty(1)))
    found = -log_mean_exp(-x.A @ w.astype(np.float64))
    best = d.astype(np.float64)
    edge = float(np.abs(best @ x.A).max()) + entropy(best / best.sum())
    yield equal(solved(found), solved(edge), "soft margin and relaxed edge")
    yield at_least(soft, rho - solved(0.0), "ρ")
    yield at_most(soft, rho + math.log(len(x.A)) + solved(0.0), "ρ + log m")
    drawn = -log_mean_exp(-x.A @ x.w)
    yield at_most(drawn, entropy(x.d) + float(np.abs(x.d @ x.A).max()), "the w and the d drawn")


@soft_margin.step("AppB-3 at −u.", "−log((1/m) Σ e^{−u_i}) ≤ <d, u> + h(d), equal at the softmax")
def _(x: Instance) -> Slacks:
    u = x.A @ x.w
    best = softmax(-u)
    yield at_most(-log_mean_exp(-u), float(x.d @ u) + entropy(x.d), "the d drawn")
    yield equal(near(-log_mean_exp(-u)), near(float(best @ u) + entropy(best)), "the softmax")


@soft_margin.step("The range of the relative entropy.", "0 ≤ h(d) ≤ log m")
def _(x: Instance) -> Slacks:
    yield at_least(entropy(x.d), 0)
    yield at_most(entropy(x.d), math.log(len(x.d)))
    yield equal(entropy(np.eye(len(x.d))[0]), math.log(len(x.d)), "a vertex")


@SOURCE.claim(
    "Sec5.1-soft-max-sharp",
    space=Space(u=Vector("m")).including({"u": [-1, 1]}, {"u": [-1, 1, 1, 1]}),
)
def nearer(x: Instance) -> Slack:
    """log m is for margins without bound.

    Proof. One of the m terms e^{−(u_i − min u)} is 1, and none is below e^{−2}.
    """
    m = len(x.u)
    bound = float(x.u.min()) + math.log(m / (1.0 + (m - 1) * math.exp(-2.0)))
    return at_most(-log_mean_exp(-x.u), bound, "soft margin")


@nearer.step("The sum of m terms.", "Σ e^{−(u_i − min u)} ≥ 1 + (m − 1)e^{−2}")
def _(x: Instance) -> Slack:
    total = math.fsum(np.exp(x.u.min() - x.u).tolist())
    return at_least(total, 1.0 + (len(x.u) - 1) * math.exp(-2.0))


@SOURCE.claim("Sec5.1-exp-loss", space=Space(sizes={"m": (1, 6)}, theta=Vector("m")))
def exponential_loss(x: Instance) -> Slack:
    """It is the logarithm of that: 0 against 1 here. Both have the same minimisers."""
    return equal(log_mean_exp(x.theta), float(np.mean(np.exp(x.theta))), "soft-max and exp-loss")


@exponential_loss.corrected(
    "The soft-max is the logarithm of the exponential loss.", "e^{soft-max(θ)} = (1/m) Σ e^{θ_i}"
)
def logarithm(x: Instance) -> Slack:
    """An increasing function of it; the soft-max is computed without leaving the logarithms."""
    return equal(near(math.exp(log_mean_exp(x.theta))), near(float(np.mean(np.exp(x.theta)))))
