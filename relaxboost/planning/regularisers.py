"""Regularisers, which penalise or restrict the weights of linear costs, with their conjugates."""

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
    """The numbers >= 0 that define a `Regulariser`: the coefficients of the squared l2 norm and of
    the l1 norm, and the radius of an l1 ball."""

    square: float = 0.0
    absolute: float = 0.0
    radius: float = math.inf


class Regulariser(ABC):
    """A regulariser Ω(w) = (square/2)‖w‖₂² + absolute · ‖w‖₁, with Ω(w) = inf if ‖w‖₁ > radius.

    The weights w have any sign, or are restricted to w >= 0.

    If a loss R satisfies R(w) >= a + <G, w> for all w, then a − Ω*(−G) is a lower bound on the
    minimum of Ω + R. Here Ω*(v) = sup over w of <v, w> − Ω(w) is the conjugate.

    A user-defined regulariser is a subclass that defines `form`. If it is a dataclass, its fields
    must be numbers > 0. A subclass with a `name` is registered in `REGULARISERS`, and the command
    line accepts this name.
    """

    name: ClassVar[str] = ""

    @property
    @abstractmethod
    def form(self) -> Form:
        """The coefficients of the penalties, and the radius of the l1 ball."""

    def __init_subclass__(cls) -> None:
        REGULARISERS.add(cls)

    def __post_init__(self) -> None:
        for name, size in vars(self).items():
            positive(name, size)

    def value(self, w: Array) -> float:
        """Return the value of the regulariser at w, which is inf outside the l1 ball."""
        square, absolute, radius = self.form
        if radius < math.inf and math.fsum(np.abs(w).tolist()) > radius:
            return math.inf
        # If the coefficient of the l1 norm is 0, its sum is not computed, because 0 times an
        # overflow is nan.
        return _half_square(w, square, 1.0) + (absolute and absolute * float(np.abs(w).sum()))

    def conjugate(self, v: Array, nonnegative: bool) -> float:
        """Return the conjugate at v, which is the supremum of <v, w> − Ω(w) and may be inf.

        The supremum is over all weights w or, if `nonnegative` is true, over w >= 0.
        """
        # If Ω has a ball, Ω*(v) is the minimum over μ >= 0 of radius · μ + Ω₁*(v), where Ω₁ is Ω
        # without the ball and with the coefficient absolute + μ. Every μ >= 0, even a rounded one,
        # gives an upper bound on Ω*(v).
        square, absolute, radius = self.form
        over = np.maximum(_size(v, nonnegative) - absolute, 0.0)
        μ = 0.0
        if radius < math.inf:
            # The optimal μ makes the l1 norm of the maximiser equal to the radius.
            μ = max(float(over.max()) - _height(over, square * radius), 0.0)
            over = np.maximum(over - μ, 0.0)
        if square == 0.0 and over.any():
            return math.inf
        return (radius * μ if μ else 0.0) + (_half_square(over, 1.0, square) if square else 0.0)

    def reach(self, v: Array, nonnegative: bool) -> float:
        """Return the largest factor s in [0, 1] for which the conjugate is finite at s v."""
        square, absolute, radius = self.form
        largest = float(_size(v, nonnegative).max())
        if square > 0.0 or radius < math.inf or largest <= absolute:
            return 1.0
        # The factor keeps s v inside the domain in spite of rounding.
        return absolute / largest * (1.0 - 1e-15)

    def expression(self, w: Any) -> tuple[Any, list[Any]]:
        """Return the regulariser as a cvxpy expression in w, and the constraints on w."""
        square, absolute, radius = self.form
        size = square / 2.0 * cp.sum_squares(w) if square > 0.0 else cp.Constant(0.0)
        # A radius of inf is no constraint.
        rules = [cp.norm1(w) <= radius] if radius < math.inf else []
        return size + absolute * cp.norm1(w), rules

    def project(self, w: Array, nonnegative: bool) -> Array:
        """Return the nearest weights in the domain of the regulariser, up to a few ulps."""
        w = np.maximum(w, 0.0) if nonnegative else w
        radius = self.form.radius
        size = np.abs(w)
        if radius == math.inf or math.fsum(size.tolist()) <= radius * (1.0 - 1e-15):
            return w
        made: Array = np.sign(w) * np.maximum(_height(size, radius) - (size.max() - size), 0.0)
        # Rounding may leave the point outside the ball, so that it has to be scaled.
        over = math.fsum(np.abs(made).tolist()) / radius
        return made / (over * (1.0 + 1e-15)) if over >= 1.0 else made


REGULARISERS: Registry[Regulariser] = Registry("regulariser")
"""The regulariser classes by the names that the command line accepts."""


@dataclass(frozen=True)
class Ridge(Regulariser):
    """The regulariser Ω(w) = (strength/2)‖w‖₂² of maximum-margin planning.

    Parameters
    ----------
    strength : float
        The factor of the penalty, > 0.
    """

    strength: float = 1e-2

    name = "ridge"

    @property
    def form(self) -> Form:
        return Form(square=self.strength)


@dataclass(frozen=True)
class Lasso(Regulariser):
    """The regulariser Ω(w) = strength · ‖w‖₁, which favours sparse weights.

    Parameters
    ----------
    strength : float
        The factor of the penalty, > 0.
    """

    strength: float = 1e-2

    name = "lasso"

    @property
    def form(self) -> Form:
        return Form(absolute=self.strength)


@dataclass(frozen=True)
class L1Radius(Regulariser):
    """The indicator of the l1 ball: Ω(w) = 0 for ‖w‖₁ <= radius, and Ω(w) = inf otherwise.

    Parameters
    ----------
    radius : float
        The radius of the ball, > 0.
    """

    radius: float = 1.0

    name = "radius"

    @property
    def form(self) -> Form:
        return Form(radius=self.radius)


def _half_square(v: Array, times: float, over: float) -> float:
    """Return times · ‖v‖² / (2 · over), even if ‖v‖² itself overflows or underflows."""
    # After the scaling by a power of two, the largest square is between 1/4 and 1.
    exponent = math.frexp(float(np.abs(v).max()))[1]
    scaled = np.ldexp(v, -exponent)
    by, more = math.frexp(0.5 * float(scaled @ scaled) * times / over)
    return float(np.ldexp(by, more + 2 * exponent))


def _size(v: Array, nonnegative: bool) -> Array:
    return np.maximum(v, 0.0) if nonnegative else np.abs(v)


def _height(size: Array, radius: float) -> float:
    """Return max(size) − θ for the projection onto the l1 ball.

    The projection subtracts the threshold θ from the sizes of the weights, and clips them at 0. The
    threshold solves Σ (size − θ)₊ = radius.
    """
    # Only differences from the largest size are exact enough if the sizes are far above the radius.
    less = np.sort(size.max() - size)
    kept = (radius + np.cumsum(less)) / np.arange(1, less.size + 1)
    return float(kept[np.flatnonzero(less <= kept)[-1]])
