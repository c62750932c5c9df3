"""Steps along one column for the exponential risk Σ exp(−(Aw)_i): artanh γ, and the minimiser."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector

LONGEST = math.atanh(1.0 - 2.0**-53)
"""The step of 18.7 that replaces an infinite one: artanh of the largest double below 1."""


def artanh_edge(edge: float, column: Vector, raw: Vector) -> float:
    """Return artanh γ, where γ is the edge of a signed column with entries in [−1, 1].

    The result is finite: 18.7 replaces infinity. `raw` has the margins, so the distribution d is
    proportional to exp(−raw).
    """
    if edge <= 0.5:
        return math.atanh(edge)
    # Near 1 rounding loses the digits of 1 − γ. The same number is ½ log of the quotient of
    # Σ d (1 + a) and Σ d (1 − a), whose digits are known, a the entries of the column.
    with np.errstate(divide="ignore", invalid="ignore"):
        right = log_sum_exp(np.log1p(column) - raw)
        wrong = log_sum_exp(np.log1p(-column) - raw)
    return LONGEST if wrong == -math.inf else 0.5 * (right - wrong)


def line_search(edge: float, column: Vector, raw: Vector) -> float:
    """Return the step η > 0 that minimises Σ exp(−raw − η column), for a positive edge.

    At the minimum the sum of d |a| over the positive entries a of the column equals the sum over
    the negative entries. Newton's method finds the zero of the difference of their logarithms. This
    difference decreases in η. If all |a| are equal, it is linear, and one step suffices. For other
    entries a bracket safeguards the method.

    If no entry is negative, the risk falls for ever, and has no minimum. Then the step is 18.7, or
    artanh of the edge if that is longer, so that it gains no less than the classical step.
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
    previous = math.inf
    # Entries near 0 need huge steps. This limit keeps the sums of steps finite.
    farthest = 1e100
    # Bisection alone finds all digits of a step of 1e-100 within 400 rounds.
    for _ in range(400):
        # The value decreases in η, so its sign says on which side of η the minimum is.
        value, slope = excess(eta)
        if value > 0.0:
            left = eta
        else:
            right = eta
        newton = min(eta - value / min(slope, -1e-300), farthest)
        if abs(newton - eta) <= 4e-16 * eta or right <= left * (1.0 + 4e-16):
            break
        if left < newton < right and abs(value) <= 0.5 * previous:
            eta = newton
        else:
            # Newton's method leaves the bracket, or does not halve the difference.
            eta = 0.5 * (left + right) if right < math.inf else max(2.0 * left, 1.0)
        previous = abs(value)
    return min(eta, farthest)


def log_sum_exp(x: Vector) -> float:
    """Return log Σ exp x. It is −inf if every entry is −inf."""
    # The largest entry is taken out of the sum, so no exponential overflows.
    top = float(x.max())
    return top + math.log(float(np.exp(x - top).sum())) if top > -math.inf else top


def best_share(raw: Vector, level: float) -> float:
    """Return the factor s in [0, 1] that minimises the potential Σ_i exp(s (level − raw_i)).

    `raw` has the margins of w. At s = 0 the potential is m. If the search finds no smaller
    potential, the function returns 0.
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda s: log_sum_exp(s * (level - raw)), bounds=(0.0, 1.0), method="bounded"
    )
    return float(found.x) if found.fun < math.log(raw.size) else 0.0
