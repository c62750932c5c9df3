"""The compiled rounds of mirror descent and greedy mirror steps."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.compiled import njit
from relaxboost.online.kernels.entropy import entropy_mirror, entropy_mirror_of_signs
from relaxboost.online.kernels.slopes import loss_and_slope
from relaxboost.online.kernels.squared import squared_mirror
from relaxboost.online.kernels.vectors import average, inner, move

SIMPLEX, FULL_SIMPLEX, L1_BALL, L2_BALL = range(4)
"""The codes of the weight domains. The proxy is the squared norm on L2_BALL, and otherwise the
entropy."""
ROUNDS, WEIGHT, SQUARES, SPENT, LOSS, BETA = range(6)
"""The positions of the running totals in the array `sums`, which is part of a learner's state."""

Codes = tuple[Vector, tuple[int, int, bool], tuple[float, float, float]]
"""The options of an online method as numbers, for compiled code.

1. The four numbers of the temperature formula; see `Schedule.law`.
2. The code of the loss, the code of the domain, and whether steps are greedy.
3. The parameter of the loss, the radius of the domain, and the modulus of the proxy.
"""


@njit(inline="always")
def _mirror(
    domain: int, radius: float, z: Vector, top: float, beta: float, w: Vector, spare: Vector
) -> None:
    # The maximum `top` was computed by `move`, together with the sum of the gradients.
    if domain == L2_BALL:
        squared_mirror(radius, z, top, beta, w)
    elif domain == L1_BALL:
        entropy_mirror_of_signs(radius, z, top, beta, w, spare)
    else:
        entropy_mirror(radius, z, top, beta, w, domain == FULL_SIMPLEX)


@njit(nogil=True)
def rounds(
    H: Matrix,
    rows: tuple[Vector, Vector, Vector],
    state: tuple[Vector, Vector, Vector, Vector],
    codes: Codes,
) -> Vector:
    """Learn from the rows of H in turn, and return the prediction for each row before its update.

    The tuple `rows` contains the dual norm, the target and the weight of each row. A row of weight
    2.5 takes two full steps and half a step. The tuple `state` contains the arrays of
    `Learner.arrays`, which are changed in place.
    """
    sizes, y, weight = rows
    w, z, mean, sums = state
    law, (loss, domain, greedy), (parameter, radius, modulus) = codes
    predictions = np.empty(y.size)
    spare = np.empty(w.size)
    both = domain in (L1_BALL, L2_BALL)
    for row in range(y.size):
        # The learner also predicts a row of weight 0.
        predictions[row] = inner(w, H[row])
        F = predictions[row]
        left = weight[row]
        while left > 0.0:
            # Every unit of weight is a step, as if the row were repeated.
            step = min(left, 1.0)
            left -= step
            sums[WEIGHT] += step
            # The average contains the weights before the step (Juditsky et al. 2005, Eq. 12).
            average(w, mean, step / sums[WEIGHT])
            value, slope = loss_and_slope(loss, parameter, F, y[row])
            size = step * slope * sizes[row]
            before = sums[BETA]
            sums[LOSS] += step * value
            sums[SQUARES] += size**2
            # The square of ‖u‖ may underflow although ‖u‖²/(2αβ) does not.
            sums[SPENT] += (size / math.sqrt(2.0 * modulus * before)) ** 2
            sums[ROUNDS] += 1.0
            sums[BETA] = law[0] * math.sqrt(law[1] + law[2] * sums[ROUNDS] + law[3] * sums[SQUARES])
            if greedy:
                # Without a gradient, a greedy step leaves the weights where they are.
                if slope != 0.0:
                    top = move(z, step * slope / before, H[row], both)
                    _mirror(domain, radius, z, top, 1.0, w, spare)
                    # The squared norm is not steep: its gradient at w is w, and not −z.
                    if domain == L2_BALL:
                        for j in range(z.size):
                            z[j] = -w[j]
            # Dual averaging also moves the weights if only the temperature changes (Juditsky et al.
            # 2005, Eq. 11).
            elif slope != 0.0 or sums[BETA] != before:
                top = move(z, step * slope, H[row], both)
                _mirror(domain, radius, z, top, sums[BETA], w, spare)
            # The learner predicts the next copy of the row with the new weights.
            if left > 0.0:
                F = inner(w, H[row])
    return predictions
