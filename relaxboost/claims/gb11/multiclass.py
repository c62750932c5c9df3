"""GB11, Theorem 2 and Appendix A: edges and multiclass weak learning, K = 3."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Instance, Matrix, Slack, Space, Vector, assume, at_least, equal
from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.edges import edge, labelings
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.measure import Number
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

K = 3
"""Classes."""


class Classes(Matrix):
    """Classifiers as columns, with outputs 1, 2, 3."""

    def __init__(self) -> None:
        super().__init__(1.0, float(K))

    def _clipped(self, value: Array) -> Array:
        return np.clip(np.round(value), 1.0, float(K)) + 0.0

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        """Return the first classifiers of all, or the constant ones."""
        m, n = self._shape(sizes)
        if rng.random() < 0.5:
            every = np.array(labelings(m, K), dtype=np.float64).T + 1.0
            return every[:, np.arange(n) % every.shape[1]]
        return np.ones((m, 1)) * (np.arange(n) % K + 1.0)


SETS = Space(sizes={"m": (1, 2), "n": (1, 9)}, C=Classes())
ROWS = Space(sizes={"k": (K, K)}, w=Vector("k", -3, 3))

_BASIS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
"""Orthonormal, of the vectors in R^3 of sum 0."""


def outputs(C: Array) -> Array:
    """Return h'(x_n)_k, 1 for the class of h(x_n) and −1/(K−1) for others, of shape (N, K, n)."""
    hit = C[:, None, :] == np.arange(1.0, K + 1.0)[None, :, None]
    return np.where(hit, 1.0, -1.0 / (K - 1.0))


def centred_edge(C: Array) -> float:
    """Return the edge of H' at gradients with Σ_k ∇(x_n)_k = 0."""
    H = np.einsum("jk,nkh->njh", _BASIS, outputs(C))
    return edge(H.reshape(-1, C.shape[1]), False)


def advantage(x: Instance) -> Number:
    """Return the largest δ with Σ w_{n,h(n)} >= (1/K − δ/K) Σ w + δ Σ w_{n,y_n} for every w, y.

    Rows of w may be centred, so that w_{n,y} >= w_{nk} is w_{n,y} = Σ u_k/K, w_{nk} = w_{n,y} −
    u_k with u >= 0. With Σ w_{n,y_n} = 1 and d = u/K it is a game: an example and a class k ≠ y
    gain 1 from h unless h says k, and then 1 − K.
    """
    size, least = len(x.C), []
    for y in labelings(size, K):
        rows = [
            np.where(x.C[n] == k + 1.0, 1.0 - K, 1.0)
            for n in range(size)
            for k in range(K)
            if k != y[n]
        ]
        value = x.optimum(Game(np.array(rows) / (K - 1.0), over=Simplex())).lower
        least.append(value * (K - 1))
    return min(least)


@SOURCE.claim(
    "T2",
    "Theorem 2, (2) ⇒ (1), with the constant of Appendix A",
    "The multiclass requirement with δ implies an edge of H' of δ/sqrt(N).",
    formula="γ ≥ sqrt(K/(K−1)) δ/sqrt(N) ≥ δ/sqrt(N)",
    given="K = 3, gradients with Σ_k ∇(x_n)_k = 0; (2) for every labeling",
    space=SETS,
    counterexamples=[{"C": [[1, 2, 3]]}],
).checked(trials=25)
def multiclass(x: Instance) -> Slack:
    """T2-norms is used the wrong way: with all three classes on one point δ = 1 and γ = 1/2.

    The worst gradient is (1, 1, −2).
    """
    delta = advantage(x)
    assume(delta > 0)
    return at_least(centred_edge(x.C), float(delta) / math.sqrt(len(x.C)), "γ, δ/sqrt(N)")


@multiclass.corrected(
    "It implies an edge of δ/((K−1) sqrt(N)) at such gradients.", "γ ≥ δ/((K−1) sqrt(N))"
)
def multiclass_corrected(x: Instance) -> Slack:
    """max_k w_k >= ‖w‖_2/sqrt(K(K−1)) for rows of sum 0, equal at (1, ..., 1, 1 − K).

    Then N<∇, h'> >= K/(K−1) δ Σ max_k w_nk >= K/(K−1) δ sqrt(N) ‖∇‖/sqrt(K(K−1)), and ‖h'‖ =
    sqrt(K/(K−1)). Attained by all classifiers on one point.
    """
    delta = advantage(x)
    assume(delta > 0)
    right = float(delta) / ((K - 1.0) * math.sqrt(len(x.C)))
    return at_least(centred_edge(x.C), right, "γ, δ/((K−1) sqrt(N))")


@SOURCE.claim(
    "T2-all-gradients",
    "Theorem 2, (2) ⇒ (1), as stated",
    "The multiclass requirement implies that H' has an edge.",
    formula="δ > 0 ⇒ <∇, h'> ≥ γ‖∇‖‖h'‖, γ > 0, for every ∇; printed with 1e-9 for > 0",
    given="K = 3; (2) for every labeling",
    space=SETS,
    counterexamples=[{"C": [[1, 2, 3]]}],
).checked(trials=25)
def every_gradient(x: Instance) -> Slack:
    """No class has: the outputs of every h' sum to 0, so that <∇, h'> = 0 for ∇ = (1, ..., 1).

    That Σ_k ∇(x_n)_k = 0 is a hypothesis on the loss, as of hinge losses, and not without loss of
    generality.
    """
    assume(advantage(x) > 0)
    H = outputs(x.C)
    constant = np.ones(H.shape[:2])
    products = np.einsum("nk,nkh->h", constant, H) / len(H)
    lengths = math.sqrt(K) * np.sqrt((H * H).sum(axis=(0, 1)) / len(H))
    return at_least(float((products / lengths).max()), 1e-9, "max <∇, h'>/(‖∇‖‖h'‖) at ∇ = 1")


@every_gradient.corrected(
    "It has an edge at the gradients with Σ_k ∇(x_n)_k = 0.",
    "δ > 0 ⇒ γ > 0 over {∇: Σ_k ∇(x_n)_k = 0}",
)
def centred_gradients(x: Instance) -> Slack:
    """GB11-T2, corrected."""
    assume(advantage(x) > 0)
    return at_least(centred_edge(x.C), 1e-9, "γ")


@SOURCE.claim(
    "T2-converse",
    "Theorem 2, (1) ⇒ (2), Appendix A",
    "An edge γ of H' gives the multiclass requirement with δ = γ.",
    formula="Σ w_{n,h(x_n)} ≥ (1/K − γ/K) Σ w_nk + γ Σ w_{n,y_n}",
    given="K = 3, edge at gradients with Σ_k ∇(x_n)_k = 0",
    space=SETS,
).checked(trials=40)
def multiclass_converse(x: Instance) -> Slack:
    """True, though T2-last-step is not: Σ w_{n,h(n)} >= γ sqrt((K−1)/K) Σ ‖w_n‖_2 for centred rows.

    And ‖w_n‖_2² >= M² + M²/(K−1) for a row of sum 0 with an entry M.
    """
    gamma = centred_edge(x.C)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "δ, γ")


@SOURCE.claim(
    "T2-norms",
    "Appendix A, proof of Theorem 2, fourth display",
    "Σ ‖w_n‖_inf ≥ Σ ‖w_n‖_2.",
    formula="‖w‖_inf ≥ ‖w‖_2",
    given="K = 3; rows of sum 0",
    space=ROWS,
    counterexamples=[{"w": [1, 1, -2]}, {"w": [1, -1, 0]}],
)
def norms(x: Instance) -> Slack:
    """Reversed. What stands there for ‖w_n‖_inf is the weight of the correct label, max_k w_nk."""
    w = _centred(x.w)
    return at_least(float(w.max()), math.sqrt(float(w @ w)), "max w, ‖w‖_2")


@norms.corrected("max_k w_k ≥ ‖w‖_2/sqrt(K(K−1)).", "max_k w_k ≥ ‖w‖_2/sqrt(K(K−1))")
def norms_corrected(x: Instance) -> Slack:
    """‖w‖² is convex on {w: Σ w = 0, w <= M}, whose vertices are permutations of (M, M, −2M)."""
    w = _centred(x.w)
    right = math.sqrt(float(w @ w) / (K * (K - 1.0)))
    return at_least(float(w.max()), right, "max w, ‖w‖_2/sqrt(K(K−1))")


def _centred(w: Array) -> Array:
    centred = w - w.mean()
    assume(float(np.abs(centred).max()) > 1e-6)
    return np.asarray(centred)


@SOURCE.claim(
    "T2-last-step",
    "Appendix A, proof of Theorem 2, last display but one",
    "Bounding the 2-norms below keeps a lower bound, also where they are subtracted.",
    formula="sqrt(K/(K−1)) (‖w‖_2 − ‖w‖_2/K) ≥ −Σ_k w_k/(K sqrt(K−1)) + sqrt(K/(K−1)) ‖w‖_inf",
    given="K = 3; rows of sum 0",
    space=ROWS,
    counterexamples=[{"w": [2, -1, -1]}],
)
def last_step(x: Instance) -> Slack:
    """−‖w‖_2/K needs an upper bound of ‖w‖_2. For (2, −1, −1): 2 >= 2.4495 is false."""
    w = _centred(x.w)
    size = math.sqrt(float(w @ w))
    left = math.sqrt(K / (K - 1.0)) * (size - size / K)
    return at_least(left, math.sqrt(K / (K - 1.0)) * float(w.max()), "the steps of the display")


@last_step.corrected(
    "With max_k w_k alone on the right it does.", "sqrt((K−1)/K) ‖w‖_2 ≥ max_k w_k"
)
def last_step_corrected(x: Instance) -> Slack:
    """‖w‖² >= M² + M²/(K−1), equal for (2, −1, −1). It is what T2-converse needs."""
    w = _centred(x.w)
    left = math.sqrt((K - 1.0) / K * float(w @ w))
    return at_least(left, float(w.max()), "sqrt((K−1)/K) ‖w‖_2, max w")


@SOURCE.claim(
    "T2-outputs",
    "Theorem 2, Appendix A, the hypotheses h'",
    "‖h'‖ = sqrt(K/(K−1)), and N<∇, h'> = K/(K−1) Σ w_{n,h(x_n)} − Σ w_nk/(K−1).",
    formula="‖h'‖ = sqrt(K/(K−1)), N<∇, h'> = (K/(K−1)) Σ_n w_{n,h(x_n)} − (1/(K−1)) Σ_{n,k} w_nk",
    given="K = 3, w = ∇",
    space=Space(
        sizes={"m": (1, 4), "n": (1, 3), "k": (K, K)},
        C=Classes(),
        w=Matrix(-3, 3, axes=("m", "k")),
    ),
)
def hypotheses(x: Instance) -> Iterator[Slack]:
    """1 + (K−1)/(K−1)² = K/(K−1) at each point."""
    H = outputs(x.C)
    for h, said in zip(np.moveaxis(H, 2, 0), x.C.T, strict=True):
        yield equal(float((h * h).sum()) / len(h), K / (K - 1.0), "‖h'‖²")
        hit = float(sum(row[int(c) - 1] for row, c in zip(x.w, said, strict=True)))
        right = K / (K - 1.0) * hit - float(x.w.sum()) / (K - 1.0)
        yield equal(float((x.w * h).sum()), right, "N<∇, h'>")
