"""Losses with one corner as games without Σd = 1, by hand and against cvxpy."""

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.interior_point.block import Diagonal
from relaxboost.solvers.interior_point.corner_losses import CornerLosses, LossIterate
from relaxboost.solvers.interior_point.normal import ByColumns, ByExamples, Right
from relaxboost.solvers.interior_point.smooth_weights import SmoothWeights

DOMAINS = [None, rb.Simplex(2), rb.FullSimplex(2), rb.L1Ball(0.7), rb.L2Ball(0.5)]


def converged(*given, **more):
    run = LossIterate(*given, **more)
    for _ in range(60):
        if run.product <= 1e-12 or not run.advance():
            break
    return run


def test_two_examples_and_two_hypotheses_by_hand():
    """|w_1 + w_2 − 3| + 2 |w_1 − w_2 − 1/2|, whose two corners meet at (7/4, 5/4).

    If Σ|w| <= 1, the first slope is −1, and the edges are 1 − 2z and 1 + 2z for the second slope
    z. Both weights are positive at the second corner, so that z = 0 and v = 1. If w_1² + w_2² is
    added instead, w = (1/2 − z, 1/2 + z), which is at that corner with z = −1/4.
    """
    A = DenseBulk(np.array([[1.0, 1.0], [1.0, -1.0]]))
    losses = CornerLosses(np.array([1.0, 2.0]), -np.ones(2), np.ones(2), np.array([3.0, 0.5]))
    free = converged(A, losses, np.zeros(2))
    assert free.w == pytest.approx([1.75, 1.25], abs=1e-9)
    atoms = converged(A, losses, np.zeros(2), rb.L1Ball(1))
    assert atoms.w == pytest.approx([0.75, 0.25], abs=1e-9)
    assert atoms.slopes == pytest.approx([-1.0, 0.0], abs=1e-9)
    assert atoms.v == pytest.approx(1.0, abs=1e-9)
    bent = converged(A, losses, np.zeros(2), quadratic=2.0)
    assert bent.w == pytest.approx([0.75, 0.25], abs=1e-9)
    assert bent.slopes == pytest.approx([-1.0, -0.25], abs=1e-9)


def test_eight_steps_without_progress_end_a_run(monkeypatch):
    A = DenseBulk(np.array([[1.0, 1.0], [1.0, -1.0]]))
    losses = CornerLosses(np.ones(2), -np.ones(2), np.ones(2), np.array([3.0, 0.5]))
    run = LossIterate(A, losses, np.zeros(2))
    monkeypatch.setattr(run, "step", lambda: 1.0)  # which changes nothing
    assert [run.advance() for _ in range(9)] == [True] * 8 + [False]


@pytest.mark.parametrize("shape", [(40, 6), (8, 15)])
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
@pytest.mark.parametrize("quadratic", [False, True])
def test_the_least_loss_is_that_of_cvxpy(rng, shape, over, quadratic):
    """The slopes bound it from below, also by equations of the order of the examples."""
    if quadratic and not (over is None or isinstance(over, rb.L2Ball)):
        quadratic = False
    m, n = shape
    A, at = rng.normal(size=shape), 3.0 * rng.normal(size=m)
    p, low = rng.random(m), -rng.uniform(0.2, 2.0, m)
    losses = CornerLosses(p, low, rng.uniform(0.2, 2.0, m), at)
    p[0] = 0.0
    q = rng.uniform(0.1, 1.0, n) if quadratic else np.zeros(n)
    center = np.full(n, 1.0 / n) if isinstance(over, rb.Simplex) else np.zeros(n)
    run = converged(DenseBulk(A), losses, center, over, quadratic=q)
    w = cp.Variable(n)
    f = A @ w - at
    each = cp.maximum(cp.multiply(losses.low, f), cp.multiply(losses.high, f))
    inside = [] if over is None else over.cvxpy_cost(w)[1]
    goal = p @ each + cp.sum(cp.multiply(q, cp.square(w))) / 2.0
    value = cp.Problem(cp.Minimize(goal), inside).solve(solver="CLARABEL")
    residual = A @ run.w - at
    found = p @ np.maximum(losses.low * residual, losses.high * residual) + q @ run.w**2 / 2.0
    assert found == pytest.approx(value, abs=1e-6)
    z = run.slopes
    assert (z >= losses.low).all()
    assert (z <= losses.high).all()
    # min over w in W of ⟨Aᵀ(p z), w⟩ + Σ q w²/2, where the domain bounds it.
    edges = -A.T @ (p * z)
    if over is None:
        assert edges == pytest.approx(q * run.w, abs=1e-7)
    elif not quadratic:
        size = np.linalg.norm(edges) if isinstance(over, rb.L2Ball) else over.prices(edges).max()
        assert -(p * z) @ at - over.value(float(size)) == pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize("side", [ByColumns, ByExamples])
@pytest.mark.parametrize("radius", [2.0, np.inf])
def test_newtons_equations_of_smooth_weights_without_a_sum(rng, side, radius):
    """Against one dense matrix with all unknowns but Δλ."""
    m, n = 7, 5
    bulk, theta = DenseBulk(rng.uniform(-1, 1, (m, n))), rng.uniform(0.1, 10.0, m)
    w, q = 0.2 * rng.normal(size=n), rng.uniform(0.1, 1.0, n)
    weights = SmoothWeights(bulk, rng.normal(size=m), w, radius, q, 0.3)
    v, room = weights.v, (radius**2 - w @ w) / 2.0
    whole = np.zeros((m + n + 1, m + n + 1))
    whole[:m, :m] = np.diag(theta)
    whole[:m, m:-1] = bulk.array
    whole[m:-1, :m] = bulk.array.T
    whole[m:-1, m:-1] = -np.diag(q + v)
    whole[m:-1, -1] = whole[-1, m:-1] = -w
    whole[-1, -1] = room / v if v else 1.0
    if not v:  # without a ball Δv has an equation of its own
        whole[-1, :-1] = whole[:-1, -1] = 0.0
    h, rest, s = rng.normal(size=m), rng.normal(size=n), 0.4
    twin = np.linalg.solve(whole, np.concatenate([h, rest, [s]]))
    scaling = weights.scaling()._replace(has_sum=False)
    equations = side(bulk, Diagonal(theta, m), scaling)
    right = Right(h, rest, s, 0.7)
    move = equations.refined(right, equations.solve(right))
    assert np.concatenate([move.t, move.y, [move.v]]) == pytest.approx(twin, rel=1e-9, abs=1e-10)
    assert move.total == 0.0
