"""Exact products of a margin matrix of floats with integer vectors.

Floats and integers are split into short parts, called limbs, whose products are summed without
rounding errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from relaxboost._core.arrays import Matrix

LIMB_BITS = 20
"""The number of bits of a limb. A product of two limbs has at most 40 bits, so that a sum of 2^13
products is below 2^53 and exact in doubles."""

ENTRIES_PER_BLOCK = 4_000_000
"""The number of matrix entries in memory at a time: 32 MB of doubles."""


def integer_limbs(values: Sequence[int], width: int) -> Matrix:
    """Split integers into limbs, with values = Σ_k limbs[k] · 2^(width · k).

    The result has a row for each k, and each limb is below 2^width in absolute value.
    """
    # Limbs of signed integers have the sign of the integer, so that all limbs are below 2^width in
    # size.
    sizes = [abs(v) for v in values]
    signs = np.array([-1.0 if v < 0 else 1.0 for v in values])
    count = -(-max((v.bit_length() for v in sizes), default=1) // width)
    limbs = np.empty((count, len(sizes)))
    for k in range(count):
        limbs[k] = [v >> width * k & (1 << width) - 1 for v in sizes]
    return limbs * signs


def matrix_limbs(A: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Split a matrix A of floats into limbs: yield pairs (shift, L) with A = Σ L · 2^-shift.

    Each L is a matrix of integers below 2^20 in absolute value.
    """
    rest = A
    shift = 0
    while True:
        limb = np.trunc(rest)
        if shift == 0 or limb.any():
            yield shift, limb
        rest = rest - limb
        if not rest.any():
            return
        # The largest remaining entry is scaled to just below 2^20. Scaling by 2^k is exact.
        step = LIMB_BITS - int(np.frexp(np.abs(rest).max())[1])
        rest = np.ldexp(rest, step)
        shift += step


def dot(A: Matrix, values: Sequence[int]) -> tuple[list[int], int]:
    """Return the exact product Aᵀ · values = v · 2^-shift, as a list v of integers and a `shift`.

    The entries of A are floats in [−1, 1], and the values are integers of any size.
    """
    rows_at_once = 2**13
    # The entries of an integral matrix are -1, 0 and 1, so the matrix needs no limbs.
    is_integral = np.array_equal(A, np.trunc(A))
    pieces = [(0, A)] if is_integral else list(matrix_limbs(A))
    # A sum of 2^13 numbers of 39 bits has at most 52 bits, and is exact in doubles.
    width = 39 if is_integral else LIMB_BITS
    limbs = integer_limbs(values, width)
    total = np.zeros(A.shape[1], dtype=object)
    shift = 0
    for place, piece in pieces:
        # Horner's scheme: earlier limbs are shifted to the scale of this one.
        total = total * (1 << (place - shift))
        shift = place
        # More rows at once could exceed 2^53, where doubles round.
        for start in range(0, A.shape[0], rows_at_once):
            rows = slice(start, start + rows_at_once)
            for k, sums in enumerate(limbs[:, rows] @ piece[rows]):
                total = total + sums.astype(np.int64).astype(object) * (1 << width * k)
    return total.tolist(), shift


def edges(matrix: Any, shares: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Yield the exact edges Aᵀ · shares = v · 2^-shift of integer shares, as a pair (v, shift) per
    block of columns."""
    n = matrix.n
    # Blocks bound the memory: implicit matrices, such as stumps, are never written down as a whole.
    width = max(1, ENTRIES_PER_BLOCK // matrix.m)
    for start in range(0, n, width):
        block = matrix.columns(range(start, min(start + width, n)))
        yield dot(block, shares)


def margins(matrix: Any, support: Sequence[int], weights: Sequence[int]) -> tuple[list[int], int]:
    """Return the exact margins A w = u · 2^-shift of integer weights, as a pair (u, shift).

    `weights` has an integer weight for each column in `support`.
    """
    # Weights are few, so only the columns in use are read.
    block = matrix.columns(support)
    return dot(np.ascontiguousarray(block.T), weights)
