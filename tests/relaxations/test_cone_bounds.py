"""Bounds by cone programs: near what solvers find, also where rows are long and costs are huge."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost.relaxations import cone_multipliers, numerical
from relaxboost.relaxations.cone_bounds import ConeBounds, ConeProof
from relaxboost.relaxations.cone_form import cone_form
from relaxboost.relaxations.cone_multipliers import implied_rows, least_singular_value
from relaxboost.relaxations.cone_solver import solve_problem


def along_a_graph(m, radius):
    """What may be moved from the uniform distribution, each example having five neighbours."""
    places = np.random.default_rng(1).normal(size=(m, 2))
    away = np.sqrt(np.square(places[:, None] - places[None]).sum(axis=2))
    near = np.argsort(away, axis=1)[:, 1:6]
    start, end, arcs = np.repeat(np.arange(m), 5), near.ravel(), np.arange(5 * m)
    ends, signs = np.concatenate([end, start]), np.repeat([1.0, -1.0], 5 * m)
    moves = sparse.csr_array((signs, (ends, np.tile(arcs, 2))), (m, 5 * m))

    def penalty(d):
        flow = cp.Variable(5 * m, nonneg=True)
        return 0.0 * cp.sum(d), [
            d == 1.0 / m + moves @ flow,
            away[start, end] @ flow <= radius,
        ]

    return rb.Custom(f=penalty)


@pytest.mark.parametrize("m", [30, 300])
def test_a_row_of_all_auxiliaries_costs_a_bound_nothing(m, rng):
    """A long row couples all multipliers; they have to meet their equations to 1e-12."""
    programs = numerical.programs(along_a_graph(m, 0.05).resolve(m), m)
    cones = ConeBounds(programs.form, m)
    for _ in range(4):
        u = 0.1 * rng.normal(size=m)
        found, value = cones.solve(u), programs.solved_margin(u)[0]
        assert value - 1e-7 * (1.0 + abs(value)) <= found.below <= value + 1e-9
        assert cones.below(u, found.proof) == found.below
        assert cones.below(u + 0.5, found.proof) == pytest.approx(found.below + 0.5, abs=1e-9)


@pytest.mark.parametrize("long", [False, True])
def test_the_shortest_solution(long, rng):
    """Against NumPy's, in both of its ways."""
    dense = np.where(rng.random((60, 200)) < 0.05, rng.normal(size=(60, 200)), 0.0)
    dense[:, :60] += np.eye(60)
    if long:
        dense[:, 150:] = rng.normal(size=(60, 50))
    spread, q = sparse.csc_array(dense), rng.normal(size=60)
    counts = np.diff(spread.indptr)
    assert (counts @ counts > cone_multipliers.LONG_COLUMN_ENTRIES * counts.sum()) == long
    exact = np.linalg.lstsq(dense, q)[0]
    assert np.abs(cone_multipliers.shortest(spread, q) - exact).max() <= 1e-10


@pytest.mark.parametrize("p", [1.5, 2, 3])
@pytest.mark.parametrize("m", [4, 30])
def test_huge_costs_are_solved_as_well_as_small_ones(p, m, rng):
    f = rb.NormPenalty(p, 1e8).scaled(0.01)
    game = rb.Game(rng.uniform(-1, 1, (m, 3)), f)
    size = f.resolve(m).penalty(np.full(m, 1.0 / m))
    found, reference = rb.solve(game, 1e-6 * size), rb.reference(game)
    assert found.status == "optimal", found.message
    assert reference.gap <= 1e-5 * size
    assert rb.compare(found, reference)


def test_rounds_of_the_interior_point_method_ask_few_bounds_where_they_are_dear(rng, monkeypatch):
    asked, own = [], ConeBounds.solve
    monkeypatch.setattr(ConeBounds, "solve", lambda *a, **k: asked.append(1) or own(*a, **k))
    f = rb.Custom(f=lambda d: cp.norm1(cp.cumsum(d - 1.0 / 60)))
    game = rb.Game(np.clip(rng.uniform(-1, 1, (60, 30)) + 0.2, -1, 1), f)
    asked.clear()
    found = rb.solve(game, 1e-6, "interior-point")
    assert found.status == "optimal"
    assert len(asked) <= 2 * found.rounds
    assert found.rounds <= 8
    assert rb.compare(found, rb.reference(game))


def test_multipliers_of_dependent_equations_prove_no_bound_that_is_too_high():
    """The two equations are one in doubles; in exact arithmetic z_1 = 2^20, so that f(d) = 0.

    The multipliers (t, −t) leave t 2^-52 of q_z, and that times z_1 is what they prove too much.
    """
    unit = 2.0**-52

    def f(d):
        z = cp.Variable(2)
        return 0.0, [z[0] + z[1] == d[0], z[0] + (1.0 + unit) * z[1] == d[0] + 2.0**20 * unit]

    bounds = ConeBounds(cone_form(f, 2), 2)
    for size in (2.0**10, 2.0**30, 2.0**50):
        for sign in (-1.0, 1.0):
            proof = ConeProof(size * sign * np.array([1.0, -1.0]), np.zeros(4))
            assert bounds.below(np.zeros(2), proof) <= 0.0
    assert bounds.below(np.zeros(2), ConeProof(np.zeros(2), np.zeros(4))) == 0.0


def with_free_variables(rng, repeated):
    """A linear f with equations in free variables; others follow from these up to rounding."""
    E = np.round(rng.normal(size=(3, 9)), 1)
    if repeated:
        E = np.vstack([E, np.round(rng.normal(size=(2, 3)), 1) @ E])
    right = E @ np.append(np.full(3, 1.0 / 3.0), rng.random(6))

    def f(d):
        free = cp.Variable(4)
        z = cp.Variable(2, nonneg=True)
        return np.array([1.0, -2.0]) @ z, [E @ cp.hstack([d, free, z]) == right, z <= 1.0]

    return rb.Custom(f).resolve(3)


def test_equations_that_follow_from_others_up_to_rounding_are_not_used():
    """Their multipliers met no equation of a free variable exactly, however small they were."""
    for seed in range(20):
        f, twin = (with_free_variables(np.random.default_rng(seed), part) for part in (True, False))
        u = np.random.default_rng(seed).uniform(-1, 1, 3)
        value = twin.relaxed_margin(u)[0]
        assert value - 1e-7 <= f.lower_bound(u, f.witness(u)) <= value + 1e-9


def test_a_game_is_refused_with_dependent_equations_as_the_reason(monkeypatch, rng):
    monkeypatch.setattr(ConeBounds, "below", lambda *args, **options: -np.inf)
    with pytest.raises(rb.InputError, match="follow from others up to rounding; remove them"):
        with_free_variables(rng, True)


@pytest.mark.parametrize("scale", [2.0, 1e-3])
def test_brackets_say_that_equations_are_dependent_up_to_rounding(scale):
    """Twice a row is the row exactly; 1/1000 of it is not, and could exclude every d."""
    row = np.array([0.31, -0.77, 0.13, 0.59])

    def f(d):
        z = cp.Variable(nonneg=True)
        right = row @ np.array([0.2, 0.3, 0.1, 0.4])
        return z, [row @ d + z == right, scale * row @ d + scale * z == scale * right]

    found = rb.solve(rb.Game(np.eye(4), rb.Custom(f)), 1e-6)
    assert found.gap <= 1e-6
    assert (numerical.DEPENDENT in found.message) == (scale != 2.0)


def test_bounds_where_shifts_of_variables_change_nothing(rng):
    """The prices of both sides of an assignment: one of their equations follows from the others."""
    weights = np.sort(rng.random(8))
    f = rb.Custom(lambda d: cp.dotsort(d, weights)).resolve(8)
    for _ in range(3):
        u = rng.uniform(-1, 1, 8)
        value = f.relaxed_margin(u)[0]
        assert value - 1e-7 <= f.lower_bound(u, f.witness(u)) <= value + 1e-12


def test_the_least_singular_value(rng):
    """Of sparse matrices, below NumPy's and near it; 0 if rows are dependent."""
    for _ in range(20):
        dense = np.where(rng.random((30, 60)) < 0.2, rng.normal(size=(30, 60)), 0.0)
        dense[:, :30] += np.diag(10.0 ** rng.uniform(-3, 0, 30))
        dense /= np.linalg.norm(dense, axis=1)[:, None]
        least = np.linalg.svd(dense)[1][-1]
        found = least_singular_value(sparse.csr_array(dense))
        assert 0.3 * least <= found <= least
        dense[3] = dense[:3].sum(axis=0) / 3.0
        assert least_singular_value(sparse.csr_array(dense)) == 0.0


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_least_singular_value_with_a_long_column(share):
    """With a share of 0, the matrix is singular without its long column."""
    rows = np.column_stack([np.ones(60), np.diag(np.append(share, np.ones(59)))])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    least = np.linalg.svd(rows)[1][-1]
    assert 0.3 * least <= least_singular_value(sparse.csr_array(rows)) <= least


def test_rows_that_follow_from_others_exactly():
    """The rows of a graph's incidence matrix sum to zero in each component; rounded rows do not."""
    ends = [(0, 1), (1, 2), (2, 0), (3, 4)]
    rows = np.zeros((6, 5))
    for arc, (i, j) in enumerate(ends):
        rows[i, arc] = 1.0
        rows[j, arc] = -1.0
    rows[5] = 0.1 * rows[0]
    rows[5, 0] *= 1.0 + 2.0**-52
    length = np.linalg.norm(rows, axis=1)
    found = implied_rows(sparse.csr_array(rows / length[:, None]), sparse.csr_array(rows), length)
    assert np.isin(found, [0, 1, 2, 3, 4]).all()
    assert found.size == 2
    assert np.isin(found, [3, 4]).sum() == 1


def test_a_panic_of_clarabel_is_no_result(monkeypatch):
    """Its eigenvalue solver fails for some matrices, and Python's `except Exception` misses it."""
    panic = type("PanicException", (BaseException,), {})

    class Panicking:
        def __init__(self, *problem):
            pass

        def solve(self):
            raise panic("Eigval error: Eigen(1)")

    bounds = ConeBounds(cone_form(lambda d: (cp.sum_squares(d), []), 2), 2)
    monkeypatch.setattr("clarabel.DefaultSolver", Panicking)
    assert bounds.solve(np.zeros(2)) is None
    assert solve_problem(cp.Problem(cp.Minimize(cp.norm2(cp.Variable(2)))))[0] == "solver_error"
