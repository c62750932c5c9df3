"""What plans prove: wrong potentials, paths and costs are found out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from relaxboost.planning import Graph, NoPath, check_plan, shortest_path
from tests.planning import slow


def test_a_huge_cost_far_away_does_not_blunt_the_proof():
    graph = Graph([0, 1, 0, 3], [1, 2, 3, 2])
    costs = np.array([1.0, 1.0, 1e300, 1.0])
    plan = shortest_path(graph, costs, 0, 2)
    found = check_plan(plan)
    assert found.ok
    assert found.upper - found.lower < 1e-12
    worse = replace(plan, path=graph.path([0, 3, 2]))
    assert not check_plan(worse).ok


def tampered(plan):
    """Yield plans that are wrong, each with what was done."""
    graph, π = plan.path.graph, plan.potential
    on = [int(n) for n in plan.path.numbers]
    # A path between two nodes has one arc, and by as much as it fails the bound is lowered.
    for sign in (-1.0, 1.0) if graph.nodes > 2 else ():
        for node in on:
            wrong = π.copy()
            wrong[node] += sign * 1e-3
            yield f"potential of {node} by {sign}", replace(plan, potential=wrong)
    for value in (math.inf, -math.inf, math.nan):
        wrong = π.copy()
        wrong[on[-1]] = value
        yield f"potential {value}", replace(plan, potential=wrong)
    yield "too few potentials", replace(plan, potential=π[:-1])
    yield "no potentials", replace(plan, potential=None)
    best = plan.cost
    for arcs in slow.simple_paths(graph, on[0], on[-1]):
        if plan.costs[arcs].sum() > best + 1e-6:
            yield "path", replace(plan, path=graph.path(arcs=arcs))
    if graph.nodes > 2:
        for arc in plan.path.arcs:
            for change in (-1e-3, 1e-3):
                wrong = plan.costs.copy()
                wrong[arc] += change
                yield f"cost of {arc}", replace(plan, costs=wrong)


def test_wrong_proofs_are_rejected(rng):
    seen = 0
    for _ in range(140):
        graph = slow.random_graph(rng, 6)
        costs = 0.1 + rng.random(graph.arcs)
        s, t = (int(n) for n in rng.choice(graph.nodes, 2, replace=False))
        try:
            plan = shortest_path(graph, costs, s, t)
        except NoPath:
            continue
        for what, wrong in tampered(plan):
            found = check_plan(wrong)
            assert not found.ok, what
            assert found.reason
            # What is still said to be proved has to be true.
            exact = slow.exact_length(graph, wrong.costs, s, t)
            assert found.lower == -math.inf or Fraction(found.lower) <= exact
            seen += 1
    assert seen > 1000
