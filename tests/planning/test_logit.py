"""The recursive logit: against all walks of small graphs, differences, and planted utilities."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from relaxboost import planning as pl
from tests.planning import slow, small


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
        ways = slow.walks(graph, source, 6)
        tasks = [pl.Task.along(graph.path(arcs=way)) for way in ways]
        u = np.array([task.demonstration.features() @ beta for task in tasks])
        found = fixed(graph, beta).log_likelihoods(tasks)
        assert found == pytest.approx(u - logsumexp(u), abs=1e-12)
        assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-12)


def test_the_spectral_radius_of_random_graphs_decides():
    """Against eigenvalues; then costs are moved so that the radius is 1 ± 1e-9."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 25))
        tail, head = rng.integers(n, size=(2, int(rng.integers(n, 4 * n))))
        tail, head = np.append(tail[tail != head], [0, 1]), np.append(head[tail != head], [1, 0])
        cost = rng.uniform(-0.5, 3.0, tail.size) * rng.choice([0.3, 1.0, 2.0])
        M = np.zeros((n, n))
        np.add.at(M, (tail, head), np.exp(-cost))
        radius = float(np.abs(np.linalg.eigvals(M)).max())
        for rate in (radius, 1.0 - 1e-9, 1.0 + 1e-9):
            other = pl.Graph(tail, head, (cost + np.log(radius / rate))[:, None], nodes=n)
            try:
                fixed(other, [-1.0]).probabilities(other, 0)
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


def test_sums_above_the_largest_double_are_refused_as_such():
    """A ladder of 1100 steps has 2^1100 ways: too many at cost 0, not at cost 0.1."""
    steps = np.repeat(np.arange(1100), 2)
    graph = pl.Graph(steps, steps + 1, np.ones((2200, 1)))
    task = pl.Task.along(graph.path(arcs=np.arange(0, 2200, 2)))
    assert fixed(graph, [-0.1]).log_likelihoods([task])[0] == pytest.approx(-1100 * np.log(2.0))
    with pytest.raises(pl.EndlessWalks, match=r"so many.*above 1e308; raise the costs"):
        fixed(graph, [0.0]).log_likelihoods([task])


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


def test_covariances_are_those_of_differences():
    """The Hessian and the scores at the optimum, against central differences of log p."""
    for seed, sites in ((0, False), (1, True)):
        tasks = problem(seed, sites=sites)
        weight = np.array([task.weight for task in tasks])
        found = pl.RecursiveLogit().fit(tasks)
        h, d = 1e-4 * np.abs(found.utilities).max(), found.utilities.size

        def value(step, found=found, tasks=tasks):
            moved = replace(found, utilities=found.utilities + step)
            return moved.log_likelihoods(tasks)

        E = h * np.eye(d)
        scores = np.array([(value(e) - value(-e)) / (2 * h) for e in E]).T
        assert weight @ scores == pytest.approx(np.zeros(d), abs=1e-4 * np.abs(scores).max())
        H = [
            [(value(a + b) - value(a - b) - value(b - a) + value(-a - b)) @ weight for b in E]
            for a in E
        ]
        covariance = np.linalg.inv(-np.array(H) / (4 * h * h))
        assert found.covariance == pytest.approx(covariance, rel=1e-3, abs=1e-3 * covariance.max())
        outer = (weight[:, None] * scores).T @ (weight[:, None] * scores)
        assert found.robust == pytest.approx(
            covariance @ outer @ covariance, rel=1e-2, abs=1e-2 * np.abs(found.robust).max()
        )


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


@pytest.mark.parametrize("unit", [1e-300, 1e-8, 1e200])
def test_units_of_features_and_weights_do_not_matter(unit):
    paths = [task.demonstration for task in planted(1, 40)[0]]
    plain, other = (
        [pl.Task.along(path, weight=(1.0 + i) * by) for i, path in enumerate(paths)]
        for by in (1.0, unit)
    )
    scale = np.array([1e6, 1e-4])
    moved = small.moved(other, paths[0].graph.features * scale)
    first, second = (pl.RecursiveLogit().fit(given) for given in (plain, moved))
    assert second.status == "optimal"
    assert second.utilities * scale == pytest.approx(first.utilities, rel=1e-5)
    assert second.log_likelihood / unit == pytest.approx(first.log_likelihood, rel=1e-9)
    both = np.outer(scale, scale)
    assert second.covariance * both * unit == pytest.approx(first.covariance, rel=1e-4)
    assert second.robust * both == pytest.approx(first.robust, rel=1e-4)


def test_a_run_that_is_not_done_says_so():
    tasks, _, _ = planted(0, 40)
    with pytest.warns(UserWarning, match="ended after 2 rounds; pass a larger max_rounds"):
        assert pl.RecursiveLogit(max_rounds=2).fit(tasks).status == "max_rounds"
    # The dearer of two ways is taken; the circles 2 <-> 3, which no trip can see, cost log 2.
    graph = pl.Graph([0, 0, 2, 2, 3, 3], [1, 1, 3, 3, 2, 2], [[1.0], [2.0], *[[1.0]] * 4])
    with pytest.warns(UserWarning, match="add a feature above 0"):
        found = pl.RecursiveLogit().fit([pl.Task(graph, 0, 1, graph.path(arcs=[1]))])
    assert found.status == "stalled"
    assert found.rounds < 60
    assert found.utilities[0] == pytest.approx(-np.log(2.0), rel=1e-6)
    assert found.utilities[0] < -np.log(2.0)
