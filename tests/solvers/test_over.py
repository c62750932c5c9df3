"""Boosters over every domain: optima, rounds, the gain of a round, and what is refused."""

from __future__ import annotations

import math
import time

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import ChiSquarePenalty
from relaxboost.solvers import Corrective, ERLPBoost, FullyCorrective, LPBoost
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun
from relaxboost.solvers.boosters.hull import reweigh
from relaxboost.solvers.rounds import Rounds
from tests.conformance.samples import Ball

ATOMIC = [rb.L1Ball(4), rb.L1Ball(0.1), rb.Simplex(), rb.Simplex(3), rb.FullSimplex(2)]
EUCLIDEAN = [rb.L2Ball(), rb.L2Ball(0.1), rb.SquaredNorm(0.5), rb.SquaredNorm(20)]
STEPS = ("fig1", "line-search")


def size(over, n):
    """A gap is judged against how large margins can be."""
    return min(over.reach(n), 10.0)


def games(rng, over, shapes=((12, 8), (6, 15))):
    for m, n in shapes:
        A = np.clip(rng.uniform(-1, 1, (m, n)) + rng.choice([0.0, 0.3]), -1, 1)
        for relaxation in (rb.HardMargin(), rb.Capped(max(1, m / 3))):
            yield rb.Game(A, relaxation, over=over)


@pytest.mark.parametrize("over", ATOMIC, ids=repr)
def test_every_method_reaches_the_optimum_over_atoms(over, rng):
    ways = [{"method": Corrective(step=step)} for step in rb.solvers.STEPS]
    ways += [{"method": ERLPBoost()}, {"method": LPBoost()}]
    for game in games(rng, over):
        reference = rb.reference(game)
        tol = 0.05 * size(over, game.n)
        for way in [{}, *ways]:
            solution = rb.solve(game, tol, **way)
            assert solution.status == "optimal", solution
            assert solution.gap <= tol
            assert rb.compare(solution, reference)
            assert np.abs(solution.w).sum() <= over.scale * (1 + 1e-12)
            assert over.two_sided or solution.w.min() >= 0.0
            if isinstance(over, rb.Simplex):
                assert solution.w.sum() == pytest.approx(over.scale)
        tight = rb.solve(game, 1e-9 * over.scale)
        assert tight.status == "optimal"
        assert rb.compare(tight, reference)


@pytest.mark.parametrize("over", EUCLIDEAN, ids=repr)
def test_every_method_reaches_the_optimum_over_euclidean_sets(over, rng):
    for game in games(rng, over):
        reference = rb.reference(game)
        tol = 0.05 * size(over, game.n)
        for step in ("fig1", "classic", "line-search"):
            solution = rb.solve(game, tol, Corrective(step=step))
            assert solution.status == "optimal", solution
            assert solution.gap <= tol
            assert rb.compare(solution, reference)
        tight = rb.solve(game, 1e-8)
        assert tight.method == "auto (hull)"
        assert tight.status == "optimal"
        assert rb.compare(tight, reference)
        assert tight.rounds <= 100
        assert tight.history[-1].inner == "hull"


@pytest.mark.parametrize("over", [*ATOMIC, *EUCLIDEAN], ids=repr)
def test_rounds_stay_under_the_bound(over, rng):
    for _ in range(3):
        for game in games(rng, over, shapes=[rng.integers(1, 9, 2)]):
            _under_the_bound(game, rng)
        A = np.sign(rng.normal(size=rng.integers(1, 9, 2)))
        _under_the_bound(rb.Game(A, over=over), rng)


def _under_the_bound(game, rng):
    tol = float(rng.uniform(0.1, 0.5)) * size(game.over, game.n)
    for step in STEPS:
        for stopping in ("certified", "smoothed"):
            run = rb.solve(game, tol, Corrective(step=step, stopping=stopping))
            assert run.status == "optimal"
            assert run.rounds <= run.bound


@pytest.mark.parametrize(
    ("f", "least", "most"),
    [
        (rb.KLPenalty(0.5), 0.1, 15.0),
        (rb.NormPenalty(np.inf, 2.0), 0.1, 15.0),
        (rb.NormPenalty(2, 0.5), 0.1, 15.0),
        (rb.HardMargin(), 0.0, 1e-6),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("shape", "shift"), [((30, 12), 0.0), ((16, 30), 0.1)])
def test_a_part_of_the_weight_is_left_out(f, least, most, shape, shift):
    """Where the best w is inside the full simplex, or is 0 though some edge is positive."""
    A = np.clip(np.random.default_rng(2).uniform(-1, 1, shape) - shift, -1, 1)
    game = rb.Game(A, f, over=rb.FullSimplex(20))
    reference = rb.reference(game)
    assert game.matrix.edges(game.relaxation.center(game.m)).max() > 0.0
    for method in ("interior-point", "auto", LPBoost()):
        found = rb.solve(game, 1e-7, method)
        assert found.status == "optimal", found.message
        assert rb.compare(found, reference)
        assert least <= found.w.sum() <= most
        assert found.rounds < 80


def test_the_bound_grows_with_the_square_of_the_radius():
    for over, factor in {rb.L1Ball(3): 9.0, rb.Simplex(2): 4.0, rb.L2Ball(2): 16.0}.items():
        bound = rb.solve(rb.Game(np.eye(4), over=over), 0.1, "corrective", max_rounds=1).bound
        assert bound == pytest.approx(64 * math.log(4) * factor / 0.01)
    penalty = rb.Game(np.eye(4), over=rb.SquaredNorm(1))
    bounds = [rb.solve(penalty, tol, "corrective", max_rounds=1).bound for tol in (1e-2, 1e-3)]
    coarse, fine = bounds
    assert 10 < fine / coarse < 20


def test_a_ball_is_the_unit_ball_for_a_scaled_game(rng):
    """f = 0: the runs over radius r with r · tol and over radius 1 with tol are the same."""
    A = rng.uniform(-1, 1, (15, 12))
    for step in rb.solvers.STEPS:
        one = rb.solve(rb.Game(A), 0.1, Corrective(step=step), max_rounds=40)
        four = rb.solve(rb.Game(A, over=rb.L1Ball(4)), 0.4, Corrective(step=step), max_rounds=40)
        assert four.rounds == one.rounds
        assert four.w == pytest.approx(4 * one.w, abs=1e-9)
        assert four.bound == pytest.approx(one.bound, nan_ok=True)


@pytest.mark.parametrize("step", STEPS)
def test_each_round_over_a_penalty_gains_its_share(step, rng):
    """ε shrinks by 1 − q, q = λ / (λ + n/(2β)), and the gap tested is at most ε / q."""
    weight, beta, m, n = 0.5, 0.05, 10, 6
    game = rb.Game(np.clip(rng.uniform(-1, 1, (m, n)) + 0.3, -1, 1), over=rb.SquaredNorm(weight))
    values, gaps = [], []
    for state in Rounds(game, CorrectiveRun(game, beta, step)):
        d = state.d[state.d > 0]
        smoothed = state.d @ state.active.u + beta * (d @ np.log(d) + math.log(m))
        values.append(smoothed - state.active.cost)
        gaps.append(state.smoothed_gap)
        if state.round > 2000 or gaps[-1] < 1e-12:
            break
    errors = max(values) + gaps[-1] - np.array(values)
    q = weight / (weight + n / (2 * beta))
    assert (errors[1:] <= (1 - q) * errors[:-1] + 1e-12).all()
    assert (np.array(gaps)[:-1] <= errors[:-1] / q + 1e-11).all()
    assert (np.array(gaps) >= errors - 1e-11).all()


def test_weights_in_the_hull_are_the_minimum(rng):
    """Against a fine pass of Frank–Wolfe's own test, for both shapes of g."""
    V = rng.normal(size=(6, 9)) + 0.3
    gram, costs = V.T @ V, rng.uniform(0, 0.1, 9)
    for top, curve, base in ((0.7, 0.0, 1.0), (2.0, 1.0, 1e-6)):
        weights = np.zeros(9)
        weights[0] = 1.0
        reweigh(gram, costs, weights, 9, (top, curve, base), 1e-10)
        inner = gram @ weights
        slopes = costs + top / math.sqrt(curve * (weights @ inner) + base) * inner
        assert weights.min() >= 0.0
        assert weights.sum() == pytest.approx(1.0)
        assert weights @ slopes - slopes.min() <= 1e-9


@pytest.mark.parametrize("over", EUCLIDEAN, ids=repr)
def test_a_gap_below_rounding_ends_as_stalled(over, rng):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (30, 10)) + 0.3, -1, 1), over=over)
    solution = rb.solve(game, 1e-18, max_rounds=300)
    assert solution.status in ("stalled", "optimal", "max_rounds")
    assert solution.gap <= 1e-12
    assert rb.compare(solution, rb.reference(game))


@pytest.mark.parametrize("make", [rb.L1Ball, rb.L2Ball, rb.SquaredNorm])
@pytest.mark.parametrize("value", [1e-100, 1e-9, 1e9, 1e100])
def test_extreme_sizes_end_somehow_with_a_true_bracket(make, value, rng):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (6, 4)) + 0.5, -1, 1), over=make(value))
    sizes = {rb.L1Ball: 1.0, rb.L2Ball: 1.0, rb.SquaredNorm: 0.25}
    unit = rb.reference(rb.Game(game.matrix, over=make(sizes[make])))
    for tol in (1e-300, 1e-3, 1e300):
        for options in ({}, {"method": "corrective"}):
            run = rb.solve(game, tol, max_rounds=30, **options)
            factor = value if make is not rb.SquaredNorm else sizes[make] / value
            assert run.lower <= unit.upper * factor * (1 + 1e-12)
            assert run.upper >= unit.lower * factor * (1 - 1e-12)


def test_the_hull_drops_points_without_weight(rng):
    A = np.clip(rng.uniform(-1, 1, (300, 40)) + 0.1, -1, 1)
    game = rb.Game(A, rb.Capped(30), over=rb.L2Ball())
    solution = rb.solve(game, 1e-10)
    assert solution.status == "optimal"
    assert solution.rounds > 16  # more than the room at first
    assert rb.compare(solution, rb.reference(game))


def test_a_hull_that_takes_long_asks_the_interior_point_method():
    """Of one column or of equal rows too: pairwise steps took 190 rounds and more to 1e-5."""
    r = np.random.default_rng(965)
    A = r.uniform(-1, 1, (12, 1))
    B = np.tile(np.clip(r.uniform(-1, 1, (30, 12)), -1, 1), (2, 2))
    for game in (
        rb.Game(A, rb.NormPenalty(8, 0.3), over=rb.L2Ball()),
        rb.Game(B, rb.NormPenalty(1.5, 0.3), over=rb.L2Ball()),
    ):
        solution = rb.solve(game, 1e-6, max_rounds=200)
        assert solution.status == "optimal"
        assert solution.history[-1].inner == "interior"
        assert rb.compare(solution, rb.reference(game))


@pytest.mark.parametrize("over", EUCLIDEAN, ids=repr)
@pytest.mark.parametrize("f", [rb.HardMargin(), rb.Capped(20), rb.KLPenalty(0.1)], ids=repr)
@pytest.mark.parametrize("shift", [0.0, 0.2])
def test_the_interior_point_method_solves_games_over_euclidean_sets(f, over, shift, rng):
    A = np.clip(rng.uniform(-1, 1, (200, 30)) + shift, -1, 1)
    for matrix in (A, A[:20], np.tile(A[:100, :15], (2, 2)), 1e-3 * A):
        game = rb.Game(matrix, f if len(matrix) > 20 else rb.HardMargin(), over=over)
        goal = 1e-8 * size(over, game.n)
        found = rb.solve(game, goal, "interior-point")
        assert found.status == "optimal", found.message
        assert found.gap <= goal
        assert found.rounds <= 40
        assert (found.lower, found.upper) == game.bracket(found.d, found.w)
        assert rb.compare(found, rb.reference(game))


def test_an_f_that_asks_a_solver_takes_few_rounds(rng):
    """Each asks one for F; here its matrix is dense in the first, and has two entries a row."""
    A, G = np.sign(rng.uniform(-1, 1, (100, 20))), rng.normal(size=(75, 100))
    for f in (lambda d: cp.sum_squares(G @ d), lambda d: 0.3 * cp.tv(d)):
        game = rb.Game(A, rb.Custom(f), over=rb.L2Ball(0.2))
        solution = rb.solve(game, 1e-6)
        assert solution.status == "optimal"
        assert solution.rounds < 200
        assert rb.compare(solution, rb.reference(game))


LONG = np.tile(np.random.default_rng(965).uniform(-1, 1, (30, 12)), (2, 2))
"""A hull of its rows takes long."""


@pytest.mark.parametrize("p", [1.00001, 10000])
def test_an_f_that_cvxpy_cannot_write_keeps_the_bracket_of_the_hull(p):
    """DCPError and ZeroDivisionError of powers that cvxpy takes for 1 and for 1/0."""
    game = rb.Game(LONG, rb.NormPenalty(p, 0.3), over=rb.L2Ball())
    found = rb.solve(game, 1e-9)
    kinds = [record.inner for record in found.history]
    assert kinds == ["start", *["hull"] * (len(kinds) - 2), "general"]
    assert found.status == "stalled"
    assert (found.lower, found.upper) == game.bracket(found.d, found.w)
    alone = rb.solve(game, 1e-9, "fully-corrective", max_rounds=kinds.count("hull"))
    assert found.gap <= alone.gap


def test_the_programs_of_a_general_solver_share_its_time(monkeypatch):
    """Each had all of it: a time_limit of 3 took 5.7 seconds."""
    limits = []

    def slow(problem, **options):
        limits.append(options["time_limit"])
        time.sleep(0.6 * limits[0])
        raise cp.SolverError("no time left")

    monkeypatch.setattr(cp.Problem, "solve", slow)
    interior = "relaxboost.solvers.interior_point.run"
    monkeypatch.setattr(f"{interior}.CVXPY_OVERHEAD_PASSES", 1.0)
    monkeypatch.setattr(f"{interior}.unfit", lambda game: "it is left out here")
    game = rb.Game(LONG, rb.NormPenalty(1.5, 0.3), over=rb.L2Ball())
    solution = rb.solve(game, 1e-9, time_limit=2.0)
    assert solution.status in ("time_limit", "stalled")
    assert solution.seconds < 3.0
    assert len(limits) == 2
    assert limits[1] < 0.4 * limits[0]


@pytest.mark.parametrize("over", [*EUCLIDEAN, rb.L2Ball(30)], ids=repr)
def test_the_hull_of_a_strongly_convex_f_takes_few_rounds(over, rng):
    """Answers to the hull's d jump about where w goes all the way: hundreds of rounds, or more."""
    A = np.where(rng.random((300, 40)) < 0.1, 1.0, rng.uniform(-1, 1, (300, 40)))
    for f in (rb.KLPenalty(0.1), rb.KLPenalty(0.01) + ChiSquarePenalty(0.1)):
        game = rb.Game(A, f, over=over)
        solution = rb.solve(game, 1e-6)
        assert solution.status == "optimal"
        assert solution.method.startswith("auto (hull")
        assert solution.rounds <= 60
        assert rb.compare(solution, rb.reference(game))
        assert rb.solve(game, 1e-18, max_rounds=400).gap <= 1e-12 * max(1.0, over.reach(40))


@pytest.mark.parametrize(
    "over", [rb.L1Ball(2), rb.FullSimplex(2), rb.L2Ball(), rb.SquaredNorm(0.5)]
)
def test_a_curved_relaxation_over_every_set(over, rng):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (6, 5)) + 0.2, -1, 1), Ball(0.5), over=over)
    reference, solution = rb.reference(game), rb.solve(game, 0.02)
    assert solution.status == "optimal"
    assert rb.compare(reference, solution)


def test_stumps_over_every_set(cancer_stumps):
    game = rb.Game(cancer_stumps, rb.Capped(57), over=rb.L2Ball())
    solution = rb.solve(game, 1e-3)
    assert solution.status == "optimal"
    assert solution.lower <= 8.22704435 <= solution.upper  # Clarabel, on the turned matrix
    assert solution.rounds < 200
    game = rb.Game(cancer_stumps, rb.Capped(57), over=rb.L1Ball(10))
    assert rb.solve(game, 1e-6).lower == pytest.approx(1.70012459, abs=1e-6)


@pytest.mark.parametrize("over", [rb.L2Ball(), rb.SquaredNorm(1)], ids=repr)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": LPBoost()}, r"LPBoost\(\) gives weights to single columns"),
        ({"method": ERLPBoost()}, 'use method="fully-corrective"'),
        ({"method": Corrective(step="pairwise")}, 'has none; use step="line-search"'),
        ({"method": Corrective(step="away")}, "finitely many atoms"),
    ],
)
def test_options_that_do_not_apply(over, options, message):
    with pytest.raises(rb.InputError, match=message):
        rb.solve(rb.Game(np.eye(3), over=over), **options)


def test_the_hull_is_for_euclidean_sets():
    with pytest.raises(rb.InputError, match=r"FullyCorrective\(\) is for games over Euclidean"):
        rb.solve(rb.Game(np.eye(3)), method=FullyCorrective())


@pytest.mark.parametrize("over", [rb.Simplex(), rb.L2Ball(), rb.SquaredNorm(1)], ids=repr)
def test_an_interrupt_before_the_first_round_ends(over, monkeypatch, rng):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (9, 7)) - 0.2, -1, 1), over=over)
    rb.solve(game, 0.5)  # a run that interrupts nothing prepares the kernels, before the keys
    honest = type(game.over).best

    def press(self, matrix, d):
        if press.armed:
            press.armed = False
            raise KeyboardInterrupt
        return honest(self, matrix, d)

    press.armed = not isinstance(over, rb.Simplex)  # the simplex asks for its first point
    monkeypatch.setattr(type(game.over), "best", press)
    if isinstance(over, rb.Simplex):
        monkeypatch.setattr(rb.HardMargin, "relaxed_margin", _raise)
    solution = rb.solve(game, 1e-6)
    monkeypatch.undo()
    assert solution.status == "interrupted"
    assert rb.compare(solution, rb.reference(game))


def _raise(self, u):
    raise KeyboardInterrupt


def test_callbacks_see_dense_answers():
    seen = []
    game = rb.Game(np.eye(3), over=rb.L2Ball(2))
    rb.solve(game, 0.1, "corrective", callback=lambda s: seen.append((s.best, s.active.used)))
    best, used = seen[0]
    assert np.linalg.norm(best.w) == pytest.approx(2.0)
    assert used == 0


@pytest.mark.parametrize("f", [rb.Capped(5), rb.KLPenalty(1.0)], ids=["linear", "curved"])
@pytest.mark.parametrize("method", ["lpboost", "auto", "corrective", "interior-point"])
def test_time_that_is_up_at_once_leaves_a_bracket_where_w_is_never_zero(f, method, rng):
    game = rb.Game(rng.uniform(-1, 1, (40, 12)), f, over=rb.Simplex())
    found, whole = rb.solve(game, 1e-9, method, time_limit=1e-9), rb.solve(game, 1e-6)
    assert found.status == "time_limit"
    assert -1.0 <= found.lower <= whole.upper
    assert whole.lower <= found.upper <= 1.0


def test_a_first_program_that_no_solver_answers_leaves_a_bracket(rng):
    game = rb.Game(rng.uniform(-1, 1, (40, 12)) / 100.0, rb.NormPenalty(2, 1e9), rb.Simplex(1e9))
    found = rb.solve(game, 1e-6, "lpboost")
    assert found.status == "failed"
    assert "Clarabel ended with status" in found.message
    assert 1e9 / 40**0.5 - 1e7 <= found.lower <= found.upper <= 1e9 / 40**0.5 + 1e7
