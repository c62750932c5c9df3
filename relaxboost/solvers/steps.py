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
    if segment.slope <= 0.0:
        return Step(0.0)
    search = _Search(project, beta, segment, 0.5 * accuracy * segment.slope)
    found = search.find_bracket(stretch)
    return search.close_bracket() if found is None else found


class _Search:
    """A search for the zero of the derivative less `aim`, which decreases in η."""

    def __init__(self, project: Projector, beta: float, segment: Segment, aim: float) -> None:
        _, v, slope, longest, bend, size = segment
        self._project = project
        self._segment = segment
        self._aim = aim
        step = quadratic_step(slope, v, beta, longest, bend[1], size)
        self._shortest = min(longest, max(step, 1e-300))
        self._left = 0.0
        self._at_left = slope - aim
        self._right = self._shortest
        self._at_right = 0.0

    def _evaluate(self, eta: float) -> tuple[Step, float]:
        """Return the step to η, and the derivative there less the aim."""
        segment = self._segment
        there, d, rise, product = arrival(self._project, segment.u, segment.v, eta)
        stretch = eta / self._shortest if eta < segment.longest else None
        value = rise - segment.bend[0] - segment.bend[1] * eta - self._aim
        return Step(eta, there, d, stretch, product), value

    def find_bracket(self, stretch: float) -> Step | None:
        """Go on until the derivative is below the aim; return a step that is good enough."""
        longest = self._segment.longest
        self._right = min(longest, max(1.0, stretch) * self._shortest)
        while True:
            step, self._at_right = self._evaluate(self._right)
            if abs(self._at_right) <= self._aim:
                return step
            if self._at_right < 0.0:
                # Fig. 1's step is never too long, so that it is rounding which says so.
                return step if self._right == self._shortest else None
            if self._right >= longest:
                return step
            fall = max(self._at_left - self._at_right, 1e-300)
            secant = self._right + self._at_right * (self._right - self._left) / fall
            self._left = self._right
            self._at_left = self._at_right
            self._right = min(longest, max(2.0 * self._left, min(1.2 * secant, 16.0 * self._left)))

    def close_bracket(self) -> Step:
        """Return the step that the Illinois variant of regula falsi finds in the bracket."""
        side = 0
        for _ in range(60):
            fall = self._at_right - self._at_left
            eta = self._right - self._at_right * (self._right - self._left) / fall
            eta = max(eta, self._shortest)
            step, value = self._evaluate(eta)
            if abs(value) <= self._aim or (eta == self._shortest and value < 0.0):
                return step
            # An end that stays twice counts half, so that the other one moves, too.
            if value > 0.0:
                self._left = eta
                self._at_left = value
                self._at_right *= 0.5 if side == 1 else 1.0
                side = 1
            else:
                self._right = eta
                self._at_right = value
                self._at_left *= 0.5 if side == -1 else 1.0
                side = -1
        return Step(max(self._left, self._shortest))
