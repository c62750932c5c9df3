"""Every method that `solve` knows by name, over every domain: a true bracket, or a clear error."""

from __future__ import annotations

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.game import bounds
from relaxboost.solvers import METHODS

DOMAINS = (
    rb.L1Ball(2),
    rb.Simplex(2),
    rb.FullSimplex(2),
    rb.L2Ball(1),
    rb.SquaredNorm(0.5),
)
RELAXATIONS = (rb.HardMargin(), rb.Capped(3), rb.KLPenalty(0.2), rb.NormPenalty(2, 0.3))


def fits(method, game):
    try:
        method.chosen(game, 0.01).check(game)
    except rb.InputError:
        return False
    return True


@pytest.fixture(scope="module")
def matrix():
    return np.random.default_rng(4).uniform(-1, 1, (9, 7))


@pytest.mark.parametrize("relaxation", RELAXATIONS, ids=repr)
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
@pytest.mark.parametrize("name", METHODS)
def test_brackets_hold_and_running_bounds_are_those_of_w(name, over, relaxation, matrix, truth_of):
    game = rb.Game(matrix, relaxation, over=over)

    def follows(state):
        """Compare the lower bound of the round with that of the w it belongs to."""
        if state.active.used:
            w = game.repair_w(state.active.coefficients(state.active.snapshot()))
            lower, _ = bounds.evaluate_lower(game.matrix, game.relaxation, *w, game.over)
            assert state.lower == pytest.approx(lower, abs=1e-6)

    if not fits(METHODS[name](), game):
        with pytest.raises(rb.InputError):
            rb.solve(game, 0.01, name, max_rounds=1)
        return
    found = rb.solve(game, 0.01, name, max_rounds=25, callback=follows)
    truth = truth_of(relaxation, over)
    assert found.lower <= truth.upper + 1e-9
    assert found.upper >= truth.lower - 1e-9
    assert found.upper - found.lower < 2.0
