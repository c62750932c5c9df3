"""SoftBoost (Warmuth, Glocer & Rätsch 2007), which computes distributions by entropy projection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import Capped, HardMargin
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.accuracy import INNER_ACCURACY_RATIO, count_steps, working_accuracy
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.restricted_programs import RestrictedLinearProgram
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms, check_relaxation
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class SoftBoost(Method):
    """SoftBoost, which projects the uniform distribution onto those with small edges.

    Let Γ be the smallest edge so far, and let ν be the accuracy. The distribution d of the next
    round minimises the relative entropy to the uniform distribution subject to two constraints: d_i
    <= 1/k for every example i, and every column found so far has an edge of at most Γ − ν. If no d
    meets these constraints, some convex combination of these columns has a soft margin of at least
    Γ − ν, and the run ends.

    The paper solves the linear program for the weights w only at the end. This class solves it in
    every round, so the bracket [lower, upper] is as narrow as the columns allow. The paper writes
    1/ν for the cap 1/k, and δ for the accuracy. The accuracy ν of this class is tol divided by the
    size of the atoms, such as the radius of an l1 ball.

    If tol is small, the first rounds change d only a little. A larger tol or ``method="auto"`` is
    then faster.

    References
    ----------
    Warmuth, Glocer & Rätsch (2007), Boosting algorithms for maximizing the soft margin, NIPS 20:
    2 ln(m/k)/ν² rounds. The proof is in `SoftBoostRun`.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 0.1, "softboost")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "softboost"
    cold = "always starts from the uniform distribution, without columns"
    accepts: ClassVar[tuple[type, ...]] = (HardMargin, Capped)
    purpose: ClassVar[str] = "is for HardMargin() and Capped(k)"

    def check(self, game: Game) -> None:
        """Raise an InputError if SoftBoost or its subclass TotalBoost cannot solve the game.

        SoftBoost needs `HardMargin` or `Capped`, and TotalBoost needs `HardMargin`. Both need a
        domain with atoms, such as an l1 ball.
        """
        # TotalBoost rejects a cap, and its generalisation SoftBoost accepts one.
        instead = "softboost" if isinstance(game.relaxation, Capped) else "auto"
        check_relaxation(self, game, self.accepts, self.purpose, instead)
        check_atoms(self, game)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the proved bound 2 log(m/k)/ν², rounded up, plus 2, on the number of rounds.

        Here m is the number of examples, 1/k is the largest weight of an example, and ν is the
        accuracy. The result is nan if the weak learner may miss the best edge by tol or more.
        """
        # One additional round finds that no distribution meets the edge constraints, and the other
        # evaluates the last distribution.
        if game.over.value(game.matrix.slack) >= tol:
            return math.nan
        spread = game.entropy_range
        return 2.0 + count_steps(spread, working_accuracy(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return SoftBoostRun(game, working_accuracy(game, goal.tol), clock).named(self.name)


class SoftBoostRun(Booster):
    """A run of SoftBoost, which adds an edge constraint to the projection in each round.

    Γ is the smallest edge so far, ν is the accuracy, and the m examples have the cap 1/k. The bound
    on the rounds follows from the dual function D of the projection (`ProjectionDual`).

    1. D is at most the relative entropy of any d that meets the constraints, so D <= log(m/k).
    2. The constraints limit the edges to the level Γ − ν. At the current d the edge of a new column
       is at least Γ. So the slope of D in the multiplier of this column is at least ν.
    3. If the multiplier grows by η, the slope decreases by at most η. So the step η = ν increases D
       by at least ν²/2.
    4. The search for the multipliers starts after this step and never decreases D. So every round
       increases D by at least ν²/2, even if the search ends early.
    """

    inner = "projection"
    active: ActiveSet

    def __init__(self, game: Game, accuracy: float, clock: Clock) -> None:
        self._game = game
        self._accuracy = accuracy
        self._project = projector(game.relaxation, 1.0)
        self.least = math.inf
        """The smallest edge so far."""
        self.multipliers = np.zeros(0)
        """The multipliers of the edge constraints in the last entropy projection."""
        self.infeasible = False
        """Whether no distribution meets the edge constraints, so that the next round is the
        last."""
        self.active = active_set(game)
        self.program = RestrictedLinearProgram(game, self.active, clock)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best`, solve the linear program, and compute d by entropy projection.

        Return None if the edge constraints were infeasible in the previous round.
        """
        if self.infeasible:
            self.end(
                "no distribution meets the constraints on the edges, which proves that the run has "
                f"the accuracy {self._accuracy:.3g}"
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
            # these columns, so the last round evaluates this d.
            self.d = self._game.relaxation.repair(d)
            return self
        slots = self.program.slots
        dual = ProjectionDual(self.active.columns[:, slots], level, self._project)
        # Old multipliers are a good start. The step of ν on the new column gives the bound.
        start = np.append(self.multipliers, np.zeros(len(slots) - self.multipliers.size))
        start[slots.index(slot)] += self._accuracy
        self.multipliers = dual.maximise(start, INNER_ACCURACY_RATIO * self._accuracy)
        self.d = dual.distribution(self.multipliers)
        return self
