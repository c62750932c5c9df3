"""AdaBoost and AdaBoost*: margins, cycles, and the runs that claims look at."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates import exact_optimum
from relaxboost.claims.rds04 import EIGHT as THEIRS
from relaxboost.claims.votes import (
    Separable,
    adaboost,
    adaboost_star,
    cycle,
    gradient,
    reweighted,
    risk,
)
from tests.claims.figures import source

EIGHT = np.array(THEIRS, dtype=float)


def test_adaboost_misses_the_maximum_margin():
    claim, cycles = rb.claims.get("RDS04-maximum-margin"), rb.claims.get("RDS04-cycle-margin")
    written = list(claim.every.instances())
    found = {}
    for x in map(claim.instance, written):
        (slack,) = claim.stated.measure(x)
        assert slack.low > 0.0
        found[len(x.A)] = (slack.left - 0.01, slack.right)
        assert all(s.low > -1e-6 for s in cycles.stated.measure(x))
    assert found[7] == pytest.approx((0.234085, 0.25), abs=1e-6)
    assert found[8] == pytest.approx((1 / 3, 3 / 8), abs=1e-6)


def test_the_abstracts_have_claims_or_reasons():
    for one, count in ((source("RDS04"), 7), (source("RW05"), 5)):
        assert len(one.lines) == count
        assert {id for line in one.lines for id in line.ids} == set(one.claims)


def test_the_margins_of_the_example_of_order_eight():
    votes = adaboost(EIGHT, 1000)
    found = [(votes[t - 1].margins / np.abs(votes[t - 1].w).sum()).min() for t in (10, 100, 1000)]
    assert found == pytest.approx([0.25001, 0.32482, 0.33248], abs=5e-6)
    assert exact_optimum(rb.Game(EIGHT)).lower == Fraction(3, 8)


def test_the_lectures_step_does_better_there():
    last = adaboost(EIGHT, 1000, "lecture")[-1]
    assert 0.373 < (last.margins / np.abs(last.w).sum()).min() < 0.375


@pytest.mark.parametrize(
    "written",
    source("RDS04").claims["RDS04-maximum-margin"].every.instances(),
    ids=lambda c: len(c["A"]),
)
def test_the_cycle_is_that_of_the_package(written):
    """The map has nothing of the package in it; the package's run tends to the cycle's margin."""
    A = np.array(written["A"], dtype=float)
    found = cycle(A, np.full(len(A), 1 / len(A)))
    limit = (A @ found.w).min() / np.abs(found.w).sum()
    last = adaboost(A, 3000)[-1]
    assert (last.margins / np.abs(last.w).sum()).min() == pytest.approx(limit, abs=2e-3)


@pytest.mark.parametrize("step", ["lecture", "classical", "line-search"])
def test_a_run_is_what_it_says(step):
    rng = np.random.default_rng(0)
    A = rng.uniform(-1, 1, (5, 4))
    before = np.zeros(4)
    for t, vote in enumerate(adaboost(A, 8, step), 1):
        assert vote.number == t
        d = np.exp(-A @ before)
        assert vote.d == pytest.approx(d / d.sum())
        moved = before + vote.step * vote.sign * np.eye(4)[vote.column]
        assert vote.w == pytest.approx(moved)
        assert vote.margins == pytest.approx(A @ vote.w)
        assert vote.log_risk == pytest.approx(np.log(risk(A, vote.w)))
        assert vote.edge == pytest.approx(np.abs(A.T @ vote.d).max())
        before = vote.w
    assert t == 8


def test_a_run_ends_where_the_risk_is_minimal():
    assert adaboost(np.array([[1.0], [-1.0]]), 5) == []
    assert adaboost_star(np.array([[1.0], [-1.0]]), 0.1, 5) == []
    assert len(adaboost_star(EIGHT, 0.1, 5)) == 5


def test_the_gradient_is_the_slope():
    rng = np.random.default_rng(1)
    A, w = rng.uniform(-1, 1, (5, 3)), rng.normal(size=3)
    slopes = [(risk(A, w + 1e-6 * e) - risk(A, w - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert gradient(A, w) == pytest.approx(slopes, rel=1e-6, abs=1e-9)


def test_there_is_no_cycle_without_a_weak_learner():
    assert cycle(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.5, 0.5])) is None
    assert cycle(np.ones((2, 1)), np.array([0.5, 0.5])) is None


def test_a_weight_that_grows_is_no_cycle():
    """From nearly nothing on the third example, the map seems to alternate for long."""
    A = 1.0 - 2.0 * np.eye(3)
    d = np.array([0.5, 0.5, 1e-300])
    found = cycle(A, d)
    assert found is None or len(found.edges) == 3


def test_the_map_has_the_golden_fixed_edge():
    d = np.array([(3 - 5**0.5) / 4, (5**0.5 - 1) / 4, 0.5])
    for _ in range(6):
        d, _, edge = reweighted(1.0 - 2.0 * np.eye(3), d)
        assert abs(edge) == pytest.approx((5**0.5 - 1) / 2)


def test_separable_games_are():
    field, rng = Separable(), np.random.default_rng(0)
    for _ in range(10):
        A = field.random(rng, {"m": 5, "n": 3})
        assert set(np.abs(A).ravel()) == {1.0}
        assert exact_optimum(rb.Game(A)).lower > 0
    simpler = list(field.simpler(np.array([[-1.0, 1.0]])))
    assert len(simpler) == 1
    assert (simpler[0] == 1.0).all()
