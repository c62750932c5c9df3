"""TEL, the theorem, the remarks on its step size, and the condition number it stands for."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel.classical import TURNING, turning
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import RUNS, adaboost, gradient, reweighting, risk, weak_learnability


@SOURCE.claim("T", space=TURNING)
def theorem(x: Instance) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(turning(x.k), 1, "lecture"):
        bound = -1.0 / (2.0 * (2.0 * x.k + 1.0) ** 2)
        yield at_most(vote.log_risk, bound, "log L_1, −γ²/2, turning", 1)
    for vote in adaboost(x.A, x.t, "lecture"):
        before, phi = vote.before, reweighting(x.A, vote.before)
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
def _(x: Instance) -> Slack:
    chord = math.cosh(x.eta) - x.a * math.sinh(x.eta)
    return at_most(math.exp(-x.eta * x.a), chord, "e^{−ηa}, cosh η − a sinh η")


@theorem.step(trials=20)
def _(x: Instance) -> Slacks:
    for A, t in ((x.A, x.t), (turning(x.k), 1)):
        before = 1.0
        for vote in adaboost(A, t, "lecture"):
            eta, found = vote.edge, risk(A, vote.w)
            if before > 1e-9:
                bound = math.cosh(eta) - eta * math.sinh(eta)
                yield at_most(found / before, bound, "L_i/L_{i−1}", vote.number)
                yield at_most(bound, 1.0 - eta**2 / 2.0, "the bound, 1 − η²/2", vote.number)
                yield at_most(1.0 - eta**2 / 2.0, math.exp(-(eta**2) / 2.0), "1 − η²/2, exp")
            before = found


@SOURCE.claim("step-larger", space=RUNS)
def step_larger(x: Instance) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        plain = float(np.abs(gradient(x.A, vote.before)).max())
        yield at_least(vote.step, plain, "‖∇f‖_∞, η_i", vote.number)
        bound = math.exp(-(vote.number - 1) * gamma**2 / 2.0)
        yield at_most(plain, bound, "‖∇f‖_∞, exp(−(i−1)γ²/2)", vote.number)


@step_larger.step()
def _(x: Instance) -> Slacks:
    for vote in adaboost(x.A, x.t, "lecture"):
        level = risk(x.A, vote.before)
        plain = float(np.abs(gradient(x.A, vote.before)).max())
        yield equal(plain / level, vote.step, "‖∇f‖_∞/L, η_i", vote.number)
        yield at_most(vote.step, 1.0, "η_i, 1", vote.number)


@SOURCE.claim("plain", space=RUNS.but(t=Whole(1, 60)))
def plain(x: Instance) -> Slacks:
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g, before = gradient(x.A, w), risk(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= g[j]
        yield at_least(risk(x.A, w), 1.0 / (1.0 + (math.e - 1.0) * t), "1/(1 + (e − 1)t), L", t)
        yield at_most(risk(x.A, w), before - g[j] ** 2 / 2.0, "L_i, L_{i−1} − ‖∇f‖²/2", t)


@plain.step(space=Space(L=Real(0.0, 1.0)))
def _(x: Instance) -> Slack:
    level = max(x.L, 1e-9)
    return at_most(math.expm1(level) / level, math.e - 1.0, "(e^L − 1)/L, e − 1")


@SOURCE.claim(
    "strongly-convex-rate",
    space=Space(
        sizes={"n": (1, 40)},
        q=Vector("n", 0.1, 2),
        w=Vector("n", -2, 2),
        norm=Choice("l1", "l2"),
        t=Whole(1, 30),
    ),
)
def strongly_convex_rate(x: Instance) -> Slacks:
    w, beta, modulus = x.w.copy(), float(x.q.max()), _modulus(x)
    start = before = float(x.q @ w**2) / 2.0
    for t in range(1, x.t + 1):
        g = x.q * w
        if x.norm == "l1":
            g = np.where(np.arange(g.size) == int(np.argmax(np.abs(g))), g, 0.0)
        w = w - g / beta
        error = float(x.q @ w**2) / 2.0
        yield at_most(error, before * (1.0 - modulus / beta), "error, (1 − λ/β) times before", t)
        bound = start * math.exp(-t * modulus / beta)
        yield at_most(error, bound, "f(w_t), f(w_0) exp(−tλ/β)", t)
        before = error


@strongly_convex_rate.step()
def _(x: Instance) -> Slack:
    g, error = np.abs(x.q * x.w), float(x.q @ x.w**2) / 2.0
    steep = float(g.max()) ** 2 if x.norm == "l1" else float(g @ g)
    return at_least(steep, 2.0 * _modulus(x) * error, "2λ(f − f(w̄)), ‖∇f‖_*²")


def _modulus(x: Instance) -> float:
    """Return λ: the least of Σ q_j v_j² on the unit sphere of the norm."""
    return float(1.0 / (1.0 / x.q).sum()) if x.norm == "l1" else float(x.q.min())


@SOURCE.claim("condition-number", space=TURNING.but(w=Vector("n", -2, 2)))
def condition_number(x: Instance) -> Slacks:
    gamma, least = float(weak_learnability(x).lower), 1.0 / (2 * x.k + 1)
    for A, start, rounds, kappa in (
        (x.A, x.w, x.t, 2.0 / gamma**2),
        (turning(x.k), np.zeros(2 * x.k + 1), 1, 2.0 / least**2),
    ):
        w, before = start.copy(), risk(A, start)
        for t in range(1, rounds + 1):
            g = gradient(A, w)
            j = int(np.argmax(np.abs(g)))
            w[j] -= g[j] / risk(A, w)
            found = risk(A, w) / before
            yield at_most(found, math.exp(-t / kappa), "L(−A w_t)/L(−A w_0), exp(−t/κ)", t)
    needed = -1.0 / math.log(found)  # of the turning matrix
    yield at_least(needed, 2.0 / least**2 * (1.0 - least**2), "(2/γ²)(1 − γ²), κ needed", 1)


@condition_number.step()
def _(x: Instance) -> Slack:
    g, before = gradient(x.A, x.w), risk(x.A, x.w)
    j = int(np.argmax(np.abs(g)))
    eta = float(abs(g[j])) / before
    after = risk(x.A, x.w - g[j] / before * np.eye(g.size)[j])
    return at_most(after / before, 1.0 - eta**2 / 2.0, "L after/L before, 1 − η²/2")
