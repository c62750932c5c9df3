"""SoftBoost (Warmuth, Glocer & Rätsch 2007): entropy projections of capped distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import Capped, HardMargin
from relaxboost.solvers.boosters.accuracy import INNER_SHARE, count_steps, working_accuracy
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.restricted_programs import RestrictedLinearProgram
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class SoftBoost(Method):
    """SoftBoost: each d is the distribution nearest to the uniform one with only small edges.

    Let Γ be the smallest edge that the weak learner has returned so far, and ν the accuracy. The
    next d minimises the relative entropy to the uniform distribution, among the d with d_i <= 1/k
    at which every column found so far has an edge of at most Γ − ν. If there is no such d, some
    weights of these columns prove a margin of more than Γ − ν, and the run ends.

    The paper solves the linear program over the columns once, at the end, and returns its w. This
    class solves the program in every round. So the bracket is as good as the columns allow, and the
    run notices exactly when there is no such d. The ν of the paper, whose cap is 1/ν, is k here.
    The accuracy of the paper is ν here, which is tol divided by the size of the atoms.

    If tol is small, the first projections hardly move d, since edges need only fall by ν. The bound
    on the rounds holds, but a larger tol or ``method="auto"`` is faster.

    References
    ----------
    Warmuth, Glocer & Rätsch (2007), Boosting algorithms for maximizing the soft margin, NIPS 20:
    2 ln(m/k)/ν² rounds. `SoftBoostRun` has the proof.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 0.1, "softboost")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "softboost"
    cold = "begins with the uniform distribution and no column"
    accepts: ClassVar[tuple[type, ...]] = (HardMargin, Capped)
    purpose: ClassVar[str] = "is for HardMargin() and Capped(k)"

    def check(self, game: Game) -> None:
        """Raise an InputError for other relaxations, and for domains without atoms."""
        what = f"{type(self).__name__}()"
        if not isinstance(game.relaxation, self.accepts):
            instead = "softboost" if isinstance(game.relaxation, Capped) else "auto"
            raise InputError(
                f"{what} {self.purpose}, and this game has {game.relaxation!r}; "
                f'use method="{instead}"'
            )
        check_atoms(self, game)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return 2 log(m/k)/ν² rounded up, and two rounds.

        One of these notices that no d is left, and the other evaluates the last d.
        """
        if game.over.value(game.matrix.slack) >= tol:
            return math.nan
        spread = game.relaxation.entropy_range(game.m)
        return 2.0 + count_steps(spread, working_accuracy(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return SoftBoostRun(game, working_accuracy(game, goal.tol), clock).named(self.name)


class SoftBoostRun(Booster):
    """Each round projects the uniform distribution onto a smaller set of distributions.

    The bound on the rounds follows from the dual D of the projection (`ProjectionDual`).

    1. D is at most the relative entropy of any d that meets the constraints, so D <= log(m/k).
    2. At the present d the edge of a new column exceeds the level of the constraints by at least ν.
       So D has a slope of at least ν in the multiplier of this column.
    3. Over a step η the slope falls by at most η. So the step η = ν raises D by at least ν²/2.
    4. The search for the multipliers starts from this step. It never lowers D, so every round
       raises D by at least ν²/2, however early the search ends.
    """

    inner = "projection"
    active: ActiveSet

    def __init__(self, game: Game, accuracy: float, clock: Clock) -> None:
        self._game = game
        self._accuracy = accuracy
        self._project = game.relaxation.projector(1.0)
        self.least = math.inf
        """The smallest edge Γ so far. All edges of the next d must be at most Γ − ν."""
        self.multipliers = np.zeros(0)
        """The multipliers of the last projection. Each column of the linear program has one."""
        self.infeasible = False
        """Whether no distribution meets the constraints. If so, the bracket is narrow enough."""
        self.active = active_set(game)
        self.program = RestrictedLinearProgram(game, self.active, clock)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best`, solve the linear program, and project.

        The method returns None in the round after the one that found no distribution.
        """
        if self.infeasible:
            self.why_ended = (
                "no distribution meets its constraints, which proves its accuracy of "
                f"{self._accuracy:.3g}"
            )
            return None
        self.least = min(self.least, best.edge)
        slot = self.active.slot(best)
        self.program.include([slot])
        d = self.program.optimise()
        # The margins are scaled to atoms of size 1, for which ν and the edges are stated.
        level = self.least - self._accuracy
        margin = self._game.relaxation.relaxed_margin(self.active.u)[0] / self.active.over.scale
        self.infeasible = margin >= level
        if self.infeasible:
            # The margin proves the accuracy. The d of the program has the smallest upper bound for
            # these columns, so the last round shows it.
            self.d = self._game.relaxation.repair(d)
            return self
        slots = self.program.slots
        dual = ProjectionDual(self.active.columns[:, slots], level, self._project)
        # Old multipliers are a good start. The step of ν on the new column gives the bound.
        start = np.append(self.multipliers, np.zeros(len(slots) - self.multipliers.size))
        start[slots.index(slot)] += self._accuracy
        self.multipliers = dual.maximise(start, INNER_SHARE * self._accuracy)
        self.d = dual.distribution(self.multipliers)
        return self
