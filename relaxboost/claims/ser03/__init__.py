"""Claims of Servedio (2003) on SmoothBoost: its rounds, its margins and its smooth weights."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.solvers.boosters.smoothboost import SmoothBoostRun
from relaxboost.solvers.rounds import Rounds, RoundState

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"))


def run(x: Instance) -> tuple[float, Iterator[RoundState]]:
    """Run `SmoothBoostRun` on the game of an instance, and return γ and an iterator over the rounds
    of the run.

    The parameter γ is half the game value, but at most 1/2. Skip games with a value <= 0.1.
    """
    game = Game(x.A, Capped(x.k))
    rho = float(x.optimum(game).lower)
    assume(rho > 0.1)
    gamma = min(rho / 2.0, 0.5)
    return gamma, iter(Rounds(game, SmoothBoostRun(game, gamma)))


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    gamma, rounds = run(x)
    *states, last = rounds
    most = 2.0 / (x.k / len(x.A) * gamma**2 * math.sqrt(1.0 - gamma))
    yield at_most(len(states), most, "T, bound")
    few = int(np.sum(last.active.u <= gamma / (2.0 + gamma)))
    yield at_most(few, x.k - 1, "examples at θ or below, k − 1")
    yield at_most(max(float(state.d.max()) for state in states), 1.0 / x.k, "d_{t,i}, 1/k")


@theorem.step(space=Space(c=Real(0.01, 0.35), n=Real(-3, 3), delta=Real(-1.2, 1)))
def change(x: Instance) -> Slack:
    def phi(n: float) -> float:
        return -n if n <= 0.0 else math.expm1(-x.c * n) / x.c

    right = math.exp(-x.c * max(x.n, 0.0)) * math.expm1(-x.c * x.delta) / x.c
    return at_most(phi(x.n + x.delta) - phi(x.n), right, "change of φ, bound")


@theorem.step(space=Space(gamma=Real(1e-3, 0.5, log=True)))
def fall(x: Instance) -> Slack:
    c = -0.5 * math.log1p(-x.gamma)
    theta = x.gamma / (2.0 + x.gamma)
    y = c * (1.0 + theta)
    left = c * (2.0 * x.gamma - theta) - (math.expm1(y) - y)
    return at_least(left, x.gamma**2 * math.sqrt(1.0 - x.gamma) / 2.0, "γ²√(1 − γ)/2, left")


@SOURCE.claim("soft", space=GAMES).checked(trials=40)
def soft(x: Instance) -> Slacks:
    gamma, rounds = run(x)
    theta = gamma / (2.0 + gamma)
    c = -0.5 * math.log1p(-gamma)
    for state in rounds:
        if T := state.round - 1:
            least = float(np.sort(state.active.u)[: x.k].mean())
            yield at_least(least, theta - len(x.A) / (x.k * T * c), "θ − m/(kTc), AvgMin_k", T)


for _step in (change, fall):
    soft.step(space=_step.space)(_step.stated.check)
