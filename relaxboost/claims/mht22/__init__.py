"""Claims of Mitsuboshi, Hatano & Takimoto (2022): the number of rounds of MLPBoost, and its
progress in each round.
"""

import math
from itertools import islice
from pathlib import Path

from relaxboost._core.loop import Clock
from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.solvers.boosters.mlpboost import MLPBoost, MLPBoostRun
from relaxboost.solvers.rounds import Rounds
from relaxboost.solvers.stopping import Tolerance

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

GAMES = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), eps=Real(0.05, 0.5, log=True)
)


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    game = Game(x.A, Capped(x.k))
    rho = x.optimum(game)
    found = solve(game, method="mlpboost", tol=x.eps)
    yield at_most(found.gap, x.eps, "gap, ε")
    yield at_least(found.lower, rho - x.eps, "ρ − ε, lower")
    most = max(2.0, 64.0 * math.log(len(x.A) / x.k) / x.eps**2)
    yield at_most(found.rounds, most, "rounds, 64 log(m/k)/ε²")


@theorem.step(space=GAMES.but(step=Choice("short", "line-search")))
def _(x: Instance) -> Slacks:
    game = Game(x.A, Capped(x.k))
    run = MLPBoost(step=x.step).start(game, Tolerance(x.eps), Clock())
    assert isinstance(run, MLPBoostRun)
    least = -math.inf
    for state in islice(Rounds(game, run), 30):
        value = run.value
        beta = run.beta
        if least > -math.inf:
            yield at_least(value, least, "D(w_t) + gain, D(w_{t+1})", state.round)
        least = value + min(state.smoothed_gap / 2.0, beta * state.smoothed_gap**2 / 8.0)
