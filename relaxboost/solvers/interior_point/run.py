"""A run of the interior point method, the games that the method accepts, and its predicted work."""

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
"""The largest number of entries of A that the method stores as a dense array. An entry takes 8
bytes."""

MAX_CONE_EXAMPLES = 100_000
"""The largest number of examples for which the method uses the cone program of a relaxation f that
is not polyhedral. A row of this program takes some hundred bytes."""

FEW_COLUMNS = 1000
"""The number of columns that the method can always use together. If a game has at most this number
of stumps, the method uses no column generation. If A is so large that the restricted problem may
contain only fewer columns, the method rejects the game."""

ITERATIONS = 15
"""The predicted number of iterations of a run, which is a usual number (Wright 1997, Ch. 1)."""

PASSES_PER_ITERATION = 20
"""The passes over A in an iteration, without the cost of Newton's equations. The predictor, the
corrector, their refinement, and the bounds on the value need these passes."""


def unfit(game: Game) -> str:
    """Return the reason why the interior point method cannot solve a game, or "" if it can."""
    return _unfit_matrix(game) or _unfit_relaxation(game)


def _unfit_matrix(game: Game) -> str:
    """Return the reason why the method rejects the weights or the matrix A of a game, or ""."""
    matrix = game.matrix
    if not isinstance(game.over, AtomicSet):
        return (
            "InteriorPoint() needs a set of weights that is the convex hull of finitely many "
            f'points, and this game is over {game.over!r}; use method="fully-corrective"'
        )
    if matrix.n is None:
        return (
            f"InteriorPoint() needs every column of A, and {matrix!r} does not enumerate them; "
            "use LPBoost()"
        )
    if _has_sieve(game):
        if not matrix.implicit and _max_in_play(game) < FEW_COLUMNS:
            return (
                f"InteriorPoint() stores columns of A as a dense array, and "
                f"{matrix!r} is too large for this; use LPBoost()"
            )
    elif matrix.implicit and game.m > MAX_FACTOR_ORDER and not _has_no_rows(game):
        return (
            f"InteriorPoint() needs to factorise a matrix of order {game.m} for this game, and "
            f"the largest supported order is {MAX_FACTOR_ORDER}; use LPBoost()"
        )
    return ""


def _unfit_relaxation(game: Game) -> str:
    """Return the reason why the method rejects the relaxation f of a game, or ""."""
    if game.linear_form is not None:
        return ""
    if game.m > MAX_CONE_EXAMPLES:
        return (
            f"{game.relaxation!r} is not polyhedral, and InteriorPoint() supports such an f "
            f"for at most {MAX_CONE_EXAMPLES} examples; use Corrective()"
        )
    if game.cone_form is None:
        return (
            f"{game.relaxation!r} needs other cones than half lines, second-order cones and "
            'exponential cones, and InteriorPoint() supports only these; use method="auto"'
        )
    return ""


def _has_no_rows(game: Game) -> bool:
    """Return whether the relaxation f is a linear program that only bounds its variables.

    Newton's equations for the columns can then be formed without storing A as a dense array.
    """
    form = game.linear_form
    return form is not None and form.rows is None


def _has_sieve(game: Game) -> bool:
    """Return whether the method uses column generation, with only some columns at a time."""
    matrix = game.matrix
    # Stumps are cheap to price and many, so that all but a few of them wait outside.
    if matrix.implicit:
        return _has_no_rows(game) and (matrix.n or 0) > FEW_COLUMNS
    return matrix.entries > MAX_ENTRIES or min(game.m, matrix.n or 0) > MAX_FACTOR_ORDER


def _max_in_play(game: Game) -> int:
    """Return the largest number of columns in the restricted problem of a game."""
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
    """Return the predicted number of passes over A that a run takes until its gap is small.

    An iteration forms and factorises a matrix. The order of the matrix is the number of examples or
    the number of columns in the restricted problem. With column generation, an optimum uses about a
    sixth of the columns that the restricted problem may contain. Such a run takes four times as
    many iterations, because columns enter and leave.
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
    """A run of the interior point method after its first round.

    Each round takes one or more steps of an `Iterate`. It then shows a feasible pair (d, w) near
    the point of the `Iterate`.
    """

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
        """The gap of the pair (d, w) that the run shows."""
        self._progress = Progress(patience=8 if self._sieve is None else 20)
        self.d = game.relaxation.center(game.m)
        self._show()

    @property
    def _over(self) -> AtomicSet:
        assert isinstance(self._game.over, AtomicSet)
        return self._game.over

    @property
    def _are_bounds_expensive(self) -> bool:
        """Whether each bound on the value takes a cone program."""
        # With a sieve, every step prices all columns, and the bounds follow from the prices.
        asks_solver = self._has_proof or self._game.relaxation.from_solver
        return asks_solver and self._sieve is None

    def advance(self, best: Best) -> Booster | None:
        """Take a round of one or more steps. Return None if no step is possible.

        A round takes several steps if each bound on the value takes a cone program.
        """
        # A cone program is worth many steps, so a round makes up half of the digits that are
        # missing. A gap is often less than the complementarity, so the last rounds stay near tol.
        product = self._iterate.product
        goal = np.sqrt(product * self._tol) if self._are_bounds_expensive else np.inf
        if not self._step():
            return None
        while self._iterate.product > goal and self._step():
            pass
        is_enough = self._show()
        # By passes each further step is as expensive as all that came before.
        if not self._iterate.elimination.is_by_passes:
            self._polish(is_enough)
        return self

    def _polish(self, is_enough: bool) -> None:
        """Take more steps until the columns in use are enough to prove the gap.

        If a further step makes the gap greater than the tolerance, the run shows the earlier pair
        (d, w).
        """
        active = self.active
        while not is_enough and self._step():
            shown = self.d, self.witness, active.columns, active.w, active.u, self.evaluated
            is_enough = self._show()
            if self._gap > self._tol:
                # Rounding has spoilt the pair, and the one before is shown after all.
                self.d, self.witness, active.columns, active.w, active.u, self.evaluated = shown
                return

    def _step(self) -> bool:
        """Take a step. Return False if there is no progress or if no step is possible."""
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
        """Return the largest price of all columns at the distribution d of the iterate."""
        if self._sieve is not None:
            return self._sieve.price(self._iterate.d)
        return float(self._over.prices(self._iterate.bounds.edges).max())

    def _show(self) -> bool:
        """Show a feasible pair (d, w) near the iterate, with as few columns as prove the gap.

        The pair first contains only the columns in use. If these columns do not prove a gap of at
        most tol, the pair contains more columns. Only columns of small weight, with a sum of at
        most tol/4, are then left out.

        Return False if the gap is at most tol only with these additional columns. Otherwise return
        True.
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
        """Show a distribution d near the iterate at which the relaxation f is finite.

        Return f(d) or an upper bound of f(d).
        """
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
        """Compute the lower bound F(A w) for the weights w that the run shows.

        F(u) is the minimum of f(d) + ⟨d, u⟩ over distributions d. If `is_quick`, the bound follows
        from the multipliers of the iterate. Return False if the multipliers prove no bound.
        Otherwise the bound is exact and may take a cone program. If `is_early`, this exact bound is
        left to the caller of the run.
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
    """Return the program that defines the relaxation f of a game.

    The second result is True if the multipliers of this program prove lower bounds on F(u), the
    minimum of f(d) + ⟨d, u⟩ over distributions d.

    A relaxation without closed formulas is defined by its cone program. If the cone program has
    only linear constraints, the result is the linear program with the same rows.
    `Relaxation.near_witness` accepts the multipliers of these rows.
    """
    cones = game.cone_form if game.linear_form is None or game.relaxation.from_solver else None
    if cones is not None:
        return cones.linear(game.m) or cones, True
    # Families with closed forms have a shorter linear program, and bounds without multipliers.
    assert game.linear_form is not None
    return game.linear_form, False


class Opening(Booster):
    """The first round of a run, which shows the distribution `f.center(m)`.

    An `InteriorRun` computes the later rounds. A run that is interrupted while its matrix is
    prepared therefore already has a bracket [lower, upper] of the value.
    """

    inner = "interior"
    active: ActiveSet

    def __init__(self, game: Game, tol: float) -> None:
        self._game = game
        self._tol = tol
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Use the distribution d of a warm start in the first round, and return this booster.

        The later rounds do not use the warm start. They start near the distribution `f.center(m)`.
        """
        self.d = self.d if start.d is None else start.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Return an `InteriorRun` that has taken its first round."""
        return InteriorRun(self._game, self._tol).advance(best)
