"""The compiled rounds of gradient descent with several step sizes under AdaHedge."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Matrix, Vector
from relaxboost._core.compiled import njit
from relaxboost.online.kernels.shares import Steps, learn, mix, predict, weigh
from relaxboost.online.kernels.slopes import loss_and_slope


@njit()
def _clipped_mean(p: Vector, F: Vector, limit: float) -> float:
    """Return the mean Σ p_k F_k of predictions F_k that are clipped to [−limit, limit]."""
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
    """Learn from the rows of H in turn, and return the predictions made before learning each row.

    Parameters
    ----------
    H, rows, state
        As for `rounds` of mirror descent, but the state contains a matrix Z. The entry (j, k) of Z
        belongs to base function j and learner k.
    steps : Steps
        The steps of the K learners.
    codes : (loss, parameter, limit)
        The code of the loss, its parameter, and the limit to which |predictions| are clipped.
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
