"""SoftBoost (Warmuth, Glocer & Rätsch 2007), which projects the uniform distribution.

The projection has the smallest relative entropy among the distributions whose edges are small and
whose entries are at most 1/k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import Capped, HardMargin
from relaxboost.solvers.boosters.accuracy import count_steps, working_accuracy
from relaxboost.solvers.boosters.atoms import check_atoms
from relaxboost.solvers.boosters.corrective import active_set
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.lp_weights import LPWeights
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class SoftBoost(Method):
    """SoftBoost, which takes the distribution with small edges that is nearest to the uniform one.

    The next distribution d over the examples minimises the relative entropy to the uniform
    distribution under two constraints. Each d_i is at most 1/k, and the edge of every column so
    far is at most a level. The level is the smallest edge that the weak learner has returned,
    minus the accuracy ν. If no d meets the constraints, some weights w on the columns so far have
    a soft margin above the level, so the gap is at most ν and the run ends.

    The paper solves a linear program over the columns at the end and returns its w. This class
    solves the program in every round, so the lower bound is the best that the columns allow, and
    the run detects the end exactly. This class writes k for the paper's ν, and ν for the paper's
    accuracy. Here ν is tol divided by the size of the hypotheses.

    If tol is small, the first projections hardly change d, because the edges need only fall by ν.
    The bound on the rounds holds, but ``method="auto"`` is faster.

    Parameters
    ----------
    projection_accuracy : float
        The accuracy of a projection, > 0. A projection may end when no edge exceeds its level by
        more than this fraction of ν. The bound on the rounds holds for every value. The default,
        0.01, costs little time and is accurate compared with the change of a level.

    References
    ----------
    Warmuth, Glocer & Rätsch (2007), Boosting algorithms for maximizing the soft margin, NIPS 20.
    The paper proves the bound of 2 ln(m/k)/ν² rounds, and `SoftBoostRun` repeats the proof.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 0.1, "softboost")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "softboost"
    cold = "SoftBoost and TotalBoost start from the uniform distribution without any column"
    projection_accuracy: float = 0.01
    accepts: ClassVar[tuple[type, ...]] = (HardMargin, Capped)
    """The classes of the relaxations that the method can solve."""
    purpose: ClassVar[str] = "is for HardMargin() and Capped(k)"
    """The part of the error message that says which relaxations the method can solve."""

    def __post_init__(self) -> None:
        # The dataclass is frozen, so the checked value is set through object.
        accuracy = positive("projection_accuracy", self.projection_accuracy)
        object.__setattr__(self, "projection_accuracy", accuracy)

    def check(self, game: Game) -> None:
        """Raise an InputError for another relaxation or for a domain without atoms."""
        what = f"{type(self).__name__}()"
        if not isinstance(game.relaxation, self.accepts):
            # TotalBoost cannot solve a game with a cap, but SoftBoost can.
            instead = "softboost" if isinstance(game.relaxation, Capped) else "corrective"
            raise InputError(
                f"{what} {self.purpose}, and this game has {game.relaxation!r}; "
                f'use method="{instead}"'
            )
        check_atoms(self, game)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the largest number of rounds that the method needs for a gap of `tol`.

        The theorem allows 2 log(m/k)/ν² rounds. One more round detects that no distribution meets
        the constraints, and the last round evaluates the final weights. The result is nan if the
        slack of the weak learner is at least `tol`.
        """
        if game.over.value(game.matrix.slack) >= tol:
            return math.nan
        spread = game.relaxation.entropy_range(game.m)
        return 2.0 + count_steps(spread, working_accuracy(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        accuracy = working_accuracy(game, goal.tol)
        return SoftBoostRun(game, accuracy, clock, self.projection_accuracy).named(self.name)


class SoftBoostRun(Booster):
    """A run of SoftBoost. Each round adds a column and projects the uniform distribution.

    The run ends within 2 log(m/k)/ν² projections, for m examples, a cap of 1/k and the accuracy ν.

    1. A projection maximises its dual function D over the multipliers of the columns
       (`ProjectionDual`). While some distribution meets the constraints, D is at most log(m/k),
       the largest relative entropy of a distribution with the cap.
    2. A new column has an edge of at least level + ν for the present d. So the slope of D along
       the multiplier of the new column is at least ν.
    3. Along the multiplier, the slope falls by at most η over a step of length η. A step of length
       ν therefore raises D by at least ν · ν − ν²/2 = ν²/2.
    4. The search for the multipliers starts after this step. D rises by ν²/2 in every round, even
       if the search ends early. So the number of rounds is at most log(m/k) divided by ν²/2.

    Parameters
    ----------
    game : Game
    accuracy : float
        The accuracy ν, by which the level is below the smallest edge so far.
    clock : Clock
        The clock that ends a long linear program.
    projection_accuracy : float
        The accuracy of a projection as a fraction of ν, as in `SoftBoost`.
    """

    inner = "projection"
    active: ActiveSet

    def __init__(
        self,
        game: Game,
        accuracy: float,
        clock: Clock,
        projection_accuracy: float = SoftBoost.projection_accuracy,
    ) -> None:
        self._game = game
        self._accuracy = accuracy
        self._projection_accuracy = projection_accuracy * accuracy
        self._project = game.relaxation.projector(1.0)
        self.least = math.inf
        """The smallest edge that the weak learner has returned so far."""
        self.multipliers = np.zeros(0)
        """The multipliers of the last projection, with one entry for each column so far."""
        self.infeasible = False
        """Whether no distribution meets the constraints of the next projection."""
        self.active = active_set(game)
        self.program = LPWeights(game, self.active, clock)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best`, optimise w, and project the uniform distribution.

        Return None if the last round found that no distribution meets the constraints.
        """
        if self.infeasible:
            return None
        self.least = min(self.least, best.edge)
        slot = self.active.slot(best)
        self.program.include([slot])
        d = self.program.optimise()
        level = self.least - self._accuracy
        margin = self._game.relaxation.relaxed_margin(self.active.u)[0] / self.active.over.scale
        # By duality, a margin below the level means that all edges of some d are below it too.
        self.infeasible = margin >= level
        if self.infeasible:
            # The program's d has the smallest largest edge over the columns so far.
            self.d = self._game.relaxation.repair(d)
            return self
        # Columns of earlier rounds keep their multipliers, so D never falls below its last value.
        slots = self.program.slots
        dual = ProjectionDual(self.active.columns[:, slots], level, self._project)
        # The step of length ν along the new column guarantees the bound on the rounds.
        start = np.append(self.multipliers, np.zeros(len(slots) - self.multipliers.size))
        start[slots.index(slot)] += self._accuracy
        self.multipliers = dual.maximise(start, self._projection_accuracy)
        self.d = dual.distribution(self.multipliers)
        return self
