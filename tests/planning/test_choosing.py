"""`fit` at its defaults: any units, a strength by folds, and what it says of nothing learned."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.loop import Clock, TimeUp
from relaxboost.planning import choosing

from . import small


def roads(rng, nodes=150):
    """A planar network: lengths, minutes and tolls."""
    plain = small.planar(rng, nodes, 9.0)
    length = plain.features[:, 0]
    X = np.column_stack([length, length / rng.choice([30.0, 80.0], length.size) * 60.0])
    X = np.column_stack([X, rng.random(length.size) < 0.1])
    graph = pl.Graph(plain.tail, plain.head, X, names=["km", "minutes", "toll"], nodes=nodes)
    return graph, X @ np.array([0.3, 1.0, 4.0])


def trips(rng, graph, costs, count, noise=0.0):
    made = []
    while len(made) < count:
        a, b = (graph.label(int(k)) for k in rng.choice(graph.nodes, 2, replace=False))
        felt = costs * rng.uniform(1.0 - noise, 1.0 + noise, costs.size)
        made.append(pl.Task.along(pl.shortest_path(graph, felt, a, b).path))
    return made


UNITS = [[1.0, 1.0, 1.0], [6.2e-4, 1 / 60.0, 3e7], [1e3, 60.0, 1e-9]]
"""As they are; kilometres as miles, minutes as hours; as metres and seconds."""


def test_planted_costs_are_found_at_defaults_in_any_units():
    rng = np.random.default_rng(1)
    graph, costs = roads(rng)
    shown, held = trips(rng, graph, costs, 80), trips(rng, graph, costs, 100)
    found, plans = [], []
    for units in UNITS:
        fit = pl.fit(small.moved(shown, graph.features * units), tol=1e-2)
        report = pl.evaluate(small.moved(held, graph.features * units), fit)
        own = [plan.cost(costs) for plan in report.plans]
        least = [task.demonstration.cost(costs) for task in held]
        assert np.isclose(own, least, rtol=1e-9, atol=0.0).mean() >= 0.95
        found.append((fit.w * units, fit.chosen.strength))
        plans.append([plan.arcs.tolist() for plan in report.plans])
    assert all(one == plans[0] for one in plans)
    for w, strength in found[1:]:
        assert w == pytest.approx(found[0][0], rel=1e-5)
        assert strength == pytest.approx(found[0][1], rel=1e-9)
    tiny = pl.Problem(small.moved(shown, graph.features * 1e-6), pl.Ridge(1e-3), scale="none")
    with pytest.warns(UserWarning, match="learned costs are all 0"):
        assert pl.fit(tiny).chosen is None


def test_noise_may_ask_for_strength():
    """Twelve features say nothing; without noise the weakest is right, with noise the strongest."""
    rng = np.random.default_rng(2)
    graph, costs = roads(rng, 60)
    X = np.column_stack([graph.arc_features, rng.random((graph.arcs, 12))])
    wide = pl.Graph(graph.tail, graph.head, X, nodes=graph.nodes)
    found = []
    for count, noise in ((24, 0.0), (24, 0.3), (24, 0.5), (14, 0.3)):
        chosen = pl.fit(trips(rng, wide, costs, count, noise), tol=1e-2).chosen
        assert (chosen.folds, len(chosen.scores)) == (3, len(choosing.StrengthSearch().ratios))
        found.append(chosen.strengths.index(chosen.strength))
        alike = [k for k, x in enumerate(chosen.scores) if x >= max(chosen.scores) - 0.005]
        assert found[-1] == alike[-1]
    assert (found[0], found[-1]) == (3, 0)


@pytest.mark.parametrize("seed", [1, 3])
def test_scores_are_those_of_separate_fits(seed):
    """Cuts are kept from strength to strength; where fits are accurate that changes no plan."""
    accurate = choosing.StrengthSearch(tol=1e-6, rounds=1000, least=0.0)
    rng = np.random.default_rng(seed)
    graph, costs = roads(rng, 60)
    tasks = trips(rng, graph, costs, 24, 0.5)
    problem = pl.Problem(tasks)
    picked, near = choosing.choose(problem, Clock(), accurate)
    assert near.shape == (3,)
    for strength, score in zip(picked.strengths, picked.scores, strict=True):
        f1 = []
        for fold in pl.split(tasks, 3):
            part = problem.changed([tasks[i] for i in fold.train], pl.Ridge(strength))
            fit = pl.fit(part, tol=1e-6)
            each = pl.evaluate([tasks[i] for i in fold.test], fit).each
            f1 += (2.0 * each.shared_arcs / (each.shown_arcs + each.planned_arcs)).tolist()
        assert np.mean(f1) == pytest.approx(score, abs=1e-12)


def test_too_few_trips_and_too_little_time():
    rng = np.random.default_rng(2)
    graph, costs = roads(rng, 60)
    few = pl.fit(trips(rng, graph, costs, choosing.StrengthSearch().clusters - 1)).chosen
    assert (few.folds, len(few.strengths)) == (0, 1)
    assert repr(few) == f"Chosen(strength {few.strength:.3g}, without folds)"
    assert np.isnan(few.scores).all()
    start = pl.Problem(trips(rng, graph, costs, 20))
    late = Clock(1e-9)
    picked, _ = choosing.choose(start, late)
    assert (picked.folds, picked.ended) == (0, "time_limit")


def test_a_problem_without_a_regulariser_is_chosen_for_too():
    rng = np.random.default_rng(2)
    graph, costs = roads(rng, 60)
    tasks = trips(rng, graph, costs, 14, 0.3)
    first, second = pl.fit(tasks), pl.fit(pl.Problem(tasks))
    assert repr(first.chosen).startswith(f"Chosen(strength {first.chosen.strength:.3g}; F1 on 3 f")
    assert (first.chosen, first.w.tolist()) == (second.chosen, second.w.tolist())
    assert first.problem.regulariser == pl.Ridge(first.chosen.strength)
    assert pl.fit(pl.Problem(tasks, pl.Ridge())).chosen is None
    assert not pl.Problem(tasks, nonnegative=False).chooses


@pytest.mark.parametrize("calls", [1, 4])
def test_a_time_limit_that_ends_the_choice_is_warned_of(monkeypatch, calls):
    rng = np.random.default_rng(2)
    graph, costs = roads(rng, 60)
    tasks = trips(rng, graph, costs, 14, 0.3)
    done, step = [], choosing._Fold.fit

    def slow(fold, *given):
        done.append(fold)
        if len(done) > calls:
            raise TimeUp
        return step(fold, *given)

    monkeypatch.setattr(choosing._Fold, "fit", slow)
    said = "which tried no strength" if calls < 3 else "which tried only 1 strength"
    with pytest.warns(UserWarning, match=f"ended the cross-validation .*, {said}") as caught:
        found = pl.fit(tasks)
    assert found.chosen.ended == "time_limit"
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:the learned costs are all 0")
@pytest.mark.parametrize(("calls", "tol"), [(1, 1e-3), (3, 1e-3), (7, 1e-3), (7, 0.999)])
def test_ctrl_c_while_a_strength_is_chosen(monkeypatch, calls, tol):
    """Three folds of the first strengths are done, then Ctrl-C: these remain, and a bracket."""
    rng = np.random.default_rng(2)
    graph, costs = roads(rng, 60)
    tasks = trips(rng, graph, costs, 14, 0.3)
    whole, done, step = pl.fit(tasks), [], choosing._Fold.fit

    def pressed(fold, *given):
        done.append(fold)
        if len(done) > calls:
            raise KeyboardInterrupt
        return step(fold, *given)

    monkeypatch.setattr(choosing._Fold, "fit", pressed)
    found = pl.fit(tasks, tol=tol)
    assert (found.status, found.chosen.ended, found.rounds) == ("interrupted", "interrupted", 1)
    assert 0.0 <= found.lower < found.upper < np.inf
    if calls < 3:
        assert (found.chosen.folds, len(found.chosen.strengths)) == (0, 1)
    else:
        assert found.chosen.scores == whole.chosen.scores[: calls // 3]


@pytest.mark.filterwarnings("ignore:feature toll is 0 on every arc")
@pytest.mark.parametrize(
    "learn",
    [
        pl.fit,
        lambda tasks: pl.fit(tasks, pl.Ridge(1e-7)),
        lambda tasks: pl.fit(tasks, pl.Lasso(0.1)),
        lambda tasks: pl.fit(tasks, pl.L1Radius(1.0)),
        lambda tasks: pl.fit(pl.Problem(tasks, pl.Ridge(0.1), nonnegative=False)),
    ],
)
def test_a_column_of_zeros_has_the_weight_0(learn):
    rng = np.random.default_rng(2)
    graph, costs = roads(rng, 60)
    tasks = trips(rng, graph, costs, 8)
    X = graph.features * [1.0, 1.0, 0.0]
    found = learn(small.moved(tasks, X, names=graph.names))
    assert found.weights["toll"] == 0.0 < found.w.max()


def fork(d=2):
    """Two ways from 0 to 3, of which the first is better by every feature."""
    return pl.Graph([0, 1, 0, 2], [1, 3, 2, 3], np.array([[1.0], [1.0], [2.0], [2.0]]) * np.ones(d))


def test_what_went_wrong_is_said_with_the_remedy():
    g = fork()
    good, bad = pl.Task(g, 0, 3, [0, 1, 3]), pl.Task(g, 0, 3, [0, 2, 3])
    with pytest.warns(UserWarning, match=r"shortest path by each feature \(x0, x1\) alone"):
        pl.fit([good], pl.Ridge(1e-3))
    with pytest.warns(UserWarning, match="all 0, so that every path is shortest: Ridge"):
        pl.fit([bad], pl.Ridge(1e-3))
    with pytest.warns(UserWarning, match="no path has a loss"):
        pl.fit([pl.Task(g, 0, 3, [0, 2, 3], pl.NoLoss())])
    with pytest.warns(UserWarning, match="the only path"):
        pl.fit([pl.Task(g, 0, 1, [0, 1])])
    rng = np.random.default_rng(0)
    network, costs = roads(rng, 60)
    with pytest.warns(
        UserWarning, match="ended with 'max_rounds' after 1 round; allow more rounds"
    ):
        pl.fit(trips(rng, network, costs, 8), pl.Ridge(1e-6), max_rounds=1)


def test_progress_is_shown_on_a_terminal_only(capsys, monkeypatch):
    tasks = small.tasks(np.random.default_rng(0))
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda on=terminal: on)
        pl.fit(tasks, pl.Ridge(0.1), verbose=1)
        assert ("gap" in capsys.readouterr().err) == terminal
