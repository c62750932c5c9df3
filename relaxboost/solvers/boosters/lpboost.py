"""LPBoost (Demiriz, Bennett & Shawe-Taylor 2002): boosting by column generation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.restricted_programs import (
    RestrictedConeProgram,
    RestrictedLinearProgram,
    RestrictedProgram,
)
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms, check_polyhedral
from relaxboost.solvers.hypothesis import ActiveSet, CombinedHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart

PROGRAMS = ("auto", "linear", "conic")
"""The kinds of restricted programs; see `LPBoost`."""


@dataclass(frozen=True)
class LPBoost(Method):
    """LPBoost, which solves the game restricted to the columns found so far in each round.

    The weak learner returns the best column for the optimal distribution d of the restricted game.
    If the restricted game already has this column, d is optimal for the whole game, and the run
    ends. HiGHS keeps the program and its basis between the rounds, so a new column needs only a few
    dual simplex pivots.

    The only known bound on the rounds is the number of columns. On some games, the rounds are
    proportional to the number of examples (Warmuth, Glocer & Rätsch 2007).

    Parameters
    ----------
    program : {"auto", "linear", "conic"}
        The kind of restricted program. ``"linear"`` uses HiGHS, and needs a polyhedral relaxation.
        ``"conic"`` uses Clarabel through cvxpy. ``"auto"`` is ``"linear"`` for a polyhedral
        relaxation, and ``"conic"`` otherwise.

    References
    ----------
    Demiriz, Bennett & Shawe-Taylor (2002), Linear programming boosting via column generation.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [-1, 1], [1, 1]], rb.Capped(k=2))
    >>> rb.solve(game, tol=1e-9, method="lpboost").status
    'optimal'
    """

    name = "lpboost"
    program: str = "auto"

    def __post_init__(self) -> None:
        self.choice("program", PROGRAMS)

    def check(self, game: Game) -> None:
        """Raise an InputError if LPBoost cannot solve the game.

        The domain of the weights must have atoms, as an l1 ball has. If `program` is "linear", the
        relaxation must be polyhedral.
        """
        check_atoms(self, game)
        if self.program == "linear":
            check_polyhedral('LPBoost(program="linear")', game, 'LPBoost(program="conic")')

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        # HiGHS keeps its basis between the rounds, so "auto" prefers the linear program.
        is_linear = self.program != "conic" and game.linear_form is not None
        run = LPBoostRun(game, clock, active_set(game), is_linear)
        return run.named(f"lpboost ({run.inner})")


class LPBoostRun(Booster):
    """A run of LPBoost, which adds a column and re-solves the restricted game in each round."""

    active: ActiveSet

    def __init__(self, game: Game, clock: Clock, active: ActiveSet, is_linear: bool) -> None:
        self._game = game
        self._start_basis = Basis(())
        self.inner = "lp" if is_linear else "conic"
        self.active = active
        kind = RestrictedLinearProgram if is_linear else RestrictedConeProgram
        self.program: RestrictedProgram = kind(game, active, clock)
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Use the points and the simplex basis of a warm start, and return this booster.

        The points are a distribution over the examples and weights of the hypotheses.
        """
        if start.d is not None:
            self.d = start.d
        if start.w is not None:
            self.active.load(*start.w)
        if start.basis is not None:
            self._start_basis = start.basis
        return self

    def basis(self) -> Basis | None:
        return self.program.basis() if self.program.slots else None

    def advance(self, best: Best) -> Booster | None:
        """Add the column of `best` to the restricted program, and solve the program.

        Return None if the program already has this column. The distribution d is then optimal.
        """
        program = self.program
        slot = self.active.slot(best)
        # The program already has the best of all columns, so d is optimal for the whole game.
        if slot in program.slots:
            self.end(
                f"the best of all columns is already among the {len(program.slots)} columns of "
                "the restricted game"
            )
            return None
        if program.slots:
            program.include([slot])
        else:
            # The first program needs the columns of the first basis, and those with weight.
            start = self._start_basis
            known = [self.active.slot(Best(j, sign, 0.0, 0.0)) for j, sign in start.columns]
            weighty = np.flatnonzero(self.active.weights[: len(self.active)]).tolist()
            program.include([*known, *weighty, slot])
            program.continue_from(start)
        # The solver meets the constraints of f only up to its own tolerance.
        self.d = self._game.relaxation.repair(program.optimise())
        return self


def continue_from(game: Game, clock: Clock, before: CombinedHypothesis) -> LPBoostRun:
    """Return a run of LPBoost that starts with the columns of an earlier run.

    `before` contains the final weights of the earlier run. After methods that store no columns,
    such as the interior point method, the first program has only the column of the first round.
    """
    # The interior point method stores no columns, so a run after it starts without columns.
    active = before if isinstance(before, ActiveSet) else active_set(game)
    return LPBoostRun(game, clock, active, game.linear_form is not None)
