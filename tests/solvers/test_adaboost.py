"""AdaBoost and AdaBoost*: against loops, against their theorems, and where they degenerate."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.claims.rds04 import EIGHT
from relaxboost.matrices import DenseMatrix
from relaxboost.solvers import ADABOOST_STEPS, AdaBoost, AdaBoostStar
from relaxboost.solvers.boosters.accuracy import stage_steps
from relaxboost.solvers.boosters.adaboost_star import AdaBoostStarRun
from relaxboost.solvers.rounds import Rounds
from tests.twins import AdaBoostTwin

WAYS = [
    *({"method": AdaBoost(step=s)} for s in ADABOOST_STEPS),
    {"method": "adaboost-star"},
]

# Rudin, Daubechies & Schapire (2004): AdaBoost cycles on both, on the second below the optimum.
CYCLE = np.ones((3, 3)) - 2 * np.eye(3)
BELOW = np.array(EIGHT)


def signs(rng, m, n):
    return np.where(rng.random((m, n)) < 0.5, -1, 1).astype(np.int8)


def reals(rng, m, n):
    return rng.uniform(-1, 1, (m, n))


def sparse(rng, m, n):
    return np.where(rng.random((m, n)) < 0.4, rng.uniform(-1, 1, (m, n)), 0.0)


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("entries", [signs, reals, sparse])
@pytest.mark.parametrize("radius", [1, 2.5])
def test_every_round_is_that_of_the_twin(rng, options, entries, radius):
    A = entries(rng, 12, 9)
    step = getattr(options["method"], "step", "star")
    tol = 0.1 if step == "star" else 1e-9
    nu = tol * (1 - 1e-9) / radius  # the rest is for rounding
    twin = AdaBoostTwin(A, step, nu)
    steps, seen = [math.nan], []

    def check(state):
        active = state.active
        w, raw = np.array(twin.w), np.array(twin.margins())
        norm = np.abs(w).sum()
        assert state.step == pytest.approx(steps[-1], rel=1e-9, nan_ok=True)
        assert active.norm == pytest.approx(norm, rel=1e-10)
        assert active.raw == pytest.approx(raw, abs=1e-10)
        assert active.log_risk == pytest.approx(math.log(twin.risk()), abs=1e-10)
        share = radius / norm if norm else 0.0
        assert active.u == pytest.approx(raw * share, abs=1e-10)
        support, coefficients = active.coefficients(active.snapshot())
        scaled = np.zeros(w.size)
        scaled[support] = coefficients
        assert scaled == pytest.approx(w * share, abs=1e-10)
        assert state.d == pytest.approx(np.array(twin.d()), abs=1e-11)
        edges = np.array(twin.edges())
        assert state.best.edge == pytest.approx(np.abs(edges).max(), abs=1e-10)
        assert state.best.sign == np.sign(edges[state.best.id])
        assert state.lower == pytest.approx((raw * share).min(), abs=1e-10)
        assert state.upper == pytest.approx(radius * np.abs(edges).max(), abs=1e-10)
        assert (state.inner, math.isnan(state.smoothed_gap)) == ("exponential", True)
        seen.append(state.round)
        # Ties are the package's own to break: the twin takes the column that was taken.
        steps.append(twin.take(state.best.id))

    game = rb.Game(A, over=rb.L1Ball(radius))
    solution = rb.solve(game, tol, max_rounds=60, callback=check, **options)
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) >= 20
    assert [r.step for r in solution.history] == pytest.approx(
        steps[: solution.rounds], nan_ok=True
    )
    best = rb.solve(game, 1e-9)
    assert solution.lower <= best.upper
    assert best.lower <= solution.upper


@pytest.mark.parametrize("step", ADABOOST_STEPS)
@pytest.mark.parametrize("entries", [signs, reals])
def test_the_risk_falls_at_the_rate_of_the_theorem(rng, step, entries):
    """L <= exp(−t γ²/2) after t steps, and never a rise."""
    for _ in range(5):
        game = rb.Game(entries(rng, 10, 40))
        gamma = rb.solve(game, 1e-9).lower
        assert gamma > 0.05
        risks = []
        options = {"method": AdaBoost(step=step), "max_rounds": 300}
        rb.solve(game, 1e-12, callback=lambda s, r=risks: r.append(s.active.log_risk), **options)
        assert risks[0] == 0.0
        assert (np.array(risks) <= -np.arange(len(risks)) * gamma**2 / 2 + 1e-12).all()
        assert (np.diff(risks) < 0.0).all()


def test_the_line_search_is_classical_for_signs_and_never_worse(rng):
    for entries in (signs, reals):
        game, runs = rb.Game(entries(rng, 15, 10)), {}
        for step in ADABOOST_STEPS:
            states = []
            tell = lambda s, states=states: states.append((s.active.log_risk, s.step, s.best.id))  # noqa: E731
            rb.solve(game, 1e-12, AdaBoost(step=step), max_rounds=40, callback=tell)
            runs[step] = states
        assert runs["line-search"][1][0] <= min(runs[s][1][0] for s in ADABOOST_STEPS) + 1e-15
        if entries is signs:
            exact, classical = (np.array(runs[s][1:]) for s in ("line-search", "classical"))
            assert exact == pytest.approx(classical, rel=1e-9)


@pytest.mark.parametrize("entries", [signs, reals])
def test_adaboost_star_ends_within_its_theorem(rng, entries):
    for m, n, tol, radius in [(5, 8, 0.2, 1), (40, 60, 0.1, 1), (40, 60, 0.04, 1), (20, 9, 0.5, 4)]:
        game = rb.Game(entries(rng, m, n), over=rb.L1Ball(radius))
        solution = rb.solve(game, tol, "adaboost-star")
        assert solution.bound == 1 + math.ceil(2 * math.log(m) * (radius / tol) ** 2)
        assert solution.rounds <= solution.bound
        assert (solution.status, solution.method) == ("optimal", "adaboost-star")
        assert solution.gap <= tol
        exact = rb.solve(game, 1e-9)
        assert exact.lower - tol <= solution.lower <= exact.upper
    # The proof to the letter: after its number of steps the margins are those edges less ν.
    game, nu = rb.Game(entries(rng, 12, 20)), 0.25
    states = islice(Rounds(game, AdaBoostStarRun(game, nu)), int(1 + stage_steps(12, nu)))
    *edges, (_, margin) = [(state.best.edge, state.lower) for state in states]
    assert margin >= min(edge for edge, _ in edges) - nu - 1e-12
    assert 1 + stage_steps(1, 0.5) == rb.solve(rb.Game([[0.3]]), 0.1, "adaboost-star").rounds == 2


def test_a_gap_that_is_tol_but_for_rounding_does_not_break_the_bound():
    """Edges of 1/2, no margin, tol = 1/2: the bracket, rounded outwards, is just too wide."""
    A = [[-1, -1], [1, -1], [1, 1], [1, 1], [1, -1], [1, -1], [-1, -1], [1, 1]]
    for radius in (1, 0.01, 7):
        solution = rb.solve(rb.Game(A, over=rb.L1Ball(radius)), 0.5 * radius, "adaboost-star")
        assert solution.status == "optimal"
        assert solution.rounds <= solution.bound == 18


def test_where_adaboost_cycles():
    """Rudin, Daubechies & Schapire (2004): golden edges; 1/3 where the maximum is 3/8."""
    golden = (math.sqrt(5) - 1) / 2
    edges, order = [], []

    def tell(state):
        edges.append(state.best.edge)
        order.append(state.best.id)

    rb.solve(rb.Game(CYCLE), 1e-9, "adaboost", max_rounds=400, callback=tell)
    assert edges[-6:] == pytest.approx([golden] * 6, abs=1e-9)
    assert order[-6:-3] == order[-3:]
    assert sorted(order[-3:]) == [0, 1, 2]

    game = rb.Game(BELOW)
    assert str(rb.exact_value(game)) == "3/8"
    edges.clear()
    order.clear()
    short = rb.solve(game, 1e-9, "adaboost", max_rounds=4000, callback=tell)
    assert edges[-6:] == pytest.approx([golden] * 6, abs=1e-9)
    assert order[:6] == [0, 2, 1, 0, 2, 1]
    assert set(order[2000:]) == {0, 1, 2}
    assert 1 / 3 - 1e-3 < short.lower < 1 / 3
    assert short.status == "max_rounds"
    # A shorter step does not cycle, and AdaBoost* gets there.
    assert rb.solve(game, 1e-9, AdaBoost(step="lecture"), max_rounds=4000).lower > 0.37
    assert rb.solve(game, 0.02, "adaboost-star").lower > 3 / 8 - 0.02


DEGENERATE = {
    "one entry": ([[1]], 1.0),
    "one entry, negative": ([[-1.0]], 1.0),
    "one example": ([[0.25, -0.5]], 0.5),
    "a perfect column": ([[0.5, 1, -1], [-0.5, 1, 1], [1, 1, 1]], 1.0),
    "a perfect column, reversed": ([[0.5, -1], [-0.5, -1]], 1.0),
    "perfect but for rounding": ([[1, 1 - 2**-53]] * 7, 1.0),
    "opposite examples": ([[1, 0.5], [-1, -0.5]], 0.0),
    "nothing": ([[0.0, 0.0]], 0.0),
    "one zero margin": ([[1.0], [0.0]], 0.0),
    "no minimiser of the risk": ([[0.5, 0.2], [0.0, 0.3]], 0.25),
    "tiny entries": ([[1e-300, 1e-5], [1.0, -1.0]], 1e-300),
}


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize(("A", "value"), DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_games_end_at_the_optimum(options, A, value):
    with np.errstate(all="raise", under="ignore"):
        solution = rb.solve(rb.Game(A), 0.01, max_rounds=20_000, **options)
    assert solution.status == "optimal"
    assert solution.gap <= 0.01
    assert solution.lower <= value + 1e-12
    assert solution.upper >= value - 1e-12
    assert np.isfinite(solution.coefficients).all()
    if value == 1.0:
        assert len(solution.support) == 1
        assert solution.rounds == 2


@pytest.mark.parametrize("step", ADABOOST_STEPS)
def test_games_that_cannot_be_won_end_at_zero(rng, step):
    """Every example with its opposite: the risk has a minimum, the edges vanish, w = 0 is best."""
    half = rng.uniform(-1, 1, (10, 4))
    game = rb.Game(np.vstack([half, -0.5 * half[::-1]]))
    risks = []
    tell = lambda s: risks.append(s.active.log_risk)  # noqa: E731
    solution = rb.solve(game, 1e-6, AdaBoost(step=step), max_rounds=20_000, callback=tell)
    assert solution.status == "optimal"
    assert solution.lower == 0.0
    assert 0.0 <= solution.upper <= 1e-6
    assert risks[-1] > -0.7
    limited = rb.solve(game, 1e-300, AdaBoost(step=step), max_rounds=3000)
    assert limited.lower == 0.0
    assert limited.status in ("max_rounds", "stalled", "optimal")


@pytest.mark.parametrize("step", ADABOOST_STEPS)
def test_margins_beyond_the_range_of_exp(step):
    A = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 1.0], [0.97, 0.93, -1.0]])
    last = []

    def look(state):
        last[:] = [state]
        assert np.isfinite(state.d).all()
        if state.round % 50:
            return
        assert state.d.sum() == pytest.approx(1.0)
        assert math.isfinite(state.active.log_risk)
        assert state.active.u == pytest.approx(state.active.raw / max(state.active.norm, 1e-300))

    rb.solve(rb.Game(A), 1e-300, AdaBoost(step=step), max_rounds=12_000, callback=look)
    (state,) = last
    assert state.round > 5_000 or step != "classical"
    assert state.active.raw.min() > 5_000
    assert state.active.log_risk < -5_000


def test_stumps_weak_learners_and_sparse_columns(cancer_stumps, rng):
    from scipy import sparse as sp

    solution = rb.solve(rb.Game(cancer_stumps), 0.1, "adaboost-star")
    assert solution.status == "optimal"
    assert rb.solve(rb.Game(cancer_stumps), 1e-3, "adaboost", max_rounds=300).lower > 0.0
    A = sparse(rng, 20, 30)
    one, two = (
        rb.solve(rb.Game(given), 1e-3, "adaboost", max_rounds=50) for given in (A, sp.csc_array(A))
    )
    assert one.lower == pytest.approx(two.lower, abs=1e-9)


def test_the_slack_of_a_weak_learner_is_part_of_the_gap(rng):
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    stumps = rb.matrices.stumps(X, y)

    def second(X, y, d):
        edges = np.abs(stumps.edges(d))
        close = np.flatnonzero(edges >= edges.max() - 0.05)
        j = int(close[-1])
        sign = np.sign(stumps.edges(d)[j]) or 1.0
        return lambda Z: sign * stumps.hypothesis(j)(Z)

    game = rb.Game(rb.matrices.oracle(second, X, y, slack=0.05))
    solution = rb.solve(game, 0.25, "adaboost-star")
    assert solution.status == "optimal"
    assert math.isnan(solution.bound)
    with pytest.raises(rb.InputError, match="the slack of this weak learner"):
        rb.solve(game, 0.05, "adaboost-star")
    assert rb.solve(game, 0.05, "adaboost-star", max_rounds=10).rounds == 10
    assert rb.solve(game, 3.0, "adaboost-star").status == "optimal"


def test_entries_beyond_one_are_for_the_line_search():
    class Wide(DenseMatrix):
        def _column(self, j):
            return 4.0 * super()._column(j)

        def _edges(self, d):
            return 4.0 * super()._edges(d)

        def _margins(self, support, coefficients):
            return 4.0 * super()._margins(support, coefficients)

    game = rb.Game(Wide(np.array([[1.0, -0.5], [-0.25, 1.0]])))
    for options in WAYS:
        if options["method"] == AdaBoost(step="line-search"):
            assert rb.solve(game, 0.01, max_rounds=50, **options).lower > 1.0
            continue
        with pytest.raises(
            rb.InputError, match=r"absolute value 4, but this step needs entries in"
        ):
            rb.solve(game, 0.01, max_rounds=50, **options)


def test_limits_callbacks_and_interrupts(rng):
    game = rb.Game(signs(rng, 30, 20))

    def press(state):
        if state.round == 4:
            raise KeyboardInterrupt

    for options in WAYS:
        run = lambda o=options, **more: rb.solve(game, 1e-3, **o, **more)  # noqa: E731
        assert run(max_rounds=9).rounds == 9
        assert run(time_limit=0.05).status == "time_limit"
        stopped = run(max_rounds=99, callback=lambda s: s.round == 5)
        assert (stopped.status, stopped.rounds) == ("callback", 5)
        pressed = run(max_rounds=99, callback=press)
        assert (pressed.status, pressed.rounds) == ("interrupted", 4)
        assert pressed.lower <= pressed.upper
        method = options["method"]
        star = method == "adaboost-star"
        assert stopped.method == ("adaboost-star" if star else f"adaboost ({method.step})")
    assert math.isnan(rb.solve(game, method="adaboost", max_rounds=1).bound)
    assert rb.solve(game, method="adaboost", max_rounds=1).method == "adaboost (classical)"


A = np.eye(4)


@pytest.mark.parametrize("method", ["adaboost", "adaboost-star"])
@pytest.mark.parametrize(
    ("game", "message"),
    [
        (rb.Game(A, rb.Capped(2)), r"maximises the hard margin .* this game has Capped\(k=2\)"),
        (rb.Game(A, over=rb.Simplex()), r"is for games over L1Ball\(radius\), but this game is"),
        (rb.Game(A, over=rb.L2Ball(1)), r"is for games over L1Ball\(radius\), but this game is"),
    ],
)
def test_what_they_do_not_know_is_refused(method, game, message):
    with pytest.raises(rb.InputError, match=message):
        rb.solve(game, method=method, max_rounds=5)


class Gentle(AdaBoost):
    """A subclass of a user, which the messages have to name."""


class GentleStar(AdaBoostStar):
    """A subclass of a user, which the messages have to name."""


def test_messages_name_the_class_in_use():
    game = rb.Game(A)
    with pytest.raises(rb.InputError, match=r"^Gentle need not reach the maximum margin"):
        rb.solve(game, method=Gentle())
    start = rb.solve(game, 0.1)
    with pytest.raises(rb.InputError, match=r"^GentleStar always starts from w = 0; leave start"):
        rb.solve(game, method=GentleStar(), start=start)


def test_adaboost_needs_a_limit_and_its_steps_are_its_own():
    with pytest.raises(rb.InputError, match=r"need not reach the maximum margin .* max_rounds or"):
        rb.solve(rb.Game(A), method="adaboost", callback=lambda s: True)
    for option in ("beta", "smoothing", "stopping", "inner"):
        for method in (AdaBoost, AdaBoostStar):
            with pytest.raises(TypeError, match=option):
                method(**{option: "smoothed"})
    with pytest.raises(rb.InputError, match="unknown step 'pairwise'; choose one of lecture"):
        AdaBoost(step="pairwise")
    with pytest.raises(TypeError, match="step"):
        AdaBoostStar(step="classical")


@pytest.mark.parametrize("tol", [1e-300, 1e-18, 1.0, 2.5, 1e300])
def test_extreme_tolerances_of_adaboost_star(rng, tol):
    game = rb.Game(reals(rng, 6, 8))
    solution = rb.solve(game, tol, "adaboost-star", max_rounds=200)
    assert solution.lower <= rb.solve(game, 1e-9).upper
    assert (solution.status == "optimal") == (tol >= 1.0)
    assert solution.bound >= 2.0
