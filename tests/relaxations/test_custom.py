"""Relaxations written in cvxpy: against closed forms, and what is said of those that are wrong."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import time

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.loop import TimeUp, until
from relaxboost.relaxations import DualWitness, Traits
from relaxboost.relaxations.cone_bounds import ConeBounds
from relaxboost.relaxations.cone_form import cone_form
from relaxboost.testing import check_relaxation


def half_square(d):
    return 0.5 * cp.sum_squares(d)


def group_spread(d):
    """Auxiliary variables: the l1 distance to the nearest multiple of the all-ones vector."""
    z = cp.Variable()
    return cp.norm1(d - z)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [lambda d: cp.pnorm(d, 1.3), lambda d: -cp.geo_mean(d)])
def test_powers_that_need_many_cones_give_no_warnings(f):
    solution = rb.solve(rb.Game([[1, -1], [-1, 1], [1, 1]], rb.Custom(f=f)))
    assert solution.status == "optimal"
    assert rb.certify(solution).level == "numerical"


def test_a_conjugate_alone_conforms():
    """Its upper bound, which takes seconds here, is held against a twin in `test_pointwise`."""
    f = rb.Custom(conjugate=lambda x: cp.norm1(x) / 2)
    assert check_relaxation(f, (3,), skip=["penalty_bound"])


@pytest.mark.parametrize("f", [cp.sum_squares, lambda d: cp.sum(cp.power(cp.abs(d), 1.5))])
@pytest.mark.parametrize("box", [False, True])
def test_a_proof_whose_numbers_overflow_proves_nothing(f, box):
    u = np.array([0.1, -0.2])
    bounds = ConeBounds(cone_form(rb.Custom(f).cvxpy_penalty, 2), 2)
    best = bounds.solve(u, box=box)
    for part in ("y", "point"):
        for entry in range(getattr(best.proof, part).size):
            numbers = getattr(best.proof, part).copy()
            numbers[entry] = 1.7e308
            below = bounds.below(u, best.proof._replace(**{part: numbers}), box=box)
            assert below <= best.below + 1e-9


@pytest.mark.parametrize(
    "f",
    [
        lambda d: -0.1 * cp.sum(cp.sqrt(d / 1000)),  # solvers end early, far from the optimum
        lambda d: -cp.sum(cp.log(1000 * d)) / 1000,
        lambda d: cp.sum(cp.power(1000 * d, 1.5)) / 1000,
        lambda d: cp.sum(cp.huber(1000 * d)) / 1000,
    ],
)
def test_a_lower_bound_is_below_f_at_every_point(f, rng):
    f = rb.Custom(f).resolve(1000)
    A, w = np.where(rng.random((1000, 200)) < 0.4, 1.0, -1.0), rng.random(200)
    u = -A @ w / w.sum()
    value, _ = f.relaxed_margin(u)
    below = f.lower_bound(u, f.witness(u))
    assert value - 1e-4 <= below <= value


@pytest.mark.parametrize(
    "f", [lambda d: cp.norm(d, 3), lambda d: cp.lambda_max(cp.diag(d))], ids=["cones", "matrix"]
)
def test_all_attempts_of_solvers_end_at_one_deadline(f, rng):
    f, u = rb.Custom(f).resolve(80), rng.normal(size=80)
    f.witness(-u)  # what is compiled is there
    for seconds in (0.0, 1e-3):
        with until(time.perf_counter() + seconds), pytest.raises(TimeUp):
            f.witness(u)
    assert f.lower_bound(u, f.witness(u)) > -math.inf


def test_a_proof_from_anywhere_is_a_lower_bound(rng):
    """Also multipliers outside the cones, and the supremum over the box, against closed forms."""
    u, c = rng.uniform(-1, 1, 6), 0.3
    kinds = [lambda d: c * cp.sum(cp.kl_div(d, 1 / 6)), lambda d: c * cp.norm2(d) + cp.sum(d) ** 2]
    for kind in kinds:
        f = rb.Custom(kind).resolve(6)
        gamma, x, proof = f.witness(u)
        value, _ = f.relaxed_margin(u)
        assert f.lower_bound(u, DualWitness(gamma, x, proof)) == pytest.approx(value, abs=1e-8)
        assert f.lower_bound(u, DualWitness(gamma, x)) == pytest.approx(value, abs=1e-8)
        for size in (1e-6, 0.1, 10.0):
            moved = type(proof)(
                proof.y + size * rng.normal(size=proof.y.size),
                proof.point + size * rng.normal(size=proof.point.size),
            )
            assert f.lower_bound(u, DualWitness(gamma, x, moved)) <= value + 1e-12
    closed = -c * math.log(np.exp(-u / c).mean())
    f = rb.Custom(kinds[0]).resolve(6)
    assert closed - 1e-8 <= f.lower_bound(u, f.witness(u)) <= closed


def test_auxiliary_variables_are_minimised_over(rng):
    f = rb.Custom(group_spread).resolve(5)
    d = rng.uniform(0, 1, 5)
    assert f.penalty(d) == pytest.approx(np.abs(d - np.median(d)).sum(), abs=1e-8)
    u = rng.uniform(-1, 1, 5)
    value, d = f.relaxed_margin(u)
    assert d @ u + f.penalty(d) == pytest.approx(value, abs=1e-7)
    assert f.lower_bound(u, f.witness(u)) == pytest.approx(value, abs=1e-7)


def test_the_function_is_called_once_for_each_m(rng):
    calls = []

    def f(d):
        calls.append(d.shape)
        return cp.norm2(d)

    first = rb.Custom(f)
    bound = first.resolve(4)
    for g in (bound, first.resolve(4), first.resolve(3)):
        g.distribution(rng.uniform(-1, 1, g._m), 0.1)
        g.witness(np.zeros(g._m))
        g.conjugate(np.zeros(g._m))
        g.key()
    assert calls == [(4,), (3,)]


def test_the_second_distribution_is_much_faster_than_the_first():
    code = """
import time, numpy as np, relaxboost as rb
def f(d):
    import cvxpy as cp
    return 0.5 * cp.sum_squares(d)
f, seconds = rb.Custom(f), []
for seed in range(4):
    u = np.random.default_rng(seed).uniform(-1, 1, 200)
    start = time.process_time()
    f.distribution(u, 0.05)
    seconds.append(time.process_time() - start)
assert 5 * min(seconds[1:]) <= seconds[0], seconds
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_center_is_inside_where_the_uniform_distribution_is_not():
    f = rb.Custom(lambda d: (0.0, [d[0] >= 0.5, d[1] <= 0.1])).resolve(3)
    d = f.center(3)
    assert f.penalty(d) == 0.0
    assert d.min() > 0.01
    assert d[0] > 0.51
    assert np.array_equal(rb.Custom(half_square).resolve(3).center(3), np.full(3, 1 / 3))


def test_repair_stops_at_the_boundary_and_forgives_what_a_solver_leaves():
    f = rb.Custom(lambda d: (0.0, [cp.norm2(d) <= 0.75])).resolve(4)
    d = f.repair(np.eye(4)[2])
    assert np.linalg.norm(d) == pytest.approx(0.75, abs=1e-8)
    near = d + 3e-9 * (np.eye(4)[2] - 0.25)
    assert np.abs(f.repair(near) - near).max() <= 2e-8


def test_equal_mathematics_has_equal_keys_in_every_process():
    key = rb.Custom(lambda x: (cp.norm(x, 2), [x <= 0.5])).resolve(4).key()
    assert rb.Custom(lambda q: (cp.norm2(q), [q <= 0.5])).resolve(4).key() == key
    others = [
        rb.Custom(lambda q: (cp.norm2(q) + 1, [q <= 0.5])).resolve(4),
        rb.Custom(lambda q: (cp.norm2(q), [q <= 0.25])).resolve(4),
        rb.Custom(lambda q: (cp.norm2(q), [q <= 0.5])).resolve(5),
        rb.Custom(conjugate=lambda q: (cp.norm2(q), [q <= 0.5])).resolve(4),
    ]
    assert len({key, *(f.key() for f in others)}) == 5
    code = (
        "import cvxpy as cp, relaxboost as rb; cp.Variable(9)\n"
        "print(rb.Custom(lambda x: (cp.norm(x, 2), [x <= 0.5])).resolve(4).key())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == key
    with pytest.raises(rb.InputError, match="has no key before the number of examples"):
        rb.Custom(half_square).key()


def test_pickle_and_comparison():
    f = rb.Custom(half_square, traits=Traits(symmetric=True), name="mine").resolve(3)
    f.penalty(np.zeros(3))
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert hash(again) == hash(f)
    assert again.key() == f.key()
    assert again.traits.symmetric
    assert f != rb.Custom(half_square)
    assert repr(f) == "Custom(mine)"
    assert repr(rb.Custom(half_square)) == "Custom(f=half_square)"


WRONG = {
    "concave": (lambda d: cp.norm(d, 0.5), r"not convex.*\(d, 1/2\) is concave.* must be convex"),
    "vector": (cp.sqrt, r"shape \(5,\), but f\(d\) must be a single number"),
    "difference": (
        lambda d: cp.sum_squares(d) - cp.norm(d),
        r"the term Pnorm\w*\(d, 2\) is convex, and at this position it must be concave",
    ),
    "product": (lambda d: d[0] * d[1], "neither convex nor concave"),
    "nothing": (lambda d: None, "returned None"),
    "two numbers": (lambda d: d[:2], r"shape \(2,\)"),
    "three things": (lambda d: (1, 2, 3), "returned a tuple"),
    "no list": (lambda d: (cp.norm(d), d <= 1), "put the constraints in a list"),
    "no constraint": (lambda d: (cp.norm(d), [True]), "only cvxpy constraints are allowed"),
    "wrong length": (lambda d: np.ones(7) @ d, r"failed on .* \(5,\).*; use .* m = 5 entries"),
    "NumPy function": (np.exp, "NumPy function on a CVXPY expression"),
    "outside of a ball": (lambda d: (0, [cp.norm(d) >= 1]), "which is not convex.* be concave"),
    "sphere": (lambda d: (0, [cp.norm(d) == 1]), "which is not convex.* must be affine"),
    "no simplex": (lambda d: (0.0, [cp.sum(d) <= 0.5]), r"\+inf on the whole simplex"),
    "unbounded": (lambda d: cp.Variable(), "not bounded below on the simplex"),
    "integer": (lambda d: cp.norm(d - cp.Variable(integer=True)), "integer variables"),
    "complex": (lambda d: cp.norm(d - cp.Variable(complex=True)), "complex variables; use"),
    "parameter": (lambda d: cp.Parameter(nonneg=True) * cp.norm(d), "contains the cvxpy parameter"),
}


@pytest.mark.parametrize(("f", "message"), WRONG.values(), ids=WRONG)
def test_wrong_functions_are_refused_with_the_reason(f, message):
    with pytest.raises(rb.InputError, match=message) as caught:
        rb.Game(np.eye(5), rb.Custom(f))
    assert "\n" not in str(caught.value)


def test_wrong_arguments():
    for arguments in ({}, {"f": half_square, "conjugate": half_square}):
        with pytest.raises(rb.InputError, match="either f or conjugate"):
            rb.Custom(**arguments)
    with pytest.raises(rb.InputError, match="a function of a cvxpy variable"):
        rb.Custom(3)
    with pytest.raises(rb.InputError, match="Traits"):
        rb.Custom(half_square, traits={"monotone": True})
    with pytest.raises(rb.InputError, match=r"\+inf on the whole simplex"):
        rb.Custom(conjugate=cp.sum).resolve(3)


@pytest.mark.parametrize("f", [cp.sum, lambda d: 3, lambda d: d[0] - 2 * d[1]])
def test_affine_functions_are_fine(f):
    g = rb.Custom(f).resolve(3)
    assert g.lower_bound(np.zeros(3), g.witness(np.zeros(3))) == pytest.approx(
        g.relaxed_margin(np.zeros(3))[0], abs=1e-8
    )


WEIGHTS = [1, 2, 3, 1, 2, 1.5]
SPELLINGS = [
    (rb.Capped(4), rb.Custom(lambda d: (0.0, [d <= 0.25, d >= -0.25]))),
    (rb.Capped(4), rb.Custom(conjugate=lambda theta: cp.norm1(theta) / 4)),
    (
        rb.NormPenalty(math.inf, 1, WEIGHTS),
        rb.Custom(lambda d: cp.max(cp.multiply(WEIGHTS, cp.abs(d)))),
    ),
    (rb.NormPenalty(1, 1, WEIGHTS), rb.Custom(lambda d: cp.norm1(cp.multiply(WEIGHTS, d)))),
    (
        rb.NormPenalty(1, 1, WEIGHTS),
        rb.Custom(conjugate=lambda theta: (0.0, [cp.abs(theta) <= WEIGHTS])),
    ),
    (
        rb.NormBall(1, 1.5, WEIGHTS),
        rb.Custom(lambda d: (0.0, [cp.norm1(cp.multiply(WEIGHTS, d)) <= 1.5])),
    ),
    (rb.HardMargin(), rb.Custom(lambda d: 0.0)),
]


@pytest.mark.parametrize(("family", "custom"), SPELLINGS, ids=lambda f: repr(f)[:30])
def test_piecewise_linear_functions_have_exact_optima(family, custom, rng, tmp_path):
    A = np.round(rng.uniform(-1, 1, (6, 4)), 3)
    game = rb.Game(A, custom)
    assert game.relaxation.traits.polyhedral
    value = rb.exact_value(game)
    assert value == rb.exact_value(rb.Game(A, family))
    solution = rb.solve(game, tol=1e-6)
    assert solution.lower - 1e-8 <= value <= solution.upper + 1e-8
    # At a vertex d meets the constraints of f exactly, which a point inside rounds.
    certificate = rb.certify(rb.solve(game, tol=1e-6, method="lpboost"))
    assert certificate.level == "exact"
    assert rb.views.report.data(solution)["strongest_level"] == "exact"
    certificate.save(tmp_path / "custom.json")
    assert rb.check_certificate(tmp_path / "custom.json", A).ok


@pytest.mark.parametrize(("family", "custom"), SPELLINGS, ids=lambda f: repr(f)[:30])
def test_their_linear_programs_hold_off_the_simplex(family, custom, rng):
    form = custom.resolve(6).linear_form(6)
    for scale in (0.01, 0.3, 1.0, 4.0):
        d = scale * rng.dirichlet(np.ones(6))
        x = cp.Variable(form.cost.size)
        inside = [x[:6] == d, form.lower[6:] <= x[6:], x[6:] <= form.upper[6:]]
        if form.rows is not None:
            inside += [form.row_lower <= form.rows @ x, form.rows @ x <= form.row_upper]
        problem = cp.Problem(cp.Minimize(form.cost @ x), inside)
        problem.solve(solver="HIGHS")
        expected = family.penalty(d)
        assert problem.value == pytest.approx(expected, abs=1e-9) or problem.value == expected


def test_a_transport_penalty_is_polyhedral(rng):
    """The price of moving mass to the uniform distribution along a line, by a flow."""

    def transport(d):
        flow = cp.Variable(3, nonneg=True)
        back = cp.Variable(3, nonneg=True)
        moved = flow - back
        ends = cp.hstack([moved[0], moved[1:] - moved[:-1], -moved[2]])
        return cp.sum(flow + back), [d - 0.25 == ends]

    f = rb.Custom(transport).resolve(4)
    for d in rng.dirichlet(np.ones(4), 3):
        moved = np.abs(np.cumsum(d - 0.25)[:3]).sum()
        assert f.penalty(d) == pytest.approx(float(moved), abs=1e-7)
    A = np.round(rng.uniform(-1, 1, (4, 3)), 2)
    game = rb.Game(A, f)
    assert float(rb.exact_value(game)) == pytest.approx(rb.reference(game).lower, abs=1e-6)


def test_what_doubles_make_infeasible_is_certified_numerically(rng):
    """Five times the double next to 1/5 is not 1, so that no d sums to one exactly."""

    def pinned(d):
        z = cp.Variable(5, nonneg=True)
        return cp.sum(z), [d - 0.2 == z - z[[1, 2, 3, 4, 0]]]

    solution = rb.solve(rb.Game(np.round(rng.uniform(-1, 1, (5, 3)), 2), rb.Custom(pinned)))
    assert rb.certify(solution).level == "numerical"
    with pytest.raises(rb.InputError, match="contradict each other in exact arithmetic"):
        rb.certify(solution, level="exact")


def test_a_curved_function_has_no_linear_program():
    for custom in (
        rb.Custom(cp.sum_squares),
        rb.Custom(lambda d: (0.0, [cp.norm2(d) <= 0.8])),
        rb.Custom(cp.sum_squares, traits=Traits(polyhedral=True)),
        rb.Custom(conjugate=cp.norm2),
    ):
        f = custom.resolve(3)
        assert not f.traits.polyhedral
        assert f.linear_form(3) is None
        assert f.exact_form(3) is None


def test_a_high_norm_whose_cones_prove_little_is_solved_all_the_same():
    A = np.where(np.random.default_rng(0).random((60, 20)) < 0.6, 1.0, -1.0)
    game = rb.Game(A, rb.Custom(f=lambda d: 0.3 * cp.pnorm(d, 8)))
    assert rb.solve(game, 1e-6, time_limit=60).status == "optimal"
