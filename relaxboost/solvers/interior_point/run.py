"""A run of the interior point method: its rounds, the games it is for, and its predicted work."""

from __future__ import annotations

import numpy as np

from relaxboost._core.loop import seconds_left
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import LinearForm, numerical
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.solvers import work
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.hypothesis import ActiveSet, FullWeights
from relaxboost.solvers.interior_point.elimination import MAX_FACTOR_ORDER
from relaxboost.solvers.interior_point.iterate import Iterate
from relaxboost.solvers.interior_point.sieve import Sieve
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.warm_start import WarmStart

MAX_ENTRIES = 200_000_000
"""Entries of A that are written down at most, 8 bytes each."""

MAX_CONE_EXAMPLES = 100_000
"""Examples up to which an f that is not polyhedral is written down as a cone program."""

MAX_CUTS = 1_000_000
"""Cuts in play at most, with a step by passes over the examples."""

MANY_STUMPS = 1000
"""Stumps up to which all of them are in play from the beginning."""

MIN_IN_PLAY = 500
"""Columns in play for which a run on some of the columns is worth beginning."""

ITERATIONS = 15
"""Iterations that a run is predicted to take, the usual number (Wright 1997, Ch. 1)."""

SIFTING_ITERATIONS = 60
"""Iterations and repeated ones that a run takes whose columns enter and leave."""

ITERATIVE_PASSES = 640.0
"""Passes of an iteration whose equations are solved by conjugate gradients: some eight right-hand
sides with forty products, each of which is two passes."""

PASSES_PER_ITERATION = 20
"""Passes over A in an iteration, besides what its equations cost: a predictor, a corrector, their
refinement, and the bounds."""

GAP_FALL = 1000.0
"""The factor by which complementarity falls in a round if bounds are expensive."""

POLISHING_STEPS = 3
"""Steps that a round may take until the columns in use prove the gap without the others."""


def unfit(game: Game) -> str:
    """Return why no interior point method is for this game, "" where it is."""
    return _unfit_matrix(game) or _unfit_relaxation(game)


def _unfit_matrix(game: Game) -> str:
    """Return what about w or A keeps the method from a game."""
    matrix = game.matrix
    if not isinstance(game.over, AtomicSet):
        return (
            f"InteriorPoint() is for games whose w has atoms, and this one is over {game.over!r}; "
            'use method="fully-corrective"'
        )
    if matrix.n is None:
        return f"InteriorPoint() needs every column, and {matrix!r} has any number; use LPBoost()"
    if _sifts(game):
        if not matrix.implicit and _most(game) < MIN_IN_PLAY:
            return (
                f"InteriorPoint() writes columns down, and {matrix!r} is too large; use LPBoost()"
            )
    elif matrix.implicit and game.m > MAX_FACTOR_ORDER and not _of_columns(game):
        return (
            f"InteriorPoint() factorises a matrix of order {game.m} here, and {MAX_FACTOR_ORDER} "
            "is the largest; use LPBoost()"
        )
    return ""


def _unfit_relaxation(game: Game) -> str:
    """Return what about f keeps the method from a game."""
    if game.linear_form is not None:
        return ""
    if game.m > MAX_CONE_EXAMPLES:
        return (
            f"{game.relaxation!r} is not polyhedral, and InteriorPoint() writes down its cone "
            f"program for up to {MAX_CONE_EXAMPLES} examples; use Corrective()"
        )
    if game.cone_form is None:
        return (
            f"{game.relaxation!r} needs other cones than half lines, second-order and exponential "
            'ones; use method="auto"'
        )
    return ""


def _of_columns(game: Game) -> bool:
    """Return whether equations for the columns can be formed without writing A down.

    This is so if f has a linear form without rows.
    """
    form = game.linear_form
    return form is not None and form.rows is None


def _sifts(game: Game) -> bool:
    """Whether columns enter and leave the play: where that costs little, or all are too many."""
    matrix = game.matrix
    if matrix.implicit:
        return _of_columns(game) and (matrix.n or 0) > MANY_STUMPS
    return matrix.entries > MAX_ENTRIES or min(game.m, matrix.n or 0) > MAX_FACTOR_ORDER


def _most(game: Game) -> int:
    """Return how many columns may be in play; equations of the order of the examples do too."""
    matrix, n = game.matrix, game.n or 0
    if matrix.implicit:
        return n if game.m <= MAX_FACTOR_ORDER else min(n, game.m, MAX_CUTS)
    most = n if game.m <= MAX_FACTOR_ORDER else MAX_FACTOR_ORDER
    return min(most, MAX_ENTRIES * n // max(matrix.entries, 1))


def predict_passes(game: Game) -> float:
    """Return how many passes over A a run to a narrow gap is predicted to take.

    An iteration makes the normal equations and factorises them; their order is the number of the
    columns in play or of the examples. All stumps are never in play together: an optimum uses some
    sixth of those that could carry it, and the run takes more iterations, in which they enter.
    """
    n = game.n or 0
    if _sifts(game):
        order = min(game.m, n, _most(game)) / 6.0
        multiplications = game.m * order**2 / 2.0 + order**3 / 3.0
        equations = min(work.passes_of(game, multiplications), ITERATIVE_PASSES)
        return SIFTING_ITERATIONS * (PASSES_PER_ITERATION + equations)
    needs_examples = game.matrix.implicit and not _of_columns(game)
    order = float(game.m if needs_examples else min(game.m, n))
    multiplications = order * game.matrix.entries / 2.0 + order**3 / 3.0
    return ITERATIONS * (PASSES_PER_ITERATION + work.passes_of(game, multiplications))


class _Progress:
    """Notices that neither the gap, nor complementarity, nor infeasibility shrinks any more."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._least = np.full(3, np.inf)
        self._idle = 0

    def is_stuck(self, gap: float, complementarity: float, infeasibility: float) -> bool:
        """Count an iteration; return whether the last ones have brought nothing."""
        now = np.array([gap, complementarity, infeasibility])
        if (now < 0.9 * self._least).any():
            self._least = np.minimum(now, self._least)
            self._idle = 0
        else:  # the least stays, so that what many short steps do together counts
            self._idle += 1
        return self._idle >= self._patience


class InteriorRun(Booster):
    """A round is a step of `Iterate`, or some for cones; (d, w) are the nearest feasible pair."""

    inner = "interior"
    active: FullWeights

    def __init__(self, game: Game, tol: float) -> None:
        over = game.over
        assert isinstance(over, AtomicSet)
        form, self._has_proof = _program_of(game)
        self._game = game
        self._tol = tol
        self._sieve: Sieve | None = None
        if _sifts(game):
            whole = game.matrix.pricing()
            self._sieve = Sieve(whole, over, _most(game))
            bulk = self._sieve.bulk
            columns = self._sieve.columns
        else:
            whole = bulk = game.matrix.bulk()
            columns = np.arange(bulk.n)
        self._iterate = Iterate(form, bulk, over, game.relaxation.center(game.m), whole)
        self.active = FullWeights(over, columns, self._iterate.w, self._iterate.margins)
        self._gap = np.inf
        """The gap of the pair that is shown."""
        self._progress = _Progress(patience=8 if self._sieve is None else 20)
        self.d = game.relaxation.center(game.m)
        self._show()

    @property
    def _over(self) -> AtomicSet:
        assert isinstance(self._game.over, AtomicSet)
        return self._game.over

    @property
    def _are_bounds_expensive(self) -> bool:
        """Whether bounds take a cone program. With a sieve every step needs them all the same."""
        asks_solver = self._has_proof or self._game.relaxation.from_solver
        return asks_solver and self._sieve is None

    def advance(self, best: Best) -> Booster | None:
        """Take a step, or several; return None where rounding no longer lets anything shrink.

        At the end take a few more steps, until the columns in use are enough without the others,
        if a factor makes such steps cheap.
        """
        goal = self._complementarity_goal()
        taken = 0
        while not taken or self._iterate.product > goal:
            seconds_left()
            if not self._step():
                if not taken:
                    return None
                break
            taken += 1
        is_enough = self._show()
        for _ in range(0 if self._iterate.is_by_passes else POLISHING_STEPS):
            active = self.active
            shown = self.d, self.witness, active.columns, active.w, active.u, self.evaluated
            if is_enough or not self._step():
                break
            is_enough = self._show()
            if self._gap > self._tol:
                self.d, self.witness, active.columns, active.w, active.u, self.evaluated = shown
                break
        return self

    def _complementarity_goal(self) -> float:
        """Return the complementarity at which the round ends: inf if bounds cost little.

        A gap is often less than the complementarity, which rounding may not let fall further. So
        the last rounds aim just above and just below the requested gap.
        """
        if not self._are_bounds_expensive:
            return np.inf
        product = self._iterate.product
        goal = product / GAP_FALL
        if goal > 10.0 * self._tol:
            return goal
        return 1.5 * self._tol if product > 1.5 * self._tol else 0.5 * self._tol

    def _step(self) -> bool:
        """Take a step; return False where nothing has shrunk lately, or nothing can move."""
        iterate = self._iterate
        sieve = self._sieve
        self.work += PASSES_PER_ITERATION
        is_stuck = self._progress.is_stuck(self._gap, iterate.mu, iterate.infeasibility)
        if sieve is not None and self._gap > self._tol:
            sieve.drop_idle(iterate)
        try:
            return not is_stuck and iterate.step(sieve) > 1e-6
        except (np.linalg.LinAlgError, RuntimeError):  # SciPy's, of dense and of sparse factors
            return False

    def _priced(self) -> float:
        """Return the largest price of all columns at the present d."""
        if self._sieve is not None:
            return self._sieve.price(self._iterate.d)
        return float(self._over.prices(self._iterate.edges).max())

    def _show(self) -> bool:
        """Make the nearest feasible pair, with the columns in use alone where they are enough.

        Else those go that have a quarter of tol together. Return False where the gap is as small
        as asked only so.
        """
        over = self._over
        w = self._iterate.w
        used = self._iterate.is_in_use
        penalty = self._repair()
        upper = penalty + over.value(self._priced())
        self.evaluated = None
        order = np.argsort(np.abs(w))
        heavy = np.empty_like(used)
        heavy[order] = np.cumsum(np.abs(w[order])) > 0.25 * self._tol
        early = self._are_bounds_expensive and self._iterate.product > self._tol
        for quick in (True, False) if self._has_proof else (False,):
            for mask in (heavy,) if early else (used, heavy):
                if not mask.any():
                    continue
                if self._sieve is not None:
                    self.active.columns = self._sieve.columns
                self.active.w = over.repair(np.where(mask, w, 0.0))
                self.active.u = self._iterate.bulk.margins(self.active.w)
                known = self._bound(quick, early, (penalty, upper))
                if early:
                    return True
                if known and self._gap <= self._tol:
                    return mask is used
        return True

    def _repair(self) -> float:
        """Take the nearest d at which f is finite, and return f(d) or a number that is not below.

        The iterate has the variables of f besides d, which prove such a number without a solver.
        """
        f = self._game.relaxation
        proof = self._iterate.proof
        known = None
        if f.from_solver and self._has_proof and proof is not None:
            known = numerical.programs(f, self._game.m).near_point(proof)
        if known is None:
            self.d = f.repair(self._iterate.d)
            return f.penalty(self.d)
        self.d, penalty = known
        return penalty

    def _bound(self, quick: bool, early: bool, of_d: tuple[float, float]) -> bool:
        """Bound F(A w) by the multipliers if it is to be `quick`; return whether that was possible.

        Else the bound is exact, which may take a cone solver; if it is `early`, whoever asks for it
        pays. `of_d` has f(d), or a number that is not below, and the upper bound of the pair.
        """
        f = self._game.relaxation
        u = self.active.u
        proof = self._iterate.proof
        self.witness = f.near_witness(u, proof) if quick and proof is not None else None
        lower = None
        if self.witness is not None:
            lower = f.lower_bound(u, self.witness)
        elif not (quick or early):
            lower = f.relaxed_margin(u)[0]
        if lower is not None:
            penalty, upper = of_d
            self.evaluated = lower, penalty
            self._gap = upper - lower
        return not quick or self.witness is not None


def _program_of(game: Game) -> tuple[LinearForm | ConeForm, bool]:
    """Return the program of f to work on, and whether its multipliers prove bounds on F.

    If f is solved by cvxpy, the linear program is that of its cone form, whose multipliers
    `Relaxation.near_witness` takes. Families with closed forms have a shorter program.
    """
    cones = game.cone_form if game.linear_form is None or game.relaxation.from_solver else None
    if cones is not None:
        return cones.linear(game.m) or cones, True
    assert game.linear_form is not None
    return game.linear_form, False


class Opening(Booster):
    """A first round at the centre of f, which an `InteriorRun` follows.

    The round gives an interrupted run a bracket while the matrix is still prepared.
    """

    inner = "interior"
    active: ActiveSet

    def __init__(self, game: Game, tol: float) -> None:
        self._game = game
        self._tol = tol
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Use the d of a start in the first round. The run that follows begins at the centre."""
        self.d = self.d if start.d is None else start.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Return the run after its first round."""
        return InteriorRun(self._game, self._tol).advance(best)
