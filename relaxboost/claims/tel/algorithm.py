"""TEL, the algorithm and the remarks on it: gradient, direction, sparsity, curvature."""

import math
from fractions import Fraction
from itertools import product

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import RUNS, adaboost, gradient, reweighting, risk, weak_learnability
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

POINTS = Space(
    sizes={"m": (1, 6), "n": (1, 4)}, A=Matrix(), w=Vector("n", -2, 2), h=Vector("n", -1, 1)
)

LABELLED = Space(sizes={"m": (1, 6), "n": (1, 4)}, H=Matrix(), y=Vector("m"), w=Vector("n", -2, 2))
"""Outputs h_j(x_i), labels (the signs of y), and the weights of a vote."""

VECTORS = Space(sizes={"n": (1, 8)}, g=Vector("n", -3, 3), v=Vector("n", -3, 3))


def _labels(x: Instance) -> Array:
    return np.where(x.y < 0.0, -1.0, 1.0)


@SOURCE.claim("risk", space=LABELLED)
def risk_of_a_vote(x: Instance) -> Slack:
    A, n = _labels(x)[:, None] * x.H, len(x.H)
    losses = [math.exp(-label * float(h @ x.w)) for label, h in zip(_labels(x), x.H, strict=True)]
    return equal(risk(A, x.w), math.fsum(losses) / n, "L(−Aw), (1/n) Σ ℓ(−y_i Σ_j h_j(x_i) w_j)")


@risk_of_a_vote.step()
def _(x: Instance) -> Slacks:
    for margin, label, h in zip((_labels(x)[:, None] * x.H) @ x.w, _labels(x), x.H, strict=True):
        yield equal(float(margin), float(label * sum(h * x.w)), "(Aw)_i, y_i Σ_j h_j(x_i) w_j")


@SOURCE.claim("gradient", space=POINTS)
def gradient_as_printed(x: Instance) -> Slack:
    g = x.A.T @ reweighting(x.A, x.w)
    return at_least(risk(x.A, x.w + x.h), risk(x.A, x.w) + g @ x.h, "f(w) + <g, h>, f(w + h)")


@gradient_as_printed.corrected()
def gradient_corrected(x: Instance) -> Slacks:
    at, g = risk(x.A, x.w), -x.A.T @ reweighting(x.A, x.w)
    for size in (1.0, 1e-2):
        h = size * x.h
        yield at_least(risk(x.A, x.w + h), at + g @ h, "f(w) + <g, h>, f(w + h)")
        # exp s <= 1 + s + s² exp|s|/2, averaged over the rows with s = −(Ah)_i.
        s = -(x.A @ h)
        most = float(reweighting(x.A, x.w) @ (s * s * np.exp(np.abs(s)))) / 2.0
        yield at_most(risk(x.A, x.w + h), at + g @ h + most, "f(w + h), the same and s² e^|s|/2")


@gradient_corrected.step()
def _(x: Instance) -> Slack:
    total = math.fsum(reweighting(x.A, x.w) * np.exp(-(x.A @ x.h)))
    return equal(risk(x.A, x.w + x.h), total, "f(w + h), Σ φ_i exp(−(Ah)_i)")


@gradient_corrected.step(space=Space(s=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    for s in (x.s, x.s / 30.0):
        yield at_least(math.exp(s), 1.0 + s, "1 + s, e^s")
        yield at_most(math.exp(s), 1.0 + s + s * s * math.exp(abs(s)) / 2.0, "1 + s + s² e^|s|/2")


@SOURCE.claim("algorithm", space=RUNS)
def algorithm(x: Instance, sign: float = 1.0) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g = sign * x.A.T @ reweighting(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= abs(g[j]) / reweighting(x.A, w).sum() * np.sign(g[j])
        yield at_most(risk(x.A, w), math.exp(-t * gamma**2 / 2.0), "L(−A w_t)", t)


@algorithm.corrected()
def algorithm_corrected(x: Instance) -> Slacks:
    yield from algorithm(x, -1.0)


@SOURCE.claim("vertex", space=VECTORS)
def vertex(x: Instance) -> Slacks:
    size, j = float(np.abs(x.v).sum()), int(np.argmax(np.abs(x.g)))
    assume(size > 1e-6)
    best = float(np.sign(x.g[j]) * x.g[j])
    for v in (x.v, np.sign(x.g) * np.abs(x.v)):
        yield at_most(float(x.g @ v) / size, best, "<g, v/‖v‖_1>, <g, r e_j>")


@vertex.step()
def _(x: Instance) -> Slack:
    right = float(np.abs(x.g).max() * np.abs(x.v).sum())
    return at_most(float(np.abs(x.g) @ np.abs(x.v)), right, "Σ |g_j| |v_j|, ‖g‖_∞ ‖v‖_1")


@vertex.step()
def _(x: Instance) -> Slack:
    j = int(np.argmax(np.abs(x.g)))
    v = np.sign(x.g[j]) * np.eye(x.g.size)[j]
    return equal(Fraction(float(x.g @ v)), Fraction(float(np.abs(x.g).max())), "<g, r e_j>, ‖g‖_∞")


@SOURCE.claim("selection", space=LABELLED)
def selection(x: Instance) -> Slacks:
    A, n = _labels(x)[:, None] * x.H, len(x.H)
    g = A.T @ reweighting(A, x.w)
    for j, (mine, theirs) in enumerate(zip(g, _sums(x), strict=True), 1):
        yield equal(float(mine), theirs / n, f"(Aᵀ∇L)_j, (1/n) Σ y ℓ' h_j, j = {j}")
    chosen = int(np.argmax(np.abs(_sums(x))))
    yield at_least(float(abs(g[chosen])), float(np.abs(g).max()), "|(Aᵀ∇L)_j| at the second argmax")


@selection.step()
def _(x: Instance) -> Slacks:
    A = _labels(x)[:, None] * x.H
    for margin, slope in zip(A @ x.w, reweighting(A, x.w), strict=True):
        for h in (0.01, -0.01):  # a convex function is above its tangent, on both sides
            rise = (math.exp(h - margin) - math.exp(-margin)) / len(A)
            yield at_least(rise / slope, h, "h, L(v + h e_i) − L(v) over the slope")


def _sums(x: Instance) -> list[float]:
    """Return Σ_i y_i ℓ'(−y_i Σ_k h_k(x_i) w_k) h_j(x_i) for each j, by loops."""
    rows = list(zip(_labels(x), x.H, strict=True))
    return [
        math.fsum(y * math.exp(-y * float(h @ x.w)) * float(h[j]) for y, h in rows)
        for j in range(x.w.size)
    ]


@SOURCE.claim("sparsity", space=RUNS.but(step=Choice("lecture", "classical", "line-search")))
def sparsity(x: Instance) -> Slacks:
    for vote in adaboost(x.A, x.t, x.step):
        yield at_most(int(np.count_nonzero(vote.w)), vote.number, "entries", vote.number)


@sparsity.step()
def _(x: Instance) -> Slacks:
    for vote in adaboost(x.A, x.t, x.step):
        changed = int(np.count_nonzero(np.abs(vote.w - vote.before) > 1e-12))  # w is scaled
        yield at_most(changed, 1, "entries changed", vote.number)


@SOURCE.claim("hessian", space=POINTS)
def hessian(x: Instance) -> Slacks:
    yield from _second_difference(x, x.A.T @ np.diag(np.exp(-(x.A @ x.w))) @ x.A)


@hessian.corrected()
def hessian_corrected(x: Instance) -> Slacks:
    yield from _second_difference(x, x.A.T @ np.diag(reweighting(x.A, x.w)) @ x.A)


@hessian_corrected.step()
def _(x: Instance) -> Slack:
    phi = reweighting(x.A, x.w)
    form = float(x.h @ (x.A.T @ np.diag(phi) @ x.A) @ x.h)
    return equal(form, math.fsum(phi * (x.A @ x.h) ** 2), "hᵀHh, Σ φ_i (Ah)_i²")


@hessian_corrected.step(space=Space(s=Real(0.01, 3.0, log=True), b=Real(0.01, 3.0, log=True)))
def _(x: Instance) -> Slacks:
    small, large = (4.0 * math.sinh(v / 2.0) ** 2 / v**2 for v in sorted((x.s, x.b)))
    yield at_least(small, 1.0, "1, 2(cosh s − 1)/s²")
    yield at_most(small, large, "2(cosh s − 1)/s² at s and b")


def _second_difference(x: Instance, H: Array) -> Slacks:
    b = float(np.abs(x.A @ x.h).max())
    assume(b > 1e-2)
    # Σ φ_i 2(cosh s_i − 1) with s = Ah, so that nothing cancels.
    found = float(reweighting(x.A, x.w) @ (4.0 * np.sinh(x.A @ x.h / 2.0) ** 2))
    form = float(x.h @ H @ x.h)
    yield at_least(found, form, "hᵀHh, f(w + h) − 2f(w) + f(w − h)")
    most = form * 2.0 * (math.cosh(b) - 1.0) / b**2
    yield at_most(found, most, "f(w + h) − 2f(w) + f(w − h), hᵀHh · 2(cosh b − 1)/b²")


@SOURCE.claim("inner-matrix", space=POINTS.but(s=Real(0.0, 20.0), gamma=Real(0.01, 1.0, log=True)))
def inner_matrix(x: Instance) -> Slack:
    A = np.minimum(1.0, x.gamma + np.abs(x.A))
    there = A @ (x.w + x.s * np.eye(x.w.size)[0])
    worst = float((A @ x.w - there).max())  # logarithms of the ratios
    return at_most(worst, -x.s * float(A[:, 0].min()), "log ℓ''(there)/ℓ''(here), −sγ")


@inner_matrix.step()
def _(x: Instance) -> Slack:
    a, b, s = float(x.A[0] @ x.w), float(x.A[0] @ x.h), x.s / 20.0
    return equal(math.exp(-(a + s * b)), math.exp(-s * b) * math.exp(-a), "e^−(a + sb)")


@SOURCE.claim("l2-l1", space=VECTORS)
def l2_l1(x: Instance) -> Slack:
    return at_most(np.abs(x.v).sum() ** 2 / x.v.size, x.v @ x.v, "‖v‖_1²/d, ‖v‖_2²")


@l2_l1.step()
def _(x: Instance) -> Slacks:
    for g in (x.g, x.v):
        yield at_most(float(g @ x.v) ** 2, float(g @ g) * float(x.v @ x.v), "<g, v>²")


CLASHES = POINTS.but({"m": (2, 7), "n": (1, 2)}, h=Vector("n", -2, 2), size=Real(0.01, 1, log=True))


@SOURCE.claim("strong-convexity", space=CLASHES).checked(trials=200)
def strong_convexity(x: Instance) -> Slacks:
    mu, m = _contradicted(x), len(x.A)
    radius = math.log(m) / mu
    w, v = (_within(x.A, x.size * each) for each in (x.w, x.h))
    modulus = math.exp(-radius) / m * float(np.linalg.svd(x.A, compute_uv=False)[-1]) ** 2
    yield at_most(np.abs(v).sum(), radius, "‖w‖_1 where f(w) ≤ 1, log(n)/μ")
    rise = risk(x.A, v) - risk(x.A, w) - float(gradient(x.A, w) @ (v - w))
    yield at_least(rise, modulus * float((v - w) @ (v - w)) / 2.0, "f(w') − f(w) − <∇f(w), w' − w>")


@strong_convexity.step()
def _(x: Instance) -> Slacks:
    mu, m = _contradicted(x), len(x.A)
    for w in (x.w, x.h):
        bound = math.exp(mu * float(np.abs(w).sum())) / m
        yield at_least(risk(x.A, w), bound, "exp(μ‖w‖_1)/n, f(w)")


@strong_convexity.step(space=POINTS)
def _(x: Instance) -> Slack:
    least, bound = float(np.exp(-(x.A @ x.w)).min()), math.exp(-float(np.abs(x.w).sum()))
    return at_least(least / bound, 1.0, "ℓ''/exp(−‖w‖_1)")


def _contradicted(x: Instance) -> float:
    """Return μ = min over ‖v‖_1 = 1 of max −(Av)_i, and leave x out unless it exceeds .01."""
    signs = product((1.0, -1.0), repeat=x.A.shape[1])  # a game over the simplex in each orthant
    games = (Game(x.A * np.array(each), over=Simplex()) for each in signs)
    mu = -max(float(x.optimum(game).lower) for game in games)
    assume(mu > 0.01)
    return mu


def _within(A: Array, w: Array) -> Array:
    """Return w scaled down until the risk is at most 1, as it is at 0."""
    while risk(A, w) > 1.0:
        w = w / 2.0 if float(np.abs(w).sum()) > 1e-9 else 0.0 * w
    return w
