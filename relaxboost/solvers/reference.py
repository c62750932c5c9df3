"""Solve the cvxpy pair of a game and keep only what its points prove."""

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
from relaxboost.solvers.warm_start import Weights

_ALL_COLUMNS = 600_000
"""Entries up to which the solver gets the whole matrix; beyond, columns are priced in."""
_FIRST, _MORE = 300, 150
_APART = 0.2
"""The share of the largest edge by which those are smaller whose columns are given up."""
_TURNED = 4_000_000
"""Entries up to which the solver gets a game over a Euclidean set, where every column counts."""
_FASTER = {"HIGHS": programs.primal}
"""The problem of the pair that is faster on some hundred columns; for others it is the dual."""


def reference(game: Game, solver: str | None = None, tol: float = 1e-6, **options: Any) -> Solution:
    """Return the certified optimum of a game by a general convex solver.

    The primal and the dual are solved through cvxpy. From each come a point and multipliers, so
    two candidates for d and two for w; each is repaired and evaluated, and the best of each kind
    are kept. Nothing the solver says of itself enters the bracket.

    If f itself is solved by cvxpy, as a `Custom` is, the primal is solved first in the cone form of
    f, by HiGHS's interior point method or by the other solver. Its multipliers prove a bound on F,
    so that one solution shows both players. Both problems as they are declared follow only if the
    bracket is wider than `tol`.

    A matrix with more than 600 000 entries is not handed over whole: the solver gets the columns
    with the largest edges, the others are priced with its d over *all* columns, and those that
    violate it are added until the bracket, which is one of the whole game, is narrow enough or
    no column is left to add. The pair is then solved on the columns that an optimal w can use.
    Over a Euclidean set every column counts; where there are more of them than examples, the
    solver gets A in an orthonormal basis of the row space, m x m, which is the same game.

    Parameters
    ----------
    game : Game
    solver : {"CLARABEL", "ECOS", "SCS", "HIGHS", ...}, optional
        Any solver that cvxpy has installed. Default: HIGHS for linear games (polyhedral f and
        domain), else CLARABEL.
    tol : float
        The gap above which the result is reported as inaccurate, > 0.
    **options
        Passed to the solver, over the package's defaults (`solvers.SOLVERS`).

    Returns
    -------
    Solution
        With status ``"optimal"`` if the bracket is at most `tol` wide, else ``"inaccurate"``;
        `message` says what the solver claimed. After Ctrl-C it is ``"interrupted"``, with the
        best bracket so far.

    Raises
    ------
    InputError
        For an unknown solver, tol <= 0, a matrix whose columns are not enumerated, or a game over
        a Euclidean set that is too large to hand over.
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
    """Return whether a game over a Euclidean set is small enough for a solver to get it whole."""
    m, n = game.m, game.n or 0
    return m * min(m, n) <= _TURNED and m * n <= WRITE_DOWN_LIMIT


def best_pair(game: Game, solver: str, tol: float) -> tuple[Vector, Weights]:
    """Return the best feasible d and w that a solver makes in the time that a run has left.

    It is not asked beyond a gap of tol. That it makes none is no error: f and F may be in closed
    form where cvxpy cannot write them, and a run needs less memory than its program.
    """
    limits: dict[str, Any] = {}
    search = _Search(game, solver, tol, limits)
    refused = ValueError, ArithmeticError, MemoryError, NotImplementedError, cp.error.DCPError
    with suppress(*refused, TimeUp):
        limits.update(_time_limit())
        for _ in search.rounds():
            if search.gap <= tol:  # the primal's multipliers are enough, mostly
                break
            limits.update(_time_limit())
    return search.pair.d, (search.pair.support, search.pair.coefficients)


def _time_limit() -> dict[str, float]:
    left = seconds_left()
    return {} if left == math.inf else {"time_limit": left}


class _BestPair:
    """The best repaired points so far, and their bracket. The trivial pair is always feasible."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.usable = 0
        """How many points of a solver could be repaired."""
        self.d = game.relaxation.center(game.m)
        self.trivial_upper = self.upper = self._evaluate_upper(self.d)
        self.support, self.coefficients = game.over.start(game.matrix, self.d)
        self.trivial = "one column" if self.support.size else "w = 0"
        """What the first w is called."""
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
        """Keep a d if it is better, and return it repaired; None if it is unusable."""
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
        """Keep a w if it is better.

        If the multipliers `proof` show a bound below `least`, a program of f alone is asked for
        better ones: multipliers that are exactly zero cannot be repaired.
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
            return  # nothing of the domain is near, or no solver answers at its margins
        self.usable += 1
        if lower > self.lower:
            self.lower = lower
            self.witness = witness
            self.support = support
            self.coefficients = coefficients


class _Search:
    """A run of a general solver: the columns that it was given, its answers, and the best pair."""

    def __init__(self, game: Game, solver: str, tol: float, options: dict[str, Any]) -> None:
        self.game = game
        self._solver = solver
        self._tol = tol
        self._options = options
        self.pair = _BestPair(game)
        self.asked = 0
        self._atoms = game.over if isinstance(game.over, AtomicSet) else None
        self._columns = _first_columns(game)
        self._basis: Vector | None = None  # of the w that the solver sees, if they are turned
        self._answers: dict[str, Answer] = {}
        self._priced = False
        # Brackets of closed forms cost little, and both problems are worth their solver.
        self._cones = game.cone_form if game.relaxation.from_solver else None

    @property
    def gap(self) -> float:
        """The width of the bracket so far."""
        return self.pair.gap

    def rounds(self) -> Iterator[Vector | None]:
        """Price columns in until the bracket is narrow or none is missing; then solve the pair.

        Yields the d of each program that the solver was asked for, None where it gave up.
        """
        if self._columns.size < self.game.matrix.known:
            yield from self._price_in()
        A = self._handed_over()
        yield self._ask(programs.primal, A)
        if self._cones is not None:
            if self.gap <= self._tol:
                return  # the one problem has shown both players
            self._cones = None
            yield self._ask(programs.primal, A)
        try:
            d = self._ask(programs.dual, A)
        except NotImplementedError:  # cvxpy has no conjugate with power cones; the primal has both
            return
        yield d

    def _handed_over(self) -> Any:
        """Return the columns in use, for the solver; turned if that makes fewer of them."""
        matrix = self.game.matrix
        if self._columns.size < matrix.known or not matrix.stored:
            A = matrix.columns(self._columns)
        else:
            A = matrix.tocvxpy()
        if self._atoms is not None or self._columns.size <= matrix.m:
            return A
        # A = Rᵀ Qᵀ: with w = Q z, A w = Rᵀ z and ‖w‖_2 = ‖z‖_2, and any other w is longer.
        dense = A if isinstance(A, np.ndarray) else A.toarray()
        self._basis, triangle = np.linalg.qr(dense.T)
        return triangle.T

    def _price_in(self) -> Iterator[Vector | None]:
        assert self._atoms is not None
        matrix = self.game.matrix
        faster = _FASTER.get(self._solver, programs.dual)
        value = -math.inf
        while self._columns.size < matrix.known:
            d = self._ask(faster, matrix.columns(self._columns))
            yield d
            if d is None:
                return  # the solver gave up, and would again
            prices = self._atoms.prices(matrix.edges(d))
            more = _violated(prices, self._columns)
            # By complementary slackness the columns an optimal w uses have the largest edges.
            if self.gap <= self._tol or not more.size:
                self._priced = True
                self._columns = _largest(prices, self._columns, 1e-3)
                return
            # Without the others the value stays; as it rises each time, no set comes again.
            (answer,) = self._answers.values()
            if answer.value > value + 1e-9 * max(1.0, abs(answer.value)):
                value, self._columns = answer.value, _largest(prices, self._columns, _APART)
            self._columns = np.sort(np.concatenate([self._columns, more]))

    def _size(self) -> float:
        """Return the size of the numbers in the problem, by which solvers' tolerances count."""
        reach = self.game.over.reach(self.game.n)
        return max(reach, abs(self.pair.trivial_upper))

    def _ask(self, model: Any, A: Any) -> Vector | None:
        """Run the solver on one problem, take its candidates, and return the d of it, repaired."""
        self.asked += 1
        game, defaults = self.game, None
        if self._cones is not None and model is programs.primal:
            problem = programs.primal_in_cones(A, self._cones, game.over)
            defaults = INTERIOR_POINT.get(self._solver)
        else:
            problem = model(A, game.relaxation, game.over)
        answer = ask(problem.priced(self._size()), self._solver, self._options, defaults)
        self._answers[answer.side] = answer
        return self._offer(answer)

    def _offer(self, answer: Answer) -> Vector | None:
        d, w = answer.point, answer.other
        if answer.side == "dual":
            d, w = w, d
        if w is not None and np.isfinite(w).all():
            w = w if self._basis is None else self._basis @ w
            least = answer.value - 0.1 * self._tol
            self.pair.offer_w((self._columns, w), answer.proof, least)
        if answer.proof is not None and self.game.relaxation.from_solver:
            # If the point breaks no constraint, the bound on f(d) needs no solver.
            numerical.programs(self.game.relaxation, self.game.m).near_point(answer.proof)
        return self.pair.offer_d(d)

    def message(self) -> str:
        """Return which values the solver claims, which bounds its points prove, and warnings."""
        if not self._answers:
            return f"{self._solver} was interrupted before it answered"
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
            return f"; that is wider than tol = {tol:g}, do not use the solver's value"
        if self.gap < 0.0:
            return (
                "; these cross: they are numerical, and no better than the solver; if the "
                "relaxation is your own, rb.testing.check_relaxation(f) finds what in it disagrees"
            )
        low = self.pair.lower - tol
        high = self.pair.upper + tol
        wrong = [a.value for a in self._answers.values() if not low <= a.value <= high]
        if not wrong:
            return ""
        return f"; the claimed {wrong[0]:.9g} is outside the bracket by more than tol"


def _curved(game: Game) -> str | None:
    """Return what keeps the game from being a linear program, None if nothing does."""
    if game.linear_form is None:
        return "this f"
    return None if game.over.linear else f"over={game.over!r}"


def _first_columns(game: Game) -> NDArray[np.int64]:
    """Return all columns, or a spread of those with large edges at the center."""
    n = game.n
    assert n is not None
    if game.m * n <= _ALL_COLUMNS or not isinstance(game.over, AtomicSet):
        return np.arange(n)
    prices = game.over.prices(game.matrix.edges(game.relaxation.center(game.m)))
    return np.sort(varied(np.argsort(-prices, kind="stable")[: 10 * _FIRST], _FIRST))


def _largest(prices: Vector, columns: NDArray[np.int64], apart: float) -> NDArray[np.int64]:
    """Return the columns whose edge is not below the largest by more than such a share of it."""
    largest = prices[columns].max()
    return columns[prices[columns] >= largest - apart * abs(largest) - 1e-7]


def _violated(prices: Vector, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return columns outside the working set whose edge exceeds all those inside."""
    outside = prices.copy()
    outside[columns] = -np.inf
    inside = float(prices[columns].max())
    candidates = np.flatnonzero(outside > inside)
    return varied(candidates[np.argsort(-outside[candidates], kind="stable")], _MORE)
