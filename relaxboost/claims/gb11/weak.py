"""GB11, Theorem 1 and Appendix A: edges and the weak learning of AdaBoost."""

import math
from collections.abc import Iterator
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


@SOURCE.claim("T1", space=LABELLED).checked(trials=50)
def weak_learning(x: Instance) -> Slack:
    """The edge is about every ∇, and so every labeling: H = {y} has δ = 1 for the labels y.

    There is no h with <−y, h> > 0 (γ = 0 stands for that).
    """
    delta = advantage(x, np.where(x.y >= 0.0, 1.0, -1.0))
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "γ, δ/sqrt(N)")


@weak_learning.corrected(
    "reading: (2) for every labeling of the training points, as in the proof.",
    "∀w ≥ 0 ∀y ∃h: error ≤ (1/2 − δ/2) Σ w_n, δ > 0 ⇒ γ ≥ δ/sqrt(N)",
)
def weak_learning_corrected(x: Instance) -> Slack:
    """It says something about H alone, and so holds where there is no δ > 0.

    Proof. Take w_n = |∇(x_n)|, y_n = sgn ∇(x_n), and an h of (2): N<∇, h> = Σ w_n y_n h(x_n) >=
    δ‖w‖_1. And ‖w‖_1 >= ‖w‖_2 = sqrt(N) ‖∇‖, ‖h‖ = 1, so that <∇, h> >= δ/sqrt(N) ‖∇‖‖h‖. At
    H = {±1}^N they are equal, with δ = 1.
    """
    delta = max(advantage(x), 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "γ, δ/sqrt(N)")


WEIGHED = Space(sizes={"m": (1, 6), "n": (1, 1)}, H=Classifiers(), v=Vector("m", -3, 3))


@weak_learning_corrected.step(
    "N<∇, h> is the weight that h has right less what it has wrong",
    "N<∇, h> = Σ_{h = y} w_n − Σ_{h ≠ y} w_n",
    space=WEIGHED,
)
def _(x: Instance) -> Slack:
    right, wrong = _shares(x)
    return equal(right - wrong, sum(exactly(x.v) * exactly(x.H[:, 0])), "right − wrong, N<∇, h>")


@weak_learning_corrected.step(
    "‖w‖_1 is at least sqrt(N) ‖∇‖", "‖w‖_1² ≥ ‖w‖_2² = N² <∇, ∇>/N", space=WEIGHED
)
def _(x: Instance) -> Slack:
    w = abs(exactly(x.v))
    return at_least(sum(w) ** 2, sum(w**2), "‖w‖_1², ‖w‖_2²")


def _shares(x: Instance) -> tuple[Fraction, Fraction]:
    """Return the weights w_n = |∇(x_n)| of the examples that h has right, and wrong."""
    v, h = exactly(x.v), exactly(x.H[:, 0])
    right = sum(abs(v)[v * h > 0], Fraction(0))
    return right, sum(abs(v), Fraction(0)) - right


@SOURCE.claim("T1-strict", space=SETS).checked(trials=50)
def strict(x: Instance, more: float = STRICTLY) -> Slack:
    """Equal where H holds all classifiers: γ = .7071 = 1/sqrt(2) for two points.

    What is used is γ > 0, and the proof of Theorem 2 has ≥ in this place.
    """
    delta = advantage(x)
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)) + more, "γ, δ/sqrt(N)")


@strict.corrected("The edge is at least δ/sqrt(N).", "γ ≥ δ/sqrt(N)")
def strict_corrected(x: Instance) -> Slacks:
    """Sharp for every N.

    Proof. That of GB11-T1 as corrected: by (1) N<∇, h> >= δ‖w‖_1, and (2).
    """
    yield from strict(x, 0.0)


for _step in weak_learning.corrections[0].steps:
    strict_corrected.step(_step.stated.words, _step.stated.formula, space=_step.space)(
        _step.stated.check
    )


def _all_classifiers() -> Iterator[dict[str, object]]:
    for size in (1, 2, 3):
        yield {"H": (2 * np.array(labelings(size, 2)).T - 1).tolist()}


@SOURCE.claim("T1-necessary", space=SETS).checked(
    every=Enumeration("all classifiers on one, two and three points", _all_classifiers)
)
def necessary(x: Instance) -> Slacks:
    """The best h has every sign of ∇ right; ∇ = e_1 has <∇, h> = 1/N, and ‖∇‖ = 1/sqrt(N)."""
    size = len(x.H)
    assume(len({tuple(h) for h in x.H.T.tolist()}) == 2**size)
    yield equal(advantage(x), 1, "δ")
    yield equal(edge(x.H, False), 1.0 / math.sqrt(size), "γ, 1/sqrt(N)")


@SOURCE.claim("T1-converse", space=SETS)
def converse(x: Instance) -> Slack:
    """δ from games solved in fractions, γ from the vertices of the polar of H.

    Proof. For weights w and labels y let ∇(x_n) = w_n y_n, and h be one of the edge: right less
    wrong is N<∇, h> >= γN‖∇‖ = γ sqrt(N) ‖w‖_2 >= γ‖w‖_1, by Cauchy-Schwarz.
    """
    gamma = edge(x.H, False)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "δ, γ")


@converse.step("sqrt(N) ‖w‖_2 is at least ‖w‖_1", "N‖w‖_2² ≥ ‖w‖_1²", space=WEIGHED)
def _(x: Instance) -> Slack:
    w = abs(exactly(x.v))
    return at_least(len(w) * sum(w**2), sum(w) ** 2, "N‖w‖_2², ‖w‖_1²")


@SOURCE.claim("T1-chain", space=WEIGHED)
def chain(x: Instance) -> Slack:
    """The 1/N of the display before has moved to the wrong side. For any γ > 0; here γ = 1."""
    w = abs(exactly(x.v))
    return at_least(sum(w) / len(w), sum(w), "Σ w_n, ‖w‖_1/N")


@chain.corrected(
    "The weight of the right examples less that of the wrong ones is at least γ‖w‖_1 where <∇, h> "
    "is γ‖∇‖.",
    "Σ_{h = y} w_n − Σ_{h ≠ y} w_n = γN‖∇‖ ≥ γ‖w‖_1 for γ = <∇, h>/‖∇‖ > 0",
)
def chain_corrected(x: Instance) -> Slack:
    """Proof. ‖∇‖ = ‖w‖_2/sqrt(N) >= ‖w‖_1/N (1)."""
    right, wrong = _shares(x)
    assume(right > wrong)
    w = [abs(Fraction(v)) for v in x.v.tolist()]
    gamma = float(right - wrong) / math.sqrt(len(w) * float(sum(v * v for v in w)))
    return at_least(float(right - wrong), gamma * float(sum(w)), "right − wrong, γ‖w‖_1")


chain_corrected.step("sqrt(N) ‖w‖_2 is at least ‖w‖_1", "N‖w‖_2² ≥ ‖w‖_1²")(
    converse.stated.steps[0].stated.check
)


@SOURCE.claim("T1-sums", space=WEIGHED)
def sums(x: Instance) -> Slacks:
    """w_n = |∇(x_n)|, y_n = sgn ∇(x_n); squares in fractions.

    Proof. ∇(x_n) h(x_n) = ±w_n, as h is right or wrong, and the halves of Σ w_n cancel; ‖w‖_1² is
    between ‖w‖_2² (1) and N‖w‖_2² (2).
    """
    v, h = exactly(x.v), exactly(x.H[:, 0])
    w, square = abs(v), sum(v**2)
    right, wrong = _shares(x)
    yield equal((right - wrong) / 2, sum(v * h) / 2, "½(right − wrong), N<∇, h>/2")
    yield equal(right - sum(w) / 2, (right - wrong) / 2, "right − ½ Σ w, ½(right − wrong)")
    yield at_most(sum(w) ** 2 / len(w), square, "‖w‖_1²/N, ‖w‖_2²")
    yield at_most(square, sum(w) ** 2, "‖w‖_2², ‖w‖_1²")
    yield equal(Empirical(len(w)).norm(x.v) ** 2, float(square / len(w)), "‖∇‖², ‖w‖_2²/N")


sums.step("‖w‖_1 is at least ‖w‖_2", "‖w‖_1² ≥ ‖w‖_2²")(
    weak_learning.corrections[0].steps[1].stated.check
)
sums.step("sqrt(N) ‖w‖_2 is at least ‖w‖_1", "N‖w‖_2² ≥ ‖w‖_1²")(
    converse.stated.steps[0].stated.check
)
