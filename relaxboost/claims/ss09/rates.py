"""SS09, Sec. 5: the remarks on AdaBoost between Theorem 9 and its proof."""

import math
from itertools import product

import numpy as np
from scipy.special import bdtrc

from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.votes import adaboost_by_hand, risk
from relaxboost.game.game import Game


def _eight(entry: int | str) -> dict[str, object]:
    # In rounds 1 and 2, the first two columns have the edge 1/2.
    rows = [[1, 1, "49/100"]] * 3 + [[entry, -1, "49/100"]] * 3 + [[-1, 1, "49/100"]] * 2
    return {"A": rows, "rounds": 2}


@SOURCE.claim(
    "remark-adaboost-error",
    space=Space(sizes={"m": (2, 8), "n": (2, 6)}, A=Matrix(), rounds=Whole(1, 20)),
    counterexamples=[_eight(1), _eight("99/100")],
).checked(trials=60)
def adaboost_error(x: Instance, rate: float = 1.0) -> Slacks:
    gamma = float(x.optimum(Game(x.A)).middle)
    trace = adaboost_by_hand(x.A, x.rounds)
    assume(bool(trace))
    for t, w in enumerate(trace, 1):
        bound = math.exp(-rate * gamma**2 * t)
        yield at_most(error(x.A, w), bound, "error", t)
        if rate < 1.0:
            yield at_most(risk(x.A, w), bound, "loss", t)


def error(A: Array, w: Array) -> float:
    """Return the training error: the fraction of examples with a margin of at most 0."""
    return float(np.mean(A @ w <= 1e-12))


@adaboost_error.corrected()
def adaboost_error_half(x: Instance) -> Slacks:
    rate = 0.5
    yield from adaboost_error(x, rate)
    bound = math.exp(-rate * 0.3**2 * 200)
    yield at_most(_tail(200, 0.35), bound, "200 independent columns of edge .3")


@adaboost_error_half.step(
    space=Space(d=Distribution(), a=Vector("m", -1.0, 1.0)).including(
        {"d": ["3/4", "1/4"], "a": [1, -1]}
    )
)
def _(x: Instance) -> Slacks:
    r = float(x.d @ x.a)
    assume(abs(r) < 0.999)
    left = float(x.d @ np.exp(-x.a * math.atanh(r)))
    yield at_most(left, (1.0 - r**2) ** 0.5, "what is left of the loss")


@SOURCE.claim(
    "remark-adaboost-error-sharp",
    space=Space(gamma=Real(0.05, 0.6), t=Whole(1, 300)).including({"gamma": "3/10", "t": 200}),
).checked(trials=40)
def sharp_error(x: Instance) -> Slacks:
    found = _tail(x.t, (1.0 - x.gamma) / 2.0)
    root = math.sqrt((1.0 - x.gamma) / (1.0 + x.gamma) / (2.0 * (x.t + 1)))
    yield at_most(math.log(found), -0.5 * x.gamma**2 * x.t, "log of the error")
    least = math.log(root) + 0.5 * x.t * math.log1p(-(x.gamma**2))
    yield at_least(math.log(found), least, "log of the error, from below")


def _tail(t: int, q: float) -> float:
    """Return P(at least half of t signs are −1), where each sign is −1 with probability q."""
    return float(bdtrc((t - 1) // 2, t, q))


@sharp_error.step(space=Space(ones=Whole(2, 4), t=Whole(1, 3)), trials=8)
def _(x: Instance) -> Slacks:
    column = [1.0] * x.ones + [-1.0]
    signs = np.array(list(product(column, repeat=x.t)))
    A = np.column_stack([signs, np.full(len(signs), np.mean(column) - 1e-3)])
    trace = adaboost_by_hand(A, x.t)
    yield equal(error(A, trace[-1]), _tail(x.t, 1.0 / (x.ones + 1)), "error")
    yield equal(float(trace[-1][-1]), 0.0, "weight of the constant column")
