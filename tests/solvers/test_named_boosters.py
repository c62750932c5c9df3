"""TotalBoost, SoftBoost, SmoothBoost, MLPBoost, Hedge, adaptive AdaBoost*: what they promise."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from scipy import sparse as sp

import relaxboost as rb
from relaxboost._core.loop import Clock, TimeUp, until
from relaxboost.relaxations.base import BinaryDistribution, projector
from relaxboost.solvers import (
    AdaBoostStar,
    Hedge,
    MLPBoost,
    SmoothBoost,
    SoftBoost,
    TotalBoost,
    compare_methods,
)
from relaxboost.solvers.boosters.entropy_projection import ProjectionDual
from relaxboost.solvers.boosters.softboost import SoftBoostRun
from relaxboost.solvers.rounds import Rounds
from relaxboost.solvers.stopping import Tolerance
from relaxboost.views.plots import bounds_by_round
from tests.twins import entropy_projection

HARD = (TotalBoost(), SoftBoost(), MLPBoost(), MLPBoost(step="line-search"), Hedge())
ADAPTIVE = AdaBoostStar(nu="adaptive")


def signs(rng, m, n):
    return np.where(rng.random((m, n)) < 0.5, -1, 1).astype(np.int8)


def reals(rng, m, n):
    return np.clip(rng.uniform(-1, 1, (m, n)) + 0.1, -1, 1)


def reaches(game, tol, method):
    """Solve; the bracket is narrow, true, and found within the guarantee."""
    found = rb.solve(game, tol, method)
    assert found.status == "optimal"
    assert found.gap <= tol
    assert found.rounds <= found.bound
    assert rb.compare(found, rb.solve(game, 1e-9))
    return found


@pytest.mark.parametrize("method", [*HARD, ADAPTIVE], ids=repr)
@pytest.mark.parametrize("entries", [signs, reals])
@pytest.mark.parametrize("radius", [1, 2.5])
def test_the_hard_margin_is_reached_within_the_bound(method, entries, radius, rng):
    for m, n, tol in ((5, 8, 0.2), (30, 40, 0.1), (20, 6, 0.3)):
        game = rb.Game(entries(rng, m, n), over=rb.L1Ball(radius))
        reaches(game, tol * radius, method)


@pytest.mark.parametrize("method", HARD[1:], ids=repr)
@pytest.mark.parametrize("over", [rb.L1Ball(2), rb.Simplex(), rb.FullSimplex(0.5)], ids=repr)
@pytest.mark.parametrize("k", [1, 3.5, 20])
def test_the_soft_margin_is_reached_within_the_bound(method, over, k, rng):
    """A game with negative values over the simplex too."""
    for shift in (0.0, -0.4):
        A = np.clip(reals(rng, 20, 15) + shift, -1, 1)
        reaches(rb.Game(A, rb.Capped(k), over=over), 0.1 * float(over.radius), method)


def test_known_values_are_found():
    """The value of the identity is 1/m, and of its soft margin too; that of Hadamard signs 1/2."""
    four = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    for A, f, value in ((np.eye(4), rb.HardMargin(), 0.25), (np.eye(4), rb.Capped(2), 0.25)):
        for method in HARD[1:]:
            found = reaches(rb.Game(A, f), 0.05, method)
            assert found.lower <= value <= found.upper
    for method in HARD:
        found = reaches(rb.Game(four[1:] * -1), 0.05, method)
        assert found.lower <= 1 / 3 <= found.upper


@pytest.mark.parametrize("method", [*HARD, ADAPTIVE], ids=repr)
def test_runs_are_deterministic(method, rng):
    game = rb.Game(reals(rng, 15, 12))
    one, two = (rb.solve(game, 0.1, method) for _ in range(2))
    assert (one.rounds, one.lower, one.upper) == (two.rounds, two.lower, two.upper)
    assert np.array_equal(one.d, two.d)
    assert np.array_equal(one.coefficients, two.coefficients)


@pytest.mark.parametrize("method", HARD, ids=repr)
def test_sparse_games_stumps_and_weak_learners(method, cancer_stumps, rng):
    A = np.where(rng.random((20, 12)) < 0.5, reals(rng, 20, 12), 0.0)
    sparse, dense = (reaches(rb.Game(given), 0.2, method) for given in (sp.csc_array(A), A))
    assert sparse.lower == pytest.approx(dense.lower, abs=0.2)
    found = rb.solve(rb.Game(cancer_stumps), 0.2, method)
    assert found.status == "optimal"
    assert found.rounds <= found.bound

    def fit(X, y, d):
        best = np.argmax(np.abs((d * y) @ X))
        return lambda Z: Z[:, best]

    X = np.sign(rng.normal(size=(20, 6)))
    learner = rb.matrices.oracle(fit, X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1), slack=0.1)
    found = rb.solve(rb.Game(learner), 0.4, method)
    assert found.status == "optimal"
    assert rb.solve(rb.Game(learner), 0.05, method, max_rounds=3).rounds <= 3


# The entropy projection.


@pytest.mark.parametrize("k", [1.0, 2.0, 3.7])
@pytest.mark.parametrize("entries", [signs, reals])
def test_the_projection_is_that_of_the_twin(k, entries, rng):
    for t in (1, 3, 6):
        A = entries(rng, 9, t).astype(float)
        project = projector(rb.Capped(k).resolve(9), 1.0)
        value = rb.solve(rb.Game(A, rb.Capped(k), over=rb.Simplex()), 1e-9).upper
        for level in (value + 0.02, value + 0.3, 1.0):
            dual = ProjectionDual(A, level, project)
            w = dual.maximise(np.zeros(t), 1e-8)
            d = dual.distribution(w)
            assert d == pytest.approx(entropy_projection(A, level, k), abs=2e-5)
            assert (A.T @ d).max() <= level + 1e-6
            # The dual is the least relative entropy: no duality gap.
            entropy = float(np.sum(d[d > 0] * np.log(d[d > 0]))) + math.log(9)
            assert dual.evaluate(w)[0] == pytest.approx(entropy, abs=1e-6)


def test_each_projection_raises_the_dual_by_half_of_the_squared_accuracy(rng):
    """What the round bound rests on; the dual never exceeds log(m/k)."""
    game, nu = rb.Game(reals(rng, 25, 40), rb.Capped(4)), 0.08
    run = SoftBoostRun(game, nu, Clock())
    values = []
    for _ in islice(Rounds(game, run), 60):
        level = run.least - nu
        if not run.infeasible and math.isfinite(level):
            columns = run.active.columns[:, run.program.slots]
            dual = ProjectionDual(columns, level, projector(game.relaxation, 1.0))
            values.append(dual.evaluate(run.multipliers)[0])
    assert len(values) > 5
    assert run.infeasible
    assert (np.diff([0.0, *values]) >= nu**2 / 2 - 1e-9).all()
    assert values[-1] <= math.log(25 / 4) + 1e-9


def test_a_projection_looks_at_the_clock(rng):
    A = reals(rng, 9, 4)
    dual = ProjectionDual(A, 0.1, projector(rb.HardMargin(), 1.0))
    with until(0.0), pytest.raises(TimeUp):
        dual.maximise(np.zeros(4), 1e-8)


def test_one_distribution_only_and_one_example():
    for game in (rb.Game([[0.3, -0.4]]), rb.Game(np.eye(3), rb.Capped(3))):
        for method in HARD[1:]:
            found = rb.solve(game, 1e-9, method)
            assert (found.status, found.rounds) == ("optimal", 2)


# AdaBoost* with an accuracy that shrinks.


def test_adaptive_accuracies_are_halved_down_to_the_fixed_one(rng):
    game = rb.Game(reals(rng, 30, 20))
    bounds = [AdaBoostStar(nu=nu).rounds_bound(game, 0.05) for nu in ("fixed", "adaptive")]
    steps = [math.ceil(2 * math.log(30) / (0.05 * 2**i) ** 2) for i in range(5)]
    assert bounds == pytest.approx([1 + steps[0], 5 + sum(steps)], abs=1)
    assert bounds[1] <= 4 / 3 * bounds[0] + 10
    found = rb.solve(game, 0.05, ADAPTIVE)
    assert found.method == "adaboost-star (adaptive)"
    with pytest.raises(rb.InputError, match="unknown nu 'small'; choose one of fixed, adaptive"):
        AdaBoostStar(nu="small")


def test_a_new_gamma_begins_with_an_edge_at_the_center():
    """Φ = Σ φ(N_i) must fall in every round, also in the first with a new γ."""
    game = rb.Game([[-0.5, -0.5], [-0.5, -1.0], [1.0, 0.5]], rb.Capped(1))
    run = SmoothBoost().start(game, Tolerance(1e-3), Clock())
    for _ in islice(Rounds(game, run), 60):
        if run.taken:
            c = -0.5 * math.log1p(-run.gamma)
            N = run._excess
            phi = np.where(N > 0.0, np.expm1(-c * np.maximum(N, 0.0)) / c, -N)
            assert phi.sum() <= 1e-12


def test_a_stage_begins_with_an_edge_at_its_own_d():
    """The proof needs Σ exp(ρ‖w‖ − Aw) <= m exp(−t ν²/2) after t steps of a stage."""
    A = [[1, 1, -1], [-1, -1, -1], [-1, -1, -1], [-1, 1, 1], [1, 1, -1], [-1, 1, 1], [-1, 1, 1]]
    run = ADAPTIVE.start(rb.Game(A), Tolerance(0.1), Clock())
    accuracy = math.inf
    for state in islice(Rounds(rb.Game(A), run), 30):
        if run._accuracy < accuracy:
            accuracy, steps = run._accuracy, 0
        elif state.round > 1:
            steps += 1
        if run.active.norm > 0.0:
            level = (run._least - accuracy) * run.active.norm
            potential = np.exp(level - run.active.raw).sum()
            assert potential <= 7 * math.exp(-steps * accuracy**2 / 2) * (1 + 1e-12)


# SmoothBoost, whose guarantee is about margins of most examples.


@pytest.mark.parametrize("k", [1, 4, 10])
def test_smoothboost_keeps_its_theorem(k, rng):
    """Fewer than k examples at or below θ, in fewer rounds than stated, and d <= 1/k."""
    for _ in range(4):
        A = np.clip(reals(rng, 20, 30) + 0.2, -1, 1)
        game = rb.Game(A, rb.Capped(k))
        value = rb.solve(game, 1e-9).lower
        gamma = value / 2
        states = []
        found = rb.solve(game, 1e-9, SmoothBoost(gamma), max_rounds=10**6, callback=states.append)
        assert found.status == "stalled"
        T = len(states) - 1
        assert 2 / (k / 20 * gamma**2 * math.sqrt(1 - gamma)) > T
        theta = gamma / (2 + gamma)
        assert np.sum(states[-1].active.u <= theta) < k
        assert max(state.d.max() for state in states) <= (1 + 1e-14) / k
        c = -0.5 * math.log(1 - gamma)
        for t, state in enumerate(states):
            assert t == 0 or state.lower >= theta - 20 / (k * t * c) - 1e-12


def test_smoothboost_finds_gamma(rng):
    """It ends at no less than a quarter of the value, whatever the first edges are."""
    A = np.clip(reals(rng, 30, 20) + 0.1, -1, 1)
    for radius in (1, 3):
        game = rb.Game(A, rb.Capped(6), over=rb.L1Ball(radius))
        run = SmoothBoost().start(game, Tolerance(1e-9), Clock())
        last = list(islice(Rounds(game, run), 20_000))[-1]
        value = rb.solve(game, 1e-9).upper / radius
        assert run.ended
        assert value / 4 <= run.gamma <= 0.5
        theta = run.gamma / (2 + run.gamma)
        assert np.sum(last.active.u / radius <= theta) < 6


def test_smoothboost_needs_a_limit_and_a_possible_gamma():
    with pytest.raises(rb.InputError, match=r"but no gap; use .* pass max_rounds or time_limit"):
        rb.solve(rb.Game(np.eye(3)), 0.1, "smoothboost")
    with pytest.raises(rb.InputError, match=r"gamma must be at most 1/2, got 0\.7"):
        SmoothBoost(gamma=0.7)
    with pytest.raises(rb.InputError, match="gamma must be"):
        SmoothBoost(gamma=-1)
    # No column has a positive edge: w = 0 is best, and the run ends.
    found = rb.solve(rb.Game(np.zeros((3, 2))), 1e-9, "smoothboost", max_rounds=9)
    assert (found.status, found.lower) == ("optimal", 0.0)
    assert found.upper == pytest.approx(0.0, abs=1e-12)


# MLPBoost.


@pytest.mark.parametrize("f", [rb.HardMargin(), rb.Capped(5), rb.NormPenalty(1, 0.3)], ids=repr)
@pytest.mark.parametrize("smoothing", ["entropy", "binary-entropy"])
def test_mlpboost_gains_what_the_step_of_fig_1_gains(f, smoothing, rng):
    """D never falls, and a round gains at least β g²/8, or half of the gap g."""
    game = rb.Game(reals(rng, 25, 30), f)
    method = MLPBoost(smoothing=smoothing)
    if smoothing == "binary-entropy" and not isinstance(f, BinaryDistribution):
        with pytest.raises(rb.InputError, match="binary_distribution"):
            method.check(game)
        return
    run = method.start(game, Tolerance(0.05), Clock())
    least = -math.inf
    for state in islice(Rounds(game, run), 12):
        assert run.value >= least - 1e-12
        gap, beta = state.smoothed_gap, run.beta
        least = run.value + min(gap / 2, beta * gap**2 / 8)


def test_mlpboost_starts_where_a_solution_is(rng):
    game = rb.Game(reals(rng, 25, 30), rb.Capped(5))
    first = rb.solve(game, 0.2, "mlpboost")
    found = rb.solve(game, 0.02, "mlpboost", start=first)
    assert found.status == "optimal"
    assert found.lower >= first.lower
    assert math.isnan(MLPBoost(beta=0.1).rounds_bound(game, 0.1))


# Errors.


@pytest.mark.parametrize(
    ("method", "f", "message"),
    [
        (
            "totalboost",
            rb.Capped(2),
            r'hard margin, but this game has Capped\(k=2\); .*"softboost"',
        ),
        ("totalboost", rb.KLPenalty(0.1), r'hard margin, .* use method="auto"'),
        ("softboost", rb.KLPenalty(0.1), r'HardMargin\(\) and Capped\(k\), .*="auto"'),
        ("smoothboost", rb.KLPenalty(0.1), r'HardMargin\(\) and Capped\(k\), .*="auto"'),
        ("mlpboost", rb.KLPenalty(0.1), r'KLPenalty\(.*\) is not polyhedral; .*="auto"'),
    ],
)
def test_games_that_they_are_not_for(method, f, message):
    with pytest.raises(rb.InputError, match=message):
        rb.solve(rb.Game(np.eye(4), f), 0.1, method, max_rounds=3)


@pytest.mark.parametrize("method", ["totalboost", "softboost", "smoothboost", "mlpboost"])
def test_sets_without_atoms(method):
    with pytest.raises(rb.InputError, match=r"L1Ball, Simplex and FullSimplex, but this game is o"):
        rb.solve(rb.Game(np.eye(4), over=rb.L2Ball(1)), 0.1, method, max_rounds=3)


@pytest.mark.parametrize("method", ["totalboost", "softboost", "smoothboost", "hedge"])
def test_they_take_no_start(method):
    game = rb.Game(np.eye(4))
    with pytest.raises(rb.InputError, match="leave start and checkpoint out"):
        rb.solve(game, 0.1, method, start=(np.full(4, 0.25), None), max_rounds=3)


# Several at once.


def test_methods_are_compared(rng):
    game = rb.Game(reals(rng, 20, 15), rb.Capped(4))
    found = compare_methods(game, ["softboost", Hedge(), "smoothboost"], 0.1, max_rounds=40)
    assert [row.method for row in found.rows] == ["softboost", "hedge", "smoothboost"]
    for row, solution in zip(found.rows, found.solutions, strict=True):
        assert (row.lower, row.upper, row.rounds) == (
            solution.lower,
            solution.upper,
            solution.rounds,
        )
        assert row.gap == solution.gap
        assert row.seconds >= 0.0
    head, *lines = str(found).splitlines()
    assert head.split() == [
        *("method", "status", "rounds", "CPU", "s", "lower", "upper", "gap", "guarantee"),
    ]
    assert [line.split()[0] for line in lines] == ["softboost", "hedge", "smoothboost"]
    assert lines[2].split()[-1] == "-"
    frame = found.to_frame()
    assert list(frame["method"]) == ["softboost", "hedge", "smoothboost"]
    assert list(frame["gap"]) == [row.gap for row in found.rows]
    axes = bounds_by_round(found, title="both bounds")
    assert len(axes.lines) == 6
    with pytest.raises(rb.InputError, match=r"needs a result of solvers\.compare_methods"):
        bounds_by_round(found.solutions)
    with pytest.raises(rb.InputError, match="methods must be a list"):
        compare_methods(game, "softboost", 0.1)
    with pytest.raises(rb.InputError, match="hard margin"):
        compare_methods(game, ["softboost", "totalboost"], 0.1)


def test_the_limits_of_every_method_are_checked_before_the_first_one_runs(monkeypatch):
    game = rb.Game([[1.0, -1.0], [0.5, 1.0]], rb.HardMargin())
    monkeypatch.setattr(rb.solvers.LPBoost, "start", None)  # a call would be a TypeError
    with pytest.raises(rb.InputError, match="AdaBoost need not reach"):
        compare_methods(game, ["lpboost", "adaboost"], 0.1, time_limit=None)
