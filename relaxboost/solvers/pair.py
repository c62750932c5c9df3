"""Solve the cvxpy pair of a game and keep only what its points prove."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost import bounds, models
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.matrices import DenseMatrix, MarginMatrix
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
        `message` says what the solver claimed. `rounds` counts the times the pair was solved.

    Raises
    ------
    InputError
        For an unknown solver, tol <= 0, or a matrix whose columns are not enumerated.
    """
    if not (tol > 0.0 and math.isfinite(tol)):
        raise InputError(f"tol must be a positive number, got {tol}")
    matrix, relaxation = game.matrix, game.relaxation
    if matrix.n is None:
        raise InputError(
            f"reference(game) needs every column, and {matrix!r} does not enumerate them; "
            "use solve(game)"
        )
    solver = check_solver(solver, relaxation.linear_form(game.m) is not None)
    start = time.perf_counter()
    best = _Best(game)
    columns = _first_columns(game)
    part: MarginMatrix
    rounds = 0
    faster = _FASTER.get(solver, models.dual)
    while columns.size < matrix.n:
        rounds += 1
        part = DenseMatrix(matrix.columns(columns))
        prices = np.abs(best.offer(columns, ask(faster(part, relaxation), solver, options)))
        more = _violated(prices, columns)
        if best.upper - best.lower <= tol or not more.size:
            # By complementary slackness the columns an optimal w uses have the largest edges.
            columns = columns[prices[columns] >= 0.999 * prices[columns].max()]
            break
        columns = np.sort(np.concatenate([columns, more]))
    part = matrix if columns.size == matrix.n else DenseMatrix(matrix.columns(columns))
    primal, dual = (ask(m(part, relaxation), solver, options) for m in (models.primal, models.dual))
    best.offer(columns, primal)
    best.offer(columns, dual)
    gap = best.upper - best.lower
    return Solution(
        game=game,
        support=best.support,
        coefficients=best.coefficients,
        d=best.d,
        witness=best.witness,
        lower=best.lower,
        upper=best.upper,
        status="optimal" if gap <= tol else "inaccurate",
        tol=tol,
        method=f"reference ({solver})",
        rounds=rounds + 1,
        seconds=time.perf_counter() - start,
        message=_message(solver, primal, dual, best, tol, columns.size, matrix.n),
    )


@dataclass
class _Best:
    """The best repaired points so far; starts from the trivial pair, which is always feasible."""

    game: Game

    def __post_init__(self) -> None:
        matrix, relaxation = self.game.matrix, self.game.relaxation
        self.d = relaxation.center(self.game.m)
        self.upper = bounds.evaluate_upper(matrix, relaxation, self.d)
        self.support = np.empty(0, dtype=np.int64)
        self.coefficients = np.empty(0)
        self.witness: Witness
        self.lower, self.witness = bounds.evaluate_lower(
            matrix, relaxation, self.support, self.coefficients
        )
        self.usable = 0

    def offer(self, columns: NDArray[np.int64], answer: Answer) -> Vector:
        """Take both candidates of an answer; return the edges of its d over all columns."""
        d: Vector | None
        w: Vector | None
        if answer.side == "primal":
            d, w = answer.point, None
            if all(p is not None for p in answer.multipliers):
                positive, negative = (np.asarray(p) for p in answer.multipliers)
                w = positive - negative
        else:
            (d,), w = answer.multipliers, answer.point
        self._offer_w(columns, w)
        return self.game.matrix.edges(self._offer_d(d))

    def _offer_d(self, d: Vector | None) -> Vector:
        if d is None or not np.isfinite(d).all() or np.max(d) <= 0.0:
            return self.d
        d = self.game.repair_d(d)
        upper = bounds.evaluate_upper(self.game.matrix, self.game.relaxation, d)
        self.usable += 1
        if upper < self.upper:
            self.upper, self.d = upper, d
        return d

    def _offer_w(self, columns: NDArray[np.int64], w: Vector | None) -> None:
        if w is None or not np.isfinite(w).all():
            return
        used = np.flatnonzero(w)
        support, coefficients = self.game.repair_w((columns[used], w[used]))
        lower, witness = bounds.evaluate_lower(
            self.game.matrix, self.game.relaxation, support, coefficients
        )
        self.usable += 1
        if lower > self.lower:
            self.lower, self.witness = lower, witness
            self.support, self.coefficients = support, coefficients


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


def _message(
    solver: str, primal: Answer, dual: Answer, best: _Best, tol: float, used: int, n: int
) -> str:
    """Say what the solver claims, what its points prove, and whether the two fit."""
    claim = f"{solver} says {primal.status}, {primal.value:.9g} (primal) and "
    claim += f"{dual.status}, {dual.value:.9g} (dual)"
    if used < n:
        claim += f" on {used} of {n} columns, the others priced out"
    lower, upper = show_bracket(best.lower, best.upper)
    who = "its points" if best.usable else "it returned no usable point; w = 0 and the center"
    proof = f"{who} prove [{lower}, {upper}]"
    verdict = ""
    if best.upper - best.lower > tol:
        verdict = f"; that is wider than tol = {tol:g}, do not use the solver's value"
    else:
        wrong = [
            v for v in (primal.value, dual.value) if not best.lower - tol <= v <= best.upper + tol
        ]
        if wrong:
            verdict = f"; the claimed {wrong[0]:.9g} is outside the bracket by more than tol"
    return f"{claim}; {proof}{verdict}"
