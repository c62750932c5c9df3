"""TEL, the theorem, its step size, and how both compare with the classical ones."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.claims import Choice, Instance, Space, Vector, Whole
from relaxboost.claims.measure import Slack, at_least, at_most, equal
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import (
    RUNS,
    Vote,
    adaboost,
    gradient,
    reweighting,
    risk,
    weak_learnability,
)

_SYMMETRIC = [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]


@SOURCE.claim(
    "rate",
    "Before the WLA",
    "The rate is the classical one of Freund & Schapire, exp(−Σ γ_i²/2).",
    formula="L(−A w_t) ≤ exp(−Σ γ_i²/2) ≤ exp(−tγ²/2), for η = γ_i and for η = artanh γ_i",
    given="γ_i the edge of round i; the classical bound in the form of an exponential",
    space=RUNS.but(step=Choice("lecture", "classical")),
)
def rate(x: Instance) -> Iterator[Slack]:
    """Freund & Schapire, Thm 6 and Eq. 21, with their γ half the edge: exp(−2 Σ (γ_i/2)²).

    Their theorem has the product Π sqrt(1 − γ_i²) before it, see TEL-rate-product.
    """
    total, gamma = 0.0, float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, x.step):
        total += vote.edge**2
        found, bound = risk(x.A, vote.w), math.exp(-total / 2.0)
        yield at_most(found, bound, "L(−A w_t), exp(−Σ γ_i²/2)", vote.number)
        last = math.exp(-vote.number * gamma**2 / 2.0)
        yield at_most(bound, last, "exp(−Σ γ_i²/2), exp(−tγ²/2)", vote.number)


@SOURCE.claim(
    "rate-product",
    "Before the WLA",
    "The rate is the classical one of Freund & Schapire, Π sqrt(1 − γ_i²).",
    formula="L(−A w_t) ≤ Π_i sqrt(1 − γ_i²), η = γ_i",
    given="γ_i the edge of round i; the classical bound before it is made an exponential",
    space=RUNS,
    counterexamples=[{"A": _SYMMETRIC, "t": 1}],
)
def rate_product(x: Instance, step: str = "lecture") -> Iterator[Slack]:
    """With entries ±1 L_i/L_{i−1} = cosh η − γ_i sinh η, which is least at η = artanh γ_i.

    At η = γ it is more than that, sqrt(1 − γ²), though less than exp(−γ²/2).
    """
    bound = 1.0
    for vote in adaboost(x.A, x.t, step):
        bound *= math.sqrt(max(0.0, 1.0 - vote.edge**2))
        if bound < 1e-6:  # the edge may be 1, and then the package's step 18.7 for infinity
            return
        yield at_most(risk(x.A, vote.w), bound, "L(−A w_t), Π sqrt(1 − γ_i²)", vote.number)


@rate_product.corrected(
    "It is for the classical step.", "L(−A w_t) ≤ Π_i sqrt(1 − γ_i²), η = artanh γ_i"
)
def rate_product_classical(x: Instance) -> Iterator[Slack]:
    """cosh η − γ sinh η = sqrt(1 − γ²) at η = artanh γ; an equality for entries ±1."""
    yield from rate_product(x, "classical")


@SOURCE.claim(
    "step-classical",
    "Before the WLA",
    "The step size is the classical one.",
    formula="γ_t = ½ log (1 + γ_t)/(1 − γ_t)",
    given="γ_t the edge of round t, not 1",
    space=RUNS,
    counterexamples=[{"A": _SYMMETRIC, "t": 1}],
)
def step_classical(x: Instance) -> Iterator[Slack]:
    """The classical step is artanh γ_t = γ_t + γ_t³/3 + ...: longer in every round."""
    for vote, edge in _classical(x):
        yield equal(edge, vote.step, "‖Aᵀ∇L‖_∞/‖∇L‖_1, classical step", vote.number)


@step_classical.corrected(
    "It is the hyperbolic tangent of the classical one, and shorter.", "γ_t = tanh η_t ≤ η_t"
)
def step_classical_corrected(x: Instance) -> Iterator[Slack]:
    """The two agree to second order, where edges are small."""
    for vote, edge in _classical(x):
        yield equal(edge, math.tanh(vote.step), "the edge, tanh η_t", vote.number)
        yield at_most(edge, vote.step, "the edge, η_t", vote.number)


def _classical(x: Instance) -> Iterator[tuple[Vote, float]]:
    """Yield the rounds of the classical run with the edge recomputed, until an edge is 1."""
    for vote in adaboost(x.A, x.t, "classical"):
        phi = reweighting(x.A, vote.before)
        edge = float(np.abs(x.A.T @ phi).max() / phi.sum())
        if edge > 0.999:
            return
        yield vote, edge


@SOURCE.claim(
    "iterates",
    "Before the WLA",
    "The iterate sequences are those of classical AdaBoost.",
    formula="w_t with η = γ_t is w_t with η = artanh γ_t",
    given="ties broken alike; no edge is 1, where the classical step is infinite",
    space=RUNS,
    counterexamples=[{"A": _SYMMETRIC, "t": 1}],
)
def iterates(x: Instance) -> Iterator[Slack]:
    """Their steps differ, so that their losses do from round 1; after that even their columns.

    Only the first column is always the same.
    """
    both = (adaboost(x.A, x.t, step) for step in ("lecture", "classical"))
    for one, other in zip(*both, strict=False):
        if max(one.edge, other.edge) > 0.999:
            return
        yield equal(risk(x.A, one.w), risk(x.A, other.w), "L(−A w_t)", one.number)


@iterates.corrected(
    "The theorem holds for both of them.",
    "L(−A w_t)/L(−A w_{t−1}) ≤ cosh γ_t − γ_t sinh γ_t ≤ 1 − γ_t²/2 for η = γ_t and η = artanh γ_t",
)
def iterates_corrected(x: Instance) -> Iterator[Slack]:
    """exp is convex: L_t/L_{t−1} ≤ Z(η) = cosh η − γ_t sinh η, least at artanh γ_t, and at γ_t as
    stated, since (2k)! > (2k − 1)! term by term.

    With η in place of γ_t on the right it would be false for the classical step: 1/cosh η is
    .9428 in round 1 of the 3 x 3 game, cosh η − η sinh η = .9381.
    """
    for step in ("lecture", "classical"):
        before = 1.0
        for vote in adaboost(x.A, x.t, step):
            found, gamma = risk(x.A, vote.w), vote.edge
            if before > 1e-9:
                bound = math.cosh(gamma) - gamma * math.sinh(gamma)
                yield at_most(found / before, bound, f"L_t/L_t−1, {step}", vote.number)
                yield at_most(bound, 1.0 - gamma**2 / 2.0, "the bound, 1 − γ_t²/2", vote.number)
            before = found


@SOURCE.claim(
    "columns",
    "Before the WLA",
    "The two step sizes choose the same columns.",
    formula="(j_t, r_t) with η = γ_t is (j_t, r_t) with η = artanh γ_t",
    given="the largest edge is so by 10⁻⁶ at least, for both",
    space=RUNS,
    counterexamples=[
        {"A": [[1, "-1/4"], [-1, 1]], "t": 2},
        {
            "A": [
                ["-1/2", 0, "1/2", "1/2"],
                [0, "-1/2", -1, -1],
                [-1, "-1/2", 0, 0],
                ["-1/2", "-1/2", 0, "1/2"],
            ],
            "t": 3,
        },
    ],
)
def columns(x: Instance) -> Iterator[Slack]:
    """The edges of the two runs may be ordered differently from round 2 on: in the 2 x 2 game the
    shorter step leaves the first column the best one. In the 4 x 4 game they part in round 3.
    """
    for one, other in zip(_clear(x, "lecture"), _clear(x, "classical"), strict=False):
        left, right = (vote.sign * (vote.column + 1) for vote in (one, other))
        yield equal(left, right, "signed column, from 1", one.number)


@columns.corrected("They choose the same column in round 1.", "(j_1, r_1) is the same")
def columns_corrected(x: Instance) -> Iterator[Slack]:
    """w_0 = 0 for both, and the choice does not look at the step."""
    yield from columns(x)[:1]


def _clear(x: Instance, step: str) -> Iterator[Vote]:
    """Yield the rounds of a run until the best column is not clearly the best any more."""
    for vote in adaboost(x.A, x.t, step):
        edges = np.sort(np.abs(x.A.T @ vote.d))
        if edges[-1] - (edges[-2] if edges.size > 1 else 0.0) < 1e-6:
            return
        yield vote


@SOURCE.claim(
    "T",
    "Theorem",
    "With step size η_i = ‖Aᵀ∇L‖_∞/‖∇L‖_1, AdaBoost has L(−A w_t) ≤ exp(−tγ²/2).",
    formula="η_i = ‖Aᵀ∇L(−A w_{i−1})‖_∞/‖∇L(−A w_{i−1})‖_1 ≥ γ, L(−A w_t) ≤ exp(−tγ²/2)",
    given="WLA with γ, and the sign of v_s corrected (TEL-algorithm)",
    space=RUNS,
)
def theorem(x: Instance) -> Iterator[Slack]:
    """Each round multiplies L by 1 − η_i²/2 at most. Nearly tight for small γ and entries ±1.

    The package's own run, with risk and steps recomputed from its w_t.
    """
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        before, phi = vote.before, reweighting(x.A, vote.before)
        eta = float(np.abs(x.A.T @ phi).max() / phi.sum())
        yield equal(vote.step, eta, "η_i, ‖Aᵀ∇L‖_∞/‖∇L‖_1", vote.number)
        moved = np.eye(before.size)[int(np.argmax(np.abs(vote.w - before)))]
        g = gradient(x.A, before)
        steepest = before - eta * float(np.sign(g @ moved)) * moved
        yield equal(np.abs(vote.w - steepest).max(), 0.0, "w_i, w_{i−1} − η_i v_i", vote.number)
        yield at_least(np.abs(g @ moved), np.abs(g).max(), "|<∇f, v_i>|, ‖∇f‖_∞", vote.number)
        yield at_least(eta, gamma, "η_i, γ", vote.number)
        bound = math.exp(-vote.number * gamma**2 / 2.0)
        yield at_most(risk(x.A, vote.w), bound, "L(−A w_t), exp(−tγ²/2)", vote.number)


@SOURCE.claim(
    "step-larger",
    "Remarks on the theorem, step size",
    "The step is larger than that of plain steepest descent, ‖∇f‖_*/β, which shrinks over time.",
    formula="η_i ≥ ‖∇f(w_{i−1})‖_∞/β and ‖∇f(w_{i−1})‖_∞/β ≤ exp(−(i−1)γ²/2), β = 1",
    given="β = L(−A w_0) = 1, the smoothness on the initial sublevel set",
    space=RUNS,
)
def step_larger(x: Instance) -> Iterator[Slack]:
    """η_i = ‖∇f‖_∞/L(−A w_{i−1}), and L ≤ 1 decreases. Equal in round 1."""
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        plain = float(np.abs(gradient(x.A, vote.before)).max())
        yield at_least(vote.step, plain, "η_i, ‖∇f‖_∞", vote.number)
        bound = math.exp(-(vote.number - 1) * gamma**2 / 2.0)
        yield at_most(plain, bound, "‖∇f‖_∞, exp(−(i−1)γ²/2)", vote.number)


@SOURCE.claim(
    "plain",
    "Remarks on the theorem, and on the WLA",
    "The step ‖∇f‖_*/β of plain steepest descent is inadequate: the rate is not exponential.",
    formula="1/(1 + (e − 1)t) ≤ L(−A w_t), and L(−A w_{i+1}) ≤ L(−A w_i) − ‖∇f(w_i)‖_∞²/(2β)",
    given="η = ‖∇f(w_{i−1})‖_∞/β, β = 1, any A in [−1, 1]^(n×d)",
    space=RUNS.but(t=Whole(1, 60)),
)
def plain(x: Instance) -> Iterator[Slack]:
    """A step η multiplies L by e^−η at least, and η ≤ L, so that 1/L grows by e^L/L − 1/L at most,
    which is at most e − 1 for L ≤ 1. exp(−tγ²/2) is less than that from some t on.
    """
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g, before = gradient(x.A, w), risk(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= g[j]
        yield at_least(risk(x.A, w), 1.0 / (1.0 + (math.e - 1.0) * t), "L, 1/(1 + (e − 1)t)", t)
        yield at_most(risk(x.A, w), before - g[j] ** 2 / 2.0, "L_i, L_{i−1} − ‖∇f‖²/2", t)


@SOURCE.claim(
    "strongly-convex-rate",
    "Remarks on the theorem, condition number",
    "Steepest descent on a λ-strongly convex and β-smooth f converges at the rate exp(−tλ/β).",
    formula="f(w_t) − f(w̄) ≤ (f(w_0) − f(w̄)) exp(−tλ/β)",
    given="f(w) = ½ Σ q_j w_j²; in ℓ1 λ = 1/Σ(1/q_j), in ℓ2 λ = min q_j, β = max q_j",
    space=Space(
        sizes={"n": (1, 6)},
        q=Vector("n", 0.1, 2),
        w=Vector("n", -2, 2),
        norm=Choice("l1", "l2"),
        t=Whole(1, 30),
    ),
)
def strongly_convex_rate(x: Instance) -> Iterator[Slack]:
    """A step gains ‖∇f‖_*²/(2β), and strong convexity has ‖∇f‖_*² ≥ 2λ(f − f(w̄)).

    One round multiplies the error by 1 − λ/β at most; attained, in ℓ1, where all q_j w_j agree.
    """
    w, beta = x.w.copy(), float(x.q.max())
    modulus = float(1.0 / (1.0 / x.q).sum()) if x.norm == "l1" else float(x.q.min())
    start = float(x.q @ w**2) / 2.0
    for t in range(1, x.t + 1):
        g = x.q * w
        if x.norm == "l1":
            g = np.where(np.arange(g.size) == int(np.argmax(np.abs(g))), g, 0.0)
        w = w - g / beta
        bound = start * math.exp(-t * modulus / beta)
        yield at_most(float(x.q @ w**2) / 2.0, bound, "f(w_t), f(w_0) exp(−tλ/β)", t)
