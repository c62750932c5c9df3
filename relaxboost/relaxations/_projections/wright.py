"""Loops over all examples that solve the Wright equations of `power`.

They call no function and do not branch, so that the compiler turns them into vector instructions. A
pass over all examples takes little longer than NumPy's exponential.
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.vectorised import (
    ENTRIES_PER_CHUNK,
    REORDER,
    exp,
    rough_log,
)


@njit(error_model="numpy", fastmath={"contract"})
def omegas(z: Vector, k: Vector, q: float, cold: bool, steps: int, y: Vector, w: Vector) -> None:
    """Solve e^y + y = q z + k for y at each entry of z and k, and set w = e^y.

    If `cold` is True, the iteration starts from a rough logarithm, and otherwise from `y`.
    """
    # w is the Wright function of q z + k. The method is Halley's.
    # The error of this y is below 0.7, and a step leaves at most a twelfth of its cube.
    if cold:
        for i in range(z.shape[0]):
            x = q * z[i] + k[i]
            y[i] = min(x, rough_log(max(x, 1.0)))
    for _ in range(steps - 1):
        for i in range(z.shape[0]):
            e = exp(y[i])
            h = e + y[i] - (q * z[i] + k[i])
            y[i] -= h / (1.0 + e - 0.5 * h * (e / (1.0 + e)))
    # The last step is short, so w follows from e by Taylor's sum and needs no exponential.
    for i in range(z.shape[0]):
        e = exp(y[i])
        h = e + y[i] - (q * z[i] + k[i])
        step = -h / (1.0 + e - 0.5 * h * (e / (1.0 + e)))
        y[i] += step
        w[i] = e * (1.0 + step * (1.0 + step * (0.5 + step / 6.0)))


@njit(error_model="numpy", fastmath={"contract"})
def entries(z: Vector, k: Vector, q: float, y: Vector, w: Vector, t: Vector) -> None:
    """Compute the weights t from the numbers w and y = log w of `omegas`.

    A weight is (w / e^k)^{1/q}, which equals exp(z − w/q).
    """
    # The second form cancels for a large w, and the first one for a small w.
    for i in range(z.shape[0]):
        t[i] = exp(z[i] - w[i] / q if w[i] <= 1.0 else (y[i] - k[i]) / q)


@njit(error_model="numpy", fastmath=REORDER)
def add(t: Vector, w: Vector, sums: Vector) -> None:
    """Add Σt, Σa, Σaω, Σaω² and Σtω to `sums`, where ω is `w` and a = t / (1 + ω)."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    s4 = 0.0
    for i in range(t.shape[0]):
        a = t[i] / (1.0 + w[i])
        s0 += t[i]
        s1 += a
        s2 += a * w[i]
        s3 += a * w[i] * w[i]
        s4 += t[i] * w[i]
    sums[0] += s0
    sums[1] += s1
    sums[2] += s2
    sums[3] += s3
    sums[4] += s4


@njit(error_model="numpy")
def sweep(
    u: Vector,
    logk: Vector,
    g: float,
    shift: float,
    beta: float,
    q: float,
    change: float,
    y: Vector,
    omega: Vector,
    t: Vector,
) -> Vector:
    """Compute the weights t of all examples at the multiplier g, and return the sums of `add`.

    The number ω solves ω + log ω = q (g − u)/β + log κ + shift, and the docstring of `power`
    defines t by ω. `logk` contains the numbers log κ, or a single entry if all are equal. `y`
    contains log ω from the previous call, and receives the new log ω. `change` is the change of q
    (g − u)/β + shift since the previous call, or inf at the first call.
    """
    sums = np.zeros(5)
    z = np.empty(ENTRIES_PER_CHUNK)
    k = np.full(ENTRIES_PER_CHUNK, logk[0] + shift)
    # The first pass has no y to start from, and `change` is then infinite or nan.
    cold = not abs(change) <= 0.05
    # A step leaves the cube of the error, so a small change needs fewer steps.
    steps = 3 if cold else 1 if abs(change) <= 1e-5 else 2
    for start in range(0, u.shape[0], ENTRIES_PER_CHUNK):
        stop = min(start + ENTRIES_PER_CHUNK, u.shape[0])
        n = stop - start
        # The clipping keeps q z finite.
        for i in range(n):
            z[i] = min(max((g - u[start + i]) / beta, -1e300), 1e300)
        if logk.shape[0] > 1:
            for i in range(n):
                k[i] = logk[start + i] + shift
        omegas(z[:n], k[:n], q, cold, steps, y[start:stop], omega[start:stop])
        entries(z[:n], k[:n], q, y[start:stop], omega[start:stop], t[start:stop])
        add(t[start:stop], omega[start:stop], sums)
    return sums
