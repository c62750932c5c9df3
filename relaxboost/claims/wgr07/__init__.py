"""Claims of Warmuth, Glocer & Rätsch (2007) on SoftBoost, and a game on which LPBoost is slow."""

import math
from pathlib import Path

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.lpboost import LPBoost

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))


def slow_for_lpboost(m: int) -> Array:
    """Return a margin matrix on which LPBoost needs more than m/2 rounds.

    The number m of rows must be even. The matrix has m/2 + 1 columns.
    """
    # The linear program of LPBoost puts all weight on the next example of the second half. The
    # column that is right on this example is wrong on the following one, and nearly wrong on all
    # others. The first and the last column together have a positive margin, but LPBoost adds the
    # last column last.
    half = m // 2
    eps = 1.0 / (10 * m)  # The distance between entries must be in (0, 1/(m + 1)).
    A = np.empty((m, half + 1))
    for q in range(1, half + 1):
        A[:, q - 1] = -1.0 + (2 * q + 1) * eps
        A[half + q - 1, q - 1] = -1.0 + 2 * q * eps
        A[half + q - 2, q - 1] = 1.0
    A[:half, 0] = 1.0
    A[:half, half] = -1.0 + eps
    A[half:, half] = 1.0 - eps
    return A


@SOURCE.claim("linear", space=Space(half=Whole(2, 40))).checked(trials=20)
def linear(x: Instance) -> Slacks:
    m = 2 * x.half
    game = Game(slow_for_lpboost(m), over=Simplex())
    slow = solve(game, method=LPBoost(), tol=0.1)
    fast = solve(game, method="softboost", tol=0.1)
    yield at_least(slow.rounds, x.half + 1, "m/2 + 1, rounds of LPBoost")
    most = 2.0 * math.log(m) / (0.1 * (1.0 - 1e-9)) ** 2 + 2.0
    yield at_most(fast.rounds, most, "rounds of SoftBoost, 2 log(m)/ν² + 2")
    yield at_least(fast.lower, slow.upper - 0.1, "ρ − ν, lower of SoftBoost")


GAMES = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), nu=Real(0.05, 0.5, log=True)
)


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    game = Game(x.A, Capped(x.k))
    rho = x.optimum(game)
    found = solve(game, method="softboost", tol=x.nu)
    soft = float(np.sort(found.margins)[: x.k].mean())
    yield at_least(soft, rho - x.nu, "ρ − ν, soft margin of `solve`")
    most = 2.0 * math.log(len(x.A) / x.k) / (x.nu * (1.0 - 1e-9)) ** 2
    yield at_most(found.rounds, most + 2.0, "rounds of `solve`, 2 log(m/k)/ν² + 2")


@theorem.step(space=GAMES.but(w=Vector("n", 0.0, 5.0)), trials=100)
def _(x: Instance) -> Slacks:
    m = len(x.A)
    project = projector(Capped(x.k).resolve(m), 1.0)
    edges = x.A.T @ project(x.A @ x.w)
    j = int(np.argmax(edges))
    one = ProjectionDual(x.A, float(edges[j]) - x.nu, project)
    before, _ = one.evaluate(x.w)
    step = np.zeros(x.w.size)
    step[j] = x.nu
    after, _ = one.evaluate(x.w + step)
    yield at_least(after, before + x.nu**2 / 2.0, "D(w) + ν²/2, D(w + ν e_j)")
    # At this level, d(w) itself satisfies the edge constraints. So D is at most Δ(d(w), u).
    value, _ = ProjectionDual(x.A, float(edges[j]), project).evaluate(x.w)
    yield at_most(value, math.log(m / x.k), "D(w), log(m/k)")
