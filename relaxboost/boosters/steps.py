"""Step sizes for the smoothed relaxed margin along a segment of margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def quadratic_step(
    slope: float, v: Vector, beta: float, longest: float = 1.0, curvature: float = 0.0
) -> float:
    """Return the step of SS09 Fig. 1, η = β <d, v> / ‖v‖_inf² cut to [0, longest].

    `slope` is <d, v> for the direction v of the margins. η maximises the minorant of Eq. 10, the
    smoothed relaxed margin being 1/β-smooth in the sup-norm. A penalty on w whose slope along the
    segment is part of `slope`, and whose second derivative is `curvature`, adds to the bend:
    η = β slope / (‖v‖_inf² + β curvature).
    """
    size = float(np.max(np.abs(v)))
    bend = size * size + beta * curvature
    if bend == 0.0 or slope <= 0.0:
        return 0.0 if slope <= 0.0 else longest
    return min(longest, beta * slope / bend)


class Step(NamedTuple):
    """A step, and the distribution there if it is known."""

    eta: float
    d: Vector | None = None
    stretch: float | None = None
    """How many times the step of Fig. 1 it is, if nothing but the derivative ended it."""


def line_search(
    relaxation: Any,
    u: Vector,
    v: Vector,
    beta: float,
    slope: float,
    longest: float = 1.0,
    accuracy: float = 0.05,
    bend: tuple[float, float] = (0.0, 0.0),
    stretch: float = 1.0,
) -> Step:
    """Return the η in [0, longest] that maximises the smoothed relaxed margin at u + ηv.

    Less a penalty a η + b η²/2 on w, where `bend` = (a, b); `slope` is the derivative at 0.

    The derivative <d(u + ηv), v> − a − b η decreases in η. It is still non-negative at the step of
    Fig. 1; the search begins at `stretch` times that (what was found on another line will do) and
    goes on, to where a secant meets half of `accuracy` times `slope`, until there is a bracket,
    which the Illinois variant of regula falsi closes. It ends when the derivative lies between 0
    and `accuracy` times `slope`, its value at 0. The result is never shorter than Fig. 1's step nor
    beyond the maximiser, so the gain is at least Fig. 1's.
    """
    if slope <= 0.0:
        return Step(0.0)
    shortest = min(longest, max(quadratic_step(slope, v, beta, longest, bend[1]), 1e-300))
    aim = 0.5 * accuracy * slope
    d: Vector | None = None

    def excess(eta: float) -> float:
        nonlocal d
        d = relaxation.distribution(u + eta * v, beta)
        return float(d @ v) - bend[0] - bend[1] * eta - aim

    def found(eta: float) -> Step:
        return Step(eta, d, eta / shortest if eta < longest else None)

    left, at_left = 0.0, slope - aim
    right = min(longest, max(1.0, stretch) * shortest)
    while True:
        at_right = excess(right)
        if abs(at_right) <= aim or (at_right > 0.0 and right >= longest):
            return found(right)
        if at_right < 0.0:
            break
        secant = right + at_right * (right - left) / max(at_left - at_right, 1e-300)
        left, at_left = right, at_right
        right = min(longest, max(2.0 * left, min(1.2 * secant, 16.0 * left)))
    if right == shortest:  # Fig. 1's step is never too long, so this is rounding
        return found(right)
    eta, known = _close(excess, left, at_left, right, at_right, shortest, aim)
    return found(eta) if known else Step(eta)


def _close(
    excess: Callable[[float], float],
    left: float,
    at_left: float,
    right: float,
    at_right: float,
    shortest: float,
    aim: float,
) -> tuple[float, bool]:
    """Return an η >= `shortest` with |excess| <= aim, and whether it is where `excess` was last."""
    side = 0
    for _ in range(60):
        eta = max(right - at_right * (right - left) / (at_right - at_left), shortest)
        value = excess(eta)
        if abs(value) <= aim or (eta == shortest and value < 0.0):
            return eta, True
        if value > 0.0:
            left, at_left = eta, value
            at_right = at_right / 2 if side == 1 else at_right
            side = 1
        else:
            right, at_right = eta, value
            at_left = at_left / 2 if side == -1 else at_left
            side = -1
    return max(left, shortest), False
