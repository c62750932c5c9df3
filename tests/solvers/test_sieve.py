"""Columns that enter the play of the interior point method; passes over the examples."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost.matrices import kernels
from relaxboost.solvers.interior_point import additive, elimination, iterate, run
from relaxboost.solvers.interior_point.block import Diagonal
from relaxboost.solvers.interior_point.normal import ByColumns, ByPasses, ColumnScaling, Right
from relaxboost.solvers.interior_point.sieve import Sieve
from tests.solvers.test_interior import margins, noisy_stumps
from tests.solvers.test_normal import solved


def into(sizes):
    """Return a callback that notes how many columns are in use, from the second round on."""

    def note(state):
        if state.round > 1:
            sizes.append(state.active.w.size)

    return note


@pytest.mark.parametrize("over", [rb.L1Ball(1), rb.L1Ball(3), rb.FullSimplex(3)], ids=repr)
@pytest.mark.parametrize("f", [rb.HardMargin(), rb.Capped(40), rb.CVaR(0.5)], ids=repr)
def test_columns_that_enter_as_they_are_asked_for_are_enough(over, f):
    """Against the same game written down, where every column is in use from the start."""
    matrix = noisy_stumps(400, 4)
    found = rb.solve(rb.Game(matrix, f, over=over), 1e-8, "interior-point")
    truth = rb.solve(rb.Game(matrix.toarray(), f, over=over), 1e-8, "interior-point")
    assert found.status == truth.status == "optimal"
    assert abs(found.lower - truth.lower) <= 3e-8
    assert found.rounds < 120


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_of_a_matrix_too_large_to_be_written_down_some_columns_are(monkeypatch, storage):
    A = margins(300, 150)
    truth = rb.solve(rb.Game(A, rb.Capped(40)), 1e-8, "interior-point")
    monkeypatch.setattr(run, "MAX_STORED_ENTRIES", 40_000)
    monkeypatch.setattr(run, "SMALL_ORDER", 100)
    game, sizes = rb.Game(storage(A), rb.Capped(40)), []

    def written(self):
        raise MemoryError("all of A")

    monkeypatch.setattr(type(game.matrix), "bulk", written)
    found = rb.solve(game, 1e-8, "interior-point", callback=into(sizes))
    assert found.status == "optimal"
    assert abs(found.lower - truth.lower) <= 3e-8
    assert 8 <= min(sizes) < max(sizes) <= 133


def test_few_columns_are_in_use():
    game, sizes = rb.Game(noisy_stumps(1500, 5), rb.Capped(150)), []
    found = rb.solve(game, 1e-6, "interior-point", callback=into(sizes))
    assert found.status == "optimal"
    assert max(sizes) < game.n / 3


@pytest.mark.parametrize("features", [2, 3])
def test_columns_that_enter_late_do_not_upset_the_iterates(features):
    game = rb.Game(noisy_stumps(1500, features, seed=3), rb.Capped(150))
    found = rb.solve(game, 1e-8, "interior-point")
    assert found.status == "optimal"
    assert found.rounds < 100


@pytest.mark.parametrize("over", [rb.L1Ball(3), rb.FullSimplex()], ids=repr)
def test_no_column_ever_costs_more_than_v(monkeypatch, over):
    """No column at all: a step ends where a column out of play would have an edge above v."""
    beyond, step = [], iterate.Iterate.step

    def watched(self, others):
        length = step(self, others)
        beyond.append(others.price(self.d) - self.v)
        return length

    monkeypatch.setattr(iterate.Iterate, "step", watched)
    game = rb.Game(noisy_stumps(600, 4), rb.Capped(60), over=over)
    assert rb.solve(game, 1e-6, "interior-point").status == "optimal"
    assert len(beyond) > 5
    assert max(beyond) <= 1e-15


@pytest.mark.parametrize("storage", ["stumps", "dense", "sparse"])
def test_parts_of_the_matrices_are_those_of_the_whole(storage):
    matrix = noisy_stumps(80, 3)
    A = matrix.toarray()
    bulk = {"stumps": matrix, "dense": A, "sparse": sparse.csc_array(A)}[storage]
    bulk = bulk.bulk() if storage == "stumps" else rb.Game(bulk, rb.HardMargin()).matrix.bulk()
    columns = np.array([0, 3, 4, 100, bulk.n - 1])
    rows = np.array([3, 70, 4])
    assert np.array_equal(bulk.part(rows, columns), A[np.ix_(rows, columns)])


def test_reach_against_a_slow_twin(rng):
    for both in (True, False):
        for _ in range(50):
            edges, change = rng.uniform(-1, 1, 30), rng.normal(size=30)
            level, rise = rng.uniform(1.0, 2.0), rng.normal()
            spare, pace = level - edges, change - rise
            if both:
                spare, pace = np.append(spare, level + edges), np.append(pace, -change - rise)
            slow = min([1.0, *(spare[pace > 0] / pace[pace > 0])])
            assert np.isclose(kernels.reach(edges, change, level, rise, both), slow, rtol=1e-12)
    assert kernels.reach(np.array([2.0]), np.array([1.0]), 1.0, 0.0, False) == 0.0


@pytest.mark.parametrize(("kind", "over"), [("normal", rb.L1Ball()), ("ties", rb.FullSimplex())])
def test_passes_over_the_examples_solve_newtons_equations_of_cuts(rng, kind, over):
    """Against the dense matrix, with curvatures over six orders and features that coincide."""
    X = rng.normal(size=(300, 4))
    X[:, 3] = X[:, 2] if kind == "ties" else X[:, 3]
    X = X.round(1 if kind == "ties" else 9)
    bulk = rb.matrices.stumps(X, np.sign(rng.normal(size=300)), max_cuts=50).bulk()
    n, ratio = bulk.n, 10.0 ** rng.uniform(-3, 3, (1 + over.two_sided, bulk.n))
    D, E = ratio.sum(axis=0), ratio[0] - (ratio[1] if over.two_sided else 0.0)
    kappa = float((4 * ratio[0] * ratio[-1] / D).sum()) if over.two_sided else 0.5
    scaling = ColumnScaling(D, E, kappa, float(D.sum()))
    given = bulk, Diagonal(10.0 ** rng.uniform(-2, 2, 300), 300), scaling
    right = Right(rng.normal(size=300), rng.normal(size=n), 1.0, 0.3)
    passes = ByPasses(*given)
    for found, truth in zip(solved(passes, right), solved(ByColumns(*given), right), strict=True):
        np.testing.assert_allclose(found, truth, atol=1e-5 * np.abs(truth).max())
    assert 0 < passes.iterations < 200


def test_a_product_is_that_of_two_passes(rng):
    m = 3000
    X, y, inverse = rng.random((m, 2)), rng.choice([-1.0, 1.0], m), rng.random(m)
    bulk = rb.matrices.stumps(X, y, max_cuts=5).bulk()
    w = rng.normal(size=bulk.n + 1)
    inner = inverse * (bulk.margins(w[:-1]) - w[-1])
    slow = np.append(bulk.edges(inner), -inner.sum())
    np.testing.assert_allclose(additive._product(*bulk.levels, inverse, w), slow, rtol=1e-9)


@pytest.mark.parametrize("over", [rb.Simplex(), rb.FullSimplex()], ids=repr)
@pytest.mark.parametrize("m", [1000, 3000])
def test_passes_alone_reach_a_small_gap_over_the_simplices(monkeypatch, over, m):
    """A tolerance of 1e-5 in the conjugate gradients leaves gaps of 6e-5 and 1e-6 here."""
    monkeypatch.setattr(elimination, "MIN_PASSES_ORDER", 0)
    monkeypatch.setattr(elimination, "MAX_FACTOR_ORDER", 0)
    game = rb.Game(noisy_stumps(m, 4), rb.Capped(m / 10), over=over)
    assert rb.solve(game, 1e-6, "interior-point", time_limit=60).status == "optimal"


@pytest.mark.parametrize("over", [rb.L1Ball(), rb.Simplex(), rb.FullSimplex()])
def test_a_run_by_passes_alone_ends_at_the_same_optimum(monkeypatch, over):
    game = rb.Game(noisy_stumps(1000, 4), rb.Capped(100), over=over)
    truth, passes = rb.solve(game, 1e-4, "interior-point"), []
    monkeypatch.setattr(elimination, "MIN_PASSES_ORDER", 0)
    monkeypatch.setattr(elimination, "MAX_FACTOR_ORDER", 0)
    monkeypatch.setattr(
        elimination, "ByPasses", lambda *given: passes.append(0) or ByPasses(*given)
    )
    found = rb.solve(game, 1e-4, "interior-point")
    assert found.status == truth.status == "optimal"
    assert len(passes) >= found.rounds - 1
    assert found.lower <= truth.upper
    assert found.upper >= truth.lower


def test_passes_that_do_not_converge_give_way_to_a_matrix(monkeypatch):
    passes = []
    monkeypatch.setattr(additive, "MAX_CG_ITERATIONS", 3)
    monkeypatch.setattr(elimination, "MAX_CG_ITERATIONS", 3)
    monkeypatch.setattr(elimination, "MIN_PASSES_ORDER", 0)
    monkeypatch.setattr(
        elimination, "ByPasses", lambda *given: passes.append(0) or ByPasses(*given)
    )
    found = rb.solve(rb.Game(noisy_stumps(1000, 4), rb.Capped(100)), 1e-4, "interior-point")
    assert found.status == "optimal"
    assert len(passes) == 1


def room(monkeypatch, count):
    """Let so many columns be in use, and matrices of that order be factorised."""
    monkeypatch.setattr(run, "MAX_FACTOR_ORDER", count)
    monkeypatch.setattr(elimination, "MAX_FACTOR_ORDER", count)
    monkeypatch.setattr(run, "_max_restricted", lambda game: count)


def test_a_sieve_that_is_full_lets_the_best_columns_in(monkeypatch):
    """The bracket holds, of the whole game, and the run goes back to where it came from."""
    room(monkeypatch, 60)
    game = rb.Game(noisy_stumps(400, 4), rb.Capped(40))
    sizes = []
    found = rb.solve(game, 1e-6, "interior-point", callback=into(sizes))
    assert found.status == "stalled"
    assert 32 < max(sizes) <= 60
    monkeypatch.undo()
    truth = rb.solve(game, 1e-7)
    assert found.lower <= truth.upper
    assert found.upper >= truth.lower
    room(monkeypatch, 60)
    assert rb.solve(game, 1e-6).status == "optimal"


def test_few_examples_may_have_more_columns_in_use_than_are_factorised(monkeypatch):
    """Four cuts of each feature to start with are more, and others enter."""
    monkeypatch.setattr(run, "MAX_FACTOR_ORDER", 5000)
    monkeypatch.setattr(elimination, "MAX_FACTOR_ORDER", 5000)
    game, sizes = rb.Game(noisy_stumps(60, 2000), rb.Capped(10)), []
    found = rb.solve(game, 1e-6, "interior-point", callback=into(sizes))
    assert found.status == "optimal"
    assert max(sizes) > 4 * 2000 > run.MAX_FACTOR_ORDER


def test_a_sieve_that_would_be_full_at_the_start_leaves_room(monkeypatch):
    room(monkeypatch, 40)
    game, sizes = rb.Game(noisy_stumps(200, 12), rb.Capped(180)), []
    found = rb.solve(game, 1e-6, "interior-point", callback=into(sizes))
    assert found.status == "optimal"
    first = Sieve(game.matrix.pricing(), game.over, 40)
    assert 20 == first.columns.size < sizes[0] <= max(sizes) <= 40 < 8 * 12


def test_peaks_against_a_slow_twin(rng):
    for _ in range(50):
        edges = rng.normal(size=40).round(1)
        columns = np.flatnonzero(rng.random(40) < 0.2)
        bounds = [-1, *columns.tolist(), 40]
        slow = set()
        for a, b in pairwise(bounds):
            inside = np.arange(a + 1, b)
            for sign in (1, -1):
                if inside.size and (sign * edges[inside]).max() > 0.5:
                    slow.add(int(inside[(sign * edges[inside]).argmax()]))
        found = kernels.peaks(edges, columns, 0.5, True)
        assert found.tolist() == sorted(slow)
        only = kernels.peaks(edges, columns, 0.5, False)
        assert set(only.tolist()) == {j for j in slow if edges[j] > 0.5}
