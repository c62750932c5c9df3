"""The totally corrective update of Shalev-Shwartz & Singer (2009), Eq. 13."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
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
from relaxboost.matrices.bulk import PASS
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.solvers.boosters.corrective import CorrectiveRun, active_set
from relaxboost.solvers.boosters.hull import HullRun
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.interior_point.run import PIVOT, Rival, unfit
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.restricted_master import PivotLimit, ProgramError, RestrictedMaster
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother, Unsmoothed
from relaxboost.solvers.warm_start import WarmStart

INNER = ("auto", "smoothed", "lp", "conic", "hull")

_LOOSE = 2.0
"""How many columns with and without weight, for each with, a program may have that is handed on;
beyond, it is made anew from its basis, which has few without."""
_AT_ONCE = 2_000_000
"""Entries handed to HiGHS in one call: with their places they take some thirty bytes each."""
_STRETCHES = 128
"""Of columns, from each of which the best may enter a restricted program in one round."""
_LARGEST = 50_000_000
"""Numbers in a restricted program, each of which takes 83 bytes while HiGHS solves it."""
_VAIN = 10.0
"""How many times work counts while the gap is wider than when a program took over: an optimum of
many columns shows so, and in the suite no game that a program ended first."""
_POINTLESS_SMOOTHING = 0.02
"""Below this gap, for atoms of size 1, an exact program takes over from smoothing; see
`benchmarks/inner.py`."""


@dataclass(frozen=True)
class TotallyCorrective(SmoothedMethod):
    """SS09 Eq. 13: all weights of the columns seen so far are optimised each round.

    Over Euclidean sets, where every w is dense, d is optimised over the hull of the worst
    distributions seen so far, and where that takes long, by a cone solver for the whole game.

    Parameters
    ----------
    beta, smoothing
        See `SmoothedMethod`; with ``inner="smoothed"`` only, which they ask for where `inner` is
        left open.
    inner : {"auto", "smoothed", "lp", "conic", "hull"}
        How Eq. 13 is solved: with entropic smoothing, or as the restricted program it becomes for
        β -> 0, a linear one for polyhedral f and else a conic one through cvxpy. ``"auto"``
        smooths at tol >= 0.02. Euclidean sets have ``"hull"`` only. The history says which was
        used, ``"conic"`` where the hull took long.
    stopping : {"certified", "smoothed"}
        As for `Corrective`; ``"smoothed"`` with ``inner="smoothed"`` only.
    interior : bool
        Whether `InteriorPoint` may take over from an exact program, as from `Combined`.
    """

    name = "totally-corrective"
    inner: str = "auto"
    stopping: str = "certified"
    interior: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choice("inner", INNER)
        self.choice("stopping", STOPPING)
        if self.inner in ("auto", "smoothed"):
            return
        if self.smoothed_test:
            raise InputError(
                'stopping="smoothed" is the test of a smoothed problem; '
                'use Corrective(), or inner="smoothed"'
            )
        if self.beta is not None or self.smoothing != "entropy":
            raise InputError(
                f'beta and smoothing are for inner="smoothed", and inner={self.inner!r} does not '
                "smooth; leave them out"
            )

    @property
    def smoothed_test(self) -> bool:
        return self.stopping == "smoothed"

    @property
    def _smooths(self) -> bool:
        """Whether an option asks for smoothing."""
        return self.beta is not None or self.smoothing != "entropy" or self.smoothed_test

    def chosen(self, game: Game, tol: float) -> TotallyCorrective:
        """Return the method with the way to solve Eq. 13 filled in."""
        if self.inner != "auto":
            return self
        if not isinstance(game.over, AtomicSet):
            return replace(self, inner="hull")
        smooths = self._smooths or tol >= loose_gap(game)
        return replace(self, inner="smoothed" if smooths else exact_program(game))

    def check(self, game: Game) -> None:
        """Raise an InputError where Eq. 13 is not to be solved so over this domain."""
        if isinstance(game.over, AtomicSet):
            if self.inner == "hull":
                raise InputError(
                    f'inner="hull" is for Euclidean sets, and this game is over {game.over!r}'
                )
        elif self.inner in PROGRAMS or self.inner == "smoothed":
            raise InputError(
                f"inner={self.inner!r} re-weighs the columns found so far, and over {game.over!r} "
                'every column has weight from the start; use inner="hull"'
            )
        if self.inner == "lp" and exact_program(game) != "lp":
            raise InputError(
                f"{game.relaxation!r} is not polyhedral, so Eq. 13 has no linear program; "
                'use inner="conic" or inner="smoothed"'
            )
        super().check(game)

    def start(self, game: Game, tol: float, clock: Clock) -> Booster:
        inner = self.chosen(game, tol).inner
        if inner == "hull":
            beta, smoother, _ = self.smoother(game, tol)
            project = smoother.projector(beta) if isinstance(smoother, Unsmoothed) else None
            return HullRun(game, tol, project).named("totally-corrective", "smoothed")
        if inner in PROGRAMS:
            program = PROGRAMS[inner](game, clock, active_set(game))
            if self.interior and not unfit(game):
                program.rival = Rival(game, tol, clock)
            return program.named("totally-corrective", "smoothed")
        beta, smoother, suffix = self.smoother(game, tol)
        run = SmoothedRun(game, beta, smoother, tol / 2.0, clock)
        return run.named("totally-corrective", f"smoothed{suffix}")


def loose_gap(game: Game) -> float:
    """Return the gap below which an exact program takes over from smoothing."""
    return _POINTLESS_SMOOTHING * game.over.reach(game.n)


def exact_program(game: Game) -> str:
    """Return the `inner` that is exact on this game: "lp" for polyhedral f, or "conic"."""
    return "lp" if game.linear_form is not None else "conic"


class SmoothedRun(Booster):
    """w_{t+1} maximises the smoothed relaxed margin D over the columns seen so far.

    The inner maximisation starts with the best step towards the new column, which alone gains
    what Fig. 1's step would, so that the bound on the rounds carries over. Pairwise steps over
    the columns seen follow until their own Frank–Wolfe gap is half of the round's gap or, near
    the end, of the target: a closer maximum costs more than the rounds it saves
    (`benchmarks/inner.py`).
    """

    inner = "smoothed"
    active: ActiveSet

    def __init__(
        self,
        game: Game,
        beta: float,
        smoother: Smoother,
        target: float,
        clock: Clock,
    ) -> None:
        self.active = active_set(game)
        self._clock = clock  # when it has run out, a round ends where it stands
        self._pairwise = CorrectiveRun(game, beta, "pairwise", smoother, self.active)
        self._target = target
        self.d = self._pairwise.d

    def warmed(self, start: WarmStart) -> Booster:
        self._pairwise.warmed(start)
        self.d = self._pairwise.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best` and re-weigh all of them."""
        active, inner = self.active, self._pairwise
        goal = 0.5 * max(active.gap(inner.d, best), self._target)
        inner.towards(best)
        inner.settle(goal, self._clock)
        self.d = inner.d
        return self


class ProgramRun(Booster):
    """Eq. 13 with β -> 0: (d, w) solve the program restricted to the columns seen so far.

    d_t is the distribution of least penalty plus largest edge over those columns; the weak learner
    either finds a column with a larger edge or proves the restricted optimum to be the whole one.
    """

    active: ActiveSet
    rival: Rival | None = None
    """What takes over where the program takes long."""
    work = 0.0
    """An estimate of the seconds that the last round took."""
    known = math.inf
    """The gap of what it took over from."""

    def __init__(self, game: Game, clock: Clock, active: ActiveSet) -> None:
        self.active = active
        self._game, self._relaxation, self._clock = game, game.relaxation, clock
        self._slots: list[int] = []  # of the rows of the program, in their order
        self._keys: list[tuple[int, int]] = []  # their columns
        self.d = game.relaxation.center(game.m)
        self._from = Basis(())  # what to begin with, besides columns that have weight
        self._wide = False  # whether many columns may come in at once
        self._looked = 0.0  # seconds of passes besides that of the round
        self._begun = False
        self._pending = False  # whether columns have come in since the last optimum
        self._prepare()

    def _gather(self) -> None:
        """Include the columns that have weight by now, and those that a start knows; done once."""
        self._begun = True
        known = [self.active.slot(Best(j, sign, 0.0, 0.0)) for j, sign in self._from.columns]
        self._include(*known, *np.flatnonzero(self.active.weights[: len(self.active)]).tolist())

    def basis(self) -> Basis | None:
        """Return its columns, and their side of the linear program."""
        return Basis(tuple(self._keys)) if self._keys else None

    def warmed(self, start: WarmStart) -> Booster:
        """Show its d first; the program begins with its columns."""
        if start.d is not None:
            self.d = start.d
        if start.w is not None:
            self.active.load(*start.w)
        if start.basis is not None:
            self._from, self._wide = start.basis, bool(start.basis.columns)
        self._begun = False
        return self

    def rested(self) -> Booster:
        """Keep the basis alone, from which the program is made again."""
        self._from = self.basis() or self._from
        self._slots, self._keys, self._begun = [], [], False
        self.active.forget()
        self._prepare()
        return self

    @property
    def knows(self) -> bool:
        """Whether it has a basis to begin with."""
        return bool(self._from.sides or self._slots)

    def successor(self, best: Best) -> Booster | None:
        """Return the rival, once it would have been cheaper."""
        if self.rival is None:
            return None
        # The optimum of another game has a wide gap until the first columns of this one are in.
        vain = not self._wide and self.active.gap(self.d, best) > self.known
        return self.rival.after(self.work * (_VAIN if vain else 1.0), self)

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best` and solve again; None if that changes nothing."""
        try:
            if not self._begun:
                self._gather()
            slot = self.active.slot(best)
            if slot in self._slots and not self._pending:
                return None
            self._include(slot, *self._more())
            self._solve()
        except (PivotLimit, ProgramError, MemoryError):
            if self.rival is None or self.rival.used:
                raise
            return self.rival.now(self)
        return self

    def _more(self) -> list[int]:
        """Return the slots of the best columns of many stretches of them, where they violate.

        One column a round takes many rounds, each of which costs HiGHS more than its few pivots;
        neighbours are often much alike, so that the best of each stretch are more use than the
        best of all. Only a run from a basis does so, which begins near the optimum; and where a
        pass costs less than the last round.
        """
        matrix, over = self._game.matrix, self.active.over
        look = PASS * matrix.entries
        self._looked = 0.0
        if not self._wide or matrix.n is None or look > self.work:
            return []
        self._looked = look
        edges = matrix.edges(self.d)
        level = self.active.edges(self.d)[self._slots].max()
        ends = np.linspace(0, matrix.n, min(_STRETCHES, matrix.n) + 1).astype(np.int64)
        tops = np.maximum.reduceat(over.prices(edges), ends[:-1])
        slots = []
        for place in np.flatnonzero(tops > level).tolist():
            first = int(ends[place])
            j, sign = over.pick(edges[first : ends[place + 1]])
            slots.append(self.active.slot(Best(first + j, sign, float(tops[place]), 0.0)))
        return slots

    @abstractmethod
    def _prepare(self) -> None:
        """Set up the program without columns."""

    def _include(self, *slots: int) -> None:
        """Add the columns of these slots, unless they are in already."""
        new = [slot for slot in dict.fromkeys(slots) if slot not in self._slots]
        count = len(self._slots) + len(new)
        if self._game.m * count > _LARGEST:
            raise ProgramError(
                f"a program of {self._game.m} examples and {count} hypotheses would have more than "
                f"{_LARGEST:.0e} numbers; ask for a larger tol"
            )
        if new:
            self._add(self.active.columns, new)
            self._slots += new
            self._keys += [self.active.keys[slot] for slot in new]
            self._pending = True

    def _solve(self) -> None:
        d, multipliers = self._optimum()
        self._pending = False
        self.d = self._relaxation.repair(d)  # the solver's d is feasible up to its tolerance
        weights = np.zeros(len(self.active))
        weights[self._slots] = multipliers
        self.active.set_weights(weights)

    def _add(self, columns: NDArray[Any], slots: list[int]) -> None:
        """Add those of these slots to the program, where that outlives a round."""

    @abstractmethod
    def _optimum(self) -> tuple[Vector, Vector]:
        """Return the optimal d and a multiplier >= 0 for each of the columns included."""


class LinearRun(ProgramRun):
    """The restricted program of a polyhedral f, kept warm in HiGHS."""

    inner = "lp"
    _made: RestrictedMaster | None

    def _prepare(self) -> None:
        self._made = None  # until it has columns: many never do

    @property
    def _master(self) -> RestrictedMaster:
        if self._made is None:
            self._made = RestrictedMaster(self._form, self._game.m, self.active.over)
        return self._made

    @property
    def _form(self) -> LinearForm:
        form = self._game.linear_form
        assert form is not None
        return form

    def warmed(self, start: WarmStart) -> Booster:
        """Take the program itself over from the run before, where a path brings one."""
        old = None if start.relay is None else start.relay.booster
        if not (
            isinstance(old, LinearRun)
            and old._game.matrix is self._game.matrix
            and 0 < len(old._slots) <= _LOOSE * old.active.used
            and old._master.become(self._form, self.active.over)
        ):
            return super().warmed(start)
        self.active, self._made, self._wide = old.active, old._master, True
        self._slots, self._keys = old._slots, old._keys
        self._begun = self._pending = True
        self.d = self.d if start.d is None else start.d
        return self

    def _add(self, columns: NDArray[Any], slots: list[int]) -> None:
        if self._made is None:  # not by `_master`, which is one call more
            self._made = RestrictedMaster(self._form, self._game.m, self.active.over)
        step = max(1, _AT_ONCE // self._game.m)
        for first in range(0, len(slots), step):
            self._made.add(columns[:, slots[first : first + step]])

    def basis(self) -> Basis | None:
        return self._master.basis(self._keys) if self._keys else None

    def _optimum(self) -> tuple[Vector, Vector]:
        if self._from.sides:
            self._master.go_on(self._from, self._keys)
            self._from = Basis(())
        pivot = PIVOT * len(self._slots) * self._game.m
        most = math.inf if self.rival is None else self.rival.left / pivot
        found = self._master.solve(self._clock, most)
        passes = self._looked + PASS * self._game.matrix.entries
        self.work = passes + pivot * (self._master.pivots + 10)
        return found


class ConicRun(ProgramRun):
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


PROGRAMS: dict[str, type[ProgramRun]] = {"lp": LinearRun, "conic": ConicRun}
"""The exact programs, by the `inner` that asks for them."""
