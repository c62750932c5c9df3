"""Outward-rounded bounds: lower <= ρ <= upper holds for the stored doubles.

Both bounds survive a d or w that is feasible only up to rounding. Entries of A are at most 1 in
absolute value, so ‖A w‖_inf <= ‖w‖_1 and ‖Aᵀx‖_inf <= ‖x‖_1. With F the relaxed margin,
1-Lipschitz in the sup-norm (its supergradients are distributions):

* for a stored w and a w' at which g* is finite, ρ >= F(Aw') − g*(w') >= F(Aw) − ‖w − w'‖_1 −
  g*(w'); the domain bounds the last two (`Domain.cost_above`): for the l1 ball
  w' = w · radius / ‖w‖_1 and ‖w − w'‖_1 = ‖w‖_1 − radius if that is positive; for a
  simplex w' = w · radius / Σw and ‖w − w'‖_1 = |Σw − radius|, for a full one if Σw is larger; for
  the l2 ball w' = w · radius / ‖w‖_2 and
  ‖w − w'‖_1 = (1 − radius/‖w‖_2)‖w‖_1; for a penalty w' = w and only g*(w) remains;
* s columns added give margins wrong by at most e = γ_{s+1} ‖w‖_1: F(u) >= F(ũ) − e, and
  F(ũ) >= L(ũ, witness);
* let d >= 0 have the exact sum s, and let d' be feasible, at l1 distance δ from d/s, with
  f(d') <= p. The edges ṽ of d are computed with an error of at most e each, so those of d'
  differ from ṽ/s by at most e/s + δ each. As g = φ(N) with N positively homogeneous and moving by
  at most `spread` times that, ρ <= p + φ((N(ṽ) + spread · e)/s + spread · δ). The spread is 1 for a
  largest edge and √n for the Euclidean norm.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import SolverError
from relaxboost._core.rounding import down, roundoff, sum_bounds, up
from relaxboost.game.domains import Domain, L1Ball
from relaxboost.matrices import MarginMatrix
from relaxboost.relaxations import Relaxation, Witness
from relaxboost.relaxations.bounds import bounds_of

_UNIT_BALL = L1Ball()
_SOLVER = 1e-9
"""The widening of a bound that comes from a solver, relative to 1 + its absolute value."""


def evaluate_lower(
    matrix: MarginMatrix,
    relaxation: Relaxation,
    support: NDArray[np.int64],
    coefficients: Vector,
    over: Domain = _UNIT_BALL,
    witness: Witness | None = None,
) -> tuple[float, Witness]:
    """Return a lower bound on F(A w') − g*(w'), hence on ρ, and the witness of F that proves it.

    By default the witness attains F. If no solver finds it, the witness of zero margins is used,
    which proves a weaker bound.

    `coefficients` belong to the columns in `support`, all different; up to rounding they are a w'
    of the domain.
    """
    u = matrix.margins(support, coefficients)
    proof = bounds_of(relaxation)
    if witness is None:
        try:
            witness = proof.witness(u)
        except SolverError:
            witness = proof.witness(np.zeros_like(u))
    bound = proof.lower_bound(u, witness)
    if not proof.is_proved:
        bound -= _SOLVER * (1.0 + abs(bound))
    if np.any(coefficients):
        norm = sum_bounds(np.abs(coefficients))[1]
        # Relative rounding errors, and the largest loss of each term by underflow.
        error = up(up(roundoff(len(coefficients) + 1) * norm) + len(coefficients) * 2.0**-1074)
        bound = down(bound - error)
    cost = over.cost_above(coefficients)
    return (down(bound - cost) if cost > 0.0 else bound), witness


def evaluate_upper(
    matrix: MarginMatrix,
    relaxation: Relaxation,
    d: Vector,
    over: Domain = _UNIT_BALL,
) -> float:
    """Return a number not below f(d') + g(Aᵀd') for a feasible d' near `d`, so not below ρ.

    `d` is non-negative and sums to 1 up to rounding. The bound includes the slack of an approximate
    weak learner; if the slack is unknown, the bound is inf.
    """
    total = sum_bounds(d)
    proof = bounds_of(relaxation)
    value, distance = proof.penalty_bound(d, total)
    if not proof.is_proved:
        value += _SOLVER * (1.0 + abs(value))
    best = over.best(matrix, d)
    if not math.isfinite(best.slack):
        return math.inf
    error = up(roundoff(matrix.edge_roundings * matrix.m + 8) * total[1])
    spread = over.spread(matrix.n)
    size = up(up(best.edge + up(spread * error)) + best.slack)
    size = up(size / (total[0] if size >= 0.0 else total[1]))  # the norm N of the edges of d/s
    if distance > 0.0:
        size = up(size + up(spread * distance))
    return up(value + over.value_above(size))
