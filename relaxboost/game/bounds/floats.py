"""Outward-rounded bounds on the value ρ of a game.

A distribution d proves the upper bound, and hypothesis weights w prove the lower bound. The stored
doubles satisfy lower <= ρ <= upper, even if d or w is feasible only up to rounding. Below, A is the
margin matrix, f is the relaxation, F is its relaxed margin, g* is the weight penalty, and g is its
conjugate. Entries of A are at most 1 in absolute value, so ‖A w‖_inf <= ‖w‖_1 and ‖Aᵀx‖_inf <=
‖x‖_1. The relaxed margin F is 1-Lipschitz in the sup norm, because its supergradients are
distributions. The bounds follow from three estimates.

* Infeasible w. For a stored w and a w' at which g* is finite,
  ρ >= F(Aw') − g*(w') >= F(Aw) − ‖w − w'‖_1 − g*(w'). `Domain.cost_above` bounds the last two
  terms. For the l1 ball, w' = w · radius / ‖w‖_1 if ‖w‖_1 exceeds the radius, and
  ‖w − w'‖_1 = ‖w‖_1 − radius. For a simplex, w' = w · radius / Σw and ‖w − w'‖_1 = |Σw − radius|.
  For a full simplex this holds if Σw exceeds the radius. For the l2 ball, w' = w · radius / ‖w‖_2
  and ‖w − w'‖_1 = (1 − radius/‖w‖_2)‖w‖_1. For a penalty, w' = w, and only g*(w) remains.
* Rounded margins. If w has s nonzero weights, the computed margins ũ differ from the margins u by
  at most e = γ_{s+1} ‖w‖_1, where γ_k = k u / (1 − k u) for the unit roundoff u. So F(u) >= F(ũ) −
  e, and F(ũ) >= L(ũ, witness) for the bound L of the relaxation.
* Infeasible d. Let d >= 0 have the exact sum s. Let d' be feasible, at l1 distance δ from d/s, with
  f(d') <= p. Each computed edge ṽ_j of d has an error of at most e. So the edges of d' differ from
  ṽ/s by at most e/s + δ each. Here g = φ(N), where N is positively homogeneous and changes by at
  most `spread` times the largest change of an edge. Therefore ρ <= p + φ((N(ṽ) + spread · e)/s +
  spread · δ). The spread is 1 for a largest edge and √n for the Euclidean norm.
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
from relaxboost.relaxations.cone_solver import SOLVER_TOLERANCE

_UNIT_BALL = L1Ball()
SOLVER_BOUND_ERROR = 10.0 * SOLVER_TOLERANCE
"""The assumed relative error of a bound from a general solver: |error| / (1 + |bound|). An unproved
bound is weakened by this error."""


def evaluate_lower(
    matrix: MarginMatrix,
    relaxation: Relaxation,
    support: NDArray[np.int64],
    coefficients: Vector,
    over: Domain = _UNIT_BALL,
    witness: Witness | None = None,
) -> tuple[float, Witness]:
    """Return a lower bound on the value ρ of a game, and the witness that proves it.

    A witness is the data, such as a threshold γ on the margins, that prove a lower bound on the
    relaxed margin F. By default a witness that attains F is computed. If no solver finds one, the
    weaker witness for zero margins is used.

    The bound is rounded downwards and is at most F(A w') − g*(w') for feasible weights w'. Up to
    rounding, w' has the weights `coefficients` in the distinct columns `support`, and 0 elsewhere.
    """
    u = matrix.margins(support, coefficients)
    proof = bounds_of(relaxation)
    if witness is None:
        try:
            witness = proof.witness(u)
        except SolverError:
            witness = proof.witness(np.zeros_like(u))
    bound = _number_or(-math.inf, proof.lower_bound(u, witness))
    if not proof.is_proved:
        bound -= SOLVER_BOUND_ERROR * (1.0 + abs(bound))
    if np.any(coefficients):
        norm = sum_bounds(np.abs(coefficients))[1]
        # The error of the margins consists of relative rounding errors, and of the largest loss of
        # each term by underflow.
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
    """Return an upper bound on the value ρ of a game.

    The bound is f(d') + g(Aᵀd'), rounded upwards, for a feasible distribution d' near `d`. The
    entries of `d` are non-negative and sum to 1 up to rounding. The bound includes the slack of a
    weak learner: the most by which its edge may fall short of the best edge. If the slack is
    unknown, the bound is inf.
    """
    total = sum_bounds(d)
    proof = bounds_of(relaxation)
    value, distance = (_number_or(math.inf, x) for x in proof.penalty_bound(d, total))
    if not proof.is_proved:
        value += SOLVER_BOUND_ERROR * (1.0 + abs(value))
    best = over.best(matrix, d)
    if not math.isfinite(best.slack):
        return math.inf
    error = up(roundoff(matrix.edge_roundings * matrix.m + 8) * total[1])
    spread = over.spread(matrix.n)
    size = up(up(best.edge + up(spread * error)) + best.slack)
    # The division gives the norm N of the edges of d/s, for the sum s of the entries of d.
    size = up(size / (total[0] if size >= 0.0 else total[1]))
    if distance > 0.0:
        size = up(size + up(spread * distance))
    return up(value + over.value_above(size))


def _number_or(bound: float, computed: float) -> float:
    # The formulas of a user-defined class may return nan, which proves nothing.
    return bound if math.isnan(computed) else computed
