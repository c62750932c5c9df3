"""What keeps linear costs small: penalties and sets for the weights w, with their conjugates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive
from relaxboost._core.registry import Registry


class Form(NamedTuple):
    """Ω(w) = (square/2)‖w‖₂² + absolute · ‖w‖₁, for ‖w‖₁ <= radius."""

    square: float = 0.0
    absolute: float = 0.0
    radius: float = math.inf


class Regulariser(ABC):
    """Ω, a closed convex function of w, over all w or over w >= 0.

    Ω >= 0, Ω(0) = 0, and Ω depends on the absolute values of the entries alone. Its conjugate
    Ω*(v) = sup over w of <v, w> − Ω(w) turns a cut a + <G, w> <= R(w) into the lower bound
    a − Ω*(−G) of min Ω + R; rounding is charged by moving v away from 0.

    With a `name` a subclass enters `REGULARISERS`, and the command line takes it.
    """

    name: ClassVar[str] = ""

    @property
    def form(self) -> Form | None:
        """Its three numbers, if that is what it is: cvxpy then has no part in a fit."""
        return None

    def __init_subclass__(cls) -> None:
        REGULARISERS.add(cls)

    @abstractmethod
    def value(self, w: Array) -> float:
        """Return Ω(w), inf outside its set (by more than rounding)."""

    @abstractmethod
    def conjugate(self, v: Array, nonnegative: bool) -> float:
        """Return Ω*(v), inf outside its domain."""

    def reach(self, v: Array, nonnegative: bool) -> float:
        """Return the largest s in [0, 1] with Ω*(s v) < inf; 1 where that is finite everywhere."""
        return 1.0

    def expression(self, w: Any) -> tuple[Any, list[Any]]:
        """Return Ω as a cvxpy expression of w, and constraints; by default those of `form`."""
        if self.form is None:
            raise InputError(
                f"{type(self).__name__} has neither a form nor an expression of its own; give it "
                "one, so that a solver can minimise it"
            )
        square, absolute, radius = self.form
        size = square / 2.0 * cp.sum_squares(w) if square > 0.0 else cp.Constant(0.0)
        rules = [cp.norm1(w) <= radius] if radius < math.inf else []
        return size + absolute * cp.norm1(w), rules

    def project(self, w: Array, nonnegative: bool) -> Array:
        """Return the nearest point of the set; w or its positive part, where Ω is finite there."""
        return np.maximum(w, 0.0) if nonnegative else w


REGULARISERS: Registry[Regulariser] = Registry("regulariser")
"""Regularisers by name."""


@dataclass(frozen=True)
class Ridge(Regulariser):
    """Ω(w) = (strength/2)‖w‖₂², as in maximum-margin planning.

    Parameters
    ----------
    strength : float
        λ > 0.
    """

    strength: float = 1e-2

    name = "ridge"

    def __post_init__(self) -> None:
        positive("strength", self.strength)

    @property
    def form(self) -> Form:
        """A square."""
        return Form(square=self.strength)

    def value(self, w: Array) -> float:
        """Return Ω(w)."""
        return _half_square(w, self.strength, 1.0)

    def conjugate(self, v: Array, nonnegative: bool) -> float:
        """Return ‖v‖²/(2λ), of the positive part for w >= 0."""
        kept = np.maximum(v, 0.0) if nonnegative else v
        return _half_square(kept, 1.0, self.strength)


def _half_square(v: Array, times: float, over: float) -> float:
    """Return times · ‖v‖²/(2 over).

    Scaled by powers of two, so that squares which leave the range of doubles do not take away what
    a large or a small strength makes of them.
    """
    exponent = math.frexp(float(np.abs(v).max()))[1]
    scaled = np.ldexp(v, -exponent)
    by, more = math.frexp(0.5 * float(scaled @ scaled) * times / over)
    return float(np.ldexp(by, more + 2 * exponent))


def _largest(v: Array, nonnegative: bool) -> float:
    return max(float(v.max()), 0.0) if nonnegative else float(np.abs(v).max())


@dataclass(frozen=True)
class Lasso(Regulariser):
    """Ω(w) = strength · ‖w‖₁.

    Parameters
    ----------
    strength : float
        λ > 0.
    """

    strength: float = 1e-2

    name = "lasso"

    def __post_init__(self) -> None:
        positive("strength", self.strength)

    @property
    def form(self) -> Form:
        """Absolute values."""
        return Form(absolute=self.strength)

    def value(self, w: Array) -> float:
        """Return Ω(w)."""
        return self.strength * float(np.abs(w).sum())

    def conjugate(self, v: Array, nonnegative: bool) -> float:
        """Return 0 where no entry of v (of |v| for free signs) is above λ, else inf."""
        return 0.0 if _largest(v, nonnegative) <= self.strength else np.inf

    def reach(self, v: Array, nonnegative: bool) -> float:
        """Return how far v may go for the conjugate to stay finite."""
        size = _largest(v, nonnegative)
        # A little less than λ, so that rounding cannot put it outside.
        return 1.0 if size <= self.strength else self.strength / size * (1.0 - 1e-15)


@dataclass(frozen=True)
class L1Radius(Regulariser):
    """Ω = 0 for ‖w‖₁ <= radius, infinite elsewhere.

    Parameters
    ----------
    radius : float
        > 0.
    """

    radius: float = 1.0

    name = "radius"

    def __post_init__(self) -> None:
        positive("radius", self.radius)

    @property
    def form(self) -> Form:
        """A ball."""
        return Form(radius=self.radius)

    def value(self, w: Array) -> float:
        """Return 0 within the ball, else inf; `project` returns points within it."""
        return 0.0 if math.fsum(np.abs(w).tolist()) <= self.radius else np.inf

    def conjugate(self, v: Array, nonnegative: bool) -> float:
        """Return radius times the largest entry of v (of |v| for free signs), at least 0."""
        return self.radius * _largest(v, nonnegative)

    def project(self, w: Array, nonnegative: bool) -> Array:
        """Return the nearest point of the ball, by sorting, pulled inside by a few roundings."""
        w = super().project(w, nonnegative)
        size = np.abs(w)
        if math.fsum(size.tolist()) <= self.radius * (1.0 - 1e-15):
            return w
        # In terms of how much less an entry is than the largest, which may dwarf the radius.
        less = size.max() - size
        ordered = np.sort(less)
        kept = (self.radius + np.cumsum(ordered)) / np.arange(1, ordered.size + 1)
        made: Array = np.sign(w) * np.maximum(kept[np.flatnonzero(ordered < kept)[-1]] - less, 0.0)
        # Down to the ball in spite of rounding; the threshold may be wrong by more than a rounding.
        over = math.fsum(np.abs(made).tolist()) / self.radius
        return made / (over * (1.0 + 1e-15)) if over >= 1.0 else made
