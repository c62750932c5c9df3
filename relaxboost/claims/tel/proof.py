"""TEL, the proof of the theorem: one round, the lemma on smoothness, and the lemma's proof."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Bracket, Instance, Matrix, Slack, Space, Vector, at_most, equal
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import RUNS, adaboost, gradient, reweighting, risk, weak_learnability

PAIRS = Space(
    sizes={"m": (1, 6), "n": (1, 4)}, A=Matrix(), w=Vector("n", -2, 2), v=Vector("n", -2, 2)
)
TRIPLES = Space(
    sizes={"m": (1, 6), "n": (1, 4)},
    A=Matrix(),
    u=Vector("n", -2, 2),
    w=Vector("n", -2, 2),
    v=Vector("n", -2, 2),
)

_NODES, _SHARES = np.polynomial.legendre.leggauss(24)
"""On [−1, 1]; exact to rounding for the exponentials integrated here."""


@SOURCE.claim(
    "one-round",
    "Proof of the theorem, first display",
    "One round gains as much as smoothness and the WLA say.",
    formula="L(−A w_i) ≤ L(−A w_{i−1}) − ‖Aᵀ∇L‖_∞²/(2β_i) ≤ L(−A w_{i−1}) − γ²‖∇L‖_1²/(2β_i)",
    given="β_i = L(−A w_{i−1}), η_i = ‖Aᵀ∇L(−A w_{i−1})‖_∞/β_i (printed without ∇), ∇L at w_{i−1}",
    space=RUNS,
)
def one_round(x: Instance) -> Iterator[Slack]:
    """Smoothness on the sublevel set is enough: the step does not leave it.

    For s ≤ 1 the point w_{i−1} − s η_i v_i has f ≤ f(w_{i−1}) − s(1 − s/2)‖∇f‖²/β_i as long as
    the points before it are in the set, and so is in its interior; none can be the first outside.
    """
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        beta, phi = risk(x.A, vote.before), reweighting(x.A, vote.before)
        steep, size = float(np.abs(x.A.T @ phi).max()), float(phi.sum())
        gain = steep**2 / (2.0 * beta)
        yield at_most(risk(x.A, vote.w) / beta, 1.0 - gain / beta, "L_i/L_{i−1}", vote.number)
        weak = gamma**2 * size**2 / (2.0 * beta)
        yield at_most(1.0 - gain / beta, 1.0 - weak / beta, "by the WLA", vote.number)


@SOURCE.claim(
    "L",
    "Lemma",
    "L∘(−A) is L(−A w_{i−1})-smooth in ℓ1 on the sublevel set of w_{i−1}.",
    formula="‖∇(L∘(−A))(w) − ∇(L∘(−A))(w')‖_∞ ≤ L(−A w_{i−1}) ‖w − w'‖_1",
    given="max {L(−Aw), L(−Aw')} ≤ L(−A w_{i−1}), here with equality",
    space=PAIRS,
).checked(trials=200)
def lemma(x: Instance) -> Slack:
    """ℓ'' = ℓ, and L is convex: on the segment from w to w' it is at most its value at an end.

    Tight as w' → w for A = [[1]].
    """
    change = np.abs(gradient(x.A, x.w) - gradient(x.A, x.v)).max()
    level = max(risk(x.A, x.w), risk(x.A, x.v))
    rounding = 1e-14 * level  # of the two gradients, which may nearly cancel
    change = Bracket(max(0.0, float(change) - rounding), float(change) + rounding)
    return at_most(change, level * np.abs(x.w - x.v).sum(), "‖∇f(w) − ∇f(w')‖_∞")


@SOURCE.claim(
    "norm",
    "Proof of the theorem, after the lemma",
    "The ℓ1 norm of ∇L is L, which is never zero.",
    formula="‖∇L(−Aw)‖_1 = L(−Aw) > 0",
    given="ℓ = exp",
    space=PAIRS,
)
def norm(x: Instance) -> Iterator[Slack]:
    """ℓ' = ℓ > 0. So ∇L = 0, as in "if ∇L(−Aw) ≠ 0 (which would imply ... converged)", never is.

    What can vanish, where A is not separable, is Aᵀ∇L.
    """
    slope = np.array([float(np.exp(-(row @ x.w))) for row in x.A]) / len(x.A)
    yield equal(np.abs(slope).sum(), risk(x.A, x.w), "‖∇L(−Aw)‖_1, L(−Aw)")
    yield at_most(np.exp(-np.abs(x.w).sum()), risk(x.A, x.w), "exp(−‖w‖_1), L(−Aw)")


@SOURCE.claim(
    "end",
    "Proof of the theorem, last display",
    "Each round multiplies L by 1 − γ²/2 at most.",
    formula="L(−A w_i) ≤ L(−A w_{i−1}) − γ² L(−A w_{i−1})²/(2 L(−A w_{i−1})) = "
    "(1 − γ²/2) L(−A w_{i−1})",
    given="WLA with γ; printed with ‖L(−A w_{i−1})‖_1 for ‖∇L(−A w_{i−1})‖_1",
    space=RUNS,
)
def end(x: Instance) -> Iterator[Slack]:
    """Then 1 − s ≤ e^−s gives the theorem. The last of the printed steps is an equality."""
    gamma, before = float(weak_learnability(x).lower), 1.0
    for vote in adaboost(x.A, x.t, "lecture"):
        found, bound = risk(x.A, vote.w), 1.0 - gamma**2 / 2.0
        yield at_most(found / before, bound, "L_i/L_{i−1}, 1 − γ²/2", vote.number)
        yield at_most(found, bound**vote.number, "L_t, (1 − γ²/2)^t", vote.number)
        before = found


@SOURCE.claim(
    "L-lines-1-3",
    "Proof of the lemma, first three lines",
    "The change of the gradient is bounded by the mean of the changes of ℓ', which are integrals.",
    formula="‖∇f(w) − ∇f(w')‖_∞ = max {<Av, ∇L(−Aw) − ∇L(−Aw')>} ≤ (1/n) Σ |ℓ'(−(Aw)_i) − "
    "ℓ'(−(Aw')_i)| = (1/n) Σ |∫ ℓ''(...) (Aw − Aw')_i dr|",
    given="f = L∘(−A), A in [−1, 1]^(n×d)",
    space=PAIRS,
)
def first_lines(x: Instance) -> Iterator[Slack]:
    """|(Av)_i| ≤ 1 for ‖v‖_1 ≤ 1, and the fundamental theorem of calculus (up to a sign)."""
    first = float(np.abs(gradient(x.A, x.w) - gradient(x.A, x.v)).max())
    change = reweighting(x.A, x.w) - reweighting(x.A, x.v)
    best = max(float(r * a @ change) for a in x.A.T for r in (1.0, -1.0))
    yield equal(first, best, "‖∇f(w) − ∇f(w')‖_∞, max <Av, ...>")
    second = float(np.mean(np.abs(np.exp(-(x.A @ x.w)) - np.exp(-(x.A @ x.v)))))
    yield at_most(best, second, "max <Av, ...>, (1/n) Σ |ℓ' − ℓ'|")
    third = float(np.mean(np.abs(_integrals(x) * (x.A @ (x.w - x.v)))))
    yield equal(second, third, "(1/n) Σ |ℓ' − ℓ'|, (1/n) Σ |∫ ℓ''|")


def _integrals(x: Instance) -> Array:
    """Return ∫ ℓ''(−(Aw')_i + r((−Aw)_i − (−Aw')_i)) dr over [0, 1], by quadrature."""
    start, way = -(x.A @ x.v), -(x.A @ (x.w - x.v))
    at = np.exp(start[:, None] + way[:, None] * (1.0 + _NODES) / 2.0)
    return np.asarray(at @ _SHARES / 2.0)


@SOURCE.claim(
    "L-lines-4-5",
    "Proof of the lemma, fourth and fifth line",
    "The largest change of a margin is taken out of the mean, and is at most ‖w − w'‖_1.",
    formula="(1/n) Σ |∫ ℓ''(...)(Aw − Aw')_i dr| ≤ (∫ (1/n) Σ ℓ''(...)(Aw − Aw')_i dr) "
    "‖Aw − Aw'‖_∞ ≤ (∫ (1/n) Σ ℓ(...)(Aw − Aw')_i dr) ‖w − w'‖_1",
    given="A in [−1, 1]^(n×d)",
    space=PAIRS,
    counterexamples=[{"A": [[1]], "w": [0], "v": [1]}],
)
def stray_factor(x: Instance, kept: bool = True) -> Iterator[Slack]:
    """The factor (Aw − Aw')_i has been taken out, and is still there: .632 ≤ −.632."""
    way, integrals = x.A @ (x.w - x.v), _integrals(x)
    third = float(np.mean(np.abs(integrals * way)))
    mean = float(np.mean(integrals * way if kept else integrals))
    fourth, fifth = mean * float(np.abs(way).max()), mean * float(np.abs(x.w - x.v).sum())
    yield at_most(third, fourth, "third line, fourth line")
    yield at_most(fourth, fifth, "fourth line, fifth line")


@stray_factor.corrected(
    "It is, without the factor that stayed behind.",
    "(1/n) Σ |∫ ℓ''(...)(Aw − Aw')_i dr| ≤ (∫ (1/n) Σ ℓ''(...) dr) ‖Aw − Aw'‖_∞ "
    "≤ (∫ (1/n) Σ ℓ(...) dr) ‖w − w'‖_1",
)
def stray_factor_removed(x: Instance) -> Iterator[Slack]:
    """ℓ'' > 0, ℓ'' = ℓ, and ‖A(w − w')‖_∞ ≤ ‖w − w'‖_1."""
    yield from stray_factor(x, False)


@SOURCE.claim(
    "L-line-6",
    "Proof of the lemma, last line",
    "The mean is at most L(−A w_i).",
    formula="‖∇f(w) − ∇f(w')‖_∞ ≤ L(−A w_i) ‖w − w'‖_1",
    given="max {L(−Aw), L(−Aw')} ≤ L(−A w_{i−1}), w_i one round after w_{i−1} (of the data u, w, v "
    "the one with the greatest L is w_{i−1})",
    space=TRIPLES,
    counterexamples=[{"A": [[1]], "u": [0], "w": [0], "v": ["1/100"]}],
)
def last_line(x: Instance, corrected: bool = False) -> Slack:
    """The sublevel set is that of w_{i−1}; L(−A w_i) is less."""
    before, one, other = sorted((x.u, x.w, x.v), key=lambda w: -risk(x.A, w))
    at = before
    if not corrected:
        g = gradient(x.A, before)
        j = int(np.argmax(np.abs(g)))
        at = before - g[j] / risk(x.A, before) * np.eye(g.size)[j]
    change = np.abs(gradient(x.A, one) - gradient(x.A, other)).max()
    bound = risk(x.A, at) * np.abs(one - other).sum()
    return at_most(change, bound, "‖∇f(w) − ∇f(w')‖_∞")


@last_line.corrected(
    "It is at most L(−A w_{i−1}).", "‖∇f(w) − ∇f(w')‖_∞ ≤ L(−A w_{i−1}) ‖w − w'‖_1"
)
def last_line_corrected(x: Instance) -> Iterator[Slack]:
    """Convexity of L along the segment, as the lemma says."""
    yield from last_line(x, True)
