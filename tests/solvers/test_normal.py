"""Newton's equations of the interior point method, and the factors of their matrices."""

import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost.matrices.bulk import DenseBulk, by_rows
from relaxboost.solvers import InteriorPoint
from relaxboost.solvers.interior_point.block import Diagonal, Rows
from relaxboost.solvers.interior_point.bordered import Bordered
from relaxboost.solvers.interior_point.factor import Factor, RoundedFactor, factor
from relaxboost.solvers.interior_point.normal import ByColumns, ByExamples, ColumnScaling, Right
from relaxboost.solvers.interior_point.polyhedron import Polyhedron


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
    kinds, own = [], "relaxboost.solvers.interior_point.normal.factor"
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


@pytest.mark.parametrize("shape", [(300, 60), (60, 300)])
def test_small_sparse_matrices_are_refined_in_doubles(shape):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        signs = np.where(rng.random(shape) < 0.05, rng.choice([-1.0, 1.0], shape), 0.0)
        A = sparse.csc_array(signs)
        found = rb.solve(rb.Game(A, rb.Capped(k=3)), 1e-9, InteriorPoint(), max_rounds=60)
        assert found.status == "optimal"
