"""SoftBoost: the number of its rounds, and why projections need not be exact."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.wgr07.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.solve import solve

GAMES = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), nu=Real(0.05, 0.5, log=True)
)


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    game = Game(x.A, Capped(x.k))
    rho = x.optimum(game)
    found = solve(game, method="softboost", tol=x.nu)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    soft = float(np.sort(found.margins)[: x.k].mean())
    yield at_least(soft, rho - x.nu, "soft margin of `solve`, ρ − ν")
    most = 2.0 * math.log(len(x.A) / x.k) / (x.nu * (1.0 - 1e-9)) ** 2
    yield at_most(found.rounds, most + 2.0, "rounds of `solve`, 2 log(m/k)/ν² + 2")


@theorem.step(space=GAMES.but(w=Vector("n", 0.0, 5.0)), trials=100)
def _(x: Instance) -> Slacks:
    m = len(x.A)
    project = projector(Capped(x.k).resolve(m), 1.0)
    edges = x.A.T @ project(x.A @ x.w)
    j = int(np.argmax(edges))
    level = float(edges[j]) - x.nu
    one = ProjectionDual(x.A, level, project)
    before, _ = one.evaluate(x.w)
    step = np.zeros(x.w.size)
    step[j] = x.nu
    after, _ = one.evaluate(x.w + step)
    yield at_least(after, before + x.nu**2 / 2.0, "D(w + ν e_j), D(w) + ν²/2")
    # At this level d(w) itself has the edges, so that no more than Δ(d(w), u) bounds D below it.
    feasible = ProjectionDual(x.A, float(edges[j]), project)
    value, _ = feasible.evaluate(x.w)
    yield at_most(value, math.log(m / x.k), "D(w), log(m/k)")
