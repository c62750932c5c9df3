"""Cuts and bounds of the learning problem, against every path and in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost.planning.regularisers import Form, Regulariser
from relaxboost.solvers.bundle.cuts import Cuts, average

from . import small

# Random walks teach nothing, and `fit` says so.
pytestmark = pytest.mark.filterwarnings("ignore:the learned costs are all 0|there is")

MODES = [(True, "exact"), (True, "relaxed"), (False, "relaxed"), (True, "simple")]


@pytest.mark.parametrize("name", small.LOSSES)
def test_cuts_are_below_everywhere_and_touch(name):
    """Over all tests, thousands of pairs: R(w') >= offset + <slope, w'>, with equality at w."""
    for seed, (nonnegative, negative) in enumerate(MODES[:3]):
        rng = np.random.default_rng(seed)
        made = small.tasks(rng, loss=small.LOSSES[name], repeat=seed == 1, sites=seed == 2)
        problem = pl.Problem(made, pl.Ridge(1.0), nonnegative=nonnegative, negative=negative)
        points = []
        for _ in range(25):
            w = rng.uniform(0.0, 3.0, 3) if nonnegative else rng.normal(size=3)
            try:
                points.append(problem.at(w, prove=True))
            except pl.NegativeCycle:
                assert negative == "exact"
        W = np.array([point.w for point in points]).reshape(-1, 3)
        R = np.array([point.plans.value for point in points])
        for point, value in zip(points, R, strict=True):
            offset, slope = point.cuts.offset.sum(), point.cuts.slope.sum(axis=0)
            below = offset + W @ slope
            assert (below <= R + 1e-9 * (1.0 + np.abs(R))).all()
            touch = offset + point.w @ slope
            assert touch == pytest.approx(value, rel=1e-9, abs=1e-9)
            assert point.bound >= point.value


def exactly(problem, w):
    """Ω + R at w over every path in rationals, for Ridge and inside the ball of L1Radius."""
    W = [Fraction(x) for x in w.tolist()]
    scaled = [Fraction(s) * x for s, x in zip(problem.scale.tolist(), W, strict=True)]
    total = Fraction(problem.regulariser.form.square) / 2 * sum(x * x for x in scaled)
    for row in problem.oracle.rows:
        g = problem.oracle.graphs[row.graph]
        c = [
            sum(Fraction(x) * y for x, y in zip(r, W, strict=True)) for r in g.arc_features.tolist()
        ]
        gain = [Fraction(x) for x in row.gains.at(np.arange(g.arcs)).tolist()]
        own = sum(c[e] for e in row.path.arcs.tolist()) + Fraction(row.gains.constant)
        worth = [
            own - sum(c[e] - gain[e] for e in p.tolist())
            for p in small.paths(g, row.source, row.target)
        ]
        total += Fraction(row.weight) * max(worth)
    return total


def test_brackets_hold_in_rational_arithmetic():
    """At the optimum of a gap of rounding size no point has an exact value outside the bracket."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        made = small.tasks(rng, 2, arcs=6)
        scale = 10.0 ** rng.integers(-3, 4, 3)
        made = small.moved(made, made[0].graph.features * scale)
        problem = pl.Problem(made, pl.Ridge(0.1))
        found = pl.fit(problem, tol=1e-14, max_rounds=25)
        value = exactly(problem, found.w)
        assert Fraction(found.lower) <= value <= Fraction(found.upper)
        for _ in range(4):
            w = np.maximum(found.w * (1.0 + 1e-9 * rng.normal(size=3)), 0.0)
            assert Fraction(found.lower) <= exactly(problem, w)
            assert exactly(problem, w) <= Fraction(problem.at(w, prove=True).bound)


def by_length(seed):
    """Trips that are shortest by known costs; their losses weigh arcs by lengths of many sizes."""
    rng = np.random.default_rng(seed)
    g = small.graph(rng, arcs=8)
    X = np.column_stack([g.features, 10.0 ** rng.uniform(-3.0, 5.0, g.arcs)])
    g = pl.Graph(g.tail, g.head, X, nodes=g.nodes)
    secret = X @ np.array([0.3, 0.5, 0.2, 1.0])
    loss = pl.Missed(lambda graph: graph.features[:, -1])
    ways = [pl.shortest_path(g, secret, 0, t).path for t in range(2, g.nodes)]
    return [pl.Task.along(way, loss) for way in ways]


@pytest.mark.parametrize("regulariser", [pl.L1Radius(1e9), pl.Ridge(1e-12)], ids=str)
def test_losses_that_do_not_cancel_lower_the_floor(regulariser):
    """The lengths of a trip add up to a rounded number, and the exact loss is below 0."""
    below = 0
    for seed in (19, 22, 25, 29):
        problem = pl.Problem(by_length(seed), regulariser)
        found = pl.fit(problem, max_rounds=20)
        exact = exactly(problem, found.w)
        assert Fraction(found.lower) <= exact <= Fraction(found.upper)
        assert -1e-10 < problem.floor < 0.0
        # Values of 0 still end the run.
        assert found.status == "optimal" or regulariser.form.square
        below += exact < 0
    assert below == 4 or regulariser.form.square


def test_losses_of_whole_numbers_have_the_floor_0():
    for name in ("missed", "strayed", "hamming", "none"):
        problem = pl.Problem(small.tasks(np.random.default_rng(0), loss=pl.LOSSES[name]()))
        assert (problem.floor, problem.floors.any()) == (0.0, False)


def test_a_bound_below_0_survives_its_file(tmp_path):
    found = pl.fit(by_length(22), pl.L1Radius(1e9))
    pl.save_model(found, tmp_path / "costs.json")
    assert pl.load_model(tmp_path / "costs.json").lower == found.lower < 0.0


@pytest.mark.parametrize("regulariser", [pl.Ridge(0.1), pl.Lasso(0.1), pl.L1Radius(2.0)], ids=str)
@pytest.mark.parametrize("nonnegative", [True, False])
def test_lower_bounds_of_any_average(regulariser, nonnegative):
    """a − Ω*(−G) is below Ω + R at every point, whatever the weights of the average."""
    rng = np.random.default_rng(2)
    problem = pl.Problem(small.tasks(rng), regulariser, nonnegative=nonnegative, negative="relaxed")
    points = [problem.at(problem.project(rng.normal(size=3) * 2.0)) for _ in range(40)]
    least = min(point.value for point in points)
    assert np.isfinite(least)
    cuts = Cuts(*map(np.concatenate, zip(*(point.cuts for point in points), strict=True)))
    group = np.tile(np.arange(len(points[0].cuts.offset)), len(points))
    for _ in range(100):
        alpha = rng.dirichlet(np.full(group.size, 0.3)) * rng.uniform(0.1, 10.0)
        assert problem.lower(average(cuts, alpha, group)) <= least
    for alpha in (-np.ones(group.size), np.full(group.size, np.nan)):
        assert average(cuts, alpha, group) is None


class Net(Regulariser):
    """All three numbers, with a ball that is reached."""

    form = Form(square=0.5, absolute=0.1, radius=0.2)


FORMS = [pl.Ridge(0.3), pl.Lasso(0.2), pl.L1Radius(1.3), Net()]


@pytest.mark.parametrize("regulariser", FORMS, ids=lambda form: type(form).__name__)
@pytest.mark.parametrize("nonnegative", [True, False])
def test_conjugates_and_projections(regulariser, nonnegative):
    import cvxpy as cp

    rng = np.random.default_rng(1)
    for _ in range(10):
        v = rng.normal(size=4) * 0.3
        v *= regulariser.reach(v, nonnegative)
        w = cp.Variable(4, nonneg=nonnegative)
        size, rules = regulariser.expression(w)
        cp.Problem(cp.Maximize(v @ w - size), [*rules, cp.norm1(w) <= 100.0]).solve(
            solver="CLARABEL"
        )
        assert regulariser.conjugate(v, nonnegative) == pytest.approx(
            float(v @ w.value - size.value), abs=1e-5
        )
        far = rng.normal(size=4) * 3.0
        near = regulariser.project(far, nonnegative)
        assert np.isfinite(regulariser.value(near))
        assert not nonnegative or (near >= 0.0).all()
        away = cp.Problem(cp.Minimize(cp.sum_squares(w - far)), rules)
        away.solve(solver="CLARABEL")
        np.testing.assert_allclose(near, w.value, atol=1e-4)
        assert regulariser.value(regulariser.project(near, nonnegative)) == regulariser.value(near)


def test_planted_errors_are_caught():
    """A cut that is a little too high makes a lower bound above the optimum, and fit says so."""
    problem = pl.Problem(small.tasks(np.random.default_rng(0)), pl.Ridge(0.05))
    honest = problem._cuts

    def higher(found):
        cuts = honest(found)
        return cuts._replace(offset=cuts.offset * 1.05)

    problem._cuts = higher
    with pytest.raises(ArithmeticError, match="above the upper"):
        pl.fit(problem, tol=1e-9, max_rounds=60)


@pytest.mark.parametrize(("strength", "scale"), [(1e-300, 1e-170), (1e300, 1e130), (1e-12, 1e-160)])
def test_squares_out_of_the_range_of_doubles(strength, scale):
    """‖v‖²/(2λ) and λ‖w‖²/2 are right where ‖v‖² is not a double; lower bounds were false."""
    ridge, v = pl.Ridge(strength), scale * np.array([3.0, -4.0])
    square = sum(Fraction(x) ** 2 for x in v.tolist())
    conjugate = square / (2 * Fraction(strength))
    if float(conjugate) < np.inf and conjugate > Fraction(1e-300):
        assert ridge.conjugate(v, False) == pytest.approx(float(conjugate), rel=1e-15)
    w = v[::-1] / strength if strength > 1.0 else v
    value = Fraction(strength) * sum(Fraction(x) ** 2 for x in w.tolist()) / 2
    if value > Fraction(1e-300):
        assert ridge.value(w) == pytest.approx(float(value), rel=1e-15)


def test_projection_of_points_that_dwarf_the_ball():
    """The threshold is within a rounding of the largest entry, and was not found."""
    ball = pl.L1Radius(0.01)
    assert ball.project(np.array([1e20, -2e20, 0.0]), False).tolist() == pytest.approx(
        [0.0, -0.01, 0.0]
    )
    assert ball.project(np.array([1e20, 1e20]), True).tolist() == pytest.approx([0.005, 0.005])


def test_weights_whose_sum_is_no_double():
    """Weights only count in proportion."""
    g = pl.Graph([0, 1, 0], [1, 2, 2])
    made = [pl.Task(g, 0, 2, [0, 1, 2], weight=1e308) for _ in range(2)]
    assert pl.Problem(made).oracle.weights.tolist() == [0.5, 0.5]


def test_the_least_loss_may_be_below_the_bracket_of_the_bound():
    """R = w/2 + 0.1 and R̃ = R + (1 − w)₊ for w >= 0.2: by the free arc 2 -> 3, on no way."""
    g = pl.Graph([0, 0, 2], [1, 1, 3], [[1.0], [0.5], [1.0]])
    task = pl.Task(g, 0, 1, [g.path(arcs=[0])], pl.Strayed(lambda _: np.array([1.0, 0.1, 1.0])))
    bound = pl.Problem([task], pl.Ridge(1e-6), negative="relaxed")
    loss = pl.Problem([task], pl.Ridge(1e-6), negative="simple")
    assert (bound.tight, loss.tight) == (False, True)
    fit = pl.fit(bound, tol=1e-6, method=pl.Bundle(start=[1.0]))
    assert fit.exact
    assert fit.lower == pytest.approx(0.6, rel=1e-5)
    assert loss.at(fit.w).value <= fit.upper
    assert loss.at([0.0]).value == pytest.approx(0.1)


@pytest.mark.parametrize("shown", [0, 1])
def test_the_rounding_of_costs_is_charged(shown):
    """Each of 40,000 features moves a sum by a quarter of a unit in its last place, all one way."""
    x = np.full(40_000, (0.75 if shown == 0 else 0.25) * 2.0**-52)
    x[0] = 1.0
    g = pl.Graph([0, 0], [1, 1], np.stack([np.zeros(x.size), x]))
    task = pl.Task(g, 0, 1, [g.path(arcs=[shown])], pl.Missed(scale=2.0))
    problem = pl.Problem([task], pl.L1Radius(float(x.size)), scale="none")
    point = problem.at(np.ones(x.size), prove=True)
    cost = sum(map(Fraction, x.tolist()))
    exact = 2 - cost if shown == 0 else 2 + cost
    assert abs(float(exact - Fraction(point.value))) > 1e-14  # more than other charges cover
    assert exact <= Fraction(point.bound)
