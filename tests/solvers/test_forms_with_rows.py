"""Relaxations written in cvxpy: brackets of `solve` and `reference` around cvxpy's own optimum."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import relaxboost as rb
from relaxboost.game import programs
from relaxboost.relaxations import compiled, numerical
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_form import cone_form
from relaxboost.relaxations.cone_points import ConePoints
from relaxboost.solvers.interior_point.factor import symmetric_factor
from relaxboost.solvers.interior_point.run import PREDICTED_ITERATIONS
from tests.solvers.test_interior import margins

M, N = 40, 25
RIGHT = sparse.eye_array(M, M - 1) - sparse.eye_array(M, M - 1, k=-1)
GROUP = np.arange(M) % 4
ROWS = sparse.csr_array((np.ones(M), (GROUP, np.arange(M))), (4, M))


def wasserstein(d):
    return 0.0, [cp.sum(cp.abs(cp.cumsum(d - 1.0 / M))) <= 2.0]


def flows(d):
    forth, back = cp.Variable(M - 1, nonneg=True), cp.Variable(M - 1, nonneg=True)
    return 0.0, [d == 1.0 / M + RIGHT @ (forth - back), cp.sum(forth + back) <= 2.0]


def flow_ball(d):
    flow = cp.Variable(M - 1)
    return 0.0, [cp.diff(cp.hstack([0, flow, 0])) == d - 1.0 / M, cp.norm1(flow) <= 2.0]


def group_fair(d):
    share = cp.Variable(4, nonneg=True)
    cap = 0.5 * ROWS.T @ share
    return 0.0, [ROWS @ d == share, d <= cap]


def total_variation(d):
    return 0.0, [0.5 * cp.norm1(d - 1.0 / M) <= 0.3]


def transport(d):
    forth, back = cp.Variable(M - 1, nonneg=True), cp.Variable(M - 1, nonneg=True)
    return 0.05 * cp.sum(forth + back), [d == 1.0 / M + RIGHT @ (forth - back)]


def jumps(d):
    return 0.01 * cp.norm1(cp.diff(M * d))


def smallest_half(d):
    """The norm is 1 at every d of the simplex, so that there is no point inside."""
    return 0.0, [cp.sum_largest(d, M // 2) <= 0.8, cp.norm1(ROWS @ d) <= 1.0]


def near_smooth(d):
    z = cp.Variable(M)
    return 0.2 * cp.norm2(d - z) + 0.1 * cp.norm1(cp.diff(z)), [cp.sum(z) == 1.0]


FORMS = [
    wasserstein,
    flows,
    group_fair,
    total_variation,
    transport,
    jumps,
    smallest_half,
    near_smooth,
]


def plain(A, f):
    """Return the optimum that cvxpy finds for the primal problem."""
    problem = programs.primal(A, rb.Custom(f), rb.L1Ball()).problem
    return problem.solve(solver="CLARABEL", tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)


@pytest.mark.parametrize("over", [rb.L1Ball(), rb.L1Ball(2)])
@pytest.mark.parametrize("f", FORMS)
def test_brackets_hold_the_optimum_of_cvxpy(f, over):
    A = margins(M, N)
    game = rb.Game(A, rb.Custom(f), over=over)
    found, reference = rb.solve(game, 1e-6), rb.reference(game)
    assert found.status == reference.status == "optimal"
    assert found.gap <= 1e-6
    assert reference.gap <= 1e-6
    assert rb.compare(found, reference)
    if over == rb.L1Ball():
        value = plain(A, f)
        for solution in (found, reference):
            assert solution.lower - 1e-7 <= value <= solution.upper + 1e-7


@pytest.mark.parametrize("f", [wasserstein, flows, group_fair, transport])
def test_a_polyhedral_form_is_for_the_interior_point_and_one_problem(f):
    """No solver is asked for bounds: multipliers and variables of the iterate prove them."""
    game = rb.Game(margins(M, N), rb.Custom(f))
    found = rb.solve(game, 1e-6)
    assert found.method == "auto (interior)"
    assert rb.reference(game).rounds == 1


@pytest.mark.parametrize("f", [flow_ball, flows, group_fair, transport])
def test_rows_that_fix_d_do_not_stop_the_interior_point(f):
    """With more columns than examples K is factorised without d, and flows leave it singular."""
    found = rb.solve(rb.Game(margins(M, 2 * M), rb.Custom(f)), 1e-6)
    assert found.method == "auto (interior)"
    assert found.status == "optimal"
    assert found.rounds <= PREDICTED_ITERATIONS


@pytest.mark.parametrize(
    ("rows", "least"),
    [
        ([[-1.0, 0, 0, 1, 1]], -np.inf),
        ([[-1.0, 0, 0, 1, 0]], -np.inf),
        ([[-1.0, 0, 0, 1, 1], [2, 0, 0, -2, -2]], -np.inf),
        (1e-6 * np.array([[1.0, -1, 0, 1, 0], [0, 1, -1, 0, 1]]), 0.0),
    ],
    ids=["sum", "unused", "twice", "small"],
)
def test_free_variables_and_equations_do_not_stop_the_interior_point(rows, least):
    """Against a linear program for HiGHS, in d, z and the largest edge."""
    A = np.array([[1.0, -1], [-1, 1], [1, 1]])
    cost = np.array([-1.0, 0, 0])
    rows = np.asarray(rows)

    def f(d):
        z = cp.Variable(2)
        bounds = [z >= least] if np.isfinite(least) else []
        return cost @ d, [rows @ cp.hstack([d, z]) == 0.0, *bounds]

    edges = np.column_stack([np.vstack([A.T, -A.T]), np.zeros((4, 2)), -np.ones(4)])
    largest = np.abs(rows).max(axis=1, keepdims=True)
    twin = linprog(
        [*cost, 0, 0, 1],
        edges,
        np.zeros(4),
        np.vstack([[1, 1, 1, 0, 0, 0], np.column_stack([rows / largest, 0.0 * largest])]),
        np.append(1.0, np.zeros(len(rows))),
        [(0, None)] * 3 + [(least, None)] * 2 + [(None, None)],
    )
    found = rb.solve(rb.Game(A, rb.Custom(f)), 1e-6)
    assert found.method == "auto (interior)"
    assert found.status == "optimal"
    assert found.lower - 1e-8 <= twin.fun <= found.upper + 1e-8


def test_bounds_of_a_run_ask_no_solver(monkeypatch):
    game = rb.Game(margins(M, N), rb.Custom(flows))
    asked = []
    own = compiled.solve_problem
    monkeypatch.setattr(compiled, "solve_problem", lambda p: asked.append(p) or own(p))
    found = rb.solve(game, 1e-6)
    assert found.status == "optimal"
    assert len(asked) <= 3  # the center, before the first round


def test_a_point_proves_f_only_inside_the_constraints():
    f = rb.Custom(flows).resolve(M)
    form = cone_form(f.cvxpy_penalty, M)
    points = ConePoints(form, M)
    problem = programs.primal_in_cones(margins(M, N), form, rb.L1Ball())
    problem.problem.solve(solver="CLARABEL")
    point = problem.proof().point
    d, value = points.near(point)
    assert abs(d.sum() - 1.0) < 1e-12
    assert value >= f.penalty(d) - 1e-9
    broken = point.copy()
    broken[M:] *= 3.0  # flows that are too many
    assert points.near(broken, move=False) is None
    assert points.near(np.full(point.size, np.nan)) is None


@pytest.mark.parametrize("f", FORMS)
def test_a_bound_by_a_point_is_never_below_f(f):
    relaxation = rb.Custom(f).resolve(M)
    form = cone_form(relaxation.cvxpy_penalty, M)
    points = ConePoints(form, M)
    solved = numerical.programs(relaxation, M)._cones.solve(np.linspace(0.0, 0.1, M))
    found = points.near(solved.proof.point)
    if found is not None:
        assert found[1] >= relaxation.penalty(found[0]) - 1e-8
    rng = np.random.default_rng(0)
    for _ in range(10):
        x = solved.proof.point + 0.01 * rng.normal(size=form.cost.size)
        found = points.near(x)
        assert found is None or found[1] >= relaxation.penalty(found[0]) - 1e-8


@pytest.mark.parametrize("f", FORMS)
def test_multipliers_of_the_cone_problem_prove_its_value(f):
    relaxation = rb.Custom(f).resolve(M)
    form = cone_form(relaxation.cvxpy_penalty, M)
    A = margins(M, N)
    model = programs.primal_in_cones(A, form, rb.L1Ball())
    value = model.problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9)
    w = sum(sign * constraint.dual_value for constraint, sign in model.coupling)
    w = w / max(1.0, np.abs(w).sum())
    witness = relaxation.near_witness(A @ w, model.proof())
    lower = relaxation.lower_bound(A @ w, witness)
    assert lower == pytest.approx(value + model.constant, abs=1e-6)
    assert lower <= relaxation.relaxed_margin(A @ w)[0] + 1e-8
    worse = ConeProof(model.proof().y + 0.01, model.proof().point)
    witness = relaxation.near_witness(A @ w, worse)
    assert relaxation.lower_bound(A @ w, witness) <= relaxation.relaxed_margin(A @ w)[0] + 1e-8


def test_a_symmetric_factor_fills_little_and_refuses_singular_matrices():
    size = 400
    chain = sparse.eye_array(size) - 0.4 * sparse.eye_array(size, k=1)
    whole = sparse.block_array([[chain + chain.T, np.ones((size, 1))], [np.ones((1, size)), None]])
    factor = symmetric_factor(whole)
    assert factor.nnz <= 10 * size
    right = np.arange(size + 1.0)
    assert whole @ factor.solve(right) == pytest.approx(right, rel=1e-8)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        symmetric_factor(sparse.csc_array((3, 3)))
