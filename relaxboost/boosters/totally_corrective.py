"""The totally corrective update of Shalev-Shwartz & Singer (2009), Eq. 13."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost.boosters.active import ActiveSet
from relaxboost.boosters.corrective import Corrective, active_set
from relaxboost.boosters.master import ProgramError, RestrictedMaster
from relaxboost.boosters.smoothing import Smoother
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations.numerical import SOLVED, solve_problem

Vector = NDArray[np.float64]


class TotallyCorrectiveSmoothed:
    """w_{t+1} maximises the smoothed relaxed margin D over the columns seen so far.

    The inner maximisation starts with the best step towards the new column, which alone gains
    what Fig. 1's step would, so that the bound on the rounds carries over. Pairwise steps over
    the columns seen follow until their own Frank–Wolfe gap is half of the round's gap or, near
    the end, of the target: a closer maximum costs more than the rounds it saves
    (`benchmarks/inner.py`).
    """

    inner = "smoothed"
    step = float("nan")

    def __init__(
        self,
        game: Game,
        beta: float,
        target: float,
        deadline: float = np.inf,
        smoother: Smoother | None = None,
    ) -> None:
        self.active = active_set(game, store=True)
        self._deadline = deadline  # on time.perf_counter(); then a round ends where it stands
        self._pairwise = Corrective(game, beta, "pairwise", self.active, smoother)
        self._target = target
        self.d = self._pairwise.d

    def advance(self, best: Best) -> bool:
        """Add the column `best` and re-weigh all of them."""
        active, inner = self.active, self._pairwise
        goal = 0.5 * max(active.gap(inner.d, best), self._target)
        inner.towards(best)
        while time.perf_counter() < self._deadline:
            best = active.best(inner.d)
            if active.gap(inner.d, best) <= goal:
                break
            inner.advance(best)
            if inner.step == 0.0:
                break
        self.d = inner.d
        return True


class Program(ABC):
    """Eq. 13 with β -> 0: (d, w) solve the program restricted to the columns seen so far.

    d_t is the distribution of least penalty plus largest edge over those columns; the weak learner
    either finds a column with a larger edge or proves the restricted optimum to be the whole one.
    """

    step = float("nan")
    inner: ClassVar[str]

    def __init__(self, game: Game, active: ActiveSet | None = None) -> None:
        """Start where runs start, or from the columns with weight in `active`."""
        self.active = active_set(game, store=True) if active is None else active
        self._game, self._relaxation = game, game.relaxation
        self._slots: list[int] = []  # of the rows of the program, in their order
        self.d = game.relaxation.center(game.m)
        self._prepare()
        for slot in np.flatnonzero(self.active.weights[: len(self.active)]).tolist():
            self._include(slot)
        if self._slots:
            self._solve()

    def advance(self, best: Best) -> bool:
        """Add the column `best` and solve again; False if the program has it already."""
        slot = self.active.slot(best)
        if slot in self._slots:
            return False
        self._include(slot)
        self._solve()
        return True

    @abstractmethod
    def _prepare(self) -> None:
        """Set up the program without columns."""

    def _include(self, slot: int) -> None:
        """Add the column of `slot`."""
        self._slots.append(slot)

    def _solve(self) -> None:
        d, multipliers = self._optimum()
        self.d = self._relaxation.repair(d)  # the solver's d is feasible up to its tolerance
        weights = np.zeros(len(self.active))
        weights[self._slots] = multipliers
        self.active.set_weights(weights)

    @abstractmethod
    def _optimum(self) -> tuple[Vector, Vector]:
        """Return the optimal d and a multiplier >= 0 for each of the columns included."""


class TotallyCorrectiveLP(Program):
    """The restricted program of a polyhedral f, kept warm in HiGHS."""

    inner = "lp"

    def _prepare(self) -> None:
        form = self._relaxation.linear_form(self._game.m)
        if form is None:
            raise InputError(
                f"{self._relaxation!r} is not polyhedral, so Eq. 13 has no linear program; "
                'use inner="conic" or inner="smoothed"'
            )
        self._master = RestrictedMaster(form, self._game.m, self.active.over)

    def _include(self, slot: int) -> None:
        super()._include(slot)
        self._master.add(self.active.columns[:, slot])

    def _optimum(self) -> tuple[Vector, Vector]:
        return self._master.solve()


class TotallyCorrectiveConic(Program):
    """The restricted program of any f with a cvxpy expression, solved by Clarabel every round.

    It is accurate to some 1e-8 where smoothing crawls, at milliseconds to seconds a round.
    """

    inner = "conic"

    def _prepare(self) -> None:
        """Do nothing: the program is written anew every round."""

    def _optimum(self) -> tuple[Vector, Vector]:
        import cvxpy as cp

        over, m = self.active.over, self._game.m
        d = cp.Variable(m, nonneg=True)
        v = cp.Variable(nonneg=over.holds_zero)
        columns = self.active.columns[:, self._slots].astype(np.float64)
        penalty, constraints = self._relaxation.cvxpy_penalty(d)
        edges = columns.T @ d <= v
        problem = cp.Problem(
            cp.Minimize(penalty + over.scale * v), [edges, cp.sum(d) == 1, *constraints]
        )
        status, _ = solve_problem(problem)
        if status not in SOLVED or d.value is None or np.max(d.value) <= 0.0:
            raise ProgramError(f"Clarabel ended with status {status} on the restricted problem")
        return np.asarray(d.value), np.maximum(np.asarray(edges.dual_value).reshape(-1), 0.0)
