"""Exact sums over the examples, as sums of integers whose order does not matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit
from relaxboost._core.errors import InputError


def fixed_point(signs: Vector, d: Vector) -> tuple[Whole, int, float]:
    """Round the products of `signs` and `d` to integer multiples of a unit.

    The results are the integers, their sum, and the unit.
    """
    # The unit s is a power of two, and s·q equals `signs` · `d` up to rounding. If Σ|d| is in
    # [2^(e−1), 2^e), then s is 2^(e−61), and each entry is rounded by at most s/2. Hence Σ|q| is
    # below 2^61 + m/2, so every signed sum of entries of q, and twice this sum, fits into 64 bits.
    # The error of an edge is at most m·s/2 <= m 2^−61 Σ|d|. This is 2^−8 times the bound on the
    # rounding errors of additions in doubles.
    total = float(np.abs(d).sum())
    if not math.isfinite(total):
        raise InputError("d must be finite, but has nan or infinite entries")
    exponent = max(math.frexp(total)[1], -900) - 61
    q = np.empty(d.size, np.int64)
    return q, _scaled(signs, d, math.ldexp(1.0, -exponent), q), math.ldexp(1.0, exponent)


@njit(nogil=True)
def _scaled(signs: Vector, d: Vector, scale: float, q: Whole) -> int:
    total = 0
    for i in range(d.shape[0]):
        q[i] = np.int64(np.rint(signs[i] * d[i] * scale))
        total += q[i]
    return total


def each_feature(
    codes: Iterable[NDArray[Any]], bins: Sequence[int], q: Whole, then: Callable[[Whole], Any]
) -> list[Any]:
    """Return a result for each feature, such as the largest edge of its stumps.

    The function `then` computes it from the sums of the vector `q` over the examples of each bin,
    in an array that is reused for the next feature. `codes` yields the bins of all examples for
    each feature, and `bins` contains the number of bins of each feature.
    """
    # Dask workers return freed memory to the operating system, and allocating it again for each
    # feature would take longer than a pass.
    room = np.empty(max(bins), np.int64)
    out = []
    for code, size in zip(codes, bins, strict=True):
        histogram(code, q, room[:size])
        out.append(then(room[:size]))
    return out


@njit(nogil=True)
def histogram(codes: NDArray[Any], q: Whole, out: Whole) -> None:
    """Write the sum of `q` over the examples of each bin to `out`. `codes` has their bins."""
    out[:] = 0
    for i in range(codes.shape[0]):
        out[codes[i]] += q[i]


def cut_up(stop: int, parts: int, step: int = 1) -> list[range]:
    """Split the range from 0 to stop − 1 into at most `parts` ranges, at multiples of `step`."""
    steps = -(-stop // step)
    ends = sorted({step * (steps * p // parts) for p in range(parts)})
    return [range(a, b) for a, b in pairwise([*ends, stop])]


@njit(nogil=True)
def _all_edges(total: int, sums: Whole) -> Array:
    out = np.empty(sums.shape[0] - 1)
    below = 0
    for b in range(out.shape[0]):
        below += sums[b]
        out[b] = float(total - 2 * below)
    return out


@njit(nogil=True)
def _largest_edge(total: int, sums: Whole) -> tuple[int, float]:
    place = below = 0
    largest = 0.0
    for b in range(sums.shape[0] - 1):
        below += sums[b]
        edge = float(total - 2 * below)
        if abs(edge) > abs(largest):
            place = b
            largest = edge
    return place, largest


# Plain functions are pickled by name; compiled ones would be pickled with their code.
def all_edges(total: int, sums: Whole) -> Array:
    """Return the edge of each cut of a feature: the sum above the cut minus the sum below it."""
    return _all_edges(total, sums)


def largest_edge(total: int, sums: Whole) -> tuple[int, float]:
    """Return the index and edge of the first cut with the largest absolute edge.

    If all edges are 0, return (0, 0).
    """
    return _largest_edge(total, sums)
