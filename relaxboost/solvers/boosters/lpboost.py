"""LPBoost: column generation on the game itself (SS09, Eq. 13 with β → 0)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices import Best
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.hypothesis import ActiveSet, CombinedHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.restricted_master import ProgramError, RestrictedMaster
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart

PROGRAMS = ("auto", "linear", "conic")

MAX_ENTRIES = 50_000_000
"""Numbers in a restricted program: HiGHS takes 83 bytes for each, 4 GB in all."""

ENTRIES_PER_CALL = 2_000_000
"""Numbers that HiGHS is handed in one call, each of which takes some thirty bytes meanwhile."""


@dataclass(frozen=True)
class LPBoost(Method):
    """Each round solves the game restricted to the columns seen so far, exactly.

    The weak learner then returns the best column for the restricted optimum d. Either that column
    has a larger edge than all columns in the program, or the restricted optimum is the optimum. The
    linear program is kept in HiGHS with its basis, so that a new column costs a few dual simplex
    pivots. There is no bound on the rounds better than the number of columns: Warmuth, Glocer &
    Rätsch (2007) give games that take a round for each example.

    Parameters
    ----------
    program : {"auto", "linear", "conic"}
        How the restricted game is solved: as a linear program, which needs a polyhedral f, or as a
        cone program for Clarabel, through cvxpy. ``"auto"`` takes the linear one where it can.

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
        """Raise an InputError for a domain without atoms, or an f that has no linear program."""
        if not isinstance(game.over, AtomicSet):
            raise InputError(
                f"LPBoost() re-weighs the columns found so far, and over {game.over!r} every "
                'column has weight from the start; use method="fully-corrective"'
            )
        if self.program == "linear" and game.linear_form is None:
            raise InputError(
                f"{game.relaxation!r} is not polyhedral, so its restricted game has no linear "
                'program; use LPBoost(program="conic"), or method="erlpboost"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        is_linear = self.program != "conic" and game.linear_form is not None
        run = LinearProgramRun if is_linear else ConeProgramRun
        return run(game, clock, active_set(game)).named(f"lpboost ({run.inner})")


class RestrictedProgramRun(Booster):
    """A round solves the game restricted to the columns seen so far, and asks for a better one."""

    active: ActiveSet

    def __init__(self, game: Game, clock: Clock, active: ActiveSet) -> None:
        self.active = active
        self._game = game
        self._clock = clock
        self._slots: list[int] = []
        self._keys: list[tuple[int, int]] = []
        self._start_basis = Basis(())
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Show the d of a start first, and begin with its columns and its basis."""
        if start.d is not None:
            self.d = start.d
        if start.w is not None:
            self.active.load(*start.w)
        if start.basis is not None:
            self._start_basis = start.basis
        return self

    def basis(self) -> Basis | None:
        return Basis(tuple(self._keys)) if self._keys else None

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best` and solve again; return None if the program has it already."""
        first = not self._slots
        if first:
            self._gather()
        slot = self.active.slot(best)
        if slot in self._slots and not first:
            return None
        self._include(slot)
        d, multipliers = self._solve()
        self.d = self._game.relaxation.repair(d)  # d is feasible up to the solver's tolerance
        weights = np.zeros(len(self.active))
        weights[self._slots] = multipliers
        self.active.set_weights(weights)
        return self

    def _gather(self) -> None:
        """Include the columns that have weight by now, and those of the basis of a start."""
        known = [self.active.slot(Best(j, sign, 0.0, 0.0)) for j, sign in self._start_basis.columns]
        used = np.flatnonzero(self.active.weights[: len(self.active)]).tolist()
        self._include(*known, *used)

    def _include(self, *slots: int) -> None:
        """Add the columns of these slots to the program, unless it has them."""
        new = [slot for slot in dict.fromkeys(slots) if slot not in self._slots]
        count = len(self._slots) + len(new)
        if self._game.m * count > MAX_ENTRIES:
            raise ProgramError(
                f"a program of {self._game.m} examples and {count} hypotheses would have more than "
                f"{MAX_ENTRIES:.0e} numbers; ask for a larger tol"
            )
        if new:
            self._add(self.active.columns, new)
            self._slots += new
            self._keys += [self.active.keys[slot] for slot in new]

    @abstractmethod
    def _add(self, columns: NDArray[Any], slots: list[int]) -> None:
        """Add these columns to a program that outlives the round."""

    @abstractmethod
    def _solve(self) -> tuple[Vector, Vector]:
        """Return the optimal d, and a multiplier >= 0 for each of the columns included."""


class LinearProgramRun(RestrictedProgramRun):
    """The restricted program of a polyhedral f, kept warm in HiGHS."""

    inner = "lp"

    def __init__(self, game: Game, clock: Clock, active: ActiveSet) -> None:
        super().__init__(game, clock, active)
        self._master: RestrictedMaster | None = None

    @property
    def _form(self) -> LinearForm:
        form = self._game.linear_form
        assert form is not None
        return form

    def basis(self) -> Basis | None:
        return self._master.basis(self._keys) if self._master is not None and self._keys else None

    def _add(self, columns: NDArray[Any], slots: list[int]) -> None:
        if self._master is None:
            self._master = RestrictedMaster(self._form, self._game.m, self.active.over)
        step = max(1, ENTRIES_PER_CALL // self._game.m)
        for first in range(0, len(slots), step):
            self._master.add(columns[:, slots[first : first + step]])

    def _solve(self) -> tuple[Vector, Vector]:
        assert self._master is not None
        if self._start_basis.sides:
            self._master.go_on(self._start_basis, self._keys)
            self._start_basis = Basis(())
        return self._master.solve(self._clock)


class ConeProgramRun(RestrictedProgramRun):
    """The restricted program of any f with a cvxpy expression, solved by Clarabel every round.

    It is accurate to some 1e-8 where smoothing crawls, at milliseconds to seconds a round.
    """

    inner = "conic"

    def _add(self, columns: NDArray[Any], slots: list[int]) -> None:
        """Do nothing: the program is written again every round."""

    def _solve(self) -> tuple[Vector, Vector]:
        import cvxpy as cp

        over = self.active.over
        d = cp.Variable(self._game.m, nonneg=True)
        v = cp.Variable(nonneg=over.holds_zero)
        columns = self.active.columns[:, self._slots].astype(np.float64)
        penalty, constraints = self._game.relaxation.cvxpy_penalty(d)
        edges = columns.T @ d <= v
        problem = cp.Problem(
            cp.Minimize(penalty + over.scale * v), [edges, cp.sum(d) == 1, *constraints]
        )
        status, _ = solve_problem(problem)
        if status not in SOLVED or d.value is None or np.max(d.value) <= 0.0:
            raise ProgramError(f"Clarabel ended with status {status} on the restricted problem")
        return np.asarray(d.value), np.maximum(np.asarray(edges.dual_value).reshape(-1), 0.0)


def continue_from(game: Game, clock: Clock, before: CombinedHypothesis) -> RestrictedProgramRun:
    """Return column generation that begins with the columns that have weight in `before`."""
    active = before if isinstance(before, ActiveSet) else active_set(game)
    kind = ConeProgramRun if game.linear_form is None else LinearProgramRun
    return kind(game, clock, active)
