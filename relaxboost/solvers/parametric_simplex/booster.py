"""The phase of the method "auto" that runs the parametric simplex method.

The simplex method starts at the optimum of a similar game that was solved before.
"""

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
    """A run of the simplex method from the solution of a similar game, with at most two rounds.

    The first round evaluates the d of the warm start. The second round evaluates the optimum that
    the simplex method has found. If the simplex method fails or uses up the budget, there is no
    second round, and the attribute `inner` is "lost".

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    clock : Clock
        The clock of the run, which ends it at the time limit.
    start : WarmStart
        A warm start with the solution of a similar game, for which `walkable` returns True.
    budget_passes : float
        The maximum number of passes over the margin matrix for the computation of the first basis.
        The pivots from this basis to the optimum may take the same number of passes.
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
        """Compute the optimal distribution d and weights w by the simplex method.

        Return this booster. Return None if the simplex method fails, or if it has already run in an
        earlier round.
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
    """Return whether the parametric simplex method can solve a game from a given warm start."""
    near = start.near
    return near is not None and None not in (linear_program(game), linear_program(near.game))
