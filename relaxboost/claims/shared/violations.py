"""The search for violations of condition (iii) of SS09 Thm 7, on f and on f*.

Condition (iii) is f*(θ − α θ_i e_i) <= f*(θ) for every θ, i and α in [0, 1]. It is equivalent to
the same condition on f. Each violation on one side is converted to a witness on the other side and
checked there, so that neither an inaccurate solver nor a tolerance can produce a false
counterexample. Let d' be d with d_i set to 0, and let θ' be θ with θ_i set to 0. If f(d') > f(d),
let θ be a subgradient of f at d'. Then f* violates (iii) at θ, because

    f*(θ') >= <d, θ'> − f(d) = <d', θ> − f(d) > <d', θ> − f(d') = f*(θ).

If f*(θ') > f*(θ), let d be the point that attains f*(θ'). The same argument with the roles of f and
f* exchanged shows that f(d') > f(d).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import SOLVER_ERROR
from relaxboost.relaxations.base import Relaxation
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem


class Violation(NamedTuple):
    """A violation of condition (iii) of SS09 Thm 7: f*(θ − α θ_i e_i) > f*(θ).

    The violation includes a point d with f(d − d_i e_i) > f(d).
    """

    theta: Vector
    i: int
    alpha: float
    at_theta: float
    """The value f*(θ)."""
    at_shrunk: float
    """The value f*(θ − α θ_i e_i), which is greater than f*(θ)."""
    d: Vector
    """The point at which setting entry i to 0 increases f."""

    def __str__(self) -> str:
        return (
            f"f*(θ − α θ_i e_i) = {self.at_shrunk:.6g} > f*(θ) = {self.at_theta:.6g} at the "
            f"witness, i = {self.i}, α = {self.alpha:g}"
        )


def search(f: Relaxation, m: int, rng: np.random.Generator) -> tuple[Violation | None, int]:
    """Search for a violation of condition (iii) of SS09 Thm 7 that both f and f* confirm.

    Return a pair: the violation or None, and the number of points tried.
    """
    total = 0
    for function, confirm, size, coordinates in (
        (f.penalty, _from_point, max(12, min(40, 2000 // m)), 8),
        (_known(f.conjugate), _from_theta, max(6, min(16, 300 // m)), 4),
    ):
        points = chain.from_iterable(_scales(function, v) for v in _directions(f, m, size, rng))
        compared = _compared(function, points, coordinates, rng)
        found, tried = _search_one(function, partial(confirm, f), compared, rng)
        total += tried
        if found is not None:
            return found, total
    return None, total


def _search_one(
    function: Callable[[Vector], float],
    confirm: Callable[[Vector, int], Violation | None],
    compared: Iterable[tuple[Vector, int, float, float]],
    rng: np.random.Generator,
) -> tuple[Violation | None, int]:
    """Search for a point at which setting one coordinate to 0 increases f or f*.

    Return the violation that `confirm` computes, or None, and the number of points tried.
    """
    tried = 0
    best: tuple[float, Vector, int] | None = None
    for near, i, value, at_zero in compared:
        tried += 1
        gain = at_zero - value
        if gain > 0.0:
            found = confirm(near, i) if _clear(at_zero, value) else None
            if found is not None:
                return found, tried
        elif gain <= 0.0 and (best is None or gain > best[0] * abs(near[i])):
            best = gain / abs(near[i]), near, i
    if best is None:
        return None, tried
    climbed, steps = _climb(function, best, rng)
    return (None if climbed is None else confirm(*climbed)), tried + steps


def _compared(
    function: Callable[[Vector], float],
    points: Iterable[Vector],
    coordinates: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Vector, int, float, float]]:
    """Yield a point x, a coordinate i, and the values of the function at x and at x with x_i set to
    0.

    The points are the given ones, and points that differ from them in one coordinate. At most
    `coordinates` coordinates of a point are compared.
    """
    for point in points:
        small = 0.02 * float(np.abs(point).max())
        used = np.flatnonzero(point)
        if used.size > coordinates:
            used = rng.choice(used, coordinates, replace=False)
        for i in map(int, used):
            at_zero = function(_with(point, i, 0.0))
            # Condition (iii) says that 0 is the best value of each coordinate.
            for entry in (point[i], small, -small):
                near = _with(point, i, entry)
                yield near, i, function(near), at_zero


def _clear(high: float, low: float) -> bool:
    return math.isfinite(low) and high - low > SOLVER_ERROR * (1.0 + abs(low))


def _directions(f: Relaxation, m: int, size: int, rng: np.random.Generator) -> Iterator[Vector]:
    yield f.center(m)
    for n in range(size):
        v = rng.normal(size=m)
        if n % 4 == 0 and m > 1:
            pair = rng.choice(m, 2, replace=False)
            v = np.zeros(m)
            v[pair] = rng.choice([-1.0, 1.0], 2) * (1.0, rng.choice([0.1, 0.4, 1.0]))
        elif n % 4 == 1:
            v *= rng.random(m) < 0.5
        elif n % 4 == 2:
            v = np.sign(v) * rng.uniform(0.8, 1.0, m)
        if v.any():
            yield v / np.abs(v).max()


def _scales(function: Callable[[Vector], float], v: Vector) -> list[Vector]:
    """Return multiples of v at which the function is finite.

    If the function is infinite at larger multiples, one returned point is near the boundary of the
    function's domain.
    """
    if not math.isfinite(function(np.zeros(v.size))):
        return [v] if math.isfinite(function(v)) else []
    inside, outside = 0.0, 0.0
    for exponent in range(-4, 5):
        scale = 4.0**exponent
        if not math.isfinite(function(scale * v)):
            outside = scale
            break
        inside = scale
    if inside == 0.0:
        return []
    for _ in range(10 if outside else 0):
        middle = math.sqrt(inside * outside)
        if math.isfinite(function(middle * v)):
            inside = middle
        else:
            outside = middle
    # At the boundary itself, tolerances would decide whether a point is inside.
    scales = (0.999 * inside, 0.5 * inside) if outside else (1.0, 0.1, 10.0)
    return [scale * v for scale in scales]


def _known(conjugate: Callable[[Vector], float]) -> Callable[[Vector], float]:
    def value(theta: Vector) -> float:
        try:
            return conjugate(theta)
        except InputError:
            # If the solver fails, there is no violation: all comparisons with nan are false.
            return math.nan

    return value


def _with(x: Vector, i: int, entry: float) -> Vector:
    x = x.copy()
    x[i] = entry
    return x


def _climb(
    function: Callable[[Vector], float], best: tuple[float, Vector, int], rng: np.random.Generator
) -> tuple[tuple[Vector, int] | None, int]:
    """Search for a violation by random changes of the point in `best`.

    Return the point and the coordinate of the violation as a pair, or None, and the number of
    steps.
    """
    slope, point, i = best
    radius = 0.5 * float(np.abs(point).max())
    steps = 60
    for step in range(steps):
        near = point + radius * rng.normal(size=point.size)
        value = function(near)
        if near[i] == 0.0 or not math.isfinite(value):
            continue
        at_zero = function(_with(near, i, 0.0))
        if _clear(at_zero, value):
            return (near, i), step + 1
        gain = at_zero - value
        if gain > slope * abs(near[i]):
            slope = gain / abs(near[i])
            point = near
        else:
            radius *= 0.95
    return None, steps


def _from_point(f: Relaxation, d: Vector, i: int) -> Violation | None:
    if not _clear(f.penalty(_with(d, i, 0.0)), f.penalty(d)):
        return None
    for bound in (10.0, 1e3):
        theta = _subgradient(f, _with(d, i, 0.0), bound)
        if theta is None:
            continue
        # A subgradient on the boundary of dom f* is multiplied by a number slightly below 1.
        for factor in (1.0, 1.0 - 1e-6, 1.0 - 1e-4, 0.99, 0.9):
            found = _evaluate(f, factor * theta, i, d)
            if found is not None:
                return found
    return None


def _from_theta(f: Relaxation, theta: Vector, i: int) -> Violation | None:
    for bound in (10.0, 1e3):
        # The point d that attains f*(θ') must confirm the violation.
        d = maximiser(f, _with(theta, i, 0.0), bound)
        if d is not None and _clear(f.penalty(_with(d, i, 0.0)), f.penalty(d)):
            found = _evaluate(f, theta, i, d)
            if found is not None:
                return found
    return None


def _evaluate(f: Relaxation, theta: Vector, i: int, d: Vector) -> Violation | None:
    conjugate = _known(f.conjugate)
    at_theta, at_shrunk = conjugate(theta), conjugate(_with(theta, i, 0.0))
    if not _clear(at_shrunk, at_theta):
        return None
    return Violation(theta, i, 1.0, at_theta, at_shrunk, d)


def maximiser(f: Relaxation, theta: Vector, bound: float) -> Vector | None:
    """Return a d with |d_i| <= bound that maximises <d, θ> − f(d), or None if the solver fails."""
    d = cp.Variable(theta.size)
    value, constraints = f.cvxpy_penalty(d)
    problem = cp.Problem(cp.Maximize(theta @ d - value), [*constraints, cp.abs(d) <= bound])
    if solve_problem(problem)[0] not in SOLVED:
        return None
    point = np.asarray(d.value)
    # A solution just outside of dom f is moved inside. This needs a finite f(0).
    return point if math.isfinite(f.penalty(point)) else (1.0 - 1e-6) * point


def _subgradient(f: Relaxation, point: Vector, bound: float) -> Vector | None:
    # A subgradient of f at the point is the multiplier of y + s = point in the program
    # min f(y) + bound ‖s‖_1. Its entries are at most `bound`.
    y, s = cp.Variable(point.size), cp.Variable(point.size)
    value, constraints = f.cvxpy_penalty(y)
    equal = y + s == point
    goal = cp.Minimize(value + bound * cp.norm1(s))
    problem = cp.Problem(goal, [equal, *constraints])
    return -np.asarray(equal.dual_value) if solve_problem(problem)[0] in SOLVED else None
