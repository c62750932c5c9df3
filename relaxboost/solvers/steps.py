"""Step sizes for the smoothed relaxed margin along a segment of margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.matrices import kernels
from relaxboost.solvers.smoothing import Projector


def quadratic_step(
    slope: float,
    v: Vector,
    beta: float,
    longest: float = 1.0,
    curvature: float = 0.0,
    size: float | None = None,
) -> float:
    """Return the step of SS09 Fig. 1, η = β <d, v> / ‖v‖_inf² cut to [0, longest].

    `slope` is <d, v> for the direction v of the margins. η maximises the minorant of Eq. 10, the
    smoothed relaxed margin being 1/β-smooth in the sup-norm. A penalty on w whose slope along the
    segment is part of `slope`, and whose second derivative is `curvature`, adds to the bend:
    η = β slope / (‖v‖_inf² + β curvature). `size` is ‖v‖_inf, where it is known.
    """
    size = kernels.largest(v) if size is None else size
    bend = size * size + beta * curvature
    if bend == 0.0 or slope <= 0.0:
        return 0.0 if slope <= 0.0 else longest
    return min(longest, beta * slope / bend)


class Step(NamedTuple):
    """A step, and the margins and the distribution there if they are known."""

    eta: float
    u: Vector | None = None
    d: Vector | None = None
    stretch: float | None = None
    """How many times the step of Fig. 1 it is, if nothing but the derivative ended it."""
    product: float | None = None
    """<d, u> there, where it is known too."""


class Segment(NamedTuple):
    """The margins u + ηv, η in [0, longest], less a penalty a η + b η²/2 on w, (a, b) = `bend`."""

    u: Vector
    v: Vector
    slope: float
    """The derivative of the smoothed relaxed margin less the penalty at η = 0."""
    longest: float = 1.0
    bend: tuple[float, float] = (0.0, 0.0)
    size: float | None = None
    """‖v‖_inf, where it is known."""


Arrival = tuple[Vector, Vector, float, float | None]
"""u + ηv, its d, <d, v>, and <d, u + ηv> where it comes with them."""


def arrival(project: Projector, u: Vector, v: Vector, eta: float) -> Arrival:
    """Go along a line, by the projection's own way where it has one."""
    along: Callable[[Vector, Vector, float], Arrival] | None = getattr(project, "along", None)
    if along is not None:
        return along(u, v, eta)
    there = kernels.along(u, v, eta)
    d = project(there)
    return there, d, kernels.dot(d, v), None


def line_search(
    project: Projector,
    beta: float,
    segment: Segment,
    accuracy: float = 0.05,
    stretch: float = 1.0,
) -> Step:
    """Return the η that maximises the smoothed relaxed margin, less the penalty, on a segment.

    The derivative <d(u + ηv), v> − a − b η decreases in η. It is still non-negative at the step of
    Fig. 1; the search begins at `stretch` times that (what was found on another line will do) and
    goes on, to where a secant meets half of `accuracy` times `slope`, until there is a bracket,
    which the Illinois variant of regula falsi closes. It ends when the derivative lies between 0
    and `accuracy` times `slope`, its value at 0. The result is never shorter than Fig. 1's step nor
    beyond the maximiser, so the gain is at least Fig. 1's.
    """
    u, v, slope, longest, bend, size = segment
    if slope <= 0.0:
        return Step(0.0)
    shortest = min(longest, max(quadratic_step(slope, v, beta, longest, bend[1], size), 1e-300))
    aim = 0.5 * accuracy * slope

    def found(eta: float) -> Step:
        return Step(eta, there, d, eta / shortest if eta < longest else None, product)

    left, at_left = 0.0, slope - aim
    right = min(longest, max(1.0, stretch) * shortest)
    while True:
        there, d, rise, product = arrival(project, u, v, right)
        at_right = rise - bend[0] - bend[1] * right - aim
        if abs(at_right) <= aim or (at_right > 0.0 and right >= longest):
            return found(right)
        if at_right < 0.0:
            break
        secant = right + at_right * (right - left) / max(at_left - at_right, 1e-300)
        left, at_left = right, at_right
        right = min(longest, max(2.0 * left, min(1.2 * secant, 16.0 * left)))
    if right == shortest:  # Fig. 1's step is never too long, so this is rounding
        return found(right)
    side = 0
    for _ in range(60):
        eta = max(right - at_right * (right - left) / (at_right - at_left), shortest)
        there, d, rise, product = arrival(project, u, v, eta)
        value = rise - bend[0] - bend[1] * eta - aim
        if abs(value) <= aim or (eta == shortest and value < 0.0):
            return found(eta)
        if value > 0.0:
            left, at_left = eta, value
            at_right = at_right / 2 if side == 1 else at_right
            side = 1
        else:
            right, at_right = eta, value
            at_left = at_left / 2 if side == -1 else at_left
            side = -1
    return Step(max(left, shortest))
