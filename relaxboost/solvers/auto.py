"""The default method: it looks at the game and chooses another."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.solvers.combined import Combined
from relaxboost.solvers.corrective import Corrective
from relaxboost.solvers.interior.method import InteriorPoint
from relaxboost.solvers.interior.run import unfit
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.totally_corrective import TotallyCorrective, exact_program

_CONIC_SIZE = 3000
"""Examples up to which a cone solver is worth waiting for, every round."""


@dataclass(frozen=True)
class Automatic(Method):
    """`Combined`, but where another method is known to be better.

    * Over Euclidean sets (`L2Ball`, `SquaredNorm`), where every best w is dense:
      `TotallyCorrective`, which there optimises d over the hull of the worst distributions.
    * Where f is not polyhedral, `InteriorPoint` does not fit the game, and m is above 3000:
      `Corrective` with pairwise steps.
    * If a cone solver makes the distributions (`Relaxation.from_solver`), a smoothed step costs as
      much as a round of an exact program. A polyhedral f then gets `InteriorPoint`. If that does
      not fit the game, `TotallyCorrective` solves the exact program.
    """

    name = "auto"

    def chosen(self, game: Game, tol: float) -> Method:
        if not isinstance(game.over, AtomicSet):
            return TotallyCorrective()
        exact = exact_program(game)
        if exact == "conic" and not unfit(game):
            return Combined()
        if exact == "conic" and game.m > _CONIC_SIZE:
            return Corrective(step="pairwise")
        if game.relaxation.from_solver:
            return TotallyCorrective(inner=exact) if unfit(game) else InteriorPoint()
        return Combined()

    def check(self, game: Game) -> None:
        """Accept every game."""

    def start(self, game: Game, tol: float, clock: Clock) -> Booster:
        return self.chosen(game, tol).start(game, tol, clock)
