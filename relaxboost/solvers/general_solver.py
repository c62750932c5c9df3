"""A general convex solver as a phase of a run: it solves the whole game, in one round."""

from __future__ import annotations

import math

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices.base import WRITE_DOWN_LIMIT
from relaxboost.solvers import work
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.hypothesis import MovingHypothesis
from relaxboost.solvers.interior_point.run import ITERATIONS
from relaxboost.solvers.reference import best_pair, fits
from relaxboost.solvers.rounds import Booster

OVERHEAD_PASSES = 1000.0
"""Passes over a small A in the time that cvxpy takes to write a program down."""


def unfit(game: Game) -> str:
    """Return why no general solver can be handed this game, "" where one can."""
    if game.n is None:
        return "its hypotheses are not enumerated"
    if not isinstance(game.over, AtomicSet) and not fits(game):
        return "it is too large for a general solver"
    if game.m * game.n > WRITE_DOWN_LIMIT:
        return "A is too large to write down"
    return ""


def predict_passes(game: Game) -> float:
    """Return how many passes over A a cone solver is predicted to take for the game.

    The solver factorises matrices whose order is the number of examples or of hypotheses, whichever
    is smaller. It is assumed to take as many iterations as the interior point method of this
    package. The prediction is infinite if the game cannot be given to the solver.
    """
    if unfit(game):
        return math.inf
    n = game.n or 0
    equations = work.passes_of(game, float(game.m) * n * min(game.m, n))
    return OVERHEAD_PASSES + ITERATIONS * equations


class GeneralSolverRun(Booster):
    """One round at the pair that a general solver makes, repaired to feasible points."""

    inner = "general"
    active: MovingHypothesis

    def __init__(self, game: Game, tol: float, clock: Clock) -> None:
        self._game = game
        self._tol = tol
        self._clock = clock
        self._was_asked = False
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: object) -> Booster | None:
        """Ask the solver; return None once it has answered."""
        if self._was_asked:
            return None
        self._was_asked = True
        is_linear = self._game.linear_form is not None and self._game.over.linear
        solver = "HIGHS" if is_linear else "CLARABEL"
        self.d, weights = best_pair(self._game, solver, self._tol)
        self.active.load(*weights)
        self.work = math.inf
        return self
