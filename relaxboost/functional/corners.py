"""The least sum of losses with one corner each, by a primal-dual interior point method.

Absolute, quantile, hinge and ranking losses are max(a_n (f − c_n), b_n (f − c_n)) and a constant.
With slopes z between a and b, and the residual H w − c = above − below split in two, the central
path has (z − a) below = (b − z) above = μ/p. Eliminated, these are a slope z + Dρ and a curvature
D = 1/(below/(z − a) + above/(b − z)) with ρ = H w − c + μ/(p (z − a)) − μ/(p (b − z)).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from relaxboost._core.arrays import Array, Matrix, Vector
from relaxboost.functional.losses import Risk
from relaxboost.functional.losses.base import PointwiseRisk

_ROUNDS = 60
_GAP = 1e-13
"""Of the duality gap to the risk at the start; less is rounding."""
_SHORT = 0.995
"""Of the way to the boundary that is gone."""
_JITTERS = (1e-15, 1e-12, 1e-9, 1e-6)
"""Added to a diagonal of ones, the first that will do: columns may depend on each other."""


class Corners(NamedTuple):
    """R[f] = Σ p_n max(low_n (f_n − at_n), high_n (f_n − at_n)) and a constant, arrays of (N,)."""

    p: Vector
    low: Vector
    high: Vector
    at: Vector


def corners(risk: Risk) -> Corners | None:
    """Return the corners of a risk whose losses have one each; None if it is another.

    The conjugate is then linear between the slopes. It is convex, so that one point in the middle
    tells.
    """
    if not isinstance(risk, PointwiseRisk):
        return None
    ends = risk.loss.domain(risk.y)
    if ends is None or not (np.isfinite(ends).all() and (ends[0] < ends[1]).all()):
        return None
    low, high = ends
    first, middle, last = (risk.loss.conjugates(z, risk.y) for z in (low, (low + high) / 2, high))
    size = 1.0 + np.abs(first) + np.abs(last)
    if not (np.isfinite(size).all() and (np.abs(first + last - 2.0 * middle) < 1e-12 * size).all()):
        return None
    return Corners(risk.measure.p, low, high, (last - first) / (high - low))


class Passes(Protocol):
    """A matrix H of examples, as passes over it."""

    def times(self, w: Vector) -> Vector:
        """Return H w."""

    def back(self, v: Vector) -> Vector:
        """Return Hᵀ v."""

    def curvature(self, c: Vector) -> Matrix:
        """Return Hᵀ diag(c) H for c >= 0, as `prepare` of the point takes it."""


class _Slacks(NamedTuple):
    """z − low and high − z; the parts of the residual above and below 0. Or changes of them."""

    up: Vector
    down: Vector
    above: Vector
    below: Vector

    def moved(self, step: _Slacks, primal: float, dual: float) -> _Slacks:
        """Return what is left after a step, so far for the residual and for z."""
        lengths = (dual, dual, primal, primal)
        return _Slacks(*(x + t * dx for x, dx, t in zip(self, step, lengths, strict=True)))

    def product(self, p: Vector) -> float:
        """Return Σ p slack · multiplier."""
        return float(p @ (self.up * self.below + self.down * self.above))


class CornerRun:
    """A run of Mehrotra's predictor and corrector on w, slopes z and the split residual.

    Parameters
    ----------
    H : Passes
    given : Corners
    point : Inside of the comparators, or a w without bounds
        Where w is: its domain's slacks and multipliers take part in every step.

    References
    ----------
    Mehrotra (1992); Portnoy & Koenker (1997), The Gaussian hare and the Laplacian tortoise, Sec. 4.
    """

    def __init__(self, H: Passes, given: Corners, point: Any) -> None:
        self._H, self._given, self.point = H, given, point
        live = given.p > 0.0
        self._share = np.where(live, given.p, 1.0)
        self.count = 2 * int(live.sum())
        self.F = H.times(point.w)
        half, rest = (given.high - given.low) / 2.0, self.F - given.at
        extra = float(given.p @ np.abs(rest)) / float(given.p.sum()) or 1.0
        above, below = np.maximum(rest, 0.0) + extra, np.maximum(-rest, 0.0) + extra
        self._slacks = _Slacks(half, half, above, below)

    @property
    def z(self) -> Vector:
        """The slopes, never outside their bounds by a rounding: lower bounds rest on that."""
        low, high = self._given.low, self._given.high
        return np.minimum(np.maximum(low + self._slacks.up, low), high)

    @property
    def product(self) -> float:
        """Σ p ((z − low) below + (high − z) above), the duality gap but for infeasibility."""
        return self._slacks.product(self._given.p)

    def advance(self) -> bool:
        """Take a step; return whether anything moved."""
        with np.errstate(all="ignore"):  # rounding has the last word
            return self._advance()

    def _advance(self) -> bool:
        point, x = self.point, self._slacks
        self._D = 1.0 / (x.below / x.up + x.above / x.down)
        try:
            point.prepare(self._H.curvature(self._given.p * self._D))
        except np.linalg.LinAlgError:
            return False
        count = point.count + self.count
        mu = (point.product + self.product) / count
        nothing = np.zeros_like(self.F)
        turn, first = self._direction(0.0, nothing, nothing)
        primal, dual = self._steps(turn, first)
        after = x.moved(first, primal, dual).product(self._given.p)
        after = (after + point.product_after(turn, primal, dual)) / count
        centre = mu * min(1.0, max(after / mu, 0.0)) ** 3
        aim = centre / self._share
        to_below, to_above = aim - first.up * first.below, aim - first.down * first.above
        turn, step = self._direction(centre - point.correction(turn), to_below, to_above)
        primal, dual = self._steps(turn, step)
        if not (max(primal, dual) > 1e-8 and all(np.isfinite(v).all() for v in (*step, turn.w))):
            return False
        point.go(turn, primal, dual)
        self._slacks = x.moved(step, primal, dual)
        self.F = self._H.times(point.w)
        return True

    def _direction(
        self, inside: Vector | float, to_below: Vector, to_above: Vector
    ) -> tuple[Any, _Slacks]:
        """Return the step to these products, of the point and of its own slacks."""
        x, given = self._slacks, self._given
        rho = self.F - given.at + to_below / x.up - to_above / x.down
        turn = self.point.turn(self._H.back(given.p * (self.z + self._D * rho)), inside)
        up = self._D * (self._H.times(turn.w) + rho)
        above = (to_above + x.above * up) / x.down - x.above
        below = (to_below - x.below * up) / x.up - x.below
        return turn, _Slacks(up, -up, above, below)

    def _steps(self, turn: Any, step: _Slacks) -> tuple[float, float]:
        """Return how far to go within the bounds: w and the residual, and multipliers and z."""
        reach = [_reach(x, dx) for x, dx in zip(self._slacks, step, strict=True)]
        primal, dual = self.point.longest(turn)
        primal, dual = min(primal, *reach[2:]), min(dual, *reach[:2])
        return (primal, dual) if self.point.linear else (min(primal, dual),) * 2


def _reach(x: Vector, dx: Vector) -> float:
    ratio = float(np.min(np.divide(dx, x)))
    return 1.0 if ratio >= -_SHORT else -_SHORT / ratio


class _Whole(Passes):
    """A matrix held as an array."""

    def __init__(self, H: Array) -> None:
        self._H = H

    def times(self, w: Vector) -> Vector:
        return np.asarray(self._H @ w)

    def back(self, v: Vector) -> Vector:
        return np.asarray(v @ self._H)

    def curvature(self, c: Vector) -> Matrix:
        scaled = self._H * np.sqrt(c)[:, None]
        return np.asarray(scaled.T @ scaled)


class _Turn(NamedTuple):
    w: Vector


class _Free:
    """A w without a bound."""

    count, linear, product = 0, True, 0.0

    def __init__(self, w: Vector) -> None:
        self.w = w

    def prepare(self, curved: Matrix) -> None:
        """Factorise the equations for a Hessian."""
        self._solve = factor(curved)

    def turn(self, gradient: Vector, target: Vector | float) -> _Turn:
        """Return Newton's direction."""
        return _Turn(-self._solve(gradient))

    def correction(self, turn: _Turn) -> float:
        """Return 0: there are no products."""
        return 0.0

    def longest(self, turn: _Turn) -> tuple[float, float]:
        """Return whole steps."""
        return 1.0, 1.0

    def product_after(self, turn: _Turn, step: float, dual_step: float) -> float:
        """Return 0: there are no products."""
        return 0.0

    def go(self, turn: _Turn, step: float, dual_step: float) -> None:
        """Take the step."""
        self.w = self.w + step * turn.w


def descend(H: Array, given: Corners) -> tuple[Vector, Vector]:
    """Return α of least risk at H α, and the slopes z with Σ p_n z_n h(x_n) = 0, nearly."""
    seen = given.p > 0.0
    part, root = Corners(*(each[seen] for each in given)), np.sqrt(given.p[seen])
    alpha = np.linalg.lstsq(root[:, None] * H[seen], root * part.at, rcond=1e-12)[0]
    run = CornerRun(_Whole(H[seen]), part, _Free(np.asarray(alpha, float)))
    start = run.product
    for _ in range(_ROUNDS):
        if run.product <= _GAP * start or not run.advance():
            break
    z = np.zeros(len(given.p))
    z[seen] = run.z
    return run.point.w, z


def factor(matrix: Matrix) -> Any:
    """Return what solves with a positive definite matrix, scaled to ones on the diagonal."""
    from scipy.linalg import cho_factor, cho_solve

    diagonal = np.maximum(matrix.diagonal(), 1e-300)
    scale = 1.0 / np.sqrt(diagonal)
    scaled = matrix * scale[:, None] * scale
    place = np.arange(len(scaled))
    for jitter in _JITTERS:
        scaled[place, place] = 1.0 + jitter
        try:
            factor = cho_factor(scaled, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue

        def solve(h: Vector, factor: Any = factor) -> Vector:
            found = cho_solve(factor, scale * h, check_finite=False)
            left = scale * h - scaled @ found
            found += cho_solve(factor, left, check_finite=False)
            return np.asarray(scale * found)

        return solve
    raise np.linalg.LinAlgError("Newton's equations are singular")
