"""The requested accuracy, and the one rule that ends every run."""

from __future__ import annotations

import math

import pytest

from relaxboost.solvers.stopping import RELATIVE_RESOLUTION, StoppingRule, Tolerance


@pytest.mark.parametrize(
    ("tolerance", "bracket", "allowed"),
    [
        (Tolerance(0.1), (5.0, 6.0), 0.1),
        (Tolerance(0.1, 0.5), (5.0, 6.0), 2.5),
        (Tolerance(0.1, 0.5), (-6.0, -5.0), 2.5),
        (Tolerance(0.1, 0.5), (-6.0, 5.0), 0.1),  # around zero the bracket proves no part of it
        (Tolerance(0.1, 0.01), (5.0, 6.0), 0.1),
        (Tolerance(0.1, 0.5), (-math.inf, math.inf), 0.1),
    ],
)
def test_the_end_of_the_bracket_nearer_to_zero_stands_for_the_value(tolerance, bracket, allowed):
    assert tolerance.allowed(*bracket) == allowed


def test_a_certification_waits_until_the_estimate_is_narrow_enough():
    rule = StoppingRule(Tolerance(0.1), 1.0)
    assert rule.should_certify(0.0, 0.1)
    assert not rule.should_certify(0.0, 0.1001)
    assert not rule.should_certify(-math.inf, math.inf)


def test_the_rounding_of_one_certification_postpones_the_next_but_not_beyond_half_the_gap():
    rule = StoppingRule(Tolerance(0.1), 1.0)
    assert rule.judge_certified(0.0, 0.11, 0.1) == ""  # 0.01 more than the rounds believed
    assert not rule.should_certify(0.0, 0.085)
    assert rule.should_certify(0.0, 0.079)
    for _ in range(5):
        assert rule.judge_certified(0.0, 0.13, 0.08) == ""
    assert not rule.should_certify(0.0, 0.051)
    assert rule.should_certify(0.0, 0.05)


def test_a_certified_gap_is_optimal_or_hopeless_or_neither():
    rule = StoppingRule(Tolerance(0.1), 1.0)
    assert rule.judge_certified(0.0, 0.1, 0.05) == "optimal"
    assert rule.judge_certified(0.0, 0.15, 0.1) == ""
    assert rule.judge_certified(0.0, 0.3, 0.1) == "stalled"  # rounding alone exceeds tol
    relative = StoppingRule(Tolerance(1e-9, 0.1), 1.0)
    assert relative.judge_certified(10.0, 11.0, 0.5) == "optimal"


@pytest.mark.parametrize("best", [1, 5, 6, 40])
def test_a_gap_at_the_resolution_is_given_five_times_the_rounds_that_led_to_it(best):
    rule = StoppingRule(Tolerance(1e-15), 1.0)
    for number in range(1, best):
        assert rule.judge_progress(0.0, 1.0 / number, number) == ""
    tiny = 0.5 * RELATIVE_RESOLUTION
    number = best
    while not rule.judge_progress(0.0, tiny, number):
        number += 1
        assert number < 1000
    assert number == best + max(20, 4 * best) + 1


def test_progress_below_a_hundredth_is_none_and_more_begins_the_count_again():
    rule = StoppingRule(Tolerance(1e-15), 1.0)
    gap = 0.5 * RELATIVE_RESOLUTION
    for number in range(1, 22):
        assert rule.judge_progress(0.0, gap * (1.0 - 1e-4 * number), number) == ""
    again = StoppingRule(Tolerance(1e-15), 1.0)
    for number in range(1, 500):
        assert again.judge_progress(0.0, gap * 0.98**number, number) == ""
    assert rule.judge_progress(0.0, gap, 22) == "stalled"


def test_a_gap_above_the_resolution_never_stalls_and_the_size_of_the_numbers_counts():
    for lower, upper, size, verdict in (
        (0.0, 2.0 * RELATIVE_RESOLUTION, 1.0, ""),
        (-math.inf, math.inf, 1.0, ""),
        (0.0, math.inf, 1.0, ""),
        (0.0, 2.0 * RELATIVE_RESOLUTION, 4.0, "stalled"),  # of a ball of radius 4
        (9.0, 9.0 + 2.0 * RELATIVE_RESOLUTION, 1.0, "stalled"),
    ):
        rule = StoppingRule(Tolerance(1e-15), size)
        said = [rule.judge_progress(lower, upper, number) for number in range(1, 100)]
        assert said[-1] == verdict
        assert said[:20] == [""] * 20


def test_the_tolerance_that_is_met_has_a_name():
    tolerance = Tolerance(0.1, 0.5)
    assert tolerance.met_by(5.0, 5.1 - 1e-12) == "tol"
    assert tolerance.met_by(5.0, 6.0) == "rtol"
    assert tolerance.met_by(-6.0, 5.0) == ""
    assert Tolerance(0.1).met_by(5.0, 6.0) == ""


def test_a_stalled_run_has_the_reason_of_the_rule():
    rule = StoppingRule(Tolerance(0.1), 1.0)
    rule.judge_certified(0.0, 0.3, 0.1)
    assert rule.reason == "its certified bounds are wider than the computed ones by 0.2"
    for number in range(1, 100):
        rule.judge_progress(0.0, 0.0, number)
    assert "rounding has prevented a smaller gap for " in rule.reason


@pytest.mark.parametrize(
    ("certified", "is_lost"),
    [
        ((0.0, 1.0), True),
        ((-math.inf, 1.0), True),
        ((0.0, 1e-3 + 1e-9), False),  # this may be rounding
        ((0.0, 1e-3), False),
    ],
)
def test_a_proof_is_lost_if_rounding_does_not_explain_the_difference(certified, is_lost):
    rule = StoppingRule(Tolerance(1e-12), 1.0)
    assert rule.is_proof_lost(*certified, 1e-3) is is_lost
