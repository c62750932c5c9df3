"""Cutting planes: the phase of "auto" for a full spectrum, which has no small program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import SpectralRisk
from relaxboost.solvers.boosters import cutting_planes


class Bare(rb.relaxations.GroupNormPenalty):
    """A penalty that has closed forms and no program; the penalty is not 0, as an indicator is."""

    def cone_form(self, m):
        return None


def returns(m, n, seed=0):
    """Return a matrix whose columns are all about as good, so that many of them get weight."""
    rng = np.random.default_rng(seed)
    A = rng.standard_t(4, size=(m, n)) @ (np.eye(n) + 0.1 * rng.normal(size=(n, n))) + 0.05
    return A / np.abs(A).max()


@pytest.mark.parametrize(
    "over",
    [rb.Simplex(), rb.Simplex(Fraction(1, 3)), rb.FullSimplex(2), rb.L1Ball(), rb.L1Ball(3)],
    ids=repr,
)
@pytest.mark.parametrize(
    "f", [SpectralRisk.gini(), SpectralRisk.power(0.4), Bare([i % 7 for i in range(60)], 0.3)]
)
def test_they_reach_what_a_reference_solver_finds(f, over):
    game = rb.Game(returns(60, 8), f, over=over)
    found = rb.solve(game, tol=1e-7)
    assert found.status == "optimal"
    assert [record.inner for record in found.history][-1] == "cuts"
    reference = rb.reference(game)
    assert found.lower <= reference.upper
    assert reference.lower <= found.upper
    assert rb.certify(found).check()


def test_they_take_few_rounds_where_kelleys_method_takes_thousands(monkeypatch):
    game = rb.Game(returns(1000, 20), SpectralRisk.gini(), over=rb.Simplex())
    found = rb.solve(game, tol=1e-8, max_rounds=300)
    assert found.status == "optimal"
    monkeypatch.setattr(cutting_planes.CuttingPlanesRun, "inner_share", 0.0)
    kelley = rb.solve(game, tol=1e-8, max_rounds=600)
    assert kelley.status == "max_rounds"
    assert rb.compare(found, kelley)


def test_a_warm_start_needs_fewer_rounds():
    game = rb.Game(returns(200, 8), SpectralRisk.gini(), over=rb.Simplex())
    cold = rb.solve(game, tol=1e-6)
    near = rb.Game(returns(200, 8), SpectralRisk.extremile(2.01), over=rb.Simplex())
    warm = rb.solve(near, tol=1e-6, start=cold)
    assert warm.status == "optimal"
    assert warm.rounds < rb.solve(near, tol=1e-6).rounds


def test_the_time_limit_keeps_the_best_bracket():
    game = rb.Game(returns(200, 8), SpectralRisk.gini(), over=rb.Simplex())
    found = rb.solve(game, tol=1e-12, time_limit=1e-9)
    assert found.status == "time_limit"
    assert found.lower <= rb.solve(game, tol=1e-6).upper <= found.upper + 1e-6


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (rb.Game(returns(9, 4), SpectralRisk.gini(), over=rb.L2Ball()), "has none"),
        (rb.Game(returns(9, 4), rb.KLPenalty(0.1)), "f is strongly convex"),
        (
            rb.Game(returns(9, 4), rb.Capped(2)),
            "the interior point method, which is faster, solves the game",
        ),
        (rb.Game(returns(9, 4), rb.Capped(2) + rb.NormBall(2, 2)), "would call a solver"),
        (
            rb.Game(rb.matrices.oracle(lambda X, y, d: np.sign, returns(3, 1), [1, -1, 1])),
            "not enumerated",
        ),
    ],
    ids=["euclidean", "curved", "linear", "solver", "oracle"],
)
def test_they_are_not_for_other_games(game, reason):
    assert reason in cutting_planes.unfit(game)


def test_the_trace_says_why_they_are_left_out():
    trace = rb.solve(rb.Game(returns(9, 4), rb.Capped(2)), 1e-9).trace
    reason = (
        "left out the cutting planes: the interior point method, which is faster, solves the game."
    )
    assert any(line.endswith(reason) for line in trace)
