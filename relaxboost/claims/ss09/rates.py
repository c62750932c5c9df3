"""SS09, Sec. 5: the remarks on AdaBoost between Theorem 9 and its proof."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.votes import adaboost_by_hand, risk
from relaxboost.game.game import Game


def _eight(entry: int | str) -> dict[str, object]:
    """Return two columns of edge 1/2 each, the second on the weights that the first leaves."""
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
    """Return the share of examples with a margin <= 0."""
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
    """Return the probability that at least half of t signs are −1, each with probability q."""
    wrong = range((t + 1) // 2, t + 1)
    return math.fsum(math.comb(t, h) * q**h * (1.0 - q) ** (t - h) for h in wrong)


@sharp_error.step(space=Space(ones=Whole(2, 4), t=Whole(1, 3)), trials=8)
def _(x: Instance) -> Slacks:
    column = [1.0] * x.ones + [-1.0]
    signs = np.array(list(product(column, repeat=x.t)))
    A = np.column_stack([signs, np.full(len(signs), np.mean(column) - 1e-3)])
    trace = adaboost_by_hand(A, x.t)
    yield equal(error(A, trace[-1]), _tail(x.t, 1.0 / (x.ones + 1)), "error")
    yield equal(float(trace[-1][-1]), 0.0, "weight of the constant column")


@SOURCE.claim(
    "remark-one-over-gamma",
    space=Space(sizes={"m": (1, 8), "n": (1, 6)}, A=Matrix()),
).checked(trials=40)
def one_over_gamma(x: Instance) -> Slack:
    gamma = _margin(x)
    trace = adaboost_by_hand(x.A, math.ceil(1.0 / gamma**2))
    right = (t for t, w in enumerate(trace, 1) if error(x.A, w) == 0.0)
    first = next(right, len(trace) + 1)  # it ends before a column that is never wrong
    return at_least(first, 1.0 / gamma**2, "the first round without errors")


def _margin(x: Instance) -> float:
    gamma = float(x.optimum(Game(x.A)).middle)
    assume(gamma >= 0.1)
    return gamma


@one_over_gamma.corrected()
def one_over_gamma_bound(x: Instance) -> Slacks:
    gamma = _margin(x)
    t = math.ceil(1.0 / gamma**2)
    yield at_most(math.exp(-(gamma**2) * t), math.exp(-1.0), "at ⌈1/γ²⌉")
    yield at_least(math.exp(-(gamma**2) * (t - 1)), math.exp(-1.0), "a round before")


@one_over_gamma_bound.step(
    space=Space(n=Whole(3, 10), minus=Whole(1, 4)).including({"n": 8, "minus": 2}), trials=30
)
def _(x: Instance) -> Slacks:
    n, minus = x.n, x.minus
    assume(2 * minus < n)
    rows = [[-1.0 if j in at else 1.0 for j in range(n)] for at in combinations(range(n), minus)]
    A, gamma = np.array(rows), Fraction(n - 2 * minus, n)
    yield equal(float(np.abs(A.mean(axis=0)).max()), gamma, "edges of the uniform d")
    yield equal(float(A.mean(axis=1).min()), gamma, "margins of the uniform w")
    for t, w in enumerate(adaboost_by_hand(A, 2 * n), 1):
        if error(A, w) == 0.0:
            used = int(np.count_nonzero(w))
            yield at_least(used, (1 - gamma) * n + 1, "columns of AdaBoost's vote", t)
    rng = x.rng
    for _ in range(10):
        few = np.zeros(n)
        few[rng.permutation(n)[: 2 * minus]] = rng.exponential(size=2 * minus)
        yield at_most(float((A @ few).min()), 0.0, "least margin of 2p columns")
