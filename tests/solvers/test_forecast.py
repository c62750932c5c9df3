"""When steps go on in place of an interior point method, told from how their gap has fallen."""

import math

import pytest

import relaxboost as rb
from relaxboost.solvers.forecast import Forecast
from tests.solvers.test_interior import inners, margins


def told(gaps, goal):
    forecast = Forecast(goal)
    for gap in gaps:
        forecast.note(gap)
    return forecast.rounds()


@pytest.mark.parametrize("power", [0.3, 1.0, 2.0])
def test_a_power_of_the_rounds_is_told_exactly(power):
    """3 t^-p is at most .01 once t is (300)^(1/p)."""
    for count in (2, 10, 100):
        gaps = [3.0 * t**-power for t in range(1, count + 1)]
        assert told(gaps, 1e-2) == pytest.approx(max(300.0 ** (1 / power) - count, 0.0))


def test_gaps_that_rise_fall_not_or_are_narrow_enough():
    assert told([], 0.1) == told([0.5], 0.1) == told([0.5] * 9, 0.1) == math.inf
    assert told([0.9, 0.5, 0.8, 0.3, 0.7], 0.1) == told([0.9, 0.5, 0.5, 0.3, 0.3], 0.1)
    assert told([0.5, 0.1], 0.1) == told([0.0, -1e-17], 0.1) == 0.0
    assert told([1.0, 1.0 - 1e-15], 1e-9) > 1e40


def test_steps_go_on_where_they_are_expected_to_end_soon(monkeypatch):
    """After seven rounds the gap has to fall by a little, or by much."""
    game = rb.Game(margins(400, 30), rb.Capped(40), over=rb.Simplex())
    assert inners(rb.solve(game, 0.2)) == ["smoothed"]
    assert inners(rb.solve(game, 0.05)) == ["smoothed", "interior"]
    monkeypatch.setattr("relaxboost.solvers.interior.run._SPARED", 0.0)
    assert inners(rb.solve(game, 0.2)) == ["smoothed", "interior"]
