"""Loss-augmented planning against every path, its bounds in rational arithmetic, its modes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.loop import Clock, TimeUp

from . import small


def costs_for(rng, g, signed):
    c = rng.uniform(0.0, 2.0, g.arcs)
    return c - 0.7 if signed else c


@pytest.mark.parametrize("name", small.LOSSES)
@pytest.mark.parametrize("negative", ["exact", "simple", "relaxed"])
@pytest.mark.parametrize("signed", [False, True])
def test_losses_are_the_largest_over_every_path(name, negative, signed):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        made = small.tasks(rng, 2, small.LOSSES[name], repeat=seed % 3 == 2, arcs=9)
        oracle = pl.Oracle(made, negative)
        g = oracle.graphs[0]
        c = costs_for(rng, g, signed)
        try:
            found = oracle.evaluate([c], prove=True)
        except pl.NegativeCycle:
            assert negative == "exact"
            continue
        for row, answer in zip(oracle.rows, found.each, strict=True):
            below = (c - row.gains.at(np.arange(g.arcs))).min() < 0.0
            relaxed = negative == "relaxed" and below
            wanted = small.loss_of(row, g, c, relaxed)
            simple = small.loss_of(row, g, c)
            slow = negative == "simple" and below
            assert answer.value == pytest.approx(wanted, abs=1e-5 if slow else 1e-10)
            assert answer.bound >= wanted - (1e-6 if slow else 1e-15)
            assert answer.bound <= wanted + (1e-3 if slow else 1e-10)
            assert wanted >= simple - 1e-12
            assert answer.exact is not (relaxed and answer.value > 0.0) or not below
            if not below:
                assert wanted == pytest.approx(simple)
        summed = sum(r.weight * a.value for r, a in zip(oracle.rows, found.each, strict=True))
        assert found.value == pytest.approx(summed)
        assert found.bound >= found.value - 1e-5


@pytest.mark.parametrize("negative", ["exact", "relaxed"])
def test_bounds_hold_in_rational_arithmetic(negative):
    """Costs of sizes that cancel; the loss of each path is summed exactly."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        made = small.tasks(rng, 2, pl.Missed(), arcs=9)
        oracle = pl.Oracle(made, negative)
        g = oracle.graphs[0]
        c = rng.uniform(0.0, 1.0, g.arcs) * 10.0 ** rng.integers(-8, 8, g.arcs)
        if negative == "relaxed":
            c *= rng.choice([-1.0, 1.0], g.arcs)
        found = oracle.evaluate([c], prove=True)
        exact = [Fraction(x) for x in c.tolist()]
        for row, answer in zip(oracle.rows, found.each, strict=True):
            gain = [Fraction(x) for x in row.gains.at(np.arange(g.arcs)).tolist()]
            own = sum(exact[e] for e in row.path.arcs.tolist()) + Fraction(row.gains.constant)
            low = [min(x - y, Fraction(0)) for x, y in zip(exact, gain, strict=True)]
            for path in small.paths(g, row.source, row.target):
                cost = sum(exact[e] - gain[e] for e in path.tolist())
                if negative == "relaxed":
                    cost += sum(low) - sum(low[e] for e in path.tolist())
                assert Fraction(answer.bound) >= own - cost


def test_time_may_run_out():
    oracle = pl.Oracle(small.tasks(np.random.default_rng(3), 4))
    c = np.random.default_rng(0).uniform(size=oracle.graphs[0].arcs)
    with pytest.raises(TimeUp):
        oracle.evaluate([c], clock=Clock(1e-9))


def test_wrong_potentials_widen_the_bound_and_never_break_it(monkeypatch):
    from relaxboost.planning import oracle as module

    rng = np.random.default_rng(0)
    oracle = pl.Oracle(small.tasks(rng))
    g = oracle.graphs[0]
    c = rng.uniform(0.5, 2.0, g.arcs)
    honest = oracle.evaluate([c], prove=True)

    def wrong(path, costs, potential, planner):
        return pl.Plan(path, costs, potential + rng.uniform(-0.5, 0.5, g.nodes), planner)

    monkeypatch.setattr(module, "Plan", wrong)
    for _ in range(20):
        found = oracle.evaluate([c], prove=True)
        assert found.bound >= honest.value
        assert found.bound > honest.bound + 0.05


def test_proofs_of_tasks_with_one_target_share_its_estimates():
    """A* leaves nodes open whose potentials come from the estimates; a dead end has none."""
    grid = pl.grid(np.ones((12, 12)))
    tail, head = np.append(grid.tail, 5), np.append(grid.head, grid.nodes)
    rng = np.random.default_rng(0)
    g = pl.Graph(tail, head, rng.uniform(0.1, 2.0, (tail.size, 1)))
    c = g.arc_features[:, 0] * rng.uniform(0.7, 1.4, g.arcs)
    tasks = [
        pl.Task.along(pl.shortest_path(g, g.arc_features[:, 0], s, t).path)
        for s, t in ((0, 143), (60, 143), (11, 143), (132, 8), (3, 8))
    ]
    found = pl.Oracle(tasks).evaluate([c], prove=True)
    alone = [pl.Oracle([task]).evaluate([c], prove=True) for task in tasks]
    assert found.value <= found.bound <= found.value * (1.0 + 1e-10)
    assert [x.value for x in found.each] == pytest.approx([x.each[0].value for x in alone])


def test_several_demonstrations_are_their_mean():
    """Weights of tasks are shared by their demonstrations, and sum to 1."""
    g = pl.Graph([0, 1, 0, 0], [1, 2, 2, 2])
    both = [g.path([0, 1, 2]), g.path(arcs=[2])]
    made = [pl.Task(g, 0, 2, both, weight=3.0), pl.Task(g, 0, 2, both[0])]
    oracle = pl.Oracle(made)
    assert oracle.weights.tolist() == [0.375, 0.375, 0.25]
    alone = [pl.Oracle([pl.Task(g, 0, 2, one)]).evaluate([np.ones(4)]).value for one in both]
    assert alone == [3.0, 1.0]
    assert oracle.evaluate([np.ones(4)]).value == 0.375 * 3.0 + 0.375 * 1.0 + 0.25 * 3.0


@pytest.mark.parametrize("negative", ["relaxed", "simple"])
def test_demonstrations_around_a_negative_cycle_have_no_negative_loss(negative):
    """The demonstration goes around the cycle twice, and its free arcs cost −2 each."""
    g = pl.Graph([0, 1, 2, 1], [1, 2, 1, 3])
    task = pl.Task(g, 0, 3, [0, 1, 2, 1, 2, 1, 3], pl.NoLoss())
    found = pl.Oracle([task], negative).evaluate([np.array([1.0, -1.0, -1.0, 1.0])], prove=True)
    assert found.value == found.each[0].value == 0.0
    assert 0.0 <= found.bound <= 1e-300
    assert found.each[0].taken.tolist() == task.demonstration.arcs.tolist()
