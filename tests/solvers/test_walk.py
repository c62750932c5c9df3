"""The parametric simplex method, compared with optima that other methods found."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.loop import Clock, TimeUp, until
from relaxboost.solvers.parametric_simplex import kernels
from relaxboost.solvers.parametric_simplex.program import GameProgram, Lost
from relaxboost.solvers.parametric_simplex.simplex import ParametricSimplex
from relaxboost.solvers.work import passes_of

PACKAGE = "relaxboost.solvers.parametric_simplex"


def gap(game, d, w):
    lower, upper = game.bracket(np.maximum(d, 0.0), w)
    return upper - lower


def walked(game, near, budget=1e6):
    return ParametricSimplex(game, near, budget).solve(game, Clock(None), budget)


def walk(first, game, budget=1e6):
    return walked(game, rb.solve(first, 1e-9, "interior-point"), budget)


def signs(rng, m, n, part=0.1):
    return np.where(rng.random((m, n)) < part, 1.0, rng.choice([-1.0, 1.0], (m, n)))


def test_two_by_two_by_hand():
    """Columns (1, -1/2) and (-1/2, 1): equal d, v = 1/4 at any cap; with (1, 1/2) the cap binds."""
    even = np.array([[1.0, -0.5], [-0.5, 1.0]])
    d, w = walk(rb.Game(even, rb.Capped(1.0)), rb.Game(even, rb.Capped(1.5)))
    assert np.allclose([d, w], 0.5, atol=1e-12)
    A = np.array([[1.0], [0.5]])  # min d1 + d2 / 2 with d2 <= 1 / k
    d, w = walk(rb.Game(A, rb.Capped(1.25)), rb.Game(A, rb.Capped(1.6)))
    assert np.allclose(d, [0.375, 0.625], atol=1e-12)
    assert np.allclose(w, 1.0, atol=1e-12)


@pytest.mark.parametrize("over", [rb.L1Ball(2), rb.Simplex(), rb.FullSimplex()], ids=repr)
def test_a_walk_ends_at_the_optimum(rng, over):
    """Of real entries, up and down the caps, near and far: a gap of rounding."""
    A = np.clip(rng.normal(0.1, 0.4, (60, 25)), -1, 1)
    first = rb.Game(A, rb.Capped(20), over)
    for k in (21, 26, 12, 3.5, 1, 45):
        game = rb.Game(A, rb.Capped(k), over)
        assert gap(game, *walk(first, game)) <= 1e-12
    exact = rb.exact_value(rb.Game(A, rb.Capped(26), over))
    d, w = walk(first, rb.Game(A, rb.Capped(26), over))
    lower, upper = rb.Game(A, rb.Capped(26), over).bracket(d, w)
    assert Fraction(lower) - Fraction(1e-12) <= exact <= Fraction(upper) + Fraction(1e-12)


def test_a_walk_begins_at_any_basis(rng):
    """What the points of another game lack goes to zero on the way."""
    A = np.clip(rng.normal(0.1, 0.4, (60, 25)), -1, 1)
    other = np.clip(A + rng.normal(0.0, 0.05, A.shape), -1, 1)
    game = rb.Game(other, rb.Capped(13))
    assert gap(game, *walk(rb.Game(A, rb.Capped(10)), game)) <= 1e-12
    costly = rb.Game(A, rb.Capped(10))
    loose = rb.solve(costly, 3e-2, "interior-point")
    assert gap(costly, *walked(costly, loose)) <= 1e-12


def test_what_does_not_fit_is_lost(rng, monkeypatch):
    A = signs(rng, 60, 20)
    first = rb.Game(A, rb.Capped(20))
    stumps = rb.matrices.stumps(rng.normal(size=(60, 2)), rng.choice([-1.0, 1.0], 60))
    others = [
        rb.Game(A, rb.Capped(20), rb.Simplex()),
        rb.Game(A[:50], rb.Capped(20)),
        rb.Game(A, rb.relaxations.SpectralRisk([3, 20], [0.5, 0.5])),
        rb.Game(A, rb.KLPenalty(0.1)),
        rb.Game(stumps, rb.Capped(20)),
    ]
    near = rb.solve(first, 1e-6, "interior-point")
    for game in others:
        with pytest.raises(Lost):
            walked(game, near)
    with pytest.raises(Lost):
        walk(first, rb.Game(A, rb.Capped(30)), budget=0.0)
    monkeypatch.setattr(f"{PACKAGE}.program.MAX_TABLEAU_ENTRIES", 60 * 20 - 1)
    with pytest.raises(Lost):
        walk(first, first)


def test_a_walk_begins_where_no_vertex_is(rng):
    """At a w of more columns than examples, of twin columns, and from no weights at all."""
    A = signs(rng, 60, 20)
    few = rb.Game(A[:8], rb.Capped(2))
    loose = rb.reference(few, "CLARABEL", tol=1e-2)
    assert loose.support.size > few.m
    assert gap(few, *walked(few, loose)) <= 1e-12
    twins = rb.Game(np.hstack([A, A]), rb.Capped(20))
    end = rb.Game(twins.matrix, rb.Capped(22))
    assert gap(end, *walk(twins, end)) <= 1e-12
    nothing = rb.solve(twins, 10.0)
    assert gap(end, *walked(end, nothing)) <= 1e-12


@pytest.mark.parametrize("over", [rb.L1Ball(2), rb.Simplex(), rb.FullSimplex()], ids=repr)
@pytest.mark.parametrize("kind", ["stumps", "thirds", "none"])
def test_what_is_out_of_play_enters_where_it_is_missed(rng, kind, over, monkeypatch):
    """Only one example and one slack may enter at a time: the optimum is the same."""
    entered, grow = [], ParametricSimplex._grow
    monkeypatch.setattr(
        ParametricSimplex, "_grow", lambda *a: entered.append(grow(*a)) or entered[-1]
    )
    worst = ParametricSimplex._worst
    monkeypatch.setattr(ParametricSimplex, "_worst", lambda *a: worst(*a)[:1])
    first = rb.Game(tied(kind, rng), rb.Capped(fraction=0.3), over)
    simplex = ParametricSimplex(first, rb.solve(first, 1e-6, "interior-point"), 1e6)
    for part in (0.28, 0.33, 0.2):
        game = rb.Game(first.matrix, rb.Capped(fraction=part), over)
        assert gap(game, *simplex.solve(game, Clock(None), 1e6)) <= 1e-11
    assert sum(entered) > 3


@pytest.mark.parametrize("over", [rb.L1Ball(2), rb.FullSimplex()], ids=repr)
def test_a_tableau_satisfies_the_equations_of_the_game(rng, over):
    """After rows and columns entered and left: s = v − Bᵀd and Σd for random nonbasic values."""
    A = np.clip(rng.normal(0.1, 0.4, (60, 25)), -1, 1)
    first = rb.Game(A, rb.Capped(20), over)
    simplex = ParametricSimplex(first, rb.solve(first, 1e-6, "interior-point"), 1e6)
    for k in (3, 45, 12):
        simplex.solve(rb.Game(first.matrix, rb.Capped(k), over), Clock(None), 1e6)
    state, T = simplex._state, simplex._tableau.apply()
    x = np.zeros(state.x.shape[1])
    x[state.nonbasic] = rng.normal(size=state.nonbasic.size)
    x[state.basic] = T @ x[state.nonbasic]
    signed = np.hstack([A, -A]) if over.two_sided else A
    implied = np.concatenate([x[:61], x[60] - x[:60] @ signed, [x[:60].sum()]])
    inside = np.concatenate([state.basic, state.nonbasic])
    assert np.abs(implied - x)[inside].max() <= 1e-10


def test_an_optimum_far_from_any_vertex_is_lost(monkeypatch):
    """Where pivots for all the examples between bounds cost more than an interior point method."""
    near = rb.solve(rb.Game(np.vstack([np.eye(30), -np.eye(30)]), rb.Capped(10)), 1e-6)
    # The 60 examples between bounds take 60 pivots on a tableau of 60 x 60 entries.
    passes = 3.0 * passes_of(near.game, 60.0**3)
    monkeypatch.setattr(f"{PACKAGE}.program.predict_passes", lambda game: 1.01 * passes)
    ParametricSimplex(near.game, near, 1e6)
    monkeypatch.setattr(f"{PACKAGE}.program.predict_passes", lambda game: 0.99 * passes)
    with pytest.raises(Lost):
        ParametricSimplex(near.game, near, 1e6)


def test_time_may_be_up_before_a_walk_begins(rng):
    first = rb.Game(signs(rng, 60, 30), rb.Capped(20))
    near = rb.solve(first, 1e-6, "interior-point")
    with until(0.0), pytest.raises(TimeUp):
        ParametricSimplex(first, near, 1e6)


def exchanged(T, r, q):
    """Return T once x_r and x_q have changed sides, solved for by hand."""
    new = T - np.outer(T[:, q], T[r]) / T[r, q]
    new[r], new[:, q] = -T[r] / T[r, q], T[:, q] / T[r, q]
    new[r, q] = 1.0 / T[r, q]
    return new


@pytest.mark.parametrize("passes", [1, 4, 7, 9])
def test_no_pass_over_the_matrix_begins_once_time_is_up(rng, monkeypatch, passes):
    """Of all stumps, where a pass is what takes time: here a second each, and nothing else any."""
    labels = rng.choice([-1.0, 1.0], 60)
    stumps = rb.matrices.stumps(rng.normal(size=(60, 3)) + 0.5 * labels[:, None], labels)
    first, game = (rb.Game(stumps, rb.Capped(k)) for k in (20, 12))
    near = rb.solve(first, 1e-6, "interior-point")
    now, bulk = [0.0], type(stumps.bulk())

    def slow(own):
        def taken(*args):
            now[0] += 1.0
            return own(*args)

        return taken

    monkeypatch.setattr("relaxboost._core.loop.time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(bulk, "edges", slow(bulk.edges))
    monkeypatch.setattr(bulk, "margins", slow(bulk.margins))
    with until(passes - 0.5), pytest.raises(TimeUp):
        ParametricSimplex(first, near, 1e6).solve(game, Clock(None), 1e6)
    assert now[0] == passes


def test_passes_over_the_matrix_count_towards_the_budget(rng, monkeypatch):
    """If pivots are free, the walk succeeds exactly if the budget covers its products with A."""
    monkeypatch.setattr(GameProgram, "spend_pivots", lambda *a: None)
    products = []
    for name in ("edges", "margins"):
        own = getattr(GameProgram, name)
        monkeypatch.setattr(GameProgram, name, lambda *a, own=own: products.append(1) or own(*a))
    A = signs(rng, 60, 20)
    game = rb.Game(A, rb.Capped(10))
    near = rb.solve(rb.Game(A, rb.Capped(20)), 1e-9, "interior-point")
    simplex = ParametricSimplex(game, near, 1e6)
    products.clear()
    simplex.solve(game, Clock(None), 1e6)
    passes = len(products)
    assert passes >= 3
    for budget, enough in ((passes, True), (passes - 1, False)):
        simplex = ParametricSimplex(game, near, 1e6)
        if enough:
            simplex.solve(game, Clock(None), budget)
        else:
            with pytest.raises(Lost):
                simplex.solve(game, Clock(None), budget)


def test_pivots_of_all_runs_count_towards_the_budget(rng, monkeypatch):
    """Many short runs from t = 1 to 0 cost as much as all their pivots together."""
    monkeypatch.setattr(f"{PACKAGE}.simplex.UPDATES_PER_BLOCK", 1)
    monkeypatch.setattr(GameProgram, "spend", lambda *a: None)
    spent = []
    monkeypatch.setattr(
        GameProgram, "spend_pivots", lambda self, count, size: spent.append(count * size)
    )
    first = rb.Game(tied("none", rng), rb.Capped(fraction=0.3))
    game, near = rb.Game(first.matrix, rb.Capped(fraction=0.2)), rb.solve(first, 1e-9)
    simplex = ParametricSimplex(game, near, 1e6)
    spent.clear()
    simplex.solve(game, Clock(None), 1e6)
    whole = passes_of(game, sum(spent))
    assert max(spent) < 0.5 * sum(spent)
    monkeypatch.undo()
    monkeypatch.setattr(f"{PACKAGE}.simplex.UPDATES_PER_BLOCK", 1)
    for name in ("edges", "margins"):
        own = getattr(GameProgram, name)

        def free(self, vector, own=own):
            self.budget += 1.0
            return own(self, vector)

        monkeypatch.setattr(GameProgram, name, free)
    with pytest.raises(Lost):
        ParametricSimplex(game, near, 1e6).solve(game, Clock(None), 0.99 * whole)
    ParametricSimplex(game, near, 1e6).solve(game, Clock(None), 1.01 * whole)


def test_a_tableau_solves_its_equations(rng):
    """Before and after exchanges are applied, by rows, by columns and as a whole."""
    T = rng.normal(size=(12, 17))
    tableau = kernels.Tableau.of(T.copy())
    for _ in range(100):
        r = int(rng.integers(12))
        q = int(np.argmax(np.abs(T[r])))
        row = kernels.row_of(tableau, r)
        column = kernels.column_of(tableau, q)
        kernels.append_update(tableau, r, q, row, column)
        T = exchanged(T, r, q)
        assert np.allclose(kernels.row_of(tableau, 5), T[5], atol=1e-8)
        assert np.allclose(kernels.column_of(tableau, 5), T[:, 5], atol=1e-8)
        if tableau.pending[0] == len(tableau.left):
            tableau.apply()
    assert np.allclose(tableau.apply(), T, atol=1e-8)


def tied(kind, rng):
    """Return a matrix many of whose vertices coincide."""
    if kind == "stumps":
        X = np.round(rng.normal(size=(200, 4)), 1)
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0.0, 1.0, -1.0)
        return rb.matrices.stumps(X, y)
    if kind == "integers":
        X = np.round(rng.normal(size=(300, 8)))
        y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=300) > 0.0, 1.0, -1.0)
        return rb.matrices.stumps(X, y)
    if kind == "thirds":
        return rng.choice([-1.0, 0.0, 1.0], (150, 60), p=[0.3, 0.3, 0.4])
    A = signs(rng, 120, 50)
    return {
        "rows": np.vstack([A, A[:40], A[:40]]),
        "columns": np.hstack([A, A[:, :30], -A[:, :10]]),
        "none": np.vstack([A, -A]),
        "identity": np.eye(40),
    }[kind]


KINDS = ["stumps", "integers", "thirds", "rows", "columns", "none", "identity"]


@pytest.mark.parametrize("kind", KINDS)
def test_one_walk_goes_all_the_way(rng, kind):
    """To k = 1 and k = m from between, among ties, twins and games of value 0."""
    first = rb.Game(tied(kind, rng), rb.Capped(fraction=0.4))
    m = first.m
    near = rb.solve(first, 1e-6, "interior-point")
    for way in ([0.36, 0.3, 0.2, 0.05, 1 / m], [0.5, 0.8, 1.0, 0.1]):
        simplex = ParametricSimplex(first, near, 1e6)
        for part in way:
            game = rb.Game(first.matrix, rb.Capped(part * m))
            lower, upper = game.bracket(*simplex.solve(game, Clock(None), 1e6))
            assert upper - lower <= 1e-11
            alone = rb.solve(game, 1e-7)
            assert max(lower, alone.lower) <= min(upper, alone.upper) + 1e-12


@pytest.mark.parametrize("kind", ["plain", "columns", "rows", "none", "ties"])
def test_every_point_of_a_path_has_its_own_bracket(rng, kind):
    """Also of twins, of ties, of games whose value is 0, at k = 1 and k = m."""
    A = signs(rng, 120, 50)
    A = {
        "plain": A,
        "columns": np.hstack([A, A[:, :30], -A[:, :10]]),
        "rows": np.vstack([A, A[:40]]),
        "none": np.vstack([A, -A]),
        "ties": np.repeat(np.round(2.0 * rng.random((60, 50)) - 0.9), 2, axis=0),
    }[kind]
    m = len(A)
    grid = [1, 0.3 * m, 0.33 * m, 0.36 * m, 0.4 * m, m]
    truth = [rb.reference(rb.Game(A, rb.Capped(k))) for k in grid]
    for method in ("auto", "interior-point"):
        found = rb.path(rb.Game(A, rb.Capped(1)), 1e-6, method, k=grid)
        assert {solution.status for solution in found} == {"optimal"}
        assert all(map(rb.compare, found, truth))


def test_a_dense_path_is_a_walk():
    games = [rb.Game(signs(np.random.default_rng(5), 300, 100), rb.Capped(k)) for k in (60, 66, 73)]
    found = rb.path(games, 1e-6)
    for solution, game in zip(found[1:], games[1:], strict=True):
        assert [record.inner for record in solution.history] == ["start", "walk"]
        assert solution.gap <= 1e-12
        assert rb.compare(solution, rb.solve(game, 1e-6, "interior-point"))


def test_a_path_goes_on_with_one_walk(monkeypatch):
    """Also over stumps, which are written down for it."""
    made, own = [], ParametricSimplex.__init__
    monkeypatch.setattr(ParametricSimplex, "__init__", lambda *a: made.append(1) or own(*a))
    matrix = tied("stumps", np.random.default_rng(20091026))
    ks = np.linspace(40, 80, 6)
    found = rb.path(rb.Game(matrix, rb.Capped(1)), 1e-6, k=ks)
    assert len(made) == 1
    for solution in found[1:-1]:  # the walk to the first takes more than its budget
        assert solution.gap <= 1e-11
        assert [record.inner for record in solution.history] == ["start", "walk"]
        assert rb.compare(solution, rb.solve(solution.game, 1e-6))


@pytest.mark.parametrize("fault", ["lost", "wrong"])
def test_a_path_goes_on_without_a_walk(monkeypatch, fault):
    """What is lost, or ends elsewhere, is solved as without it, and the history says so."""

    def solve(self, game, clock, budget):
        if fault == "lost":
            raise Lost
        return np.full(game.m, 1.0 / game.m), np.eye(game.n)[0]

    monkeypatch.setattr(ParametricSimplex, "solve", solve)
    A = signs(np.random.default_rng(5), 300, 100)
    game = rb.Game(A, rb.Capped(1))
    for solution in rb.path(game, 1e-6, k=[60, 66])[:1]:
        inner = [record.inner for record in solution.history]
        kinds = list(dict.fromkeys(inner))
        assert kinds == ["start", *(["walk"] if fault == "wrong" else []), "balance", "interior"]
        assert solution.status == "optimal"
        assert rb.compare(solution, rb.solve(solution.game, 1e-6))
