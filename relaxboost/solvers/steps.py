"""Step sizes that increase the smoothed relaxed margin along a segment of margins.

The smoothed relaxed margin at margins u is the minimum over distributions d of <d, u> + f(d) + β
s(d), for a relaxation f and a strongly convex s. It is concave in u, and its gradient at u is the
minimising d.
"""

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
    """Return the step of SS09 Fig. 1, η = β <d, v> / ‖v‖_inf², limited to [0, longest].

    The smoothed relaxed margin is 1/β-smooth in the sup norm. η maximises the quadratic lower bound
    that this implies (SS09, Eq. 10).

    Parameters
    ----------
    slope : float
        <d, v>, the derivative along v, minus the derivative of the penalty on w if there is one.
    v : array of shape (m,)
        The direction of the margins.
    beta : float
        The weight β of the smoothing.
    longest : float
        The largest step.
    curvature : float
        The second derivative of the penalty on w. The step is then
        η = β slope / (‖v‖_inf² + β curvature).
    size : float, optional
        ‖v‖_inf, if the caller knows it.
    """
    size = kernels.largest(v) if size is None else size
    bend = size * size + beta * curvature
    if slope <= 0.0:
        return 0.0
    # Without any bend the function increases along the whole segment.
    return min(longest, beta * slope / bend) if bend > 0.0 else longest


class Step(NamedTuple):
    """A step along a segment, with the margins and the distribution at its end if known."""

    eta: float
    """The length η of the step."""
    u: Vector | None = None
    """The margins at the end of the step."""
    d: Vector | None = None
    """The distribution over examples that belongs to these margins."""
    stretch: float | None = None
    """The length of the step divided by that of Fig. 1's, or None at the end of the segment."""
    product: float | None = None
    """The product <d, u> at the end of the step."""


class Segment(NamedTuple):
    """The margins u + ηv for η in [0, longest], with a penalty a η + b η²/2 on the weights w."""

    u: Vector
    """The margins at η = 0."""
    v: Vector
    """The direction of the margins."""
    slope: float
    """The derivative at η = 0 of the smoothed relaxed margin minus the penalty."""
    longest: float = 1.0
    """The largest η."""
    bend: tuple[float, float] = (0.0, 0.0)
    """The coefficients (a, b) of the penalty."""
    size: float | None = None
    """The norm ‖v‖_inf, if known."""


Arrival = tuple[Vector, Vector, float, float | None]
"""The margins u + ηv, their distribution d, <d, v>, and <d, u + ηv> if the projection knows it."""


def arrival(project: Projector, u: Vector, v: Vector, eta: float) -> Arrival:
    """Return the margins u + ηv, their distribution d, and the products of d with both.

    A projector with a method `along` follows the line itself, at a lower cost.
    """
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
    """Return the step that nearly maximises the smoothed relaxed margin on a segment.

    If there is a penalty on the weights w, the search maximises the margin minus the penalty. Its
    derivative <d(u + ηv), v> − a − b η decreases in η, and is non-negative at the step of Fig. 1.
    The search ends when the derivative lies between 0 and `accuracy` times its value at η = 0. The
    step is at least as long as Fig. 1's and not beyond the maximiser, so it gains at least as much.

    Parameters
    ----------
    project : callable
        Returns the distribution d for given margins.
    beta : float
        The weight β of the smoothing.
    segment : Segment
    accuracy : float
        The fraction of the initial derivative that may remain.
    stretch : float
        The length of the first trial step, as a multiple of Fig. 1's step. The `stretch` that an
        earlier search found is a good choice.
    """
    if segment.slope <= 0.0:
        return Step(0.0)
    # The derivative shall end in [0, 2 aim], so the search looks for the η at which it equals aim.
    search = _Search(project, beta, segment, 0.5 * accuracy * segment.slope)
    found = search.find_bracket(stretch)
    return search.close_bracket() if found is None else found


class _Search:
    """A search for the η at which the derivative along a segment equals the number `aim`.

    The derivative decreases in η. `_left` and `_right` enclose the solution once the derivative is
    below `aim` at `_right`; `_at_left` and `_at_right` are the derivatives there minus `aim`.
    """

    def __init__(self, project: Projector, beta: float, segment: Segment, aim: float) -> None:
        _, v, slope, longest, bend, size = segment
        self._project = project
        self._segment = segment
        self._aim = aim
        step = quadratic_step(slope, v, beta, longest, bend[1], size)
        # The step may underflow to zero, and the search divides by it.
        self._shortest = min(longest, max(step, 1e-300))
        self._left = 0.0
        self._at_left = slope - aim
        self._right = self._shortest
        self._at_right = 0.0

    def _evaluate(self, eta: float) -> tuple[Step, float]:
        """Return the step of length η, and the derivative at its end minus the number `aim`."""
        segment = self._segment
        there, d, rise, product = arrival(self._project, segment.u, segment.v, eta)
        stretch = eta / self._shortest if eta < segment.longest else None
        value = rise - segment.bend[0] - segment.bend[1] * eta - self._aim
        return Step(eta, there, d, stretch, product), value

    def find_bracket(self, stretch: float) -> Step | None:
        """Lengthen the step until the derivative at its end is below `aim`, and return None.

        If the derivative at the end of a trial step is close enough to `aim`, return this step.
        """
        longest = self._segment.longest
        self._right = min(longest, max(1.0, stretch) * self._shortest)
        while True:
            step, self._at_right = self._evaluate(self._right)
            if abs(self._at_right) <= self._aim:
                return step
            if self._at_right < 0.0:
                # Fig. 1's step is never too long; if it seems so, rounding is the cause.
                return step if self._right == self._shortest else None
            if self._right >= longest:
                return step
            # The next trial lies a little beyond the zero of the secant, so that it ends the
            # search on the other side. The limits of 2 and 16 keep a poor secant from harm.
            fall = max(self._at_left - self._at_right, 1e-300)
            secant = self._right + self._at_right * (self._right - self._left) / fall
            self._left = self._right
            self._at_left = self._at_right
            self._right = min(longest, max(2.0 * self._left, min(1.2 * secant, 16.0 * self._left)))

    def close_bracket(self) -> Step:
        """Return the step that the Illinois variant of regula falsi finds within the bracket."""
        side = 0
        # The Illinois method converges with order 1.44: 60 evaluations are far more than it needs.
        for _ in range(60):
            fall = self._at_right - self._at_left
            eta = self._right - self._at_right * (self._right - self._left) / fall
            eta = max(eta, self._shortest)
            step, value = self._evaluate(eta)
            if abs(value) <= self._aim or (eta == self._shortest and value < 0.0):
                return step
            # The value at an end that stays twice is halved, so that the other end moves too.
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
        # Rounding makes the derivative jump over the aim: the left end has a positive derivative.
        return Step(max(self._left, self._shortest))
