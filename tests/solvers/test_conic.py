"""The interior point method on cones: its parts against dense twins, its brackets, its place."""

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost import relaxations
from relaxboost.relaxations.cone_bounds import ConeBounds
from relaxboost.relaxations.cone_form import cone_form
from relaxboost.solvers import InteriorPoint
from relaxboost.solvers.interior_point import run
from relaxboost.solvers.interior_point.bordered import ArrowFactor
from relaxboost.solvers.interior_point.cones import ExponentialCones, SecondOrderCones
from relaxboost.solvers.interior_point.conic import Conic
from tests.conformance.families import FAMILIES
from tests.solvers.test_interior import margins

CURVED = {name: make for name, make in FAMILIES if make(17).resolve(17).linear_form(17) is None}


def inside(kind, size, number=7):
    """Return cones of a kind with slacks and multipliers that are not central."""
    rng = np.random.default_rng(size)
    cones = kind(rng.normal(size=(number, size)), 0.1, np.ones(number))
    other = kind(rng.normal(size=(number, size)), 0.1, np.full(number, 3.0))
    cones.z = 0.5 * cones.z + other.z
    cones.scale()
    return cones


KINDS = [(SecondOrderCones, 1), (SecondOrderCones, 2), (SecondOrderCones, 6), (ExponentialCones, 3)]


@pytest.mark.parametrize(("kind", "size"), KINDS)
def test_the_scaling_maps_slacks_to_multipliers(kind, size):
    cones = inside(kind, size)
    H = cones.matrices()
    assert cones.inside(cones.s).all()
    assert cones.dual_inside(cones.z).all()
    assert cones.times(cones.s) == pytest.approx(cones.z)
    assert np.allclose(H, H.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(H).min() > 0.0
    aim = cones.target(0.3, None, None)
    central = cones.degree * 0.3 - (cones.s * cones.z).sum(axis=1)
    assert (cones.s * aim).sum(axis=1) == pytest.approx(central)  # <s, −∇F(s)> is the degree


def test_the_scaling_of_exponential_cones_fits_both_barriers():
    cones = inside(ExponentialCones, 3)
    far = cones._dual_polar()
    assert cones.times(far) == pytest.approx(cones.polar())
    cones.s, s = far, cones.s
    assert cones.polar() == pytest.approx(cones.z)  # −∇F(−∇F*(z)) = z
    cones.s = s
    cones.z = 0.7 * cones.polar()
    cones.scale()
    for k, unit in enumerate(1e-6 * np.eye(3)):  # where they are central, H is μ∇²F(s)
        cones.s = s + unit
        ahead = cones.polar()
        cones.s = s - unit
        slope = (cones.polar() - ahead) / 2e-6
        assert cones.H[:, :, k] == pytest.approx(0.7 * slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("kind", "size"), KINDS)
def test_the_longest_step_ends_at_the_boundary(kind, size):
    cones = inside(kind, size)
    ds, dz = np.random.default_rng(5).normal(size=(2, *cones.s.shape)) * 9.0
    step = cones.longest(ds, dz)
    assert cones.inside(cones.s + 0.999 * step * ds).all()
    assert cones.dual_inside(cones.z + 0.999 * step * dz).all()
    beyond = step * 1.001
    past = cones.inside(cones.s + beyond * ds) & cones.dual_inside(cones.z + beyond * dz)
    assert not past.all()


def test_a_large_second_order_cone_is_a_diagonal_and_two_outer_products():
    cones = inside(SecondOrderCones, 6)
    (u, v), eye = cones.rest().transpose(1, 0, 2), np.eye(6)
    H = eye / np.square(cones.eta)[:, :, None]
    H = H + u[:, :, None] * u[:, None, :] - v[:, :, None] * v[:, None, :]
    assert pytest.approx(cones.matrices()) == H


@pytest.mark.parametrize(("kind", "size"), KINDS)
def test_eliminating_the_auxiliary_unknowns_leaves_the_scaling(kind, size):
    cones = inside(kind, size)
    number = cones.s.size
    whole = np.zeros((number + cones.extra, number + cones.extra))
    whole[cones.places()] = cones.entries()
    corner = whole[number:, number:]
    found = whole[:number, :number] - whole[:number, number:] @ np.linalg.solve(
        corner, whole[number:, :number]
    )
    for k, H in enumerate(cones.matrices()):
        rows = slice(k * size, (k + 1) * size)
        assert found[rows, rows] == pytest.approx(H)
        assert not np.delete(found[rows], np.arange(number)[rows], axis=1).any()


def test_rows_that_say_what_d_sums_to_beside_exponential_cones():
    rng = np.random.default_rng(0)
    A = np.where(rng.random((1000, 200)) < 0.09, 1.0, rng.choice([-1.0, 1.0], (1000, 200)))
    f = relaxations.SpectralRisk([10, 100, 500], [0.2, 0.3, 0.5]) + rb.KLPenalty(0.05)
    # By the processor, rounding keeps the gap at 5e-8 to 1.4e-6. A step that is kept near the
    # centre keeps it at 1.4e-5.
    assert rb.solve(rb.Game(A, f), 5e-6, "interior-point", time_limit=30).status == "optimal"


def every_cone(d):
    """Return an f with every kind of cone, long rows, a shared variable and equations."""
    t, z = cp.Variable(), cp.Variable(3)
    value = 0.1 * cp.sum(cp.kl_div(d, 0.05)) + cp.sum_squares(d[:4]) + t + 0.2 * cp.norm2(d)
    return value, [cp.square(d) <= t, cp.sum(d) <= 2, z == d[:3], cp.abs(z) <= 0.9]


def chained(d):
    """Return an f that ties every example to the next."""
    return cp.norm2(cp.diff(d)) + cp.sum(cp.abs(cp.diff(d)))


@pytest.mark.parametrize("f", [every_cone, chained])
def test_the_border_solves_as_the_whole_matrix_does(f):
    m = 24
    form = cone_form(rb.Custom(f=f).resolve(m).cvxpy_penalty, m)
    part = Conic(form, np.full(m, 1 / m), 1.0)
    block = part.block()
    assert part._matrix.layout.is_apart == (f is every_cone)
    assert isinstance(block._whole, ArrowFactor) == (f is every_cone)
    assert f is chained or part._matrix.layout.whole.outer.size >= 2
    size = len(part.x) + len(part._eta)
    K = np.column_stack([block.times(unit) for unit in np.eye(size)])
    assert np.allclose(K, K.T)
    rng = np.random.default_rng(0)
    h, t = rng.normal(size=size), rng.normal(size=m)
    assert block.invert(h) == pytest.approx(np.linalg.solve(K, h), rel=1e-6, abs=1e-7)
    rest = np.linalg.inv(K[m:, m:])
    schur = K[:m, :m] - K[:m, m:] @ rest @ K[m:, :m]
    gram = np.zeros((m, m))
    block.add_to(gram)
    assert gram == pytest.approx(schur, rel=1e-5, abs=1e-6 * np.abs(schur).max())
    assert block.reduce(h) == pytest.approx(h[:m] - K[:m, m:] @ rest @ h[m:], rel=1e-5, abs=1e-5)
    whole = np.append(t, rest @ (h[m:] - K[m:, :m] @ t))
    assert block.expand(t, h) == pytest.approx(whole, rel=1e-4, abs=1e-4)
    bulk = rb.matrices.as_matrix(margins(m, 5)).bulk()
    B = np.column_stack([bulk.array, -np.ones(m)])
    wanted = B.T @ np.linalg.inv(schur) @ B
    assert np.tril(block.gram(bulk)) == pytest.approx(np.tril(wanted), rel=1e-5, abs=1e-7)


SHAPES = ((40, rb.L1Ball(1)), (9, rb.Simplex()), (9, rb.FullSimplex(2)))
EACH = [(name, *SHAPES[(i + j) % 3]) for i, name in enumerate(CURVED) for j in (0, 1)]


@pytest.mark.parametrize(("name", "n", "over"), EACH)
def test_every_curved_family_is_solved(name, n, over):
    """Over two of three sets in turn."""
    game = rb.Game(margins(17, n), CURVED[name](17), over=over)
    found = rb.solve(game, 1e-7 if over.holds_zero else 1e-6, "interior-point")
    assert found.status == "optimal", found.message
    truth = rb.reference(game)
    assert found.lower <= truth.upper + 1e-8
    assert found.upper >= truth.lower - 1e-8


@pytest.mark.parametrize(
    "f",
    [
        rb.NormBall(1.01, 1.3),
        relaxations.PowerPenalty(20, 0.2),
        relaxations.PowerBall(7.77, 0.2),
    ],
    ids=repr,
)
def test_powers_that_take_many_cones_do_not_warn(f):
    """Of cvxpy, which here is an error."""
    game = rb.Game(margins(17, 6), f)
    assert rb.compare(rb.solve(game, 1e-6), rb.reference(game))


@pytest.mark.parametrize("p", [1.02, 1.2])
def test_many_short_steps_are_no_stall(p):
    """Here steps shorten what is left of the equations by some percent at first."""
    rng = np.random.default_rng(390)
    X = np.round(rng.normal(size=(150, 25)), 1)
    stumps = rb.matrices.stumps(X, np.where(rng.normal(size=150) > 0, 1, -1))
    solution = rb.solve(rb.Game(stumps, rb.NormPenalty(p, 0.3)), 1e-4, "interior-point")
    assert solution.status == "optimal"


SQUARES = rb.Custom(f=lambda d: 30 * cp.sum_squares(cp.pos(d - 0.05)))
SKEW = np.eye(30) + 0.5 * np.eye(30, k=1)


@pytest.mark.parametrize(
    "f",
    [
        SQUARES,
        rb.relaxations.MahalanobisPenalty(SKEW, 0.5),
        rb.relaxations.MahalanobisBall(SKEW, 0.4),
        rb.relaxations.MahalanobisBall(SKEW[:4], 0.2),
    ],
    ids=["custom", "penalty", "ball", "rank 4"],
)
def test_multipliers_prove_the_bound_without_a_cone_solver(f, monkeypatch):
    game = rb.Game(np.sign(margins(30, 12)), f)
    truth = rb.reference(game)
    game.relaxation.relaxed_margin(np.zeros(30))  # of w = 0, which is kept
    rb.solve(game, 1e-6, "interior-point", max_rounds=1)  # prepares the kernels
    monkeypatch.setattr(ConeBounds, "solve", None)
    found = rb.solve(game, 1e-6, "interior-point")
    assert found.status == "optimal", found.message
    assert rb.compare(found, truth)
    u = game.matrix.margins(found.support, found.coefficients)
    assert game.relaxation.lower_bound(u, found.witness) == pytest.approx(found.lower, abs=1e-8)


@pytest.mark.parametrize("times", [1.02, 1.1, 1.3])
def test_a_variable_that_thousands_of_cones_share_may_begin_small(times):
    """The norm that the rows of NormBall(1.5) share: 0 where steps start, the radius at the end."""
    m = 2000
    A = np.where(np.random.default_rng(0).random((m, 50)) < 0.55, 1.0, -1.0)
    game = rb.Game(A, rb.NormBall(1.5, times * m ** (1 / 1.5 - 1)))
    assert rb.solve(game, 1e-6, "interior-point").status == "optimal"


ZEROS = [0.0, 0.5, *[0.5 / 10] * 10]


@pytest.mark.parametrize(
    ("A", "f"),
    [
        (np.zeros((5, 4)), rb.KLBall(0.3)),
        (np.ones((6, 3)), rb.NormPenalty(2, 0.3)),
        (np.eye(8), rb.KLPenalty(0.1)),
        (margins(1, 3), rb.relaxations.ChiSquarePenalty(0.3)),
        (np.hstack([margins(30, 8)] * 2), rb.NormBall(2, 0.3)),
        (np.vstack([margins(30, 8)] * 2), rb.relaxations.HellingerBall(0.3)),
        (margins(12, 5), rb.KLBall(0.2, ZEROS)),
        (margins(12, 30), rb.KLPenalty(0.2, ZEROS)),
        (margins(12, 5), rb.KLBall(1e-4)),
        (margins(12, 5), rb.KLPenalty(1e-4)),
        (np.sign(margins(90, 30)), rb.NormBall(2, 1.3 * 90**-0.5)),
    ],
    ids=[
        "zeros",
        "ones",
        "identity",
        "row",
        "columns",
        "rows",
        *["zero", "zeros", "small", "sharp", "rho=0"],
    ],
)
def test_degenerate_curved_games_end(A, f):
    game = rb.Game(A, f)
    found = rb.solve(game, 1e-7, "interior-point")
    assert found.status == "optimal", found.message
    assert rb.compare(found, rb.reference(game))


@pytest.mark.parametrize("share", [0.05, 0.005])
def test_second_order_terms_that_leave_the_cones_are_dropped(share):
    rng = np.random.default_rng(1)
    returns = rng.standard_t(3, (200, 20)) + rng.standard_normal((200, 1))
    game = rb.Game(returns / np.abs(returns).max(), rb.KLBall(-np.log(share)), over=rb.Simplex(1))
    found = rb.solve(game, tol=1e-7, method="interior-point")
    assert found.status == "optimal"
    assert found.gap <= 1e-7


def test_no_interior_is_not_a_hang():
    """The ball is the uniform distribution alone, and its cone has no interior."""
    game = rb.Game(margins(12, 5), rb.NormBall(2, 12**-0.5))
    found = rb.solve(game, 1e-9, "interior-point")
    assert found.status in ("optimal", "stalled")
    edge = np.abs(margins(12, 5).mean(axis=0)).max()
    assert found.gap < 1e-5
    assert found.upper == pytest.approx(edge, abs=1e-5)


def test_all_stumps_are_solved_without_being_written_down():
    X = np.random.default_rng(3).normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.2, 1.0, -1.0)
    matrix = rb.matrices.stumps(X, y)
    game = rb.Game(matrix, rb.KLBall(0.2))
    found = rb.solve(game, 1e-7, "interior-point")
    assert found.status == "optimal", found.message
    assert rb.compare(found, rb.reference(game))


@pytest.mark.parametrize("f", [rb.KLBall(0.3), rb.NormPenalty(2, 0.5)], ids=repr)
def test_columns_enter_where_all_are_too_many(f, monkeypatch):
    A = margins(90, 150)
    truth = rb.solve(rb.Game(A, f), 1e-7, "interior-point")
    monkeypatch.setattr(run, "MAX_STORED_ENTRIES", 10_000)
    monkeypatch.setattr(run, "SMALL_ORDER", 100)
    found = rb.solve(rb.Game(A, f), 1e-7, "interior-point")
    assert found.status == "optimal", found.message
    assert abs(found.lower - truth.lower) <= 2e-7


def test_auto_takes_it_where_f_is_not_polyhedral():
    game = rb.Game(margins(60, 20), rb.KLBall(0.3))
    found = rb.solve(game, 1e-7)
    assert found.method == "auto (interior)"
    assert found.status == "optimal"
    assert rb.compare(found, rb.solve(game, 1e-3, "lpboost"))


@pytest.mark.parametrize(
    ("f", "tol"),
    [
        (rb.KLPenalty(0.1), 1e-2),
        (rb.KLPenalty(0.1), 1e-3),
        (rb.KLPenalty(1e-3), 1e-2),
        (rb.KLBall(0.5), 1e-2),
    ],
)
def test_auto_reaches_any_tol_where_f_is_steep_or_flat(f, tol):
    """The optimum has 200 columns, of which steps find a new one in nearly every round."""
    found = rb.solve(rb.Game(margins(600, 300), f), tol)
    assert found.status == "optimal"
    assert {record.inner for record in found.history} == {"start", "interior"}


def test_what_it_cannot_finish_is_left_to_a_general_solver(monkeypatch):
    def give_up(self, least):
        raise np.linalg.LinAlgError

    monkeypatch.setattr("relaxboost.solvers.interior_point.iterate.Iterate.step", give_up)
    game = rb.Game(margins(20, 6), rb.relaxations.ChiSquareBall(0.3))
    found = rb.solve(game, 1e-5)
    assert found.history[-1].inner == "general"
    assert found.status == "optimal"
    assert rb.solve(game, 1e-5, "interior-point").status == "stalled"


def test_an_interrupt_while_auto_prepares_the_first_step(monkeypatch):
    """As one of a run, which has a bracket by then."""

    def pressed(*_):
        raise KeyboardInterrupt

    game = rb.Game(margins(20, 6), rb.relaxations.ChiSquareBall(0.3))
    truth = rb.solve(game, 1e-6)
    monkeypatch.setattr(run, "Iterate", pressed)
    found = rb.solve(game, 1e-6)
    assert (found.method, found.status) == ("auto", "interrupted")
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper < np.inf


def test_too_many_examples_are_refused(monkeypatch):
    monkeypatch.setattr(run, "MAX_CONE_EXAMPLES", 9)
    with pytest.raises(
        rb.InputError, match="cone program of such a relaxation for at most 9 examples"
    ):
        rb.solve(rb.Game(margins(10, 4), rb.KLBall(0.3)), 1e-3, InteriorPoint())


def test_the_correction_of_exponential_cones_is_half_the_third_derivative():
    """Against a mixed second difference of the gradient."""
    cones = inside(ExponentialCones, 3)
    s, z, ds = cones.s, cones.z, 1e-5 * cones.s @ np.diag([1.0, -1.0, 0.5])
    dz = cones.polar() @ np.diag([1e-5, 2e-5, -1e-5])
    found = cones.target(0.0, ds, dz) + z
    u = np.linalg.solve(cones._hessian(s), dz[:, :, None])[:, :, 0]
    mixed = np.zeros_like(s)
    for sign, move in ((-1, u + ds), (1, u), (1, ds), (-1, 0.0 * ds)):
        cones.s = s + move
        mixed += sign * cones.polar()
    size = np.abs(found).max(axis=1, keepdims=True)
    assert found / size == pytest.approx(0.5 * mixed / size, abs=0.1)


def test_sharp_divergences_on_real_stumps():
    """d spreads over thirty powers of ten, where steps without the correction stay short."""
    data = rb.matrices.datasets.breast_cancer()
    matrix = rb.matrices.stumps(data.X[:80], data.y[:80], max_cuts=5)
    found = rb.solve(rb.Game(matrix, rb.KLPenalty(0.01)), 1e-6)
    assert found.status == "optimal", found.message
    assert {record.inner for record in found.history} == {"start", "interior"}
