"""Where boosting starts, how many rounds it takes, and how both are overridden."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost import planning as pl
from relaxboost._core.loop import Clock
from relaxboost.functional import RegressionStumps, Stopping, Trees
from relaxboost.planning import choosing, starting
from relaxboost.planning.oracle import Oracle

FOLDS = {"validation": "folds"}


@lru_cache
def town(product, noise=0.0, seed=0, trips=60, side=12):
    """Trips over streets with length, slope and crossings; a product of the last two may cost."""
    rng = np.random.default_rng(seed)
    blocks = pl.grid(np.ones((1, side, side)), neighbours=4)
    count = blocks.arcs
    X = np.column_stack([rng.uniform(0.8, 1.2, count), rng.random(count), rng.poisson(1.0, count)])
    graph = pl.Graph(blocks.tail, blocks.head, X, names=["length", "slope", "crossings"])
    costs = X @ [1.0, 0.2, 0.1] + product * X[:, 1] * X[:, 2]
    made = []
    while len(made) < trips:
        s, t = rng.integers(graph.nodes, size=2).tolist()
        if abs(s // side - t // side) + abs(s % side - t % side) > side // 2:
            felt = costs * np.exp(noise * rng.normal(size=count))
            made.append(pl.Task.along(pl.shortest_path(graph, felt, s, t).path))
    return made


def test_it_starts_from_linear_costs_and_finds_a_product():
    shown, held = town(3.0)[:40], town(3.0)[40:]
    linear = pl.fit(shown)
    found = pl.boost(shown, Trees(3), stopping=Stopping(12, **FOLDS))
    assert np.array_equal(found.loss.base.w, linear.w)
    graph = held[0].graph
    assert np.array_equal(found.site_costs(graph, 0), graph.features @ linear.w)
    choice = found.choice
    assert (choice.folds, len(choice.scores), choice.ended) == (3, 13, "")
    assert choice.scores[choice.rounds] == max(choice.scores) > choice.scores[0] + choice.error
    chosen, best = choice.rounds, choice.scores[choice.rounds]
    said = f"{chosen} rounds of 12; F1 on 3 folds: {choice.scores[0]:.3f} -> {best:.3f}"
    assert repr(choice) == f"ChosenRounds({said})"
    loss = f"loss {found.history[0].value:.4g} -> {found.value:.4g}"
    link = f"exponential link, {loss}, {found.status}"
    assert repr(found) == f"BoostedCosts({chosen} rounds of Trees, {link})"
    assert (found.boosted.chosen, found.boosted.iterate) == (choice.rounds, "average")
    gain = pl.compare(pl.evaluate(held, linear), pl.evaluate(held, found))["arc_f1"]
    assert gain.difference > 0.02


@pytest.mark.parametrize("link", ["additive", "exponential"])
def test_linear_costs_are_kept_if_rounds_do_not_help(link, tmp_path):
    shown = town(0.0, 0.1, 2)
    with pytest.warns(UserWarning, match=r"do not show that boosting helps: .* 10 rounds"):
        found = pl.boost(
            shown, RegressionStumps(), pl.PlanningLoss(link), stopping=Stopping(10, **FOLDS)
        )
    graph = shown[0].graph
    assert (found.choice.rounds, found.boosted.chosen) == (0, 0)
    assert np.array_equal(found.costs(graph), pl.fit(shown).costs(graph))
    assert found.value == found.history[0].value
    pl.save_model(found, tmp_path / "costs.json")
    again = pl.load_model(tmp_path / "costs.json")
    assert np.array_equal(again.costs(graph), found.costs(graph))
    assert again.loss == found.loss


def test_constant_costs_and_a_number_of_rounds_are_as_before():
    shown = town(3.0)[:8]
    found = pl.boost(shown, Trees(2), pl.PlanningLoss(base=1.0), stopping=4)
    assert (found.choice, found.boosted.rounds, found.boosted.iterate) == (None, 4, "best")
    assert (found.site_costs(shown[0].graph, 0) == 1.0).all()
    scale = pl.boost(shown, Trees(2), pl.PlanningLoss("exponential", 1.0), stopping=1).scale
    risk = pl.PlanningLoss("exponential").bind(shown)
    weighted = pl.PlanningLoss("exponential").bind(shown, risk.visited())
    gradient = weighted.evaluate(weighted.zero())[1]
    assert scale * weighted.measure.norm(gradient) == pytest.approx(0.25)


def with_column(tasks, column):
    g = tasks[0].graph
    other = pl.Graph(g.tail, g.head, np.column_stack([column(g), g.features[:, 1]]))
    return [pl.Task.along(other.path(arcs=task.demonstration.arcs)) for task in tasks]


def test_without_linear_costs_it_starts_from_1():
    shown = with_column(town(0.0), lambda g: -g.features[:, 0])
    found = pl.boost(shown, RegressionStumps(), stopping=1)
    assert found.loss.base == 1.0
    walks = with_column(town(0.0), lambda g: np.zeros(g.arcs))
    walks = [pl.Task.along(t.graph.path(arcs=t.demonstration.arcs), pl.NoLoss()) for t in walks]
    with pytest.warns(UserWarning, match="feature x0 is 0 on every arc, .* leave such columns out"):
        found = pl.boost(walks, RegressionStumps(), stopping=1)
    assert found.loss.base == 1.0


@pytest.mark.filterwarnings("ignore:the learned costs are all 0")
def test_columns_of_zeros_are_named_once():
    shown = with_column(town(0.0)[:8], lambda g: np.zeros((g.arcs, 2)))
    for learn in (pl.fit, lambda tasks: pl.boost(tasks, RegressionStumps(), stopping=1)):
        with pytest.warns(UserWarning, match=r"^features x0, x1 are 0 on every arc") as said:
            learn(shown)
        assert sum("on every arc" in str(warning.message) for warning in said) == 1


def test_costs_of_0_are_raised_for_the_exponential_link():
    shown = with_column(town(0.0), lambda g: g.features[:, 0])
    g = shown[0].graph
    other = pl.Graph(g.tail, g.head, g.features * (np.arange(g.arcs) > 3)[:, None])
    shown = [pl.Task.along(other.path(arcs=task.demonstration.arcs)) for task in shown]
    found = pl.boost(shown, RegressionStumps(), pl.PlanningLoss("exponential"), stopping=1)
    C = found.site_costs(other, 0)
    assert 0.0 < C.min() == found.loss.base.floor < 1e-5 * C.mean()


def test_few_trips_make_all_rounds_and_a_warm_start_goes_on():
    shown = town(3.0)[:4]
    found = pl.boost(shown, RegressionStumps(), stopping=Stopping(3, **FOLDS))
    assert (found.choice.folds, found.choice.scores, found.boosted.rounds) == (0, (), 3)
    more = pl.boost(shown, RegressionStumps(), warm_start=found, stopping=5)
    assert (more.boosted.rounds, more.loss) == (5, found.loss)


def test_a_time_limit_ends_the_choice():
    found = pl.boost(town(3.0)[:20], RegressionStumps(), stopping=Stopping(50, 1e-9, **FOLDS))
    assert (found.status, found.boosted.chosen) == ("time_limit", 0)


def presses(monkeypatch, number):
    """Let Ctrl-C come at a number of the calls that plan; return the list of calls."""
    seen = []

    def counted(function):
        def called(*given, **options):
            if seen.append(function) is None and len(seen) == number:
                raise KeyboardInterrupt
            return function(*given, **options)

        return called

    for owner, name in (
        (starting, "f1_scores"),
        (starting, "split"),
        (choosing, "f1_scores"),
        (Oracle, "evaluate"),
    ):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
    return seen


@pytest.mark.filterwarnings("ignore:held-out trips do not show")
@pytest.mark.parametrize(("base", "folds"), [(None, True), (1.0, True), (None, False)])
def test_ctrl_c_counts_wherever_it_comes(monkeypatch, base, folds):
    """It ends the run before there are linear costs; later the result has them, to be continued."""
    shown = town(3.0, side=7, trips=8)
    graph = shown[0].graph
    stop = Stopping(2, validation="folds" if folds else None)
    loss = pl.PlanningLoss(base=base)

    def learn(number, **options):
        with monkeypatch.context() as patched:
            seen = presses(patched, number)
            return pl.boost(shown, RegressionStumps(), loss, **options), len(seen)

    whole, count = learn(0, stopping=stop)
    with monkeypatch.context() as patched:
        first = presses(patched, 0)
        if base is None:
            starting.linear_start(shown, "additive", Clock())
    assert not folds or (whole.choice.rounds > 0) == (base == 1.0)
    places = {*range(1, len(first), len(first) // 3 + 1), len(first), len(first) + 1}
    places |= {*range(len(first) + 2, count, 12), count - 2, count - 1} - {0}
    for number in sorted(places - {0}):
        if number <= len(first):
            with pytest.raises(KeyboardInterrupt):
                learn(number, stopping=stop)
            continue
        found, _ = learn(number, stopping=stop)
        assert found.status == "interrupted", number
        assert found.loss == whole.loss
        assert np.array_equal(found.site_costs(graph, 0), whole.site_costs(graph, 0))
        # Without rounds the run begins again, and folds may choose the number.
        more = stop if found.boosted.rounds == 0 else 2 if found.choice is None else None
        again = pl.boost(shown, RegressionStumps(), warm_start=found, stopping=more)
        assert np.array_equal(again.site_costs(graph), whole.site_costs(graph)), number
        assert (again.status, again.choice) == (whole.status, whole.choice)


def test_contradictions_are_refused_before_work_starts():
    shown = town(3.0)[:4]
    found = pl.boost(shown, RegressionStumps(), stopping=1)
    for stopping, options, message in (
        (Stopping(validation="held"), {}, "held-out tasks or \"folds\", got 'held'"),
        (Stopping(patience=3, **FOLDS), {}, "leave patience out"),
        (Stopping(**FOLDS), {"warm_start": found}, "cannot be combined with warm_start"),
    ):
        with pytest.raises(InputError, match=message):
            pl.boost(shown, RegressionStumps(), stopping=stopping, **options)
