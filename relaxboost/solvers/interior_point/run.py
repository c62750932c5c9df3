"""A run of the interior point method, the games that it fits, and its predicted work."""

from __future__ import annotations

import numpy as np

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
from relaxboost.solvers.interior_point.progress import Progress
from relaxboost.solvers.interior_point.sieve import Sieve
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.warm_start import WarmStart

MAX_ENTRIES = 200_000_000
"""The largest number of entries of A that a run stores as a dense array, 8 bytes each."""

MAX_CONE_EXAMPLES = 100_000
"""The largest number of examples for which an f that is not polyhedral is written as a cone
program. A row of it takes some hundred bytes."""

FEW_COLUMNS = 1000
"""Columns that every game may have in play. A sieve would save little for so few columns, and a run
that may not have as many in play is not worth beginning."""

ITERATIONS = 15
"""Iterations that a run is predicted to take, the usual number (Wright 1997, Ch. 1)."""

PASSES_PER_ITERATION = 20
"""Passes over A in an iteration, besides the cost of its equations: those of a predictor, a
corrector, their refinement, and the bounds."""


def unfit(game: Game) -> str:
    """Return why no interior point method is for a game, or "" if it is for the game."""
    return _unfit_matrix(game) or _unfit_relaxation(game)


def _unfit_matrix(game: Game) -> str:
    """Return why the weights w or the matrix A of a game do not fit the method, or ""."""
    matrix = game.matrix
    if not isinstance(game.over, AtomicSet):
        return f"InteriorPoint() is for games whose w has atoms, and this one is over {game.over!r}"
    if matrix.n is None:
        return f"InteriorPoint() needs every column, and {matrix!r} has any number"
    if _has_sieve(game):
        if not matrix.implicit and _max_in_play(game) < FEW_COLUMNS:
            return f"InteriorPoint() writes columns down, and {matrix!r} is too large"
    elif matrix.implicit and game.m > MAX_FACTOR_ORDER and not _has_no_rows(game):
        return (
            f"InteriorPoint() factorises a matrix of order {game.m} here, and {MAX_FACTOR_ORDER} "
            "is the largest"
        )
    return ""


def _unfit_relaxation(game: Game) -> str:
    """Return why the f of a game does not fit the method, or ""."""
    if game.linear_form is not None:
        return ""
    if game.m > MAX_CONE_EXAMPLES:
        return (
            f"{game.relaxation!r} is not polyhedral, and InteriorPoint() writes down its cone "
            f"program for up to {MAX_CONE_EXAMPLES} examples"
        )
    if game.cone_form is None:
        return (
            f"{game.relaxation!r} needs other cones than half lines, second-order and exponential "
            "ones"
        )
    return ""


def _has_no_rows(game: Game) -> bool:
    """Return whether f is a linear program that only bounds its variables.

    The equations for the columns can then be formed without writing A down.
    """
    form = game.linear_form
    return form is not None and form.rows is None


def _has_sieve(game: Game) -> bool:
    """Return whether only some columns are in play, and others enter and leave."""
    matrix = game.matrix
    # Stumps are cheap to price and many, so that all but a few of them wait outside.
    if matrix.implicit:
        return _has_no_rows(game) and (matrix.n or 0) > FEW_COLUMNS
    return matrix.entries > MAX_ENTRIES or min(game.m, matrix.n or 0) > MAX_FACTOR_ORDER


def _max_in_play(game: Game) -> int:
    """Return how many columns may be in play."""
    n = game.n or 0
    # A matrix of the order of the examples allows any number of columns.
    if game.m <= MAX_FACTOR_ORDER:
        most = n
    else:
        # Stumps can also do without a matrix; an optimum uses at most as many as examples.
        most = min(n, game.m) if game.matrix.implicit else MAX_FACTOR_ORDER
    if game.matrix.implicit:
        return most
    return min(most, MAX_ENTRIES * n // max(game.matrix.entries, 1))


def predict_passes(game: Game) -> float:
    """Return how many passes over A a run to a narrow gap is predicted to take.

    An iteration forms a matrix of the order of the columns in play or of the examples, and
    factorises it. With a sieve an optimum uses some sixth of the columns that may be in play, and a
    run takes four times as many iterations, in which columns enter and leave.
    """
    n = game.n or 0
    iterations = ITERATIONS
    entries = float(game.matrix.entries)
    if _has_sieve(game):
        iterations *= 4
        order = min(game.m, n, _max_in_play(game)) / 6.0
        entries = game.m * order
    else:
        needs_examples = game.matrix.implicit and not _has_no_rows(game)
        order = float(game.m if needs_examples else min(game.m, n))
    equations = work.passes_of(game, order * entries / 2.0 + order**3 / 3.0)
    if _has_sieve(game):
        # Without a matrix, 8 right-hand sides take 40 products of two passes each.
        equations = min(equations, 8 * 40 * 2.0)
    return iterations * (PASSES_PER_ITERATION + equations)


class InteriorRun(Booster):
    """A run whose rounds are steps of an `Iterate` and show the nearest feasible pair (d, w)."""

    inner = "interior"
    active: FullWeights

    def __init__(self, game: Game, tol: float) -> None:
        over = game.over
        assert isinstance(over, AtomicSet)
        form, self._has_proof = _program_of(game)
        self._game = game
        self._tol = tol
        self._sieve: Sieve | None = None
        if _has_sieve(game):
            whole = game.matrix.pricing()
            self._sieve = Sieve(whole, over, _max_in_play(game))
            bulk = self._sieve.bulk
            columns = self._sieve.columns
        else:
            whole = bulk = game.matrix.bulk()
            columns = np.arange(bulk.n)
        self._iterate = Iterate(form, bulk, over, game.relaxation.center(game.m), whole)
        self.active = FullWeights(over, columns, self._iterate.w, self._iterate.bounds.margins)
        self._gap = np.inf
        """The gap of the pair (d, w) that is shown."""
        self._progress = Progress(patience=8 if self._sieve is None else 20)
        self.d = game.relaxation.center(game.m)
        self._show()

    @property
    def _over(self) -> AtomicSet:
        assert isinstance(self._game.over, AtomicSet)
        return self._game.over

    @property
    def _are_bounds_expensive(self) -> bool:
        """Whether bounds take a cone program that a run need not solve after every step."""
        # With a sieve, every step prices all columns, and the bounds follow from the prices.
        asks_solver = self._has_proof or self._game.relaxation.from_solver
        return asks_solver and self._sieve is None

    def advance(self, best: Best) -> Booster | None:
        """Take a step, or several if bounds are expensive; return None if no step is possible."""
        # A cone program is worth many steps, so a round makes up half of the digits that are
        # missing. A gap is often less than the complementarity, so the last rounds stay near tol.
        product = self._iterate.product
        goal = np.sqrt(product * self._tol) if self._are_bounds_expensive else np.inf
        if not self._step():
            self.why_ended = f"no step reduces its gap of {self._gap:.3g} any more"
            return None
        while self._iterate.product > goal and self._step():
            pass
        is_enough = self._show()
        # By passes each further step is as expensive as all that came before.
        if not self._iterate.elimination.is_by_passes:
            self._polish(is_enough)
        return self

    def _polish(self, is_enough: bool) -> None:
        """Take more steps until the columns in use prove the gap without the other columns."""
        active = self.active
        while not is_enough and self._step():
            shown = self.d, self.witness, active.columns, active.w, active.u, self.evaluated
            is_enough = self._show()
            if self._gap > self._tol:
                # Rounding has spoilt the pair, and the one before is shown after all.
                self.d, self.witness, active.columns, active.w, active.u, self.evaluated = shown
                return

    def _step(self) -> bool:
        """Take a step, and return False if there is no progress or no possible step."""
        iterate = self._iterate
        sieve = self._sieve
        self.work += PASSES_PER_ITERATION
        is_stuck = self._progress.is_stuck(self._gap, iterate.mu, iterate.infeasibility)
        if sieve is not None and self._gap > self._tol:
            # Later, columns that leave would disturb a pair that is nearly optimal.
            sieve.drop_idle(iterate)
        try:
            return not is_stuck and iterate.step(sieve) > 1e-6
        # SciPy raises these errors if a dense or a sparse factor is singular.
        except (np.linalg.LinAlgError, RuntimeError):
            return False

    def _priced(self) -> float:
        """Return the largest price of all columns at the d of the iterate."""
        if self._sieve is not None:
            return self._sieve.price(self._iterate.d)
        return float(self._over.prices(self._iterate.bounds.edges).max())

    def _show(self) -> bool:
        """Show the nearest feasible pair (d, w), with as few columns as prove the gap.

        The columns in use are tried first. If they are not enough, columns whose weights sum to
        tol/4 are left out. Return False if the gap is small enough only with these columns.
        """
        over = self._over
        w = self._iterate.w
        used = self._iterate.bounds.is_in_use
        penalty = self._repair()
        upper = penalty + over.value(self._priced())
        self.evaluated = None
        order = np.argsort(np.abs(w))
        heavy = np.empty_like(used)
        heavy[order] = np.cumsum(np.abs(w[order])) > 0.25 * self._tol
        # Before complementarity is at tol, exact bounds are not worth a cone program.
        is_early = self._are_bounds_expensive and self._iterate.product > self._tol
        for is_quick in (True, False) if self._has_proof else (False,):
            for mask in (heavy,) if is_early else (used, heavy):
                if not mask.any():
                    continue
                if self._sieve is not None:
                    self.active.columns = self._sieve.columns
                self.active.w = over.repair(np.where(mask, w, 0.0))
                self.active.u = self._iterate.bulk.margins(self.active.w)
                is_known = self._bound(is_quick, is_early, penalty, upper)
                if is_early:
                    return True
                if is_known and self._gap <= self._tol:
                    return mask is used
        return True

    def _repair(self) -> float:
        """Show the nearest d at which f is finite, and return f(d) or an upper bound of f(d)."""
        f = self._game.relaxation
        proof = self._iterate.part.proof
        if f.from_solver and self._has_proof and proof is not None:
            # The other variables of f at the iterate prove an upper bound without a solver.
            known = numerical.programs(f, self._game.m).near_point(proof)
            if known is not None:
                self.d = known[0]
                return known[1]
        self.d = f.repair(self._iterate.d)
        return f.penalty(self.d)

    def _bound(self, is_quick: bool, is_early: bool, penalty: float, upper: float) -> bool:
        """Bound F(A w) from below for the weights w that are shown; return whether it was possible.

        A quick bound is that of the multipliers, which may prove none. Other bounds are exact and
        may take a cone program. They are left to the caller of the run as long as it `is_early`.
        """
        f = self._game.relaxation
        u = self.active.u
        proof = self._iterate.part.proof
        self.witness = f.near_witness(u, proof) if is_quick and proof is not None else None
        if self.witness is not None:
            lower = f.lower_bound(u, self.witness)
        elif is_quick or is_early:
            return not is_quick
        else:
            lower = f.relaxed_margin(u)[0]
        self.evaluated = lower, penalty
        self._gap = upper - lower
        return True


def _program_of(game: Game) -> tuple[LinearForm | ConeForm, bool]:
    """Return the program that defines f, and whether its multipliers prove bounds on F.

    An f without closed forms is defined by its cone form, or by the linear program with the same
    rows, since `Relaxation.near_witness` accepts the multipliers of these rows.
    """
    cones = game.cone_form if game.linear_form is None or game.relaxation.from_solver else None
    if cones is not None:
        return cones.linear(game.m) or cones, True
    # Families with closed forms have a shorter linear program, and bounds without multipliers.
    assert game.linear_form is not None
    return game.linear_form, False


class Opening(Booster):
    """The round before an `InteriorRun`, at the distribution `f.center(m)` of the relaxation f.

    If the user interrupts the run while it prepares its matrix, this round has already given lower
    and upper bounds on the value.
    """

    inner = "interior"
    active: ActiveSet

    def __init__(self, game: Game, tol: float) -> None:
        self._game = game
        self._tol = tol
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Use the d of the start, if it has one, for the first round only.

        The `InteriorRun` that follows begins at `f.center(m)`.
        """
        self.d = self.d if start.d is None else start.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Return an `InteriorRun` after its first step."""
        return InteriorRun(self._game, self._tol).advance(best)
