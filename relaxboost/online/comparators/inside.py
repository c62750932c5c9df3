"""The inside of a domain, as the barrier method sees it: pairs of slacks and multipliers.

Let g be the gradient and B the Hessian of L in w, with a target for every product:

* over atoms, w = E x with x >= 0 and Σx = r, multipliers ν: (EᵀBE + ν/x) dx + dλ 1 =
  −Eᵀg + target/x and 1ᵀdx = 0; then dν = target/x − ν − (ν/x) dx;
* in a ball, with the slack c = (r² − ‖w‖²)/2 and its multiplier λ: (B + λI + (λ/c) w wᵀ) dw =
  −g − w target/c, and dλ = (target − λc + λ<w, dw>)/c.

B = AᵀCA, so that with Θ = C⁻¹ these are Newton's equations of a game without Σd = 1. In both dw
is a direction of descent of L − target · log of the slacks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.barrier import SMALLEST_SLACK
from relaxboost.solvers.interior_point.block import Diagonal
from relaxboost.solvers.interior_point.edge_bounds import atom_scaling
from relaxboost.solvers.interior_point.normal import (
    ByColumns,
    ByExamples,
    ColumnScaling,
    Move,
    Normal,
    Right,
)
from relaxboost.solvers.interior_point.smooth_weights import ball_scaling, step_to_sphere

_BACK = 0.995
"""How much of the way to the boundary a step may go."""
_REFINED = 4
"""Refinements of equations by examples, which lose digits where losses hardly curve."""
_DRIFT = 1e8
"""Multipliers stay within this factor of target / slack."""


class Turn(NamedTuple):
    """A direction of all variables of a domain."""

    w: Vector
    slack: Vector
    """Of x; in a ball of w."""
    mult: Vector


class Inside(ABC):
    """A w inside a domain, with a multiplier for each of its slacks."""

    count: int
    """The number of slacks."""
    mult: Vector

    @property
    @abstractmethod
    def w(self) -> Vector:
        """The weights."""

    @property
    @abstractmethod
    def slacks(self) -> Vector:
        """What is positive inside, shape (count,)."""

    @property
    def barrier(self) -> float:
        """−Σ log slack; inf on the boundary."""
        if not float(self.slacks.min()) > 0.0:
            return math.inf
        return -float(np.log(self.slacks).sum())

    @abstractmethod
    def rise(self, turn: Turn) -> float:
        """Return the derivative of the barrier along a direction."""

    @abstractmethod
    def _scaling(self) -> ColumnScaling:
        """Return D, ε D and κ of Newton's equations."""

    def prepare(self, bulk: Bulk, curvature: Vector) -> None:
        """Factorise the equations for the second derivatives of the losses, shape (m,)."""
        block = Diagonal(1.0 / np.maximum(curvature, SMALLEST_SLACK), bulk.m)
        side = ByExamples if bulk.n > bulk.m else ByColumns
        self._normal: Normal = side(bulk, block, self._scaling()._replace(has_sum=False))
        self._m = bulk.m

    def _solve(self, q: Vector, s: float) -> Move:
        right = Right(np.zeros(self._m), q, s, 0.0)
        move = self._normal.solve(right)
        for _ in range(_REFINED if self._m < q.size else 0):
            move = self._normal.refined(right, move)
        return move

    @abstractmethod
    def turn(self, gradient: Vector, target: float) -> Turn:
        """Return the direction for products of `target`."""

    @abstractmethod
    def longest(self, turn: Turn) -> tuple[float, float]:
        """Return the steps for w and the multipliers that stay inside, 1 at most."""

    @abstractmethod
    def moved(self, turn: Turn, step: float, dual_step: float = 0.0) -> Inside:
        """Return the point after a step of w and one of the multipliers."""

    def begin(self, size: float) -> None:
        """Set multipliers for products of `size`."""
        self.mult = size / self.slacks

    def guard(self, target: float) -> None:
        """Keep multipliers near target / slack."""
        centre = target / self.slacks
        self.mult = np.clip(self.mult, centre / _DRIFT, centre * _DRIFT)


class InAtoms(Inside):
    """w = E x, a mixture of atoms: the columns, their negatives, and 0, as the domain has them."""

    def __init__(self, over: AtomicSet, M: int, w: Vector | None = None, share: float = 1.0):
        self._radius, self._two = over.scale, over.two_sided
        self.count = M * (2 if self._two else 1) + over.holds_zero
        self._M = M
        x = np.full(self.count, over.scale / self.count)
        if w is not None:
            x = share * x + (1.0 - share) * self._split(w, over)
        self._x = x

    def _split(self, w: Vector, over: AtomicSet) -> Vector:
        x = np.maximum(self._up(w), 0.0)
        if over.holds_zero:
            x[-1] = max(0.0, over.scale - float(x[:-1].sum()))
        return x

    @property
    def w(self) -> Vector:
        return self._down(self._x)

    def _down(self, x: Vector) -> Vector:
        M = self._M
        return x[:M] - x[M : 2 * M] if self._two else x[:M].copy()

    def _up(self, g: Vector) -> Vector:
        full = np.zeros(self.count)
        full[: self._M] = g
        if self._two:
            full[self._M : 2 * self._M] = -g
        return full

    @property
    def slacks(self) -> Vector:
        return self._x

    def rise(self, turn: Turn) -> float:
        return -float((turn.slack / self._x).sum())

    def _scaling(self) -> ColumnScaling:
        theta = self._x / self.mult
        ends = self._M * (2 if self._two else 1)
        return atom_scaling(theta[:ends].reshape(-1, self._M), float(theta[ends:].sum()))

    def turn(self, gradient: Vector, target: float) -> Turn:
        M, theta, scaling = self._M, self._x / self.mult, self._scaling()
        wanted = target / self._x
        rho = wanted - self._up(gradient)
        q = -self._down(theta * rho) / scaling.D
        if not self._two:
            # Σ θρ − εᵀ(θρ) leaves what belongs to 0.
            move = self._solve(q, float((theta * rho)[M:].sum()))
            dx = theta * (rho - move.v)
            dx[:M] = move.y
        else:
            # The same for two signs, without the part that cancels.
            plus, minus = theta[:M], theta[M : 2 * M]
            both = 2.0 * plus * minus * (rho[:M] + rho[M : 2 * M]) / scaling.D
            move = self._solve(q, float((theta * rho)[2 * M :].sum()) + float(both.sum()))
            dx = theta * (rho + self._up(move.edges) - move.v)
            # The larger of the two changes follows from their difference without cancellation.
            larger = plus > minus
            dx[:M] = np.where(larger, move.y + dx[M : 2 * M], dx[:M])
            dx[M : 2 * M] = np.where(larger, dx[M : 2 * M], dx[:M] - move.y)
        # Roundings in 1ᵀdx = 0 go where an atom's own equation says least.
        dx[np.argmax(theta)] -= float(dx.sum())
        return Turn(self._down(dx), dx, wanted - self.mult - dx / theta)

    def longest(self, turn: Turn) -> tuple[float, float]:
        return _longest(self._x, turn.slack), _longest(self.mult, turn.mult)

    def moved(self, turn: Turn, step: float, dual_step: float = 0.0) -> InAtoms:
        """Return the point after the steps; what rounding does to Σx is undone."""
        x = self._x + step * turn.slack
        x *= self._radius / float(x.sum())
        return _with(self, _x=x, mult=self.mult + dual_step * turn.mult)


class InBall(Inside):
    """w inside a Euclidean ball."""

    count = 1

    def __init__(self, over: L2Ball, M: int, w: Vector | None = None, share: float = 1.0):
        self._radius = float(over.radius)
        self._w = np.zeros(M) if w is None else (1.0 - share) * w

    @property
    def w(self) -> Vector:
        return self._w

    @property
    def slacks(self) -> Vector:
        """(r² − ‖w‖²)/2."""
        size = math.sqrt(float(self._w @ self._w))
        return np.array([(self._radius - size) * (self._radius + size) / 2.0])

    def rise(self, turn: Turn) -> float:
        return float(self._w @ turn.slack) / float(self.slacks[0])

    def _scaling(self) -> ColumnScaling:
        scale = float(self.mult[0])
        D = np.full(self._w.size, 1.0 / scale)
        return ball_scaling(D, self._w, float(self.slacks[0]), scale)

    def turn(self, gradient: Vector, target: float) -> Turn:
        scale, room = float(self.mult[0]), float(self.slacks[0])
        move = self._solve(gradient + scale * self._w, target / scale - room)
        return Turn(move.y, move.y, np.array([move.v]))

    def longest(self, turn: Turn) -> tuple[float, float]:
        """Return the steps to the sphere and to λ = 0; both are one step, since λw is in g."""
        end = step_to_sphere(self._w, turn.slack, float(self.slacks[0]))
        step = min(1.0, _BACK * end, _longest(self.mult, turn.mult))
        return step, step

    def moved(self, turn: Turn, step: float, dual_step: float = 0.0) -> InBall:
        w = self._w + step * turn.slack
        return _with(self, _w=w, mult=self.mult + dual_step * turn.mult)


def inside(over: Any, M: int, w: Vector | None = None, share: float = 1.0) -> Inside:
    """Return the centre of a domain, or the point that is `share` of the way from w to it."""
    if isinstance(over, L2Ball):
        return InBall(over, M, w, share)
    return InAtoms(over, M, w, share)


def _with(point: Any, **changes: Any) -> Any:
    other = object.__new__(type(point))
    other.__dict__.update(vars(point), **changes)
    return other


def _longest(x: Vector, dx: Vector) -> float:
    falling = dx < 0.0
    if not falling.any():
        return 1.0
    return min(1.0, _BACK * float((-x[falling] / dx[falling]).min()))
