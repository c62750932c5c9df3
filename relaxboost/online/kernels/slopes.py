"""The compiled values and derivatives of the named losses."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.compiled import njit
from relaxboost.functional.losses import (
    Absolute,
    Exponential,
    Hinge,
    Huber,
    Logistic,
    Quantile,
    SmoothHinge,
    Squared,
)
from relaxboost.functional.losses.margins import MAX_LOG_SLOPE

LOSS_CODES: dict[type, tuple[int, str]] = {
    Hinge: (0, ""),
    Logistic: (1, ""),
    Exponential: (2, ""),
    SmoothHinge: (3, "width"),
    Squared: (4, ""),
    Absolute: (5, ""),
    Quantile: (6, "q"),
    Huber: (7, "delta"),
}
"""The code and the parameter name of each loss that compiled code can evaluate. The codes 0 to 3
are losses of the margin y F."""
INNER = len(LOSS_CODES)
"""The code of the linear loss <w, h>, named "inner"."""


@njit()
def loss_and_slope(code: int, parameter: float, F: float, y: float) -> tuple[float, float]:
    """Return the value and the derivative of a loss at the prediction F for the target y."""
    if code <= 3:
        value, slope = _of_margin(code, parameter, y * F)
        return value, y * slope
    if code == INNER:
        return F, 1.0
    return _of_residual(code, parameter, F - y)


@njit()
def _of_margin(code: int, parameter: float, margin: float) -> tuple[float, float]:
    if code == 0:
        return max(1.0 - margin, 0.0), -1.0 if margin < 1.0 else 0.0
    if code == 1:
        tail = math.exp(-abs(margin))
        share = (1.0 if margin < 0.0 else tail) / (1.0 + tail)
        return max(-margin, 0.0) + math.log1p(tail), -share
    if code == 2:
        # Beyond MAX_LOG_SLOPE the loss is linear, so that nothing overflows.
        u = min(-margin, MAX_LOG_SLOPE)
        height = math.exp(u)
        return height * (1.0 + (-margin - u)), -height
    if code == 3:
        short = max(1.0 - margin, 0.0)
        share = min(short / parameter, 1.0)
        return share * (short - parameter * share / 2.0), -share
    return np.nan, np.nan  # No loss has this code.


@njit()
def _of_residual(code: int, parameter: float, residual: float) -> tuple[float, float]:
    if code == 4:
        return residual * residual / 2.0, residual
    if code == 5:
        return abs(residual), np.sign(residual)
    if code == 6:
        slope = 1.0 - parameter if residual > 0.0 else -parameter
        return slope * residual, 0.0 if residual == 0.0 else slope
    if code == 7:
        slope = min(max(residual, -parameter), parameter)
        return slope * (residual - slope / 2.0), slope
    return np.nan, np.nan  # No loss has this code.
