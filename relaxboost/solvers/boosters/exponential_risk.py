"""Steps of AdaBoost along one column, computed from logarithms.

The exponential risk of margins u_1, ..., u_m is Σ exp(−u_i). AdaBoost's distribution over the
examples is d_i = exp(−u_i) / Σ exp(−u).
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector

LONGEST = math.atanh(1.0 - 2.0**-53)
"""The step, 18.7, that replaces an infinite step: artanh of the largest double below 1."""

FARTHEST = 1e100
"""The largest step. The square root of the largest double is about 1e154, so sums of steps, and
their products with margins, stay finite."""


def artanh_edge(edge: float, column: Vector, raw: Vector) -> float:
    """Return artanh(γ) for the edge γ of a column, or 18.7 if artanh(γ) is infinite.

    The edge is γ = Σ d_i a_i for the entries a_i of the column, which lie in [−1, 1], and for
    AdaBoost's distribution d at the margins `raw`. Rounding may turn an edge just below 1 into 1.
    The function then still returns a finite artanh, because it computes
    ½ log(Σ d_i (1 + a_i) / Σ d_i (1 − a_i)) from the margins.

    Parameters
    ----------
    edge : float
        The edge γ of the column.
    column : array of shape (m,)
        The entries a_i, multiplied by the sign of the hypothesis.
    raw : array of shape (m,)
        The margins u_i.
    """
    # A small edge has lost no digits, and artanh of it is exact.
    if edge <= 0.5:
        return math.atanh(edge)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = log_sum_exp(np.log1p(column) - raw)
        wrong = log_sum_exp(np.log1p(-column) - raw)
    # Without an example on which the hypothesis errs, the risk has no minimiser.
    return LONGEST if wrong == -math.inf else 0.5 * (right - wrong)


def line_search(edge: float, column: Vector, raw: Vector) -> float:
    """Return the step η > 0 along a column that minimises the exponential risk.

    The function minimises Σ exp(−u_i − η a_i) for the margins u_i in `raw` and the entries a_i of
    `column`. Without a negative entry the risk has no minimiser. The step is then 18.7, or artanh
    of the edge if that is longer. No step is longer than 1e100.

    Parameters
    ----------
    edge : float
        The edge Σ d_i a_i of the column, > 0.
    column : array of shape (m,)
        The entries a_i, multiplied by the sign of the hypothesis.
    raw : array of shape (m,)
        The margins u_i.
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
        """Return the difference of the logarithms of both parts of the risk's slope.

        At the minimum, Σ d_i |a_i| is the same over the positive and over the negative entries.
        The difference decreases with η. It is linear in η if all |a_i| are equal, so the root
        finder then needs one secant step.
        """
        return log_sum_exp(log_above - eta * above) - log_sum_exp(log_below + eta * below)

    # Rounding may hide a tiny positive edge, and then no step reduces the computed risk.
    if excess(0.0) <= 0.0:
        return 0.0
    # Small entries need long steps, so the bracket of the root doubles until it contains it.
    right = 1.0
    while excess(right) > 0.0:
        right *= 2.0
        if right > FARTHEST:
            return FARTHEST
    doubles = np.finfo(np.float64)
    # SciPy accepts no smaller rtol. The step may be tiny, so only a relative error makes sense.
    return float(
        brentq(excess, 0.0, right, xtol=doubles.tiny, rtol=4.0 * doubles.eps, maxiter=2000)
    )


def log_sum_exp(x: Vector) -> float:
    """Return log Σ exp(x_i), or −inf if every entry of x is −inf."""
    top = float(x.max())
    # Without the largest entry, exp could overflow, or underflow in every term.
    return top + math.log(float(np.exp(x - top).sum())) if top > -math.inf else top
