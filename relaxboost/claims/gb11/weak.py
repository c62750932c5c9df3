"""GB11, Theorem 1 and Appendix A: edges and the weak learning of AdaBoost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Instance, Matrix, Space, Vector
from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.edges import edge, labelings
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.measure import Number, Slack, assume, at_least, at_most, equal
from relaxboost.claims.sides import exactly
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

STRICTLY = 1e-9
"""What a strict inequality must exceed."""


class Classifiers(Matrix):
    """Classifiers as columns, with outputs ±1."""

    def _clipped(self, value: Array) -> Array:
        return np.where(value >= 0.0, 1.0, -1.0)

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        """Return classifiers and their negatives, or the first ones of all."""
        m, n = self._shape(sizes)
        if rng.random() < 0.5:
            every = np.array(labelings(m, 2), dtype=np.float64).T
            return self._clipped(every[:, :n] - 0.5)
        some = rng.choice([-1.0, 1.0], (m, n))
        some[:, n // 2 :] = -some[:, : n - n // 2]
        return some


SETS = Space(sizes={"m": (1, 3), "n": (1, 8)}, H=Classifiers())
LABELLED = Space(sizes={"m": (1, 3), "n": (1, 8)}, H=Classifiers(), y=Vector("m"))


def advantage(x: Instance, y: Array | None = None) -> Number:
    """Return the largest δ of statement (2) for labels y, or for all labelings; exact.

    An error of (1/2 − δ/2) Σ w is Σ w_n y_n h(x_n) = δ Σ w, so that δ is the value of a game.
    """
    labels = [2 * np.array(each) - 1 for each in labelings(len(x.H), 2)] if y is None else [y]
    games = (Game(each[:, None] * x.H, over=Simplex()) for each in labels)
    return min(x.optimum(game).lower for game in games)


@SOURCE.claim(
    "T1",
    "Theorem 1, (2) ⇒ (1), as stated",
    "Weak learning on labelled training data with δ implies an edge of δ/sqrt(N).",
    formula="∀w ≥ 0 ∃h: error ≤ (1/2 − δ/2) Σ w_n, δ > 0 ⇒ γ ≥ δ/sqrt(N)",
    given="labels y_n = ±1 as they come with the data; the proof means all labelings: T1-strict",
    space=LABELLED,
    counterexamples=[{"H": [[1]], "y": [1]}],
).checked(trials=50)
def weak_learning(x: Instance) -> Slack:
    """The edge is about every ∇, and so every labeling: H = {y} has δ = 1 for the labels y.

    There is no h with <−y, h> > 0 (γ = 0 stands for that).
    """
    delta = advantage(x, np.where(x.y >= 0.0, 1.0, -1.0))
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "γ, δ/sqrt(N)")


@weak_learning.corrected(
    "It does if (2) holds for every labeling of the training points.",
    "∀w ≥ 0 ∀y ∃h: error ≤ (1/2 − δ/2) Σ w_n, δ > 0 ⇒ γ ≥ δ/sqrt(N)",
)
def weak_learning_corrected(x: Instance) -> Slack:
    """N<∇, h> >= δ‖w‖_1 >= δ‖w‖_2 = δ sqrt(N) ‖∇‖ and ‖h‖ = 1. At H = {±1}^N equal, with δ = 1.

    The correction is about H alone, and so holds where there is no δ > 0.
    """
    delta = max(advantage(x), 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "γ, δ/sqrt(N)")


@SOURCE.claim(
    "T1-strict",
    "Appendix A, end of the first half of the proof of Theorem 1",
    "The edge is greater than δ/sqrt(N).",
    formula="γ > δ/sqrt(N) > 0, printed with 1e-9 for >",
    given="(2) for every labeling, δ > 0",
    space=SETS,
    counterexamples=[
        {"H": [[1, -1]]},
        {"H": [[1, 1, -1, -1], [1, -1, 1, -1]]},
    ],
).checked(trials=50)
def strict(x: Instance, more: float = STRICTLY) -> Slack:
    """Equal where H holds all classifiers: γ = .7071 = 1/sqrt(2) for two points."""
    delta = advantage(x)
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)) + more, "γ, δ/sqrt(N)")


@strict.corrected("It is at least δ/sqrt(N).", "γ ≥ δ/sqrt(N)")
def strict_corrected(x: Instance) -> Iterator[Slack]:
    """As shown before that line; sharp for every N."""
    yield from strict(x, 0.0)


@SOURCE.claim(
    "T1-converse",
    "Theorem 1, (1) ⇒ (2), Appendix A",
    "An edge γ implies an error of at most (1/2 − γ/2) Σ w_n, for every labeling.",
    formula="δ ≥ γ",
    given="γ > 0",
    space=SETS,
)
def converse(x: Instance) -> Slack:
    """Σ w_n y_n h(x_n) >= γN‖∇‖ = γ sqrt(N) ‖w‖_2 >= γ‖w‖_1, by Cauchy-Schwarz.

    δ from games solved in fractions, γ from the vertices of the polar of H.
    """
    gamma = edge(x.H, False)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "δ, γ")


@SOURCE.claim(
    "T1-sums",
    "Appendix A, displays of the proof of Theorem 1",
    "The error condition is N<∇, h> ≥ δ‖w‖_1, and ‖w‖_1/sqrt(N) ≤ ‖w‖_2 ≤ ‖w‖_1.",
    formula="½(Σ_{h = y} w_n − Σ_{h ≠ y} w_n) = N<∇, h>/2, ‖∇‖² = ‖w‖_2²/N",
    space=Space(sizes={"m": (1, 6), "n": (1, 1)}, H=Classifiers(), v=Vector("m", -3, 3)),
)
def sums(x: Instance) -> Iterator[Slack]:
    """w_n = |∇(x_n)|, y_n = sgn ∇(x_n); squares in fractions."""
    v, h = exactly(x.v), exactly(x.H[:, 0])
    w, square = abs(v), sum(v**2)
    right = sum(w[v * h > 0], Fraction(0))
    wrong = sum(w) - right
    yield equal((right - wrong) / 2, sum(v * h) / 2, "½(right − wrong), N<∇, h>/2")
    yield at_most(sum(w) ** 2 / len(w), square, "‖w‖_1²/N, ‖w‖_2²")
    yield at_most(square, sum(w) ** 2, "‖w‖_2², ‖w‖_1²")
