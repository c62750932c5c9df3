"""The function `reference`, which solves games by general convex solvers through cvxpy.

The solver's points are moved to feasible points, which prove bounds on the value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.loop import Clock, Limits, TimeUp, run, seconds_left
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import show_bracket
from relaxboost.game import bounds, programs
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game, check_game
from relaxboost.game.solution import Solution
from relaxboost.matrices.base import MAX_DENSE_ENTRIES
from relaxboost.matrices.bulk import varied
from relaxboost.relaxations import Witness, numerical
from relaxboost.relaxations.base import needs_solver
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.external import INTERIOR_POINT, Answer, ask, check_solver
from relaxboost.solvers.parametric_simplex.program import MAX_TABLEAU_ENTRIES
from relaxboost.solvers.warm_start import Weights

MAX_WHOLE_ENTRIES = 600_000
# For a larger matrix, the solver gets some columns, and in later rounds columns with larger edges.
"""The maximum number of matrix entries for which the solver gets all columns at once."""

COLUMNS_PER_ROUND = 300
"""The number of columns in the first problem for a large matrix. Each round adds at most half as
many."""


def reference(game: Game, solver: str | None = None, tol: float = 1e-6, **options: Any) -> Solution:
    """Solve a game with a general convex solver, and certify the result.

    The solver gets the primal and the dual of the game through cvxpy. Both give a candidate for the
    distribution d over the examples and for the hypothesis weights w. The candidates are moved to
    feasible points, and those that prove the best bounds are returned, whatever values the solver
    claims.

    If cvxpy computes f(d) from a cone program, as for a `Custom`, the solver first solves the
    primal with this cone program (HiGHS by its interior point method). If the gap is still larger
    than `tol`, the solver also solves the primal and the dual without the cone program.

    If a matrix has more than 600 000 entries, the solver first gets only columns with large edges.
    Columns with still larger edges for the solver's d are added, and the problem is solved again,
    until the gap of the whole game is at most `tol` or no column has a larger edge. Finally, both
    problems are solved on the columns that an optimal w can use.

    Over a Euclidean set, such as an l2 ball, an optimal w uses every column. If A has m rows and
    more columns, the solver gets the matrix A Q of shape (m, m), where the columns of Q are an
    orthonormal basis of the row space of A. The game with A Q has the same value.

    Parameters
    ----------
    game : Game
        The game to solve. The margin matrix must be able to list all columns.
    solver : {"CLARABEL", "ECOS", "SCS", "HIGHS", ...}, optional
        The name of an installed solver that cvxpy supports. The default is HIGHS if f and the
        domain are polyhedral, and CLARABEL otherwise.
    tol : float
        The largest gap of an "optimal" result, > 0.
    **options
        Solver options, which override those of `solvers.SOLVERS`.

    Returns
    -------
    Solution
        The best d and w, with the bounds that they prove. The status is ``"optimal"`` if the gap
        between the bounds is at most `tol`, ``"inaccurate"`` otherwise, and ``"interrupted"`` after
        Ctrl-C. `message` has the values that the solver claimed.

    Raises
    ------
    InputError
        If the solver is unknown, if tol <= 0, if the matrix cannot list its columns, or if a game
        over a Euclidean set is too large for a general solver.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.reference(rb.Game([[1, 0], [0, 1]])).status
    'optimal'
    """
    check_game(game, "reference needs")
    tol = positive("tol", tol)
    matrix = game.matrix
    if matrix.n is None:
        raise InputError(
            f"reference(game) needs every column, but {matrix!r} does not enumerate them; "
            "use solve(game)"
        )
    curved = None if game.over.linear else f"over={game.over!r}"
    solver = check_solver(solver, "this f" if game.linear_form is None else curved)
    if not isinstance(game.over, AtomicSet) and not fits(game):
        raise InputError(
            f"reference(game) over {game.over!r} needs every column, but a matrix of "
            f"{game.m} x {matrix.n} is too large for a general solver; use solve(game)"
        )
    clock = Clock()
    search = _Search(game, solver, tol, options)
    status = run(search.rounds(), lambda _: "", Limits(), clock, empty=True)
    pair = search.pair
    status = status or ("optimal" if 0.0 <= pair.gap <= tol else "inaccurate")
    return Solution(
        game=game,
        support=pair.support,
        coefficients=pair.coefficients,
        d=pair.d,
        witness=pair.witness,
        lower=pair.lower,
        upper=pair.upper,
        status=status,
        tol=tol,
        method=f"reference ({solver})",
        rounds=search.asked,
        seconds=clock.seconds,
        message=search.message(),
    )


def fits(game: Game) -> bool:
    """Return whether a game over a Euclidean set is small enough for a general solver."""
    m = game.m
    n = game.n or 0
    return m * min(m, n) <= MAX_TABLEAU_ENTRIES and m * n <= MAX_DENSE_ENTRIES


def best_pair(game: Game, solver: str, tol: float) -> tuple[Vector, Weights]:
    """Return the best distribution d and weights w that a solver finds in the remaining time.

    The points are feasible. The search stops when their gap is at most `tol`. A failure of the
    solver raises no error, because another method may still solve the game. If the solver finds no
    point, the result is the starting point of every run: `f.center(m)`, and w = 0 or a single
    column.
    """
    limits: dict[str, Any] = {}
    search = _Search(game, solver, tol, limits)
    refused = ValueError, ArithmeticError, MemoryError, NotImplementedError, cp.error.DCPError
    with suppress(*refused, TimeUp):
        limits.update(_time_limit())
        for _ in search.rounds():
            # The multipliers of the primal are usually good enough.
            if search.pair.gap <= tol:
                break
            # The next problem may use the time that this problem did not use.
            limits.update(_time_limit())
    return search.pair.d, (search.pair.support, search.pair.coefficients)


def _time_limit() -> dict[str, float]:
    left = seconds_left()
    return {} if left == math.inf else {"time_limit": left}


class _BestPair:
    # The first d is `f.center(m)`, and the first w is the point of the domain from which runs
    # start. This pair is feasible for every game.
    def __init__(self, game: Game) -> None:
        self.game = game
        self.usable = 0
        """The number of solver points that could be moved to feasible points."""
        self.d = game.relaxation.center(game.m)
        self.trivial_upper = self._evaluate_upper(self.d)
        self.upper = self.trivial_upper
        self.support, self.coefficients = game.over.start(game.matrix, self.d)
        self.trivial = "one column" if self.support.size else "w = 0"
        """The first weights in the words of `Solution.message`: "one column" or "w = 0"."""
        self.witness: Witness
        self.lower, self.witness = self._evaluate_lower(self.support, self.coefficients)

    def _evaluate_upper(self, d: Vector) -> float:
        game = self.game
        return bounds.evaluate_upper(game.matrix, game.relaxation, d, game.over)

    def _evaluate_lower(
        self, support: NDArray[np.int64], coefficients: Vector, witness: Witness | None = None
    ) -> tuple[float, Witness]:
        game = self.game
        return bounds.evaluate_lower(
            game.matrix, game.relaxation, support, coefficients, game.over, witness
        )

    @property
    def gap(self) -> float:
        """The difference between the two bounds so far."""
        return self.upper - self.lower

    def offer_d(self, d: Vector | None) -> Vector | None:
        """Move the distribution `d` to a feasible point, and keep it if it proves a better bound.

        Return the feasible point, or None if `d` is None, is not finite or has no positive entry.
        """
        # A solver that fails returns no point, or a d that is not finite or has no weight.
        if d is None or not np.isfinite(d).all() or np.max(d) <= 0.0:
            return None
        d = self.game.repair_d(d)
        upper = self._evaluate_upper(d)
        self.usable += 1
        if upper < self.upper:
            self.upper = upper
            self.d = d
        return d

    def offer_w(self, weights: Weights, proof: ConeProof | None, least: float) -> None:
        """Move weights to a feasible point, and keep them if they prove a better bound."""
        # The bound that the multipliers in `proof` give may be poor, for example if a multiplier is
        # zero. If it is below `least`, a second bound is computed without `proof`.
        game = self.game
        try:
            support, coefficients = game.repair_w(weights)
            witness = None
            if proof is not None:
                u = game.matrix.margins(support, coefficients)
                witness = bounds_of(game.relaxation).near_witness(u, proof)
            lower, witness = self._evaluate_lower(support, coefficients, witness)
            if proof is not None and lower < least:
                solved = self._evaluate_lower(support, coefficients)
                lower, witness = solved if solved[0] > lower else (lower, witness)
        except InputError:
            # The weights cannot be moved into the domain, or no solver evaluates the margins of w.
            return
        self.usable += 1
        if lower > self.lower:
            self.lower = lower
            self.witness = witness
            self.support = support
            self.coefficients = coefficients


class _Search:
    def __init__(self, game: Game, solver: str, tol: float, options: dict[str, Any]) -> None:
        self.game = game
        self._solver = solver
        self._tol = tol
        self._options = options
        self.pair = _BestPair(game)
        self.asked = 0
        """The number of problems passed to the solver so far."""
        self._atoms = game.over if isinstance(game.over, AtomicSet) else None
        self._columns = _first_columns(game)
        # This is an orthonormal basis of the row space of A, if the solver gets A in that basis.
        self._basis: Vector | None = None
        self._answers: dict[str, Answer] = {}
        self._priced = False
        # If brackets are evaluated in closed form, they cost little, and both problems are solved.
        self._cones = game.cone_form if needs_solver(game.relaxation) else None

    def rounds(self) -> Iterator[Vector | None]:
        """Solve the primal and the dual on columns that the optimum may use.

        After each problem, yield the solver's distribution, moved to a feasible point, or None.
        """
        if self._columns.size < self.game.matrix.known:
            yield from self._price_in()
        A = self._handed_over()
        yield self._ask(programs.primal, A)
        if self._cones is not None:
            # The point and the multipliers of the cone form are good enough.
            if self.pair.gap <= self._tol:
                return
            self._cones = None
            yield self._ask(programs.primal, A)
        try:
            d = self._ask(programs.dual, A)
        except NotImplementedError:
            # The conjugate needs power cones that cvxpy lacks. The primal has given d and w.
            return
        yield d

    def _handed_over(self) -> Any:
        # If the domain is a Euclidean set and A has more columns than rows, the solver gets A Q,
        # where the columns of Q are an orthonormal basis of the row space of A. The game with A Q
        # has the same value.
        matrix = self.game.matrix
        if self._columns.size < matrix.known or not matrix.stored:
            A: Any = matrix.columns(self._columns)
        else:
            A = matrix.tocvxpy()
        if self._atoms is not None or self._columns.size <= matrix.m:
            return A
        # The QR factorisation of Aᵀ gives A = Rᵀ Qᵀ. For w = Q z, A w = Rᵀ z, and w and z have the
        # same norm. Any other w with these margins has a larger norm.
        dense = A if isinstance(A, np.ndarray) else A.toarray()
        self._basis, triangle = np.linalg.qr(dense.T)
        return triangle.T

    def _price_in(self) -> Iterator[Vector | None]:
        # The loop ends when no column outside the problem has a larger edge, when the bracket is
        # narrow enough, or when the solver fails.
        assert self._atoms is not None
        matrix = self.game.matrix
        # HiGHS solves the primal on some hundred columns faster, and cone solvers the dual.
        faster = programs.primal if self._solver == "HIGHS" else programs.dual
        value = -math.inf
        while self._columns.size < matrix.known:
            d = self._ask(faster, matrix.columns(self._columns))
            yield d
            # A solver that failed on this problem would fail again.
            if d is None:
                return
            prices = self._atoms.prices(matrix.edges(d))
            more = _violated(prices, self._columns)
            inside = prices[self._columns]
            largest = float(inside.max())
            if self.pair.gap <= self._tol or not more.size:
                self._priced = True
                # Only columns with the largest edge are kept, up to the tolerance of the solver.
                is_tight = inside >= largest - 1e-3 * abs(largest) - 1e-7
                self._columns = self._columns[is_tight]
                return
            # By complementary slackness an optimal w uses columns with the largest edge only. So
            # columns with less than half of this edge are removed, but only if the value has
            # risen. No set of columns is then solved twice.
            (answer,) = self._answers.values()
            if answer.value > value + 1e-9 * max(1.0, abs(answer.value)):
                value = answer.value
                self._columns = self._columns[inside >= largest - 0.5 * abs(largest)]
            self._columns = np.sort(np.concatenate([self._columns, more]))

    def _ask(self, model: Any, A: Any) -> Vector | None:
        """Pass a problem to the solver, and keep its points if they are the best so far.

        `model` is `programs.primal` or `programs.dual`, and `A` is the matrix for the solver.
        Return the distribution, moved to a feasible point, or None.
        """
        self.asked += 1
        game = self.game
        defaults = None
        if self._cones is not None and model is programs.primal:
            problem = programs.primal_in_cones(A, self._cones, game.over)
            defaults = INTERIOR_POINT.get(self._solver)
        else:
            problem = model(A, game.relaxation, game.over)
        # The tolerances of solvers are designed for objectives of magnitude 1.
        size = max(game.over.reach(game.n), abs(self.pair.trivial_upper))
        answer = ask(problem.priced(size), self._solver, self._options, defaults)
        self._answers[answer.side] = answer
        # The primal has the variable d and the multipliers w; the dual has w and d instead.
        is_dual = answer.side == "dual"
        d = answer.other if is_dual else answer.point
        w = answer.point if is_dual else answer.other
        if w is not None and np.isfinite(w).all():
            # In the orthonormal basis Q the solver has found z with w = Q z.
            w = w if self._basis is None else self._basis @ w
            least = answer.value - 0.1 * self._tol
            self.pair.offer_w((self._columns, w), answer.proof, least)
        if answer.proof is not None and needs_solver(game.relaxation):
            # If d satisfies all constraints of the cone form, the bound on f(d) needs no solver.
            numerical.programs(game.relaxation, game.m).near_point(answer.proof)
        return self.pair.offer_d(d)

    def message(self) -> str:
        """Return the text of `Solution.message`, with the claimed values and the proved bounds."""
        if not self._answers:
            return f"{self._solver} was interrupted before it returned an answer"
        said = [f"{a.status}, {a.value:.9g} ({a.side})" for a in self._answers.values()]
        claim = f"{self._solver} says {' and '.join(said)}"
        if self._columns.size < self.game.matrix.known:
            claim += f" on {self._columns.size} of {self.game.n} columns"
            claim += ", after pricing all" if self._priced else ""
        pair = self.pair
        lower, upper = show_bracket(pair.lower, pair.upper)
        who = "its points"
        if not pair.usable:
            who = f"it returned no usable point; {pair.trivial} and the center"
        proof = f"{who} prove [{lower}, {upper}]{self._verdict()}"
        believed = bounds_of(self.game.relaxation).reservation(pair.witness, pair.d)
        return f"{claim}; {proof}" + (f"; {believed}" if believed else "")

    def _verdict(self) -> str:
        # A wide bracket, contradicting bounds and a claim outside the bracket need a warning.
        tol = self._tol
        if self.pair.gap > tol:
            return f"; that is wider than tol = {tol:g}, so do not use the solver's value"
        if self.pair.gap < 0.0:
            return (
                "; the lower bound exceeds the upper bound, since both come from a solver with "
                "rounding errors; if you wrote the relaxation, rb.testing.check_relaxation(f) "
                "finds methods that contradict each other"
            )
        # A wrong claim does not make the bracket wrong, but the user should know of it.
        low = self.pair.lower - tol
        high = self.pair.upper + tol
        wrong = [a.value for a in self._answers.values() if not low <= a.value <= high]
        if not wrong:
            return ""
        return f"; the claimed {wrong[0]:.9g} is outside the bracket by more than tol"


def _first_columns(game: Game) -> NDArray[np.int64]:
    # A solver gets all columns if the matrix is small or the domain is a Euclidean set. Otherwise
    # it gets columns whose edges (or |edges| over a ball) at f.center(m) are large.
    n = game.n
    assert n is not None
    if game.m * n <= MAX_WHOLE_ENTRIES or not isinstance(game.over, AtomicSet):
        return np.arange(n)
    # Nearly equal columns have nearly equal edges, so ten times as many columns are compared.
    prices = game.over.prices(game.matrix.edges(game.relaxation.center(game.m)))
    ranked = np.argsort(-prices, kind="stable")[: 10 * COLUMNS_PER_ROUND]
    return np.sort(varied(ranked, COLUMNS_PER_ROUND))


def _violated(prices: Vector, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    # The columns whose edges exceed the edges of all columns in the problem.
    outside = prices.copy()
    outside[columns] = -np.inf
    candidates = np.flatnonzero(outside > prices[columns].max())
    ranked = candidates[np.argsort(-outside[candidates], kind="stable")]
    return varied(ranked, COLUMNS_PER_ROUND // 2)
