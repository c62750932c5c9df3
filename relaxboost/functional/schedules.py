"""Step sizes: schedules from theorems in GB11, a line search, or user-defined functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional.losses import Risk

Schedule: TypeAlias = Callable[[int, Array, Array], float]
"""A function that returns the step size of round t. Its arguments are t, the training predictions
before the round, and the values of the direction."""


def _by_smoothness(risk: Risk) -> Schedule:
    smooth = risk.smoothness
    if not smooth < math.inf:
        raise InputError(
            'step="1/Lambda" needs the smoothness Λ, but this risk has none; use "1/sqrt(t)", '
            "which needs no constant"
        )
    return lambda t, F, direction: 1.0 / smooth


def _by_convexity(risk: Risk, factor: int) -> Schedule:
    convex = risk.strong_convexity
    if not convex > 0.0:
        raise InputError(
            f"step='{factor}/(lambda t)' needs the strong convexity λ, but this risk has none; use "
            '"1/sqrt(t)", which needs no constant'
        )
    return lambda t, F, direction: factor / (convex * t)


RULES: dict[str, Callable[[Risk], Schedule]] = {
    "1/Lambda": _by_smoothness,
    "2/(lambda t)": lambda risk: _by_convexity(risk, 2),
    "1/(lambda t)": lambda risk: _by_convexity(risk, 1),
    "1/sqrt(t)": lambda risk: lambda t, F, direction: 1.0 / math.sqrt(t),
    "line-search": lambda risk: lambda t, F, direction: line_search(risk, F, direction),
}
"""The named schedules, each a function that returns the schedule for a risk. The first three are
from Theorems 3, 4 and 6 of Grubb & Bagnell (2011), and "1/sqrt(t)" is from Theorems 5 and 7."""


def make(step: str | float | Callable[[int], float], risk: Risk, scale: float = 1.0) -> Schedule:
    """Return the schedule for a name, a number or a function of t, times `scale`.

    Raises
    ------
    InputError
        If `step` is invalid, or if the risk lacks a constant that the schedule needs.
    """
    check_step(step)
    if isinstance(step, str):
        rule = RULES[step](risk)
        return lambda t, F, direction: scale * rule(t, F, direction)
    if callable(step):
        return lambda t, F, direction: scale * _checked_step(step(t), t)
    # A number is the same step in every round.
    eta = float(step)
    return lambda t, F, direction: scale * eta


def check_step(step: Any) -> None:
    """Raise an InputError unless a step is a known name, a number > 0 or a function."""
    # Python counts True as a number.
    if not isinstance(step, bool) and isinstance(step, Real):
        if not 0.0 < float(step) < math.inf:
            raise InputError(f"a step size must be positive, got {step!r}")
    elif not callable(step) and not (isinstance(step, str) and step in RULES):
        raise InputError(
            f"step must be one of {', '.join(RULES)}, a number or a function of t, got {step!r}"
        )


def line_search(risk: Any, F: Array, direction: Array) -> float:
    """Return the step η in [0, 2^40] that minimises the risk of F − η · direction.

    It is found by bisection on the directional derivative.
    """
    inner = risk.measure.inner

    def rises(eta: float) -> bool:
        # The risk does not decrease beyond eta if its slope there is not negative.
        return inner(risk.evaluate(F - eta * direction)[1], direction) <= 0.0

    if rises(0.0):
        return 0.0
    low = math.ulp(0.0)  # This is the smallest positive double.
    high = 1.0
    # Steps double until the slope is no longer negative.
    while not rises(high):
        low = high
        high *= 2.0
        if high > 2.0**40:
            return low
    # The best step may be of any size. At most eleven halvings of its exponent find the power of
    # two below it, and fifty halvings of the step reach the accuracy of doubles.
    for _ in range(61):
        if high - low <= 2.0**-50 * high:
            break
        middle = math.sqrt(low) * math.sqrt(high) if high > 2.0 * low else (low + high) / 2.0
        low, high = (low, middle) if rises(middle) else (middle, high)
    return high


def _checked_step(eta: Any, t: int) -> float:
    if not (isinstance(eta, Real) and 0.0 <= float(eta) < math.inf):
        raise InputError(
            f"the step function returned {eta!r} at t = {t}; steps must be finite and >= 0"
        )
    return float(eta)
