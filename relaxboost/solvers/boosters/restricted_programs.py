"""The game restricted to the columns found so far, as a linear or cone program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices.base import MAX_DENSE_ENTRIES
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.restricted_master import ProgramError, RestrictedMaster


class RestrictedProgram(ABC):
    """A linear or cone program for the game restricted to the columns found so far.

    Parameters
    ----------
    game : Game
        A game over a set with atoms, such as an l1 ball.
    active : ActiveSet
        The columns found so far. `optimise` replaces their weights by the optimal weights.
    clock : Clock
        The clock with the solver's deadline.
    """

    def __init__(self, game: Game, active: ActiveSet, clock: Clock) -> None:
        self._game = game
        self._active = active
        self._clock = clock
        self.slots: list[int] = []
        """The position of each column of the program in the arrays of the `ActiveSet`."""

    @property
    def keys(self) -> list[tuple[int, int]]:
        """The columns of the program, as pairs (index in the margin matrix, sign)."""
        return [self._active.keys[slot] for slot in self.slots]

    def basis(self) -> Basis:
        """Return the columns as a `Basis`, from which another restricted program can start."""
        return Basis(tuple(self.keys))

    def continue_from(self, basis: Basis) -> None:
        """Start the solver from the basis of another program. Cone solvers ignore the basis."""
        return

    def include(self, slots: Iterable[int]) -> None:
        """Add columns that the program does not have yet.

        `slots` contains their positions in the active set. Raise a ProgramError if the program
        would have more than `MAX_DENSE_ENTRIES` entries.
        """
        new = [slot for slot in dict.fromkeys(slots) if slot not in self.slots]
        count = len(self.slots) + len(new)
        if self._game.m * count > MAX_DENSE_ENTRIES:
            raise ProgramError(
                f"the restricted program of {self._game.m} examples and {count} hypotheses would "
                f"have more than {MAX_DENSE_ENTRIES:.0e} entries, which is too large; use a larger "
                "tol"
            )
        while new:
            # Each call copies the whole program and the new columns. If a call adds as many columns
            # as the program has, there are few calls, and no copy of new columns is larger than
            # the program.
            share = max(1, len(self.slots))
            self._add(self._active.columns[:, new[:share]])
            self.slots += new[:share]
            new = new[share:]

    def optimise(self) -> Vector:
        """Solve the program, store the weights in the active set, and return the distribution."""
        # Columns of the active set that are not in the program get no weight.
        d, multipliers = self._solve()
        weights = np.zeros(len(self._active))
        weights[self.slots] = multipliers
        self._active.set_weights(weights)
        return d

    @abstractmethod
    def _add(self, columns: NDArray[Any]) -> None:
        """Add signed columns to the program."""

    @abstractmethod
    def _solve(self) -> tuple[Vector, Vector]:
        """Return an optimal distribution and optimal column weights >= 0."""


class RestrictedLinearProgram(RestrictedProgram):
    """The linear program of a restricted game with a polyhedral relaxation.

    HiGHS keeps the program and its basis between the rounds.
    """

    def __init__(self, game: Game, active: ActiveSet, clock: Clock) -> None:
        super().__init__(game, active, clock)
        assert game.linear_form is not None
        self._master = RestrictedMaster(game.linear_form, game.m, active.over)

    def basis(self) -> Basis:
        """Return the simplex basis of HiGHS, with only the columns of active constraints."""
        return self._master.basis(self.keys)

    def continue_from(self, basis: Basis) -> None:
        """Start HiGHS from the basis of another program with the same relaxation."""
        # The basis of a cone program lists columns only, so HiGHS cannot start from it.
        if basis.sides:
            self._master.go_on(basis, self.keys)

    def _add(self, columns: NDArray[Any]) -> None:
        self._master.add(columns)

    def _solve(self) -> tuple[Vector, Vector]:
        return self._master.solve(self._clock)


class RestrictedConeProgram(RestrictedProgram):
    """The cone program of a restricted game, for any relaxation with a cvxpy expression.

    Clarabel solves the program from scratch in each round, to an accuracy of about 1e-8.
    """

    def _add(self, columns: NDArray[Any]) -> None:
        """Do nothing: `_solve` builds the cone program from the active set."""

    def _solve(self) -> tuple[Vector, Vector]:
        import cvxpy as cp

        over = self._active.over
        d = cp.Variable(self._game.m, nonneg=True)
        # If the domain contains w = 0, then v, the largest edge, is at least 0.
        v = cp.Variable(nonneg=over.holds_zero)
        columns = self._active.columns[:, self.slots].astype(np.float64)
        penalty, constraints = self._game.relaxation.cvxpy_penalty(d)
        edges = columns.T @ d <= v
        problem = cp.Problem(
            cp.Minimize(penalty + over.scale * v), [edges, cp.sum(d) == 1, *constraints]
        )
        status, _ = solve_problem(problem)
        if status not in SOLVED or d.value is None or np.max(d.value) <= 0.0:
            raise ProgramError(
                f"the cone solver Clarabel ended with status {status} on the game "
                f"restricted to {len(self.slots)} columns"
            )
        # The multipliers of the edge constraints are the weights w, >= 0 up to the accuracy.
        return np.asarray(d.value), np.maximum(np.asarray(edges.dual_value).reshape(-1), 0.0)
