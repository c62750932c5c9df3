"""Compiled losses of several classes: value and subgradient of each example in one pass."""

from __future__ import annotations

import math

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit


@njit()
def hinge(F: Array, y: Whole, values: Array, slopes: Array) -> None:
    """Write max over k of f_k + [k ≠ y] − f_y, and e_k − e_y for the first k that attains it."""
    for n in range(F.shape[0]):
        own = y[n]
        best, place = -math.inf, own
        for k in range(F.shape[1]):
            slopes[n, k] = 0.0
            raised = F[n, k] if k == own else F[n, k] + 1.0
            if raised > best:
                best, place = raised, k
        values[n] = best - F[n, own]
        if place != own:
            slopes[n, place], slopes[n, own] = 1.0, -1.0


@njit()
def logistic(F: Array, y: Whole, values: Array, slopes: Array) -> None:
    """Write log Σ exp(f_k) − f_y, and softmax(f) − e_y; see `hinge`.

    Nothing overflows, and small values and slopes keep their relative accuracy: the largest
    output is left out of the sum, and the slope of y is minus the sum of the others.
    """
    for n in range(F.shape[0]):
        own = y[n]
        top = 0
        for k in range(1, F.shape[1]):
            if F[n, k] > F[n, top]:
                top = k
        rest = 0.0
        for k in range(F.shape[1]):
            slopes[n, k] = math.exp(F[n, k] - F[n, top])
            if k != top:
                rest += slopes[n, k]
        values[n] = (F[n, top] - F[n, own]) + math.log1p(rest)
        others = 0.0
        for k in range(F.shape[1]):
            if k != own:
                slopes[n, k] /= 1.0 + rest
                others += slopes[n, k]
        slopes[n, own] = -others
