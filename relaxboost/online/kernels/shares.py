"""The compiled rounds of `HedgedDescent`: AdaHedge over K step sizes."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Array, Matrix, Vector
from relaxboost._core.compiled import njit
from relaxboost.online.kernels.rounds import BETA, LOSS, ROUNDS, WEIGHT
from relaxboost.online.kernels.slopes import loss_and_slope
from relaxboost.online.kernels.vectors import ENTRIES, average, inner

CONSTANT, FADING, AVERAGED = range(3)
"""The codes of the step kinds. For the step size η and example i, CONSTANT steps multiply the
gradient by η, FADING steps multiply it by η/√i, and AVERAGED steps (dual averaging) multiply the
sum of the earlier gradients by η/√i."""
MIXABILITY = BETA + 1
"""The index of AdaHedge's mixability gap in the array `sums`. The K losses follow it."""
MIN_MIXABILITY = 1e-300
"""The number that replaces a zero mixability gap Δ, because AdaHedge's learning rate is log(K)/Δ.
It gives all shares to the learners with the least loss, and keeps the learning rate finite."""
NEGLIGIBLE_EXPONENT = 60.0
"""The exponent x from which exp(−x) is treated as 0 in sums with the largest term 1. Such terms are
below the roundoff, and computing with them is slow."""

Steps = tuple[Vector, Vector]
"""The step sizes η and the codes of the step kinds, for each of the K learners."""


@njit(fastmath=ENTRIES)
def _products(Z: Array, h: Vector, F: Vector) -> None:
    F[:] = 0.0
    # Zeros are skipped, because rows of hashed words are mostly 0.
    for j in range(h.size):
        if h[j] != 0.0:
            for k in range(F.size):
                F[k] += Z[j, k] * h[j]


@njit(fastmath=ENTRIES)
def _move(Z: Array, h: Vector, change: Vector) -> None:
    for j in range(h.size):
        if h[j] != 0.0:
            for k in range(change.size):
                Z[j, k] += change[k] * h[j]


@njit()
def weigh(sums: Vector, p: Vector) -> None:
    """Set p to AdaHedge's shares, proportional to exp(−loss · log(K)/Δ) for the gap Δ."""
    losses = sums[MIXABILITY + 1 : MIXABILITY + 1 + p.size]
    rate = math.log(p.size) / max(sums[MIXABILITY], MIN_MIXABILITY)
    least = losses.min()
    for k in range(p.size):
        exponent = rate * (losses[k] - least)
        p[k] = math.exp(-exponent) if exponent < NEGLIGIBLE_EXPONENT else 0.0
    p /= p.sum()


@njit()
def predict(Z: Array, sums: Vector, steps: Steps, h: Vector, F: Vector, p: Vector) -> None:
    """Set F to the predictions of the K learners for h, and p to their shares."""
    weigh(sums, p)
    _products(Z, h, F)
    for k in range(p.size):
        if steps[1][k] == AVERAGED:
            F[k] /= math.sqrt(sums[ROUNDS] + 1.0)


@njit()
def mix(Z: Array, sums: Vector, steps: Steps, p: Vector, w: Vector) -> None:
    """Set w to the mean of the K weight vectors under the shares p."""
    c = p.copy()
    for k in range(p.size):
        if steps[1][k] == AVERAGED:
            c[k] /= math.sqrt(sums[ROUNDS] + 1.0)
    for j in range(w.size):
        w[j] = inner(Z[j], c)


@njit()
def _gap(sums: Vector, p: Vector, weight: float, values: Vector) -> float:
    """Return the mixability gap of an example, the mean loss minus the mix loss.

    AdaHedge's learning rate depends on it (de Rooij et al. 2014).
    """
    losses = sums[MIXABILITY + 1 : MIXABILITY + 1 + p.size]
    rate = math.log(p.size) / max(sums[MIXABILITY], MIN_MIXABILITY)
    least = losses.min()
    after = losses - least + weight * values
    lowest = after.min()
    # The mix loss is the increase of −log(Σ exp(−rate · loss))/rate. The sum includes learners with
    # the share 0, because such a learner may have the least loss in the next round.
    before_sum = 0.0
    after_sum = 0.0
    for k in range(p.size):
        exponent = rate * (losses[k] - least)
        before_sum += math.exp(-exponent) if exponent < NEGLIGIBLE_EXPONENT else 0.0
        exponent = rate * (after[k] - lowest)
        after_sum += math.exp(-exponent) if exponent < NEGLIGIBLE_EXPONENT else 0.0
    mixed = lowest - math.log(after_sum / before_sum) / rate
    return max(weight * inner(p, values) - mixed, 0.0)


@njit()
def learn(
    state: tuple[Vector, Array, Vector, Vector],
    steps: Steps,
    example: tuple[Vector, float, float],
    found: tuple[float, Vector, Vector, Vector],
) -> None:
    """Update the K learners with one example.

    The tuple `example` contains h, its Euclidean norm, and the example weight, at most 1. The tuple
    `found` contains the loss of the mean prediction, and the shares, losses and loss slopes of the
    learners.
    """
    w, Z, mean, sums = state
    h, size, weight = example
    value, p, values, slopes = found
    K = p.size
    sums[WEIGHT] += weight
    mix(Z, sums, steps, p, w)
    # The i-th weights count i times in the average, because the first weights may come from steps
    # that are far too large.
    average(w, mean, 2.0 * weight / (sums[WEIGHT] + weight))
    sums[MIXABILITY] += _gap(sums, p, weight, values)
    sums[LOSS] += weight * value
    sums[ROUNDS] += 1.0
    fading = 1.0 / math.sqrt(sums[ROUNDS])
    for k in range(K):
        sums[MIXABILITY + 1 + k] += weight * values[k]
        step = steps[0][k] * (1.0 if steps[1][k] == CONSTANT else fading)
        # The regret bound collects η‖u‖²/2 with the step at this example.
        sums[MIXABILITY + 1 + K + k] += (math.sqrt(0.5 * step) * weight * slopes[k] * size) ** 2
        slopes[k] *= -weight * (steps[0][k] if steps[1][k] == AVERAGED else step)
    _move(Z, h, slopes)


@njit()
def _clipped_mean(p: Vector, F: Vector, limit: float) -> float:
    found = 0.0
    for k in range(p.size):
        found += p[k] * min(max(F[k], -limit), limit)
    return found


@njit(nogil=True)
def rounds(
    H: Matrix,
    rows: tuple[Vector, Vector, Vector],
    state: tuple[Vector, Array, Vector, Vector],
    steps: Steps,
    codes: tuple[int, float, float],
) -> Vector:
    """Learn from the rows of H in turn, and return the prediction for each row before its update.

    The tuple `rows` contains the Euclidean norm, the target and the weight of each row. The tuple
    `state` contains the arrays of `Learner.arrays`, which are changed in place; the second has a
    row for each base function and a column for each learner. The tuple `codes` contains the code
    and the parameter of the loss, and the prediction limit.
    """
    sizes, y, weight = rows
    w, Z, _, sums = state
    loss, parameter, limit = codes
    K = steps[0].size
    F, p, values, slopes = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    predictions = np.empty(y.size)
    for row in range(y.size):
        predict(Z, sums, steps, H[row], F, p)
        predictions[row] = _clipped_mean(p, F, limit)
        prediction = predictions[row]
        left = weight[row]
        while left > 0.0:
            step = min(left, 1.0)
            left -= step
            for k in range(K):
                inside = min(max(F[k], -limit), limit)
                values[k], slopes[k] = loss_and_slope(loss, parameter, inside, y[row])
                # A prediction beyond the limit moves inwards only.
                if slopes[k] * (F[k] - inside) < 0.0:
                    slopes[k] = 0.0
            value, _ = loss_and_slope(loss, parameter, prediction, y[row])
            learn(state, steps, (H[row], sizes[row], step), (value, p, values, slopes))
            # The learner predicts the next copy of the row with the new weights.
            if left > 0.0:
                predict(Z, sums, steps, H[row], F, p)
                prediction = _clipped_mean(p, F, limit)
    weigh(sums, p)
    mix(Z, sums, steps, p, w)
    return predictions
