"""Loops over all examples that compute logistic weights x for `binary_entropy`.

For a multiplier γ, a temperature T and a share a in (0, 1], the logit ℓ = log(x/(1 − x)) solves

    ℓ − (1 − a) log(1 + e^ℓ) = w,    w = (γ − v)/T,

where v is the margin. The loops do not branch, so that the compiler turns them into vector
instructions.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.vectorised import (
    ENTRIES_PER_CHUNK,
    MAX_EXPONENT,
    REORDER,
    exp,
    log1p,
    rough_log,
)


@njit(error_model="numpy", fastmath={"contract"})
def _first(w: Vector, share: float, logits: Vector) -> None:
    # Three steps of Halley's method are enough from this guess. It is exact in the limits of large
    # and small w.
    if share > 0.5:
        for i in range(w.shape[0]):
            logits[i] = max(w[i], w[i] / share)
        return
    # s = −log x solves s + a log(1 − e^−s) = −w. With log s in place of log(1 − e^−s) and s = a e^p
    # this becomes e^p + p = −w/a − log a, the equation of the Wright function.
    log_share = math.log(share)
    for i in range(w.shape[0]):
        y = -w[i] / share - log_share
        p = min(y, rough_log(max(y, 1.0)))
        # Two steps of Newton's method are enough for a guess.
        e = exp(p)
        p -= (e + p - y) / (e + 1.0)
        e = exp(p)
        p -= (e + p - y) / (e + 1.0)
        s = max(share * exp(p), 1e-300)
        logits[i] = -s - rough_log(s if s < 1e-8 else 1.0 - exp(-s))


@njit(error_model="numpy", fastmath={"contract"})
def _refine(w: Vector, share: float, steps: int, logits: Vector) -> None:
    # The third derivative of the left side of the equation is at most its slope. So the error after
    # a step is below the cube of the error before.
    bend = 1.0 - share
    for _ in range(steps):
        for i in range(w.shape[0]):
            x = logits[i]
            e = exp(-abs(x))
            small = e / (1.0 + e)
            slope = share + bend * small if x > 0.0 else 1.0 - bend * small
            step = (min(x, share * x) - w[i] - bend * log1p(e)) / slope
            # This is minus the second derivative over twice the slope, and at most 1/2.
            turn = 0.5 * bend * small * (1.0 - small) / slope
            logits[i] = x - step / max(1.0 + turn * step, 0.5)


@njit(error_model="numpy", fastmath={"contract"})
def _entries(
    logits: Vector, share: float, small: Vector, slope: Vector, turn: Vector, x: Vector
) -> None:
    """Compute the weights x from their logits, and the derivatives of x.

    `slope` receives T dx/dγ, `turn` receives T² d²x/dγ², and `small` receives min(x, 1 − x).
    """
    bend = 1.0 - share
    for i in range(logits.shape[0]):
        e = exp(-abs(logits[i]))
        s = e / (1.0 + e)
        large = logits[i] > 0.0
        x[i] = 1.0 - s if large else s
        small[i] = s  # Only the smaller one of x and 1 − x has full relative accuracy.
        inverse = 1.0 / (share + bend * s if large else 1.0 - bend * s)
        # A clipped logit does not move. With a tiny a, its slope would change the sums.
        slope[i] = s * (1.0 - s) * inverse if logits[i] < MAX_EXPONENT - 1.0 else 0.0
        away = 1.0 - 2.0 * s
        turn[i] = slope[i] * ((-away if large else away) + bend * slope[i]) * inverse


@njit(error_model="numpy", fastmath=REORDER)
def _add(logits: Vector, small: Vector, slope: Vector, turn: Vector, sums: Vector) -> None:
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    s4 = 0.0
    s5 = 0.0
    s6 = 0.0
    for i in range(logits.shape[0]):
        large = logits[i] > 0.0
        s0 += 0.0 if large else small[i]
        s1 += small[i] if large else 0.0
        s2 += 0.0 if large else slope[i]
        s3 += slope[i] if large else 0.0
        s4 += 0.0 if large else turn[i]
        s5 += turn[i] if large else 0.0
        s6 += 1.0 if large else 0.0
    sums[0] += s0
    sums[1] += s1
    sums[2] += s2
    sums[3] += s3
    sums[4] += s4
    sums[5] += s5
    sums[6] += s6


@njit(error_model="numpy")
def weigh(
    v: Vector,
    delta: float,
    temperature: float,
    share: float,
    change: float,
    logits: Vector,
    x: Vector,
) -> Vector:
    """Compute the weights x of the examples at a multiplier γ, and return seven sums.

    The examples are divided into those with x <= 1/2 and those with x > 1/2. The sums are

    - Σ x over the first set, and Σ (1 − x) over the second set,
    - T Σ dx/dγ over the first set, and over the second set,
    - T² Σ d²x/dγ² over the first set, and over the second set,
    - the number of examples in the second set.

    `delta` is γ, `temperature` is T, and `share` is a. If a < 1, the function also computes
    `logits`, and starts from the logits of the previous call. `change` is the change of
    w = (γ − v)/T since the previous call.
    """
    sums = np.zeros(7)
    n = min(ENTRIES_PER_CHUNK, v.shape[0])
    w = np.empty(n)
    small = np.empty(n)
    slope = np.empty(n)
    turn = np.empty(n)
    # The first pass has an infinite change, and `logits` contains no guess.
    cold = not abs(change) <= 0.1 * share
    # A step leaves the cube of the error, so a small change needs fewer steps.
    steps = 3 if cold else 1 if abs(change) <= 1e-5 * share else 2
    for start in range(0, v.shape[0], ENTRIES_PER_CHUNK):
        stop = min(start + ENTRIES_PER_CHUNK, v.shape[0])
        n = stop - start
        for i in range(n):
            w[i] = min(
                max((delta - v[start + i]) / temperature, -MAX_EXPONENT), MAX_EXPONENT * share
            )
        part = w[:n]  # For a = 1 the logit is w.
        if share < 1.0:
            part = logits[start:stop]
            if cold:
                _first(w[:n], share, part)
            _refine(w[:n], share, steps, part)
        _entries(part, share, small[:n], slope[:n], turn[:n], x[start:stop])
        _add(part, small[:n], slope[:n], turn[:n], sums)
    return sums


@njit(error_model="numpy", fastmath={"contract"})
def nudge(x: Vector, step: float, share: float) -> None:
    """Update the weights x in place after an increase of γ by T · `step`.

    The update is a second-order Taylor expansion.
    """
    bend = 1.0 - share
    for i in range(x.shape[0]):
        rest = 1.0 - x[i]
        inverse = 1.0 / (share + bend * rest)
        slope = x[i] * rest * inverse
        turn = ((rest - x[i]) + bend * slope) * inverse
        x[i] = min(x[i] + step * slope * (1.0 + 0.5 * step * turn), 1.0)
