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
    delta = advantage(x, np.where(x.y >= 0.0, 1.0, -1.0))
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "γ, δ/sqrt(N)")


@weak_learning.corrected()
def weak_learning_corrected(x: Instance) -> Slack:
    delta = max(advantage(x), 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "γ, δ/sqrt(N)")


WEIGHED = Space(sizes={"m": (1, 6), "n": (1, 1)}, H=Classifiers(), v=Vector("m", -3, 3))


@weak_learning_corrected.step(space=WEIGHED)
def _(x: Instance) -> Slack:
    right, wrong = _shares(x)
    return equal(right - wrong, sum(exactly(x.v) * exactly(x.H[:, 0])), "right − wrong, N<∇, h>")


@weak_learning_corrected.step(space=WEIGHED)
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
    delta = advantage(x)
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)) + more, "γ, δ/sqrt(N)")


@strict.corrected()
def strict_corrected(x: Instance) -> Slacks:
    yield from strict(x, 0.0)


for _step in weak_learning.corrections[0].steps:
    strict_corrected.step(space=_step.space)(_step.stated.check)


def _all_classifiers() -> Iterator[dict[str, object]]:
    for size in (1, 2, 3):
        yield {"H": (2 * np.array(labelings(size, 2)).T - 1).tolist()}


@SOURCE.claim("T1-necessary", space=SETS).checked(
    every=Enumeration("all classifiers on one, two and three points", _all_classifiers)
)
def necessary(x: Instance) -> Slacks:
    size = len(x.H)
    assume(len({tuple(h) for h in x.H.T.tolist()}) == 2**size)
    yield equal(advantage(x), 1, "δ")
    yield equal(edge(x.H, False), 1.0 / math.sqrt(size), "γ, 1/sqrt(N)")


@SOURCE.claim("T1-converse", space=SETS)
def converse(x: Instance) -> Slack:
    gamma = edge(x.H, False)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "δ, γ")


@converse.step(space=WEIGHED)
def _(x: Instance) -> Slack:
    w = abs(exactly(x.v))
    return at_least(len(w) * sum(w**2), sum(w) ** 2, "N‖w‖_2², ‖w‖_1²")


@SOURCE.claim("T1-chain", space=WEIGHED)
def chain(x: Instance) -> Slack:
    w = abs(exactly(x.v))
    return at_least(sum(w) / len(w), sum(w), "Σ w_n, ‖w‖_1/N")


@chain.corrected()
def chain_corrected(x: Instance) -> Slack:
    right, wrong = _shares(x)
    assume(right > wrong)
    w = [abs(Fraction(v)) for v in x.v.tolist()]
    gamma = float(right - wrong) / math.sqrt(len(w) * float(sum(v * v for v in w)))
    return at_least(float(right - wrong), gamma * float(sum(w)), "right − wrong, γ‖w‖_1")


chain_corrected.step()(converse.stated.steps[0].stated.check)


@SOURCE.claim("T1-sums", space=WEIGHED)
def sums(x: Instance) -> Slacks:
    v, h = exactly(x.v), exactly(x.H[:, 0])
    w, square = abs(v), sum(v**2)
    right, wrong = _shares(x)
    yield equal((right - wrong) / 2, sum(v * h) / 2, "½(right − wrong), N<∇, h>/2")
    yield equal(right - sum(w) / 2, (right - wrong) / 2, "right − ½ Σ w, ½(right − wrong)")
    yield at_most(sum(w) ** 2 / len(w), square, "‖w‖_1²/N, ‖w‖_2²")
    yield at_most(square, sum(w) ** 2, "‖w‖_2², ‖w‖_1²")
    yield equal(Empirical(len(w)).norm(x.v) ** 2, float(square / len(w)), "‖∇‖², ‖w‖_2²/N")


sums.step()(weak_learning.corrections[0].steps[1].stated.check)
sums.step()(converse.stated.steps[0].stated.check)
