"""Step lengths that increase the smoothed relaxed margin.

A step moves the margins from u to u + ηv. The smoothed relaxed margin at u is the minimum over the
distributions d of <d, u> + f(d) + β s(d), for the relaxation f, a strongly convex function s and
the smoothing weight β. It is concave in u, and its gradient at u is the minimising d.
"""

from __future__ import annotations

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
    """Return the step length η = β <d, v> / ‖v‖_inf², limited to [0, longest].

    This is the step of Shalev-Shwartz & Singer (2009, SS09), Fig. 1, from margins u to u + ηv,
    where d is the smoothed distribution at u. It maximises a quadratic lower bound on the gain
    (SS09, Eq. 10).

    Parameters
    ----------
    slope : float
        The derivative <d, v> of the smoothed relaxed margin along v, minus that of the penalty.
    v : array of shape (m,)
        The direction in which the margins move.
    beta : float
        The weight β of the smoothing.
    longest : float
        The largest step length.
    curvature : float
        The second derivative of the penalty on w along the step. With a penalty, η = β slope /
        (‖v‖_inf² + β curvature).
    size : float, optional
        The norm ‖v‖_inf, if it is known.
    """
    size = kernels.largest(v) if size is None else size
    bend = size * size + beta * curvature
    if slope <= 0.0:
        return 0.0
    # With zero curvature, the function increases along the whole segment.
    return min(longest, beta * slope / bend) if bend > 0.0 else longest


class Step(NamedTuple):
    """A step from the margins u to u + ηv. Unknown attributes are None."""

    eta: float
    """The length η of the step."""
    u: Vector | None = None
    """The margins at the end of the step."""
    d: Vector | None = None
    """The smoothed distribution at the end of the step."""
    stretch: float | None = None
    """The step length as a multiple of the step of Shalev-Shwartz & Singer (2009), Fig. 1.

    The next line search starts from this multiple. It is None if this step has the largest possible
    length, because the maximiser may be further away.
    """


class Segment(NamedTuple):
    """The segment of margins u + ηv for step lengths η in [0, longest].

    The penalty on the weights w increases by a η + b η²/2 along the segment, or not at all if the
    domain is a set.
    """

    u: Vector
    """The margins u at the start of the segment."""
    v: Vector
    """The direction v of the segment."""
    slope: float
    """The derivative of the smoothed relaxed margin minus the penalty at η = 0."""
    longest: float = 1.0
    """The largest step length η."""
    bend: tuple[float, float] = (0.0, 0.0)
    """The coefficients (a, b) of the penalty change a η + b η²/2."""
    size: float | None = None
    """The norm ‖v‖_inf, or None if it is unknown."""


def arrival(project: Projector, u: Vector, v: Vector, eta: float) -> tuple[Vector, Vector, float]:
    """Return the margins u + ηv, their smoothed distribution d, and <d, v>."""
    there = kernels.along(u, v, eta)
    d = project(there)
    return there, d, kernels.dot(d, v)


def line_search(
    project: Projector,
    beta: float,
    segment: Segment,
    accuracy: float = 0.05,
    stretch: float = 1.0,
) -> Step:
    """Return a step that nearly maximises the smoothed relaxed margin on a segment.

    Any penalty on the weights is subtracted from the smoothed relaxed margin. The derivative <d, v>
    − a − b η of this objective decreases in η, where d is the smoothed distribution at u + ηv. The
    search ends when the derivative lies between 0 and `accuracy` times its value at η = 0, or when
    η = longest. The step is between the step of Shalev-Shwartz & Singer (2009), Fig. 1, and the
    maximising step, so it gains at least as much as the step of Fig. 1.

    Parameters
    ----------
    project : callable
        A function that maps margins to the smoothed distribution d.
    beta : float
        The weight β of the smoothing.
    segment : Segment
        The margins and the penalty.
    accuracy : float
        The largest derivative at the end of the step, as a fraction of the derivative at η = 0.
    stretch : float
        The first trial step as a multiple of the step of Fig. 1, such as the attribute `stretch` of
        an earlier step.
    """
    if segment.slope <= 0.0:
        return Step(0.0)
    # The derivative shall end in [0, 2 aim], so the search looks for the η at which it equals aim.
    search = _Search(project, beta, segment, 0.5 * accuracy * segment.slope)
    found = search.find_bracket(stretch)
    return search.close_bracket() if found is None else found


class _Search:
    # The derivative of the objective decreases in η. The interval from `_left` to `_right` contains
    # the η at which it equals `aim` as soon as the derivative at `_right` is below `aim`.
    # `_at_left` and `_at_right` are the derivatives at both ends, minus `aim`.
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
        segment = self._segment
        there, d, rise = arrival(self._project, segment.u, segment.v, eta)
        stretch = eta / self._shortest if eta < segment.longest else None
        value = rise - segment.bend[0] - segment.bend[1] * eta - self._aim
        return Step(eta, there, d, stretch), value

    def find_bracket(self, stretch: float) -> Step | None:
        """Lengthen a trial step until the derivative of the objective falls below `aim`.

        Return None if the derivative then equals `aim` between `_left` and `_right`. Return the
        trial step if its derivative is close enough to `aim`, or if a better step would be too long
        or too short.
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
            # The next trial is a little longer than the secant predicts, so that the derivative
            # probably falls below the aim. The factors 2 and 16 limit the effect of a poor secant.
            fall = max(self._at_left - self._at_right, 1e-300)
            secant = self._right + self._at_right * (self._right - self._left) / fall
            self._left = self._right
            self._at_left = self._at_right
            self._right = min(longest, max(2.0 * self._left, min(1.2 * secant, 16.0 * self._left)))

    def close_bracket(self) -> Step:
        """Return a step between `_left` and `_right` whose final derivative is close to `aim`.

        `find_bracket` must have found these lengths.
        """
        side = 0
        # The Illinois variant of regula falsi converges with order 1.44, so 60 evaluations suffice.
        for _ in range(60):
            fall = self._at_right - self._at_left
            eta = self._right - self._at_right * (self._right - self._left) / fall
            eta = max(eta, self._shortest)
            step, value = self._evaluate(eta)
            if abs(value) <= self._aim or (eta == self._shortest and value < 0.0):
                return step
            # If an end stays twice, its value is halved, and the next trial is closer to this end.
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
        # Rounding makes the derivative jump over the aim. At the left end it is positive.
        return Step(max(self._left, self._shortest))
