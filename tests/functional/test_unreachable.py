"""Thresholds that H cannot reach, edges without sign, gradients that a residual hides."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from relaxboost import functional as fn
from relaxboost.functional.algorithms import projector
from relaxboost.functional.schedules import line_search


def test_a_threshold_out_of_reach_ends_the_round():
    run = fn.boost(
        [[1.0], [0.3], [0.7]],
        fn.Absolute().bind([1.0, -2.0, 0.3]),
        fn.FiniteSet(),
        algorithm=fn.Repeated(threshold=0.1),
        stopping=3,
    )
    assert len(run.terms) < 10
    assert all(record.edge >= 0.0 for record in run.history[1:])


def test_without_a_threshold_nothing_is_added_that_moves_nothing():
    run = fn.boost(
        [[1.0], [0.3], [0.7]],
        fn.Squared().bind([1.0, -2.0, 0.3]),
        fn.FiniteSet(),
        algorithm="repeated",
        stopping=12,
    )
    assert len(run.terms) <= 12  # one a round, as H has one direction


@pytest.mark.parametrize("weights", [None, [0.1, 0.9], [0.0, 1.0]])
def test_the_threshold_is_on_the_length_in_the_space(weights):
    measure = fn.Empirical(2, None if weights is None else np.array(weights))
    rng = np.random.default_rng(0)
    pool = fn.FiniteSet().prepare(np.eye(2), measure, None, "least-squares", rng)
    gradient = np.array([1.0, 10.0**-0.5])
    direction = fn.Repeated(threshold=0.5).direction(gradient, projector(pool, measure), 1)
    assert measure.norm(gradient - direction.values) <= 0.5 * measure.norm(gradient)
    without_last = sum(part.point for part in direction.parts[:-1]) + np.zeros(2)
    assert measure.norm(gradient - without_last) > 0.5 * measure.norm(gradient)


@pytest.mark.parametrize("far", [0.0, 1e-300, 1e-17, 0.3, 100.3, 2.0**50])
def test_a_line_search_finds_the_minimiser_up_to_its_limit(far):
    risk = fn.Absolute().bind([0.0])
    found = line_search(risk, np.array([far]), np.ones(1))
    assert found == pytest.approx(min(far, 2.0**40), rel=1e-12, abs=0.0)


def test_the_optimum_allows_for_rounding_at_a_kink():
    """R at H α for the α returned is 4.6e-18, and 0 as computed."""
    risk = fn.Absolute().bind([3 * 0.1, 0.1])
    assert fn.optimum(risk, np.array([[3.0], [1.0]])).upper > 0.0


class Ridge:
    """R[f] = max(f(x_1) + f(x_2), −f(x_2)), with the second piece taken where they tie."""

    measure = fn.Empirical(2)

    def evaluate(self, F):
        a, b = F[0] + F[1], -F[1]
        return max(a, b), 2.0 * np.array([1.0, 1.0] if a > b else [0.0, -1.0])


def test_a_round_in_which_the_residual_cancels_the_gradient_is_no_end():
    pool = fn.FiniteSet().prepare(np.eye(2), Ridge.measure, None, "least-squares", None)
    start = np.array([1.0, 0.0])
    trace = list(
        islice(fn.rounds(Ridge(), pool, fn.Residual(), lambda t, F, d: 0.5 / t, start), 20)
    )
    assert len(trace) == 20
    assert not trace[2].direction.parts
    assert np.array_equal(trace[1].F, trace[2].F)
    assert trace[-1].value < trace[2].value
