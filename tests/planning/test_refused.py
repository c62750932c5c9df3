"""Wrong arguments of the whole room: one table, with a part of each message."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from relaxboost import functional as fn
from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning import maps

from . import small

# A square with a diagonal, and two arcs from "a" to "b".
NUMBERED = pl.Graph([0, 1], [1, 2], nodes=[1, "7", "n01_00"])
PAIRS = pl.Graph([0], [1], nodes=[(5, -3), (6, -3)])
SQUARE = pl.Graph(
    [0, 0, 1, 2, 3, 0],
    [1, 1, 2, 3, 0, 2],
    np.arange(12.0).reshape(6, 2),
    nodes=list("abcd"),
    keys=["slow", "fast", 0, 0, 0, 0],
)
NAN = [[1.0], [np.nan]]
ONES = np.ones((2, 3, 3))
LAND = pl.grid(np.arange(12.0).reshape(1, 3, 4))
THREE = pl.Graph([0, 1, 0], [1, 2, 2], nodes=4)
LINE = pl.Graph([0, 1, 1], [1, 0, 2])  # turns: 0 -> 1 (back), 0 -> 2, 1 -> 0 (back)
HUGE = np.full(3, 1.5e308)
TURNS = pl.turns(LINE, u_turns=False)
MADE = small.tasks(np.random.default_rng(0))
OTHER = small.tasks(np.random.default_rng(0), d=2)
SIGNED = small.tasks(np.random.default_rng(0), signed=True)
SHOWN = MADE[0].demonstration
# Two ways from "s" to "t", by "a" and by "b" and "c".
TWO = pl.Graph([0, 1, 0, 2, 3], [1, 4, 2, 3, 4], nodes=list("sabct"))
TRIPS = [pl.Task(TWO, "s", "t", way) for way in map(list, ("sat", "sbct"))]
REPORT = pl.evaluate(TRIPS, np.arange(1.0, 6.0))
STUMPS = fn.RegressionStumps()


def holed(value):
    """Return layers with one entry changed."""
    layers = ONES.copy()
    layers[1, 2, 0] = value
    return layers


def learned_on_other_features():
    return pl.LinearCosts(np.ones(2), ("x0", "x1"), 0.0, 1.0, "optimal", "bundle", 1, True)


def boosted(loss=None, **options):
    loss = pl.PlanningLoss("exponential") if loss is None else loss
    return pl.boost(MADE, STUMPS, loss, **options)


def compared(tasks, costs=None, **options):
    costs = np.ones(5) if costs is None else costs
    return pl.compare(REPORT, pl.evaluate(tasks, costs), **options)


def given(*gains):
    """Evaluate the loss of a demonstration with the gains of a user-defined loss."""

    class Given(pl.PathLoss):
        def gains(self, demonstration):
            return pl.Gains(*gains)

    return pl.Oracle([pl.Task.along(SHOWN, Given())])


CASES = [
    # graphs
    (lambda: pl.Graph([], []), "at least one arc"),
    (lambda: pl.Graph([0], [1, 2]), "tail has 1 entries and head has 2; give"),
    (lambda: pl.Graph([0.0], [1.0]), "tail must be a list of whole numbers"),
    (lambda: pl.Graph([0, 1], [1, 1]), r"arc 1 \(1 -> 1\) is a self-loop"),
    (lambda: pl.Graph([0], [3], nodes=3), "arc 0 has the head 3, but nodes are numbered 0 to 2"),
    (lambda: pl.Graph([-1], [0]), "arc 0 has the tail -1"),
    (lambda: pl.Graph([0, 1], [1, 0], NAN), r"feature 0 of arc 1 \(1 -> 0\) is nan"),
    (lambda: pl.Graph([0, 1], [1, 0], [["a"], ["b"]]), "array of numbers"),
    (lambda: pl.Graph([0, 1], [1, 0], [[1.0]]), r"features must have shape \(2, d\)"),
    (lambda: pl.Graph([0], [1], np.empty((1, 0))), "d >= 1"),
    (lambda: pl.Graph([0], [1], [[1.0, 2.0]], names=["x", "x"]), "2 different entries"),
    (lambda: pl.Graph([0], [1], nodes=["a", "a"]), "must be unique"),
    (lambda: pl.Graph([0], [1], nodes=[[1], [2]]), "hashable"),
    (
        lambda: pl.Graph([0], [1], position=[[0, 0]]),
        r"position must have shape \(2, 2\), got \(1, 2\)",
    ),
    (lambda: pl.Graph([0], [1], sites=csr_array([[1.0], [1.0]])), "1 rows, one per arc"),
    (lambda: pl.Graph([0], [1], sites=csr_array([[-1.0]])), "entries >= 0"),
    (lambda: pl.Graph([0], [1], keys=[0, 1]), "keys need 1 entries, one per arc, got 2"),
    (lambda: SQUARE.costs([1.0]), r"shape \(6,\), one per site \(an arc.* got \(1,\)$"),
    (lambda: SQUARE.costs([1.0, 2.0]), "weights of the 2 features, pass graph.arc_features @ w"),
    (lambda: SQUARE.node("z"), "no node 'z' in the graph of 4 nodes"),
    (SQUARE.path, "either nodes or arcs"),
    (lambda: SQUARE.path(["a", "c"], arcs=[5]), "either nodes or arcs"),
    (lambda: SQUARE.path(["a"]), "at least two nodes"),
    (lambda: SQUARE.path(arcs=[]), "at least one arc|whole numbers"),
    (lambda: SQUARE.path(["b", "d"]), "step 1 of the path: there is no arc 'b' -> 'd' in"),
    (lambda: SQUARE.path(["d", "a", "b"]), r"step 2 .* parallel arcs \[0, 1\].*graph\.arc\(tail"),
    (lambda: SQUARE.arc("a", "b", "x"), "key 'x' in .*these nodes have the keys 'slow', 'f"),
    (lambda: SQUARE.path(arcs=[("a", "b", "slow")]), r"arcs=\[graph\.arc\(\*edge\) for edge in ed"),
    (lambda: NUMBERED.node("1"), "no node '1' .*the graph has 1, so write both the same way"),
    (lambda: NUMBERED.node("7.0"), "the graph has '7', so write both"),
    (
        lambda: PAIRS.node("(5, -3)"),
        r"has the tuple \(5, -3\), so convert .* with ast.literal_eval",
    ),
    (lambda: PAIRS.node("(5, 4)"), r"no node '\(5, 4\)' in the graph of 2 nodes$"),
    (lambda: NUMBERED.node("n1_00"), r"did you mean n01_00\?"),
    (lambda: SQUARE.path(arcs=[0, 3]), r"step 2 of the path, arc 3 .* does not start at 'b'"),
    (lambda: SQUARE.path(arcs=[9]), "arcs are numbered 0 to 5"),
    (lambda: SQUARE.arc("a", "b"), "'a' -> 'b' is ambiguous between the parallel arcs"),
    (lambda: SQUARE.arc("b", "a"), "there is no arc 'b' -> 'a' in the graph"),
    (lambda: pl.Graph([0], [1]).arc(0, 1, "k"), "have no keys"),
    (lambda: pl.Path(SQUARE, np.array([-1])), "is arc -1"),
    # grids
    (lambda: pl.grid(np.ones(4)), r"layers must have shape \(L, H, W\) or \(H, W\)"),
    (lambda: pl.grid([["a"]]), "layers must be an array of numbers"),
    (
        lambda: pl.grid(ONES, np.ones((3, 2))),
        r"passable must have shape \(3, 3\), like a layer",
    ),
    (lambda: pl.grid(ONES, np.full((3, 3), 2)), "passable must be an array of bool"),
    (lambda: pl.grid(ONES, np.full((3, 3), "x")), "passable must be an array of bool"),
    (lambda: pl.grid(holed(np.nan)), r"layer 1 is nan at the passable cell \(2, 0\)"),
    (lambda: pl.grid(ONES, names=["a"]), "names must have 2 different entries"),
    (lambda: pl.grid(ONES, names=["a", "a"]), "2 different entries"),
    (lambda: pl.grid(ONES, neighbours=6), "neighbours must be one of 8, 4"),
    (lambda: pl.grid(ONES, corners="all"), "corners must be one of both, one, free"),
    (lambda: pl.grid(ONES, np.zeros((3, 3))), "0 of 9 cells are passable"),
    (lambda: pl.grid([[1.0]]), "the 1 x 1 grid has no arc, because no two passable"),
    (lambda: pl.grid(ONES).node((3, 0)), r"no cell \(3, 0\); cells are pairs \(row, column\)"),
    (lambda: pl.grid(ONES).node(4), "no cell 4"),
    (
        lambda: pl.grid(ONES, neighbours=4).path([(0, 0), (2, 2)]),
        r"in the graph; arcs from \(0, 0\) lead to \(0, 1\), \(1, 0\)",
    ),
    (lambda: pl.Graph([0], [1]).path([1, 0]), "no arc 1 -> 0 in the graph; no arc leaves 1"),
    # turns
    (
        lambda: pl.turns(LINE, [1.0, 2.0]),
        r"with P = 3, one row per turn in the order of turn_pairs, got \(2, 1\)",
    ),
    (lambda: pl.turns(LINE, ["a"] * 3), "turn features must be an array of numbers"),
    (lambda: pl.turns(LINE, [0.0, np.nan, 0.0]), "from arc 0 to arc 2 is nan"),
    (lambda: pl.turns(LINE, lambda e, f: np.ones(2)), "turn features must have shape"),
    (lambda: pl.turns(LINE, np.ones(3), names=["a", "b"]), "names must have 1 entries"),
    (lambda: pl.turns(LINE, np.ones(3), names=["x0"]), "not used in the graph"),
    (
        lambda: pl.turns(LINE, allowed=[1, 0, 1]),
        r"allowed must have shape \(3,\) and type bool",
    ),
    (lambda: pl.turn_angles(LINE), r'turn_angles .* position=\("x", "y"\)'),
    (lambda: TURNS.lift(LINE.path([0, 1, 0])), r"step 2 .* turns from arc 0 .* not allowed"),
    (
        lambda: TURNS.lift(TURNS.lift(LINE.path([0, 1]))),
        "lift needs a path in the graph from which",
    ),
    (lambda: TURNS.lower(LINE.path([0, 1])), "lower needs a path in this turn graph"),
    (lambda: TURNS.lower(TURNS.path(arcs=[0])), "lower needs a path in this turn graph"),
    (lambda: TURNS.start(7), "no node 7"),
    (lambda: TURNS.node(("arc", 3)), "no node"),
    # plans
    (lambda: pl.shortest_path(THREE, [1, 2], 0, 2), r"costs must have shape \(3,\)"),
    (lambda: pl.shortest_path(THREE, ["a", "b", "c"], 0, 2), "array of numbers"),
    (
        lambda: pl.shortest_path(THREE, {"x0": 1.0}, 0, 2),
        r"each arc, got a dict; .* fit\.costs\(gr",
    ),
    (
        lambda: pl.shortest_path(THREE, learned_on_other_features(), 0, 2),
        r"each arc, got a LinearCosts; for the costs of a fit, pass fit\.costs\(graph\)",
    ),
    (
        lambda: pl.shortest_path(nx.DiGraph([(0, 1)]), [1], 0, 1),
        r"planning\.Graph, got networkx\.DiGraph; from_networkx converts a networkx graph",
    ),
    (lambda: pl.shortest_path(THREE, [1, np.inf, 1], 0, 2), r"cost of arc 1 \(1 -> 2\) is inf"),
    (lambda: pl.shortest_path(THREE, [1, 1, -1e305], 0, 2), "divide all costs"),
    (lambda: pl.shortest_path(THREE, [1, 1, 1], 0, 0), "same node, 0"),
    (lambda: pl.shortest_path(THREE, [1, 1, 1], 0, 9), "no node 9"),
    (lambda: pl.shortest_path(THREE, [1, 1, 1], 3, 0), "no path from 3 to 0; no arc leaves"),
    (lambda: pl.shortest_path(THREE, [1, 1, 1], 1, 0), "no path from 1 to 0; no arc enters"),
    (lambda: pl.shortest_path(THREE, [1, 1, 1], 0, 3, "simple"), "no path from 0 to 3"),
    (
        lambda: pl.shortest_path(THREE, [1, 1, 1], 0, 2, "fast"),
        "planner must be one of auto, simple, or a function, got 'fast'",
    ),
    (lambda: pl.shortest_path(THREE, [1, 1, 1], 0, 2, pl.Simple), "or a function, got <class"),
    (lambda: pl.Simple(time_limit=0.0), "time_limit must be a positive"),
    (lambda: pl.shortest_paths(THREE, [1, 1, 1], []), "list of pairs is empty"),
    (lambda: pl.shortest_paths(THREE, [1, 1, 1], [(0, 1), 2]), r"pairs\[1\] must be"),
    (lambda: pl.shortest_paths(THREE, [1, 1, 1], [(0, 7)]), r"pairs\[0\]: there is no node 7"),
    (lambda: pl.shortest_paths(THREE, [1, 1, 1], [(1, 1)]), r"pairs\[0\]: source and target"),
    (lambda: pl.fit([[0, 1, 2]]), r"tasks\[0\] is \[0, 1, 2\]; make tasks with Task\("),
    (lambda: pl.check_plan(pl.Plan(LINE.path([0, 1]), HUGE, np.zeros(3), "")), "within ±1e"),
    # losses and their oracle
    (lambda: pl.Missed(scale=0.0), "scale"),
    (lambda: pl.Missed(lambda g: np.zeros(g.arcs)).gains(SHOWN), "weight must return"),
    (lambda: pl.Distance(1.0).gains(LINE.path([0, 1, 2])), "position"),
    (lambda: given(1.0, None, np.zeros(SHOWN.graph.arcs)), "demonstration itself"),
    (lambda: given(0.0, np.array([1, 1]), np.zeros(2)), "each arc once"),
    (lambda: given(0.0, None, np.zeros(1)), "gains must have shape"),
    (lambda: given(math.nan, None, np.zeros(SHOWN.graph.arcs)), "gains must be finite"),
    (lambda: pl.Oracle(MADE, "no"), "negative"),
    (lambda: pl.Oracle(MADE).evaluate([np.full(SHOWN.graph.arcs, np.nan)]), "must be finite"),
    # problems and fits
    (lambda: pl.Problem([]), "empty"),
    (lambda: pl.Problem(MADE, "ridge"), "regulariser must be a Regulariser object"),
    (lambda: pl.Problem(MADE, scale="metres"), 'scale must be "rms" or "none"'),
    (lambda: pl.Problem([*MADE, *OTHER]), "same features"),
    (lambda: pl.Problem(SIGNED), "shift it to >= 0"),
    (lambda: pl.Problem(MADE).at([1.0]), "finite entries"),
    (lambda: pl.Problem(MADE).at([0.0, -1.0, 0.0]), r"feature 'x1'.*nonnegative=False"),
    (lambda: pl.Ridge(0.0), "strength must be a positive number"),
    (lambda: pl.Bundle(max_cuts=0), "max_cuts"),
    (lambda: pl.Bundle(patience=0), "patience"),
    (lambda: pl.fit(MADE, method="magic"), '"bundle" or a Bundle'),
    (lambda: pl.fit(MADE, method=pl.Bundle(start=[1.0])), "start must have 3"),
    (lambda: pl.fit(MADE, method=pl.Bundle(start=learned_on_other_features())), "was learned for"),
    (lambda: pl.fit(MADE, callback=3), "callback"),
    (lambda: pl.fit(MADE, tol=0.0), "tol"),
    (lambda: pl.fit(MADE, max_rounds=0), "max_rounds"),
    (lambda: pl.fit(MADE, time_limit=-1.0), "time_limit"),
    (lambda: pl.fit(pl.Problem(MADE), pl.Lasso()), "a Problem, which has its own"),
    (
        lambda: pl.program(pl.Problem(MADE, nonnegative=False, negative="simple")),
        'negative="relaxed"',
    ),
    (lambda: pl.program(MADE), r"planning\.Problem"),
    (
        lambda: learned_on_other_features().costs(TWO),
        "the graph lacks the features x1; its features are x0, but",
    ),
    # boosting
    (lambda: pl.PlanningLoss("log"), "link must be one of additive, exponential"),
    (lambda: pl.PlanningLoss(negative="no"), "negative must be one of"),
    (lambda: pl.PlanningLoss(base=0.0), "base must be a positive number"),
    (lambda: pl.PlanningLoss(base=boosted(stopping=1)), "these costs are not linear; to continue"),
    (lambda: pl.PlanningLoss(base=[1.0, 2.0]), "a number, linear costs, or a function .* an array"),
    (lambda: boosted(pl.PlanningLoss(base=lambda g: [1.0, 2.0])), "finite costs .*of shape"),
    (lambda: boosted(pl.PlanningLoss(base=lambda g: np.full(g.size, np.nan))), "finite costs"),
    (
        lambda: boosted(pl.PlanningLoss("exponential", base=lambda g: np.zeros(g.size))),
        "base must give costs > 0 for the exponential link, but site 0 .* has 0; raise this cost",
    ),
    (lambda: pl.PlanningLoss("exponential", strength=1.0), "only the additive link has a strength"),
    (lambda: pl.PlanningLoss().bind([], groups=[1]), "groups"),
    (lambda: pl.PlanningLoss().bind(MADE).conjugate(None), r"planning\.fit, which"),
    (lambda: fn.optimum(pl.PlanningLoss().bind(MADE), np.ones((15, 2))), r"planning\.fit, which"),
    (lambda: boosted(algorithm=fn.Residual(step="line-search")), "line-search"),
    (lambda: boosted(stopping=fn.Stopping(validation=3)), r"tasks, such as \[task\], got 3"),
    (lambda: boosted(stopping=fn.Stopping(validation=OTHER)), "graphs with the same features"),
    (lambda: boosted(stopping=0), "stopping must be"),
    (lambda: boosted(algorithm="none"), "algorithm must be one of"),
    (lambda: boosted(warm_start=3), "warm_start must be the result of planning.boost"),
    (lambda: boosted("exponential"), "loss must be a PlanningLoss"),
    (lambda: pl.boost([*MADE, *OTHER], STUMPS), "tasks must have graphs with the same features"),
    # evaluations and folds
    (lambda: pl.evaluate(TRIPS, np.ones(6)), r"shape \(5,\).*; graph.costs\(C\) converts"),
    (lambda: pl.evaluate(TRIPS, [1.0]), r"got \(1,\); if these are weights of the 1 features"),
    (lambda: pl.evaluate(TRIPS, [1.0, 1.0, math.nan, 1.0, 1.0]), "arc 2"),
    (lambda: pl.evaluate([], np.ones(5)), "tasks is empty"),
    (lambda: pl.evaluate(TRIPS, np.ones(5), negative="never"), "negative must"),
    (
        lambda: pl.evaluate([*TRIPS, *MADE], np.ones(5)),
        "the tasks have 2 graphs, so a single array of costs",
    ),
    (lambda: REPORT.metric("luck"), "'luck' is not a metric"),
    (lambda: pl.Evaluation.joined([]), "at least one"),
    (lambda: pl.compare(REPORT, np.ones(5)), r"compare needs two results of evaluate\(tasks, c"),
    (lambda: compared(TRIPS[:1]), "2 and 1 tasks"),
    (lambda: compared(TRIPS[::-1], np.arange(1.0, 6.0)), "task 0"),
    (lambda: compared(TRIPS, np.arange(1.0, 6.0), draws=10), "at least 100"),
    (lambda: pl.split(TRIPS, 1), "at least 2"),
    (lambda: pl.split(TRIPS, 2, by="pair"), "as many groups"),
    (lambda: pl.split(TRIPS[:1] * 3, 2), "2 folds need at least as many clus.* are 1; use"),
    (lambda: pl.split(TRIPS, 2, by="weather"), "by must be one of overlap, pair"),
    (lambda: pl.split(TRIPS, 2, by=None), "by must be one of overlap, pair"),
    (lambda: pl.split(TRIPS, 2, by=["x"]), "1 entries for 2"),
    # unknown arguments
    (
        lambda: pl.fit(TRIPS, loss=pl.Strayed()),
        "fit has no argument loss; the loss belongs to each",
    ),
    (
        lambda: pl.fit(TRIPS, max_round=5),
        r"fit has no argument max_round; did you mean max_rounds\?",
    ),
    (lambda: pl.fit(TRIPS, seed=5), "fit has no argument seed; its arguments are tasks, regular"),
    (lambda: pl.boost(TRIPS, rounds=5), "boost has no argument rounds; .* stopping=100"),
    # pictures
    (lambda: maps.paths("map"), "a picture needs a Task, a list of tasks or a Graph"),
    (lambda: maps.paths([LAND]), "a picture needs a Task, a list of tasks or a Graph"),
    (lambda: maps.paths([]), "the list of tasks is empty"),
    (lambda: maps.paths(LAND, [(0, 0), (0, 1)]), "planned must be a Path, a Plan or a list of"),
    (lambda: maps.paths(LAND, TWO.path(["s", "a"])), "is a path of another graph"),
    (lambda: maps.paths(LAND, costs=np.ones(3)), r"costs must have shape \(12,\), one per site"),
    (lambda: maps.paths(pl.Graph(np.arange(400), np.arange(1, 401))), "picture of 401 nodes"),
]


@pytest.mark.parametrize(("work", "match"), CASES)
def test_wrong_arguments_are_named(work, match):
    with pytest.raises(InputError, match=match):
        work()
