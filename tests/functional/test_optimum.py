"""Brackets of the optimum over a span: their width, and closed forms within them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import relaxboost as rb
from relaxboost import InputError
from relaxboost import functional as fn
from relaxboost.functional.optimum import corners
from tests.functional.cases import CASES, CUSTOM, bound, targets

cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def hypotheses(risk, rng, n):
    H = rng.normal(size=(*risk.zero().shape, n))
    if rng.random() < 0.3:
        H = np.sign(H)
    if rng.random() < 0.2 and n > 1:
        H[..., 1] = H[..., 0]
    return H * 10.0 ** rng.integers(-2, 3)


@cases
def test_the_gap_is_small(case, rng):
    for trial in range(2 if case.loss is CUSTOM else 12):
        size, n = int(rng.integers(6, 40)), int(rng.integers(1, 6))
        risk = bound(case, rng, size=size, weighted=trial % 2 == 0)
        H = hypotheses(risk, rng, n)
        found = fn.optimum(risk, H)
        # Where the optimum is 0, relative to where boosting starts.
        scale = max(abs(found.upper), 1e-3 * risk.value(risk.zero()))
        assert 0.0 <= found.gap <= 1e-6 * scale
        assert pytest.approx(H @ found.alpha) == found.F
        assert found.upper == pytest.approx(risk.value(found.F), rel=1e-9, abs=1e-12)
        lengths = np.sqrt(risk.measure.p @ (H**2).reshape(size, -1, n).sum(axis=1))
        assert (np.abs(found.alpha) * lengths).max() <= found.radius / 9.0 or case.kind == "grades"
        assert found.level == ("numerical" if case.loss is CUSTOM else "rounded")
        for _ in range(20):
            alpha = found.alpha + rng.normal(size=n) * 10.0 ** rng.integers(-6, 1)
            assert risk.value(H @ alpha) >= found.lower


@cases
def test_z_is_a_dual_point(case, rng):
    risk = bound(case, rng, size=20)
    H = rng.normal(size=(*risk.zero().shape, 3))
    found = fn.optimum(risk, H)
    for j in range(3):
        assert risk.measure.inner(found.Z, H[..., j]) == pytest.approx(0.0, abs=1e-10)
    assert -risk.conjugate(found.Z) == pytest.approx(found.lower, rel=1e-6, abs=1e-7)


def test_least_squares(rng):
    for _ in range(10):
        X, y, weights = rng.normal(size=(25, 4)), rng.normal(size=25), rng.random(25)
        root = np.sqrt(weights / weights.sum())
        alpha = np.linalg.lstsq(root[:, None] * X, root * y)[0]
        least = ((root * (X @ alpha - y)) ** 2).sum() / 2.0
        found = fn.optimum(fn.Squared().bind(y, weights), X)
        assert found.lower <= least * (1.0 + 1e-14)
        assert least <= found.upper * (1.0 + 1e-14)
        assert found.alpha == pytest.approx(alpha, abs=1e-6)


def test_absolute_and_quantile_by_linear_programs(rng):
    for q in (0.5, 0.2):
        for _ in range(5):
            X, y, weights = rng.normal(size=(30, 4)), rng.normal(size=30), rng.random(30)
            p = weights / weights.sum()
            identity = np.eye(30)
            program = linprog(
                np.concatenate([np.zeros(4), q * p, (1.0 - q) * p]),
                A_eq=np.hstack([X, identity, -identity]),
                b_eq=y,
                bounds=[(None, None)] * 4 + [(0, None)] * 60,
            )
            found = fn.optimum(fn.Quantile(q).bind(y, weights), X)
            assert found.lower - 1e-9 <= program.fun <= found.upper + 1e-9
            if q == 0.5:
                twice = fn.optimum(fn.Absolute().bind(y, weights), X)
                assert twice.upper == pytest.approx(2.0 * program.fun, rel=1e-9)


@pytest.mark.parametrize("loss", [fn.Absolute(), fn.Quantile(0.9), fn.Hinge()], ids=repr)
def test_losses_with_a_corner_have_a_solver_of_their_own(loss, rng):
    """Against Clarabel; also with columns that repeat, of zeros, and more of them than examples."""
    for n in (3, 12, 60):
        H = rng.normal(size=(40, n)) * 10.0 ** rng.integers(-3, 4, n)
        H[:, 1], H[:, 2] = 2.0 * H[:, 0], 0.0
        y = rng.normal(size=40).round(1) if loss.task == "regression" else np.sign(H[:, 0] - 0.1)
        risk = loss.bind(y, rng.integers(0, 3, 40))
        given = corners(risk)
        assert given is not None
        F = rng.normal(size=40)
        steep = np.maximum(given.low * (F - given.at), given.high * (F - given.at))
        rest = risk.loss.pointwise(F, risk.y)[0] - steep
        np.testing.assert_allclose(rest, rest[0], atol=1e-12)  # a constant
        own, other = fn.optimum(risk, H), fn.optimum(risk, H, solver="CLARABEL")
        assert own.solver == "interior point" or own.upper < 1e-9  # gaps are relative
        assert own.gap <= max(1e-8 * own.upper, 1e-9)
        assert own.lower <= other.upper
        assert other.lower <= own.upper


def test_curved_losses_have_no_corner():
    for loss in (fn.Huber(1.0), fn.Squared(), fn.Logistic(), fn.SmoothHinge(), fn.Exponential()):
        assert corners(loss.bind([0.0, 1.0])) is None
    assert corners(fn.MulticlassHinge().bind([0, 1, 2])) is None


class Coupled(fn.Risk):
    """|F_1 − y_1| + |F_2 − y_2| + |F_1 − F_2|, where both outputs of an example are coupled."""

    outputs = 2
    gradient_bound = 3.0

    def __init__(self, Y, weights):
        self.measure, N = fn.Empirical(len(Y), weights), len(Y)
        self.D = sp.vstack([sp.eye_array(2 * N), sp.kron(sp.eye_array(N), [[1.0, -1.0]])])
        p = self.measure.p
        targets = np.append(Y.ravel(), np.zeros(N))
        self.inner = fn.Absolute().bind(targets, np.append(np.repeat(p, 2), p))

    def evaluate(self, F):
        value, slopes = self.inner.evaluate(self.D @ F.ravel())
        Z = (self.D.T @ (self.inner.measure.p * slopes)).reshape(F.shape)
        return value, Z / self.measure.p[:, None]

    def expression(self, F):
        return self.inner.expression(self.D @ cp.vec(F, order="C"))

    def conjugate(self, Z):
        raise AssertionError("`optimum` uses the parts")

    def parts(self):
        return self.D, self.inner


def test_parts_of_a_risk_with_several_outputs(rng):
    risk = Coupled(rng.normal(size=(20, 2)), rng.uniform(1.0, 2.0, 20))
    H = rng.normal(size=(20, 2, 3))
    found = fn.optimum(risk, H)
    alpha = cp.Variable(3)
    F = cp.reshape(H.reshape(40, 3) @ alpha, (20, 2), order="C")
    least = cp.Problem(cp.Minimize(risk.expression(F))).solve(solver="CLARABEL")
    assert found.upper == pytest.approx(least, rel=1e-6)
    assert 0.0 <= found.gap <= 1e-9
    assert found.Z.shape == (20, 2)
    np.testing.assert_allclose(np.einsum("n,nk,nkj", risk.measure.p, found.Z, H), 0.0, atol=1e-9)
    risk.D = risk.D.tocsr()[:, :39]
    with pytest.raises(InputError, match=r"D must have shape \(60, 40\): .* a column .*\(60, 39\)"):
        fn.optimum(risk, H)


def test_without_freedom_it_is_the_risk_of_a_constant():
    """One constant hypothesis: mean, median, and log odds."""
    y = np.array([0.0, 0.0, 1.0, 5.0, 9.0])
    one = np.ones((5, 1))
    assert fn.optimum(fn.Squared().bind(y), one).upper == pytest.approx(y.var() / 2.0)
    assert fn.optimum(fn.Absolute().bind(y), one).alpha == pytest.approx([1.0])
    labels = [0, 1, 1, 1]
    found = fn.optimum(fn.Logistic().bind(labels), np.ones((4, 1)))
    assert found.alpha == pytest.approx([np.log(3.0)], abs=1e-3)
    assert found.attained
    found = fn.optimum(fn.Exponential().bind(labels), np.ones((4, 1)))
    assert found.alpha == pytest.approx([np.log(3.0) / 2.0], abs=1e-3)
    assert found.lower <= np.sqrt(0.75) <= found.upper


NEVER_FLAT = [fn.Logistic(), fn.Exponential(), fn.MultinomialLogistic()]


@pytest.mark.parametrize("loss", NEVER_FLAT, ids=repr)
def test_separable_data_have_an_infimum_only(loss, rng):
    X = rng.normal(size=(40, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0.0).astype(int)
    H = X if loss.task == "binary" else np.stack([-X, X], axis=1)
    found = fn.optimum(loss.bind(y), H)
    assert not found.attained
    assert -1e-12 <= found.lower <= 0.0
    assert found.upper < 1e-12
    assert fn.optimum(fn.Hinge().bind(y), X).attained


@pytest.mark.parametrize("loss", NEVER_FLAT, ids=repr)
def test_half_separable_data(loss, rng):
    """Examples 8.. are separated by a hypothesis that does not see the others."""
    for _ in range(5):
        y = np.array([0, 1, 1, 1, 0, 0, 1, 0] + [0, 1] * 4)
        H = np.zeros((16, 4))
        H[:8, :3] = np.sign(rng.normal(size=(8, 3)))
        H[:4, 0], H[4:8, 0] = 1.0, 0.0
        H[0, 0] = 1.0
        H[8:, 3] = 2.0 * y[8:] - 1.0
        H[8:, :3] = rng.normal(size=(8, 3))
        core = H[:8, :3]
        whole, part = H, core
        if loss.task == "multiclass":
            whole, part = np.stack([-H, H], axis=1), np.stack([-core, core], axis=1)
        found = fn.optimum(loss.bind(y), whole)
        alone = fn.optimum(loss.bind(y[:8]), part)
        assert not found.attained
        assert found.gap <= 1e-6 * found.upper
        assert found.lower <= alone.upper / 2.0 * (1.0 + 1e-12)
        assert alone.lower / 2.0 <= found.upper * (1.0 + 1e-12)


def test_attained_is_what_a_linear_program_says(rng):
    """Logistic loss has a minimiser unless some α has margins >= 0, and one > 0."""
    seen = set()
    for _ in range(40):
        X = rng.integers(-1, 2, (10, 4)).astype(float)
        y, _ = targets("signs", rng, 10)
        margins = y[:, None] * X
        program = linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(10), bounds=(-1, 1))
        separable = program.fun < -1e-6
        found = fn.optimum(fn.Logistic().bind(y), X)
        assert found.attained is not separable
        assert found.gap <= 1e-6 * max(found.upper, 1e-3)
        seen.add(separable)
    assert seen == {True, False}


def test_wrong_arguments():
    risk = fn.Squared().bind([0.0, 1.0])
    for H in (np.zeros(2), np.zeros((3, 1)), np.zeros((2, 2, 1)), np.zeros((2, 0))):
        with pytest.raises(rb.InputError, match=r"hypotheses must have shape \(2, n\)"):
            fn.optimum(risk, H)
    with pytest.raises(rb.InputError, match="must be finite"):
        fn.optimum(risk, np.array([[np.nan], [1.0]]))
    with pytest.raises(rb.InputError, match=r"HIGHS solves only linear programs, but Logistic\(\)"):
        fn.optimum(fn.Logistic().bind([0, 1]), np.ones((2, 1)), solver="HIGHS")
    with pytest.raises(rb.InputError, match="is not available"):
        fn.optimum(risk, np.ones((2, 1)), solver="nonsense")


def test_a_failing_solver_leaves_a_wide_bracket(monkeypatch, rng):
    def solve(*_, **__):
        raise cp.SolverError("no")

    monkeypatch.setattr(cp.Problem, "solve", solve)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    found = fn.optimum(fn.Absolute().bind(y), X, solver="HIGHS")
    assert found.status == "failed (no)"
    assert not found.alpha.any()
    assert -1e-12 <= found.lower <= np.abs(y).mean() <= found.upper
    # With a choice of solvers BFGS is the last, which is exact enough where the risk is smooth.
    found = fn.optimum(fn.Huber(1.0).bind(y), X)
    assert found.status == "failed (no), then BFGS"
    assert 0.0 <= found.gap <= 1e-8 * found.upper


def test_hypotheses_of_zeros():
    found = fn.optimum(fn.Absolute().bind([1.0, -3.0]), np.zeros((2, 3)))
    assert found.lower == pytest.approx(2.0)
    assert found.upper == pytest.approx(2.0)
