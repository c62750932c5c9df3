"""Exact products with a margin matrix: integers in limbs that double precision adds exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_LIMB = 20  # bits; products of two, added up over _ROWS, stay below 2^53
_ROWS = 8192
_BLOCK = 4_000_000  # entries of A looked at at once


def scaled_integers(values: Sequence[int]) -> tuple[Matrix, int]:
    """Return limbs L of shape (count, len) with values = Σ_k L_k · 2^(20 k), and their count."""
    signs = np.array([-1.0 if v < 0 else 1.0 for v in values])
    sizes = [abs(v) for v in values]
    count = max(1, -(-max((v.bit_length() for v in sizes), default=1) // _LIMB))
    raw = b"".join(v.to_bytes(5 * ((count + 1) // 2), "little") for v in sizes)
    pairs = np.frombuffer(raw, dtype=np.uint8).reshape(len(sizes), -1, 5).astype(np.int64)
    low = pairs[:, :, 0] | pairs[:, :, 1] << 8 | (pairs[:, :, 2] & 15) << 16
    high = pairs[:, :, 2] >> 4 | pairs[:, :, 3] << 4 | pairs[:, :, 4] << 12
    limbs = np.stack([low, high], axis=2).reshape(len(sizes), -1)[:, :count]
    return limbs.T * signs, count


def matrix_limbs(A: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yield (shift, L) with A = Σ L · 2^-shift, entries of L integers below 2^20 in size."""
    rest, shift = A, 0
    while True:
        limb = np.trunc(rest)
        if shift == 0 or limb.any():
            yield shift, limb
        rest = rest - limb
        if not rest.any():
            return
        # The largest entry left moves up to just below 2^20; scaling by 2^k is exact.
        step = _LIMB - int(np.frexp(np.abs(rest).max())[1])
        rest, shift = np.ldexp(rest, step), shift + step


def dot(A: Matrix, values: Sequence[int]) -> tuple[list[int], int]:
    """Return (v, shift) with Aᵀ · values = v · 2^-shift, exactly.

    Parameters
    ----------
    A : array of shape (m, n)
        Finite doubles of size at most 1.
    values : sequence of m integers
        Of any size and sign.
    """
    limbs, count = scaled_integers(values)
    total = np.zeros(A.shape[1], dtype=object)
    shift = 0
    for place, limb in matrix_limbs(A):
        total = total * (1 << (place - shift))
        shift = place
        for start in range(0, A.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            sums = limbs[:, rows] @ limb[rows]
            for k in range(count):
                total = total + sums[k].astype(np.int64).astype(object) * (1 << (_LIMB * k))
    return [int(x) for x in total], shift


def edges(matrix: object, shares: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Yield (v, shift) of Aᵀ · shares for one block of columns after the other."""
    m, n = matrix.m, matrix.n  # type: ignore[attr-defined]
    width = max(1, _BLOCK // m)
    for start in range(0, n, width):
        block = matrix.columns(range(start, min(start + width, n)))  # type: ignore[attr-defined]
        yield dot(block, shares)


def margins(
    matrix: object, support: Sequence[int], weights: Sequence[int]
) -> tuple[list[int], int]:
    """Return (u, shift) of A w for integer weights on the columns in `support`."""
    block = matrix.columns(support)  # type: ignore[attr-defined]
    return dot(np.ascontiguousarray(block.T), weights)
