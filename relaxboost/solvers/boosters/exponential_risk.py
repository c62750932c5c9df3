"""The exponential risk Σ exp(−(Aw)_i) along one column: its slope as artanh, and its minimiser."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector

LONGEST = math.atanh(1.0 - 2.0**-53)
"""The step, 18.7, that replaces an infinite one: artanh of the largest double below 1."""

FARTHEST = 1e100
"""The length that no step exceeds, so that sums of steps stay finite."""


def artanh_edge(edge: float, column: Vector, raw: Vector) -> float:
    """Return artanh of the edge of a signed column with entries in [−1, 1], never infinite.

    ½ log (1 + γ)/(1 − γ) = ½ log Σ d (1 + a) / Σ d (1 − a) with d proportional to exp(−raw), so
    that it is known where 1 − γ has been rounded away.
    """
    if edge <= 0.5:
        return math.atanh(edge)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = log_sum_exp(np.log1p(column) - raw)
        wrong = log_sum_exp(np.log1p(-column) - raw)
    return LONGEST if wrong == -math.inf else 0.5 * (right - wrong)


def line_search(edge: float, column: Vector, raw: Vector) -> float:
    """Return the η > 0 that minimises Σ exp(−raw − η column), for a positive edge.

    At the minimum Σ d a over the positive entries a equals that over the negative ones. The
    difference of the logarithms decreases in η, linearly if all |a| are equal, so that Newton's
    method is at the solution at once for entries ±1; a bracket safeguards it for others. A column
    without negative entries has no minimum: the risk falls all the way, and the step is 18.7, or
    artanh of the edge if that is longer, so that it gains no less than the classical one.
    """
    up = column > 0.0
    down = column < 0.0
    if not down.any():
        return max(LONGEST, artanh_edge(edge, column, raw) if column.max() <= 1.0 else 0.0)
    a = column[up]
    b = -column[down]
    at_a = np.log(a) - raw[up]
    at_b = np.log(b) - raw[down]

    def excess(eta: float) -> tuple[float, float]:
        """Return the difference of the logarithms and its slope."""
        high = at_a - eta * a
        low = at_b + eta * b
        top = log_sum_exp(high)
        bottom = log_sum_exp(low)
        slope = -float(np.exp(high - top) @ a) - float(np.exp(low - bottom) @ b)
        return top - bottom, slope

    left = 0.0
    right = math.inf
    eta = 0.0
    previous = math.inf  # |value| of the last step
    for _ in range(400):
        value, slope = excess(eta)
        if value > 0.0:
            left = eta
        else:
            right = eta
        newton = min(eta - value / min(slope, -1e-300), FARTHEST)
        if abs(newton - eta) <= 4e-16 * eta or right <= left * (1.0 + 4e-16):
            break
        if left < newton < right and abs(value) <= 0.5 * previous:
            eta = newton
        else:  # Newton's method leaves the bracket or crawls
            eta = 0.5 * (left + right) if right < math.inf else max(2.0 * left, 1.0)
        previous = abs(value)
    return min(eta, FARTHEST)


def log_sum_exp(x: Vector) -> float:
    """Return log Σ exp x, −inf if every entry is."""
    top = float(x.max())
    return top + math.log(float(np.exp(x - top).sum())) if top > -math.inf else top
