"""Boosted costs: recovery, bases, links, floors, measures, and the loss they are learned with."""

from __future__ import annotations

import os
import pickle
import signal

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost.functional import Networks, RegressionStumps, Residual, Stopping, Trees
from relaxboost.planning.boosting import MIN_RELATIVE_COST


def truth(X):
    """What is paid for a cell: least where the first feature is in the middle; not linear."""
    return 0.2 + 8.0 * (X[:, 0] - 0.5) ** 2 + 1.5 * (X[:, 1] > 0.7)


def made(seed, tasks=12, side=20, margin=0.1):
    """A map of random patches, and shortest paths on it at the true costs."""
    rng = np.random.default_rng(seed)
    patches = rng.uniform(size=(side // 2, side // 2, 2)).round(2)
    noise = rng.uniform(-0.02, 0.02, (side, side, 2))
    X = np.clip(patches.repeat(2, axis=0).repeat(2, axis=1) + noise, 0.0, 1.0)
    layers = [*np.moveaxis(X, 2, 0), np.ones((side, side))]
    graph = pl.grid(layers, names=["a", "b", "one"], neighbours=4)
    costs = graph.costs(truth(graph.features))
    found = []
    while len(found) < tasks:
        s, t = rng.integers(graph.nodes, size=2).tolist()
        if abs(s // side - t // side) + abs(s % side - t % side) > side // 2:
            path = pl.shortest_path(graph, costs, graph.label(s), graph.label(t)).path
            found.append(pl.Task.along(path, pl.Missed(scale=margin)))
    return found


def regret(tasks, costs):
    """By how much plans cost more than the demonstrations, at the true costs."""
    shares = []
    for task in tasks:
        paid = task.graph.costs(truth(task.graph.features))
        s, t = (task.graph.label(n) for n in (task.source, task.target))
        plan = pl.shortest_path(task.graph, costs(task.graph), s, t).path
        shares.append(plan.cost(paid) / task.demonstration.cost(paid) - 1.0)
    return float(np.mean(shares))


@pytest.fixture(scope="module")
def train():
    return made(0)


@pytest.fixture(scope="module")
def held():
    return made(1)


@pytest.fixture(scope="module")
def linear(train):
    with pytest.warns(UserWarning, match="no costs linear in these features"):
        return pl.fit(train, pl.Ridge(1e-3), tol=1e-2)


@pytest.mark.parametrize(
    ("learner", "link"),
    [(RegressionStumps(), "additive"), (Trees(3), "exponential"), (Networks(5), "exponential")],
    ids=["stumps", "trees", "networks"],
)
@pytest.mark.filterwarnings("ignore::relaxboost.planning.FlooredCosts")
def test_a_planted_nonlinear_cost_is_recovered_better_than_by_linear_ones(
    train, held, linear, link, learner
):
    found = pl.boost(train, learner, pl.PlanningLoss(link), stopping=Stopping(80, validation=held))
    even = regret(held, lambda graph: np.ones(graph.arcs))
    assert regret(held, found.costs) < 0.5 * min(even, regret(held, linear.costs))
    assert found.value < 0.8 * found.history[0].value


def test_negative_additive_costs_are_floored_and_reported(train):
    method = Residual(scale=0.3, iterate="last")
    loss = pl.PlanningLoss("additive")
    with pytest.warns(UserWarning, match=r"the training risk rose from .*scale below 0\.3"):
        found = pl.boost(train, RegressionStumps(), loss, algorithm=method, stopping=3)
    graph = train[0].graph
    C = found.site_costs(graph)
    below = int((C < 0.0).sum())
    assert below == found.negative > 0
    assert found.inexact == len(train)
    with pytest.warns(pl.FlooredCosts, match=rf"negative at {below} of {C.size} sites"):
        costs = found.costs(graph)
    assert found.floor == MIN_RELATIVE_COST
    assert np.allclose(costs, graph.costs(np.maximum(C, MIN_RELATIVE_COST)), rtol=1e-15)
    assert (costs > 0.0).all()


def test_boosting_starts_from_linear_costs_and_goes_on_from_them(train, held, linear):
    assert isinstance(linear, pl.Fit)
    trees = Trees(3, min_samples_leaf=1, subsample=1.0)
    found = pl.boost(train, trees, pl.PlanningLoss("additive", base=linear), stopping=60)
    graph = held[0].graph
    assert np.allclose(graph.costs(found.site_costs(graph, upto=0)), linear.costs(graph))
    was = pl.PlanningLoss("additive", base=lambda g: g.features @ linear.w).bind(train)
    assert found.history[0].value == pytest.approx(was.value(was.zero()))
    assert found.value < found.history[0].value
    assert pickle.loads(pickle.dumps(found.loss)) == found.loss


def test_validation_stops_early_and_the_best_iterate_is_used(train, held):
    found = pl.boost(
        train,
        Trees(4),
        pl.PlanningLoss("exponential"),
        stopping=Stopping(200, validation=held, patience=5),
    )
    watched = [record.validation for record in found.history]
    assert found.status == "early stopping"
    assert len(watched) - 1 - int(np.argmin(watched)) == 5
    assert found.boosted.chosen == int(np.argmin(watched))
    risk = found.loss.bind(held)
    F = found.boosted.decision(risk.features)
    assert risk.value(F) == pytest.approx(min(watched))


@pytest.mark.parametrize("algorithm", ["residual", "repeated", "naive"])
def test_a_warm_start_goes_on_to_the_same_costs(train, held, algorithm):
    link = "exponential" if algorithm == "naive" else "additive"
    options = {"loss": pl.PlanningLoss(link), "algorithm": algorithm, "seed": 3}
    four, eight = (Stopping(rounds, validation=held) for rounds in (4, 8))
    whole = pl.boost(train, Networks(3, iterations=20), stopping=eight, **options)
    half = pl.boost(train, Networks(3, iterations=20), stopping=four, **options)
    rest = pl.boost(train, Networks(3, iterations=20), stopping=eight, warm_start=half, **options)
    graph = held[0].graph
    assert rest.scale == whole.scale
    assert np.array_equal(rest.costs(graph), whole.costs(graph))
    assert [r.value for r in rest.history] == [r.value for r in whole.history]


def test_an_interrupted_run_keeps_what_it_found(train):
    def stop(state):
        if state.round == 3:
            os.kill(os.getpid(), signal.SIGINT)

    found = pl.boost(train, RegressionStumps(), stopping=Stopping(50, callback=stop))
    assert found.status == "interrupted"
    assert 2 <= found.boosted.rounds <= 4
    assert found.costs(train[0].graph).shape == (train[0].graph.arcs,)


def test_the_measure_is_of_visits_and_fixed(train):
    risk = pl.PlanningLoss().bind(train)
    weights = risk.visited()
    plans = risk.oracle.evaluate(risk.arc_costs(risk.zero())).each
    visits = np.zeros((2, risk.sites))
    for row, plan in zip(risk.oracle.rows, plans, strict=True):
        for k, arcs in enumerate((row.path.arcs, plan.taken)):
            visits[k] += row.weight * train[0].graph.sites[arcs].sum(axis=0)
    wanted = 0.1 / risk.sites + 0.45 * (visits / visits.sum(axis=1, keepdims=True)).sum(axis=0)
    assert weights == pytest.approx(wanted)
    again = pl.PlanningLoss().bind(train, weights)
    entry = np.unique(train[0].graph.features, axis=0, return_inverse=True)[1]
    assert again.measure.p == pytest.approx(np.bincount(entry.ravel(), weights))


@pytest.mark.parametrize("shown", [[0, 1, 2], [0, 2]])
def test_paths_may_pass_no_site(shown):
    # The arc from 0 to 2 is free, and has no site.
    sites = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    graph = pl.Graph([0, 0, 1], [2, 1, 2], [1.0, 2.0], sites=sites)
    task = pl.Task(graph, 0, 2, shown)
    found = pl.boost([task], RegressionStumps(), pl.PlanningLoss(base=1.0), stopping=3)
    assert np.isfinite(found.costs(graph)).all()
