"""GB11, Theorem 2 and Appendix A: edges and multiclass weak learning, K = 3."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.edges import edge, labelings
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.claims.measure import Number
from relaxboost.functional.measure import Empirical
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

K = 3
"""Classes."""


class Classes(Matrix):
    """Classifiers as columns, with outputs 1, 2, 3."""

    def __init__(self, axes: tuple[str, str] = ("m", "n")) -> None:
        super().__init__(1.0, float(K), axes)

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


@SOURCE.claim("T2", space=SETS).checked(trials=25)
def multiclass(x: Instance) -> Slack:
    delta = advantage(x)
    assume(delta > 0)
    return at_least(centred_edge(x.C), float(delta) / math.sqrt(len(x.C)), "γ, δ/sqrt(N)")


@multiclass.corrected()
def multiclass_corrected(x: Instance) -> Slack:
    delta = advantage(x)
    assume(delta > 0)
    right = float(delta) / ((K - 1.0) * math.sqrt(len(x.C)))
    return at_least(centred_edge(x.C), right, "γ, δ/((K−1) sqrt(N))")


@SOURCE.claim("T2-all-gradients", space=SETS).checked(trials=25)
def every_gradient(x: Instance) -> Slack:
    assume(advantage(x) > 0)
    H = outputs(x.C)
    constant = np.ones(H.shape[:2])
    products = np.einsum("nk,nkh->h", constant, H) / len(H)
    lengths = math.sqrt(K) * np.sqrt((H * H).sum(axis=(0, 1)) / len(H))
    return at_least(float((products / lengths).max()), 1e-9, "max <∇, h'>/(‖∇‖‖h'‖) at ∇ = 1")


@every_gradient.corrected()
def centred_gradients(x: Instance) -> Slack:
    assume(advantage(x) > 0)
    return at_least(centred_edge(x.C), 1e-9, "γ")


@SOURCE.claim("T2-converse", space=SETS).checked(trials=40)
def multiclass_converse(x: Instance) -> Slack:
    gamma = centred_edge(x.C)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "δ, γ")


@SOURCE.claim(
    "T2-centring",
    space=Space(
        sizes={"m": (1, 4), "k": (K, K), "one": (1, 1)},
        said=Classes(axes=("m", "one")),
        y=Classes(axes=("m", "one")),
        w=Matrix(-3, 3, axes=("m", "k")),
        delta=Real(0, 1),
    ),
)
def centring(x: Instance) -> Slack:
    centred = x.w - x.w.mean(axis=1, keepdims=True)
    rows, said, y = np.arange(len(x.w)), (x.said[:, 0] - 1).astype(int), (x.y[:, 0] - 1).astype(int)
    over = [
        w[rows, said].sum() - (1.0 - x.delta) / K * w.sum() - x.delta * w[rows, y].sum()
        for w in (x.w, centred)
    ]
    return equal(float(over[0]), float(over[1]), "advantage over random, of centred rows")


@centring.step(space=Space(c=Real(-3, 3), delta=Real(0, 1), K=Whole(2, 9)))
def _(x: Instance) -> Slack:
    c, delta = Fraction(x.c), Fraction(x.delta)
    lost = c - (Fraction(1, x.K) - delta / x.K) * x.K * c - delta * c
    return equal(lost, 0, "what a row loses")


@SOURCE.claim("T2-label", space=ROWS)
def label(x: Instance) -> Slack:
    w = _centred(x.w)
    return equal(float(w.max()), float(np.abs(w).max()), "max w, ‖w‖_inf")


@label.corrected()
def label_corrected(x: Instance) -> Slack:
    w = _centred(x.w)
    return at_least(float(w.max()), float(np.abs(w).max()) / (K - 1.0), "max w, ‖w‖_inf/(K−1)")


@label_corrected.step()
def _(x: Instance) -> Slacks:
    w = exactly(x.w) - sum(exactly(x.w)) / K
    for one in w:
        yield at_most(-one, (K - 1) * max(w), "−w_k, (K − 1) max w")


@SOURCE.claim("T2-norms", space=ROWS)
def norms(x: Instance) -> Slack:
    w = _centred(x.w)
    return at_least(float(np.abs(w).max()), math.sqrt(float(w @ w)), "‖w‖_inf, ‖w‖_2")


@norms.corrected()
def norms_corrected(x: Instance) -> Slack:
    w = _centred(x.w)
    right = math.sqrt(float(w @ w) / 2.0)
    return at_least(float(np.abs(w).max()), right, "‖w‖_inf, ‖w‖_2/sqrt(2)")


@norms_corrected.step(space=Space(a=Real(0, 3), b=Real(0, 3)))
def _(x: Instance) -> Slacks:
    for b in (Fraction(x.b), Fraction(0)):
        a = Fraction(x.a)
        yield at_most(a**2 + b**2, (a + b) ** 2, "a² + b², (a + b)²")


@norms.corrected()
def norms_of_labels(x: Instance) -> Slack:
    w = _centred(x.w)
    right = math.sqrt(float(w @ w) / (K * (K - 1.0)))
    return at_least(float(w.max()), right, "max w, ‖w‖_2/sqrt(K(K−1))")


@norms_of_labels.step()
def _(x: Instance) -> Slacks:
    w = exactly(x.w) - sum(exactly(x.w)) / K
    top = max(w)
    squares = sum((top - one) ** 2 for one in w)
    yield equal(sum(one**2 for one in w), squares - K * top**2, "‖w‖², Σ u_k² − KM²")
    yield at_most(squares, (K * top) ** 2, "Σ u_k², (KM)²")


def _centred(w: Array) -> Array:
    centred = w - w.mean()
    assume(float(np.abs(centred).max()) > 1e-6)
    return np.asarray(centred)


@SOURCE.claim("T2-last-step", space=ROWS)
def last_step(x: Instance) -> Slack:
    w = _centred(x.w)
    size = math.sqrt(float(w @ w))
    left = math.sqrt(K / (K - 1.0)) * (size - size / K)
    right = math.sqrt(K / (K - 1.0)) * float(np.abs(w).max())
    return at_least(left, right, "the steps of the display")


@last_step.corrected()
def last_step_corrected(x: Instance) -> Slack:
    w = _centred(x.w)
    left = math.sqrt((K - 1.0) / K * float(w @ w))
    return at_least(left, float(np.abs(w).max()), "sqrt((K−1)/K) ‖w‖_2, ‖w‖_inf")


@last_step_corrected.step()
def _(x: Instance) -> Slacks:
    w = exactly(x.w) - sum(exactly(x.w)) / K
    square = sum(one**2 for one in w)
    for one in w:
        yield at_least(square - one**2, one**2 / (K - 1), "Σ_{j≠k} w_j², w_k²/(K−1)")


@SOURCE.claim(
    "T2-outputs",
    space=Space(
        sizes={"m": (1, 4), "n": (1, 3), "k": (K, K)}, C=Classes(), w=Matrix(-3, 3, axes=("m", "k"))
    ),
)
def hypotheses(x: Instance) -> Slacks:
    H = outputs(x.C)
    for h, said in zip(np.moveaxis(H, 2, 0), x.C.T, strict=True):
        yield equal(float((h * h).sum()) / len(h), K / (K - 1.0), "‖h'‖²")
        hit = float(sum(row[int(c) - 1] for row, c in zip(x.w, said, strict=True)))
        right = K / (K - 1.0) * hit - float(x.w.sum()) / (K - 1.0)
        yield equal(float((x.w * h).sum()), right, "N<∇, h'>")


@hypotheses.step(space=Space(K=Whole(2, 60)))
def _(x: Instance) -> Slack:
    return equal(1 + Fraction(x.K - 1, (x.K - 1) ** 2), Fraction(x.K, x.K - 1), "‖h'(x)‖²")


@hypotheses.step(space=ROWS)
def _(x: Instance) -> Slack:
    w = exactly(x.w)
    left = w[0] - (sum(w) - w[0]) / (K - 1)
    return equal(left, Fraction(K, K - 1) * w[0] - sum(w) / (K - 1), "<w, h'(x)>")


@SOURCE.claim(
    "T2-sizes", space=Space(sizes={"m": (1, 4), "k": (K, K)}, w=Matrix(-3, 3, axes=("m", "k")))
)
def sizes_of_gradients(x: Instance) -> Slacks:
    rows = np.sqrt((x.w * x.w).sum(axis=1))
    norm, N = Empirical(len(rows)).norm(x.w), len(rows)
    yield at_least(norm, float(rows.sum()) / N, "‖∇‖, (1/N) Σ ‖w_n‖_2")
    yield at_most(norm, float(rows.sum()) / math.sqrt(N), "‖∇‖, (1/sqrt(N)) Σ ‖w_n‖_2")


@sizes_of_gradients.step()
def _(x: Instance) -> Slack:
    return equal(Empirical(len(x.w)).norm(x.w) ** 2, float((x.w**2).sum()) / len(x.w), "‖∇‖²")


@SOURCE.claim("T2-bounds", space=ROWS)
def bounds(x: Instance) -> Slacks:
    size = math.sqrt(float(x.w @ x.w))
    yield at_least(size, float(np.abs(x.w).sum()) / math.sqrt(K), "‖w‖_2, ‖w‖_1/sqrt(K)")
    yield at_least(size, float(np.abs(x.w).max()), "‖w‖_2, ‖w‖_inf")


@bounds.step()
def _(x: Instance) -> Slacks:
    for w in (exactly(x.w), exactly(np.where(x.w >= 0.0, 1.0, -1.0))):
        square = sum(one**2 for one in w)
        yield at_least(K * square, sum(abs(one) for one in w) ** 2, "K‖w‖_2², ‖w‖_1²")


@SOURCE.claim("T2-rearranged", space=Space(s=Real(0, 9), K=Whole(2, 9)))
def rearranged(x: Instance) -> Slacks:
    root = math.sqrt(x.K / (x.K - 1.0))
    second = (x.K - 1.0) / x.K * root * x.s
    yield equal(second, root * (x.s - x.s / x.K), "second line, third line")
    yield equal(second, root * x.s * (x.K - 1.0) / x.K, "second line, first times (K−1)/K")


@rearranged.step()
def _(x: Instance) -> Slack:
    s = Fraction(x.s)
    return equal(Fraction(x.K - 1, x.K) * s, s - s / x.K, "((K−1)/K) s")


for _proved in (multiclass_corrected, multiclass_converse):
    _proved.step(space=hypotheses.space)(hypotheses.stated.check)
    _proved.step(space=sizes_of_gradients.space)(sizes_of_gradients.stated.check)
multiclass_corrected.step(space=ROWS)(norms_of_labels.check)
multiclass_converse.step(space=ROWS)(last_step_corrected.check)
for _step in multiclass.corrections[0].steps:
    centred_gradients.step(space=_step.space)(_step.stated.check)
