"""Bounds of functions of cvxpy hold without believing a solver: against closed forms."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import numerical
from relaxboost.relaxations.pointwise import Pointwise, TangentProof

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
    for _ in range(4):
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
    f = rb.Custom(lambda d: (cp.sum_squares(d), [cp.abs(d[0] - 0.2) <= 0]))
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


def test_a_power_cone_is_no_reason_to_be_infinite(rng):
    """cvxpy finds violations of it by a solver, and 1e-9 is less than what that leaves."""
    A = rng.uniform(-1, 1, (M, 3))

    def cone(d):
        return cp.sum_squares(d), [cp.PowCone3D(d[:1], d[1:2], d[2:3] - 0.1, [0.5])]

    def mean(d):
        return cp.sum_squares(d), [cp.abs(d[2] - 0.1) <= cp.geo_mean(d[:2])]

    found, truth = (rb.solve(rb.Game(A, rb.Custom(f)), 1e-6) for f in (cone, mean))
    assert found.status == truth.status == "optimal"
    assert max(found.lower, truth.lower) <= min(found.upper, truth.upper)


@pytest.mark.filterwarnings("ignore:pnorm with p:UserWarning")
@pytest.mark.parametrize("p", [8, 20, 878 / 323])
def test_high_norms_have_bounds_by_their_tangents(p, rng):
    f = rb.Custom(lambda d: 0.1 * cp.pnorm(d, p)).resolve(15)
    twin = rb.NormPenalty(p if p != 878 / 323 else rb.relaxations.norms.Fraction(878, 323), 0.1)
    for _ in range(3):
        u = rng.uniform(-1, 1, 15)
        value, witness = twin.relaxed_margin(u)[0], f.witness(u)
        assert witness.proof is not None
        assert value - 1e-7 <= f.lower_bound(u, witness) <= value


@pytest.mark.filterwarnings("ignore:Power atom:UserWarning")
def test_an_exponent_that_cvxpy_rounds_is_not_rounded_in_bounds(rng):
    """Its cone program has the exponent 878/323, whose values are 1e-5 larger."""
    p = 2.7182818
    for weight in (1.0, 100.0):
        game = rb.Game(
            rng.uniform(-1, 1, (4, 3)), rb.Custom(lambda d, c=weight: c * cp.sum(cp.power(d, p)))
        )
        found = rb.reference(game)
        assert found.lower <= found.upper <= found.lower + 1e-5 * weight


def test_any_tangent_is_below_f(rng):
    c = 0.3
    f = rb.Custom(lambda d: (c * cp.pnorm(d, 3), [d <= 0.4, cp.sum(d[:2]) == 0.5]))
    programs = numerical.programs(f.resolve(5), 5)
    u = rng.uniform(-1, 1, 5)
    value, d, *_ = programs.solved_margin(u)
    for _ in range(20):
        multipliers = (rng.normal(size=5), rng.normal(size=1))
        proof = TangentProof(rng.dirichlet(np.ones(5)), multipliers)
        assert -10.0 < programs.below(u, proof) <= value + 1e-8
    duals = [y.dual_value for y in programs._get("margin").problem.constraints[2:]]
    own = programs._pointwise.proof(d, duals)
    assert programs.below(u, own) == pytest.approx(value, abs=1e-6)
    wrong = own._replace(point=np.full(5, np.nan)), own._replace(multipliers=())
    assert [programs.below(u, proof) for proof in wrong] == [-math.inf, -math.inf]


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


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_a_point_outside_is_moved_inside_and_no_further_than_it_takes(limits):
    d = cp.Variable(3)
    given = Pointwise(d, cp.sum_squares(d), limits(d), numerical.solves)
    outside = np.array([0.5 + 1e-6, 0.2, 0.3 - 1e-6])
    found = given.allowed(outside)
    assert found[0] <= 0.5 + 1e-15
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.abs(found - outside).sum() < 2e-5
    inside = np.array([0.5, 0.25, 0.25]) if found[2] <= 0.3 else found
    assert np.abs(given.allowed(inside) - inside).sum() < 1e-15


def test_a_domain_without_room_is_left_to_the_solver():
    d = cp.Variable(3)
    corner = Pointwise(d, cp.sum_squares(d), [cp.max(d) <= 1 / 3 - 1e-10], numerical.solves)
    assert corner.allowed(np.full(3, 1 / 3)) is None


@pytest.mark.filterwarnings("ignore:Power atom:UserWarning")
def test_what_cvxpy_rounds_and_no_tangent_mends_is_refused():
    def beside(d):
        z = cp.Variable(d.shape[0])
        return cp.sum(z), [cp.power(d, 2.7182818) <= z]

    conjugate = rb.Custom(conjugate=lambda x: cp.sum(cp.power(cp.pos(x), 2.7182818)))
    for f in (rb.Custom(beside), conjugate):
        with pytest.raises(rb.InputError, match="an exponent that cvxpy rounds"):
            rb.Game(np.eye(3), f)


def geometric_mean(d):
    z = cp.Variable(1)
    return -z, [cp.PowConeND(cp.reshape(d, (3, 1), order="F"), z, np.full((3, 1), 1 / 3))]


def test_a_solution_says_where_a_solver_is_believed():
    """A cone that is not known here, and an auxiliary variable: nothing proves it."""
    for f, believed in (
        (rb.Custom(geometric_mean), True),
        (rb.Custom(cp.norm2), False),
    ):
        game = rb.Game(np.eye(3) - 0.5, f)
        for found in (
            rb.solve(game, tol=1e-6),
            rb.reference(game),
            rb.solve(rb.Game(np.eye(3), 2 * f)),
        ):
            assert ("solver is believed" in found.message) == believed
            assert found.lower <= found.upper


def eigenvalue(d):
    z = cp.Variable()
    return z, [z * np.eye(d.size) - cp.diag(d) >> 0]


CONES = {
    "matrix": (eigenvalue, rb.NormPenalty(math.inf, 1)),
    "eigenvalue": (lambda d: cp.lambda_max(cp.diag(d)), rb.NormPenalty(math.inf, 1)),
    "power": (lambda d: cp.pnorm(d, 3, approx=False), rb.NormPenalty(3, 1)),
    "powers": (lambda d: cp.sum(cp.power(d, 1.5, approx=False)), None),
}


@pytest.mark.parametrize(("f", "twin"), CONES.values(), ids=CONES)
def test_cones_of_matrices_and_powers_prove_lower_bounds(f, twin, rng):
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


def test_where_no_solver_answers_f_at_zero_and_the_least_margin_are_a_bound(monkeypatch, rng):
    """It was −inf where the solver of f* met no tolerance."""
    f = rb.Custom(lambda d: -0.1 * cp.log_det(cp.diag(d) + 0.1 * np.eye(5))).resolve(5)
    own = numerical.Programs.conjugate_above
    flat = 1e-4  # of x at margins of zero
    monkeypatch.setattr(
        numerical.Programs,
        "conjugate_above",
        lambda self, x: own(self, x) if np.ptp(x) < flat else math.inf,
    )
    least = f.relaxed_margin(np.zeros(5))[0]
    for u in rng.uniform(-1, 1, (3, 5)):
        witness = f.witness(u)._replace(proof=None)
        bound = f.lower_bound(u, witness)
        assert u.min() + least - 1e-6 <= bound <= f.relaxed_margin(u)[0]


@pytest.mark.parametrize("room", [5e-8, 1e-6])
def test_a_little_room_is_not_taken_for_none(room):
    f = rb.Custom(lambda d: (cp.sum_squares(d), [d[0] <= room]))
    m, good = 6, np.append(room / 2.0, np.full(5, (1.0 - room / 2.0) / 5.0))
    points = numerical.programs(f, m)._pointwise
    assert points.allowed(good) is good or np.array_equal(points.allowed(good), good)
    bad = np.append(room + 5e-10, np.full(5, (1.0 - room - 5e-10) / 5.0))
    assert points.allowed(bad) is not None
    assert np.array_equal(points.allowed(good), good)
