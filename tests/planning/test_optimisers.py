"""Every optimiser against the convex program: brackets hold and close; options, interruption."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost.solvers.bundle.cuts import Cuts
from relaxboost.solvers.bundle.master import Master

from . import small

# Random walks teach nothing, and `fit` says so.
pytestmark = pytest.mark.filterwarnings("ignore:the learned costs are all 0|there is|feature x4")

REGULARISERS = list(small.REGULARISERS.values())


@pytest.mark.parametrize("regulariser", REGULARISERS, ids=str)
@pytest.mark.parametrize(
    ("nonnegative", "negative", "name"), [(True, "exact", "missed"), (False, "relaxed", "strayed")]
)
def test_brackets_hold_and_close(regulariser, nonnegative, negative, name):
    made = small.tasks(np.random.default_rng(0), loss=small.LOSSES[name])
    problem = pl.Problem(made, regulariser, nonnegative=nonnegative, negative=negative)
    found = pl.fit(problem, tol=1e-3, max_rounds=100)
    assert found.lower - 1e-6 <= small.optimum(problem) <= found.upper + 1e-6
    assert found.upper >= small.risk(problem, found.w, negative == "relaxed") - 1e-12
    lowers = [record.lower for record in found.history]
    assert lowers == sorted(lowers)
    assert found.gap <= 2e-3 * found.upper


def test_dropped_cuts_lose_no_bound():
    problem = pl.Problem(
        small.tasks(np.random.default_rng(3), 5, nodes=9, arcs=30, d=6), pl.Ridge(1e-3)
    )
    every = pl.fit(problem, tol=1e-4)
    few = pl.fit(problem, tol=1e-4, max_rounds=150, method=pl.Bundle(max_cuts=8))
    assert few.lower <= every.upper
    assert every.lower <= few.upper
    assert few.gap <= 1e-2 * few.upper
    lowers = [record.lower for record in few.history]
    assert lowers == sorted(lowers)


@pytest.mark.parametrize("regulariser", REGULARISERS, ids=str)
def test_units_duplicates_one_feature_and_many(regulariser):
    rng = np.random.default_rng(0)
    made = small.tasks(rng, d=4)
    g = made[0].graph
    for X in (
        g.features * np.array([1e-6, 1e6, 1.0, 1e3]),
        g.features[:, [0, 0, 1, 1]],
        g.features[:, :1],
        np.hstack([g.features, np.zeros((g.arcs, 1))]),
        rng.random((g.arcs, 100)),
    ):
        found = pl.fit(small.moved(made, X), regulariser, tol=1e-3, max_rounds=100)
        assert found.gap <= 2e-3 * found.upper, X.shape
        optimum = small.optimum(found.problem)
        assert found.lower - 1e-6 <= optimum <= found.upper + 1e-6


@pytest.mark.parametrize(("size", "regulariser"), [(1e-6, pl.Lasso(10)), (1e-50, pl.Ridge(0.1))])
def test_a_penalty_far_steeper_than_the_loss_is_no_trouble(size, regulariser):
    made = small.tasks(np.random.default_rng(0))
    shown = small.moved(made, made[0].graph.features * size)
    found = pl.fit(pl.Problem(shown, regulariser, scale="none"))
    assert found.status == "optimal"
    assert not found.w.any()


def in_mixed_units(seed):
    """Trips by costs of four features, whose columns differ in size by up to 1e16."""
    rng = np.random.default_rng(seed)
    base = small.graph(rng, nodes=9, arcs=30, d=4)
    X = base.features * 10.0 ** rng.integers(-8, 9, 4)
    g = pl.Graph(base.tail, base.head, X, nodes=base.nodes)
    secret = base.features @ rng.uniform(0.1, 1.0, 4) * np.exp(0.2 * rng.normal(size=base.arcs))
    return [pl.Task.along(pl.shortest_path(g, secret, 0, t).path) for t in range(2, g.nodes)]


@pytest.mark.parametrize(
    ("regulariser", "seeds"),
    [(pl.Lasso(1e-3), (5, 6, 8, 9)), (pl.Lasso(1e-6), (4, 6, 11)), (pl.L1Radius(1e6), (4, 9, 11))],
    ids=str,
)
def test_brackets_close_in_mixed_units(regulariser, seeds):
    """Prices of large features were below the tolerance of the solver of the master programs."""
    for seed in seeds:
        problem = pl.Problem(in_mixed_units(seed), regulariser, scale="none")
        found = pl.fit(problem, max_rounds=40)
        assert (found.status, found.gap <= 2e-3 * found.upper) == ("optimal", True), seed


def test_without_a_solver_the_bundle_goes_on_and_says_so(monkeypatch):
    monkeypatch.setattr(Master, "minimise", lambda *args: None)
    problem = pl.Problem(small.tasks(np.random.default_rng(0)), pl.Ridge(0.05))
    with pytest.warns(RuntimeWarning, match="could not solve a master"):
        found = pl.fit(problem, max_rounds=20)
    assert found.lower - 1e-6 <= small.optimum(problem) <= found.upper + 1e-6


def test_multipliers_are_not_believed():
    """Whatever a solver says of the cuts, their average is below."""
    problem = pl.Problem(small.tasks(np.random.default_rng(0)), pl.Ridge(0.05))
    master = pl.Bundle().model(problem)
    rng = np.random.default_rng(0)
    for _ in range(20):
        cuts = problem.at(rng.uniform(size=3)).cuts
        master.add(cuts)
    count = master.group.size
    master.add(cuts)
    master.add(Cuts(-np.ones(master.groups), *np.zeros((2, master.groups, 3))))
    assert master.group.size == count
    w, bound = master.minimise()
    assert bound <= small.optimum(problem) + 1e-6
    assert w is not None


def test_warm_starts_names_and_limits():
    made = small.tasks(np.random.default_rng(0))
    first = pl.fit(made, tol=1e-6)
    again = pl.fit(made, tol=1e-6, method=pl.Bundle(start=first))
    assert again.history[0].value == pytest.approx(first.upper)
    assert list(first.weights) == list(first.names)
    assert list(first.weights.values()) == first.w.tolist()
    assert (
        pl.fit(made, method=pl.Bundle(start=[-1.0, 0.0, 1.0]), max_rounds=1).status == "max_rounds"
    )
    kind = pl.Ridge(0.1)
    found = pl.fit(made, kind, method=pl.Bundle(start=first), max_rounds=3, tol=1e-9)
    assert found.method == "bundle"
    assert found.upper <= pl.Problem(made, kind).at(first.w, True).bound
    brief = pl.fit(made, kind, tol=1e-15, time_limit=0.05)
    assert brief.status in ("time_limit", "optimal", "stalled")
    assert brief.seconds < 20.0  # far above the limit, for machines that are busy
    # The first evaluation and the proof are completed, however short the time is.
    shortest = pl.fit(made, kind, tol=1e-15, time_limit=1e-9)
    assert (shortest.status, shortest.rounds) == ("time_limit", 1)
    assert shortest.lower <= found.upper
    for true in (True, np.True_, 1, "enough"):
        stopped = pl.fit(made, callback=lambda state, said=true: said, tol=1e-12)
        assert stopped.status in ("callback", "optimal")
        assert stopped.rounds == 1


def test_ctrl_c_returns_the_best_bracket():
    def press(state):
        if calls.append(state) is None and len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    calls = []
    made = small.tasks(np.random.default_rng(3), 5, nodes=9, arcs=30, d=6)
    found = pl.fit(made, pl.Ridge(1e-6), tol=1e-15, callback=press)
    assert (found.status, found.rounds) == ("interrupted", 3)
    assert found.lower <= found.upper == pytest.approx(min(state.point.value for state in calls))
