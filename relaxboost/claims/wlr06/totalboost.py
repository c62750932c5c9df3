"""TotalBoost: the number of its rounds, and what a round gains."""

import math
from itertools import islice

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.claims.language import *
from relaxboost.claims.wlr06.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.softboost import SoftBoostRun
from relaxboost.solvers.rounds import Rounds
from relaxboost.solvers.solve import solve

UNSEEN = "the text is not at hand; as it is quoted by later papers"
GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), nu=Real(0.05, 0.5, log=True))


@SOURCE.claim(
    "T",
    ("Theorem on TotalBoost", UNSEEN),
    "TotalBoost reaches the margin ρ − ν within 2 log(m)/ν² rounds.",
    formula="min_i (A w_T)_i ≥ ρ − ν, T ≤ 2 log(m)/ν² + 1",
    printed=ILLEGIBLE,
    given="A in [−1, 1]^(m×n), m ≥ 2, ν in (0, 1); ρ the value of the game over the ℓ1 ball",
    space=GAMES,
).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    """The run of `relaxboost.solve`: WLR06-progress, and Δ(d, uniform) ≤ log m for every d.

    The round that finds the constraints infeasible comes on top, and `solve` takes one more to
    look at the last w.
    """
    rho = x.optimum(Game(x.A))
    found = solve(Game(x.A), method="totalboost", tol=x.nu)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    yield at_least(float(found.margins.min()), rho - x.nu, "margin of `solve`, ρ − ν")
    most = 2.0 * math.log(len(x.A)) / (x.nu * (1.0 - 1e-9)) ** 2
    yield at_most(found.rounds, most + 2.0, "rounds of `solve`, 2 log(m)/ν² + 2")


@SOURCE.claim(
    "progress",
    ("Theorem on TotalBoost, proof", UNSEEN),
    "Each projection is farther from the uniform distribution than the last by ν²/2 at least.",
    formula="Δ(d_{t+1}, u) ≥ Δ(d_t, u) + ν²/2",
    printed=ILLEGIBLE,
    given="the constraints of round t can be met",
    space=GAMES,
).checked(trials=40)
def progress(x: Instance) -> Slacks:
    """With projections to 1e-9, recomputed from the columns and edges of the package's run.

    Proof. d_t is the projection of u onto a set that contains d_{t+1}, so that
    Δ(d_{t+1}, u) ≥ Δ(d_t, u) + Δ(d_{t+1}, d_t). The edge of the last column is at least γ̂_t + ν at
    d_t and at most γ̂_t at d_{t+1}, so that these differ by ν or more in ℓ1; then Pinsker's
    inequality.
    """
    game = Game(x.A)
    run = SoftBoostRun(game, x.nu, Clock())
    before = 0.0
    for state in islice(Rounds(game, run), 30):
        # The run has taken the answers before this round; this one comes next.
        slots = run.program.slots
        if not slots or run.infeasible:
            continue
        columns = run.active.columns[:, slots].astype(np.float64)
        dual = ProjectionDual(columns, run.least - x.nu, projector(game.relaxation, 1.0))
        value, _ = dual.evaluate(dual.maximise(run.multipliers, 1e-9))
        right = before + x.nu**2 / 2.0
        yield at_least(value, right, "Δ(d_{t+1}, u), Δ(d_t, u) + ν²/2", state.round)
        before = value


PAIRS = Space(sizes={"m": (1, 8)}, d=Distribution("m"), e=Distribution("m"), a=Vector("m"))


@progress.step("Pinsker's inequality", "Δ(d, e) ≥ ‖d − e‖_1²/2 ≥ ⟨d − e, a⟩²/2", space=PAIRS)
def _(x: Instance) -> Slacks:
    """For |a_i| ≤ 1; Δ is infinite where d has weight and e has none."""
    assume(bool((x.e[x.d > 0.0] > 0.0).all()))
    seen = x.d > 0.0
    kl = float(np.sum(x.d[seen] * np.log(x.d[seen] / x.e[seen])))
    apart = float(np.abs(x.d - x.e).sum())
    yield at_least(kl, apart**2 / 2.0, "Δ(d, e), ‖d − e‖_1²/2")
    yield at_least(apart, abs(float((x.d - x.e) @ x.a)), "‖d − e‖_1, |⟨d − e, a⟩|")
