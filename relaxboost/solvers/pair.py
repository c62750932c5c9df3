"""Solve the cvxpy pair of a game and keep only what its points prove."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost import bounds, models
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.matrices import DenseMatrix, MarginMatrix, SparseMatrix
from relaxboost.parameters import positive
from relaxboost.relaxations import Witness
from relaxboost.rounding import show_bracket
from relaxboost.solution import Solution
from relaxboost.solvers.external import Answer, ask, check_solver

Vector = NDArray[np.float64]

_ALL_COLUMNS = 600_000
"""Entries up to which the solver gets the whole matrix; beyond, columns are priced in."""
_FIRST, _MORE = 300, 150
_FASTER = {"HIGHS": models.primal}
"""The problem of the pair that is faster on some hundred columns; for others it is the dual."""


def reference(game: Game, solver: str | None = None, tol: float = 1e-6, **options: Any) -> Solution:
    """Return the certified optimum of a game by a general convex solver.

    The primal and the dual are solved through cvxpy. From each come a point and multipliers, so
    two candidates for d and two for w; each is repaired and evaluated, and the best of each kind
    are kept. Nothing the solver says of itself enters the bracket.

    A matrix with more than 600 000 entries is not handed over whole: the solver gets the columns
    with the largest edges, the others are priced with its d over *all* columns, and those that
    violate it are added until the bracket, which is one of the whole game, is narrow enough or
    no column is left to add. The pair is then solved on the columns that an optimal w can use.

    Parameters
    ----------
    game : Game
    solver : {"CLARABEL", "ECOS", "SCS", "HIGHS", ...}, optional
        Any solver that cvxpy has installed. Default: HIGHS for polyhedral f, else CLARABEL.
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
        For an unknown solver, tol <= 0, or a matrix whose columns are not enumerated.
    """
    if not isinstance(game, Game):
        raise InputError(f"reference needs a Game, got {type(game).__name__}; write Game(A, f)")
    tol = positive("tol", tol)
    matrix, relaxation = game.matrix, game.relaxation
    if matrix.n is None:
        raise InputError(
            f"reference(game) needs every column, and {matrix!r} does not enumerate them; "
            "use solve(game)"
        )
    solver = check_solver(solver, relaxation.linear_form(game.m) is not None)
    start = time.perf_counter()
    search = _Search(game, solver, tol, options)
    try:
        search.run()
        status = "optimal" if search.gap <= tol else "inaccurate"
    except KeyboardInterrupt:
        status = "interrupted"
    return Solution(
        game=game,
        support=search.support,
        coefficients=search.coefficients,
        d=search.d,
        witness=search.witness,
        lower=search.lower,
        upper=search.upper,
        status=status,
        tol=tol,
        method=f"reference ({solver})",
        rounds=search.rounds,
        seconds=time.perf_counter() - start,
        message=search.message(),
    )


class _Search:
    """The best repaired points so far, the columns handed to the solver, and what it said.

    It starts from the trivial pair, which is always feasible.
    """

    def __init__(self, game: Game, solver: str, tol: float, options: dict[str, Any]) -> None:
        self.game, self._solver, self._tol, self._options = game, solver, tol, options
        self.rounds = 0
        self._columns = _first_columns(game)
        self._answers: dict[str, Answer] = {}
        self._usable = 0
        self._priced = False
        matrix, relaxation = game.matrix, game.relaxation
        self.d = relaxation.center(game.m)
        self.upper = bounds.evaluate_upper(matrix, relaxation, self.d)
        self.support = np.empty(0, dtype=np.int64)
        self.coefficients = np.empty(0)
        self.witness: Witness
        self.lower, self.witness = bounds.evaluate_lower(
            matrix, relaxation, self.support, self.coefficients
        )

    @property
    def gap(self) -> float:
        """The width of the bracket so far."""
        return self.upper - self.lower

    def run(self) -> None:
        """Price columns in until the bracket is narrow or none is missing; then solve the pair."""
        matrix = self.game.matrix
        if self._columns.size < matrix.known:
            self._price_in()
        part = matrix
        if self._columns.size < matrix.known or not isinstance(matrix, DenseMatrix | SparseMatrix):
            part = DenseMatrix(matrix.columns(self._columns))
        self._ask(models.primal, part)
        self._ask(models.dual, part)

    def _price_in(self) -> None:
        matrix = self.game.matrix
        faster = _FASTER.get(self._solver, models.dual)
        while self._columns.size < matrix.known:
            d = self._ask(faster, DenseMatrix(matrix.columns(self._columns)))
            if d is None:
                return  # the solver gave up, and would again
            prices = np.abs(matrix.edges(d))
            more = _violated(prices, self._columns)
            if self.gap <= self._tol or not more.size:
                self._priced = True
                # By complementary slackness the columns an optimal w uses have the largest edges.
                inside = prices[self._columns]
                self._columns = self._columns[inside >= 0.999 * inside.max() - 1e-7]
                return
            self._columns = np.sort(np.concatenate([self._columns, more]))

    def _ask(self, model: Any, part: MarginMatrix) -> Vector | None:
        """Run the solver on one problem, take its candidates, and return the d of it, repaired."""
        self.rounds += 1
        answer = ask(model(part, self.game.relaxation), self._solver, self._options)
        self._answers[answer.side] = answer
        return self._offer(answer)

    def _offer(self, answer: Answer) -> Vector | None:
        d: Vector | None
        w: Vector | None
        if answer.side == "primal":
            d, w = answer.point, None
            if all(p is not None for p in answer.multipliers):
                positive, negative = (np.asarray(p) for p in answer.multipliers)
                w = positive - negative
        else:
            (d,), w = answer.multipliers, answer.point
        self._offer_w(w)
        return self._offer_d(d)

    def _offer_d(self, d: Vector | None) -> Vector | None:
        if d is None or not np.isfinite(d).all() or np.max(d) <= 0.0:
            return None
        d = self.game.repair_d(d)
        upper = bounds.evaluate_upper(self.game.matrix, self.game.relaxation, d)
        self._usable += 1
        if upper < self.upper:
            self.upper, self.d = upper, d
        return d

    def _offer_w(self, w: Vector | None) -> None:
        if w is None or not np.isfinite(w).all():
            return
        used = np.flatnonzero(w)
        support, coefficients = self.game.repair_w((self._columns[used], w[used]))
        lower, witness = bounds.evaluate_lower(
            self.game.matrix, self.game.relaxation, support, coefficients
        )
        self._usable += 1
        if lower > self.lower:
            self.lower, self.witness = lower, witness
            self.support, self.coefficients = support, coefficients

    def message(self) -> str:
        """Say what the solver claims, what its points prove, and whether the two fit."""
        if not self._answers:
            return f"{self._solver} was interrupted before it answered"
        said = [f"{a.status}, {a.value:.9g} ({a.side})" for a in self._answers.values()]
        claim = f"{self._solver} says {' and '.join(said)}"
        if self._columns.size < self.game.matrix.known:
            claim += f" on {self._columns.size} of {self.game.n} columns"
            claim += ", after pricing all" if self._priced else ""
        lower, upper = show_bracket(self.lower, self.upper)
        who = "its points" if self._usable else "it returned no usable point; w = 0 and the center"
        proof = f"{who} prove [{lower}, {upper}]"
        tol, verdict = self._tol, ""
        if self.gap > tol:
            verdict = f"; that is wider than tol = {tol:g}, do not use the solver's value"
        else:
            values = [a.value for a in self._answers.values()]
            wrong = [v for v in values if not self.lower - tol <= v <= self.upper + tol]
            if wrong:
                verdict = f"; the claimed {wrong[0]:.9g} is outside the bracket by more than tol"
        return f"{claim}; {proof}{verdict}"


def _first_columns(game: Game) -> NDArray[np.int64]:
    """Return all columns, or a spread of those with large edges at the center."""
    n = game.n
    assert n is not None
    if game.m * n <= _ALL_COLUMNS:
        return np.arange(n)
    edges = np.abs(game.matrix.edges(game.relaxation.center(game.m)))
    return np.sort(_spread(np.argsort(-edges, kind="stable")[: 10 * _FIRST], _FIRST))


def _violated(prices: Vector, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return columns outside the working set whose edge exceeds all those inside."""
    outside = prices.copy()
    outside[columns] = -1.0
    inside = float(prices[columns].max())
    candidates = np.flatnonzero(outside > inside)
    return _spread(candidates[np.argsort(-outside[candidates], kind="stable")], _MORE)


def _spread(ranked: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the first third of `size` from `ranked` and the rest evenly spread over it.

    Columns of nearly equal edge are often nearly equal columns; a spread brings in others.
    """
    if ranked.size <= size:
        return ranked
    picks = np.concatenate([np.arange(size // 3), np.linspace(0, ranked.size - 1, size)])
    return ranked[np.unique(picks.astype(np.int64))]
