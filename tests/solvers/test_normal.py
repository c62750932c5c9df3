"""Newton's equations of the interior point method, and the factors of their matrices."""

import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers import InteriorPoint
from relaxboost.solvers.interior_point.block import Diagonal
from relaxboost.solvers.interior_point.bordered import Bordered, Layout
from relaxboost.solvers.interior_point.factor import Factor
from relaxboost.solvers.interior_point.normal import ByColumns, ByExamples, ColumnScaling, Right
from relaxboost.solvers.interior_point.polyhedron import Polyhedron


def newton(rng, m, n, extra, count):
    """Return (bulk, block, columns) of random Newton equations, with `extra` z and some rows."""
    theta = rng.uniform(0.1, 10.0, m + extra)
    if count:
        rows = sparse.csr_array(rng.uniform(-1, 1, (count, m + extra)))
        block = written(theta, rows, rng.uniform(0.1, 1.0, count), m)
    else:
        block = Diagonal(theta, m)
    plus, minus = rng.uniform(0.1, 10.0, (2, n))
    D = plus + minus
    columns = ColumnScaling(D, plus - minus, float((4 * plus * minus / D).sum()), float(D.sum()))
    return DenseBulk(rng.uniform(-1, 1, (m, n))), block, columns


def written(theta, rows, inverse, m):
    """Return K = [Θ, Rᵀ; R, −Θ_y⁻¹] without a border."""
    K = sparse.block_array([[sparse.diags_array(theta), rows.T], [rows, None]]).tocsr()
    K = K - sparse.diags_array(np.append(np.zeros(theta.size), inverse))
    return Bordered(Layout(sparse.csr_array(np.ones(K.shape)), m), K, lambda t: K @ t)


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
    theta, size = part._curvature(), form.cost.size
    block, bulk = part.block(), DenseBulk(rng.uniform(-1, 1, (m, n)))
    twin = written(theta[:size], sparse.csr_array(form.rows), 1.0 / theta[size:], m)
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


@pytest.mark.parametrize("shape", [(400, 160), (150, 500)])
def test_columns_and_examples_that_are_nearly_equal_do_not_stop_it(rng, shape):
    """Rounding decides between them, so the matrix has a factor only with a larger diagonal."""
    m, n = shape
    A = rng.uniform(-0.9, 0.9, shape)
    if m > n:
        A[:, n // 2 :] = A[:, : n - n // 2] + 1e-9 * rng.normal(size=(m, n - n // 2))
    else:
        A[m // 2 :] = A[: m - m // 2] + 1e-9 * rng.normal(size=(m - m // 2, n))
    found = rb.solve(rb.Game(A, rb.Capped(20)), 1e-8, "interior-point")
    assert found.status == "optimal"


def test_a_factor_does_not_depend_on_the_scales_of_the_unknowns(rng):
    """The diagonal spans forty orders of magnitude, and so does the right-hand side."""
    n = 150
    scale = 10.0 ** rng.uniform(-20, 20, n)
    R = rng.normal(size=(n, n))
    well_scaled = R @ R.T + n * np.eye(n)
    x = rng.normal(size=n)
    h = scale * (well_scaled @ x)
    gram = np.tril(well_scaled * scale * scale[:, None])
    assert scale * Factor(gram).solve(h) == pytest.approx(x, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("entry", [0.0, -1.0])
def test_a_matrix_that_is_not_positive_definite_has_no_factor(entry):
    with pytest.raises(np.linalg.LinAlgError):
        Factor(np.diag(np.append(np.ones(5), entry)))


def test_a_singular_matrix_is_factorised_with_a_larger_diagonal(rng):
    """If terms cancelled, roundings are proportional to what they were before."""
    R = rng.normal(size=(20, 5))
    gram = R @ R.T
    x = R @ rng.normal(size=5)
    solution = Factor(gram.copy()).solve(gram @ x)
    assert gram @ solution == pytest.approx(gram @ x, rel=1e-4, abs=1e-4)
    cancelled = np.diag([1.0, -1e-9])
    with pytest.raises(np.linalg.LinAlgError):
        Factor(cancelled.copy())
    assert np.isfinite(Factor(cancelled, np.array([1.0, 1e3])).solve(np.ones(2))).all()


@pytest.mark.parametrize("shape", [(400, 160), (150, 500)])
def test_a_sparse_matrix_has_the_brackets_of_the_same_matrix_written_down(rng, shape):
    A = sparse.random(
        *shape, density=0.05, rng=rng, data_rvs=lambda size: rng.choice([-1, 1], size)
    )
    found = rb.solve(rb.Game(sparse.csc_array(A), rb.Capped(2)), 1e-9, "interior-point")
    dense = rb.solve(rb.Game(A.toarray(), rb.Capped(2)), 1e-9, "interior-point")
    assert found.status == dense.status == "optimal"
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


@pytest.mark.parametrize("shape", [(300, 60), (60, 300)])
def test_small_sparse_matrices_are_refined_in_doubles(shape):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        signs = np.where(rng.random(shape) < 0.05, rng.choice([-1.0, 1.0], shape), 0.0)
        A = sparse.csc_array(signs)
        found = rb.solve(rb.Game(A, rb.Capped(k=3)), 1e-9, InteriorPoint(), max_rounds=60)
        assert found.status == "optimal"
