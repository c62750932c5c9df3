"""Newton steps of ERLPBoost: their Hessian, their work, and the weights that they reach."""

from __future__ import annotations

import math
import sys
import warnings

import numba
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.loop import Clock
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.erlpboost import ERLPBoostRun
from relaxboost.solvers.boosters.hull import reweigh
from relaxboost.solvers.boosters.newton import RestrictedRun
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.method import default_beta


def restricted(game, beta):
    """Return a run that knows the positive atom of every column, with the center as weights."""
    active = active_set(game)
    n = game.n
    active.load(np.arange(n), np.full(n, game.over.scale / n))
    return RestrictedRun(game, beta, projector(game.relaxation, beta), active)


def test_the_hessian_of_two_examples_by_hand():
    """At d = (1/2, 1/2) the Hessian of −β log Σ exp(−u/β) is the covariance of the columns / β."""
    run = restricted(rb.Game([[1.0, -0.5], [-1.0, 0.5]]), 0.25)
    run.d = np.array([0.5, 0.5])
    run.active.u = np.zeros(2)
    hessian = run._hessian(np.array([[1.0, -0.5], [-1.0, 0.5]]), Clock(None))
    assert hessian == pytest.approx(4.0 * np.array([[1.0, -0.5], [-0.5, 0.25]]), rel=1e-4)


@pytest.mark.parametrize("k", [1, 7, 30])
@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_the_hessian_of_a_cap_counts_only_the_examples_below_it(k, radius, rng):
    A = rng.uniform(-1.0, 1.0, (60, 5))
    beta = 0.05
    run = restricted(rb.Game(A, rb.Capped(k), over=rb.L1Ball(radius)), beta)
    d = np.where(run.d < (1.0 - 1e-9) / k, run.d, 0.0)
    assert np.count_nonzero(d) < 60 or k == 1  # otherwise the cap would not matter
    atoms = radius * A
    mean = atoms.T @ d
    covariance = atoms.T @ (d[:, None] * atoms) - np.outer(mean, mean) / d.sum()
    assert run._hessian(atoms, Clock(None)) == pytest.approx(covariance / beta, abs=1e-3 / beta)


@pytest.mark.parametrize("over", [rb.L1Ball(1), rb.Simplex(2), rb.L1Ball(0.5)], ids=repr)
@pytest.mark.parametrize("f", [rb.HardMargin(), rb.Capped(20), rb.KLPenalty(0.05)], ids=repr)
def test_the_steps_close_the_gap_of_the_columns_found_so_far(f, over, rng):
    game = rb.Game(rng.uniform(-1.0, 1.0, (200, 40)), f, over)
    beta = default_beta(math.log(200), 1e-3)
    run = restricted(game, beta)
    run.settle(1e-6, Clock(None))
    active = run.atoms
    edges = active.columns[:, : len(active)].T @ run.d
    largest = edges.max() if isinstance(over, rb.Simplex) else np.abs(edges).max()
    assert over.scale * largest - run.d @ active.u <= 1e-6
    # The weights stay in the domain, and the margins are theirs.
    assert active.weights.min() >= 0.0
    assert active.weights.sum() <= over.scale * (1.0 + 1e-12)
    margins = active.columns[:, : len(active)] @ active.weights
    assert active.u == pytest.approx(margins, abs=1e-12)


def test_a_round_needs_few_distributions(rng):
    """Pairwise steps alone need about 60 000 distributions for such a game."""
    game = rb.Game(rng.uniform(-1.0, 1.0, (200, 60)), rb.Capped(20), rb.Simplex())
    tol = 1e-3
    beta = default_beta(game.entropy_range, tol)
    project = projector(game.relaxation, beta)
    calls = [0]

    def counting(u):
        calls[0] += 1
        return project(u)

    run = ERLPBoostRun(game, beta, counting, tol / 2.0, Clock(None))
    rounds = 0
    while run.active.gap(run.d, best := run.ask(game)) > tol / 2.0:
        run.advance(best)
        rounds += 1
        assert rounds < 100
    assert calls[0] < 20_000


def test_the_quadratic_model_is_compiled_before_the_clock_starts(monkeypatch, rng):
    seen = []

    def recorded(*arguments):
        seen.append([numba.typeof(argument) for argument in arguments])
        return reweigh(*arguments)

    def clock(*arguments):
        seen.append("clock")
        return Clock(*arguments)

    solving = sys.modules["relaxboost.solvers.solve"]
    monkeypatch.setattr(solving, "_PREPARED", set())
    monkeypatch.setattr(solving, "Clock", clock)
    for name in ("hull", "newton"):
        module = sys.modules[f"relaxboost.solvers.boosters.{name}"]
        monkeypatch.setattr(module, "reweigh", recorded)
    game = rb.Game(rng.uniform(-1.0, 1.0, (50, 20)), rb.Capped(10), rb.Simplex())
    rb.solve(game, 1e-3, "erlpboost", time_limit=60.0)
    compiled, started, *used = seen
    assert started == "clock"
    assert used
    assert all(types == compiled for types in used)


def test_with_many_columns_pairwise_steps_come_first(rng):
    """With Newton steps from the start, this round needs 1755 distributions."""
    game = rb.Game(np.where(rng.random((400, 300)) < 0.55, 1.0, -1.0), rb.Capped(80), rb.Simplex())
    run = restricted(game, 0.01)
    calls = counted(run)
    run.settle(0.1, Clock(None))
    assert calls[0] < 300


@pytest.mark.parametrize("limit", range(10, 400, 30))
def test_the_time_limit_ends_a_newton_step(limit, rng):
    A = rng.uniform(-1.0, 1.0, (100, 60))
    run = restricted(rb.Game(A, rb.Capped(10), rb.Simplex()), 0.001)
    clock = Clock(None)
    calls = counted(run, limit, clock)
    run.settle(1e-9, clock)
    assert limit <= calls[0] < limit + 20
    active = run.atoms
    margins = active.columns[:, : len(active)] @ active.weights
    assert active.u == pytest.approx(margins, abs=1e-12)


def counted(run, limit=math.inf, clock=None):
    """Count the distributions that a run computes. At the limit, the clock has no time left."""
    calls = [0]
    project = run._project

    def counting(u):
        calls[0] += 1
        if calls[0] >= limit:
            clock.deadline = 0.0
        return project(u)

    run._project = counting
    return calls


@pytest.mark.parametrize("beta", [1e-310, 1e-300, 1e-200, 1e300])
@pytest.mark.parametrize("f", [rb.HardMargin(), rb.Capped(7.5)], ids=repr)
def test_no_warning_if_the_hessian_overflows(beta, f, rng):
    game = rb.Game(rng.uniform(-1.0, 1.0, (40, 15)), f, rb.L1Ball(1e8))
    method = rb.solvers.ERLPBoost(beta=beta)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rb.solve(game, 1e5, method, max_rounds=60)
    assert found.gap < 1e9
