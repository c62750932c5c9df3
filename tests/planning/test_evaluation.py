"""Plans against demonstrations: metrics by hand, intervals against a slow twin, folds, errors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning.evaluation import arc_f1


def diamond(features=None):
    """Return s -> a -> t, s -> b -> c -> t and s -> t; arcs 0 1, 2 3 4 and 5."""
    tail, head = [0, 1, 0, 2, 3, 0], [1, 4, 2, 3, 4, 4]
    return pl.Graph(tail, head, features, nodes=["s", "a", "b", "c", "t"])


ABOVE, BELOW = ["s", "a", "t"], ["s", "b", "c", "t"]


def street(rng, nodes=12):
    """Return a random graph with a way around, and tasks that are random walks on it."""
    ring = np.arange(nodes)
    extra = rng.integers(0, nodes, (3 * nodes, 2))
    pairs = np.concatenate([np.stack([ring, np.roll(ring, -1)], axis=1), extra])
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    graph = pl.Graph(pairs[:, 0], pairs[:, 1], rng.random((len(pairs), 2)))
    tasks = []
    while len(tasks) < 30:
        node, arcs = int(rng.integers(nodes)), []
        for _ in range(int(rng.integers(1, 6))):
            arc = int(rng.choice(np.flatnonzero(graph.tail == node)))
            arcs.append(arc)
            node = int(graph.head[arc])
        if node != graph.tail[arcs[0]]:
            tasks.append(pl.Task.along(graph.path(arcs=arcs)))
    return graph, tasks


def test_metrics_by_hand():
    graph = diamond()
    tasks = [pl.Task(graph, "s", "t", ABOVE), pl.Task(graph, "s", "t", BELOW)]
    report = pl.evaluate(tasks, np.array([1.0, 1.0, 1.0, 1.0, 1.0, 9.0]))
    assert [plan.nodes for plan in report.plans] == [ABOVE, ABOVE]
    assert repr(report) == "Evaluation(2 tasks, exact_match 0.5, arc_recall 0.4)"
    assert report.each.exact.tolist() == [1, 0]
    assert report.each.optimal.tolist() == [1, 0]
    assert report.each.shared_arcs.tolist() == [2, 0]
    assert report.each.shown_arcs.tolist() == [2, 3]
    assert report.each.planned_arcs.tolist() == [2, 2]
    assert report.each.shared_nodes.tolist() == [2, 1]  # the source of the second
    assert report.each.shown_nodes.tolist() == [2, 3]
    assert report.each.shown_cost.tolist() == [2, 3]
    assert report.each.planned_cost.tolist() == [2, 2]
    # Missed: planning with the loss goes below at 3 − 0, or above at 2 − 0 + 3: R = 3 − (2 − 3).
    assert report.each.margin.tolist() == [1, 4]
    expected = {
        "exact_match": 1 / 2,
        "optimal_match": 1 / 2,
        "arc_recall": 2 / 5,
        "arc_precision": 2 / 4,
        "arc_f1": 4 / 9,
        "node_recall": 3 / 5,
        "regret": 1 / 2,
        "margin_loss": 5 / 2,
    }
    assert tuple(expected) == pl.METRICS
    assert report.metrics() == pytest.approx(expected)
    assert (report.metric("exact_match"), report.metric("node_recall")) == (1 / 2, 3 / 5)
    assert "exact match         0.5" in str(report)


def test_several_demonstrations_are_met_by_one_and_averaged_otherwise():
    graph = diamond()
    report = pl.evaluate([pl.Task(graph, "s", "t", [ABOVE, BELOW])], np.r_[np.ones(5), 9.0])
    assert report.each.exact.tolist() == [1]
    assert report.each.shared_arcs.tolist() == [1]
    assert report.each.shown_arcs.tolist() == [2.5]
    assert report.each.margin.tolist() == [2.5]


def test_the_score_of_folds_is_the_metric_of_each_task(rng):
    _, walks = street(rng)
    graph = diamond()
    several = pl.Task(graph, "s", "t", [ABOVE, BELOW, BELOW])
    for tasks in (walks, [several]):
        report = pl.evaluate(tasks, lambda graph: rng.random(graph.arcs))
        scores = [arc_f1(task, plan) for task, plan in zip(tasks, report.plans, strict=True)]
        each = report.each
        assert scores == (2 * each.shared_arcs / (each.shown_arcs + each.planned_arcs)).tolist()


def test_ties_fall_as_they_do_but_count_as_optimal():
    graph = diamond()
    costs = [3.0, 3.0, 2.0, 2.0, 2.0, 9.0]
    tasks = [pl.Task(graph, "s", "t", shown) for shown in (ABOVE, BELOW)]
    report = pl.evaluate(tasks, np.array(costs))
    assert report.metric("exact_match") == 1 / 2
    assert report.metric("optimal_match") == 1.0
    assert report.metric("regret") == 0.0
    assert report.plans[0] == report.plans[1]


def test_ties_name_the_arcs():
    g = pl.Graph([0, 1, 0, 2, 3, 0], [1, 3, 2, 3, 4, 4], names=["one"])
    tasks = [pl.Task(g, 0, 4, [0, 2, 3, 4]), pl.Task(g, 0, 1, [0, 1])]
    report = pl.evaluate(tasks, np.array([1.0, 1.0, 1.0, 1.0, 0.0, 9.0]))
    assert report.ties == (
        "0 -> 4: several paths cost the same; the trip takes arc 2 (0 -> 2), arc 3 (2 -> 3), and "
        "the plan arc 0 (0 -> 1), arc 1 (1 -> 3)",
    )
    assert str(report).endswith(f"ties                1, such as {report.ties[0]}")
    assert not pl.evaluate(tasks[1:], np.ones(6)).ties


def test_metrics_against_slow_counts():
    rng = np.random.default_rng(0)
    graph, tasks = street(rng)
    costs = rng.random(graph.arcs)
    report = pl.evaluate(tasks, costs)
    for k, (task, plan) in enumerate(zip(tasks, report.plans, strict=True)):
        shown = task.demonstration
        assert plan == pl.shortest_path(graph, costs, task.source, task.target).path
        both = Counter(plan.arcs.tolist()) & Counter(shown.arcs.tolist())
        assert report.each.shared_arcs[k] == both.total()
        seen = Counter(plan.nodes[:-1]) & Counter(shown.nodes[:-1])
        assert report.each.shared_nodes[k] == seen.total()
        assert report.each.exact[k] == (plan == shown)
        assert report.each.shown_cost[k] == pytest.approx(shown.cost(costs))
        assert report.each.planned_cost[k] == pytest.approx(plan.cost(costs))
    assert (report.each.shown_cost >= report.each.planned_cost).all()


@pytest.mark.filterwarnings("ignore:the learned costs are all 0")
def test_costs_in_every_form_give_the_same():
    rng = np.random.default_rng(1)
    graph, tasks = street(rng)
    other, more = street(rng)
    mixed = [tasks[0], more[0], *tasks[1:5], *more[1:5]]
    found = pl.fit(mixed, pl.Ridge(0.1), tol=0.1)
    known = {one: found.costs(one) for one in (graph, other)}
    wanted = pl.evaluate(mixed, found).each
    for form in (found.costs, known.get):
        assert np.array_equal(pl.evaluate(mixed, form).each, wanted, equal_nan=True)
    alone = pl.evaluate(tasks, found).each
    assert np.array_equal(pl.evaluate(tasks, known[graph]).each, alone, equal_nan=True)
    with pytest.raises(
        InputError, match=r"have 2 graphs, .* cannot be used; pass learned costs, or a func"
    ):
        pl.evaluate(mixed, known[graph])


def test_a_report_does_not_depend_on_company_order_or_scale():
    rng = np.random.default_rng(2)
    graph, tasks = street(rng)
    costs = rng.random(graph.arcs)
    report = pl.evaluate(tasks, costs)
    order = rng.permutation(len(tasks))
    shuffled = pl.evaluate([tasks[i] for i in order], costs)
    assert np.array_equal(np.array(shuffled.each), np.array(report.each)[:, order], equal_nan=True)
    joined = pl.Evaluation.joined([pl.evaluate(tasks[:7], costs), pl.evaluate(tasks[7:], costs)])
    assert np.array_equal(joined.each, report.each, equal_nan=True)
    assert joined.plans == report.plans
    scaled = pl.evaluate(tasks, 4.0 * costs)
    assert scaled.plans == report.plans
    assert scaled.metric("regret") == pytest.approx(4.0 * report.metric("regret"))


def test_negative_costs():
    graph = diamond()
    tasks = [pl.Task(graph, "s", "t", BELOW)]
    report = pl.evaluate(tasks, np.array([1.0, 1.0, -1.0, 1.0, 1.0, 9.0]))
    assert report.metric("exact_match") == 1.0
    round_about = pl.Graph([0, 1, 2, 1], [1, 2, 1, 3])
    tasks = [pl.Task(round_about, 0, 3, [0, 1, 3], name="home")]
    costs = np.array([1.0, -2.0, 1.0, 1.0])
    with pytest.raises(pl.NegativeCycle, match="home"):
        pl.evaluate(tasks, costs)
    with pytest.raises(pl.NegativeCycle, match="home"):
        pl.evaluate(tasks, costs, negative="relaxed")
    assert pl.evaluate(tasks, costs, negative="simple").metric("exact_match") == 1.0


def test_zero_costs():
    report = pl.evaluate([pl.Task(diamond(), "s", "t", ABOVE)], np.zeros(6))
    assert report.metric("optimal_match") == 1.0


def slow_interval(first, second, metric, seed, draws, groups):
    """Return the interval by computing the metric of resampled reports, one after the other."""
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]

    def at(report, rows):
        each = pl.PerTask(*(column[rows] for column in report.each))
        return pl.Evaluation(report.tasks, report.plans, each).metric(metric)

    found = []
    for draw in rng.integers(0, len(members), (draws, len(members))):
        rows = np.concatenate([members[g] for g in draw])
        found.append(at(second, rows) - at(first, rows))
    return np.percentile(found, [2.5, 97.5])


@pytest.mark.parametrize("by", ["task", "pair", "source"])
def test_intervals_against_a_slow_twin(by):
    rng = np.random.default_rng(4)
    graph, tasks = street(rng)
    first = pl.evaluate(tasks, np.ones(graph.arcs))
    second = pl.evaluate(tasks, rng.random(graph.arcs))
    found = pl.compare(first, second, seed=5, draws=300, metrics=pl.METRICS, by=by)
    keys = {
        "task": id,
        "pair": lambda task: (task.source, task.target),
        "source": lambda task: task.source,
    }
    named = list(dict.fromkeys(keys[by](task) for task in tasks))
    groups = np.array([named.index(keys[by](task)) for task in tasks])
    for name in pl.METRICS:
        low, high = slow_interval(first, second, name, 5, 300, groups)
        assert (found[name].low, found[name].high) == pytest.approx((low, high), abs=1e-12)
        assert found[name].difference == pytest.approx(second.metric(name) - first.metric(name))
        assert found[name].low <= found[name].high


def test_the_unit_of_the_costs_does_not_matter_to_a_comparison():
    rng = np.random.default_rng(4)
    graph, tasks = street(rng)
    costs = rng.random(graph.arcs)
    minutes, seconds = (pl.evaluate(tasks, unit * costs) for unit in (1.0, 64.0))
    found = pl.compare(minutes, seconds, draws=100)
    assert {"arc_recall", "arc_f1"} <= found.keys()
    assert {value.difference for value in found.values()} == {0.0}
    assert pl.compare(minutes, seconds, draws=100, metrics=["regret"])["regret"].low > 0.0


def test_folds_are_a_partition_and_repeatable():
    _, tasks = street(np.random.default_rng(7))
    for by in (
        "overlap",
        "task",
        "pair",
        "source",
        lambda task: len(task.demonstration),
        range(30),
    ):
        folds = pl.split(tasks, 4, seed=3, by=by)
        again = pl.split(tasks, 4, seed=3, by=by)
        assert np.array_equal(np.sort(np.concatenate([f.test for f in folds])), np.arange(30))
        for fold, same in zip(folds, again, strict=True):
            assert np.array_equal(fold.test, same.test)
            assert np.array_equal(np.sort(np.concatenate(fold)), np.arange(30))
    sizes = [len(fold.test) for fold in pl.split(tasks, 4, by="task")]
    assert sorted(sizes) == [7, 7, 8, 8]
    assert any(
        not np.array_equal(a.test, b.test)
        for a, b in zip(*(pl.split(tasks, 4, seed, "task") for seed in (0, 1)), strict=True)
    )


def test_regrets_of_negative_costs_and_demonstrations_around_negative_cycles():
    graph = pl.Graph([0, 1, 0], [1, 2, 2])
    report = pl.evaluate([pl.Task(graph, 0, 2, [0, 1, 2])], np.array([-0.5, -0.5, -2.0]))
    assert report.metric("regret") == 1.0
    graph = pl.Graph([0, 1, 2, 1], [1, 2, 1, 3])
    round_ = [pl.Task(graph, 0, 3, [0, 1, 2, 1, 3])]
    report = pl.evaluate(round_, np.array([1.0, -1.0, -1.0, 1.0]), negative="simple")
    assert (report.metric("regret"), report.each.shown_cost[0]) == (0.0, 2.0)


def test_a_demonstration_that_costs_a_billionth_more_is_not_optimal():
    graph = pl.Graph([0, 1, 0], [1, 2, 2])
    report = pl.evaluate([pl.Task(graph, 0, 2, [0, 1, 2])], np.array([0.5, 0.5 + 1e-9, 1.0]))
    assert report.metric("optimal_match") == 0.0
