"""Projections of many examples: against their optimality conditions and Fig. 2."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.relaxations._projections.capped import by_sorting, capped_distribution
from relaxboost.relaxations._projections.caps import caps_distribution
from relaxboost.relaxations._projections.max_penalty import (
    max_penalty_distribution,
    max_penalty_margin,
)

M = 50_000


@pytest.mark.parametrize("weighted", [False, True])
def test_many_entries_are_flattened_to_one_level(weighted, rng):
    for u in (0.1 * rng.normal(size=M), np.sort(rng.standard_cauchy(M)), np.arange(M) % 3.0):
        a = np.exp(rng.normal(size=M)) if weighted else None
        inverse = np.ones(M) if a is None else 1.0 / a
        for c in (1e-3, 10.0, 1e3 * M):
            gamma, sharp = max_penalty_margin(u, c, a)
            water = np.maximum(gamma - u, 0.0) * inverse
            assert water.sum() == pytest.approx(c, rel=1e-9 * max(1.0, np.abs(u).max() / c))
            assert np.abs(max_penalty_distribution(u, 1e-300, c, a) - sharp).sum() <= 1e-9
            s = (u - 0.1 * np.log(1 / inverse)) / 0.1
            d = max_penalty_distribution(u, 0.1, c, a) / inverse
            level = s[d < d.max() * (1 - 1e-12)].min(initial=math.inf)
            pour = np.maximum(level - s, 0.0) * inverse
            assert level == math.inf or pour.sum() >= c / 0.1 * (1 - 1e-9)


def test_caps_of_many_entries_hold_and_the_rest_is_softmax(rng):
    u, caps = 0.1 * rng.normal(size=M), rng.uniform(0, 20 / M, M)
    caps[::7] = 0.0
    for beta in (1e-6, 1e-2, 1.0):
        d = caps_distribution(u, beta, caps)
        assert d.sum() == pytest.approx(1.0, abs=1e-14)
        assert (d <= caps).all()
        free = (d < caps) & (d > 1e-290)
        score = np.log(d[free]) + u[free] / beta
        assert np.ptp(score) <= 1e-9 * max(1.0, np.abs(u).max() / beta)
        capped = (d == caps) & (caps > 0.0)
        assert (np.log(caps[capped]) + u[capped] / beta <= score.min() + 1e-6).all()


def test_equal_caps_need_no_order(rng):
    """Where many margins would have to be ordered: against Fig. 2 to the letter."""
    for u in (rng.normal(size=M), np.sort(rng.standard_cauchy(M)), np.arange(M) % 3.0):
        for k in (8500.5, 0.4 * M, M - 0.5, float(M)):
            for beta in (1e-300, 1e-6, 0.1, 1e3):
                found = capped_distribution(u, beta, k)
                assert np.abs(found - by_sorting(u, beta, k)).sum() <= 1e-11
                assert found.max() <= 1 / k
                assert found.sum() == pytest.approx(1.0, abs=1e-14)
