"""The convex program against enumeration and against the learners."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError

from . import small

# Random walks teach nothing, and `fit` says so.
pytestmark = pytest.mark.filterwarnings("ignore:the learned costs are all 0|there is")

REGULARISERS = [pl.Ridge(0.05), pl.Lasso(0.02), pl.L1Radius(3.0)]


@pytest.mark.parametrize("regulariser", REGULARISERS, ids=str)
@pytest.mark.parametrize("name", small.LOSSES)
def test_brackets_close(name, regulariser):
    modes = [(True, "exact"), (True, "relaxed"), (False, "relaxed"), (False, "exact")]
    for seed, (nonnegative, negative) in enumerate(modes):
        rng = np.random.default_rng(seed)
        made = small.tasks(rng, loss=small.LOSSES[name], repeat=seed == 1)
        problem = pl.Problem(made, regulariser, nonnegative=nonnegative, negative=negative)
        try:
            found = pl.reference(problem)
        except InputError:
            assert negative == "exact"  # no w without negative cycles
            continue
        assert found.lower <= found.upper
        assert found.gap <= 2e-4 * max(found.upper, 0.1)
        if negative == "exact":
            assert found.upper == pytest.approx(small.risk(problem, found.w), rel=1e-6, abs=1e-9)
            assert not small.negative_cycle(problem, found.w)
        for _ in range(6):
            w = regulariser.project(found.w + rng.normal(size=3) * 0.1, nonnegative)
            if negative != "exact" or not small.negative_cycle(problem, w):
                assert small.risk(problem, w, negative == "relaxed") >= found.lower


def test_where_cycles_bound_the_domain():
    """A cycle of gain 1 a round: w >= 1/2 it must be, or walks gain for ever."""
    g = pl.Graph([0, 1, 2, 1], [1, 2, 1, 3], np.array([[0.0], [1.0], [1.0], [0.0]]))

    class Around(pl.PathLoss):
        def gains(self, demonstration):
            return pl.Gains(0.0, np.array([1]), np.array([1.0]))

    task = pl.Task(g, 0, 3, [0, 1, 3], Around())
    found = pl.reference(pl.Problem([task], pl.Lasso(1.0), scale="none"))
    assert found.w == pytest.approx([0.5], abs=1e-4)
    assert found.lower == pytest.approx(0.5, abs=1e-4)
    assert found.upper == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(pl.NegativeCycle):
        pl.fit([task], pl.Lasso(1.0))


@pytest.mark.parametrize(("seed", "name"), [(10, "hamming"), (14, "strayed"), (21, "hamming")])
def test_optima_where_a_cycle_costs_nothing(seed, name):
    """In doubles the optimum has a negative cycle, and a point a little further inside has none."""
    made = small.tasks(np.random.default_rng(seed), loss=small.LOSSES[name])
    kind = pl.Lasso(0.02) if seed % 2 else pl.Ridge(0.05)
    problem = pl.Problem(made, kind, nonnegative=seed % 3 == 0)
    found = pl.reference(problem)
    assert not small.negative_cycle(problem, found.w)
    assert found.gap <= 1e-5


def test_the_program_is_as_declared():
    problem = pl.Problem(small.tasks(np.random.default_rng(0)), negative="relaxed")
    declared = pl.program(problem)
    assert {v.name() for v in declared.variables()} == {"w", "potentials", "slack", "free"}
    assert declared.status is None
    assert declared.is_dcp()
    declared.solve(solver="CLARABEL")
    found = pl.reference(problem, solver="SCS")
    assert found.lower - 1e-6 <= declared.value <= found.upper + 1e-6
