"""When steps go on in place of an interior point method, told from how their gap has fallen."""

import math

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.instances.generators import generate
from relaxboost.solvers.forecast import Forecast
from relaxboost.solvers.interior_point import run
from relaxboost.solvers.loose import LooseRun
from tests.solvers.test_interior import inners, margins, noisy_stumps


def told(gaps, goal):
    forecast = Forecast(goal)
    for gap in gaps:
        forecast.note(gap)
    return forecast.rounds()


@pytest.mark.parametrize("part", [0.3, 0.9, 0.999])
def test_a_fall_by_the_same_part_is_told_exactly(part):
    for count in (2, 10, 100):
        gaps = [3.0 * part**t for t in range(count)]
        left = math.log(max(gaps[-1] / 1e-2, 1.0)) / -math.log(part)
        assert told(gaps, 1e-2) == pytest.approx(left)


@pytest.mark.parametrize("power", [0.3, 1.0, 1.4])
def test_a_fall_like_a_power_is_told_exactly(power):
    for count in (4, 20, 100):
        forecast = Forecast(1e-3)
        for t in range(1, count + 1):
            forecast.note(t**-power)
        left = 1e3 ** (1.0 / power) - count
        assert forecast.rounds(power=True) == pytest.approx(left)


def test_gaps_that_fall_not_or_are_narrow_enough():
    assert told([], 0.1) == told([0.5], 0.1) == told([0.5] * 9, 0.1) == math.inf
    assert told([0.5, 0.1], 0.1) == told([0.0, -1e-17], 0.1) == 0.0
    assert told([1.0, 1.0 - 1e-15], 1e-9) > 1e15


def test_steps_go_on_where_they_are_expected_to_end_soon(monkeypatch):
    """After twenty rounds the gap has to fall by a little, or by much."""
    game = rb.Game(margins(400, 100), rb.Capped(40), over=rb.Simplex())
    assert inners(rb.solve(game, 0.1)) == ["smoothed"]
    assert inners(rb.solve(game, 0.01)) == ["smoothed", "interior"]
    for part in ("_SPARED", "_IDLE"):
        monkeypatch.setattr(f"relaxboost.solvers.interior_point.run.{part}", 0.0)
    assert inners(rb.solve(game, 0.1)) == ["smoothed", "interior"]


def test_what_a_run_notes_does_not_rise(monkeypatch):
    """The gaps of its rounds do: those of the best points so far are noted."""
    seen, rounds, certified = [], [], LooseRun.certified

    def noted(self):
        rounds.append(self.bracket[1] - self.bracket[0])
        seen.append(certified(self))
        return seen[-1]

    monkeypatch.setattr(LooseRun, "certified", noted)
    rb.solve(rb.Game(margins(400, 100), rb.Capped(40)), 0.01)
    assert len(seen) > 10
    assert (np.diff(seen) <= 0.0).all()
    assert (np.diff(rounds) > 0.0).any()


@pytest.mark.parametrize("part", ["power", "price"])
def test_steps_that_find_nothing_better_than_no_votes_leave_early(part, monkeypatch):
    """The labels are tossed. Else they are expected to end soon, or may cost what others may."""
    games = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 3))
        games.append(rb.Game(rb.matrices.stumps(X, rng.choice([-1, 1], 500))))
    rounds, told = [], Forecast.rounds
    for _ in range(2):
        kinds = [record.inner for game in games for record in rb.solve(game, 0.01).history]
        rounds.append(kinds.count("smoothed"))
        if part == "power":
            monkeypatch.setattr(Forecast, "rounds", lambda forecast, power=False: told(forecast))
        else:
            monkeypatch.setattr(run, "_IDLE", run._SPARED)
    assert rounds[0] <= 0.5 * rounds[1]


def test_few_steps_are_passes_over_all_columns(monkeypatch):
    """Between two of them steps re-weigh the columns in use; for a narrow gap none do."""
    game = rb.Game(generate("planted", 300, 200, 0, k=100), rb.Capped(100))
    rounds = {}
    for between in (0, 3):
        monkeypatch.setattr("relaxboost.solvers.combined._BETWEEN", between)
        found = [rb.solve(game, tol, rb.solvers.Combined(interior=False)) for tol in (1e-2, 5e-3)]
        assert all(solution.status == "optimal" for solution in found)
        rounds[between] = [solution.rounds for solution in found]
    assert rounds[3][0] <= 0.6 * rounds[0][0]
    assert rounds[3][1] == rounds[0][1]


def test_steps_leave_early_where_each_finds_a_new_column(monkeypatch):
    """Also of all stumps, whose optimum then has many."""
    game = rb.Game(noisy_stumps(2000, 10), rb.Capped(fraction=0.1))
    rounds = []
    for times in (4.0, 1.0):
        monkeypatch.setattr("relaxboost.solvers.combined._NEW", times)
        kinds = [record.inner for record in rb.solve(game, 1e-3).history]
        rounds.append(kinds.count("smoothed"))
    assert rounds[0] < 0.5 * rounds[1]


def test_the_cone_program_follows_an_interior_point_method_that_stalls(monkeypatch):
    monkeypatch.setattr("relaxboost.solvers.interior_point.iterate.Iterate.step", lambda *_: 0.0)
    game = rb.Game(margins(200, 30), rb.NormBall(1.5, 0.3))
    found = rb.solve(game, 1e-2)
    assert inners(found) == ["interior", "conic"]
    assert found.status == "optimal"
