"""The pass over all entries that logistic weights need, several entries at a time.

For a level γ each logit ℓ solves ℓ − (1 − a) log(1 + e^ℓ) = w, w = (γ − v)/T; see `binary_entropy`.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.vectorised import CHUNK, REORDER, exp, log1p, rough_log

_BEYOND = 650.0  # logits are cut here, where their exponentials are far from underflow


@njit(error_model="numpy", fastmath={"contract"})
def _first(w: Vector, share: float, logits: Vector) -> None:
    """Set a first guess of the logits, from which three steps of `_refine` are enough."""
    if share > 0.5:
        for i in range(w.shape[0]):
            logits[i] = max(w[i], w[i] / share)
        return
    # −log x =: s solves s + a log(1 − e^−s) = −w; with log s for log(1 − e^−s) and s = a e^p
    # this is e^p + p = −w/a − log a, Wright's omega.
    log_share = math.log(share)
    for i in range(w.shape[0]):
        y = -w[i] / share - log_share
        p = min(y, rough_log(max(y, 1.0)))
        e = exp(p)
        p -= (e + p - y) / (e + 1.0)
        e = exp(p)
        p -= (e + p - y) / (e + 1.0)
        s = max(share * exp(p), 1e-300)
        logits[i] = -s - rough_log(s if s < 1e-8 else 1.0 - exp(-s))


@njit(error_model="numpy", fastmath={"contract"})
def _refine(w: Vector, share: float, steps: int, logits: Vector) -> None:
    """Take steps of Halley's method for the logits.

    The third derivative of the left side is at most its slope, so a step leaves an error below
    the cube of the last one.
    """
    bend = 1.0 - share
    for _ in range(steps):
        for i in range(w.shape[0]):
            x = logits[i]
            e = exp(-abs(x))
            small = e / (1.0 + e)
            slope = share + bend * small if x > 0.0 else 1.0 - bend * small
            step = (min(x, share * x) - w[i] - bend * log1p(e)) / slope
            turn = 0.5 * bend * small * (1.0 - small) / slope  # −G''/(2 G'), at most 1/2
            logits[i] = x - step / max(1.0 + turn * step, 0.5)


@njit(error_model="numpy", fastmath={"contract"})
def _entries(
    logits: Vector, share: float, small: Vector, slope: Vector, turn: Vector, x: Vector
) -> None:
    """Set x, the smaller of x and 1 − x to full relative accuracy, and T dx/dγ, T² d²x/dγ²."""
    bend = 1.0 - share
    for i in range(logits.shape[0]):
        e = exp(-abs(logits[i]))
        s = e / (1.0 + e)
        large = logits[i] > 0.0
        x[i] = 1.0 - s if large else s
        small[i] = s
        inverse = 1.0 / (share + bend * s if large else 1.0 - bend * s)
        # At the cut the entry does not move; where a is tinier still a slope there would matter.
        slope[i] = s * (1.0 - s) * inverse if logits[i] < _BEYOND - 1.0 else 0.0
        away = 1.0 - 2.0 * s
        turn[i] = slope[i] * ((-away if large else away) + bend * slope[i]) * inverse


@njit(error_model="numpy", fastmath=REORDER)
def _add(logits: Vector, small: Vector, slope: Vector, turn: Vector, sums: Vector) -> None:
    s0, s1, s2, s3, s4, s5, s6 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
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
    """Fill x (and the logits, if a < 1) for γ = `delta`; return seven sums.

    Σ x and Σ (1 − x), Σ T dx/dγ twice, Σ T² d²x/dγ² twice, the first of each pair over x <= 1/2
    and the second over x > 1/2, and the number of these. Where |`change`|/a is small, w has
    changed by it everywhere since the last pass, which left `logits`.
    """
    sums = np.zeros(7)
    n = min(CHUNK, v.shape[0])
    w, small, slope, turn = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    cold = not abs(change) <= 0.1 * share
    steps = 3 if cold else 1 if abs(change) <= 1e-5 * share else 2
    for start in range(0, v.shape[0], CHUNK):
        stop = min(start + CHUNK, v.shape[0])
        n = stop - start
        for i in range(n):
            w[i] = min(max((delta - v[start + i]) / temperature, -_BEYOND), _BEYOND * share)
        at = w[:n]
        if share < 1.0:
            at = logits[start:stop]
            if cold:
                _first(w[:n], share, at)
            _refine(w[:n], share, steps, at)
        _entries(at, share, small[:n], slope[:n], turn[:n], x[start:stop])
        _add(at, small[:n], slope[:n], turn[:n], sums)
    return sums


@njit(error_model="numpy", fastmath={"contract"})
def nudge(x: Vector, step: float, share: float) -> None:
    """Move x to γ + T `step` by its first two derivatives in γ/T."""
    bend = 1.0 - share
    for i in range(x.shape[0]):
        rest = 1.0 - x[i]
        inverse = 1.0 / (share + bend * rest)
        slope = x[i] * rest * inverse
        turn = ((rest - x[i]) + bend * slope) * inverse
        x[i] = min(x[i] + step * slope * (1.0 + 0.5 * step * turn), 1.0)
