"""Steps for a loose tolerance: more smoothing than tol allows, and steps in many directions."""

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.instances.generators import generate
from relaxboost.solvers import Combined, Corrective
from relaxboost.solvers.combined import CombinedRun
from relaxboost.solvers.loose import LooseRun, _room
from relaxboost.solvers.parametric_simplex.program import Lost
from tests.solvers.test_interior import margins, noisy_stumps

GAMES = {
    "planted": lambda: rb.Game(generate("planted", 300, 200, 0, k=100), rb.Capped(100)),
    "stumps": lambda: rb.Game(noisy_stumps(300, 4), rb.Capped(30)),
    "simplex": lambda: rb.Game(margins(200, 60), rb.Capped(30), over=rb.Simplex()),
    "entropy": lambda: rb.Game(margins(200, 60), rb.KLPenalty(0.05)),
    "ball": lambda: rb.Game(margins(200, 60), rb.HardMargin(), over=rb.L1Ball(0.5)),
}


def watched(monkeypatch, game, tol, beta=None):
    """Return a solution, and β and the least β of each round; w has to fit u and the domain."""
    seen = []
    advance = LooseRun.advance

    def spy(run, best):
        after = advance(run, best)
        active = run.atoms
        weights = active.weights[: len(active)]
        ids, w = active.coefficients(active.snapshot())
        assert np.abs(game.matrix.margins(ids, w) - active.u).max() <= 1e-9
        assert weights.min(initial=0.0) >= -1e-15
        assert weights.sum() <= active.over.scale * (1.0 + 1e-9)
        seen.append((run._beta, run.least))
        return after

    monkeypatch.setattr(CombinedRun, "advance", spy)
    return rb.solve(game, tol, Combined(beta=beta, interior=False)), seen


@pytest.mark.parametrize("kind", GAMES)
def test_weights_stay_in_the_domain_and_smoothing_falls_to_what_tol_allows(kind, monkeypatch):
    solution, seen = watched(monkeypatch, GAMES[kind](), 0.02)
    assert solution.status == "optimal"
    assert solution.gap <= 0.02
    betas = [beta for beta, _ in seen]
    assert betas == sorted(betas, reverse=True)
    assert betas[0] > seen[0][1]
    assert betas[-1] >= seen[0][1]


@pytest.mark.parametrize("kind", ["planted", "stumps"])
def test_far_too_much_smoothing_is_taken_back(kind, monkeypatch):
    monkeypatch.setattr("relaxboost.solvers.combined.EASY", 4096.0)
    solution, seen = watched(monkeypatch, GAMES[kind](), 0.02)
    assert solution.status == "optimal"
    assert seen[-1][0] < 0.3 * seen[0][0]


def test_more_smoothing_takes_fewer_rounds_and_a_beta_by_hand_stays(monkeypatch):
    game = GAMES["planted"]()
    eased = rb.solve(game, 0.01, Combined(interior=False)).rounds
    monkeypatch.setattr("relaxboost.solvers.combined.EASY", 1.0)
    assert eased <= 0.6 * rb.solve(game, 0.01, Combined(interior=False)).rounds
    _, seen = watched(monkeypatch, game, 0.02)
    assert len({beta for beta, _ in seen}) == 1
    solution, seen = watched(monkeypatch, game, 0.05, beta=0.003)
    assert solution.status == "optimal"
    assert {beta for beta, _ in seen} == {0.003}


def test_steps_in_the_direction_of_many_take_fewer_rounds(monkeypatch):
    game = GAMES["stumps"]()
    rounds = rb.solve(game, 0.01, Combined(interior=False)).rounds
    monkeypatch.setattr("relaxboost.solvers.loose._SWEEP", np.inf)
    assert rounds <= 0.75 * rb.solve(game, 0.01, Combined(interior=False)).rounds


def test_searches_begin_where_they_did_when_this_was_measured(cancer_stumps, monkeypatch):
    """For these stumps from Newton's steps it takes a quarter more rounds."""
    rounds = []
    for _ in range(2):
        rounds.append(rb.solve(rb.Game(cancer_stumps), 0.01, Combined(interior=False)).rounds)
        monkeypatch.setattr(CombinedRun, "newton", True)
    assert rounds[0] <= 0.9 * rounds[1]


def test_steps_beside_an_entropy_go_on_where_they_find_no_new_column():
    """They left at a gap of 1.2 tol for an interior point method of 700 times the time."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 1))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=3000) > 0.0, 1, -1)
    game = rb.Game(rb.matrices.stumps(X, y), rb.KLPenalty(0.3), over=rb.Simplex())
    solution = rb.solve(game, 0.01)
    assert solution.status == "optimal"
    assert {record.inner for record in solution.history} == {"smoothed"}


def test_narrow_tolerances_take_the_steps_they_took(monkeypatch):
    game = GAMES["planted"]()
    solution, seen = watched(monkeypatch, game, 1e-3)
    assert solution.status == "optimal"
    assert len(seen) > 10
    assert len({beta for beta, _ in seen}) == 1


def test_weights_move_on_until_one_is_gone_or_all_are_used():
    game = GAMES["planted"]()
    active = Corrective(step="pairwise").start(game, 0.1, None).active
    weights = np.array([0.2, 0.3, 0.1])
    assert _room(active, weights, np.array([-0.1, 0.05, 0.0])) == pytest.approx(2.0)
    assert _room(active, weights, np.array([0.1, 0.1, 0.0])) == pytest.approx(2.0)
    assert _room(active, weights, np.array([0.1, -0.1, 0.0])) == pytest.approx(3.0)
    assert _room(active, np.array([0.5, 0.5, 0.0]), np.array([0.1, 0.0, 0.0])) == 0.0


def test_steps_take_the_answer_of_a_walk_that_came_to_nothing(monkeypatch):
    """Before a round of their own they have the bracket of that of the walk."""

    def lost(*_):
        raise Lost

    monkeypatch.setattr("relaxboost.solvers.parametric_simplex.booster.ParametricSimplex", lost)
    matrix = noisy_stumps(200, 3)
    near = rb.solve(rb.Game(matrix, rb.Capped(60)), 0.01)
    solution = rb.solve(rb.Game(matrix, rb.Capped(40)), 0.01, start=near)
    assert solution.status == "optimal"
    assert "lost" in [record.inner for record in solution.history]
