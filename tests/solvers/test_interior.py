"""The interior point method: its equations against a dense twin, its brackets, and its place."""

import sys

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost._core.loop import Clock
from relaxboost.matrices.bulk import DenseBulk, by_rows
from relaxboost.relaxations import LinearForm
from relaxboost.solvers import Combined, InteriorPoint, combined
from relaxboost.solvers.corrective import active_set
from relaxboost.solvers.interior import run
from relaxboost.solvers.interior.barrier import Barrier
from relaxboost.solvers.interior.block import Diagonal, Rows
from relaxboost.solvers.interior.bordered import Bordered
from relaxboost.solvers.interior.factor import Factor, RoundedFactor, factor
from relaxboost.solvers.interior.iterate import Iterate
from relaxboost.solvers.interior.normal import ByColumns, ByExamples, ColumnScaling, Right
from relaxboost.solvers.interior.polyhedron import Polyhedron
from relaxboost.solvers.totally_corrective import LinearRun
from tests.conformance.families import FAMILIES


def margins(m, n, seed=1):
    return np.clip(np.random.default_rng(seed).normal(0.05, 0.4, (m, n)), -1, 1)


def inners(solution):
    """Return how the rounds were made, each once, in their order."""
    return list(dict.fromkeys(record.inner for record in solution.history))


def newton(rng, m, n, extra, count):
    """Return (bulk, block, columns) of random Newton equations, with `extra` z and some rows."""
    theta = rng.uniform(0.1, 10.0, m + extra)
    if count:
        rows = sparse.csr_array(rng.uniform(-1, 1, (count, m + extra)))
        block = Rows(theta, rows, rng.uniform(0.1, 1.0, count), m)
    else:
        block = Diagonal(theta, m)
    plus, minus = rng.uniform(0.1, 10.0, (2, n))
    columns = ColumnScaling(
        plus + minus, plus - minus, float((4 * plus * minus / (plus + minus)).sum())
    )
    return DenseBulk(rng.uniform(-1, 1, (m, n))), block, columns


def solved(normal, right):
    """Return the solution, refined once."""
    return normal.refined(right, normal.solve(right))


@pytest.mark.parametrize("side", [ByColumns, ByExamples])
@pytest.mark.parametrize("shape", [(9, 5, 0, 0), (5, 9, 0, 0), (6, 6, 2, 0), (7, 4, 3, 4)])
def test_both_sides_solve_newtons_equations(rng, side, shape):
    """Against one dense matrix with every unknown in it."""
    m, n, extra, count = shape
    bulk, block, columns = newton(rng, m, n, extra, count)
    size = m + extra + count
    whole = np.zeros((size + n + 2, size + n + 2))
    eye = np.eye(size)
    whole[:size, :size] = np.column_stack([block.times(column) for column in eye])
    y, v, total = slice(size, size + n), size + n, size + n + 1
    whole[:m, y] = bulk.array
    whole[:m, total] = -1.0
    whole[y, :m] = bulk.array.T
    whole[y, y] = -np.diag(1.0 / columns.D)
    whole[y, v] = -columns.E / columns.D
    whole[v, v] = columns.kappa
    whole[v, y] = -columns.E / columns.D
    whole[total, :m] = 1.0
    h, q, s, sigma = rng.normal(size=size), rng.normal(size=n), 0.3, -0.2
    twin = np.linalg.solve(whole, np.concatenate([h, q, [s, sigma]]))
    move = solved(side(bulk, block, columns), Right(h, q, s, sigma))
    found = np.concatenate([move.t, move.y, [move.v, move.total]])
    assert found == pytest.approx(twin, rel=1e-9, abs=1e-10)
    assert move.margins == pytest.approx(bulk.array @ move.y)
    assert move.edges == pytest.approx(bulk.array.T @ move.t[:m])


@pytest.mark.parametrize(
    "f", [rb.relaxations.SpectralRisk([2, 5], [0.4, 0.6]), rb.NormPenalty(np.inf, 2)], ids=repr
)
def test_rows_that_fall_apart_are_solved_as_a_sparse_factor_solves_them(rng, f):
    """Both sides of K, with curvatures far apart as they are near the end."""
    m, n = 30, 8
    form = f.resolve(m).linear_form(m)
    part = Polyhedron(form, np.full(m, 1.0 / m), 0.01)
    part._box.mult = part._box.mult * 10.0 ** rng.uniform(-4, 4, part._box.mult.shape)
    theta, size = part._theta(), form.cost.size
    block, bulk = part.block(), DenseBulk(rng.uniform(-1, 1, (m, n)))
    twin = Rows(theta[:size], sparse.csr_array(form.rows), 1.0 / theta[size:], m)
    assert isinstance(block, Bordered)
    assert not block.written
    h = rng.normal(size=theta.size)
    assert block.times(h) == pytest.approx(twin.times(h))
    assert block.invert(h) == pytest.approx(twin.invert(h), rel=1e-6, abs=1e-9)
    assert np.tril(block.gram(bulk)) == pytest.approx(np.tril(twin.gram(bulk)), rel=1e-6)
    complements = np.zeros((2, m, m))
    for one, out in zip((block, twin), complements, strict=True):
        one.add_to(out)
    reduced = [
        np.linalg.solve(c, b.reduce(h)) for b, c in zip((block, twin), complements, strict=True)
    ]
    assert reduced[0] == pytest.approx(reduced[1], rel=1e-6, abs=1e-9)
    assert block.expand(reduced[0], h) == pytest.approx(twin.invert(h), rel=1e-6, abs=1e-9)


def test_heavy_rows_are_multiplied_in_double_precision(rng):
    """Against the plain product, of weights as far apart as they are near the end."""
    m, n = 900, 150
    A = rng.uniform(-1, 1, (m, n))
    weights = 10.0 ** rng.uniform(-8, 2, m)
    weights[:200] = 10.0 ** rng.uniform(2, 9, 200)
    plain, rounded = np.zeros((2, n, n))
    DenseBulk(A, single=False).cross(weights, plain)
    DenseBulk(A).cross(weights, rounded)
    assert np.tril(plain) == pytest.approx(np.tril((A.T * weights) @ A))
    assert (rounded != plain).any()
    level = np.sort(weights)[-n]
    assert rounded == pytest.approx(plain, rel=0, abs=1e-6 * 100 * level * m)
    # What is rounded changes no direction by more than a refinement mends.
    changed = np.linalg.solve(plain, rounded) - np.eye(n)
    assert np.linalg.norm(changed, 2) < 0.01


@pytest.mark.parametrize("shape", [(400, 160), (150, 500)])
def test_what_is_too_singular_for_single_precision_is_multiplied_again(rng, shape, monkeypatch):
    """Columns (or examples) that are nearly equal, so that rounding decides between them."""
    m, n = shape
    A = rng.uniform(-0.9, 0.9, shape)
    if m > n:
        A[:, n // 2 :] = A[:, : n - n // 2] + 1e-9 * rng.normal(size=(m, n - n // 2))
    else:
        A[m // 2 :] = A[: m - m // 2] + 1e-9 * rng.normal(size=(m - m // 2, n))
    single, bulk = [], "relaxboost.matrices.bulk"
    monkeypatch.setattr(f"{bulk}.by_rows", lambda *a: single.append(a[3]) or by_rows(*a))
    found = rb.solve(rb.Game(A, rb.Capped(20)), 1e-8, "interior-point")
    assert found.status == "optimal"
    assert single[0]
    assert not single[-1]


def test_a_factor_of_single_precision_is_one_of_the_scaled_matrix(rng):
    """The diagonal spans forty orders of magnitude, and so does the right-hand side."""
    n = 150
    scale = 10.0 ** rng.uniform(-20, 20, n)
    R = rng.normal(size=(n, n))
    matrix = (R @ R.T + n * np.eye(n)) * scale * scale[:, None]
    h = scale * rng.normal(size=n)
    rounded, x = factor(np.tril(matrix), True), factor(np.tril(matrix), False).solve(h)
    assert isinstance(rounded, RoundedFactor)
    assert scale * rounded.solve(h) == pytest.approx(scale * x, abs=1e-5 * abs(scale * x).max())
    assert (rounded.solve(h) != x).any()
    assert not rounded.solve(np.zeros(n)).any()
    assert type(factor(np.eye(20), True)) is Factor
    for entry in (0.0, -1.0, np.inf):
        with pytest.raises(np.linalg.LinAlgError):
            factor(np.diag(np.append(np.ones(n), entry)), True)


@pytest.mark.parametrize("shape", [(400, 160), (150, 500)])
def test_sparse_matrices_are_factorised_in_single_precision_while_that_does(
    rng, shape, monkeypatch
):
    A = sparse.random(
        *shape, density=0.05, rng=rng, data_rvs=lambda size: rng.choice([-1, 1], size)
    )
    kinds, own = [], "relaxboost.solvers.interior.normal.factor"
    monkeypatch.setattr(own, lambda *a: kinds.append(a[1]) or factor(*a))
    game = rb.Game(sparse.csc_array(A), rb.Capped(2))
    found = rb.solve(game, 1e-9, "interior-point")
    assert found.status == "optimal"
    assert kinds[0]
    dense = rb.solve(rb.Game(A.toarray(), rb.Capped(2)), 1e-9, "interior-point")
    assert found.lower <= dense.upper
    assert dense.lower <= found.upper


def test_rows_that_already_say_what_d_sums_to_do_not_stop_it():
    rng = np.random.default_rng(3)
    A = np.where(rng.random((600, 400)) < 0.09, 1.0, rng.choice([-1.0, 1.0], (600, 400)))
    game = rb.Game(A, rb.relaxations.SpectralRisk([5, 200], [0.5, 0.5]))
    found = rb.solve(game, 1e-6, "interior-point")
    assert found.status == "optimal"


@pytest.mark.parametrize("kind", ["stumps", "signs"])
def test_mixtures_of_soft_margins_reach_what_doubles_can_tell(kind):
    """Of more columns than examples, whose matrix has no factor near the end, and of few."""
    rng = np.random.default_rng(0)
    if kind == "stumps":
        y = rng.choice([-1.0, 1.0], 300)
        A = rb.matrices.stumps(rng.normal(size=(300, 6)) + 0.2 * y[:, None], y)
        f = rb.relaxations.SpectralRisk([1, 30], [0.2, 0.8])
    else:
        A = np.where(rng.random((600, 60)) < 0.1, 1.0, rng.choice([-1.0, 1.0], (600, 60)))
        f = rb.relaxations.SpectralRisk(np.linspace(1, 600, 8), [1 / 8] * 8)
    found = rb.solve(rb.Game(A, f), 1e-9, "interior-point")
    assert found.status == "optimal"


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


@pytest.mark.parametrize("few", [0, 8, 1000])
@pytest.mark.parametrize("levels", [0, 1, 3])
def test_all_stumps_are_multiplied_without_being_written_down(monkeypatch, rng, levels, few):
    module = sys.modules["relaxboost.matrices.stumps"]  # the name is also that of a function
    monkeypatch.setattr(module, "_FEW_CUTS", few)
    monkeypatch.setattr("relaxboost.matrices.bulk._ROWS", 7)
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


class Ready(run.Rival):
    """A rival that takes over after a millionth of the work."""

    def __init__(self, *args):
        super().__init__(*args)
        self._left /= 1e6
        self._more /= 1e6


def test_auto_changes_its_mind_where_many_columns_carry_the_optimum(monkeypatch):
    signs = np.sign(margins(400, 150))
    monkeypatch.setattr("relaxboost.solvers.combined.Rival", Ready)
    found = rb.solve(rb.Game(signs, rb.Capped(133)), 1e-7)
    assert inners(found) == ["smoothed", "balance", "interior"]
    assert found.status == "optimal"
    plain = rb.solve(rb.Game(signs, rb.Capped(133)), 1e-7, Combined(interior=False))
    assert inners(plain) == ["smoothed", "lp"]
    assert rb.compare(found, plain)


def test_a_program_of_many_pivots_is_left_for_the_interior_point(monkeypatch):
    monkeypatch.setattr(run.Rival, "left", 1e-9)
    game = rb.Game(margins(60, 40), rb.Capped(10))
    found = rb.solve(game, 1e-7)
    assert inners(found) == ["smoothed", "balance", "interior"]
    assert found.status == "optimal"


def test_a_sum_has_a_rival_too(monkeypatch):
    """Its margins come from a program, so that no steps are taken first."""
    monkeypatch.setattr("relaxboost.solvers.totally_corrective.Rival", Ready)
    game = rb.Game(margins(60, 40), rb.Capped(10) + rb.NormPenalty(np.inf, 0.5))
    found = rb.solve(game, 1e-7)
    assert inners(found) == ["lp", "interior"]
    assert rb.compare(found, rb.reference(game))


@pytest.mark.parametrize("fails", [1, 2, 4])
def test_what_the_interior_point_cannot_finish_goes_back_to_the_program(monkeypatch, fails):
    steps = []

    def step(self, least):
        steps.append(1)
        if len(steps) >= fails:
            raise np.linalg.LinAlgError("singular")
        return own(self, least)

    own = Iterate.step
    monkeypatch.setattr(Iterate, "step", step)
    monkeypatch.setattr("relaxboost.solvers.combined.Rival", Ready)
    game = rb.Game(margins(60, 40), rb.Capped(10))
    found = rb.solve(game, 1e-7)
    tried = ["interior"] if fails > 1 else []
    assert inners(found) == ["smoothed", "balance", *tried, "lp"]
    assert found.status == "optimal"
    steps.clear()
    alone = rb.solve(game, 1e-7, "interior-point")
    assert alone.status == "stalled"
    assert alone.lower <= found.upper
    assert alone.upper >= found.lower


def test_what_waits_keeps_its_basis_and_no_columns():
    """The program, made again from its basis, ends at the same optimum."""
    game = rb.Game(margins(60, 40), rb.Capped(10))
    program = LinearRun(game, Clock(None), active_set(game))
    assert program._made is None
    for _ in range(8):
        program.advance(game.matrix.best(program.d))
    known, columns = program.basis(), program.active.columns[:, :8].copy()
    assert program.rested() is program
    assert program._made is program.active._H is None
    assert np.array_equal(program.active.columns[:, :8], columns)
    program.advance(game.matrix.best(program.d))
    assert set(known.columns) < set(program._keys)
    while program.advance(game.matrix.best(program.d)):
        pass
    truth = rb.solve(game, 1e-9).upper
    assert game.matrix.best(program.d).edge == pytest.approx(truth, abs=1e-9)


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
            "needs other cones than half lines",
        ),
        (rb.Game(margins(5, 4), over=rb.L2Ball(1)), "over L2Ball"),
        (
            rb.Game(
                rb.matrices.oracle(lambda X, y, d: np.sign, margins(3, 1), [1, -1, 1], slack=0)
            ),
            "needs every column",
        ),
    ],
    ids=["matrices", "euclidean", "oracle"],
)
def test_what_it_is_not_for_is_refused(game, said):
    with pytest.raises(rb.InputError, match=said):
        rb.solve(game, 1e-3, InteriorPoint())


def test_what_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(run, "LARGEST", 3)
    with_rows = rb.relaxations.SpectralRisk([2, 4], [0.5, 0.5])
    with pytest.raises(rb.InputError, match="matrix of order 30 here, and 3 is the largest"):
        rb.solve(rb.Game(noisy_stumps(30, 2), with_rows), 1e-3, InteriorPoint())
    monkeypatch.setattr(run, "LARGEST", 100)
    monkeypatch.setattr(run, "MOST_ENTRIES", 19)
    with pytest.raises(rb.InputError, match="writes columns down"):
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


def test_a_program_that_cannot_end_in_its_time_is_not_begun(cancer_stumps, monkeypatch):
    """Of a million examples it took 20 GB before it was given up."""
    game = rb.Game(cancer_stumps, rb.Capped(57))
    assert rb.solve(game, 1e-6).history[-1].inner == "lp"
    monkeypatch.setattr(combined, "PIVOT", 1.0)
    found = rb.solve(game, 1e-6)
    assert {record.inner for record in found.history} == {"smoothed", "interior"}
    assert found.status == "optimal"
