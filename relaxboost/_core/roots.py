"""A safeguarded Newton iteration for the scalar equations that normalise a distribution."""

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
    """Return x with |h(x)| <= tolerance for a decreasing h, or as near to it as doubles allow.

    A Newton step is used if it stays within the interval known to contain the root. Otherwise the
    interval is halved. While one side is unbounded, the step goes `reach` towards it, doubled each
    time.

    Parameters
    ----------
    function : callable
        A function from x to (h(x), h'(x)). h decreases. h' may be zero or not finite if it is
        unknown.
    start, reach : float
        The first x, and the first step length towards an unbounded side.
    tolerance : float
        The value of |h| at which the iteration stops, >= 0.
    lower, upper : float
        Known bounds of the root: h(lower) >= 0 >= h(upper).
    """
    x = min(max(start, lower), upper)
    last, slow = math.inf, 0
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
        newton = x - value / slope if slope < 0.0 else math.nan
        bounded = upper - lower < math.inf
        if lower < newton < upper and slow < 3 and (bounded or abs(newton - x) <= 8.0 * reach):
            following = newton
        elif bounded:
            following, slow = 0.5 * (lower + upper), 0
        else:
            reach = max(reach, 1e-15 * abs(x))  # else x + reach may round to x
            following = x + reach if value > 0.0 else x - reach
            reach *= 2.0
        if following == x or not lower <= following <= upper:
            return x
        x = following
    return x


def falling_root(function: Callable[[float], float], tolerance: float) -> float:
    """Return x in [0, 1] with |h(x)| <= tolerance for a decreasing h.

    x is the last point at which h was called. If h has no root, it is an end of [0, 1]. The method
    is regula falsi with the Illinois rule.
    """
    low, high = 0.0, 1.0
    at_low, at_high = function(low), function(high)
    if at_low <= 0.0 or at_high >= 0.0:
        x = low if at_low <= 0.0 else high
        function(x)
        return x
    x, last = high, 0
    for _ in range(60):
        x = low + (high - low) * (at_low / (at_low - at_high))
        value = function(x)
        if abs(value) <= tolerance:
            break
        side = 1 if value > 0.0 else -1
        if side > 0:
            low, at_low, at_high = x, value, at_high * (0.5 if last == side else 1.0)
        else:
            high, at_high, at_low = x, value, at_low * (0.5 if last == side else 1.0)
        last = side
    return x
