"""SS09, Sec. 5: Fig. 1, what it returns and after how many rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from relaxboost.claims.arrays import Matrix
from relaxboost.claims.fields import Real
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Slack, at_most
from relaxboost.claims.runs import fig1
from relaxboost.claims.spaces import Space
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game import Game

GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), epsilon=Real(0.05, 0.5, log=True))


@SOURCE.claim(
    "T9",
    "Theorem 9, accuracy",
    "Fig. 1, stopped by its own test, returns an ε-accurate w.",
    formula="max_γ (γ − f*([γ − A w_t]_+)) ≥ ρ − ε",
    given="A in [−1, 1]^(m×n), ε > 0; here f = 0, so that ρ is the hard margin",
    space=GAMES,
    counterexamples=[
        {"A": [["1/10", "9/10"], ["-3/5", 0]], "epsilon": "3/10"},
        {"A": [["9/10", "2/5"], ["-2/5", "1/10"]], "epsilon": "1/10"},
    ],
    trials=200,
)
def accuracy(x: Instance) -> Slack:
    """The test bounds the gap of the *smoothed* problem, which is up to ε/2 from the other one.

    The proof shows ε_t <= ε/2 after 32 log(m)/ε² rounds, but the test stops before.
    """
    game = Game(x.A)
    last = fig1(game, x.epsilon)[-1]
    return at_most(x.optimum(game) - last.lower, x.epsilon, "ρ − margin of w_t", last.number)


@accuracy.corrected("The error is at most 3ε/2.", "ρ − max_γ (...) ≤ 3ε/2")
def accuracy_half_more(x: Instance) -> Slack:
    """The smoothed gap is at most ε, and the smoothing costs at most β log m = ε/2."""
    game = Game(x.A)
    last = fig1(game, x.epsilon)[-1]
    return at_most(x.optimum(game) - last.lower, 1.5 * x.epsilon, "ρ − margin of w_t", last.number)


@SOURCE.claim(
    "T9-rounds",
    "Theorem 9, rounds",
    "Fig. 1 terminates within 32 log(m)/ε² rounds.",
    formula="t ≤ 32 log(m)/ε²",
    given="A in [−1, 1]^(m×n), m ≥ 2, ε > 0",
    space=GAMES,
)
def rounds(x: Instance) -> Iterator[Slack]:
    """Two phases: 8/(βε) rounds to ε_t <= ε, then fewer than 8/(βε) more."""
    bound = 32.0 * math.log(len(x.A)) / x.epsilon**2
    trace = fig1(Game(x.A), x.epsilon, max_rounds=math.ceil(bound) + 2)
    yield at_most(trace[-1].number, bound, "rounds")
