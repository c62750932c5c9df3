"""A relaxation of the user's own, on the base class's defaults alone: an l2 ball."""

from __future__ import annotations

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.solvers import Corrective, TotallyCorrective
from tests.conformance.samples import Ball


@pytest.fixture
def game(rng):
    A = np.clip(rng.uniform(-1, 1, (6, 8)) + 0.2, -1, 1)
    return rb.Game(A, Ball(0.5))


def test_reference_and_booster_agree_and_the_ball_binds(game):
    reference = rb.reference(game)
    assert reference.method == "reference (CLARABEL)"
    assert reference.gap <= 1e-6
    assert np.linalg.norm(reference.d) == pytest.approx(0.5, abs=1e-6)
    for method, inner in (
        ("auto", "interior"),
        (TotallyCorrective(inner="smoothed"), "smoothed"),
        (Corrective(step="away"), "smoothed"),
    ):
        booster = rb.solve(game, tol=0.02, method=method)
        assert booster.status == "optimal"
        assert booster.history[-1].inner == inner
        assert rb.compare(reference, booster)


def test_default_repair_moves_to_the_ball(game):
    corner = game.repair_d(np.eye(6)[2])
    assert np.linalg.norm(corner) == pytest.approx(0.5, abs=1e-8)
    assert corner.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.argmax(corner) == 2
    inside = np.full(6, 1 / 6)
    assert np.array_equal(game.repair_d(inside), inside)


def test_linear_methods_refuse_what_is_not_polyhedral(game):
    with pytest.raises(rb.InputError, match="not polyhedral"):
        rb.reference(game, solver="HIGHS")
    with pytest.raises(rb.InputError, match='use inner="conic"'):
        rb.solve(game, method=TotallyCorrective(inner="lp"))


def test_its_brackets_are_labelled_numerical(game):
    from relaxboost.views import report

    solution = rb.solve(game, tol=0.05)
    assert report.text(solution).startswith("bracketed, numerical:")
    assert report.data(solution)["strongest_level"] == "numerical"
