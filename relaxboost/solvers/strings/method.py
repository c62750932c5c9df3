"""The method `solve` knows as "taut-strings"."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.strings.run import StringsRun, unfit


@dataclass(frozen=True)
class TautStrings(Method):
    """First-order steps on all stumps, with the cuts of each feature solved for exactly.

    Some hundred to a thousand passes over the examples lead to a gap of some percent of the value,
    with a million examples too. Narrow gaps are for `InteriorPoint`.
    """

    name = "taut-strings"

    def check(self, game: Game) -> None:
        """Raise an InputError unless A is of stumps, f only bounds d, and w is in an l1 ball."""
        reason = unfit(game)
        if reason:
            raise InputError(f"{reason}; use InteriorPoint()")

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Start from the centre of f."""
        return StringsRun(game, goal, clock).named("taut-strings")
