"""Bounds by cone programs: near what solvers find, also where rows are long and costs are huge."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost.relaxations import cone_bounds, numerical
from relaxboost.relaxations.cone_bounds import ConeBounds


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
        assert not found.loose
        assert value - 2e-7 <= found.below <= value + 1e-9
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
    assert (counts @ counts > cone_bounds._LONG * counts.sum()) == long
    exact = np.linalg.lstsq(dense, q)[0]
    assert np.abs(cone_bounds.shortest(spread, q) - exact).max() <= 1e-10


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
