"""What keeps linear costs small: penalties and sets for the weights w, with their conjugates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive
from relaxboost._core.registry import Registry


class Form(NamedTuple):
    """The three numbers of a `Regulariser`, each >= 0."""

    square: float = 0.0
    absolute: float = 0.0
    radius: float = math.inf


class Regulariser(ABC):
    """Ω(w) = (square/2)‖w‖₂² + absolute · ‖w‖₁ for ‖w‖₁ <= radius, over all w or over w >= 0.

    Its conjugate Ω*(v) = sup over w of <v, w> − Ω(w) turns a cut a + <G, w> <= R(w) into the lower
    bound a − Ω*(−G) of min Ω + R; rounding is charged by moving v away from 0.

    One of your own is a subclass with a `form`; fields of a dataclass have to be numbers > 0. With
    a `name` it enters `REGULARISERS`, and the command line takes it.
    """

    name: ClassVar[str] = ""

    @property
    @abstractmethod
    def form(self) -> Form:
        """Its three numbers."""

    def __init_subclass__(cls) -> None:
        REGULARISERS.add(cls)

    def __post_init__(self) -> None:
        for name, size in vars(self).items():
            positive(name, size)

    def value(self, w: Array) -> float:
        """Return Ω(w), inf outside the ball; `project` returns points within it."""
        square, absolute, radius = self.form
        if radius < math.inf and math.fsum(np.abs(w).tolist()) > radius:
            return math.inf
        return _half_square(w, square, 1.0) + (absolute and absolute * float(np.abs(w).sum()))

    def conjugate(self, v: Array, nonnegative: bool) -> float:
        """Return Ω*(v), inf outside its domain.

        With a ball it is the least over μ >= 0 of radius · μ + the conjugate of the rest with
        absolute + μ, and not above that for whichever μ rounding makes.
        """
        square, absolute, radius = self.form
        over, μ = np.maximum(_size(v, nonnegative) - absolute, 0.0), 0.0
        if radius < math.inf:
            μ = max(float(over.max()) - _height(over, square * radius), 0.0)
            over = np.maximum(over - μ, 0.0)
        if square == 0.0 and over.any():
            return math.inf
        return (radius * μ if μ else 0.0) + (_half_square(over, 1.0, square) if square else 0.0)

    def reach(self, v: Array, nonnegative: bool) -> float:
        """Return the largest s in [0, 1] with Ω*(s v) < inf; 1 where that is finite everywhere."""
        square, absolute, radius = self.form
        largest = float(_size(v, nonnegative).max())
        if square > 0.0 or radius < math.inf or largest <= absolute:
            return 1.0
        # A little less, so that rounding cannot put it outside.
        return absolute / largest * (1.0 - 1e-15)

    def expression(self, w: Any) -> tuple[Any, list[Any]]:
        """Return Ω as a cvxpy expression of w, and constraints."""
        square, absolute, radius = self.form
        size = square / 2.0 * cp.sum_squares(w) if square > 0.0 else cp.Constant(0.0)
        rules = [cp.norm1(w) <= radius] if radius < math.inf else []
        return size + absolute * cp.norm1(w), rules

    def project(self, w: Array, nonnegative: bool) -> Array:
        """Return the nearest point of the ball, pulled inside by a few roundings; else w or w₊."""
        w, radius = np.maximum(w, 0.0) if nonnegative else w, self.form.radius
        size = np.abs(w)
        if radius == math.inf or math.fsum(size.tolist()) <= radius * (1.0 - 1e-15):
            return w
        made: Array = np.sign(w) * np.maximum(_height(size, radius) - (size.max() - size), 0.0)
        # Down to the ball in spite of rounding; the height may be wrong by more than a rounding.
        over = math.fsum(np.abs(made).tolist()) / radius
        return made / (over * (1.0 + 1e-15)) if over >= 1.0 else made


REGULARISERS: Registry[Regulariser] = Registry("regulariser")
"""Regularisers by name."""


@dataclass(frozen=True)
class Ridge(Regulariser):
    """Ω(w) = (strength/2)‖w‖₂², as in maximum-margin planning.

    Parameters
    ----------
    strength : float
        Above 0.
    """

    strength: float = 1e-2

    name = "ridge"

    @property
    def form(self) -> Form:
        return Form(square=self.strength)


@dataclass(frozen=True)
class Lasso(Regulariser):
    """Ω(w) = strength · ‖w‖₁.

    Parameters
    ----------
    strength : float
        Above 0.
    """

    strength: float = 1e-2

    name = "lasso"

    @property
    def form(self) -> Form:
        return Form(absolute=self.strength)


@dataclass(frozen=True)
class L1Radius(Regulariser):
    """Ω = 0 for ‖w‖₁ <= radius, infinite elsewhere.

    Parameters
    ----------
    radius : float
        Above 0.
    """

    radius: float = 1.0

    name = "radius"

    @property
    def form(self) -> Form:
        return Form(radius=self.radius)


def _half_square(v: Array, times: float, over: float) -> float:
    """Return times · ‖v‖²/(2 over).

    Scaled by powers of two, so that squares which leave the range of doubles do not take away what
    a large or a small strength makes of them.
    """
    exponent = math.frexp(float(np.abs(v).max()))[1]
    scaled = np.ldexp(v, -exponent)
    by, more = math.frexp(0.5 * float(scaled @ scaled) * times / over)
    return float(np.ldexp(by, more + 2 * exponent))


def _size(v: Array, nonnegative: bool) -> Array:
    return np.maximum(v, 0.0) if nonnegative else np.abs(v)


def _height(size: Array, radius: float) -> float:
    """Return by how much the largest size is above what all must lose for their sum to be radius.

    In terms of how much less a size is than the largest, which may dwarf the radius.
    """
    less = np.sort(size.max() - size)
    kept = (radius + np.cumsum(less)) / np.arange(1, less.size + 1)
    return float(kept[np.flatnonzero(less <= kept)[-1]])
