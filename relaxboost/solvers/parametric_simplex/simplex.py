"""The parametric self-dual simplex method on a tableau that grows as needed.

The tableau contains only some variables. Outside it, the examples are nonbasic at a bound, and the
slacks of the hypotheses are basic. The slack of a hypothesis is the largest edge v minus its edge.

The bounds of the program change linearly with a parameter t. The method follows the optimum from t
= 1 down to t = 0, and then computes the variables outside the tableau by products with the margin
matrix. Variables that violate a bound join the tableau, and the method starts again from t = 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations import LinearForm
from relaxboost.solvers.parametric_simplex import kernels
from relaxboost.solvers.parametric_simplex.kernels import (
    TOLERANCES,
    UPDATES_PER_BLOCK,
    PivotOutcome,
    Tableau,
)
from relaxboost.solvers.parametric_simplex.program import (
    MAX_TABLEAU_ENTRIES,
    GameProgram,
    Lost,
    linear_program,
)
from relaxboost.solvers.parametric_simplex.start import crash_basis


class ParametricSimplex:
    """A basis of a game's linear program, from which `solve` finds the optima of similar games.

    After a call of `solve`, the basis is optimal. The next call can move on to a game with the same
    matrix and domain, but other caps or costs.

    Parameters
    ----------
    game : Game
        A game with the matrix and domain of all later games.
    near : Solution
        The solution that gives the first basis. Its game has the same number of examples, the same
        hypotheses and the same domain.
    budget : float
        The maximum number of passes over the margin matrix for the first basis.

    Raises
    ------
    Lost
        If a game has no linear program of the required form, if the two games do not fit, if a
        tableau would be too large, if the solution is far from every vertex, or if the budget is
        used up.
    """

    margins: Vector
    """The margins for the weights from the last call of `solve`."""

    def __init__(self, game: Game, near: Solution, budget: float) -> None:
        form = linear_program(near.game)
        if form is None or linear_program(game) is None:
            raise Lost
        if near.game.m != game.m or near.game.n != game.n or near.game.over != game.over:
            raise Lost
        self._program = GameProgram(game, budget)
        self._form = form
        self._state, self._tableau = crash_basis(self._program, form, near)
        self._factors = 1.0 + np.random.default_rng(0).random(self._program.total + 1)
        """A random factor in [1, 2) for the perturbation of each variable, which breaks ties."""
        self._evaluate(form, 0.0)

    def fits(self, game: Game) -> bool:
        """Return whether a game has the margin matrix and the domain of this program."""
        return game.matrix is self._program.matrix and game.over == self._program.over

    def solve(self, game: Game, clock: Clock, budget: float) -> tuple[Vector, Vector]:
        """Return an optimal distribution d and optimal weights w of a game.

        Parameters
        ----------
        game : Game
            A game for which `fits` returns True.
        clock : Clock
            The clock of the run.
        budget : float
            The maximum number of passes over the margin matrix for this call.

        Raises
        ------
        Lost
            If the game has no linear program of the required form, if the basis is singular, if no
            pivot is possible, if the tableau would be too large, or if the budget is used up. The
            object cannot be used after this error.
        """
        old = self._form
        new = linear_program(game)
        if new is None:
            raise Lost
        self._program.budget = budget
        outcome = PivotOutcome.DONE
        while True:
            # If the tableau could not continue and has no new variable, it would stop again.
            if not self._grow(outcome) and outcome != PivotOutcome.DONE:
                raise Lost
            self._start_at_one(old, new)
            outcome, t = self._follow(clock)
            # If the run stopped at t > 0, the next run starts from the program at this t.
            old = _interpolate(old, new, t)
            self._evaluate(old, t)
            if outcome == PivotOutcome.DONE and self._violation() <= 10.0 * TOLERANCES.feasible:
                self._form = new
                weights = self._state.z[0, self._program.m + 1 : self._program.total]
                return self._state.x[0, : self._program.m].copy(), self._program.combine(weights)

    def _violation(self) -> float:
        # A violation is the distance of a variable from its bounds, or the size of a reduced cost
        # with the wrong sign, at t = 0.
        _, _, side, x, z, lower, upper = self._state
        primal = max((lower[0] - x[0]).max(), (x[0] - upper[0]).max())
        return float(max(primal, (-side * z[0]).max()))

    # The following methods add variables to the tableau.

    def _grow(self, outcome: PivotOutcome) -> bool:
        # If no variable of the tableau could enter or leave the basis, variables are added even if
        # none of them violates a bound.
        m = self._program.m
        basic, nonbasic, side, x, z, _, _ = self._state
        # An example violates its bound if its reduced cost has the wrong sign.
        prices = side[:m] * z[0, :m]
        examples = self._worst(0, prices, nonbasic < m, outcome == PivotOutcome.NO_COLUMN)
        if examples.size:
            self._add_examples(examples)
        # The slack of a hypothesis violates its bound 0 if the edge of the hypothesis exceeds v.
        slack = x[0, m + 1 : -1]
        if self._program.over.two_sided:
            # Of h and -h only the one with the positive edge can become tight soon.
            slack = np.where(slack < x[0, m], slack, np.inf)
        slacks = self._worst(m + 1, slack, basic > m, outcome == PivotOutcome.NO_ROW)
        if slacks.size:
            self._add_slacks(slacks)
        return bool(examples.size or slacks.size)

    def _worst(self, first: int, rooms: Vector, loose: Any, at_least_some: bool) -> Whole:
        # The entry i of `rooms` is the distance of the variable `first` + i from a violation.
        # `loose` marks the columns of nonbasic examples, or the rows of basic slacks, which are in
        # the tableau only because a later pivot may need them.
        basic, nonbasic = self._state[:2]
        size = max(
            nonbasic.size - int(np.count_nonzero(nonbasic < self._program.m)), UPDATES_PER_BLOCK
        )
        rooms = rooms.copy()
        inside = np.concatenate([basic, nonbasic]) - first
        inside = inside[(inside >= 0) & (inside < rooms.size)]
        rooms[inside] = np.inf
        # With more variables in the tableau, fewer runs from t = 1 to 0 are necessary.
        count = size - int(np.count_nonzero(loose))
        violated = int(np.count_nonzero(rooms < -TOLERANCES.feasible))
        if violated or at_least_some:
            # If many variables violate a bound, only some are added. Most violations then vanish.
            count = max(count, min(max(violated, UPDATES_PER_BLOCK), size))
        count = min(count, int(np.isfinite(rooms).sum()))
        if count <= 0:
            return inside[:0]
        # The tableau would not fit into memory.
        if self._tableau.table.size + count * max(self._tableau.table.shape) > MAX_TABLEAU_ENTRIES:
            raise Lost
        return first + np.sort(np.argpartition(rooms, count - 1)[:count])

    def _add_examples(self, new: Whole) -> None:
        # The new examples are nonbasic before and after the call.
        m = self._program.m
        total = self._program.total
        basic, nonbasic = self._state[:2]
        table = self._tableau.apply()
        # A new example changes the nonbasic slacks and Σd, which the basic variables compensate.
        held = np.flatnonzero((nonbasic > m) & (nonbasic < total))
        columns = table[:, held] @ self._program.part(new, nonbasic[held] - m - 1).T
        columns -= table[:, nonbasic == total]
        # The example changes the basic slacks directly, too.
        slack = np.flatnonzero((basic > m) & (basic < total))
        columns[slack] -= self._program.part(new, basic[slack] - m - 1).T
        self._tableau = Tableau.of(np.hstack([table, columns]))
        self._state = self._state._replace(nonbasic=np.append(nonbasic, new))

    def _add_slacks(self, new: Whole) -> None:
        # The new slacks are basic before and after the call.
        m = self._program.m
        basic, nonbasic = self._state[:2]
        table = self._tableau.apply()
        is_v = np.flatnonzero(basic == m)
        # v has a row if it is basic, and is a nonbasic variable otherwise.
        row_of_v = table[is_v[0]] if is_v.size else 1.0 * (nonbasic == m)
        # Basic examples enter s by their rows, and nonbasic examples by their columns.
        inner = np.flatnonzero(basic < m)
        outer = np.flatnonzero(nonbasic < m)
        columns = new - m - 1
        rows = row_of_v - self._program.part(basic[inner], columns).T @ table[inner]
        rows[:, outer] -= self._program.part(nonbasic[outer], columns).T
        self._tableau = Tableau.of(np.vstack([table, rows]))
        self._state = self._state._replace(basic=np.append(basic, new))

    # The following methods compute the values of the variables.

    def _evaluate(self, form: LinearForm, t: float) -> None:
        # Products with the margin matrix give all variables at t, and iterative refinement removes
        # the rounding errors that the pivots have left.
        m = self._program.m
        state = self._state
        state.lower[0, :m] = form.lower
        state.upper[0, :m] = form.upper
        state.x[0, state.basic] += t * state.x[1, state.basic]
        self._place_nonbasic(0)
        residual = self._residual(0)
        # The tableau maps the residual to a correction.
        if np.abs(residual).max() > TOLERANCES.residual:
            state.x[0, state.basic] += self._tableau.apply() @ residual
            self._residual(0)
        self._price(form)

    def _place_nonbasic(self, k: int) -> None:
        # If k is 0, the values at t = 0 are set. If k is 1, the slopes in t are set.
        m = self._program.m
        basic, nonbasic, side, x, _, lower, upper = self._state
        # Every example outside the basis is nonbasic, also outside the tableau.
        is_nonbasic = np.ones(m, dtype=bool)
        is_nonbasic[basic[basic < m]] = False
        ids = np.append(np.flatnonzero(is_nonbasic), nonbasic[nonbasic >= m])
        x[k, ids] = np.where(side[ids] < 0.0, upper[k, ids], lower[k, ids])

    def _residual(self, k: int) -> Vector:
        # The basic slacks are recomputed from d and v. The error of a nonbasic variable is its
        # value, which does not change, minus the value that follows from d and v.
        nonbasic = self._state.nonbasic
        x = self._state.x
        held = x[k, nonbasic]
        x[k] = self._program.complete(x[k])
        residual: Vector = held - x[k, nonbasic]
        x[k, nonbasic] = held
        return residual

    def _price(self, form: LinearForm) -> None:
        # The reduced costs of the examples and of v follow from those of the slacks and of Σd.
        m = self._program.m
        state = self._state
        reduced = self._reduced_costs(form)
        # The reduced costs of basic variables are 0, apart from the rounding errors of the pivots.
        residual = np.append(reduced, np.zeros(self._program.signed + 1))[state.basic]
        if np.abs(residual).max() > TOLERANCES.residual:
            state.z[0, state.nonbasic] += residual @ self._tableau.apply()
            reduced = self._reduced_costs(form)
        state.z[0, : m + 1] = reduced
        state.z[0, state.basic] = 0.0

    def _reduced_costs(self, form: LinearForm) -> Vector:
        # The reduced costs of the slacks are the weights of the hypotheses.
        program = self._program
        z = self._state.z[0]
        weights = z[program.m + 1 : -1]
        self.margins = program.margins(weights)
        return np.append(form.cost + self.margins - z[-1], program.over.scale - weights.sum())

    # The following methods make the basis optimal at t = 1, and then move t to 0.

    def _start_at_one(self, old: LinearForm, new: LinearForm) -> None:
        # The bounds change linearly from those of `old` at t = 1 to those of `new` at t = 0. The
        # costs are those of `new` for every t.
        m = self._program.m
        state = self._state
        for bound, target, source in (
            (state.lower, new.lower, old.lower),
            (state.upper, new.upper, old.upper),
        ):
            bound[1] = 0.0
            bound[0, :m] = target
            bound[1, :m] = source - target
        state.x[1] = 0.0
        self._place_nonbasic(0)
        self._place_nonbasic(1)
        if old is not new:
            # The basic variables move with the bounds, and have their current values at t = 1.
            residual = self._residual(1)
            state.x[1, state.basic] += self._tableau.apply() @ residual
            state.x[0, state.basic] -= state.x[1, state.basic]
        if (new.cost != old.cost).any():
            self._price(new)
        self._perturb()

    def _perturb(self) -> None:
        # Perturbations, which are 0 at t = 0, make the current basis optimal at t = 1. They differ
        # between variables, so two variables rarely reach their bounds at the same t.
        factors = self._factors
        basic, nonbasic, side, x, z, lower, upper = self._state
        # All bounds widen. The sum Σd = 1 has side 0 and keeps its value.
        shift = TOLERANCES.shift_x / self._program.m
        for j in (basic, nonbasic):
            lower[1, j] -= shift * factors[j]
            upper[1, j] += shift * factors[j]
        # Nonbasic variables move with their bounds, and the basic variables follow.
        away = shift * side[nonbasic] * factors[nonbasic]
        x[1, nonbasic] -= away
        x[1, basic] -= self._tableau.apply() @ away
        # Violated bounds widen further, each by another factor so that they meet at distinct t.
        below = (x[:, basic] - lower[:, basic]).sum(axis=0)
        above = (upper[:, basic] - x[:, basic]).sum(axis=0)
        lower[1, basic] += factors[basic] * np.minimum(below, 0.0)
        upper[1, basic] -= factors[basic] * np.minimum(above, 0.0)
        # Every reduced cost gets the right sign at t = 1.
        excess = TOLERANCES.shift_z - np.minimum(side[nonbasic] * z[0, nonbasic], 0.0)
        z[1] = 0.0
        z[1, nonbasic] = side[nonbasic] * factors[nonbasic] * excess

    def _follow(self, clock: Clock) -> tuple[PivotOutcome, float]:
        t = 1.0
        outcome = PivotOutcome.FULL
        while outcome == PivotOutcome.FULL:
            clock.check()
            self._tableau.apply()
            outcome, t = kernels.follow(self._tableau, self._state, t)
            self._program.spend_pivots(int(self._tableau.pending[0]), self._tableau.table.size)
        if outcome == PivotOutcome.SINGULAR:
            raise Lost
        return outcome, t


def _interpolate(old: LinearForm, new: LinearForm, t: float) -> LinearForm:
    if t == 0.0:
        return new
    lower = new.lower + t * (old.lower - new.lower)
    upper = new.upper + t * (old.upper - new.upper)
    return replace(new, lower=lower, upper=upper)
