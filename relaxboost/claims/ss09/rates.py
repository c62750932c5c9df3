"""SS09, Sec. 5: the remarks between Theorem 9 and its proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Instance, Matrix, Slack, Space, Whole, assume, at_least, at_most
from relaxboost.claims.ss09.runs import fig1
from relaxboost.claims.ss09.smooth import CAPPED_RUNS, Fig1Run
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.votes import adaboost_by_hand, risk
from relaxboost.game.game import Game

SEPARABLE = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix())
VOTES = Space(sizes={"m": (2, 8), "n": (2, 6)}, A=Matrix(), rounds=Whole(1, 20))
_CYCLIC = [[1, 1, -1], [-1, 1, 1], [1, -1, 1]]


@SOURCE.claim(
    "remark-sparsity",
    "After Theorem 9",
    "The number of iterations bounds the number of non-zero weights.",
    formula="#{j: w_{t,j} ≠ 0} ≤ t",
    given="f the indicator of ‖d‖_∞ ≤ 1/k",
    space=CAPPED_RUNS,
)
def sparsity(x: Instance) -> Iterator[Slack]:
    """w_1 = 0, and each update adds one column: t − 1 is a bound too, and attained."""
    for now in Fig1Run(x).rounds:
        yield at_most(int(np.count_nonzero(now.w)), now.number - 1, "non-zeros", now.number)


@SOURCE.claim(
    "remark-half-margin",
    "After Theorem 9",
    "With ε = γ/2 Fig. 1 finds half the optimal margin, in O(log(m)/γ²) iterations.",
    formula="min_i (Aw_t)_i ≥ γ/2, t ≤ 128 log(m)/γ²",
    given="A is γ-separable; here γ ≥ 1/10",
    space=SEPARABLE,
    counterexamples=[{"A": [["1/2", "9/10"], ["-7/10", "3/10"]]}],
).checked(trials=80)
def half_margin(x: Instance) -> Iterator[Slack]:
    """The error can be more than ε, as Theorem 9 with the printed test is false."""
    gamma = _margin(x)
    yield from _share(x, gamma, gamma / 2.0, gamma / 2.0)


@half_margin.corrected(
    "With ε = γ/3, or with ε = γ/2 and the test gap ≤ γ/4.",
    "ε = γ/3: min_i (Aw_t)_i ≥ γ/2, t ≤ 288 log(m)/γ²; gap ≤ γ/4: the same, t ≤ 256 log(m)/γ²",
)
def half_margin_third(x: Instance) -> Iterator[Slack]:
    """By the corrections of Theorem 9: 3ε/2 = γ/2, and error ≤ ε with the test gap ≤ ε/2."""
    gamma = _margin(x)
    yield from _share(x, gamma, gamma / 3.0, gamma / 3.0)
    yield from _share(x, gamma, gamma / 2.0, gamma / 4.0)


def _margin(x: Instance) -> float:
    gamma = float(x.optimum(Game(x.A)).middle)
    assume(gamma >= 0.1)
    return gamma


def _share(x: Instance, gamma: float, epsilon: float, to_gap: float) -> Iterator[Slack]:
    last = fig1(Game(x.A), epsilon, to_gap=to_gap)[-1]
    margin = float(np.min(x.A @ last.w))
    yield at_least(margin / gamma, 0.5, "margin / γ", last.number)
    share = 1.0 if to_gap == epsilon else 2.0
    yield at_most(last.number, share * 32.0 * math.log(len(x.A)) / epsilon**2, "rounds")


@SOURCE.claim(
    "remark-adaboost-loss",
    "After Theorem 9",
    "AdaBoost's empirical exponential loss decays like e^{−γ²t}.",
    formula="(1/m) Σ_i exp(−(Aw_t)_i) ≤ e^{−γ²t}",
    given="A is γ-weak-learnable; w_t before it is normalised, after t columns",
    space=VOTES,
    counterexamples=[{"A": _CYCLIC, "rounds": 1}],
).checked(trials=150)
def adaboost_loss(x: Instance) -> Iterator[Slack]:
    """A column of edge r leaves √(1 − r²) of the loss, with entries ±1 exactly: t = 1 refutes it.

    The text speaks of the empirical error, for which see `remark-adaboost-error`.
    """
    yield from _decay(x, "loss", risk, 1.0)


@adaboost_loss.corrected("It decays like e^{−γ²t/2}.", "(1/m) Σ_i exp(−(Aw_t)_i) ≤ e^{−γ²t/2}")
def adaboost_loss_half(x: Instance) -> Iterator[Slack]:
    """√(1 − r²) ≤ e^{−r²/2} and r ≥ γ. Entries between −1 and 1 by convexity of exp."""
    yield from _decay(x, "loss", risk, 0.5)


@SOURCE.claim(
    "remark-adaboost-error",
    "After Theorem 9",
    "AdaBoost's empirical error decays like e^{−γ²t}.",
    formula="#{i: (Aw_t)_i ≤ 0}/m ≤ e^{−γ²t}",
    given="A is γ-weak-learnable; after t columns",
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
def adaboost_error(x: Instance) -> Iterator[Slack]:
    """Two columns of edge 1/2 each leave five examples of eight at margin 0: .625 > .6187.

    The third column, of edge γ = .49 whatever d, is not chosen. In the second instance the five
    have negative margins. With t independent columns of edge just above γ, and a constant one, the
    error is (1 − γ²)^{t/2} but for a factor like 1/√t, so that e^{−cγ²t} is false for all c > 1/2.

    The text says that AdaBoost "seemingly" attains such a decay.
    """
    yield from _decay(x, "error", error, 1.0)


@adaboost_error.corrected("It is at most e^{−γ²t/2}.", "#{i: (Aw_t)_i ≤ 0}/m ≤ e^{−γ²t/2}")
def adaboost_error_half(x: Instance) -> Iterator[Slack]:
    """The error is at most the exponential loss."""
    yield from _decay(x, "error", error, 0.5)


@SOURCE.claim(
    "remark-adaboost-log-m",
    "After Theorem 9",
    "AdaBoost's rate has a factor of log(m): that many rounds over γ²/2 are enough.",
    formula="#{i: (Aw_t)_i ≤ 0} = 0 for t > 2 log(m)/γ²",
    given="A is γ-weak-learnable; here γ ≥ 1/5, after t columns",
    space=SEPARABLE,
).checked(trials=80)
def adaboost_rounds(x: Instance) -> Iterator[Slack]:
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
) -> Iterator[Slack]:
    gamma = float(x.optimum(Game(x.A)).middle)
    trace = adaboost_by_hand(x.A, x.rounds)
    assume(bool(trace))
    for t, w in enumerate(trace, 1):
        yield at_most(what(x.A, w), math.exp(-exponent * gamma**2 * t), name, t)


SOURCE.unchecked(
    "remark-other-rates",
    "After Theorem 9",
    "The rate matches AdaBoost* and SoftBoost, is faster than that of Rudin et al. (2007), and the "
    "complexity is roughly that of AdaBoost.",
    "compares bounds of other papers and asymptotic running times",
)

SOURCE.unchecked(
    "remark-one-over-gamma",
    "After Theorem 9",
    "By the rate of its error AdaBoost needs at least 1/γ² rounds.",
    "drawn from an upper bound on the error, which bounds no number of rounds from below",
)
