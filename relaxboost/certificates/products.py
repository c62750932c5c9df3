"""Exact products with a margin matrix: integers in limbs that double precision adds exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from relaxboost._core.arrays import Matrix

_LIMB = 20  # bits; products of two, added up over _ROWS, stay below 2^53
_WIDE = 39  # bits; likewise with entries -1, 0 and 1
_ROWS = 8192
_BLOCK = 4_000_000  # entries of A looked at at once


def integer_limbs(values: Sequence[int], width: int) -> Matrix:
    """Return limbs L below 2^width in size, with values = Σ_k L_k · 2^(width · k)."""
    sizes, signs = [abs(v) for v in values], np.array([-1.0 if v < 0 else 1.0 for v in values])
    count = -(-max((v.bit_length() for v in sizes), default=1) // width)
    limbs = np.empty((count, len(sizes)))
    for k in range(count):
        limbs[k] = [v >> width * k & (1 << width) - 1 for v in sizes]
    return limbs * signs


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
    integral = np.array_equal(A, np.trunc(A))  # its entries are -1, 0 and 1
    pieces = [(0, A)] if integral else list(matrix_limbs(A))
    width = _WIDE if integral else _LIMB
    limbs = integer_limbs(values, width)
    total = np.zeros(A.shape[1], dtype=object)
    shift = 0
    for place, piece in pieces:
        total = total * (1 << (place - shift))
        shift = place
        for start in range(0, A.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            for k, sums in enumerate(limbs[:, rows] @ piece[rows]):
                total = total + sums.astype(np.int64).astype(object) * (1 << width * k)
    return total.tolist(), shift


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
