"""Whether some distribution leaves every hypothesis without an edge, by Newton's method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices.base import WRITE_DOWN_LIMIT
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.interior_point.block import diagonal_gram
from relaxboost.solvers.interior_point.factor import Factor
from relaxboost.solvers.rounds import Booster

_EXACT, _PRODUCTS = 0.03, 100
"""Of conjugate gradients: the part of the residual that a step leaves, and how many they may be."""
_FEWEST = 5
"""Products of a step at least before a matrix is factorised, which preconditions later ones too."""
_SHIFT, _DAMPING = 1e-6, 1e-4
"""The parts of its mean that its diagonal grows by: as a preconditioner, since columns may depend
on each other, and where the equations have no solution."""
_DENSE, _SPARSE = (3e-10, 4e-11), (1e-9, 2.5e-9)
"""Seconds on one core of an entry in a product with a vector, and of a multiplication in one of
matrices."""
_STEPS, _USUAL, _CALLS = 3, 12, 1e-3
"""Steps until it is plain that there is none, products of one, and seconds of all that is small."""
_NEAR = 0.3
"""The part of the first residual that is left once there seems to be one."""
_FALLS = 0.8
"""The part that a step leaves where it converges. No game of ρ > 0 was seen to take four."""


class Balance(Booster):
    """The d nearest to the centre with Aᵀd = 0: where there is one, w = 0 is optimal.

    Where f is 0 between bounds, that d is clip(c − A w + λ), with the multipliers (w, λ) of
    Aᵀd = 0 and Σd = 1. Those equations are piecewise linear, and Newton's method meets them in
    three to eight steps; a step is a least squares problem over the examples that are strictly
    between their bounds, and takes ten to thirty products with A, of whatever size it is. Where
    columns depend on each other it takes more; once they cost what a factor of its matrix does,
    that preconditions them. Where ρ > 0 the multipliers run away: what is left of the equations
    soon stops to fall, and `run` goes on.

    Parameters
    ----------
    game : Game
        One that `may_balance`.
    clock : Clock
    run : Booster
        What goes on where there is none.

    References
    ----------
    Qi & Sun (1993), Math. Programming 58, the semismooth Newton method.
    """

    inner = "balance"

    def __init__(self, game: Game, clock: Clock, run: Booster) -> None:
        form = game.linear_form
        assert form is not None
        self._game, self._clock, self._run = game, clock, run
        self._lower, self._upper = form.lower, form.upper
        # Written down, also where it is made of stumps: they take three times as long to multiply.
        matrix = game.matrix
        self._bulk = DenseBulk(matrix.toarray()) if matrix.implicit else matrix.bulk()
        self.active = run.active
        self._factor: Factor | None = None
        self._free = game.relaxation.center(game.m)  # d before it is clipped
        self._first, self._left = 0.0, np.inf  # the residual of the first step, and of the last

    def _times(self, x: Vector) -> Vector:
        """Return A w − λ."""
        return self._bulk.margins(x[:-1]) - x[-1]

    def _transposed(self, d: Vector) -> Vector:
        """Return (Aᵀd, −Σd)."""
        self._clock.check()
        return np.append(self._bulk.edges(d), -d.sum())

    def advance(self, best: object) -> Booster | None:
        """Take a step; give up where what is left of the equations has not fallen enough.

        Their residual is (Aᵀd, 1 − Σd), which is the gradient of the dual problem.
        """
        residual = self._transposed(np.clip(self._free, self._lower, self._upper))
        residual[-1] += 1.0
        inside = (self._lower < self._free) & (self._free < self._upper)
        left = float(np.linalg.norm(residual))
        if not left <= _FALLS * self._left or not inside.any():
            return self._run
        self._first, self._left = self._first or left, left
        with np.errstate(all="ignore"):  # a singular matrix: then nothing is finite, or falls
            self._free = self._free - self._times(self._step(residual, inside))
        d = np.clip(self._free, self._lower, self._upper)
        if not np.isfinite(self._free).all() or not d.any():
            return self._run
        self.d = self._game.relaxation.repair(d)
        return self

    def _step(self, residual: Vector, inside: NDArray[np.bool_]) -> Vector:
        """Return the solution of the normal equations of the examples inside their bounds.

        Where they have none, or hardly, it is damped. A step is worth a factor only once the
        residual has fallen so far that some d seems to leave no edges.
        """
        few, near = _products(self._game), self._left <= _NEAR * self._first
        step, short = self._solved(residual, inside, few if near else min(few, _USUAL))
        if near and short and few < _PRODUCTS:
            gram = diagonal_gram(self._bulk, inside.astype(np.float64))
            mean, place = gram.diagonal().mean(), np.arange(len(gram))
            damped = gram.copy()
            gram[place, place] += _SHIFT * mean
            self._factor = Factor(gram)
            step, short = self._solved(residual, inside, few)
            if short:
                damped[place, place] += _DAMPING * mean
                return Factor(damped).solve(residual)
        return step

    def _solved(
        self, residual: Vector, inside: NDArray[np.bool_], most: int
    ) -> tuple[Vector, bool]:
        """Return what conjugate gradients find, and whether they are short of products."""
        from scipy.sparse.linalg import LinearOperator, cg

        shape, factor = (residual.size, residual.size), self._factor
        normal = LinearOperator(
            shape, lambda x: self._transposed(inside * self._times(x)), dtype=np.float64
        )
        near = factor and LinearOperator(shape, factor.solve, dtype=np.float64)
        step, short = cg(normal, residual, rtol=_EXACT, maxiter=most, M=near)
        return step, short > 0


def _entries(game: Game) -> int:
    """Return those of A as `Balance` has it."""
    matrix = game.matrix
    return game.m * (game.n or 0) if matrix.implicit else matrix.entries


def _products(game: Game) -> int:
    """Return how many products a step may take before a factor costs no more."""
    n, entries = game.n or 0, max(_entries(game), 1)
    product, multiply = _SPARSE if entries < game.m * n else _DENSE
    price = multiply * entries * (entries / game.m) / 2.0 + _DENSE[1] * n**3 / 3.0
    return int(min(max(price / (2.0 * product * entries), _FEWEST), _PRODUCTS))


def seconds_to_look(game: Game) -> float:
    """Return about how long it takes to find out that there is none."""
    product = (_SPARSE if _entries(game) < game.m * (game.n or 0) else _DENSE)[0]
    return _CALLS + 2.0 * product * _entries(game) * _STEPS * min(_products(game), _USUAL)


def may_balance(game: Game) -> bool:
    """Whether f is 0 between bounds, w has either sign, and examples are more than columns.

    In general position n + 1 equations in m unknowns have a solution inside the bounds only so.
    """
    form, over, n, m = game.linear_form, game.over, game.n or 0, game.m
    if form is None or form.rows is not None or form.cost.size > m or form.cost.any():
        return False
    if not isinstance(over, AtomicSet) or not over.two_sided or not 0 < n < m:
        return False
    return _entries(game) <= WRITE_DOWN_LIMIT
