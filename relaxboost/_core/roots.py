"""Root finders for scalar equations, such as the normalisation of a distribution."""

from __future__ import annotations

import math
from collections.abc import Callable

Function = Callable[[float], tuple[float, float]]


def decreasing_root(
    function: Function,
    start: float,
    reach: float,
    tolerance: float = 1e-14,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> float:
    """Find a root of a decreasing function h by Newton's method with bisection.

    The result is a number x with |h(x)| <= tolerance. If rounding errors leave no such number, it
    is a double next to the sign change of h.

    Parameters
    ----------
    function : callable
        A function that returns (h(x), h'(x)). An unknown derivative may be zero or not finite.
    start : float
        The first number at which h is evaluated.
    reach : float
        The length of the first step towards a side without a known bound on the root. Each further
        step of this kind is twice as long as the last one.
    tolerance : float
        The value of |h| at which the iteration stops, at least 0.
    lower, upper : float
        The known bounds on the root, with h(lower) >= 0 >= h(upper).
    """
    x = min(max(start, lower), upper)
    last = math.inf
    # This is the number of consecutive steps that have reduced |h| by less than half.
    slow = 0
    for _ in range(200):
        value, slope = function(x)
        if abs(value) <= tolerance or math.isnan(value):
            return x
        if value > 0.0:
            lower = x
        else:
            upper = x
        slow = slow + 1 if abs(value) > 0.5 * last else 0
        last = abs(value)
        # A Newton step must not be much longer than `reach` if the bracket is unbounded. Otherwise
        # the bracket is halved, or extended by doubling steps.
        is_bounded = upper - lower < math.inf
        longest = math.inf if is_bounded else 8.0 * reach
        newton = _newton_step(x, value, slope, longest)
        if slow < 3 and lower < newton < upper:
            following = newton
        elif is_bounded:
            following = 0.5 * (lower + upper)
            slow = 0
        else:
            # If the step were shorter, x + reach could be rounded to x.
            reach = max(reach, 1e-15 * abs(x))
            following = x + math.copysign(reach, value)
            reach *= 2.0
        if following == x or not lower <= following <= upper:
            return x
        x = following
    return x


def _newton_step(x: float, value: float, slope: float, longest: float) -> float:
    # The result is nan if the slope gives no step, or a step that is longer than `longest`.
    newton = x - value / slope if slope < 0.0 else math.nan
    return newton if abs(newton - x) <= longest else math.nan


def falling_root(function: Callable[[float], float], tolerance: float) -> float:
    """Find x in [0, 1] with |h(x)| <= tolerance for a decreasing function h, by regula falsi.

    If h has no root in [0, 1], x is an end of the interval. The last call of h is at the returned
    x, so the caller can use values that h has stored.
    """
    low, high = 0.0, 1.0
    at_low, at_high = function(low), function(high)
    if at_low <= 0.0 or at_high >= 0.0:
        x = low if at_low <= 0.0 else high
        function(x)
        return x
    x = high
    last = 0
    for _ in range(60):
        x = low + (high - low) * (at_low / (at_low - at_high))
        value = function(x)
        if abs(value) <= tolerance:
            break
        side = 1 if value > 0.0 else -1
        # The Illinois rule halves the value at an end of the bracket that stays twice.
        factor = 0.5 if last == side else 1.0
        if side > 0:
            low, at_low = x, value
            at_high *= factor
        else:
            high, at_high = x, value
            at_low *= factor
        last = side
    return x
