"""Hedge: regret is the gap, d is what mirror descent makes of the margins, AdaBoost as steps."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.errors import SolverError
from relaxboost._core.loop import Clock
from relaxboost.online import (
    Constant,
    ExponentiatedGradient,
    Growing,
    MirrorDescent,
    ScheduledHedge,
)
from relaxboost.solvers.rounds import Rounds
from relaxboost.solvers.stopping import Tolerance

DOMAINS = (
    rb.L1Ball(2),
    rb.Simplex(),
    rb.FullSimplex(3),
    rb.L2Ball(0.5),
    rb.SquaredNorm(2),
)
RELAXATIONS = (rb.HardMargin(), rb.Capped(3), rb.KLPenalty(0.2), rb.NormPenalty(2, 0.3))
SCHEDULES = ("growing", "adaptive", "horizon", Constant(0.3), Growing(0.1))


def games(rng, f, over):
    for m, n in ((9, 6), (4, 12)):
        A = np.clip(rng.uniform(-1, 1, (m, n)) + rng.choice([0.0, 0.3]), -1, 1)
        yield rb.Game(np.sign(A) if m < n else A, f, over=over)


def regret_term(state, beta):
    """Return r²/(2β), where r is half the range of the margins of the answer of this round."""
    margins = state.active.direction(state.best)[0] + state.active.u
    return (0.5 * (margins.max() - margins.min())) ** 2 / (2.0 * beta)


@pytest.mark.parametrize("over", DOMAINS, ids=repr)
@pytest.mark.parametrize("f", RELAXATIONS, ids=repr)
def test_the_gap_is_at_most_the_regret_and_that_its_bound(f, over, rng):
    """Of the mean d and of the best d, in each round, with β R + Σ r²/(2β) as the bound."""
    for game, schedule in zip(games(rng, f, over), rng.permutation(len(SCHEDULES)), strict=False):
        run = ScheduledHedge(SCHEDULES[schedule]).start(game, Tolerance(0.1), Clock())
        f, total, mean, least = game.relaxation, 0.0, np.zeros(game.m), math.inf
        spent = beta = 0.0
        for state in Rounds(game, run):
            t = run.learned
            if t:
                lower = f.relaxed_margin(state.active.u)[0] - state.active.cost
                answer = over.best(game.matrix, mean / t)
                upper = f.penalty(f.repair(mean / t)) + over.value(answer.edge)
                # F(A w̄) − g*(w̄) is at least what the best fixed d pays, each round.
                assert max(upper, least) - lower <= total / t - lower + 1e-9
                assert total - t * lower <= beta * game.entropy_range + spent + 1e-9
            if t == 30:
                break
            if state.d is run._next:
                loss = f.penalty(state.d) + over.value(state.best.edge)
                total, mean, least = total + loss, mean + state.d, min(least, loss)
                beta = run._beta
                spent += regret_term(state, beta)


@pytest.mark.parametrize("f", RELAXATIONS, ids=repr)
def test_d_is_the_minimiser_that_the_theory_asks_for(f, rng):
    game = rb.Game(rng.uniform(-1, 1, (5, 4)), f)
    run = ScheduledHedge(Constant(0.4)).start(game, Tolerance(0.1), Clock())
    for state in Rounds(game, run):
        d = cp.Variable(5, nonneg=True)
        penalty, constraints = game.relaxation.cvxpy_penalty(d)
        t = run.learned
        objective = t * state.active.u @ d + (t + 1) * penalty - 0.4 * cp.sum(cp.entr(d))
        cp.Problem(cp.Minimize(objective), [cp.sum(d) == 1, *constraints]).solve("CLARABEL")
        assert run._next == pytest.approx(d.value, abs=1e-4)
        if t == 3:
            return


@pytest.mark.parametrize("schedule", ["growing", Constant(2.0)], ids=repr)
def test_without_a_relaxation_it_is_mirror_descent_on_the_margins(schedule, rng):
    """Eq. 11 of Juditsky et al. with linear losses A w_t, and for constant β it is EG."""
    game = rb.Game(np.sign(rng.normal(size=(8, 5))))
    run = ScheduledHedge(schedule).start(game, Tolerance(0.1), Clock())
    kinds = (MirrorDescent,) if schedule == "growing" else (MirrorDescent, ExponentiatedGradient)
    twins = [kind("inner", over=rb.Simplex(), schedule=schedule).start(8) for kind in kinds]
    spent = 0.0
    for state in Rounds(game, run):
        if run.learned == 25:
            bound = run._beta * math.log(8) + spent  # Eq. 11's bound has β_t in it
            assert bound == pytest.approx(twins[0].regret_bound(), rel=1e-12)
            return
        if state.d is run._next:
            spent += regret_term(state, run._beta)
            for twin in twins:
                assert state.d == pytest.approx(twin.w, abs=1e-12)
                twin.update(state.best.sign * game.matrix.column(state.best.id))


def test_now_and_then_the_mean_is_shown(rng):
    run = ScheduledHedge().start(
        rb.Game(rng.uniform(-1, 1, (6, 5)), rb.Capped(2)), Tolerance(0.1), Clock()
    )
    learned, looks = [], 0
    for state in Rounds(rb.Game(rng.uniform(-1, 1, (6, 5)), rb.Capped(2)), run):
        if state.d is run._next:
            learned.append(state.d)
        else:
            looks += 1
            assert state.d == pytest.approx(np.mean(learned, axis=0), abs=1e-12)
        if len(learned) == 40:
            assert 15 < looks < 25
            return


@pytest.mark.parametrize("over", DOMAINS, ids=repr)
@pytest.mark.parametrize("schedule", SCHEDULES[:3])
def test_rounds_stay_under_the_bound(schedule, over, rng):
    for game in games(rng, RELAXATIONS[int(rng.integers(2))], over):
        tol = 0.2 * over.reach(game.n)
        found = rb.solve(game, tol, ScheduledHedge(schedule))
        assert found.status == "optimal"
        assert found.rounds <= found.bound
        assert found.method == f"hedge ({schedule})"
        assert rb.compare(found, rb.reference(game))


def test_the_bound_of_a_constant_temperature():
    """Below it the regret need not vanish: L²/(2β) a round is what β costs."""
    game = rb.Game(np.eye(4))
    assert math.isnan(ScheduledHedge(Constant(1.0)).rounds_bound(game, 0.5))
    assert ScheduledHedge(Constant(2.0)).rounds_bound(game, 0.5) < 40
    both = [ScheduledHedge(name).rounds_bound(game, 0.01) for name in ("growing", "adaptive")]
    assert both[0] == both[1] == pytest.approx(4 * math.log(4) / 1e-4, rel=3e-3)
    horizon = ScheduledHedge("horizon").rounds_bound(game, 0.1)
    assert 2 * math.log(4) / 0.01 < horizon < 1.3 * 2 * math.log(4) / 0.01


@pytest.mark.parametrize("game", [rb.Game([[0.3, -0.4]]), rb.Game(np.eye(3), rb.Capped(3))])
def test_where_there_is_one_distribution_only(game):
    found = rb.solve(game, 1e-9, ScheduledHedge())
    assert found.status == "optimal"
    assert found.rounds == 2


def test_stumps_and_weak_learners(cancer_stumps):
    game = rb.Game(cancer_stumps, rb.Capped(fraction=0.1))
    found = rb.solve(game, 0.02, ScheduledHedge())
    assert found.status == "optimal"
    assert found.rounds < 1500  # Fig. 1 takes some ten thousand
    assert {record.inner for record in found.history} == {"hedge"}

    def fit(X, y, d):
        best = np.argmax(np.abs((d * y) @ X))
        return lambda Z: Z[:, best]

    X = np.sign(np.random.default_rng(0).normal(size=(20, 6)))
    learner = rb.matrices.oracle(fit, X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1), slack=0.1)
    found = rb.solve(rb.Game(learner), 0.3, ScheduledHedge())
    assert found.status == "optimal"
    assert math.isnan(found.bound)


def test_what_is_refused():
    with pytest.raises(rb.InputError, match="unknown schedule 'fast'"):
        ScheduledHedge("fast")
    with pytest.raises(rb.InputError, match=r"write ScheduledHedge\(\)"):
        rb.solve(rb.Game(np.eye(2)), 0.1, ScheduledHedge)


@pytest.mark.parametrize("step", ["classical", "line-search", "lecture"])
def test_adaboost_is_mirror_descent_over_the_examples(step, rng):
    """Its d are mirror images under the entropy: EG with the columns as losses and η_t as steps.

    Telgarsky's lecture has the primal side: descent in w with the gradient −Aᵀd.
    """
    game = rb.Game(np.sign(rng.normal(size=(30, 8)) + 0.1))
    twin = ExponentiatedGradient("inner", over=rb.Simplex(), schedule=Constant(1.0)).start(30)
    shown = []

    def follow(state):
        if shown:  # the step from the round before has led here
            best = shown[-1]
            twin.update(best.sign * game.matrix.column(best.id), weight=state.step)
        assert state.d == pytest.approx(twin.w, rel=1e-9)
        shown.append(state.best)

    rb.solve(game, 1e-6, rb.solvers.AdaBoost(step=step), max_rounds=40, callback=follow)
    assert len(shown) == 40


def test_a_method_without_a_name_that_cannot_begin_leaves_a_bracket(monkeypatch):
    def begin(*_):
        raise SolverError("no solver answers")

    monkeypatch.setattr(rb.online.ScheduledHedge, "start", begin)
    found = rb.solve(rb.Game([[1, -1], [1, 1]]), method=rb.online.ScheduledHedge())
    assert (found.status, found.method) == ("failed", "ScheduledHedge")
    assert found.lower <= 1.0 <= found.upper
