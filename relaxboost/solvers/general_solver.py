"""The phase of `solve` in which a general convex solver solves the whole game in one round."""

from __future__ import annotations

import math

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
"""The number of passes over a small matrix A in the time that cvxpy takes to compile a program. It
makes the prediction right for small games, where compiling takes longer than solving."""


def unfit(game: Game) -> str:
    """Return why this game cannot be given to a general solver, or "" if it can."""
    if game.n is None:
        return "its hypotheses are not enumerated"
    if not isinstance(game.over, AtomicSet) and not fits(game):
        return "it is too large for a general solver"
    if game.m * game.n > WRITE_DOWN_LIMIT:
        return "A is too large to write down"
    return ""


def predict_passes(game: Game) -> float:
    """Return the time that a cone solver is predicted to take, in passes over the margin matrix A.

    In each iteration the solver factorises a matrix whose order is the number of examples or of
    hypotheses, whichever is smaller. The prediction assumes as many iterations as for the interior
    point method of this package. It is infinite if the game cannot be given to the solver.
    """
    if unfit(game):
        return math.inf
    n = game.n or 0
    # A factorisation of order min(m, n) from the m x n matrix takes m n min(m, n) multiplications.
    equations = work.passes_of(game, float(game.m) * n * min(game.m, n))
    return OVERHEAD_PASSES + ITERATIONS * equations


class GeneralSolverRun(Booster):
    """A run with one round, at the d and w that a general solver finds, repaired to be feasible.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    tol : float
        The requested gap.
    """

    inner = "general"
    active: MovingHypothesis

    def __init__(self, game: Game, tol: float) -> None:
        self._game = game
        self._tol = tol
        self._was_asked = False
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: object) -> Booster | None:
        """Run the solver; return None if it has already run."""
        if self._was_asked:
            return None
        self._was_asked = True
        is_linear = self._game.linear_form is not None and self._game.over.linear
        solver = "HIGHS" if is_linear else "CLARABEL"
        self.d, weights = best_pair(self._game, solver, self._tol)
        self.active.load(*weights)
        return self
