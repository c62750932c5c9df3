"""Helpers with which checks compute the two sides of a claim.

Data are converted to fractions, so that the sides are exact.
"""

import math
import warnings
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.highs import OwnThread
from relaxboost.claims import Bracket, Instance
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.solvers.solve import solve as solve_game

Exact: TypeAlias = NDArray[Any]
"""An array of fractions, on which +, *, @ and max cause no rounding errors."""

ASSUMED_ERROR = 1e-9
"""The assumed relative error of a number from a long computation in doubles, such as hundreds of
rounds."""
OPTIMUM_ERROR = 1e-8
"""The assumed relative error of an optimum from a numerical solver. It is ten times the usual
solver error."""


def exactly(values: Any) -> Exact:
    """Return the array with its floats converted to exact fractions."""
    array = np.asarray(values, dtype=object)
    result = np.empty(array.size, dtype=object)
    result[:] = [Fraction(entry) for entry in array.ravel().tolist()]
    return result.reshape(array.shape)


def root(x: int | Fraction) -> Fraction | Bracket:
    """Return the square root of a non-negative number as a fraction or a narrow interval.

    Examples
    --------
    >>> root(Fraction(9, 4))
    Fraction(3, 2)
    """
    x = Fraction(x)
    square = x.numerator * x.denominator
    if math.isqrt(square) ** 2 == square:
        return Fraction(math.isqrt(square), x.denominator)
    low, scale = math.isqrt(square << 240), x.denominator << 120
    return Bracket(Fraction(low, scale), Fraction(low + 1, scale))


def near(value: float, tolerance: float = ASSUMED_ERROR) -> Bracket:
    """Return the interval of all numbers within tolerance · max(1, |value|) of the value."""
    error = tolerance * max(1.0, abs(value))
    return Bracket(value - error, value + error)


def solved(value: float) -> Bracket:
    """Return an interval around an optimum from a numerical solver.

    The relative error of the optimum is assumed to be at most 1e-8. An infinite value is exact.
    """
    value = float(value)
    return near(value, OPTIMUM_ERROR) if math.isfinite(value) else Bracket(value, value)


def indicator(inside: Any) -> float:
    """Return 0 if all entries of a Boolean array are true, and ∞ otherwise."""
    return 0.0 if bool(np.all(inside)) else math.inf


def optimal_value(problem: Any, linear: bool, otherwise: float = math.nan) -> float:
    """Return the optimal value of a cvxpy problem, or `otherwise` if the solver finds none."""
    with warnings.catch_warnings():
        # The warnings are suppressed, because the interval arithmetic of cvxpy may compute inf −
        # inf.
        warnings.simplefilter("ignore")
        if linear:
            OwnThread()(problem.solve, solver="HIGHS", warm_start=False)
        else:
            solve_problem(problem)
    return float(problem.value) if problem.status in SOLVED else otherwise


def solve(game: Game, **options: Any) -> Solution:
    """Solve a game like `relaxboost.solve`, but raise KeyboardInterrupt after Ctrl-C."""
    found = solve_game(game, **options)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return found


def optimum(x: Instance, game: Game) -> tuple[Bracket, Exact, Exact]:
    """Return the certified optimum of a game, with the points d and w that prove it.

    The points are arrays of fractions.
    """
    bracket = x.optimum(game)
    found = x.optima[-1]
    support, coefficients = found.w
    w = exactly(np.zeros(game.n or 0))
    for j, coefficient in zip(support, coefficients, strict=True):
        w[j] = Fraction(coefficient)
    return bracket, exactly(found.d), w


def largest_edge(A: Exact, d: Exact) -> Any:
    """Return max_j |(dᵀA)_j|, the largest absolute edge of a column under the distribution d."""
    return max(abs(e) for e in d @ A)


def avg_min(u: Iterable[Any], k: int) -> Fraction:
    """Return the average of the k smallest entries of the vector u."""
    return sum(sorted(Fraction(v) for v in u)[:k], Fraction(0)) / k


def on_simplex(weights: Exact) -> Exact:
    """Return the absolute values of the weights, normalised to a distribution.

    If all weights are zero, return uniform weights.
    """
    size = exactly([abs(v) for v in weights])
    total = sum(size)
    return size / total if total else exactly([Fraction(1, len(size))] * len(size))


def under_cap(weights: Exact, k: int) -> Exact:
    """Return a distribution near the given weights that has no weight above 1/k.

    The normalised absolute values are mixed with as little as possible of the uniform distribution.
    """
    d = on_simplex(weights)
    cap = Fraction(1, k)
    uniform = Fraction(1, len(d))
    most = max(d)
    if most <= cap:
        return d
    share = (cap - uniform) / (most - uniform)
    return share * d + (1 - share) * uniform


def in_l1_ball(w: Exact) -> Exact:
    """Return the vector w if its ℓ1 norm is at most 1, and otherwise w divided by its norm."""
    size = sum(abs(v) for v in w)
    return w / size if size > 1 else w
