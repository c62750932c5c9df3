"""The phase of "auto" that runs the parametric simplex method from a similar game's optimum."""

from __future__ import annotations

import numpy as np

from relaxboost._core.blas import one_blas_thread
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.hypothesis import FullWeights
from relaxboost.solvers.parametric_simplex.program import Lost, linear_program
from relaxboost.solvers.parametric_simplex.simplex import ParametricSimplex
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.warm_start import WarmStart


class Walking(Booster):
    """A run of the simplex method from a similar game's solution, in at most two rounds.

    The first round evaluates the d of the warm start, and the second the optimum of the simplex
    method. If the method fails or uses up its budget, there is no second round, and `inner` is
    "lost".

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    clock : Clock
        The clock with the time limit of the run.
    start : WarmStart
        A warm start with the solution of a similar game, for which `walkable` returns True.
    budget_passes : float
        The maximum number of passes over the margin matrix for the first basis, and again for the
        pivots from this basis to the optimum.
    """

    inner = "walk"

    def __init__(self, game: Game, clock: Clock, start: WarmStart, budget_passes: float) -> None:
        self._game = game
        self._clock = clock
        self._near: Solution | None = start.near
        self._budget = budget_passes
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m) if start.d is None else start.d
        # On a path, the simplex method continues from the optimal basis of the previous game.
        last = None if start.relay is None else start.relay.booster
        self.simplex: ParametricSimplex | None = last.simplex if isinstance(last, Walking) else None

    def advance(self, best: Best) -> Booster | None:
        """Find the optimal distribution and weights by the simplex method.

        Return this booster, or None if the method fails or has already run.
        """
        game = self._game
        near = self._near
        simplex = self.simplex
        assert isinstance(game.over, AtomicSet)
        if near is None:
            self.end("it computes only one pair (d, w), the optimum up to rounding errors")
            return None
        # A simplex method that fails halfway has no valid basis, so no later game may use it.
        self._near = None
        self.simplex = None
        try:
            # With one thread the result does not depend on the number of threads.
            with one_blas_thread():
                if simplex is None or not simplex.fits(game):
                    simplex = ParametricSimplex(game, near, self._budget)
                d, w = simplex.solve(game, self._clock, self._budget)
        except Lost:
            self.inner = "lost"
            self.end(
                "rounding errors, or limits on work and memory, stopped its simplex method "
                "before the optimum"
            )
            return None
        # Rounding leaves d outside of its bounds, and w outside of the domain, by about 1e-12.
        self.d = game.relaxation.repair(np.maximum(d, 0.0))
        w = game.over.repair(w)
        self.active = FullWeights(game.over, np.arange(w.size), w, simplex.margins)
        self.simplex = simplex
        return self


def walkable(game: Game, start: WarmStart) -> bool:
    """Return whether the parametric simplex method can solve a game from a warm start."""
    near = start.near
    return near is not None and None not in (linear_program(game), linear_program(near.game))
