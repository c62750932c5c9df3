"""Bounds of functions of cvxpy hold without trust in a solver: against closed forms."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import relaxboost as rb
from relaxboost.relaxations import numerical
from relaxboost.relaxations.cone_form import cone_form
from relaxboost.relaxations.cone_points import ConePoints
from relaxboost.relaxations.norms import Fraction

M = 12
STEEP = M**-0.5 * (1.0 + 1e-6)
"""A radius at which the multiplier is some 700 times the margins."""


def ball(d):
    return 0.0, [cp.norm2(d) <= STEEP]


def ball_beside(d):
    """What is over the radius costs so much that nothing is; with a variable of its own."""
    z = cp.Variable(nonneg=True)
    return 1e4 * z, [cp.norm2(d) <= STEEP + z]


def ball_as_cone(d):
    return 0.0, [cp.SOC(cp.Constant(STEEP), d)]


UPPER = {
    "ball": (lambda: rb.Custom(ball), lambda: rb.NormBall(2, STEEP)),
    "its own variable": (lambda: rb.Custom(ball_beside), lambda: rb.NormBall(2, STEEP)),
    "cone": (lambda: rb.Custom(ball_as_cone), lambda: rb.NormBall(2, STEEP)),
    "sum": (
        lambda: rb.Custom(ball) + rb.NormPenalty(2, 0.1),
        lambda: rb.NormBall(2, STEEP) + rb.NormPenalty(2, 0.1),
    ),
    "shift": (
        lambda: rb.Custom(ball).shifted(0.0),
        lambda: rb.NormBall(2, STEEP),
    ),
    "conjugate": (
        lambda: rb.Custom(conjugate=lambda x: 30 * (cp.sum(cp.exp(x / 30)) / M - 1)),
        lambda: rb.KLPenalty(30),
    ),
}


@pytest.mark.parametrize(("make", "twin"), UPPER.values(), ids=UPPER)
def test_an_upper_bound_pays_for_what_a_solver_leaves_outside(make, twin, rng):
    for _ in range(2):
        A = rng.choice([-1.0, 0.0, 1.0], (M, 3))
        known, game = rb.reference(rb.Game(A, twin())), rb.Game(A, make())
        beyond = known.d + 1e-3 * (known.d - 1 / M)
        for d in (known.d, beyond, game.relaxation.relaxed_margin(known.margins)[1]):
            lower, upper = game.bracket(d, known.w)
            assert lower <= known.upper
            assert known.lower <= upper <= known.lower + 3e-4


def spread(d):
    """What leaves the sum no more than the simplex has."""
    z = cp.Variable(M)
    return cp.sum_squares(z), [z >= d, cp.sum(z) <= 1]


NO_ROOM = {
    "a value": (lambda d: [d[0] <= 0.2, d[0] >= 0.2], lambda d: [d[0] == 0.2]),
    "zeros": (lambda d: [d[:3] <= 0], lambda d: [d[:3] == 0]),
    "sums": (lambda d: [cp.sum(d[:5]) <= 0.5, cp.sum(d[5:]) <= 0.5, d <= 0.4],
             lambda d: [cp.sum(d[:5]) == 0.5, d <= 0.4]),
}  # fmt: skip


@pytest.mark.parametrize(("limits", "equal"), NO_ROOM.values(), ids=NO_ROOM)
def test_linear_constraints_that_leave_no_room_hold_as_equalities(limits, equal, rng):
    A = rng.uniform(-1, 1, (M, 3))
    game = rb.Game(A, rb.Custom(lambda d: (cp.sum_squares(d), limits(d))))
    twin = rb.Game(A, rb.Custom(lambda d: (cp.sum_squares(d), equal(d))))
    found, truth = rb.solve(game, 1e-6), rb.reference(twin)
    assert found.status == "optimal"
    assert "no point was found" not in found.message
    assert found.lower - 1e-8 <= truth.upper <= truth.lower + 1e-6 <= found.upper + 2e-6


def test_variables_of_f_that_have_no_room_are_where_they_must_be(rng):
    A = rng.uniform(-1, 1, (M, 3))
    found = rb.solve(rb.Game(A, rb.Custom(spread)), 1e-6)
    truth = rb.reference(rb.Game(A, rb.Custom(cp.sum_squares)))
    assert found.status == "optimal"
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper


def test_a_message_says_where_no_point_is_inside_the_constraints(rng):
    """None can be, and the constraint is not linear; of sums, multiples and shifts as well."""
    A = rng.uniform(-1, 1, (M, 3))
    f = rb.Custom(lambda d: (cp.sum_squares(d), [cp.norm2(d) <= M**-0.5 - 1e-11]))
    for made in (f, 2 * f, f + rb.NormPenalty(2, 0.1), f.shifted(0.0)):
        for found in (rb.solve(rb.Game(A, made), 1e-5), rb.reference(rb.Game(A, made))):
            assert found.message.endswith(numerical.UNMET)
    for made in (rb.Custom(ball), rb.NormPenalty(2, 0.1).shifted(-0.1)):
        assert numerical.UNMET not in rb.reference(rb.Game(A, made)).message


def test_a_steep_f_with_little_room_has_a_point_inside(rng):
    """Near the price of room, or where solvers leave more of d than f allows."""
    A = rng.uniform(-1, 1, (M, 3))
    prior = rng.dirichlet(np.ones(M))
    tv = rb.Custom(lambda d: (8e5 * cp.tv(d), [cp.sum(cp.kl_div(d, prior)) <= 0.1]))
    found, known = rb.solve(rb.Game(A, tv), rtol=1e-7), rb.reference(rb.Game(A, tv))
    assert numerical.UNMET not in found.message
    assert max(found.lower, known.lower) <= min(found.upper, known.upper)
    entropy = rb.Custom(lambda d: (-2e5 * cp.sum(cp.entr(d)), [d[-1] <= 0]))
    bracket = rb.solve(rb.Game(A, entropy), rtol=1e-6)
    least = -2e5 * math.log(M - 1)
    assert bracket.lower <= least + 1.0
    assert least <= bracket.upper


def test_values_that_variables_have_are_no_starts(rng):
    """cvxpy fails at a `sum_largest` of all entries once they have values."""
    A = rng.uniform(-1, 1, (M, 3))
    f = rb.Custom(lambda d: (cp.sum_largest(d, M), [cp.norm2(d) <= 2.0 * STEEP]))
    found, truth = rb.solve(rb.Game(A, f), 1e-6), rb.solve(rb.Game(A, rb.NormBall(2, 2.0 * STEEP)))
    assert found.status == "optimal"
    assert truth.lower + 1.0 <= found.upper
    assert found.lower <= truth.upper + 1.0


@pytest.mark.filterwarnings("ignore:pnorm with p:UserWarning")
@pytest.mark.parametrize("p", [8, 20, Fraction(878, 323)])
def test_high_norms_have_bounds_by_long_trees_of_cones(p, rng):
    f = rb.Custom(lambda d: 0.1 * cp.pnorm(d, float(p))).resolve(15)
    twin = rb.NormPenalty(p, 0.1)
    for _ in range(3):
        u = rng.uniform(-1, 1, 15)
        value, witness = twin.relaxed_margin(u)[0], f.witness(u)
        assert witness.proof is not None
        assert value - 1e-7 <= f.lower_bound(u, witness) <= value


def matrix(d):
    return [0.5 * np.eye(3) - cp.diag(d) >> 0]


def matrix_below(d):
    return [cp.diag(d) << 0.5 * np.eye(3)]


LIMITS = {
    "inequality": lambda d: [cp.max(d) <= 0.5],
    "half line": lambda d: [cp.constraints.NonNeg(0.5 - d)],
    "matrix": matrix,
    "matrix below": matrix_below,
    "exponential": lambda d: [cp.ExpCone(d[0], cp.Constant(1.0), cp.Constant(math.exp(0.5)))],
    "equality": lambda d: [d[0] == 0.5, d[2] <= 0.3],
}


def points(limits, f=cp.sum_squares, m=3):
    """Return the points that a cone program allows, and a function that solves it at d."""
    made = rb.Custom(lambda d: (f(d), limits(d))).resolve(m)
    return numerical.programs(made, m)


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_a_point_outside_is_moved_inside_and_no_further_than_it_takes(limits):
    given = points(limits)
    outside = np.array([0.5 + 1e-6, 0.2, 0.3 - 1e-6])
    found, value = given._allowed(outside)
    assert found[0] <= 0.5 + 1e-15
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.abs(found - outside).sum() < 1e-4
    assert value == pytest.approx(float(found @ found), rel=1e-12)
    inside = np.array([0.4, 0.35, 0.25])
    if given.penalty(inside) < math.inf:
        assert np.array_equal(given._allowed(inside)[0], inside)


def test_a_domain_without_room_has_no_point():
    form = cone_form(lambda d: (cp.sum_squares(d), [cp.norm2(d) <= 3**-0.5 - 1e-10]), 3)
    points = ConePoints(form, 3)
    x = np.append(np.full(3, 1 / 3), np.full(form.cost.size - 3, 1 / 3))
    assert points.near(x) is None


@pytest.mark.filterwarnings("ignore:Power atom:UserWarning")
def test_an_exponent_that_cvxpy_rounds_is_refused_with_the_atom_and_a_remedy():
    """Its cone program has the exponent 878/323, whose values are 1e-5 larger."""

    def beside(d):
        z = cp.Variable(d.shape[0])
        return cp.sum(z), [cp.power(d, 2.7182818) <= z]

    def plain(d):
        return cp.sum(cp.power(d, 2.7182818))

    conjugate = rb.Custom(conjugate=lambda x: cp.sum(cp.power(cp.pos(x), 2.7182818)))
    own = type("Own", (rb.Relaxation,), {"cvxpy_penalty": lambda self, d: (plain(d), [])})
    for f in (rb.Custom(beside), rb.Custom(plain), conjugate, own(), 2 * own()):
        with pytest.raises(rb.InputError, match=r"exponent 2.7182818 of \w+ to 878/323"):
            rb.Game(np.eye(3), f)


def geometric_mean(d):
    z = cp.Variable(1)
    return -z, [cp.PowConeND(cp.reshape(d, (3, 1), order="F"), z, np.full((3, 1), 1 / 3))]


POWERS = {
    "norm": lambda d: cp.pnorm(d, 3, approx=False),
    "power": lambda d: cp.sum(cp.power(d, 1.5, approx=False)),
    "cone": lambda d: (cp.sum_squares(d), [cp.PowCone3D(d[:1], d[1:2], d[2:3] - 0.1, [0.5])]),
    "cone of many entries": geometric_mean,
}


@pytest.mark.parametrize("f", POWERS.values(), ids=POWERS)
def test_power_cones_are_refused_with_a_remedy(f):
    with pytest.raises(rb.InputError, match=r"power cones, .* as the exponent with approx=True"):
        rb.Game(np.eye(3), rb.Custom(f))


def test_bounds_of_ones_own_need_no_cone_program():
    """The remedy that the errors name."""

    class Cubes(rb.Relaxation, rb.relaxations.Bounds):
        def cvxpy_penalty(self, d):
            return cp.sum(cp.power(d, 3, approx=False)), []

        def witness(self, u):
            return rb.relaxations.Witness(self.relaxed_margin(u)[0])

        def penalty_bound(self, d, total):
            return self.penalty(d), 0.0

        def lower_bound(self, u, witness):
            """F >= min over d of <d, u> + Σ (d_i b² 3 − 2 b³), tangents at b = 1/m."""
            b = 1.0 / u.size
            return float(u.min()) + 3.0 * b**2 - 2.0 * u.size * b**3

    game = rb.Game(np.eye(3) - 0.5, Cubes())
    lower, upper = game.bracket(np.full(3, 1 / 3), np.full(3, 1 / 3))
    assert lower == pytest.approx(-1 / 6 + 1 / 9)
    assert upper == pytest.approx(1 / 6 + 1 / 9)
    assert game.cone_form is None


def matrix_norm(d):
    return cp.norm(cp.reshape(d, (2, 3), order="F"), "nuc")


def eigenvalue(d):
    z = cp.Variable()
    return z, [z * np.eye(d.size) - cp.diag(d) >> 0]


CONES = {
    "matrix": (eigenvalue, rb.NormPenalty(math.inf, 1)),
    "eigenvalue": (lambda d: cp.lambda_max(cp.diag(d)), rb.NormPenalty(math.inf, 1)),
    "nuclear norm": (matrix_norm, None),
    "determinant": (lambda d: -cp.log_det(cp.diag(d) + 0.1 * np.eye(6)), None),
}


@pytest.mark.parametrize(("f", "twin"), CONES.values(), ids=CONES)
def test_cones_of_matrices_prove_lower_bounds(f, twin, rng):
    f = rb.Custom(f).resolve(6)
    for _ in range(3):
        u = rng.uniform(-1, 1, 6)
        witness, value = f.witness(u), f.relaxed_margin(u)[0]
        assert witness.proof is not None
        exact = value if twin is None else twin.relaxed_margin(u)[0]
        assert exact - 2e-7 <= f.lower_bound(u, witness) <= exact
        proof = numerical.programs(f, 6)._cones.solve(u).proof
        for size in (1e-6, 0.1, 10.0):  # also outside the cones
            moved = proof._replace(y=proof.y + size * rng.normal(size=proof.y.size))
            assert f.lower_bound(u, witness._replace(proof=moved)) <= exact + 1e-12


@pytest.mark.parametrize("ball", [False, True])
def test_a_matrix_made_of_d_is_symmetric_up_to_rounding(ball, rng):
    """A rounding put every d outside the domain of `lambda_max`, and the upper bound was inf."""
    Z = rng.normal(size=(30, 3))

    def f(d):
        largest = cp.lambda_max(Z.T @ cp.diag(d) @ Z)
        return (0.0, [largest <= 1.2]) if ball else 0.3 * largest

    f = rb.Custom(f).resolve(30)
    d = rng.dirichlet(np.full(30, 10.0))
    largest = np.linalg.eigvalsh((Z.T * d) @ Z)[-1]
    expected = (0.0 if largest <= 1.2 else math.inf) if ball else 0.3 * largest
    assert f.penalty(d) == pytest.approx(expected, rel=1e-12)
    game = rb.Game(rng.uniform(-1, 1, (30, 4)), f)
    assert rb.reference(game).gap <= 1e-6
    square = rb.Custom(lambda d: cp.lambda_max(cp.vstack([d[:2], d[2:]]))).resolve(4)
    assert square.penalty([0.5, 0.25, 0.25, 0.0]) == pytest.approx(0.25 + 0.125**0.5)
    assert square.penalty([0.5, 0.3, 0.2, 0.0]) == math.inf


def definite(d):
    Z = cp.Variable((2, 2), PSD=True)
    return 0.4 * cp.trace(Z), [Z[0, 1] >= d[0], Z[0, 0] >= d[1]]


def negative(d):
    Z = cp.Variable((2, 2), NSD=True)
    return -0.4 * cp.trace(Z), [Z[0, 1] <= -d[0], Z[0, 0] <= -d[1]]


def symmetric(d):
    Z = cp.Variable((2, 2), symmetric=True)
    return cp.lambda_max(Z), [Z[0, 0] >= d[0], Z[1, 1] >= d[1], Z[0, 1] == d[2]]


def diagonal(d):
    Z = cp.Variable((3, 3), diag=True)
    return cp.norm(Z, "fro"), [cp.diag(Z) >= d]


class Diagonal(rb.Relaxation):
    def cvxpy_penalty(self, d):
        return diagonal(d)


SHAPED = (definite, negative, symmetric, diagonal)


@pytest.mark.parametrize(
    "f", [*map(rb.Custom, SHAPED), Diagonal()], ids=[*(f.__name__ for f in SHAPED), "subclass"]
)
def test_variables_of_f_may_be_declared_as_matrices_with_a_shape(f, rng):
    """They ended in errors of cvxpy and NumPy, or left a gap of 3e-4."""
    A = rng.uniform(-1, 1, (3, 2))
    game = rb.Game(A, f)
    alone, v = cp.Variable(3, nonneg=True), cp.Variable()
    value, constraints = f.cvxpy_penalty(alone) if isinstance(f, Diagonal) else f._f(alone)
    limits = [cp.sum(alone) == 1, cp.abs(A.T @ alone) <= v, *constraints]
    expected = cp.Problem(cp.Minimize(value + v), limits).solve(solver="CLARABEL")
    for sol in (rb.reference(game), rb.solve(game, tol=1e-6)):
        assert sol.gap <= 1e-6
        assert sol.lower - 1e-6 <= expected <= sol.upper + 1e-6


def one_variable(d):
    t = cp.Variable()
    return cp.square(t), [t == d[0]]


@pytest.mark.parametrize(("f", "m"), [(one_variable, 3), (lambda d: (0, [d[0] == 1]), 1)])
def test_an_equality_of_single_numbers_has_slopes(f, m):
    sol = rb.solve(rb.Game(np.full((m, 1), 0.5), rb.Custom(f)), tol=1e-6)
    assert sol.lower <= 0.5 <= sol.upper <= sol.lower + 1e-6


@pytest.mark.parametrize("room", [5e-8, 1e-6])
def test_a_little_room_is_not_taken_for_none(room):
    given = points(lambda d: [d[0] <= room], m=6)
    good = np.append(room / 2.0, np.full(5, (1.0 - room / 2.0) / 5.0))
    assert np.array_equal(given._allowed(good)[0], good)
    bad = np.append(room + 5e-10, np.full(5, (1.0 - room - 5e-10) / 5.0))
    assert given._allowed(bad) is not None
    assert np.array_equal(given._allowed(good)[0], good)


def test_ill_scaled_equations_leave_no_false_bracket():
    """A solver that was believed to 1e-8 put the lower bound 0.14 above the optimum."""
    rng = np.random.default_rng(20)
    m, p, k, n = 60, 37, 6, 8
    rows = rng.normal(size=(k, m + p))
    rows[:, m:] /= 1e5
    size, cost = 10.0 ** rng.uniform(-6, 6, k), rng.normal(size=p) / 1e2
    right = rows @ np.append(rng.dirichlet(np.ones(m)), 1e5 * rng.random(p))
    A = rng.uniform(-1, 1, (m, n))

    def f(d):
        z = cp.Variable(p)
        equations = (size[:, None] * rows) @ cp.hstack([d, z]) == size * right
        return cost @ z, [equations, z >= 0, z <= 1e5]

    # The same game as a linear program in d, z / 1e5 and the largest edge, without the sizes.
    goal = np.concatenate([np.zeros(m), 1e5 * cost, [0.3]])
    edges = np.hstack([A.T, np.zeros((n, p)), -np.ones((n, 1))])
    scaled = np.hstack([rows[:, :m], 1e5 * rows[:, m:], np.zeros((k, 1))])
    equal = np.vstack([np.append(np.ones(m), np.zeros(p + 1)), scaled])
    limits = [(0, None)] * m + [(0, 1)] * p + [(None, None)]
    twin = linprog(goal, edges, np.zeros(n), equal, np.append(1.0, right), limits)
    found = rb.solve(rb.Game(A, rb.Custom(f), over=rb.Simplex(0.3)), rtol=1e-6, time_limit=30)
    slack = 1e-8 * abs(twin.fun)
    assert found.lower - slack <= twin.fun <= found.upper + slack


def test_an_f_whose_multipliers_prove_nothing_is_refused_with_the_reason(monkeypatch, rng):
    """At the declaration, and later in the message of the solution: its lower bound is -inf."""
    game = rb.Game(rng.uniform(-1, 1, (M, 3)), rb.Custom(ball_beside))
    monkeypatch.setattr(numerical.ConeBounds, "below", lambda *args, **options: -math.inf)
    with pytest.raises(rb.InputError, match="cannot be used in a game: Clarabel's multipliers"):
        rb.Game(np.eye(3), rb.Custom(ball_beside))
    found = rb.solve(game, 1e-6)
    assert found.lower == -math.inf
    assert found.status != "optimal"
    assert numerical.UNPROVED in found.message


def test_warnings_of_cvxpy_about_its_own_bounds_stay_away(rng):
    """It multiplies zeros by the infinite bounds of a variable, for HiGHS only."""
    Z = np.round(rng.normal(size=(M, 4)))

    def f(d):
        z = cp.Variable(4, nonneg=True)
        return cp.max(cp.abs(Z @ z - d)) + cp.sum(z), []

    game = rb.Game(rng.uniform(-1, 1, (M, 3)), rb.Custom(f))
    assert rb.reference(game, solver="HIGHS").gap <= 1e-6


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_domain_that_is_a_single_point(m, rng):
    """The upper bound was infinite, because f is infinite at points near the only one."""
    f = rb.BinaryEntropy(k=m)
    A = rng.uniform(-1, 1, (m, 2))
    found = rb.solve(rb.Game(A, f.shifted(0.0)), 1e-6)
    truth = rb.solve(rb.Game(A, f), 1e-6)
    assert found.gap <= 1e-6
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
