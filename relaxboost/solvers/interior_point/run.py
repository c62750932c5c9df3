"""The rounds of the interior point method, its games, and its predicted work."""

from __future__ import annotations

import numpy as np

from relaxboost._core.blas import SMALL_ORDER
from relaxboost._core.errors import brief
from relaxboost.game.domains import AtomicSet, L2Ball, SquaredNorm
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import needs_solver
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.solvers import work
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.hypothesis import FullWeights, MovingHypothesis
from relaxboost.solvers.interior_point.elimination import MAX_FACTOR_ORDER, MAX_STORED_ENTRIES
from relaxboost.solvers.interior_point.iterate import Iterate
from relaxboost.solvers.interior_point.progress import Progress
from relaxboost.solvers.interior_point.sieve import Sieve
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.warm_start import WarmStart

MAX_CONE_EXAMPLES = 100_000
# A row of the cone program takes a few hundred bytes of memory.
"""The largest number of examples for a cone program, if f is not polyhedral."""

PREDICTED_ITERATIONS = 15
# The number hardly depends on the game, and 15 is typical (Wright 1997, Ch. 1).
"""The predicted number of iterations without column generation."""

CVXPY_OVERHEAD_PASSES = 1000.0
# Counted if the relaxation f is not polyhedral: in small games cvxpy takes more time than the
# steps.
"""The predicted time of a cvxpy compilation, in passes over a small margin matrix."""

PASSES_PER_ITERATION = 20
# The predictor, the corrector, the refinement and the bounds need these passes.
"""The number of passes over A in an iteration, without Newton's equations."""


def unfit(game: Game) -> str:
    """Return why the interior point method does not support a game, or "" if it does."""
    matrix = game.matrix
    if not isinstance(game.over, AtomicSet | L2Ball | SquaredNorm):
        return f"InteriorPoint() does not support the domain {game.over!r}"
    if matrix.n is None:
        return f"InteriorPoint() needs to know every column, but {matrix!r} does not enumerate them"
    if _has_sieve(game):
        # Over a Euclidean set, all columns have weight.
        if not isinstance(game.over, AtomicSet):
            return f"InteriorPoint() factorises at most {MAX_FACTOR_ORDER} columns or examples"
        # Fewer columns than a small matrix has would not do for the restricted problem.
        if not matrix.implicit and _max_restricted(game) < SMALL_ORDER:
            return f"InteriorPoint() stores the columns as an array, and {matrix!r} is too large"
    elif matrix.implicit and game.m > MAX_FACTOR_ORDER and not _has_no_rows(game):
        return (
            f"InteriorPoint() factorises a matrix of order {game.m} here, and {MAX_FACTOR_ORDER} "
            "is the largest supported order"
        )
    return "" if game.linear_form is not None else _unfit_cones(game)


def _unfit_cones(game: Game) -> str:
    # The reason why the method cannot solve a game with an f that is not polyhedral, or "".
    if game.m > MAX_CONE_EXAMPLES:
        return (
            f"{brief(game.relaxation)} is not polyhedral, and InteriorPoint() stores the cone "
            f"program of such a relaxation for at most {MAX_CONE_EXAMPLES} examples"
        )
    if game.cone_form is None:
        return (
            f"{brief(game.relaxation)} has no cone program, or its cone program needs other cones "
            "than half lines, second-order cones and exponential cones"
        )
    return ""


def _has_no_rows(game: Game) -> bool:
    # If the only constraints of f are bounds on single variables, Newton's equations for the
    # columns need no dense array of A.
    form = game.linear_form
    return form is not None and form.rows is None


def _has_sieve(game: Game) -> bool:
    matrix = game.matrix
    # Stumps are cheap to price and many, so that all but a few of them wait outside. For few stumps
    # column generation would save little work.
    if matrix.implicit and isinstance(game.over, AtomicSet):
        return _has_no_rows(game) and (matrix.n or 0) > SMALL_ORDER
    return matrix.entries > MAX_STORED_ENTRIES or min(game.m, matrix.n or 0) > MAX_FACTOR_ORDER


def _max_restricted(game: Game) -> int:
    n = game.n or 0
    # A matrix of the order of the examples allows any number of columns.
    if game.m <= MAX_FACTOR_ORDER:
        most = n
    else:
        # Stumps can also do without a matrix; an optimum uses at most as many as examples.
        most = min(n, game.m) if game.matrix.implicit else MAX_FACTOR_ORDER
    if game.matrix.implicit:
        return most
    return min(most, MAX_STORED_ENTRIES * n // max(game.matrix.entries, 1))


def predict_passes(game: Game) -> float:
    """Predict the work of an interior point run, in passes over A.

    A pass is one product of the game matrix A with a vector.
    """
    # Each iteration factorises a matrix, usually of the smaller of the orders n and m. With column
    # generation, the predicted order is a sixth of the largest possible order, and there are four
    # times as many iterations, because columns enter during the run.
    n = game.n or 0
    iterations = PREDICTED_ITERATIONS
    entries = float(game.matrix.entries)
    if _has_sieve(game):
        iterations *= 4
        order = _predict_restricted(game)
        entries = game.m * order
    else:
        needs_examples = game.matrix.implicit and not _has_no_rows(game)
        order = float(game.m if needs_examples else min(game.m, n))
    equations = work.passes_of(game, order * entries / 2.0 + order**3 / 3.0)
    overhead = 0.0 if game.linear_form is not None else CVXPY_OVERHEAD_PASSES
    if _has_sieve(game):
        # Without a matrix, 8 right-hand sides take 40 products of two passes each.
        equations = min(equations, 8 * 40 * 2.0)
    return overhead + iterations * (PASSES_PER_ITERATION + equations)


def is_matrix_free(game: Game) -> bool:
    """Predict whether conjugate gradients can replace the factorisation.

    This is possible only for stumps.
    """
    is_large = _has_sieve(game) and _predict_restricted(game) > MAX_FACTOR_ORDER
    return is_large and game.matrix.implicit


def _predict_restricted(game: Game) -> float:
    return min(game.m, game.n or 0, _max_restricted(game)) / 6.0


class InteriorRun(Booster):
    """A run of the interior point method, with one or more steps of an `Iterate` in each round.

    Each round ends with a feasible pair (d, w) near the iterate.
    """

    inner = "interior"
    active: FullWeights

    def __init__(self, game: Game, tol: float) -> None:
        over = game.over
        assert isinstance(over, AtomicSet | L2Ball | SquaredNorm)
        needs_cones = game.linear_form is None or needs_solver(game.relaxation)
        cones = game.cone_form if needs_cones else None
        # The multipliers of a cone form prove bounds on F. Half lines make a linear program with
        # the same rows. Families with closed forms have a shorter linear program, and bounds
        # without multipliers.
        self._has_proof = cones is not None
        form = game.linear_form if cones is None else cones.linear(game.m) or cones
        assert form is not None
        self._game = game
        self._tol = tol
        self._sieve: Sieve | None = None
        if isinstance(over, AtomicSet) and _has_sieve(game):
            whole = game.matrix.pricing()
            self._sieve = Sieve(whole, over, _max_restricted(game))
            bulk = self._sieve.bulk
            columns = self._sieve.columns
        else:
            whole = bulk = game.matrix.bulk()
            columns = np.arange(bulk.n)
        self._iterate = Iterate(form, bulk, over, game.relaxation.center(game.m), whole)
        self.active = FullWeights(over, columns, self._iterate.w, self._iterate.bounds.margins)
        self._gap = np.inf
        """The difference between the bounds that the current d and w prove."""
        self._progress = Progress(patience=8 if self._sieve is None else 20)
        self.d = game.relaxation.center(game.m)
        self._show()

    @property
    def _are_bounds_expensive(self) -> bool:
        # The bounds may require the solution of a cone program in each round.
        # With a sieve, every step prices all columns, and the bounds follow from the prices.
        asks_solver = self._has_proof or needs_solver(self._game.relaxation)
        return asks_solver and self._sieve is None

    def advance(self, best: Best) -> Booster | None:
        """Take one step, or several if the bounds on the value are expensive.

        Return None if no step is possible or if the steps make no progress.
        """
        # A cone program is worth many steps, so a round makes up half of the digits that are
        # missing. A gap is often less than the complementarity, so the last rounds stay near tol.
        product = self._iterate.product
        goal = np.sqrt(product * self._tol) if self._are_bounds_expensive else np.inf
        if not self._step():
            self.end("its Newton steps make no more progress")
            return None
        while self._iterate.product > goal and self._step():
            pass
        is_enough = self._show()
        active = self.active
        # More steps may let the columns in use prove the gap. But by passes each further step is as
        # expensive as all that came before.
        is_by_passes = self._iterate.elimination.is_by_passes
        while not is_enough and not is_by_passes and self._step():
            shown = self.d, self.witness, active.columns, active.w, active.u, self.evaluated
            is_enough = self._show()
            if self._gap > self._tol:
                # Rounding has spoilt the pair, and the one before is shown after all.
                self.d, self.witness, active.columns, active.w, active.u, self.evaluated = shown
                active.cost = active.over.cost(active.w)
                break
        return self

    def _step(self) -> bool:
        iterate = self._iterate
        self.work += PASSES_PER_ITERATION
        is_stuck = self._progress.is_stuck(self._gap, iterate.mu, iterate.infeasibility)
        try:
            return not is_stuck and iterate.step(self._sieve) > 1e-6
        # SciPy raises these errors if a dense or a sparse factor is singular.
        except (np.linalg.LinAlgError, RuntimeError):
            return False

    def _show(self) -> bool:
        """Store a feasible pair (d, w) near the current point, and the bounds that it proves.

        The first w is positive only on the columns in use. If its gap exceeds the tolerance, the
        second w omits only the lightest columns, with a total weight of at most a quarter of the
        tolerance. Return False if only the second w is accurate enough, because more steps may help
        the first.
        """
        over = self._game.over
        assert isinstance(over, AtomicSet | L2Ball | SquaredNorm)
        w = self._iterate.w
        used = self._iterate.bounds.is_in_use
        penalty = self._repair()
        if self._sieve is not None:
            largest = self._sieve.price(self._iterate.d)
        else:
            largest = over.edge_size(self._iterate.bounds.edges)
        upper = penalty + over.value(largest)
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
                self.active.cost = over.cost(self.active.w)
                self.active.u = self._iterate.bulk.margins(self.active.w)
                is_known = self._bound(is_quick, is_early, penalty, upper)
                if is_early:
                    return True
                if is_known and self._gap <= self._tol:
                    return mask is used
        return True

    def _repair(self) -> float:
        # Store a feasible d near the current point, and return an upper bound on f(d).
        f = self._game.relaxation
        proof = self._iterate.part.proof
        if needs_solver(f) and self._has_proof and proof is not None:
            # The other variables of f at the iterate prove an upper bound without a solver.
            known = numerical.programs(f, self._game.m).near_point(proof)
            if known is not None:
                self.d = known[0]
                return known[1]
        self.d = f.repair(self._iterate.d)
        return f.penalty(self.d)

    def _bound(self, is_quick: bool, is_early: bool, penalty: float, upper: float) -> bool:
        """Compute a lower bound on F(A w), and store the gap.

        * If `is_quick` is True, the multipliers of the current point prove the bound. Return False
          if they prove no bound.
        * If `is_quick` and `is_early` are False, the bound is exact, which may require the solution
          of a cone program.
        * If only `is_early` is True, no bound is computed, because the loop over the rounds
          computes the exact bound later.

        Return True in all other cases.
        """
        f = self._game.relaxation
        u = self.active.u
        proof = self._iterate.part.proof
        bounds = bounds_of(f)
        self.witness = bounds.near_witness(u, proof) if is_quick and proof is not None else None
        if self.witness is not None:
            lower = bounds.lower_bound(u, self.witness)
        elif is_quick or is_early:
            return not is_quick
        else:
            lower = f.relaxed_margin(u)[0]
        self.evaluated = lower, penalty
        self._gap = upper - (lower - self.active.cost)
        return True


class Opening(Booster):
    """The first round of an interior point run, which evaluates the bounds at `f.center(m)`.

    These bounds are available even if the user interrupts the second round, which prepares a
    matrix.
    """

    inner = "interior"
    active: MovingHypothesis

    def __init__(self, game: Game, tol: float) -> None:
        self._game = game
        self._tol = tol
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Use the distribution of `start`, if there is one, in the first round only."""
        self.d = self.d if start.d is None else start.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Return an `InteriorRun` after its first round, or None if no step is possible."""
        following = InteriorRun(self._game, self._tol)
        if following.advance(best) is None:
            self.end(following.why_ended)
            return None
        return following
