"""Solve the primal and the dual of a game by cvxpy, and keep the bracket that the points prove."""

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
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.matrices.base import WRITE_DOWN_LIMIT
from relaxboost.matrices.bulk import varied
from relaxboost.relaxations import Witness, numerical
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.external import INTERIOR_POINT, Answer, ask, check_solver
from relaxboost.solvers.parametric_simplex.program import MAX_ENTRIES
from relaxboost.solvers.warm_start import Weights

MAX_WHOLE_ENTRIES = 600_000
"""The most entries of a matrix that the solver gets whole. Of a larger matrix it gets the columns
that an optimum may need."""

COLUMNS_PER_ROUND = 300
"""The number of columns that the solver gets first. Each later round adds up to half as many."""


def reference(game: Game, solver: str | None = None, tol: float = 1e-6, **options: Any) -> Solution:
    """Return the certified optimum of a game by a general convex solver.

    cvxpy passes the primal and the dual of the game to the solver. Each solution has a point and
    multipliers, so that there are two candidates for the distribution d over the examples and two
    for the weights w of the hypotheses. Each candidate is repaired and evaluated, and the best d
    and w are returned. The values that the solver claims do not enter the bracket.

    If cvxpy also evaluates f, as it does for a `Custom`, the primal is solved first in the cone
    form of f, by the interior point method of HiGHS or by the other solver. The multipliers prove
    a lower bound, so that one solution gives both d and w. The primal and the dual as they are
    declared are solved only if the bracket is wider than `tol`.

    A matrix with more than 600 000 entries is not given to the solver as a whole. The solver first
    gets columns with large edges. Then the edges of *all* columns are computed for its d, and
    columns with larger edges than those in use are added. This is repeated until the bracket of the
    whole game is narrow enough, or no column has a larger edge. Finally, both problems are solved
    on the columns that an optimal w can use.

    Over a Euclidean set an optimal w uses every column. If A has more columns than examples, the
    solver gets A in an orthonormal basis of its row space. This matrix is m x m, and its game has
    the same value.

    Parameters
    ----------
    game : Game
    solver : {"CLARABEL", "ECOS", "SCS", "HIGHS", ...}, optional
        A solver that cvxpy finds installed. The default is HIGHS for linear games, which have a
        polyhedral f and domain, and CLARABEL for others.
    tol : float
        The gap above which the result is reported as inaccurate. It must be positive.
    **options
        Options of the solver. They override the defaults of the package (`solvers.SOLVERS`).

    Returns
    -------
    Solution
        The best pair with its bracket. Its status is ``"optimal"`` if the bracket is at most `tol`
        wide, and ``"inaccurate"`` otherwise. After Ctrl-C the status is ``"interrupted"``, and the
        bracket is the best so far. `message` repeats the values that the solver claimed.

    Raises
    ------
    InputError
        If the solver is unknown, if tol <= 0, if the columns of the matrix are not enumerated, or
        if a game over a Euclidean set is too large for a general solver.
    """
    if not isinstance(game, Game):
        raise InputError(f"reference needs a Game, got {type(game).__name__}; write Game(A, f)")
    tol = positive("tol", tol)
    matrix = game.matrix
    if matrix.n is None:
        raise InputError(
            f"reference(game) needs every column, and {matrix!r} does not enumerate them; "
            "use solve(game)"
        )
    solver = check_solver(solver, _curved(game))
    if not isinstance(game.over, AtomicSet) and not fits(game):
        raise InputError(
            f"reference(game) over {game.over!r} needs every column, and {game.m} x {matrix.n} is "
            "more than a general solver holds; use solve(game)"
        )
    clock = Clock()
    search = _Search(game, solver, tol, options)
    status = run(search.rounds(), lambda _: "", Limits(), clock, empty=True)
    status = status or ("optimal" if 0.0 <= search.gap <= tol else "inaccurate")
    return Solution(
        game=game,
        support=search.pair.support,
        coefficients=search.pair.coefficients,
        d=search.pair.d,
        witness=search.pair.witness,
        lower=search.pair.lower,
        upper=search.pair.upper,
        status=status,
        tol=tol,
        method=f"reference ({solver})",
        rounds=search.asked,
        seconds=clock.seconds,
        message=search.message(),
    )


def fits(game: Game) -> bool:
    """Return whether a game over a Euclidean set is small enough to give it to a solver whole."""
    m = game.m
    n = game.n or 0
    return m * min(m, n) <= MAX_ENTRIES and m * n <= WRITE_DOWN_LIMIT


def best_pair(game: Game, solver: str, tol: float) -> tuple[Vector, Weights]:
    """Return the best feasible d and w that a solver finds in the time that a run has left.

    No further problem is solved once the gap is at most tol. If the solver finds no point, the
    centre of f and the first w of the domain are returned. This is no error: f may have a closed
    form that cvxpy cannot express, and the program may need more memory than the run.
    """
    limits: dict[str, Any] = {}
    search = _Search(game, solver, tol, limits)
    refused = ValueError, ArithmeticError, MemoryError, NotImplementedError, cp.error.DCPError
    with suppress(*refused, TimeUp):
        limits.update(_time_limit())
        for _ in search.rounds():
            # The multipliers of the primal are usually good enough.
            if search.gap <= tol:
                break
            # The next problem may use the time that this one has left.
            limits.update(_time_limit())
    return search.pair.d, (search.pair.support, search.pair.coefficients)


def _time_limit() -> dict[str, float]:
    """Return the solver option for the seconds that the run has left, if these are limited."""
    left = seconds_left()
    return {} if left == math.inf else {"time_limit": left}


class _BestPair:
    """The best repaired d and w so far, and their bracket.

    The first pair is feasible for every game: the centre of f, and the w at which runs start.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.usable = 0
        """The number of points of a solver that could be repaired."""
        self.d = game.relaxation.center(game.m)
        self.trivial_upper = self._evaluate_upper(self.d)
        self.upper = self.trivial_upper
        self.support, self.coefficients = game.over.start(game.matrix, self.d)
        self.trivial = "one column" if self.support.size else "w = 0"
        """The name of the first w in messages."""
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
        """The width of the bracket so far."""
        return self.upper - self.lower

    def offer_d(self, d: Vector | None) -> Vector | None:
        """Keep a d if its upper bound is better; return the repaired d, or None if unusable."""
        # A solver that fails leaves no point, or one that is not finite or has no weight.
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
        """Keep weights w if their lower bound is better.

        `proof` has multipliers of the cone form of f. If the bound that they prove is below
        `least`, a solver computes better multipliers at the margins of w. For example,
        multipliers that are exactly zero cannot be repaired.
        """
        game = self.game
        try:
            support, coefficients = game.repair_w(weights)
            witness = None
            if proof is not None:
                u = game.matrix.margins(support, coefficients)
                witness = game.relaxation.near_witness(u, proof)
            lower, witness = self._evaluate_lower(support, coefficients, witness)
            if proof is not None and lower < least:
                solved = self._evaluate_lower(support, coefficients)
                lower, witness = solved if solved[0] > lower else (lower, witness)
        except InputError:
            # No point of the domain is near, or no solver answers at the margins of w.
            return
        self.usable += 1
        if lower > self.lower:
            self.lower = lower
            self.witness = witness
            self.support = support
            self.coefficients = coefficients


class _Search:
    """A run of a general solver: the columns that it gets, its answers, and the best pair."""

    def __init__(self, game: Game, solver: str, tol: float, options: dict[str, Any]) -> None:
        self.game = game
        self._solver = solver
        self._tol = tol
        self._options = options
        self.pair = _BestPair(game)
        self.asked = 0
        """The number of problems that the solver was given."""
        self._atoms = game.over if isinstance(game.over, AtomicSet) else None
        self._columns = _first_columns(game)
        # An orthonormal basis of the row space of A, if the solver gets A in that basis.
        self._basis: Vector | None = None
        self._answers: dict[str, Answer] = {}
        self._priced = False
        # If brackets are evaluated in closed form, they cost little, and both problems are solved.
        self._cones = game.cone_form if game.relaxation.from_solver else None

    @property
    def gap(self) -> float:
        """The width of the bracket so far."""
        return self.pair.gap

    def rounds(self) -> Iterator[Vector | None]:
        """Add columns until the bracket is narrow or none is missing; then solve both problems.

        Yield the d of each problem that was solved, or None if the solver gave up.
        """
        if self._columns.size < self.game.matrix.known:
            yield from self._price_in()
        A = self._handed_over()
        yield self._ask(programs.primal, A)
        if self._cones is not None:
            # The point and the multipliers of the cone form are good enough.
            if self.gap <= self._tol:
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
        """Return the columns in use, in an orthonormal basis if that makes fewer of them."""
        matrix = self.game.matrix
        if self._columns.size < matrix.known or not matrix.stored:
            A = matrix.columns(self._columns)
        else:
            A = matrix.tocvxpy()
        if self._atoms is not None or self._columns.size <= matrix.m:
            return A
        # The QR factorisation of Aᵀ gives A = Rᵀ Qᵀ. Then w = Q z has A w = Rᵀ z and the norm of z.
        # Any other w with these margins is longer.
        dense = A if isinstance(A, np.ndarray) else A.toarray()
        self._basis, triangle = np.linalg.qr(dense.T)
        return triangle.T

    def _price_in(self) -> Iterator[Vector | None]:
        """Solve the game on some columns, and add columns with larger edges, until it is solved."""
        assert self._atoms is not None
        matrix = self.game.matrix
        # HiGHS solves the primal on some hundred columns faster, and cone solvers the dual.
        faster = programs.primal if self._solver == "HIGHS" else programs.dual
        value = -math.inf
        while self._columns.size < matrix.known:
            d = self._ask(faster, matrix.columns(self._columns))
            yield d
            # A solver that gave up would give up again.
            if d is None:
                return
            prices = self._atoms.prices(matrix.edges(d))
            more = _violated(prices, self._columns)
            inside = prices[self._columns]
            largest = float(inside.max())
            if self.gap <= self._tol or not more.size:
                self._priced = True
                # Only columns with the largest edge remain, up to the tolerance of the solver.
                is_tight = inside >= largest - 1e-3 * abs(largest) - 1e-7
                self._columns = self._columns[is_tight]
                return
            # By complementary slackness an optimal w uses columns with the largest edge only, so
            # columns with less than half of it are given up. This is done only if the value has
            # risen, so that no set of columns is solved twice.
            (answer,) = self._answers.values()
            if answer.value > value + 1e-9 * max(1.0, abs(answer.value)):
                value = answer.value
                self._columns = self._columns[inside >= largest - 0.5 * abs(largest)]
            self._columns = np.sort(np.concatenate([self._columns, more]))

    def _size(self) -> float:
        """Return the size of the numbers in the problem, which scales its objective.

        The tolerances of a solver are meant for numbers of size 1.
        """
        reach = self.game.over.reach(self.game.n)
        return max(reach, abs(self.pair.trivial_upper))

    def _ask(self, model: Any, A: Any) -> Vector | None:
        """Run the solver on one problem, offer its points, and return its repaired d."""
        self.asked += 1
        game = self.game
        defaults = None
        if self._cones is not None and model is programs.primal:
            problem = programs.primal_in_cones(A, self._cones, game.over)
            defaults = INTERIOR_POINT.get(self._solver)
        else:
            problem = model(A, game.relaxation, game.over)
        answer = ask(problem.priced(self._size()), self._solver, self._options, defaults)
        self._answers[answer.side] = answer
        return self._offer(answer)

    def _offer(self, answer: Answer) -> Vector | None:
        """Offer the points of an answer as d and w, and return the repaired d."""
        # The variable of the primal is d and that of the dual is w; multipliers are the other.
        is_dual = answer.side == "dual"
        d = answer.other if is_dual else answer.point
        w = answer.point if is_dual else answer.other
        if w is not None and np.isfinite(w).all():
            # In the orthonormal basis Q the solver has found z with w = Q z.
            w = w if self._basis is None else self._basis @ w
            least = answer.value - 0.1 * self._tol
            self.pair.offer_w((self._columns, w), answer.proof, least)
        if answer.proof is not None and self.game.relaxation.from_solver:
            # If d breaks no constraint of the cone form, the bound on f(d) needs no solver.
            numerical.programs(self.game.relaxation, self.game.m).near_point(answer.proof)
        return self.pair.offer_d(d)

    def message(self) -> str:
        """Return a sentence with the claims of the solver, and the bracket of its points."""
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
        believed = self.game.relaxation.believed(pair.witness, pair.d)
        return f"{claim}; {proof}" + (f"; {believed}" if believed else "")

    def _verdict(self) -> str:
        """Return whether the bracket is narrow, and whether the claimed values are inside."""
        tol = self._tol
        if self.gap > tol:
            return f"; that is wider than tol = {tol:g}, so do not use the solver's value"
        if self.gap < 0.0:
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


def _curved(game: Game) -> str | None:
    """Return the part of the game that is not polyhedral, or None if it is a linear program."""
    if game.linear_form is None:
        return "this f"
    return None if game.over.linear else f"over={game.over!r}"


def _first_columns(game: Game) -> NDArray[np.int64]:
    """Return the numbers of all columns, or of some with large edges at the centre of f."""
    n = game.n
    assert n is not None
    if game.m * n <= MAX_WHOLE_ENTRIES or not isinstance(game.over, AtomicSet):
        return np.arange(n)
    # Nearly equal columns have nearly equal edges, so a selection from ten times as many varies.
    prices = game.over.prices(game.matrix.edges(game.relaxation.center(game.m)))
    ranked = np.argsort(-prices, kind="stable")[: 10 * COLUMNS_PER_ROUND]
    return np.sort(varied(ranked, COLUMNS_PER_ROUND))


def _violated(prices: Vector, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return columns outside of `columns` whose edges exceed all edges inside."""
    outside = prices.copy()
    outside[columns] = -np.inf
    candidates = np.flatnonzero(outside > prices[columns].max())
    ranked = candidates[np.argsort(-outside[candidates], kind="stable")]
    return varied(ranked, COLUMNS_PER_ROUND // 2)
