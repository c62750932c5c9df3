"""The inside of a domain, as interior point methods see it: pairs of slacks and multipliers.

Newton's equations for a gradient g and a Hessian B in w, with a target for every product:

* over atoms, w = E x with x >= 0 and Σx = r, multipliers ν: (EᵀBE + ν/x) dx + dλ 1 =
  −Eᵀg + target/x and 1ᵀdx = 0; then dν = target/x − ν − (ν/x) dx;
* in a ball, with the slack c = (r² − ‖w‖²)/2 and its multiplier λ: (B + λI + (λ/c) w wᵀ) dw =
  −g − w target/c, and dλ = (target − λc + λ<w, dw>)/c.

In both dw is a direction of descent of L − target · log of the slacks, where g is its gradient.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost.functional.corners import factor
from relaxboost.game.domains import AtomicSet, L2Ball

_BACK = 0.995
"""How much of the way to the boundary a step may go."""
_REFINED = 8
"""Refinements at most; they end where they no longer halve what is left."""
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
    linear: bool
    """Whether slacks are linear in w, so that multipliers may take steps of their own."""
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
    def product(self) -> float:
        """Σ slack · multiplier."""
        return float(self.slacks @ self.mult)

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
    def prepare(self, curved: Matrix) -> None:
        """Factorise the equations for a Hessian in w, or for rows whose squares it is."""

    @abstractmethod
    def turn(self, gradient: Vector, target: Vector | float) -> Turn:
        """Return the direction for products of `target`."""

    @abstractmethod
    def correction(self, turn: Turn) -> Vector:
        """Return what products gain of second order along a direction."""

    @abstractmethod
    def longest(self, turn: Turn) -> tuple[float, float]:
        """Return the steps for w and the multipliers that stay inside, 1 at most."""

    @abstractmethod
    def go(self, turn: Turn, step: float, dual_step: float) -> None:
        """Take the steps."""

    @abstractmethod
    def moved(self, turn: Turn, step: float) -> Inside:
        """Return the point after a step of w alone."""

    def product_after(self, turn: Turn, step: float, dual_step: float) -> float:
        """Return Σ slack · multiplier after the steps."""
        return float(self.moved(turn, step).slacks @ (self.mult + dual_step * turn.mult))

    def begin(self, size: float) -> None:
        """Set multipliers for products of `size`."""
        self.mult = size / self.slacks

    def guard(self, target: float) -> None:
        """Keep multipliers near target / slack."""
        centre = target / self.slacks
        self.mult = np.clip(self.mult, centre / _DRIFT, centre * _DRIFT)


class InAtoms(Inside):
    """w = E x, a mixture of atoms: the columns, their negatives, and 0, as the domain has them."""

    linear = True

    def __init__(self, over: AtomicSet, M: int, w: Vector | None = None, share: float = 1.0):
        self._radius, self._two = over.scale, over.two_sided
        self.count = M * (2 if self._two else 1) + over.holds_zero
        self._M = M
        x = np.full(self.count, over.scale / self.count)
        if w is not None:
            x = share * x + (1.0 - share) * self._split(w, over)
        self._x = x
        self.begin(1.0)

    def _split(self, w: Vector, over: AtomicSet) -> Vector:
        x = np.zeros(self.count)
        x[: self._M] = np.maximum(w, 0.0)
        if self._two:
            x[self._M : 2 * self._M] = np.maximum(-w, 0.0)
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

    def prepare(self, curved: Matrix) -> None:
        """Factorise EᵀBE + ν/x."""
        M = self._M
        theta = self.mult / self._x
        wide = len(curved) < M
        full = np.zeros((len(curved) + 1 if wide else self.count, self.count))
        full[: len(curved), :M] = curved
        if self._two:
            full[: len(curved), M : 2 * M] = -curved
        # At a vertex Σdx = 0 is what fixes the last direction; with 11ᵀ in, none is near singular.
        if wide:
            full[-1] = 1.0 / math.sqrt(_harmonic((full * full).sum(axis=0) + theta))
            self._solve = _factor_wide(full, theta)
        else:
            if self._two:
                full[M : 2 * M, : 2 * M] = -full[:M, : 2 * M]
            place = np.arange(self.count)
            full[place, place] += theta
            full += 1.0 / _harmonic(full[place, place])
            self._solve = factor(full)
        self._ones = self._solve(np.ones(self.count))
        if not 0.0 < float(self._ones.sum()) < math.inf:  # θ beyond doubles, at an exact fit
            raise np.linalg.LinAlgError("Newton's equations are singular")

    def turn(self, gradient: Vector, target: Vector | float) -> Turn:
        wanted = target / self._x
        dx = self._solve(wanted - self._up(gradient))
        dx -= self._ones * (float(dx.sum()) / float(self._ones.sum()))
        return Turn(self._down(dx), dx, wanted - self.mult - self.mult / self._x * dx)

    def correction(self, turn: Turn) -> Vector:
        return turn.slack * turn.mult

    def longest(self, turn: Turn) -> tuple[float, float]:
        return _longest(self._x, turn.slack), _longest(self.mult, turn.mult)

    def go(self, turn: Turn, step: float, dual_step: float) -> None:
        """Take the steps; what rounding does to Σx is undone."""
        x = self._x + step * turn.slack
        self._x = x * (self._radius / float(x.sum()))
        self.mult = self.mult + dual_step * turn.mult

    def moved(self, turn: Turn, step: float) -> InAtoms:
        return _with(self, _x=self._x + step * turn.slack)


class InBall(Inside):
    """w inside a Euclidean ball."""

    count = 1
    linear = False

    def __init__(self, over: L2Ball, M: int, w: Vector | None = None, share: float = 1.0):
        self._radius = float(over.radius)
        self._w = np.zeros(M) if w is None else (1.0 - share) * w
        self.begin(1.0)

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

    def prepare(self, curved: Matrix) -> None:
        """Factorise B + λI + (λ/c) w wᵀ."""
        scale, room = float(self.mult[0]), float(self.slacks[0])
        if not room > 0.0:
            raise np.linalg.LinAlgError("rounding put w on the sphere")
        if len(curved) < self._w.size:
            rows = np.vstack([curved, math.sqrt(scale / room) * self._w])
            self._solve = _factor_wide(rows, np.full(self._w.size, scale))
            return
        full = curved + (scale / room) * np.outer(self._w, self._w)
        place = np.arange(self._w.size)
        full[place, place] += scale
        self._solve = factor(full)

    def turn(self, gradient: Vector, target: Vector | float) -> Turn:
        c, wanted = self.slacks, np.asarray(target, dtype=np.float64).reshape(-1)
        dw = self._solve(-gradient - self._w * float((wanted / c)[0]))
        rise = (wanted - self.mult * c + self.mult * float(self._w @ dw)) / c
        return Turn(dw, dw, rise)

    def correction(self, turn: Turn) -> Vector:
        dw = turn.slack
        return -turn.mult * float(self._w @ dw) - self.mult * float(dw @ dw) / 2.0

    def longest(self, turn: Turn) -> tuple[float, float]:
        """Return the steps to the sphere and to λ = 0; both are one step, since λw is in g."""
        dw, w, c = turn.slack, self._w, float(self.slacks[0])
        a, b = float(dw @ dw), float(w @ dw)
        # a t²/2 + b t = c at the sphere, in a form without cancellation.
        root = math.sqrt(b * b + 2.0 * a * c)
        end = 2.0 * c / (b + root) if b + root > 0.0 else math.inf
        step = min(1.0, _BACK * end, _longest(self.mult, turn.mult))
        return step, step

    def go(self, turn: Turn, step: float, dual_step: float) -> None:
        self._w = self._w + step * turn.slack
        self.mult = self.mult + dual_step * turn.mult

    def moved(self, turn: Turn, step: float) -> InBall:
        return _with(self, _w=self._w + step * turn.slack)


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


def _harmonic(diagonal: Vector) -> float:
    """Return Σ 1/x, or raise where it is no positive double."""
    with np.errstate(all="ignore"):
        total = float((1.0 / diagonal).sum())
    if not 0.0 < total < math.inf:
        raise np.linalg.LinAlgError("Newton's equations are beyond what doubles hold")
    return total


def _factor_wide(rows: Matrix, theta: Vector) -> Any:
    """Return what solves with Θ + AᵀA for few rows A, by equations of their order.

    Woodbury's identity, refined, since it subtracts what is large.
    """
    scaled = rows / theta
    outer = scaled @ rows.T
    place = np.arange(len(rows))
    outer[place, place] += 1.0
    inner = factor(outer)

    def once(h: Vector) -> Vector:
        return np.asarray(h / theta - inner(scaled @ h) @ scaled)

    def solve(h: Vector) -> Vector:
        found, left, size = np.zeros_like(h), h, math.inf
        for _ in range(_REFINED):
            moved = found + once(left)
            rest = h - theta * moved - (rows @ moved) @ rows
            largest = float(np.abs(rest).max())
            if not largest < 0.5 * size:
                break
            found, left, size = moved, rest, largest
        return found

    return solve
