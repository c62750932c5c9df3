"""Claims of Warmuth, Liao & Rätsch (2006): the number of rounds of TotalBoost, and its progress in
each round."""

import math
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.special import rel_entr

from relaxboost._core.loop import Clock
from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.game.game import Game
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.softboost import SoftBoostRun
from relaxboost.solvers.rounds import Rounds

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), nu=Real(0.05, 0.5, log=True))


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    rho = x.optimum(Game(x.A))
    found = solve(Game(x.A), method="totalboost", tol=x.nu)
    yield at_least(float(found.margins.min()), rho - x.nu, "ρ − ν, margin of `solve`")
    most = 2.0 * math.log(len(x.A)) / (x.nu * (1.0 - 1e-9)) ** 2
    yield at_most(found.rounds, most + 2.0, "rounds of `solve`, 2 log(m)/ν² + 2")


@theorem.step()
def _(x: Instance) -> Slacks:
    game = Game(x.A)
    before = 0.0
    run = SoftBoostRun(game, x.nu, Clock())
    for state in islice(Rounds(game, run), 30):
        # The program of the run does not contain the answer of this round yet.
        slots = run.program.slots
        if not slots or run.infeasible:
            continue
        columns = run.active.columns[:, slots].astype(np.float64)
        dual = ProjectionDual(columns, run.least - x.nu, projector(game.relaxation, 1.0))
        value, _ = dual.evaluate(dual.maximise(run.multipliers, 1e-9))
        right = before + x.nu**2 / 2.0
        yield at_least(value, right, "Δ(d_t, u) + ν²/2, Δ(d_{t+1}, u)", state.round)
        before = value


PAIRS = Space(sizes={"m": (1, 8)}, d=Distribution("m"), e=Distribution("m"), a=Vector("m"))


@theorem.step(space=PAIRS)
def _(x: Instance) -> Slacks:
    kl = float(rel_entr(x.d, x.e).sum())
    assume(math.isfinite(kl))
    apart = float(np.abs(x.d - x.e).sum())
    yield at_least(kl, apart**2 / 2.0, "‖d − e‖_1²/2, Δ(d, e)")
    yield at_least(apart, abs(float((x.d - x.e) @ x.a)), "|⟨d − e, a⟩|, ‖d − e‖_1")
