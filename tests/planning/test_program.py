"""The convex program against enumeration and against `fit`."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning import program

from . import small

REGULARISERS = [pl.Ridge(0.05), pl.Lasso(0.02), pl.L1Radius(3.0)]


@pytest.mark.parametrize("regulariser", REGULARISERS, ids=str)
@pytest.mark.parametrize("name", small.LOSSES)
def test_the_optimum_is_the_least_loss_over_all_paths(name, regulariser):
    modes = [(True, "exact"), (True, "relaxed"), (False, "relaxed"), (False, "exact")]
    for seed, (nonnegative, negative) in enumerate(modes):
        rng = np.random.default_rng(seed)
        made = small.tasks(rng, loss=small.LOSSES[name], repeat=seed == 1)
        problem = pl.Problem(made, regulariser, nonnegative=nonnegative, negative=negative)
        declared = pl.program(problem)
        optimum = declared.solve(solver="CLARABEL")
        if optimum == np.inf:
            assert negative == "exact"  # no w without negative cycles
            continue
        (found,) = (v.value for v in declared.variables() if v.name() == "w")
        near = problem.project(found)
        assert small.risk(problem, near, negative == "relaxed") == pytest.approx(
            optimum, rel=2e-4, abs=2e-5
        )
        for _ in range(6):
            w = regulariser.project(found + rng.normal(size=3) * 0.1, nonnegative)
            if negative != "exact" or not small.negative_cycle(problem, w):
                assert small.risk(problem, w, negative == "relaxed") >= optimum - 1e-6


def test_where_cycles_bound_the_domain():
    """A cycle of gain 1 a round: w >= 1/2 it must be, or walks gain for ever."""
    g = pl.Graph([0, 1, 2, 1], [1, 2, 1, 3], np.array([[0.0], [1.0], [1.0], [0.0]]))

    class Around(pl.PathLoss):
        def gains(self, demonstration):
            return pl.Gains(0.0, np.array([1]), np.array([1.0]))

    task = pl.Task(g, 0, 3, [0, 1, 3], Around())
    assert small.optimum(pl.Problem([task], pl.Lasso(1.0), scale="none")) == pytest.approx(0.5)
    with pytest.raises(pl.NegativeCycle):
        pl.fit([task], pl.Lasso(1.0))


def test_arcs_off_all_ways_can_be_taken_for_free():
    """The arc from 1 to 2 leads nowhere, and costs w − 1: the loss is the penalty plus 1 − w."""
    g = pl.Graph([0, 1], [1, 2], np.array([[1.0], [1.0]]))
    task = pl.Task(g, 0, 1, [0, 1], pl.Strayed())
    problem = pl.Problem([task], pl.Ridge(2.0), negative="relaxed", scale="none")
    assert small.optimum(problem) == pytest.approx(0.75)
    assert small.risk(problem, [0.5], True) == 0.75


def test_the_program_is_as_declared():
    problem = pl.Problem(small.tasks(np.random.default_rng(0)), negative="relaxed")
    declared = pl.program(problem)
    assert {v.name() for v in declared.variables()} == {"w", "potentials", "slack", "free"}
    assert declared.status is None
    assert declared.is_dcp()


def test_problems_that_are_too_large_for_a_program(monkeypatch):
    monkeypatch.setitem(program.__globals__, "MAX_ARC_INEQUALITIES", 10)
    with pytest.raises(InputError, match="but program accepts at most 10; use fit"):
        pl.program(pl.Problem(small.tasks(np.random.default_rng(0))))
