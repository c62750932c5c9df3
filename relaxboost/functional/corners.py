"""The least risk over a span for losses with one corner, by an interior point method.

Absolute, quantile, hinge and ranking losses are max(a_n (f − c_n), b_n (f − c_n)) and a constant.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.functional.losses import Risk
from relaxboost.functional.losses.base import PointwiseRisk

_ROUNDS = 60
_GAP = 1e-13
"""Of the duality gap to the risk at the start; less is rounding."""
_SHORT = 0.995
"""Of the way to the boundary that is gone."""
_JITTER = 1e-14
"""Added to the diagonal, in parts of its largest: columns may depend on each other."""


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


class _Point(NamedTuple):
    """α; z − low and high − z; the parts of H α − at above and below 0."""

    alpha: Vector
    up: Vector
    down: Vector
    above: Vector
    below: Vector

    def moved(self, step: _Point, far: float, dual: float) -> _Point:
        """Return the point after a step, so far for α and the residual, and for z."""
        lengths = (far, dual, dual, far, far)
        return _Point(*(x + t * dx for x, dx, t in zip(self, step, lengths, strict=True)))

    def gap(self, p: Vector) -> float:
        """Return Σ p (up · below + down · above), the duality gap but for infeasibility."""
        return float(p @ (self.up * self.below + self.down * self.above))


def descend(H: Array, given: Corners) -> tuple[Vector, Vector]:
    """Return α of least risk at H α, and the multipliers z with Σ p_n z_n h(x_n) = 0, nearly.

    Mehrotra's predictor and corrector on α, z and the residual H α − at = above − below, where
    above goes with high − z and below with z − low. Each step is a Cholesky factor of
    Hᵀ diag(p/θ) H, with θ = below/(z − low) + above/(high − z).

    References
    ----------
    Portnoy & Koenker (1997), The Gaussian hare and the Laplacian tortoise, Sec. 4.
    """
    seen = given.p > 0.0
    p, low, high, at = (part[seen] for part in given)
    rows = H[seen]
    root = np.sqrt(p)
    alpha = np.asarray(np.linalg.lstsq(root[:, None] * rows, root * at, rcond=1e-12)[0], float)
    rest, half = rows @ alpha - at, (high - low) / 2.0
    extra = 0.1 * float(p @ np.abs(rest)) or 1.0
    point = _Point(alpha, half, half, np.maximum(rest, 0) + extra, np.maximum(-rest, 0) + extra)
    start = float(p @ (half * (point.above + point.below)))
    for _ in range(_ROUNDS):
        gap = point.gap(p)
        if gap <= _GAP * start:
            break
        try:
            newton = _Newton(rows, p, low, at, point)
        except (np.linalg.LinAlgError, ValueError):  # rounding has the last word
            break
        first = newton.step(0.0, None)
        after = point.moved(first, *_lengths(point, first)).gap(p)
        centre = (after / gap) ** 3 * gap / (2.0 * float(p.sum()))
        step = newton.step(centre, first)
        point = point.moved(step, *(min(1.0, _SHORT * t) for t in _lengths(point, step)))
    z = np.zeros(len(given.p))
    z[seen] = low + point.up
    return point.alpha, z


class _Newton:
    """Newton's equations at a point, factorised."""

    def __init__(self, rows: Array, p: Vector, low: Vector, at: Vector, point: _Point) -> None:
        from scipy.linalg import cho_factor

        self.rows, self.p, self.point = rows, p, point
        self.theta = point.below / point.up + point.above / point.down
        scaled = np.sqrt(p / self.theta)[:, None] * rows
        gram = scaled.T @ scaled
        gram[np.diag_indices_from(gram)] += _JITTER * max(float(gram.diagonal().max()), 1e-300)
        self.factor: Any = cho_factor(gram)
        self.missing = point.above - point.below - (rows @ point.alpha - at)
        self.slope = (p * (low + point.up)) @ rows

    def step(self, centre: float, first: _Point | None) -> _Point:
        """Return the step to products of `centre`; with `first`, corrected by its products."""
        from scipy.linalg import cho_solve

        x = self.point
        to_below, to_above = centre - x.up * x.below, centre - x.down * x.above
        if first is not None:
            to_below = to_below - first.up * first.below
            to_above = to_above - first.down * first.above
        goal = self.missing + to_above / x.down - to_below / x.up
        pulled = (self.p * goal / self.theta) @ self.rows - self.slope
        alpha = cho_solve(self.factor, pulled)
        up = (self.rows @ alpha - goal) / self.theta
        above = (to_above + x.above * up) / x.down
        below = (to_below - x.below * up) / x.up
        return _Point(alpha, up, -up, above, below)


def _lengths(x: _Point, dx: _Point) -> tuple[float, float]:
    """Return how far a step may go within the bounds: of the residual, and of z."""

    def longest(*pairs: tuple[Vector, Vector]) -> float:
        parts = [(-v[dv < 0.0] / dv[dv < 0.0]).min(initial=math.inf) for v, dv in pairs]
        return float(min(1.0, *parts))

    far = longest((x.above, dx.above), (x.below, dx.below))
    return far, longest((x.up, dx.up), (x.down, dx.down))
