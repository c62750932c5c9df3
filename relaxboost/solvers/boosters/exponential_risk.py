"""The steps of AdaBoost and AdaBoost* along a column, computed from logarithms.

The exponential risk of the margins u_1, ..., u_m of m examples is (1/m) Σ exp(−u_i). AdaBoost's
distribution d over the examples is d_i = exp(−u_i) / Σ_j exp(−u_j).
"""

from __future__ import annotations

import math
import sys

import numpy as np

from relaxboost._core.arrays import Vector

LONGEST = math.atanh(1.0 - 2.0**-53)
# 1 − 2^-53 is the largest double below 1.
"""The step length that replaces an infinite one: about 18.7, the artanh of 1 − 2^-53."""

MAX_STEP = sys.float_info.max ** (1 / 3)
# Sums of such steps and their products with margins are finite.
"""The largest step length, about 6e102."""


def artanh_edge(edge: float, column: Vector, raw: Vector) -> float:
    """Return artanh(γ) for the edge γ of a column, or `LONGEST` if it is infinite.

    `column` contains the signed margins a_i in [−1, 1] of the hypothesis, and `raw` the margins u_i
    of the current weights. AdaBoost's distribution d is proportional to exp(−u_i), and γ = Σ d_i
    a_i.
    """
    # A small edge has lost no digits, and artanh of it is exact.
    if edge <= 0.5:
        return math.atanh(edge)
    # Rounding may turn an edge just below 1 into 1. The formula below does not use `edge`.
    with np.errstate(divide="ignore", invalid="ignore"):
        right = log_sum_exp(np.log1p(column) - raw)
        wrong = log_sum_exp(np.log1p(-column) - raw)
    # If all entries are 1, the denominator is 0, and artanh γ is infinite.
    return LONGEST if wrong == -math.inf else 0.5 * (right - wrong)


def line_search(edge: float, column: Vector, raw: Vector) -> float:
    """Return the step length η along a column that minimises the exponential risk.

    The risk is Σ exp(−u_i − η a_i) for the margins u_i in `raw` and the entries a_i of `column`.
    The edge must be positive. If no entry is negative, there is no minimiser, and the result is
    `LONGEST` or, for entries of at most 1, a larger artanh of the edge. If rounding hides the sign
    of the edge, the result is 0.
    """
    from scipy.optimize import brentq

    up = column > 0.0
    down = column < 0.0
    if not down.any():
        # The step must not gain less than the classical step, which needs entries of at most 1.
        return max(LONGEST, artanh_edge(edge, column, raw) if column.max() <= 1.0 else 0.0)
    above = column[up]
    below = -column[down]
    log_above = np.log(above) - raw[up]
    log_below = np.log(below) - raw[down]

    def excess(eta: float) -> float:
        # This decreasing function of η has its root at the minimiser: the logarithm of the sum over
        # the positive entries minus that of the sum over the negative entries, in the slope of the
        # risk. If all |a_i| are equal, it is linear in η, and the root finder needs only one secant
        # step.
        return log_sum_exp(log_above - eta * above) - log_sum_exp(log_below + eta * below)

    # Rounding may hide a tiny positive edge, and then no step reduces the computed risk.
    if excess(0.0) <= 0.0:
        return 0.0
    # Small entries need long steps, so `right` doubles until [0, right] contains the root.
    right = 1.0
    while excess(right) > 0.0:
        right *= 2.0
        if right > MAX_STEP:
            return MAX_STEP
    doubles = np.finfo(np.float64)
    # SciPy accepts no smaller rtol. The step may be tiny, so only a relative error makes sense.
    return float(
        brentq(excess, 0.0, right, xtol=doubles.tiny, rtol=4.0 * doubles.eps, maxiter=2000)
    )


def log_sum_exp(x: Vector) -> float:
    """Return log Σ exp(x_i) without overflow.

    The result is −inf if every entry of x is −inf.
    """
    top = float(x.max())
    # Without the largest entry, exp could overflow, or underflow in every term.
    return top + math.log(float(np.exp(x - top).sum())) if top > -math.inf else top
