"""The phase of "auto" in which a general convex solver solves the whole game."""

from __future__ import annotations

from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices.base import MAX_DENSE_ENTRIES
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.hypothesis import MovingHypothesis
from relaxboost.solvers.reference import best_pair, fits
from relaxboost.solvers.rounds import Booster


def unfit(game: Game) -> str:
    """Return why a general solver cannot solve this game, or "" if it can."""
    if game.n is None:
        return "the hypotheses of the game are not enumerated"
    if not isinstance(game.over, AtomicSet) and not fits(game):
        return "the game is too large for a general solver"
    if game.m * game.n > MAX_DENSE_ENTRIES:
        return "A is too large to be stored as a dense array"
    return ""


class GeneralSolverRun(Booster):
    """A run that takes both d and w from a general convex solver.

    The distribution d and the weights w are moved to feasible points. The last round evaluates the
    bounds that they prove.

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
        """Solve the game with a general solver, and store the returned points.

        The first call returns this run. The second call returns None, which ends the run.
        """
        if self._was_asked:
            self.end(f"it solves the game only once, with tol = {self._tol:g}")
            return None
        self._was_asked = True
        is_linear = self._game.linear_form is not None and self._game.over.linear
        solver = "HIGHS" if is_linear else "CLARABEL"
        self.d, weights = best_pair(self._game, solver, self._tol)
        self.active.load(*weights)
        return self
