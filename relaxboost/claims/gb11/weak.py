"""GB11, Theorem 1 and Appendix A: the edge, and the weak learning assumption of AdaBoost."""

import math
from fractions import Fraction
from itertools import product

import numpy as np

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import edge
from relaxboost.claims.language import *
from relaxboost.claims.measure import Number
from relaxboost.claims.votes import SignMatrix
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

SETS = Space(sizes={"m": (1, 3), "n": (1, 8)}, H=SignMatrix())
LABELLED = SETS.but(y=Vector("m"))


def advantage(x: Instance, y: Array | None = None) -> Number:
    """Return the largest δ for which AdaBoost's weak learning assumption holds with the labels y.

    For all example weights w, some hypothesis must have a weighted error of at most (1/2 − δ/2) Σ
    w. If y is None, this must hold for every choice of labels. The result is exact.
    """
    # An error of at most (1/2 − δ/2) Σ w means Σ w_n y_n h(x_n) >= δ Σ w. So the largest δ is the
    # value of a game.
    labels = product((-1.0, 1.0), repeat=len(x.H)) if y is None else [y]
    games = (Game(np.array(each)[:, None] * x.H, over=Simplex()) for each in labels)
    return min(x.optimum(game).lower for game in games)


@SOURCE.claim("T1", space=LABELLED).checked(trials=50)
def weak_learning(x: Instance) -> Slack:
    delta = advantage(x, np.where(x.y >= 0.0, 1.0, -1.0))
    assume(delta > 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "δ/sqrt(N), γ")


@weak_learning.corrected()
def weak_learning_corrected(x: Instance) -> Slack:
    delta = max(advantage(x), 0)
    return at_least(edge(x.H, False), float(delta) / math.sqrt(len(x.H)), "δ/sqrt(N), γ")


WEIGHED = Space(sizes={"m": (1, 6), "n": (1, 1)}, H=SignMatrix(), v=Vector("m", -3, 3))


@weak_learning_corrected.step(space=WEIGHED)
def _(x: Instance) -> Slacks:
    v = exactly(x.v)
    w = abs(exactly(x.v))
    h = exactly(x.H[:, 0])
    right = sum(w[v * h > 0], Fraction(0))
    yield equal(2 * right - sum(w), sum(v * h), "right − wrong, N<∇, h>")
    yield at_least(sum(w) ** 2, sum(w**2), "‖w‖_2², ‖w‖_1²")


@SOURCE.claim("T1-converse", space=SETS)
def converse(x: Instance) -> Slack:
    gamma = edge(x.H, False)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "γ, δ")


@converse.step(space=WEIGHED)
def _(x: Instance) -> Slack:
    w = abs(exactly(x.v))
    return at_least(len(w) * sum(w**2), sum(w) ** 2, "‖w‖_1², N‖w‖_2²")
