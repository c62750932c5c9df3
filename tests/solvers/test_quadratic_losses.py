"""Sums of quadratic losses over a domain, against cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.interior_point.quadratic_losses import QuadraticIterate, QuadraticLosses


@pytest.mark.parametrize("shape", [(30, 4), (5, 12)], ids=str)
@pytest.mark.parametrize(
    "over", [rb.Simplex(2), rb.FullSimplex(2), rb.L1Ball(1.5), rb.L2Ball(0.75)], ids=repr
)
def test_the_minimum_is_that_of_a_cone_solver(over, shape):
    rng = np.random.default_rng(0)
    A = rng.normal(size=shape)
    # A third of the losses are linear.
    losses = QuadraticLosses(rng.normal(size=shape[0]), np.maximum(rng.normal(size=shape[0]), 0.0))
    w = over.repair(rng.random(shape[1]))
    run = QuadraticIterate(DenseBulk(A), losses, w, over, gap=10.0)
    for _ in range(40):
        if not run.advance(run.product):
            break
    found = over.repair(run.w)
    v = cp.Variable(shape[1])
    value = (
        losses.slope @ (A @ v) + cp.sum_squares(cp.multiply(np.sqrt(losses.curvature), A @ v)) / 2
    )
    best = cp.Problem(cp.Minimize(value), over.cvxpy_cost(v)[1]).solve(solver="CLARABEL")
    F = A @ found
    assert losses.slope @ F + losses.curvature @ F**2 / 2.0 == pytest.approx(best, abs=1e-7)
    # At the optimum the dual variable is minus the derivative of each loss.
    assert run.d == pytest.approx(-(losses.slope + losses.curvature * F), abs=1e-6)
