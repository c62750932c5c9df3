"""TEL, the theorem, the remarks on its step size, and the condition number it stands for."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel.classical import TURNING, turning
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import RUNS, adaboost, gradient, reweighting, risk, weak_learnability


@SOURCE.claim("T", space=TURNING)
def theorem(x: Instance) -> Slacks:
    """The package's own run, with risk and steps recomputed from its w_t. Nearly tight for small γ
    and entries ±1, as on the turning matrices.

    Proof. With φ = ∇L(−A w_{i−1}), d = φ/‖φ‖_1, and a the column chosen times its sign, L_i/L_{i−1}
    = Σ d_k e^{−ηa_k}. As e^{−ηa} ≤ cosh η − a sinh η for |a| ≤ 1 (1) and <d, a> = η_i, it is at
    most cosh η_i − η_i sinh η_i ≤ 1 − η_i²/2 (2). By the WLA η_i ≥ γ (TEL-edge), and L_0 = 1.
    """
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


@theorem.step(
    "The chord of the exponential.",
    "e^{−ηa} ≤ cosh η − a sinh η for |a| ≤ 1",
    space=Space(eta=Real(0.0, 3.0), a=Real(-1, 1)),
)
def _(x: Instance) -> Slack:
    chord = math.cosh(x.eta) - x.a * math.sinh(x.eta)
    return at_most(math.exp(-x.eta * x.a), chord, "e^{−ηa}, cosh η − a sinh η")


@theorem.step(
    "A round with the step η, the edge.",
    "L_i/L_{i−1} ≤ cosh η − η sinh η ≤ 1 − η²/2 ≤ exp(−η²/2)",
    trials=20,
)
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
    """Equal in round 1.

    Proof. ‖∇f(w_{i−1})‖_∞ = η_i L(−A w_{i−1}) (1), where η_i ≤ 1 and L ≤ exp(−(i−1)γ²/2) ≤ 1.
    """
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        plain = float(np.abs(gradient(x.A, vote.before)).max())
        yield at_least(vote.step, plain, "‖∇f‖_∞, η_i", vote.number)
        bound = math.exp(-(vote.number - 1) * gamma**2 / 2.0)
        yield at_most(plain, bound, "‖∇f‖_∞, exp(−(i−1)γ²/2)", vote.number)


@step_larger.step(
    "The step is the gradient over the loss.", "‖∇f(w_{i−1})‖_∞ = η_i L(−A w_{i−1}), η_i ≤ 1"
)
def _(x: Instance) -> Slacks:
    for vote in adaboost(x.A, x.t, "lecture"):
        level = risk(x.A, vote.before)
        plain = float(np.abs(gradient(x.A, vote.before)).max())
        yield equal(plain / level, vote.step, "‖∇f‖_∞/L, η_i", vote.number)
        yield at_most(vote.step, 1.0, "η_i, 1", vote.number)


@SOURCE.claim("plain", space=RUNS.but(t=Whole(1, 60)))
def plain(x: Instance) -> Slacks:
    """Equal for A = [[1]] in round 1. exp(−tγ²/2) is less than 1/(1 + (e − 1)t) from some t on.

    Proof. A step η multiplies L by e^−η at least, as |A_ij| ≤ 1, and η ≤ L. So 1/L grows by
    e^L/L − 1/L at most, which is at most e − 1 for L ≤ 1 (1). What a step gains is TEL-one-round,
    with β = 1.
    """
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g, before = gradient(x.A, w), risk(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= g[j]
        yield at_least(risk(x.A, w), 1.0 / (1.0 + (math.e - 1.0) * t), "1/(1 + (e − 1)t), L", t)
        yield at_most(risk(x.A, w), before - g[j] ** 2 / 2.0, "L_i, L_{i−1} − ‖∇f‖²/2", t)


@plain.step(
    "How much 1/L grows.", "(e^L − 1)/L ≤ e − 1 for 0 < L ≤ 1", space=Space(L=Real(0.0, 1.0))
)
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
    """Attained by a round in ℓ1 where all q_j agree and all w_j do.

    Proof. A step gains ‖∇f‖_*²/(2β), and strong convexity has ‖∇f‖_*² ≥ 2λ(f − f(w̄)) (1). So one
    round multiplies the error by 1 − λ/β ≤ exp(−λ/β) at most.
    """
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


@strongly_convex_rate.step("Steep where the error is large.", "‖∇f‖_*² ≥ 2λ(f − f(w̄))")
def _(x: Instance) -> Slack:
    g, error = np.abs(x.q * x.w), float(x.q @ x.w**2) / 2.0
    steep = float(g.max()) ** 2 if x.norm == "l1" else float(g @ g)
    return at_least(steep, 2.0 * _modulus(x) * error, "2λ(f − f(w̄)), ‖∇f‖_*²")


def _modulus(x: Instance) -> float:
    """Return λ: the least of Σ q_j v_j² on the unit sphere of the norm."""
    return float(1.0 / (1.0 / x.q).sum()) if x.norm == "l1" else float(x.q.min())


@SOURCE.claim("condition-number", space=TURNING.but(w=Vector("n", -2, 2)))
def condition_number(x: Instance) -> Slacks:
    """No constant below 2 will do: on the turning matrices, which have γ = 1/(2k + 1), the first
    round needs more than κ = (2/γ²)(1 − γ²).

    Proof. inf L = 0 (TEL-infimum), and each round multiplies L by 1 − γ²/2 ≤ exp(−γ²/2) at most,
    wherever it starts: TEL-T, 1 and 2.
    """
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


@condition_number.step(
    "From any start, a round multiplies the loss by 1 − η²/2 at most.",
    "L(−A(w − ηv)) ≤ (1 − η²/2) L(−Aw) for the best v and its edge η ≥ γ",
)
def _(x: Instance) -> Slack:
    g, before = gradient(x.A, x.w), risk(x.A, x.w)
    j = int(np.argmax(np.abs(g)))
    eta = float(abs(g[j])) / before
    after = risk(x.A, x.w - g[j] / before * np.eye(g.size)[j])
    return at_most(after / before, 1.0 - eta**2 / 2.0, "L after/L before, 1 − η²/2")
