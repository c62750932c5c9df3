"""The recursive logit: against all walks of small graphs, differences, and planted utilities."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning.logit import _groups, _point
from relaxboost.planning.walks import Walks, sums
from tests.planning import small


def walks_of(graph, source, target, longest):
    """Every walk from source to target of at most so many arcs, as lists of arcs."""
    found, ends = [], [([], source)]
    for _ in range(longest):
        ends = [
            ([*walk, int(e)], int(graph.head[e]))
            for walk, at in ends
            for e in np.flatnonzero(graph.tail == at)
        ]
        found += [walk for walk, at in ends if at == target]
    return found


def acyclic(rng, nodes=7, arcs=16, d=3):
    """A graph whose arcs lead upwards, with parallel ones and an arc from each node to the next."""
    tail = np.concatenate([np.arange(nodes - 1), rng.integers(nodes - 1, size=arcs)])
    head = np.concatenate([np.arange(1, nodes), np.zeros(arcs, dtype=int)])
    head[nodes - 1 :] = [rng.integers(t + 1, nodes) for t in tail[nodes - 1 :]]
    return pl.Graph(tail, head, rng.normal(size=(tail.size, d)), nodes=nodes)


def fixed(graph, beta):
    """A `LogitFit` with given utilities."""
    nothing = np.zeros((len(beta), len(beta)))
    return pl.LogitFit(np.array(beta), graph.names, np.nan, nothing, nothing, "optimal", 0)


@pytest.mark.parametrize("seed", range(5))
def test_all_paths_of_an_acyclic_graph(seed):
    rng = np.random.default_rng(seed)
    graph = acyclic(rng)
    beta = rng.normal(size=3)
    for source in range(3):
        ways = walks_of(graph, source, 6, 7)
        tasks = [pl.Task.along(graph.path(arcs=way)) for way in ways]
        u = np.array([task.demonstration.features() @ beta for task in tasks])
        found = fixed(graph, beta).log_likelihoods(tasks)
        assert found == pytest.approx(u - logsumexp(u), abs=1e-12)
        assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_walks_in_circles_count(seed):
    """The target may be passed: the sum is over all walks, here up to 11 arcs."""
    rng = np.random.default_rng(seed)
    tail, head = np.array([0, 1, 1, 2, 2, 0, 0]), np.array([1, 0, 2, 0, 1, 2, 1])
    graph = pl.Graph(tail, head, rng.uniform(2.0, 3.0, (7, 2)))
    beta = np.array([-1.2, -0.7])
    ways = walks_of(graph, 0, 2, 11)
    total = logsumexp([graph.arc_features[way].sum(axis=0) @ beta for way in ways])
    task = pl.Task(graph, 0, 2, graph.path(arcs=[0, 1, 0, 2, 4, 2]))
    u = task.demonstration.features() @ beta
    assert fixed(graph, beta).log_likelihoods([task])[0] == pytest.approx(u - total, abs=1e-9)


def test_costs_below_zero_are_fine_where_circles_cost():
    graph = pl.Graph([0, 1, 1], [1, 0, 2], [[-2.0], [3.0], [-1.0]])
    circle = np.exp(-1.0)
    task = pl.Task(graph, 0, 2, [0, 1, 2])
    found = fixed(graph, [-1.0]).log_likelihoods([task])[0]
    assert found == pytest.approx(np.log(1.0 - circle), abs=1e-14)


@pytest.mark.parametrize("rate", [0.999999, 1.0, 1.000001])
def test_the_spectral_radius_decides(rate):
    """Two nodes with arcs both ways have the radius exp(-(c1 + c2)/2)."""
    graph = pl.Graph([0, 1, 0], [1, 0, 2], [[5.0], [-5.0 - 2 * np.log(rate)], [1.0]])
    if rate < 1.0:
        made = Walks(graph, graph.arc_features[:, 0])
        z = np.exp(sums(made, np.array([1]), np.array([2]))[0].log)
        assert z[0] == pytest.approx(np.exp(4.0) / rate**-2 / (1 - rate**2), rel=1e-8)
    else:
        with pytest.raises(pl.EndlessWalks, match="in circles"):
            Walks(graph, graph.arc_features[:, 0])


def test_the_spectral_radius_of_random_graphs_decides():
    """Against eigenvalues; then costs are moved so that the radius is 1 ± 1e-9."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 25))
        tail, head = rng.integers(n, size=(2, int(rng.integers(n, 4 * n))))
        tail, head = np.append(tail[tail != head], [0, 1]), np.append(head[tail != head], [1, 0])
        graph = pl.Graph(tail, head, np.ones((tail.size, 1)), nodes=n)
        cost = rng.uniform(-0.5, 3.0, tail.size) * rng.choice([0.3, 1.0, 2.0])
        M = np.zeros((n, n))
        np.add.at(M, (tail, head), np.exp(-cost))
        radius = float(np.abs(np.linalg.eigvals(M)).max())
        for rate in (radius, 1.0 - 1e-9, 1.0 + 1e-9):
            try:
                Walks(graph, cost + np.log(radius / rate))
                found.append((rate, True))
            except pl.EndlessWalks:
                found.append((rate, False))
    assert all(accepted == (rate < 1.0) for rate, accepted in found)
    assert 20 < sum(accepted for rate, accepted in found if abs(rate - 1.0) > 1e-6) < 130


@pytest.mark.parametrize("n", [200, 600, 1000])
def test_unlikely_trips_are_fitted(n):
    """Back and forth on a line: z is a product of continued fractions; up to −log p of 674."""
    at = np.arange(n - 1)
    ends = np.append(at, at + 1), np.append(at + 1, at)
    graph = pl.Graph(*ends, np.ones((2 * n - 2, 1)), nodes=n)
    walk = []
    for i in range(n):
        walk += [i, i - 1, i] if i % 4 == 3 and i < n - 1 else [i]

    def likely(cost):
        a = log = 0.0
        for _ in at:
            a = np.exp(-cost) / (1.0 - np.exp(-cost) * a)
            log += np.log(a)
        return -cost * (len(walk) - 1) - log + np.log1p(-np.exp(-cost) * a)

    task = pl.Task(graph, 0, n - 1, walk)
    found = pl.RecursiveLogit().fit([task])
    assert found.status == "optimal"
    cost = -found.utilities[0]
    assert found.log_likelihood == pytest.approx(likely(cost), rel=1e-11)
    assert likely(cost) > max(likely(cost - 1e-3), likely(cost + 1e-3))
    assert pl.RecursiveLogit().scale([task], lambda g: np.ones(g.arcs)).utilities[0] == (
        pytest.approx(cost, rel=1e-6)
    )


def test_sums_above_the_largest_double_are_refused_as_such():
    """A ladder of 1100 steps has 2^1100 ways: too many at cost 0, not at cost 0.1."""
    steps = np.repeat(np.arange(1100), 2)
    graph = pl.Graph(steps, steps + 1, np.ones((2200, 1)))
    task = pl.Task.along(graph.path(arcs=np.arange(0, 2200, 2)))
    assert fixed(graph, [-0.1]).log_likelihoods([task])[0] == pytest.approx(-1100 * np.log(2.0))
    with pytest.raises(pl.EndlessWalks, match=r"so many.*above 1e308; raise the costs"):
        fixed(graph, [0.0]).log_likelihoods([task])


@pytest.mark.parametrize("side", [23, 30])
def test_all_ways_to_the_right_and_down(side):
    """At cost 0 all binom(2 side − 2, side − 1) ways are alike, up to 3e16 of them."""
    place = np.arange(side * side).reshape(side, side)
    tail = np.append(place[:, :-1], place[:-1])
    graph = pl.Graph(tail, np.append(place[:, 1:], place[1:]), np.ones((tail.size, 1)))
    way = [*place[0], *place[1:, -1]]
    task = pl.Task(graph, 0, side * side - 1, way)
    ways = math.comb(2 * side - 2, side - 1)
    assert fixed(graph, [0.0]).log_likelihoods([task])[0] == pytest.approx(-np.log(ways), rel=1e-13)
    both = pl.Graph(
        *(np.append(a, b) for a, b in ((tail, graph.head), (graph.head, tail))),
        np.ones((2 * tail.size, 1)),
    )
    for utility in (-1.4, -3.0):
        chance = fixed(both, [utility]).probabilities(both, side * side - 1)
        leaving = np.bincount(both.tail, weights=chance)
        assert leaving[:-1] == pytest.approx(1.0, abs=1e-12)
        assert leaving[-1] < 1.0


@pytest.mark.parametrize("far", [1.0, 100.0, 1e4])
def test_long_trips_do_not_underflow(far):
    """A ladder of 40 steps with two rails: 2^40 paths, whose sum is a product."""
    steps = np.repeat(np.arange(40), 2)
    cost = far * np.tile([1.0, 1.0 + 0.5 / far], 40)
    graph = pl.Graph(
        np.concatenate([steps, [3]]), np.concatenate([steps + 1, [0]]), [*cost[:, None], [5 * far]]
    )
    task = pl.Task.along(graph.path(arcs=np.arange(0, 80, 2)))
    around = np.exp(-8.0 * far) * (1 + np.exp(-0.5)) ** 3  # 0, 1, 2, 3 and back to 0
    expected = -40.0 * np.log1p(np.exp(-0.5)) + np.log1p(-around)
    assert fixed(graph, [-1.0]).log_likelihoods([task])[0] == pytest.approx(expected, rel=1e-9)
    one = _point(_groups((task,), lambda g: g.arc_features, None), np.ones(1), np.array([-1.0]))
    p = 1.0 / (1.0 + np.exp(0.5))  # of the dearer rail
    circles = around * (8.0 * far + 1.5 * p) / (1.0 - around)
    assert one.gradient[0] == pytest.approx(-20.0 * p - circles, rel=1e-7)
    # Circles have the mass r = around, and cost mean and variance of their three rails besides.
    mean, variance = 8.0 * far + 1.5 * p, 0.75 * p * (1.0 - p)
    curve = around * (mean**2 / (1.0 - around) + variance) / (1.0 - around)
    assert one.hessian[0, 0] == pytest.approx(
        -10.0 * p * (1.0 - p) - curve, rel=1e-9 + 1e-12 * far**2
    )


def problem(seed, **options):
    """Tasks of two graphs with sites, parallel arcs, circles, weights, several demonstrations."""
    rng = np.random.default_rng(seed)
    tasks = []
    for _ in range(2):
        graph = small.graph(rng, nodes=6, arcs=12, d=3, **options)
        for source in range(4):
            ways = [small.walk(rng, graph, source, 5, repeat=source > 2) for _ in range(2)]
            tasks.append(pl.Task(graph, source, 5, ways, weight=1.0 + source))
    return tasks


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sites", [False, True])
def test_derivatives_are_those_of_differences(seed, sites):
    tasks = tuple(problem(seed, sites=sites))
    weight = np.array([task.weight for task in tasks])
    size = np.array([-3.0, -4.0, -3.0])
    for link_size in (None, size):
        groups = _groups(tasks, lambda graph: graph.arc_features, link_size)
        beta = np.array([-4.0, -3.0, -5.0, 0.3])[: 3 + (link_size is not None)]
        at, h = _point(groups, weight, beta), 1e-5
        ends = [
            [_point(groups, weight, beta + s * h * e) for s in (1, -1)] for e in np.eye(beta.size)
        ]
        slope = np.array([(a.value - b.value) / (2 * h) for a, b in ends])
        curve = np.array([(a.gradient - b.gradient) / (2 * h) for a, b in ends])
        assert at.gradient == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert at.hessian == pytest.approx(curve, rel=1e-6, abs=1e-6)
        assert at.hessian == pytest.approx(at.hessian.T, abs=1e-9)
        assert weight @ at.scores == pytest.approx(at.gradient)
        assert np.linalg.eigvalsh(at.hessian).max() < 0.0  # concave


def drawn(rng, graph, beta, source, target):
    """A walk drawn from the model."""
    chance, at, walk = fixed(graph, beta).probabilities(graph, target), source, []
    while True:
        leaving = np.flatnonzero(graph.tail == at)
        p = chance[leaving]
        stop = max(1.0 - p.sum(), 0.0) if at == target else 0.0
        k = rng.choice(leaving.size + 1, p=np.append(p, stop) / (p.sum() + stop))
        if k == leaving.size:
            return graph.path(arcs=walk)
        walk.append(int(leaving[k]))
        at = int(graph.head[leaving[k]])


def again(tasks, graph):
    """The same trips on another graph."""
    return [pl.Task(graph, t.source, t.target, t.demonstration.nodes) for t in tasks]


def planted(seed, count=250):
    rng = np.random.default_rng(seed)
    grid = pl.grid(np.ones((5, 5)))
    graph = pl.Graph(grid.tail, grid.head, rng.uniform(0.2, 1.0, (grid.arcs, 2)), names=["a", "b"])
    beta = np.array([-3.0, -1.5])
    ends = [rng.choice(25, 2, replace=False) for _ in range(count)]
    return [pl.Task.along(drawn(rng, graph, beta, *e.tolist())) for e in ends], graph, beta


def test_planted_utilities_are_found_within_their_errors():
    tasks, graph, beta = planted(0)
    found = pl.RecursiveLogit().fit(tasks)
    assert (found.status, found.names) == ("optimal", ("a", "b"))
    assert np.abs((found.utilities - beta) / found.standard_errors).max() < 3.0
    assert np.sqrt(np.diag(found.robust)) == pytest.approx(found.standard_errors, rel=0.3)
    assert found.log_likelihood == pytest.approx(found.log_likelihoods(tasks).sum(), rel=1e-12)
    for δ in np.random.default_rng(1).normal(scale=0.1, size=(20, 2)):
        assert fixed(graph, found.utilities + δ).log_likelihoods(tasks).sum() < found.log_likelihood
    other = pl.RecursiveLogit(start=[-9.0, -9.0]).fit(tasks)
    assert other.utilities == pytest.approx(found.utilities, abs=1e-4)


def test_units_do_not_matter():
    tasks, graph, _ = planted(1, 40)
    scale = np.array([1e6, 1e-4])
    other = pl.Graph(graph.tail, graph.head, graph.features * scale, names=graph.names)
    moved = again(tasks, other)
    first, second = (pl.RecursiveLogit().fit(given) for given in (tasks, moved))
    assert second.utilities * scale == pytest.approx(first.utilities, rel=1e-5)
    assert second.log_likelihood == pytest.approx(first.log_likelihood, rel=1e-9)
    assert second.standard_errors * scale == pytest.approx(first.standard_errors, rel=1e-5)


def test_probabilities_of_arcs():
    tasks, graph, beta = planted(2, 1)
    chance = fixed(graph, beta).probabilities(graph, 12)
    total = np.bincount(graph.tail, weights=chance)
    assert np.delete(total, 12) == pytest.approx(1.0, abs=1e-12)
    walks = Walks(graph, -(graph.arc_features @ beta))
    z = sums(walks, np.array([12]), np.array([12]))[0].there[0]
    assert total[12] == pytest.approx(1.0 - 1.0 / z, abs=1e-12)
    path = tasks[0].demonstration
    to = fixed(graph, beta).probabilities(graph, path.target)
    stop = 1.0 - np.bincount(graph.tail, weights=to)[path.target]
    expected = np.log(to[path.arcs]).sum() + np.log(stop)
    assert fixed(graph, beta).log_likelihoods(tasks)[0] == pytest.approx(expected, abs=1e-10)


def test_costs_plan_the_most_likely_path():
    tasks, graph, beta = planted(3, 1)
    task, made = tasks[0], fixed(graph, beta)
    best = pl.shortest_path(graph, made.costs(graph), task.source, task.target).path
    chosen = made.log_likelihoods([pl.Task.along(best)])[0]
    rng = np.random.default_rng(0)
    for _ in range(200):
        walk = drawn(rng, graph, beta, task.source, task.target)
        assert made.log_likelihoods([pl.Task.along(walk)])[0] <= chosen + 1e-12
    assert made.site_costs(graph) == pytest.approx(made.costs(graph))


def test_the_scale_of_learned_costs():
    tasks, graph, beta = planted(4, 120)
    ways = [pl.shortest_path(graph, -graph.features @ beta, k, 24 - k).path for k in range(9)]
    learned = pl.fit([pl.Task.along(way) for way in ways], pl.Ridge(1e-2), tol=1e-2)
    found = pl.RecursiveLogit().scale(tasks[:60], learned)
    assert found.utilities[0] > 0.0
    assert found.names == ("scale",)
    assert found.costs(graph) == pytest.approx(found.utilities[0] * learned.costs(graph))
    assert found.site_costs(graph) == pytest.approx(found.costs(graph))
    of = pl.RecursiveLogit().scale(tasks[:60], learned.costs)
    assert of.utilities == pytest.approx(found.utilities)
    for factor in (0.97, 1.03):
        other = fixed(graph, -factor * found.utilities[0] * learned.w)
        assert other.log_likelihoods(tasks[:60]).sum() < found.log_likelihood
    reports = [pl.evaluate(tasks[60:], costs) for costs in (learned, found)]
    assert np.isnan(reports[0].metric("log_likelihood"))
    likely = reports[1].metric("log_likelihood")
    assert likely == pytest.approx(found.log_likelihoods(tasks[60:]).mean())
    assert reports[0].metric("exact_match") == reports[1].metric("exact_match")
    best = pl.evaluate(tasks[60:], pl.RecursiveLogit().fit(tasks[:60]))
    told = pl.compare(reports[1], best, draws=200, metrics=["log_likelihood"])["log_likelihood"]
    assert told.low <= told.difference <= told.high
    assert told.first == likely
    with pytest.raises(InputError, match="no costs of sites"):
        of.site_costs(graph)
    assert found.features == learned.features == graph.names
    with pytest.raises(InputError, match="names no features"):
        _ = of.features


def test_a_run_that_is_not_done_says_so():
    tasks, _, _ = planted(0, 40)
    with pytest.warns(UserWarning, match="2 rounds were done; give more max_rounds"):
        assert pl.RecursiveLogit(max_rounds=2).fit(tasks).status == "max_rounds"
    # The dearer of two ways is taken; the circles 2 <-> 3, which no trip can see, cost log 2.
    graph = pl.Graph([0, 0, 2, 2, 3, 3], [1, 1, 3, 3, 2, 2], [[1.0], [2.0], *[[1.0]] * 4])
    with pytest.warns(UserWarning, match="add a feature above 0"):
        found = pl.RecursiveLogit().fit([pl.Task(graph, 0, 1, graph.path(arcs=[1]))])
    assert found.status == "stalled"
    assert found.rounds < 60
    assert found.utilities[0] == pytest.approx(-np.log(2.0), rel=1e-6)
    assert found.utilities[0] < -np.log(2.0)


@pytest.mark.parametrize("unit", [1e-300, 1e-8, 1e8, 1e200])
def test_units_of_weights_do_not_matter(unit):
    tasks, _, _ = planted(7, 12)
    other = [
        pl.Task(t.graph, t.source, t.target, t.demonstration, weight=(1.0 + i) * unit)
        for i, t in enumerate(tasks)
    ]
    plain = [
        pl.Task(t.graph, t.source, t.target, t.demonstration, weight=1.0 + i)
        for i, t in enumerate(tasks)
    ]
    first, second = (pl.RecursiveLogit().fit(given) for given in (plain, other))
    assert second.status == "optimal"
    assert second.utilities == pytest.approx(first.utilities, rel=1e-6)
    assert second.log_likelihood / unit == pytest.approx(first.log_likelihood, rel=1e-9)
    assert second.covariance * unit == pytest.approx(first.covariance, rel=1e-6)
    assert second.robust == pytest.approx(first.robust, rel=1e-6)


def test_link_size_is_the_visits_on_the_way():
    """Two ways of one cost, one of them forked: with the link size the fork loses."""
    tail, head = np.array([0, 1, 1, 2, 0, 3]), np.array([1, 2, 2, 5, 3, 5])
    graph = pl.Graph(tail, head, [[1.0], [1.0], [1.0], [1.0], [1.5], [1.5]])
    ways = walks_of(graph, 0, 5, 4)
    tasks = [pl.Task.along(graph.path(arcs=way)) for way in ways]
    p = np.exp([-graph.features[way].sum() for way in ways])
    p /= p.sum()
    visits = np.zeros(graph.nodes)
    for way, chance in zip(ways, p, strict=True):
        visits[graph.head[way]] += chance
    nothing = np.zeros((2, 2))
    names = (*graph.names, "link size")
    made = pl.LogitFit(
        np.array([-1.0, -0.7]), names, np.nan, nothing, nothing, "optimal", 0, np.array([-1.0])
    )
    u = np.array([-graph.features[w].sum() - 0.7 * visits[graph.head[w]].sum() for w in ways])
    assert made.log_likelihoods(tasks) == pytest.approx(u - logsumexp(u), abs=1e-12)
    for costs in (made.costs, made.site_costs):
        with pytest.raises(InputError, match="another amount for each pair"):
            costs(graph)
    assert made.features == graph.names


def test_a_fit_with_link_size():
    tasks, _, beta = planted(5, 60)
    plain = pl.RecursiveLogit().fit(tasks)
    found = pl.RecursiveLogit(link_size=beta).fit(tasks)
    assert (found.status, found.names) == ("optimal", ("a", "b", "link size"))
    assert found.log_likelihood >= plain.log_likelihood
    assert found.log_likelihoods(tasks).sum() == pytest.approx(found.log_likelihood)
    assert abs(found.utilities[2]) < 3.0 * found.standard_errors[2]  # none was planted


def test_wrong_input_is_named():
    tasks, graph, _ = planted(6, 5)
    twice = pl.Graph(graph.tail, graph.head, graph.features[:, [0, 0]], names=["a", "again"])
    moved = again(tasks, twice)
    with pytest.raises(InputError, match="along a, again"):
        pl.RecursiveLogit().fit(moved)
    free = pl.Graph(graph.tail, graph.head, graph.features * [1.0, 0.0], names=["a", "none"])
    with pytest.raises(InputError, match="'none' is 0 on every arc"):
        pl.RecursiveLogit().fit(again(tasks, free))
    for size in (1e-200, 1e150):
        huge = pl.Graph(graph.tail, graph.head, graph.features * [1.0, size], names=graph.names)
        with pytest.raises(InputError, match=r"the feature 'b' is .* use a unit"):
            pl.RecursiveLogit().fit(again(tasks, huge))
    with pytest.raises(InputError, match="start needs 2 finite numbers"):
        pl.RecursiveLogit(start=[1.0]).fit(tasks)
    with pytest.raises(
        InputError, match=r"no start was found, up to utilities of 11585 times.*raise the costs"
    ):
        pl.RecursiveLogit(start=[1.0, 1.0]).fit(tasks)
    some = graph.features * (np.arange(graph.arcs) % 40 < 20)[:, None]
    idle = pl.Graph(graph.tail, graph.head, some, names=graph.names)
    with pytest.raises(InputError, match="no start was found"):
        pl.RecursiveLogit().fit(again(tasks, idle))
    with pytest.raises(InputError, match="must be learned"):
        pl.RecursiveLogit().scale(tasks, 3.0)
    with pytest.raises(InputError, match="max_rounds"):
        pl.RecursiveLogit(max_rounds=0)
    with pytest.raises(InputError, match="lacks b: it has features a, again"):
        pl.RecursiveLogit().fit(planted(6, 30)[0]).log_likelihoods(moved)
