"""SS09, Sec. 5: the remarks between Theorem 9 and its proof."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import fig1
from relaxboost.claims.ss09.smooth import F_GIVEN, FAMILY_RUNS, Fig1Run
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.votes import adaboost_by_hand, risk
from relaxboost.game.game import Game

SEPARABLE = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix())
VOTES = Space(sizes={"m": (2, 8), "n": (2, 6)}, A=Matrix(), rounds=Whole(1, 20))
EDGES = Space(r=Real(0.0, 1.0)).including({"r": "1/10"})
_CYCLIC = [[1, 1, -1], [-1, 1, 1], [1, -1, 1]]


@SOURCE.claim("remark-sparsity", given=F_GIVEN, space=FAMILY_RUNS)
def sparsity(x: Instance) -> Slacks:
    for now in Fig1Run(x).rounds:
        yield at_most(int(np.count_nonzero(now.w)), now.number - 1, "non-zeros", now.number)


@sparsity.step(
    space=Space(w=Weights(), j=Whole(1, "n"), eta=Real(0.0, 1.0)).including(
        {"w": [0, 1], "j": 1, "eta": "1/2"}
    )
)
def _(x: Instance) -> Slack:
    moved = (1.0 - x.eta) * x.w
    moved[x.j - 1] += x.eta
    return at_most(int(np.count_nonzero(moved)), int(np.count_nonzero(x.w)) + 1, "non-zeros")


@SOURCE.claim("remark-half-margin", space=SEPARABLE).checked(trials=80)
def half_margin(x: Instance) -> Slacks:
    gamma = _margin(x)
    yield from _share(x, gamma, gamma / 2.0, gamma / 2.0)


@half_margin.corrected()
def half_margin_third(x: Instance) -> Slacks:
    gamma = _margin(x)
    yield from _share(x, gamma, gamma / 3.0, gamma / 3.0)
    yield from _share(x, gamma, gamma / 2.0, gamma / 4.0)


def _margin(x: Instance) -> float:
    gamma = float(x.optimum(Game(x.A)).middle)
    assume(gamma >= 0.1)
    return gamma


def _share(x: Instance, gamma: float, epsilon: float, to_gap: float) -> Slacks:
    last = fig1(Game(x.A), epsilon, to_gap=to_gap)[-1]
    margin = float(np.min(x.A @ last.w))
    yield at_least(margin / gamma, 0.5, "margin / γ", last.number)
    share = 1.0 if to_gap == epsilon else 2.0
    yield at_most(last.number, share * 32.0 * math.log(len(x.A)) / epsilon**2, "rounds")


@SOURCE.claim("remark-adaboost-loss", space=VOTES).checked(trials=100)
def adaboost_loss(x: Instance) -> Slacks:
    yield from _decay(x, "loss", risk, 0.5)


@adaboost_loss.step(
    space=Space(d=Distribution(), a=Vector("m", -1.0, 1.0)).including(
        {"d": ["3/4", "1/4"], "a": [1, -1]}
    )
)
def _(x: Instance) -> Slacks:
    r = float(x.d @ x.a)
    assume(abs(r) < 0.999)
    left = float(x.d @ np.exp(-x.a * math.atanh(r)))
    yield at_most(left, (1.0 - r**2) ** 0.5, "what is left of the loss")


@adaboost_loss.step(space=EDGES)
def _(x: Instance) -> Slack:
    return at_most(math.sqrt(1.0 - x.r**2), math.exp(-0.5 * x.r**2))


@SOURCE.claim(
    "remark-adaboost-error",
    space=VOTES,
    counterexamples=[
        {
            "A": [[1, 1, "49/100"]] * 3 + [[1, -1, "49/100"]] * 3 + [[-1, 1, "49/100"]] * 2,
            "rounds": 2,
        },
        {
            "A": [[1, 1, "49/100"]] * 3 + [["99/100", -1, "49/100"]] * 3 + [[-1, 1, "49/100"]] * 2,
            "rounds": 2,
        },
    ],
).checked(trials=100)
def adaboost_error(x: Instance) -> Slacks:
    yield from _decay(x, "error", error, 1.0)


@adaboost_error.corrected()
def adaboost_error_half(x: Instance) -> Slacks:
    rate = 0.5
    yield from _decay(x, "error", error, rate)
    bound = math.exp(-rate * 0.3**2 * 200)
    yield at_most(_tail(200, 0.35), bound, "200 independent columns of edge .3")


@adaboost_error_half.step(space=Space(u=Real(-1.0, 2.0)).including({"u": 0}))
def _(x: Instance) -> Slack:
    return at_most(float(x.u <= 0.0), math.exp(-x.u))


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


@sharp_error.step(space=Space(n=Whole(1, 200)))
def _(x: Instance) -> Slacks:
    middle = Fraction(math.comb(2 * x.n, x.n), 4**x.n)
    yield at_least(middle**2, Fraction(1, 4 * x.n), "C(2n, n)² 16^{−n}")
    yield equal(2 * math.comb(2 * x.n - 1, x.n), math.comb(2 * x.n, x.n), "C(2n − 1, n)")


@SOURCE.claim("remark-adaboost-log-m", space=SEPARABLE).checked(trials=80)
def adaboost_rounds(x: Instance) -> Slacks:
    gamma = float(x.optimum(Game(x.A)).middle)
    assume(gamma >= 0.2)
    enough = math.floor(2.0 * math.log(len(x.A)) / gamma**2) + 1
    trace = adaboost_by_hand(x.A, enough)
    assume(len(trace) == enough)
    yield at_most(error(x.A, trace[-1]), 0, "error", enough)


def error(A: Array, w: Array) -> float:
    """Return the share of examples with a margin <= 0."""
    return float(np.mean(A @ w <= 1e-12))


def _decay(
    x: Instance, name: str, what: Callable[[Array, Array], float], exponent: float
) -> Slacks:
    gamma = float(x.optimum(Game(x.A)).middle)
    trace = adaboost_by_hand(x.A, x.rounds)
    assume(bool(trace))
    for t, w in enumerate(trace, 1):
        yield at_most(what(x.A, w), math.exp(-exponent * gamma**2 * t), name, t)


@SOURCE.claim(
    "remark-one-over-gamma",
    space=SEPARABLE.but(sizes={"m": (1, 8), "n": (1, 6)}),
    counterexamples=[{"A": [["1/2"]]}, {"A": _CYCLIC}],
).checked(trials=60)
def one_over_gamma(x: Instance) -> Slack:
    gamma = _margin(x)
    enough = math.ceil(1.0 / gamma**2)
    trace = adaboost_by_hand(x.A, enough)
    right = [t for t, w in enumerate(trace, 1) if error(x.A, w) == 0.0]
    first = right[0] if right else len(trace) + 1  # it ends before a column that is never wrong
    return at_least(first, 1.0 / gamma**2, "the first round without errors")


@one_over_gamma.corrected()
def one_over_gamma_bound(x: Instance) -> Slacks:
    gamma = _margin(x)
    t = math.ceil(1.0 / gamma**2)
    yield at_most(math.exp(-(gamma**2) * t), math.exp(-1.0), "at ⌈1/γ²⌉")
    yield at_least(math.exp(-(gamma**2) * (t - 1)), math.exp(-1.0), "a round before")


@SOURCE.claim(
    "remark-one-over-gamma-worst",
    space=Space(n=Whole(3, 10), minus=Whole(1, 4)).including({"n": 8, "minus": 2}),
).checked(trials=30)
def one_over_gamma_worst(x: Instance) -> Slacks:
    n, minus = x.n, x.minus
    assume(2 * minus < n)
    rows = [[-1.0 if j in at else 1.0 for j in range(n)] for at in combinations(range(n), minus)]
    A, gamma = np.array(rows), Fraction(n - 2 * minus, n)
    yield equal(float(np.abs(A.mean(axis=0)).max()), gamma, "edges of the uniform d")
    yield equal(float(A.mean(axis=1).min()), gamma, "margins of the uniform w")
    for t, w in enumerate(adaboost_by_hand(A, 2 * n), 1):
        used = int(np.count_nonzero(w))
        yield at_most(used, t, "columns and rounds", t)
        if error(A, w) == 0.0:
            yield at_least(used, (1 - gamma) * n + 1, "columns of AdaBoost's vote", t)
    for _ in range(10):
        few = np.zeros(n)
        few[x.rng.permutation(n)[: 2 * minus]] = x.rng.exponential(size=2 * minus)
        yield at_most(float((A @ few).min()), 0.0, "least margin of 2p columns")
