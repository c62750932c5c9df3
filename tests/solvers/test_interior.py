"""The interior point method: its equations against a dense twin, its brackets, and its place."""

import sys

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost._core.loop import TimeUp, until
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.base import needs_solver
from relaxboost.solvers import InteriorPoint, LPBoost
from relaxboost.solvers.interior_point import run
from relaxboost.solvers.interior_point.barrier import Barrier
from relaxboost.solvers.interior_point.block import Diagonal
from relaxboost.solvers.interior_point.iterate import Iterate
from relaxboost.solvers.interior_point.normal import ByPasses, ColumnScaling, Right
from tests.conformance.families import FAMILIES


def margins(m, n, seed=1):
    return np.clip(np.random.default_rng(seed).normal(0.05, 0.4, (m, n)), -1, 1)


def inners(solution):
    """Return how the rounds were made, each once, in their order."""
    return list(dict.fromkeys(record.inner for record in solution.history))


def products_agree(rng, bulk, A):
    """Hold the products of `bulk` to those of A written down."""
    m, n = A.shape
    d, w, D = rng.random(m), rng.normal(size=n), rng.random(n)
    cross = np.full((n + 1, n + 1), 7.0)
    bulk.cross(d, cross[:n, :n])
    assert np.tril(cross[:n, :n]) == pytest.approx(np.tril(A.T * d @ A))
    assert (cross[n] == 7.0).all()
    assert np.tril(bulk.gram(D)) == pytest.approx(np.tril(A * D @ A.T))
    assert bulk.edges(d) == pytest.approx(A.T @ d)
    assert bulk.margins(w) == pytest.approx(A @ w)


@pytest.mark.parametrize("many", [0.0, 25.0, np.inf])
@pytest.mark.parametrize("levels", [0, 1, 3])
def test_all_stumps_are_multiplied_without_being_written_down(monkeypatch, rng, levels, many):
    module = sys.modules["relaxboost.matrices.stumps"]  # the name is also that of a function
    monkeypatch.setattr(module, "MULTIPLICATIONS_PER_ENTRY", many)
    monkeypatch.setattr("relaxboost.matrices.bulk.ROWS_PER_BLOCK", 7)
    X = rng.normal(size=(30, 4)).round(levels)
    matrix = rb.matrices.stumps(X, np.where(rng.random(30) < 0.5, 1.0, -1.0))
    assert matrix.bulk().array is None
    products_agree(rng, matrix.bulk(), matrix.toarray())


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_some_stumps_are_multiplied_without_the_others(rng, levels):
    X = rng.normal(size=(30, 4)).round(levels)
    matrix = rb.matrices.stumps(X, np.where(rng.random(30) < 0.5, 1.0, -1.0))
    columns = np.flatnonzero(rng.random(matrix.n) < 0.4)
    products_agree(rng, matrix.bulk().restricted(columns), matrix.toarray()[:, columns])


POLYHEDRAL = {name: make for name, make in FAMILIES if make(17).linear_form(17)}


@pytest.mark.parametrize("name", POLYHEDRAL)
@pytest.mark.parametrize("n", [6, 40])
def test_every_polyhedral_family_is_solved(name, n):
    game = rb.Game(margins(17, n), POLYHEDRAL[name](17))
    truth = rb.reference(game)
    found = rb.solve(game, 1e-7, "interior-point")
    assert found.status == "optimal", found.message
    assert found.rounds < 60
    assert found.lower <= truth.upper + 1e-9
    assert found.upper >= truth.lower - 1e-9


@pytest.mark.parametrize(
    "over",
    [rb.L1Ball(1), rb.L1Ball(1e-6), rb.Simplex(), rb.Simplex(3), rb.FullSimplex(3)],
    ids=repr,
)
@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_to_the_accuracy_of_doubles(over, shape):
    """Where Newton's equations lose digits, the gap stays above 1e-9."""
    size = over.scale
    found = rb.solve(
        rb.Game(margins(*shape), rb.Capped(5), over=over), 1e-13 * size, "interior-point"
    )
    assert found.gap <= 1e-12 * size
    assert found.rounds < 40


@pytest.mark.parametrize(
    ("A", "f"),
    [
        (np.zeros((5, 4)), rb.HardMargin()),
        (np.ones((6, 3)), rb.Capped(2)),
        (np.eye(8), rb.HardMargin()),
        (margins(1, 1), rb.HardMargin()),
        (margins(1, 3), rb.HardMargin()),
        (np.hstack([margins(30, 8)] * 2), rb.Capped(4)),
        (np.vstack([margins(30, 8)] * 2), rb.Capped(4)),
        (margins(12, 5), rb.Capped(12)),
        (margins(12, 5), rb.Capped(11)),
        (np.sign(margins(200, 40)), rb.Capped(20)),
        (margins(12, 5), rb.Caps([0, 0, 0, *[0.2] * 9])),
    ],
    ids=[
        "zeros",
        "ones",
        "identity",
        "one",
        "row",
        "columns",
        "rows",
        "k=m",
        "k<m",
        "rho=0",
        "none",
    ],
)
def test_degenerate_games_end(A, f):
    game = rb.Game(A, f)
    found = rb.solve(game, 1e-9, "interior-point")
    assert found.status == "optimal", found.message
    assert rb.compare(found, rb.reference(game))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("A", "f", "size", "tol"),
    [
        (margins(5, 4), rb.NormPenalty(np.inf, 0.5), 1e-4, 1e-12),
        (margins(2, 1), rb.NormPenalty(np.inf, 0.5, weights=[1, 1.875]), 1e-4, 1e-12),
        (np.vstack([np.zeros((1, 1)), np.ones((39, 1))]), rb.HardMargin(), 1, 1e-10),
        (1e-6 * margins(40, 6), rb.Capped(8), 1, 1e-10),
        (1e-6 * margins(17, 20), rb.Capped(8), 1, 1e-10),
        (1e-7 * margins(17, 20), rb.Capped(8), 1, 1e-11),
        (np.zeros((4, 7)), rb.HardMargin(), 1, 1e-10),
    ],
    ids=["slopes", "weights", "both signs", "columns", "examples", "tiny", "zeros"],
)
def test_sizes_far_apart_lose_no_digits(A, f, size, tol):
    """f beside a small r, two signs of a column that both bind, and edges that are all small."""
    game = rb.Game(A, f, over=rb.L1Ball(size))
    found = rb.solve(game, tol, "interior-point", max_rounds=30)
    assert found.status == "optimal", found.message
    assert rb.compare(found, rb.reference(game))


@pytest.mark.filterwarnings("error")
def test_slacks_that_rounding_keeps_small_do_not_overflow():
    live = np.ones(1, dtype=bool)
    pair = Barrier(np.ones(1), 1.0, live)
    for _ in range(200):
        pair.move(np.zeros(1), 1.0, np.zeros(1))
    assert np.isfinite(pair.ratio**2).all()


@pytest.mark.parametrize(("m", "n", "weight"), [(2, 2, 0.1), (4, 40, 1e-3)])
@pytest.mark.parametrize("method", ["interior-point", "auto"])
def test_weights_that_vanish_beside_f_end_a_run_that_may_go_on(m, n, weight, method):
    """The curvature of columns is below the least double, so that nothing fixes v."""
    game = rb.Game(margins(m, n), rb.KLPenalty(weight), over=rb.L1Ball(1e-100))
    found = rb.solve(game, 1e-300, method)
    assert found.status == "stalled", found.message
    assert -1e-30 < found.lower <= 1e-100  # ρ is in [0, 1e-100]
    assert 0.0 <= found.upper < 1e-30


def test_only_columns_that_matter_keep_weight():
    game = rb.Game(np.random.default_rng(0).uniform(-1, 1, (40, 1500)))
    found = rb.solve(game, 1e-6, "interior-point")
    assert found.status == "optimal"
    assert len(found.support) <= 60


def test_the_same_twice():
    game = rb.Game(margins(80, 30), rb.Capped(8))
    one, other = (rb.solve(game, 1e-8, "interior-point") for _ in range(2))
    assert (one.lower, one.upper, one.rounds) == (other.lower, other.upper, other.rounds)
    assert np.array_equal(one.d, other.d)


def test_all_stumps_as_implicit_as_dense(cancer):
    matrix = rb.matrices.stumps(cancer.X, cancer.y, max_cuts=5)
    game, dense = (rb.Game(A, rb.Capped(57)) for A in (matrix, matrix.toarray()))
    found, other = (rb.solve(g, 1e-9, "interior-point") for g in (game, dense))
    assert found.status == other.status == "optimal"
    assert found.lower == pytest.approx(other.lower, abs=2e-9)


def test_auto_agrees_with_column_generation_where_many_columns_carry_the_optimum():
    game = rb.Game(np.sign(margins(400, 150)), rb.Capped(133))
    found = rb.solve(game, 1e-7)
    assert inners(found) == ["start", "balance", "interior"]
    assert found.status == "optimal"
    plain = rb.solve(game, 1e-7, LPBoost())
    assert inners(plain) == ["lp"]
    assert rb.compare(found, plain)


def test_a_sum_whose_margins_come_from_a_program_goes_straight_to_the_interior_point():
    game = rb.Game(margins(60, 40), rb.Capped(10) + rb.NormPenalty(np.inf, 0.5))
    assert needs_solver(game.relaxation)
    found = rb.solve(game, 1e-7)
    assert inners(found) == ["start", "interior"]
    assert rb.compare(found, rb.reference(game))


@pytest.mark.parametrize("fails", [1, 2, 4])
def test_what_the_interior_point_cannot_finish_is_left_to_column_generation(monkeypatch, fails):
    steps = []

    def step(self, least):
        steps.append(1)
        if len(steps) >= fails:
            raise np.linalg.LinAlgError("singular")
        return own(self, least)

    own = Iterate.step
    monkeypatch.setattr(Iterate, "step", step)
    game = rb.Game(margins(60, 40), rb.Capped(10))
    found = rb.solve(game, 1e-7)
    tried = ["interior"] if fails > 1 else []
    assert inners(found) == ["start", "balance", *tried, "lp"]
    assert found.status == "optimal"
    steps.clear()
    alone = rb.solve(game, 1e-7, "interior-point")
    assert alone.status == "stalled"
    assert alone.lower <= found.upper
    assert alone.upper >= found.lower


def test_the_time_limit_keeps_the_best_bracket():
    game = rb.Game(margins(80, 30), rb.Capped(8))
    found = rb.solve(game, 1e-9, "interior-point", time_limit=1e-9)
    assert found.status == "time_limit"
    assert found.lower <= rb.solve(game, 1e-9).upper <= found.upper + 1e-9


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (
            rb.Game(margins(5, 4), rb.Custom(f=lambda d: cp.lambda_max(cp.diag(d)))),
            "needs other cones than half",
        ),
        (
            rb.Game(
                rb.matrices.oracle(lambda X, y, d: np.sign, margins(3, 1), [1, -1, 1], slack=0)
            ),
            "needs to know every column",
        ),
    ],
    ids=["matrices", "oracle"],
)
def test_what_it_is_not_for_is_refused(game, said):
    with pytest.raises(rb.InputError, match=f'{said}.*; use method="auto"$'):
        rb.solve(game, 1e-3, InteriorPoint())


def test_what_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(run, "MAX_FACTOR_ORDER", 3)
    for over in (rb.L2Ball(1), rb.SquaredNorm(1)):
        with pytest.raises(rb.InputError, match=r'at most 3 columns.*; use method="auto"$'):
            rb.solve(rb.Game(margins(5, 4), over=over), 1e-3, InteriorPoint())
        assert rb.solve(rb.Game(margins(5, 4), over=over), 1e-3).method == "auto (hull)"
    with_rows = rb.relaxations.SpectralRisk([2, 4], [0.5, 0.5])
    with pytest.raises(rb.InputError, match="matrix of order 30 here, and 3 is the largest"):
        rb.solve(rb.Game(noisy_stumps(30, 2), with_rows), 1e-3, InteriorPoint())
    monkeypatch.setattr(run, "MAX_FACTOR_ORDER", 100)
    monkeypatch.setattr(run, "MAX_STORED_ENTRIES", 19)
    with pytest.raises(rb.InputError, match="stores the columns as an array"):
        rb.solve(rb.Game(margins(5, 4)), 1e-3, InteriorPoint())


def test_a_form_with_a_free_variable_and_an_equality():
    """f(d) = |d_1 − d_2|, with the difference as a free z and an equality row."""

    class Difference(rb.HardMargin):
        def linear_form(self, m):
            rows = np.zeros((3, m + 2))
            rows[0, [0, 1, m]] = 1.0, -1.0, -1.0
            rows[1, [m, m + 1]] = 1.0, -1.0
            rows[2, [m, m + 1]] = 1.0, 1.0
            inf = np.inf
            return LinearForm(
                np.append(np.zeros(m + 1), 1.0),
                np.append(np.zeros(m), [-inf, -inf]),
                np.full(m + 2, inf),
                sparse.csr_array(rows),
                np.array([0.0, -inf, 0.0]),
                np.array([0.0, 0.0, inf]),
            )

    bulk = DenseBulk(margins(6, 4))
    iterate = Iterate(Difference().linear_form(6), bulk, rb.L1Ball(1), np.full(6, 1 / 6))
    for _ in range(25):
        iterate.step()
    import cvxpy as cp

    d = cp.Variable(6, nonneg=True)
    worst = cp.abs(d[0] - d[1]) + cp.norm_inf(bulk.array.T @ d)
    truth = cp.Problem(cp.Minimize(worst), [cp.sum(d) == 1]).solve(cp.CLARABEL)
    value = abs(iterate.d[0] - iterate.d[1]) + np.abs(bulk.array.T @ iterate.d).max()
    assert value == pytest.approx(truth, abs=1e-7)
    assert iterate.d.sum() == pytest.approx(1.0, abs=1e-9)


def noisy_stumps(m, features, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, features))
    y = np.where(X @ rng.normal(size=features) > 0.0, 1.0, -1.0)
    return rb.matrices.stumps(X, np.where(rng.random(m) < 0.1, -y, y))


@pytest.mark.parametrize("density", [0.05, 0.5])
def test_sparse_products_against_dense_ones(rng, density):
    A = margins(40, 30) * (rng.random((40, 30)) < density)
    some = np.arange(0, 30, 3)
    for bulk, twin in (
        (rb.Game(sparse.csc_array(A)).matrix.bulk(), A),
        (rb.Game(sparse.csc_array(A)).matrix.pricing().restricted(some), A[:, some]),
    ):
        products_agree(rng, bulk, twin)
        assert np.array_equal(bulk.array, twin)


def test_an_interrupt_while_the_first_step_is_prepared(monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "Iterate", pressed)
    found = rb.solve(rb.Game(margins(30, 12), rb.Capped(4)), 1e-6, "interior-point")
    assert found.status == "interrupted"
    assert np.isfinite(found.gap)


@pytest.mark.parametrize(
    "f",
    [
        rb.HardMargin(),
        rb.Capped(8),
        rb.KLPenalty(0.1),
        rb.NormBall(2, 0.2),
        rb.relaxations.SpectralRisk([5, 20], [0.5, 0.5]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_tolerance_below_the_resolution_of_doubles_ends_the_run(monkeypatch, f, seed):
    """It takes at most five times the steps that bring the gap to 1e-9."""
    steps, own = [], Iterate.step

    def counted(self, *others):
        steps.append(1)
        return own(self, *others)

    monkeypatch.setattr(Iterate, "step", counted)
    game = rb.Game(np.random.default_rng(seed).uniform(-1, 1, (80, 40)), f)
    assert rb.solve(game, 1e-9, "interior-point").status == "optimal"
    enough = len(steps)
    steps.clear()
    found = rb.solve(game, 1e-15, "interior-point")
    assert found.status in ("optimal", "stalled")
    assert found.gap < 1e-9
    assert len(steps) <= 5 * enough


@pytest.mark.parametrize("left", [0, 1, 3])
def test_the_clock_is_checked_between_right_hand_sides(monkeypatch, left):
    """A step that the time limit interrupts leaves the point as it was."""
    game = rb.Game(margins(40, 15), rb.Capped(8))
    form, center = game.linear_form, game.relaxation.center(game.m)
    iterate = Iterate(form, game.matrix.bulk(), game.over, center)
    iterate.step()
    before = iterate.d.copy(), iterate.w.copy(), iterate.v
    looks = []

    def look():
        looks.append(1)
        if len(looks) > left:
            raise TimeUp
        return 1.0

    for module in ("iterate", "elimination"):
        monkeypatch.setattr(f"relaxboost.solvers.interior_point.{module}.seconds_left", look)
    with pytest.raises(TimeUp):
        iterate.step()
    assert len(looks) == left + 1
    assert np.array_equal(iterate.d, before[0])
    assert np.array_equal(iterate.w, before[1])
    assert iterate.v == before[2]


def test_conjugate_gradients_end_with_the_time_limit():
    """No matter how many iterations a right-hand side takes."""
    bulk = noisy_stumps(200, 3).bulk()
    equations = ByPasses(
        bulk,
        Diagonal(np.ones(200), 200),
        ColumnScaling(np.ones(bulk.n), np.zeros(bulk.n), float(bulk.n), float(bulk.n)),
    )
    right = Right(np.ones(200), np.ones(bulk.n), 1.0, 0.5)
    assert np.isfinite(equations.solve(right).y).all()
    with until(0.0), pytest.raises(TimeUp):
        equations.solve(right)
