"""Claims of Freund & Schapire (1999): the regret of Hedge, and the number of rounds that it needs
for a small gap."""

import math
from pathlib import Path

import numpy as np
from scipy.special import rel_entr

from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

GAMES = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), eps=Real(0.05, 0.5, log=True)
)
STREAMS = GAMES.but(sizes={"m": (2, 8), "n": (1, 20)}, beta=Real(0.1, 20, log=True))
ROUNDS = STREAMS.but(sizes={"m": (2, 8), "n": (1, 1)}, z=Vector("m"))


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    game = Game(x.A, Capped(x.k))
    rho = x.optimum(game)
    found = solve(game, method="hedge", tol=x.eps)
    yield at_most(found.gap, x.eps, "gap, ε")
    yield at_least(found.lower, rho - x.eps, "ρ − ε, lower")
    answers = 2.0 * math.log(len(x.A) / x.k) / (x.eps * (1.0 - 1e-9)) ** 2
    looks = max(0.0, math.log(max(answers, 1.0)) / math.log(1.1))
    yield at_most(found.rounds, answers + looks + 3.0, "rounds, 2 log(m/k)/ε² and looks")


@SOURCE.claim("regret", space=STREAMS)
def regret(x: Instance) -> Slack:
    f = Capped(x.k).resolve(len(x.A))
    total = np.zeros(len(x.A))
    paid = 0.0
    for answer in x.A.T:
        paid += float(f.distribution(total, x.beta) @ answer)
        total = total + answer
    T = x.A.shape[1]
    least = float(np.sort(total)[: x.k].mean())
    most = x.beta * math.log(len(x.A) / x.k) + T / (2.0 * x.beta)
    return at_most(paid - least, most, "regret, bound")


@regret.step(space=ROUNDS)
def one_round(x: Instance) -> Slack:
    f = Capped(x.k).resolve(x.z.size)

    def least(u: Array) -> tuple[float, Array]:
        d = f.distribution(u, x.beta)
        return float(d @ u) + x.beta * float(rel_entr(d, 1.0 / d.size).sum()), d

    before, d = least(x.z)
    after, _ = least(x.z + x.A[:, 0])
    right = before + float(d @ x.A[:, 0]) - 1.0 / (2.0 * x.beta)
    return at_least(after, right, "this one + ⟨d*, a⟩ − 1/(2β), next minimum")


theorem.step(space=ROUNDS)(one_round.stated.check)
