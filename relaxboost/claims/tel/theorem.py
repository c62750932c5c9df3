"""TEL: the theorem, the lemma on smoothness, and the step of plain steepest descent."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel import SOURCE
from relaxboost.claims.tel.algorithm import algorithm_corrected
from relaxboost.claims.votes import RUNS, adaboost, gradient, reweighting, risk, weak_learnability

TURNING = RUNS.but(k=Whole(1, 6), w=Vector("n", -2, 2))
"""The instances with a matrix A, the number t of rounds, starting weights w, and the parameter k of
`turning`."""


def turning(k: int) -> Array:
    """Return a cyclic matrix with 2k + 1 columns, each with k + 1 entries 1 and k entries −1."""
    # AdaBoost is nearly as slow on this game as the theorem allows. All edges are γ = 1/(2k + 1).
    # In the first round, the risk is multiplied by 1 − γ²/2 − γ⁴/8 up to higher orders. The theorem
    # allows exp(−γ²/2).
    m = 2 * k + 1
    at = np.arange(m)
    return np.where((at[:, None] - at) % m <= k, 1.0, -1.0)


@SOURCE.claim("T", space=TURNING)
def theorem(x: Instance) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(turning(x.k), 1, "lecture"):
        least = 1.0 / (2.0 * x.k + 1.0)
        yield at_most(vote.log_risk, -(least**2) / 2.0, "log L_1, −γ²/2, turning", 1)
        kappa = 2.0 / least**2 * (1.0 - least**2)
        yield at_least(-1.0 / vote.log_risk, kappa, "(2/γ²)(1 − γ²), κ needed", 1)
    for vote in adaboost(x.A, x.t, "lecture"):
        before = vote.before
        phi = reweighting(x.A, vote.before)
        eta = float(np.abs(x.A.T @ phi).max() / phi.sum())
        yield equal(vote.step, eta, "η_i, ‖Aᵀ∇L‖_∞/‖∇L‖_1", vote.number)
        moved = np.eye(before.size)[int(np.argmax(np.abs(vote.w - before)))]
        g = gradient(x.A, before)
        steepest = before - eta * float(np.sign(g @ moved)) * moved
        yield equal(np.abs(vote.w - steepest).max(), 0.0, "w_i, w_{i−1} − η_i v_i", vote.number)
        yield at_least(np.abs(g @ moved), np.abs(g).max(), "‖∇f‖_∞, |<∇f, v_i>|", vote.number)
        yield at_least(eta, gamma, "γ, η_i", vote.number)
        bound = math.exp(-vote.number * gamma**2 / 2.0)
        yield at_most(risk(x.A, vote.w), bound, "L(−A w_t), exp(−tγ²/2)", vote.number)


@theorem.step(space=Space(eta=Real(0.0, 3.0), a=Real(-1, 1)))
def chord(x: Instance) -> Slack:
    right = math.cosh(x.eta) - x.a * math.sinh(x.eta)
    return at_most(math.exp(-x.eta * x.a), right, "e^{−ηa}, cosh η − a sinh η")


@theorem.step()
def one_round(x: Instance) -> Slacks:
    for A, w in ((x.A, x.w), (turning(x.k), np.zeros(2 * x.k + 1))):
        g = gradient(A, w)
        before = risk(A, w)
        j = int(np.argmax(np.abs(g)))
        eta = float(abs(g[j])) / before
        after = risk(A, w - g[j] / before * np.eye(g.size)[j])
        bound = math.cosh(eta) - eta * math.sinh(eta)
        yield at_most(after / before, bound, "L after/L before, cosh η − η sinh η")
        yield at_most(bound, 1.0 - eta**2 / 2.0, "the bound, 1 − η²/2")


algorithm_corrected.step(space=chord.space)(chord.stated.check)
algorithm_corrected.step(space=TURNING)(one_round.stated.check)


@SOURCE.claim("plain", space=RUNS.but(t=Whole(1, 60)))
def plain(x: Instance) -> Slacks:
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g = gradient(x.A, w)
        before = risk(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= g[j]
        yield at_least(risk(x.A, w), 1.0 / (1.0 + (math.e - 1.0) * t), "1/(1 + (e − 1)t), L", t)
        yield at_most(risk(x.A, w), before - g[j] ** 2 / 2.0, "L_i, L_{i−1} − ‖∇f‖²/2", t)


@plain.step(space=Space(L=Real(0.0, 1.0)))
def _(x: Instance) -> Slack:
    level = max(x.L, 1e-9)
    return at_most(math.expm1(level) / level, math.e - 1.0, "(e^L − 1)/L, e − 1")


PAIRS = Space(
    sizes={"m": (1, 6), "n": (1, 4)}, A=Matrix(), w=Vector("n", -2, 2), v=Vector("n", -2, 2)
)


@SOURCE.claim("L", space=PAIRS).checked(trials=200)
def lemma(x: Instance) -> Slacks:
    for v in (x.v, x.w + (x.v - x.w) / 100.0):
        change = float(np.abs(gradient(x.A, x.w) - gradient(x.A, v)).max())
        level = max(risk(x.A, x.w), risk(x.A, v))
        rounding = 1e-14 * level  # The two gradients may nearly cancel.
        left = Bracket(max(0.0, change - rounding), change + rounding)
        yield at_most(left, level * np.abs(x.w - v).sum(), "‖∇f(w) − ∇f(w')‖_∞")


@lemma.step(space=Space(a=Real(-3, 3), b=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    for b in (x.b, x.a + (x.b - x.a) / 30.0):
        assume(abs(x.a - b) > 1e-6)
        steep = math.exp(b) * abs(math.expm1(x.a - b)) / abs(x.a - b)
        yield at_most(steep, (math.exp(x.a) + math.exp(b)) / 2.0, "|e^a − e^b|/|a − b|")


@lemma.step(space=PAIRS.but(times=Real(1, 4, log=True), s=Real(0, 1)))
def _(x: Instance) -> Slack:
    g = gradient(x.A, x.w)
    f = risk(x.A, x.w)
    j = int(np.argmax(np.abs(g)))
    there = x.w - x.s * g[j] / (x.times * f) * np.eye(g.size)[j]
    gain = x.s * (1.0 - x.s / 2.0) * float(g[j] / f) ** 2 / x.times
    return at_most(risk(x.A, there) / f, 1.0 - gain, "f(w − sηv)/f(w)")
