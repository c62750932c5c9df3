"""TEL, the algorithm and the remarks on it: gradient, direction, sparsity, curvature."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Choice, Instance, Matrix, Real, Space, Vector
from relaxboost.claims.measure import Slack, assume, at_least, at_most, equal
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import (
    RUNS,
    adaboost,
    gradient,
    reweighting,
    risk,
    weak_learnability,
)
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

POINTS = Space(
    sizes={"m": (1, 6), "n": (1, 4)}, A=Matrix(), w=Vector("n", -2, 2), h=Vector("n", -1, 1)
)


@SOURCE.claim(
    "gradient",
    "The algorithm, choice of v_s",
    "The gradient of L∘(−A) at w is Aᵀ∇L(−Aw).",
    formula="∇(L∘(−A))(w) = Aᵀ∇L(−Aw)",
    given="A in [−1, 1]^(n×d)",
    space=POINTS,
    counterexamples=[{"A": [[1]], "w": [0], "h": [1]}],
)
def gradient_as_printed(x: Instance) -> Slack:
    """g is the gradient of a convex f at w only if f(w + h) ≥ f(w) + <g, h> for every h.

    The chain rule gives −Aᵀ∇L(−Aw): the sign of the inner function is lost.
    """
    g = x.A.T @ reweighting(x.A, x.w)
    return at_least(risk(x.A, x.w + x.h), risk(x.A, x.w) + g @ x.h, "f(w + h), f(w) + <g, h>")


@gradient_as_printed.corrected("It is −Aᵀ∇L(−Aw).", "∇(L∘(−A))(w) = −Aᵀ∇L(−Aw)")
def gradient_corrected(x: Instance) -> Iterator[Slack]:
    """The chain rule. What is lost above is at most the mean of s² e^|s|/2, s = (Ah)_i."""
    at, g = risk(x.A, x.w), -x.A.T @ reweighting(x.A, x.w)
    for size in (1.0, 1e-2):
        h = size * x.h
        yield at_least(risk(x.A, x.w + h), at + g @ h, "f(w + h), f(w) + <g, h>")
        # exp s <= 1 + s + s² exp|s|/2, averaged over the rows with s = −(Ah)_i.
        s = -(x.A @ h)
        most = float(reweighting(x.A, x.w) @ (s * s * np.exp(np.abs(s)))) / 2.0
        yield at_most(risk(x.A, x.w + h), at + g @ h + most, "f(w + h), the same and s² e^|s|/2")


@SOURCE.claim(
    "algorithm",
    "The algorithm, with the theorem's step",
    "w ← w − ηv with v = argmax <v, Aᵀ∇L(−Aw)> descends as the theorem says.",
    formula="v_s = argmax {<v, Aᵀ∇L(−Aw)> : ‖v‖_1 ≤ 1}, w_s = w_{s−1} − η_s v_s ⇒ "
    "L(−A w_t) ≤ exp(−tγ²/2)",
    given="A in [−1, 1]^(n×d), WLA with γ > 0, η the edge",
    space=RUNS,
    counterexamples=[{"A": [[1]], "t": 1}],
)
def algorithm(x: Instance, sign: float = 1.0) -> Iterator[Slack]:
    """Sign error: j and r are those of −∇(L∘(−A))(w), so that w − ηv ascends."""
    gamma = float(weak_learnability(x).lower)
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g = sign * x.A.T @ reweighting(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= abs(g[j]) / reweighting(x.A, w).sum() * np.sign(g[j])
        yield at_most(risk(x.A, w), math.exp(-t * gamma**2 / 2.0), "L(−A w_t)", t)


@algorithm.corrected(
    "It does with v = argmax <v, ∇(L∘(−A))(w)>.", "v_s = argmax {<v, −Aᵀ∇L(−Aw)> : ‖v‖_1 ≤ 1}"
)
def algorithm_corrected(x: Instance) -> Iterator[Slack]:
    """The first of the two expressions that the lecture equates is right, the second is not."""
    yield from algorithm(x, -1.0)


@SOURCE.claim(
    "vertex",
    "The algorithm, simplified",
    "The maximum over the ℓ1 ball is attained at a coordinate with a sign.",
    formula="max {<g, v> : ‖v‖_1 ≤ 1} = r g_j, j = argmax |g_j|, r = sgn g_j",
    space=Space(sizes={"n": (1, 8)}, g=Vector("n", -3, 3)),
)
def vertex(x: Instance) -> Iterator[Slack]:
    """Hölder: <g, v> ≤ ‖g‖_∞ ‖v‖_1, with equality at r e_j. Tried at 50 points of the sphere."""
    j = int(np.argmax(np.abs(x.g)))
    v = np.zeros(x.g.size)
    v[j] = np.sign(x.g[j])
    yield equal(Fraction(x.g @ v), Fraction(np.abs(x.g).max()), "<g, r e_j>, ‖g‖_∞")
    for other in x.rng.dirichlet(np.full(x.g.size, 0.3), 50):
        signed = other * x.rng.choice([-1.0, 1.0], x.g.size)
        yield at_most(x.g @ signed, x.g @ v, "<g, v>, <g, r e_j>")
        yield at_most(x.g @ (np.sign(x.g) * other), x.g @ v, "<g, v>, <g, r e_j>")


@SOURCE.claim(
    "sparsity",
    "The algorithm, w_0 := 0",
    "After t rounds w_t has at most t non-zero entries.",
    formula="|supp w_t| ≤ t",
    space=RUNS.but(step=Choice("lecture", "classical", "line-search")),
)
def sparsity(x: Instance) -> Iterator[Slack]:
    """Each round changes one entry; tight as long as no column is taken twice."""
    for vote in adaboost(x.A, x.t, x.step):
        yield at_most(int(np.count_nonzero(vote.w)), vote.number, "entries", vote.number)


@SOURCE.claim(
    "hessian",
    "Remarks on the algorithm, strong convexity",
    "The Hessian of L∘(−A) is Aᵀ diag(ℓ''(−(Aw)_i)) A.",
    formula="∇²(L∘(−A))(w) = Aᵀ diag(ℓ''(−(Aw)_i)) A",
    given="L(v) = (1/n) Σ ℓ(v_i)",
    space=POINTS,
    counterexamples=[{"A": [[1], [1]], "w": [0], "h": [1]}],
)
def hessian(x: Instance) -> Iterator[Slack]:
    """The factor 1/n of L is lost.

    With the Hessian H, f(w + h) − 2f(w) + f(w − h) lies between hᵀHh and hᵀHh · 2(cosh b − 1)/b²,
    b = ‖Ah‖_∞, since cosh s − 1 ≥ s²/2 and (cosh s − 1)/s² increases.
    """
    yield from _second_difference(x, x.A.T @ np.diag(np.exp(-(x.A @ x.w))) @ x.A)


@hessian.corrected("It is that over n.", "∇²(L∘(−A))(w) = (1/n) Aᵀ diag(ℓ''(−(Aw)_i)) A")
def hessian_corrected(x: Instance) -> Iterator[Slack]:
    """Nothing in the remark depends on the factor."""
    yield from _second_difference(x, x.A.T @ np.diag(reweighting(x.A, x.w)) @ x.A)


def _second_difference(x: Instance, H: Array) -> Iterator[Slack]:
    b = float(np.abs(x.A @ x.h).max())
    assume(b > 1e-2)
    # Σ φ_i 2(cosh s_i − 1) with s = Ah, so that nothing cancels.
    found = float(reweighting(x.A, x.w) @ (4.0 * np.sinh(x.A @ x.h / 2.0) ** 2))
    form = float(x.h @ H @ x.h)
    yield at_least(found, form, "f(w + h) − 2f(w) + f(w − h), hᵀHh")
    most = form * 2.0 * (math.cosh(b) - 1.0) / b**2
    yield at_most(found, most, "f(w + h) − 2f(w) + f(w − h), hᵀHh · 2(cosh b − 1)/b²")


@SOURCE.claim(
    "l2-l1",
    "Remarks on the algorithm, strong convexity",
    "Strong convexity in ‖·‖_2 implies strong convexity in ‖·‖_1, with a degraded constant.",
    formula="λ‖v‖_2² ≥ (λ/d) ‖v‖_1²",
    space=Space(sizes={"n": (1, 8)}, v=Vector("n", -3, 3)),
)
def l2_l1(x: Instance) -> Slack:
    """Cauchy-Schwarz: the constant is divided by the dimension; equal where all |v_j| agree."""
    return at_most(np.abs(x.v).sum() ** 2 / x.v.size, x.v @ x.v, "‖v‖_1²/d, ‖v‖_2²")


CLASHES = POINTS.but({"m": (2, 7), "n": (1, 2)}, h=Vector("n", -2, 2), size=Real(0.01, 1, log=True))


@SOURCE.claim(
    "strong-convexity",
    "Remarks on the algorithm, strong convexity",
    "If every v has one correct and one incorrect example, there is a form of strong convexity.",
    formula="∀v ≠ 0 ∃i, i': (Av)_i > 0 > (Av)_i' ⇒ L∘(−A) is strongly convex where it is ≤ 1",
    given="v ≠ 0, as v = 0 never has any",
    space=CLASHES,
).checked(trials=200)
def strong_convexity(x: Instance) -> Iterator[Slack]:
    """With μ = min over ‖v‖_1 = 1 of max −(Av)_i > 0, f(w) ≥ exp(μ‖w‖_1)/n.

    So f ≤ 1 bounds ‖w‖_1 by R = log(n)/μ, there ∇²f ≥ exp(−R)/n · AᵀA, and A has no kernel. On
    the whole space there need be none.
    """
    signs = product((1.0, -1.0), repeat=x.A.shape[1])  # a game over the simplex in each orthant
    games = (Game(x.A * np.array(each), over=Simplex()) for each in signs)
    mu = -max(float(x.optimum(game).lower) for game in games)
    assume(mu > 0.01)
    m, radius = len(x.A), math.log(len(x.A)) / mu
    for w in (x.w, x.h):
        bound = math.exp(mu * float(np.abs(w).sum())) / m
        yield at_least(risk(x.A, w), bound, "f(w), exp(μ‖w‖_1)/n")
    w, v = (_within(x.A, x.size * each) for each in (x.w, x.h))
    modulus = math.exp(-radius) / m * float(np.linalg.svd(x.A, compute_uv=False)[-1]) ** 2
    yield at_most(np.abs(v).sum(), radius, "‖w‖_1 where f(w) ≤ 1, log(n)/μ")
    rise = risk(x.A, v) - risk(x.A, w) - float(gradient(x.A, w) @ (v - w))
    yield at_least(rise, modulus * float((v - w) @ (v - w)) / 2.0, "f(w') − f(w) − <∇f(w), w' − w>")


def _within(A: Array, w: Array) -> Array:
    """Return w scaled down until the risk is at most 1, as it is at 0."""
    while risk(A, w) > 1.0:
        w = w / 2.0 if float(np.abs(w).sum()) > 1e-9 else 0.0 * w
    return w
