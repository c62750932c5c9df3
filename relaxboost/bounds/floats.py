"""Outward-rounded bounds: lower <= ρ <= upper holds for the numbers as they are stored.

Both bounds survive a d or w that is feasible only up to rounding. With F the relaxed margin,
F is 1-Lipschitz in the sup-norm (its supergradients are distributions) and so is d -> ‖Aᵀd‖_inf
in the l1 norm (entries of A are at most 1 in absolute value):

* w with ‖w‖_1 <= σ, σ >= 1: ρ >= F(Aw/σ) >= F(Aw) − (σ − 1);
* margins computed with an error of at most e: F(u) >= F(ũ) − e, and F(ũ) >= L(ũ, witness);
* d >= 0 with exact sum s and a feasible d' at l1 distance δ from d/s with f(d') <= p:
  ρ <= p + ‖Aᵀd‖_inf / s + δ.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost.matrices import MarginMatrix
from relaxboost.relaxations import Relaxation, Witness
from relaxboost.rounding import down, roundoff, sum_bounds, up

Vector = NDArray[np.float64]


def evaluate_lower(
    matrix: MarginMatrix,
    relaxation: Relaxation,
    support: NDArray[np.int64],
    coefficients: Vector,
) -> tuple[float, Witness]:
    """Return a number not above F(A w), hence not above ρ, and the witness that proves it.

    `coefficients` are those of the columns in `support`; their l1 norm is at most 1 up to rounding.
    """
    u = matrix.margins(support, coefficients)
    witness = relaxation.witness(u)
    bound = relaxation.lower_bound(u, witness)
    if not np.any(coefficients):
        return bound, witness
    norm = sum_bounds(np.abs(coefficients))[1]
    # Relative roundings, and for each term what it may lose by underflow.
    error = up(up(roundoff(len(coefficients) + 1) * norm) + len(coefficients) * 2.0**-1074)
    beyond = max(0.0, up(norm - 1.0))
    return down(down(bound - error) - beyond), witness


def evaluate_upper(matrix: MarginMatrix, relaxation: Relaxation, d: Vector) -> float:
    """Return a number not below f(d') + ‖Aᵀd'‖_inf for a feasible d' near `d`, so not below ρ.

    `d` is non-negative and sums to 1 up to rounding. The slack of an approximate weak learner
    is added; where it is unknown the bound is inf.
    """
    total = sum_bounds(d)
    value, distance = relaxation.penalty_bound(d, total)
    best = matrix.best(d)
    error = up(roundoff(matrix.edge_roundings * matrix.m + 8) * total[1])
    if not math.isfinite(best.slack):
        return math.inf
    edge = up(up(up(best.edge + error) + best.slack) / total[0])
    return up(up(value + edge) + distance)
