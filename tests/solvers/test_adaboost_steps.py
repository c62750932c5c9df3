"""The steps of AdaBoost in the log domain, and its w."""

from __future__ import annotations

import math

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.exponential_risk import (
    LONGEST,
    MAX_STEP,
    artanh_edge,
    line_search,
)
from relaxboost.solvers.boosters.votes import Votes


def test_steps_in_the_log_domain():
    """Weights that have underflowed still say how long a step is."""
    raw = np.array([0.0, 2000.0, 10.0])
    column = np.array([1.0, -1.0, 1.0])
    # 1 − γ is about 2 exp(−2000): the edge is 1 and artanh of it half of 2000.
    assert artanh_edge(1.0, column, raw) == pytest.approx(1000.0 + 0.5 * math.log1p(math.exp(-10)))
    assert line_search(1.0, column, raw) == pytest.approx(artanh_edge(1.0, column, raw), rel=1e-14)
    assert artanh_edge(1.0 + 2e-16, np.ones(3), raw) == LONGEST
    assert line_search(1.0, np.array([1.0, 0.5, 0.0]), raw) == LONGEST
    assert artanh_edge(0.9, np.array([1.0, 0.9]), np.array([1e6, 0.0])) == pytest.approx(
        math.atanh(0.9)
    )
    for scale in (1.0, 1e-8, 1e-200):
        eta = line_search(0.1 * scale, scale * np.array([0.7, -0.3]), np.array([0.0, 1e5]))
        exact = (1e5 + math.log(0.7 / 0.3)) / scale
        assert eta == pytest.approx(min(exact, MAX_STEP), rel=1e-12)


def test_line_search_on_uneven_entries(rng):
    for _ in range(200):
        column = rng.uniform(-1, 1, 9) * 10.0 ** rng.uniform(-6, 0, 9)
        raw = rng.uniform(-1, 1, 9) * 10.0 ** rng.uniform(-1, 4)
        d = np.exp(raw.min() - raw)
        edge = float(d @ column / d.sum())
        if edge <= 0.0 or column.min() >= 0.0:
            continue
        eta = line_search(edge, column, raw)
        around = [-(raw + t * column) for t in (eta * (1 - 1e-9), eta * (1 + 1e-9))]
        slopes = [float(np.exp(x - x.max()) @ column) for x in around]
        assert slopes[0] >= -1e-9 * np.abs(column).max()
        assert slopes[1] <= 1e-9 * np.abs(column).max()


def test_opposite_votes_for_a_column_cancel():
    """‖w‖_1 is that of w, not the sum of the steps."""
    column = np.array([1.0, -0.5])
    active = Votes(rb.Game(column[:, None], over=rb.L1Ball(3)))
    for sign, eta, norm in ((1, 0.5, 0.5), (-1, 0.2, 0.3), (-1, 0.8, 0.5), (1, 0.5, 0.0)):
        active.vote(Best(0, sign, 0.1, 0.0), eta, sign * column)
        assert active.norm == pytest.approx(norm, abs=1e-15)
        assert active.weights.sum() == pytest.approx(3.0 if norm else 0.0)
    assert active.u == pytest.approx(np.zeros(2), abs=1e-15)
