"""SoftBoost (Warmuth, Glocer & Rätsch 2007): entropy projections below a cap."""

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
from relaxboost.solvers.boosters.restricted_programs import LinearProgram
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class SoftBoost(Method):
    """SoftBoost: the distribution nearest to the uniform one whose edges are all small.

    d_{t+1} minimises the relative entropy to the uniform distribution among the d with
    d_i <= 1/k whose edge is at most min over r <= t of γ_r − ν for every column so far, where γ_r
    is the edge of column r when the weak learner found it. If there is no such d, the weights of
    the columns so far prove a margin of more than min γ − ν, and the run ends.

    The paper returns the w of the linear program over the columns at the end. This class solves
    that program every round, so that the bracket is as good as the columns allow and
    infeasibility is noticed exactly. The paper's ν (the cap is 1/ν) is k here, and its accuracy is
    ν here, tol divided by the size of the atoms.

    With a small tol the first projections hardly move d, since edges need only fall by ν:
    the bound on the rounds holds, and a larger tol, or ``"auto"``, is faster.

    References
    ----------
    Warmuth, Glocer & Rätsch (2007), Boosting algorithms for maximizing the soft margin, NIPS 20:
    2 ln(m/k)/ν² rounds. `SoftBoostRun` says why.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 0.1, "softboost")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "softboost"
    cold = "SoftBoost and TotalBoost begin with the uniform distribution and no column"
    accepts: ClassVar[tuple[type, ...]] = (HardMargin, Capped)
    purpose: ClassVar[str] = "is for HardMargin() and Capped(k)"

    def check(self, game: Game) -> None:
        """Raise an InputError for other relaxations, and for domains without atoms."""
        what = f"{type(self).__name__}()"
        if not isinstance(game.relaxation, self.accepts):
            instead = "softboost" if isinstance(game.relaxation, Capped) else "corrective"
            raise InputError(
                f"{what} {self.purpose}, and this game has {game.relaxation!r}; "
                f'use method="{instead}"'
            )
        check_atoms(self, game)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return 2 log(m/k)/ν² rounded up, one round for infeasibility, and one to look."""
        if game.over.value(game.matrix.slack) >= tol:
            return math.nan
        spread = game.relaxation.entropy_range(game.m)
        return 2.0 + count_steps(spread, working_accuracy(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return SoftBoostRun(game, working_accuracy(game, goal.tol), clock).named(self.name)


class SoftBoostRun(Booster):
    """Projections of the uniform distribution onto fewer and fewer distributions.

    The dual D_t of the projection in round t is at most Δ(d, uniform) <= log(m/k) for any d that
    meets the constraints. A round raises it by ν²/2: the new column has an edge of at least
    level + ν at d_t, so D has a slope of at least ν along its multiplier, and the slope falls by
    at most η over a step of η, which gains η ν − η²/2 at η = ν. The search for the
    multipliers begins there, so the bound holds however early the search ends.
    """

    inner = "projection"
    active: ActiveSet

    def __init__(self, game: Game, accuracy: float, clock: Clock) -> None:
        self._game = game
        self._accuracy = accuracy
        self._project = game.relaxation.projector(1.0)
        self.least = math.inf
        """The smallest edge so far, from which ν is taken for the level of the edges."""
        self.multipliers = np.zeros(0)
        """The multipliers of the last projection, one for each column of the program."""
        self.infeasible = False
        """Whether no distribution meets the constraints, which proves the accuracy."""
        self.active = active_set(game)
        self.program = LinearProgram(game, self.active, clock)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best`, weigh the columns, and project; None once that is infeasible."""
        if self.infeasible:
            return None
        self.least = min(self.least, best.edge)
        slot = self.active.slot(best)
        self.program.include([slot])
        d = self.program.optimise()
        level = self.least - self._accuracy
        margin = self._game.relaxation.relaxed_margin(self.active.u)[0] / self.active.over.scale
        self.infeasible = margin >= level
        if self.infeasible:
            # The margin proves the accuracy; the program's d has the least upper bound here.
            self.d = self._game.relaxation.repair(d)
            return self
        slots = self.program.slots
        dual = ProjectionDual(self.active.columns[:, slots], level, self._project)
        start = np.append(self.multipliers, np.zeros(len(slots) - self.multipliers.size))
        start[slots.index(slot)] += self._accuracy
        self.multipliers = dual.maximise(start, INNER_SHARE * self._accuracy)
        self.d = dual.distribution(self.multipliers)
        return self
