"""Grids: steps, obstacles, corners and what steps cost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError


def steps(free, neighbours, corners):
    """Return the steps of a grid and their lengths, cell by cell."""
    H, W = free.shape

    def inside(row, column):
        return 0 <= row < H and 0 <= column < W and bool(free[row, column])

    found = {}
    for row in range(H):
        for column in range(W):
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    if (down, right) == (0, 0) or not inside(row, column):
                        continue
                    if not inside(row + down, column + right):
                        continue
                    diagonal = down != 0 and right != 0
                    if diagonal and neighbours == 4:
                        continue
                    beside = inside(row + down, column) + inside(row, column + right)
                    if diagonal and beside < {"both": 2, "one": 1, "free": 0}[corners]:
                        continue
                    there = (row + down, column + right)
                    found[(row, column), there] = math.sqrt(2.0) if diagonal else 1.0
    return found


@pytest.mark.parametrize("corners", ["both", "one", "free"])
def test_grids_have_the_steps_and_costs_of_cell_by_cell(rng, corners):
    for _ in range(60):
        H, W = (int(n) for n in rng.integers(1, 8, size=2))
        free = rng.random((H, W)) < rng.choice([0.4, 0.7, 1.0])
        neighbours = int(rng.choice([4, 8]))
        wanted = steps(free, neighbours, corners)
        layers = np.concatenate([rng.random((2, H, W)), np.ones((1, H, W))])
        layers[:, ~free] = [[np.nan], [np.inf], [-np.inf]]
        options = {"neighbours": neighbours, "corners": corners}
        if not wanted:
            with pytest.raises(InputError, match="no two passable cells"):
                pl.grid(layers, free, **options)
            continue
        graph = pl.grid(layers, free, **options)
        C, w = rng.random((H, W)), rng.random(3)
        costs = graph.costs(C.ravel())
        found = {}
        for e in range(graph.arcs):
            u, v = graph.label(graph.tail[e]), graph.label(graph.head[e])
            length = found[u, v] = wanted[u, v]
            assert costs[e] == pytest.approx(length * (C[u] + C[v]) / 2.0)
            rows = [layers[(slice(None), *at)] for at in (u, v)]
            linear = length * (rows[0] + rows[1]) @ w / 2.0
            assert graph.arc_features[e] @ w == pytest.approx(linear)
        assert found == wanted
        assert len(found) == graph.arcs
        order = graph.tail * graph.nodes + graph.head
        assert (np.diff(order) > 0).all()
        assert graph.labels.shape == (H, W)
        row, column = graph.label(graph.nodes - 1)
        assert graph.position[-1].tolist() == [column, row]


def test_corners_both_is_the_default():
    # As in the MovingAI benchmarks: a diagonal step needs both cells beside it.
    graph = pl.grid(np.ones((2, 2)), [[1, 1], [0, 1]])
    assert graph.arcs == 4
    assert pl.shortest_path(graph, graph.costs(np.ones(4)), (0, 0), (1, 1)).cost == 2.0
