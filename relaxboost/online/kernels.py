"""Compiled rounds of mirror descent: entropy or squared norm, named losses, one row at a time."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
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
from relaxboost.functional.losses.margins import STEEPEST

LOSS_CODES = {
    Hinge: (0, ""),
    Logistic: (1, ""),
    Exponential: (2, ""),
    SmoothHinge: (3, "width"),
    Squared: (4, ""),
    Absolute: (5, ""),
    Quantile: (6, "q"),
    Huber: (7, "delta"),
}
"""The losses that `rounds` knows, with the name of their parameter."""
INNER = 8
SIMPLEX, FULL_SIMPLEX, L1_BALL, L2_BALL = range(4)
ROUNDS, WEIGHT, SQUARES, SPENT, LOSS, BETA = range(6)
"""Places of the sums that a run keeps."""

Codes = tuple[Vector, tuple[int, int, bool], tuple[float, float, float]]
"""(b, p, q, r) of the schedule; loss, domain, greedy; parameter of the loss, radius, α."""
# Where arrays lie close together LLVM takes its scalar loop, and so sums in another order than the
# vector unit: whether it does must change no bit. Loops that sum therefore write nothing.
_SUMS = {"reassoc", "nsz", "contract", "nnan", "ninf"}
_EACH = {"nsz", "contract", "nnan", "ninf"}  # reassociated, _MAGIC would cancel
_LEAST = -700.0
"""Exponents below this count as this: e^−700 is as good as nothing, and no double underflows."""
_MAGIC = 6755399441055744.0
"""1.5 · 2^52: what is added to it is rounded to a whole number in its lowest bits."""


@njit(fastmath=_EACH)
def _powers(z: Vector, sign: float, top: float, scale: float, out: Vector) -> None:
    """Set out = exp((sign z − top)·scale) for exponents <= 0, to a few ulp.

    numba's own exp is a call for each entry; this is arithmetic that fills the vector unit.
    exp(x) = 2^n exp(r) with |r| <= log(2)/2, and exp(r) its Taylor sum of degree 12, which is off
    by 2e-16 at most. 2^n is put into the bits of the exponent.
    """
    for j in range(z.size):
        x = max((sign * z[j] - top) * scale, _LEAST)
        shifted = x * 1.4426950408889634 + _MAGIC
        n = shifted - _MAGIC
        r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10
        p = 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << np.int64(52))
        out[j] = np.int64(bits).view(np.float64)


@njit(fastmath=_SUMS)
def _sum(w: Vector) -> float:
    total = 0.0
    for j in range(w.size):
        total += w[j]
    return total


@njit(fastmath=_SUMS)
def _inner(w: Vector, h: Vector) -> float:
    inner = 0.0
    for j in range(w.size):
        inner += w[j] * h[j]
    return inner


@njit()
def _slope(code: int, parameter: float, F: float, y: float) -> tuple[float, float]:
    """Return the loss and its slope at the prediction F; the twins of `pointwise`."""
    if code <= 3:
        margin = y * F
        if code == 0:
            return max(1.0 - margin, 0.0), -y if margin < 1.0 else 0.0
        if code == 1:
            tail = math.exp(-abs(margin))
            share = (1.0 if margin < 0.0 else tail) / (1.0 + tail)
            return max(-margin, 0.0) + math.log1p(tail), -y * share
        if code == 2:
            u = min(-margin, STEEPEST)
            height = math.exp(u)
            return height * (1.0 + (-margin - u)), -y * height
        short = max(1.0 - margin, 0.0)
        share = min(short / parameter, 1.0)
        return share * (short - parameter * share / 2.0), -y * share
    residual = F - y
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
    return F, 1.0


_SIZE = np.int64(0x7FFFFFFFFFFFFFFF)
"""All bits of a double but the sign; without it, bits are whole numbers in the order of doubles."""
_INFINITE = np.int64(0x7FF0000000000000)
"""The bits of infinity; those of nan are more."""


@njit(fastmath=_EACH)
def _moved(z: Vector, factor: float, h: Vector, both: bool) -> float:
    """Add factor · h to z; return max −z, or max |z|.

    The largest of whole numbers is found by the vector unit, that of doubles is not.
    """
    top = ~_SIZE
    for j in range(z.size):
        moved = z[j] + factor * h[j]
        z[j] = moved
        bits = np.float64(-moved).view(np.int64)
        key = bits & _SIZE if both else bits ^ ((bits >> np.int64(63)) & _SIZE)
        top = key if key > top else top
    return np.int64(top ^ ((top >> np.int64(63)) & _SIZE)).view(np.float64)


@njit(fastmath=_EACH)
def _scale(w: Vector, factor: float) -> None:
    for j in range(w.size):
        w[j] *= factor


@njit()
def _far_mirror(radius: float, z: Vector, scale: float, w: Vector) -> None:
    """Set w to the point of the l2 ball nearest to −z·scale, where its square is no double."""
    peak = 0.0
    for j in range(z.size):
        peak = max(peak, abs(z[j]))
    if peak == 0.0:
        return
    square = 0.0
    for j in range(z.size):
        w[j] = -z[j] / peak
        square += w[j] * w[j]
    factor = min(peak * scale, radius / math.sqrt(square))
    for j in range(z.size):
        w[j] *= factor


@njit(fastmath=_EACH)
def _mirror(
    domain: int, radius: float, z: Vector, top: float, beta: float, w: Vector, spare: Vector
) -> None:
    """Set w to the mirror image of z; `Entropy.mirror` and `SquaredL2.mirror` are the twins.

    `top` is what `_moved` returns.
    """
    scale = 1.0 / beta
    if domain == L2_BALL:
        for j in range(z.size):
            w[j] = -z[j] * scale
        square = _inner(w, w)
        if not 1e-280 < square < 1e280:  # digits were lost, unless all are zero
            _far_mirror(radius, z, scale, w)
        elif math.sqrt(square) > radius:
            _scale(w, radius / math.sqrt(square))
        return
    if domain == FULL_SIMPLEX:
        top = max(top, 0.0)
    _powers(z, -1.0, top, scale, w)
    total = _sum(w)
    if domain == L1_BALL:
        _powers(z, 1.0, top, scale, spare)
        total += _sum(spare)
        for j in range(z.size):
            w[j] -= spare[j]
    elif domain == FULL_SIMPLEX:
        total += math.exp(-top * scale)
    _scale(w, radius / total)


@njit(fastmath=_EACH)
def _averaged(w: Vector, mean: Vector, gain: float) -> None:
    """Move the mean towards w."""
    for j in range(w.size):
        mean[j] += gain * (w[j] - mean[j])


@njit()
def _largest(h: Vector) -> float:
    """Return the largest entry in size, nan where one is not finite."""
    top = np.int64(0)
    for j in range(h.size):
        size = np.float64(h[j]).view(np.int64) & _SIZE
        top = size if size > top else top
    return np.int64(top).view(np.float64) if top < _INFINITE else np.nan


@njit(nogil=True)
def dual_norms(H: Matrix, euclidean: bool) -> Vector:
    """Return the largest entry in size, or the Euclidean norm, of each row; nan if not finite."""
    sizes = np.empty(H.shape[0])
    for row in range(H.shape[0]):
        sizes[row] = _largest(H[row])
        if euclidean and not math.isnan(sizes[row]):
            sizes[row] = math.sqrt(_inner(H[row], H[row]))
    return sizes


@njit(nogil=True)
def rounds(
    H: Matrix,
    rows: tuple[Vector, Vector, Vector],
    state: tuple[Vector, Vector, Vector, Vector],
    codes: Codes,
) -> Vector:
    """Learn from the rows of H in turn; return the prediction made before each.

    Parameters
    ----------
    H : array of shape (rows, M)
    rows : (sizes, y, weight)
        Dual norms of the rows, targets, and weights: one of 2.5 makes two steps and half a step.
    state : (w, z, mean, sums)
        Changed in place.
    codes : Codes
    """
    sizes, y, weight = rows
    w, z, mean, sums = state
    law, (loss, domain, greedy), (parameter, radius, modulus) = codes
    predictions = np.empty(y.size)
    spare = np.empty(w.size)
    euclidean, both = domain == L2_BALL, domain == L1_BALL
    for row in range(y.size):
        left = weight[row]
        first = True
        while left > 0.0:
            step = min(left, 1.0)
            left -= step
            sums[WEIGHT] += step
            F = _inner(w, H[row])
            _averaged(w, mean, step / sums[WEIGHT])
            if first:
                predictions[row] = F
                first = False
            value, slope = _slope(loss, parameter, F, y[row])
            square = (step * slope * sizes[row]) ** 2
            before = sums[BETA]
            sums[LOSS] += step * value
            sums[SQUARES] += square
            sums[SPENT] += square / (2.0 * modulus * before)
            sums[ROUNDS] += 1.0
            sums[BETA] = law[0] * math.sqrt(law[1] + law[2] * sums[ROUNDS] + law[3] * sums[SQUARES])
            if greedy:
                if slope != 0.0:
                    top = _moved(z, step * slope / before, H[row], both)
                    _mirror(domain, radius, z, top, 1.0, w, spare)
                    if euclidean:
                        for j in range(w.size):
                            z[j] = -w[j]
            elif slope != 0.0 or sums[BETA] != before:
                top = _moved(z, step * slope, H[row], both)
                _mirror(domain, radius, z, top, sums[BETA], w, spare)
        if first:
            predictions[row] = _inner(w, H[row])
    return predictions


@njit(nogil=True)
def branches(
    H: Matrix,
    rows: tuple[Vector, Vector, Vector],
    states: tuple[Matrix, Matrix, Matrix, Matrix],
    atoms: Vector,
    codes: Codes,
) -> None:
    """Let learner i, row i of each of the states, learn from row atoms[i] of H."""
    w, z, mean, sums = states
    sizes, y, weight = rows
    for i in range(atoms.size):
        k = atoms[i]
        one = slice(k, k + 1)
        state = (w[i], z[i], mean[i], sums[i])
        rounds(H[one], (sizes[one], y[one], weight[one]), state, codes)


@njit(nogil=True)
def late(
    H: Matrix,
    rows: tuple[Vector, Vector, Vector],
    ahead: tuple[Matrix, Vector],
    state: tuple[Vector, Vector, Vector, Vector],
    codes: Codes,
) -> Matrix:
    """Predict the rows ahead in turn; after the last ones of them learn from a row of H each.

    Returns the prediction and the loss of each row ahead, whose targets are `ahead[1]`.
    """
    sizes, y, weight = rows
    _, kinds, numbers = codes
    out = np.empty((ahead[1].size, 2))
    for i in range(len(out)):
        out[i, 0] = _inner(state[0], ahead[0][i])
        out[i, 1] = _slope(kinds[0], numbers[0], out[i, 0], ahead[1][i])[0]
        k = i - (len(out) - y.size)
        if k >= 0:
            one = slice(k, k + 1)
            rounds(H[one], (sizes[one], y[one], weight[one]), state, codes)
    return out
