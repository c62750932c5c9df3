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
    """t − 1 is a bound too, and attained.

    Proof. w_1 = 0, and an update adds one column at most (step 1).
    """
    for now in Fig1Run(x).rounds:
        yield at_most(int(np.count_nonzero(now.w)), now.number - 1, "non-zeros", now.number)


@sparsity.step(
    "An update adds one non-zero weight at most.",
    "#{i: ((1 − η)w + ηe^j)_i ≠ 0} ≤ #{i: w_i ≠ 0} + 1",
    space=Space(w=Weights(), j=Whole(1, "n"), eta=Real(0.0, 1.0)).including(
        {"w": [0, 1], "j": 1, "eta": "1/2"}
    ),
)
def _(x: Instance) -> Slack:
    moved = (1.0 - x.eta) * x.w
    moved[x.j - 1] += x.eta
    return at_most(int(np.count_nonzero(moved)), int(np.count_nonzero(x.w)) + 1, "non-zeros")


@SOURCE.claim("remark-half-margin", space=SEPARABLE).checked(trials=80)
def half_margin(x: Instance) -> Slacks:
    """The error can be more than ε, as Theorem 9 with the printed test is false."""
    gamma = _margin(x)
    yield from _share(x, gamma, gamma / 2.0, gamma / 2.0)


@half_margin.corrected(
    "Fig. 1 finds half the optimal margin with ε = γ/3, or with ε = γ/2 and the test gap ≤ γ/4.",
    "ε = γ/3: min_i (Aw_t)_i ≥ γ/2, t ≤ 288 log(m)/γ²; gap ≤ γ/4: the same, t ≤ 256 log(m)/γ²",
)
def half_margin_third(x: Instance) -> Slacks:
    """By the corrections of Theorem 9: 3ε/2 = γ/2, and error ≤ ε with the test gap ≤ ε/2."""
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
    """The paper speaks of the error. e^{−γ²t} would be false: .9428 > .8948 for t = 1 and the
    cyclic ±1 matrix of three rows and columns, of γ = 1/3.

    Proof. A column of edge r ≥ γ and the step artanh r leave at most √(1 − r²) of the loss
    (step 1), and √(1 − r²) ≤ e^{−r²/2} (step 2).
    """
    yield from _decay(x, "loss", risk, 0.5)


@adaboost_loss.step(
    "A column of edge r leaves at most √(1 − r²) of the loss, with entries ±1 exactly.",
    "Σ_i d_i exp(−a_i artanh r) ≤ √(1 − r²), r = <d, a>",
    space=Space(d=Distribution(), a=Vector("m", -1.0, 1.0)).including(
        {"d": ["3/4", "1/4"], "a": [1, -1]}
    ),
)
def _(x: Instance) -> Slacks:
    r = float(x.d @ x.a)
    assume(abs(r) < 0.999)
    left = float(x.d @ np.exp(-x.a * math.atanh(r)))
    yield at_most(left, (1.0 - r**2) ** 0.5, "what is left of the loss")


@adaboost_loss.step("The root is at most an exponential.", "√(1 − r²) ≤ e^{−r²/2}", space=EDGES)
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
    """Two columns of edge 1/2 each leave five examples of eight at margin 0: .625 > .6187.

    The third column, of edge γ = .49 whatever d, is not chosen. In the second instance the five
    have negative margins. `remark-adaboost-error-sharp` has e^{−cγ²t} false for all c > 1/2.

    The text says that AdaBoost "seemingly" attains such a decay.
    """
    yield from _decay(x, "error", error, 1.0)


@adaboost_error.corrected(
    "AdaBoost's empirical error is at most e^{−γ²t/2}.", "#{i: (Aw_t)_i ≤ 0}/m ≤ e^{−γ²t/2}"
)
def adaboost_error_half(x: Instance) -> Slacks:
    """The 1/2 cannot be less than is printed here: `remark-adaboost-error-sharp`.

    Proof. The error is at most the loss (step 1), and that at most e^{−γ²t/2}
    (`remark-adaboost-loss`).
    """
    rate = 0.5
    yield from _decay(x, "error", error, rate)
    bound = math.exp(-rate * 0.3**2 * 200)
    yield at_most(_tail(200, 0.35), bound, "200 independent columns of edge .3")


@adaboost_error_half.step(
    "The error is at most the exponential loss.",
    "[u ≤ 0] ≤ e^{−u}",
    space=Space(u=Real(-1.0, 2.0)).including({"u": 0}),
)
def _(x: Instance) -> Slack:
    return at_most(float(x.u <= 0.0), math.exp(-x.u))


@SOURCE.claim(
    "remark-adaboost-error-sharp",
    space=Space(gamma=Real(0.05, 0.6), t=Whole(1, 300)).including({"gamma": "3/10", "t": 200}),
).checked(trials=40)
def sharp_error(x: Instance) -> Slacks:
    """The constant column makes A γ-weak-learnable, to as little as one likes, and no more so.

    After s rounds the other t − s columns are independent of the weights, and have edge γ still:
    AdaBoost takes one after the other, each with artanh γ. A row is wrong where at least half of
    its signs are −1. For c > 1/2 the bound e^{−cγ²t} is false for small γ and large t, as
    √(1 − γ²) is e^{−γ²/2 − ...}. Matrices are written down and run in step 1.

    Proof. AdaBoost is as said (step 1). Every round's edge is γ, so that the exponential loss is
    (1 − γ²)^{t/2} ≤ e^{−γ²t/2}, and the error is not above it. Of
    C(t, h) (4pq)^{t/2} 2^{−t} (q/p)^{h − t/2} for h = ⌈t/2⌉ wrong signs, q = (1−γ)/2, p = 1 − q,
    the lower bound is what C(2n, n) ≥ 4^n/√(4n) leaves (step 2).
    """
    found = _tail(x.t, (1.0 - x.gamma) / 2.0)
    root = math.sqrt((1.0 - x.gamma) / (1.0 + x.gamma) / (2.0 * (x.t + 1)))
    yield at_most(math.log(found), -0.5 * x.gamma**2 * x.t, "log of the error")
    least = math.log(root) + 0.5 * x.t * math.log1p(-(x.gamma**2))
    yield at_least(math.log(found), least, "log of the error, from below")


def _tail(t: int, q: float) -> float:
    """Return the probability that at least half of t signs are −1, each with probability q."""
    wrong = range((t + 1) // 2, t + 1)
    return math.fsum(math.comb(t, h) * q**h * (1.0 - q) ** (t - h) for h in wrong)


@sharp_error.step(
    "AdaBoost takes the columns one after the other, and its error is that of t coins.",
    "#{i: (Aw_t)_i ≤ 0}/m = Σ_{h ≥ t/2} C(t, h) q^h (1 − q)^{t−h}, q = 1/(ones + 1)",
    space=Space(ones=Whole(2, 4), t=Whole(1, 3)),
    trials=8,
)
def _(x: Instance) -> Slacks:
    column = [1.0] * x.ones + [-1.0]
    signs = np.array(list(product(column, repeat=x.t)))
    A = np.column_stack([signs, np.full(len(signs), np.mean(column) - 1e-3)])
    trace = adaboost_by_hand(A, x.t)
    yield equal(error(A, trace[-1]), _tail(x.t, 1.0 / (x.ones + 1)), "error")
    yield equal(float(trace[-1][-1]), 0.0, "weight of the constant column")


@sharp_error.step(
    "The middle binomial coefficient is at least 4^n/√(4n).",
    "C(2n, n) ≥ 4^n/√(4n); C(2n − 1, n) is half of it",
    space=Space(n=Whole(1, 200)),
)
def _(x: Instance) -> Slacks:
    middle = Fraction(math.comb(2 * x.n, x.n), 4**x.n)
    yield at_least(middle**2, Fraction(1, 4 * x.n), "C(2n, n)² 16^{−n}")
    yield equal(2 * math.comb(2 * x.n - 1, x.n), math.comb(2 * x.n, x.n), "C(2n − 1, n)")


@SOURCE.claim("remark-adaboost-log-m", space=SEPARABLE).checked(trials=80)
def adaboost_rounds(x: Instance) -> Slacks:
    """An error of less than 1/m is none. That t must be as large is not claimed here."""
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
    """An upper bound on the error bounds no number of rounds from below.

    One column of margin 1/2 makes no error after one round, where 1/γ² = 4; the cyclic matrix, of
    γ = 1/3, none after three rounds, where 1/γ² = 9.
    """
    gamma = _margin(x)
    enough = math.ceil(1.0 / gamma**2)
    trace = adaboost_by_hand(x.A, enough)
    right = [t for t, w in enumerate(trace, 1) if error(x.A, w) == 0.0]
    first = right[0] if right else len(trace) + 1  # it ends before a column that is never wrong
    return at_least(first, 1.0 / gamma**2, "the first round without errors")


@one_over_gamma.corrected(
    "reading: the bound is below 1/e from 1/γ² rounds on, and not before; some matrices do take "
    "as many: `remark-one-over-gamma-worst`.",
    "e^{−γ²t} ≤ 1/e for t ≥ 1/γ², and not before",
)
def one_over_gamma_bound(x: Instance) -> Slacks:
    """Nothing more is said of t by e^{−γ²t}, were it a bound on the error."""
    gamma = _margin(x)
    t = math.ceil(1.0 / gamma**2)
    yield at_most(math.exp(-(gamma**2) * t), math.exp(-1.0), "at ⌈1/γ²⌉")
    yield at_least(math.exp(-(gamma**2) * (t - 1)), math.exp(-1.0), "a round before")


@SOURCE.claim(
    "remark-one-over-gamma-worst",
    space=Space(n=Whole(3, 10), minus=Whole(1, 4)).including({"n": 8, "minus": 2}),
).checked(trials=30)
def one_over_gamma_worst(x: Instance) -> Slacks:
    """With weights on 2p columns only, p = (1 − γ)n/2, some row has −1 at the p largest of them
    and a margin ≤ 0; weights below 0 do worse. Uniform w and d show that γ is the margin.

    n = 8 and p = 2: γ = 1/2, and five columns are needed, where 1/γ² = 4.
    """
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
