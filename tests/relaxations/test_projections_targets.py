"""The sample that narrows a sum down leaves no trace: against the selection over all entries."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.relaxations._projections import (
    by_sorting,
    capped_distribution,
    caps_distribution,
    max_penalty_distribution,
    max_penalty_margin,
    targets,
)
from relaxboost.relaxations._projections.selection import first_reaching

M = 50_000


def exact(kind, a, b, target):
    if kind == targets.EntryKind.STEPS.value:
        return first_reaching(a.copy(), b.copy(), np.zeros(M), target, False)
    if kind == targets.EntryKind.HINGES.value:
        return first_reaching(a.copy(), -a * b, b.copy(), target, True)
    return first_reaching(b / a, b.copy(), a.copy(), target, False)


@pytest.mark.parametrize(
    "kind",
    [targets.EntryKind.STEPS.value, targets.EntryKind.HINGES.value, targets.EntryKind.RAMPS.value],
)
def test_the_sample_leaves_no_trace(kind, rng):
    for a in (
        rng.uniform(0.1, 1, M),
        np.sort(rng.exponential(size=M)) + 0.1,
        rng.integers(1, 4, M).astype(float),
        np.where(np.arange(M) % 2, 1.0, 1e-9),  # the sample may see one kind only
        np.exp(10 * rng.normal(size=M)),
    ):
        b = rng.uniform(0, 1, M)
        for share in (1e-6, 0.01, 0.5, 0.999, 1.1):
            total = float((a * b).sum() if kind == targets.EntryKind.HINGES.value else b.sum())
            found = targets.reaching(kind, a, b, share * total)
            expected = exact(kind, a, b, share * total)
            assert found == pytest.approx(expected, rel=1e-9)


def test_entries_beyond_the_doubles():
    e, c = np.array([0.0, np.finfo(float).max, 1.0, 2.0]), np.array([0.5, 0.25, 0.5, 0.0])
    assert targets.reaching(targets.EntryKind.RAMPS.value, e, c, 0.5) == 0.5
    a = np.array([0.0, math.inf, 1.0])
    assert targets.reaching(targets.EntryKind.HINGES.value, a, np.ones(3), 0.5) == 1.0
    assert targets.reaching(targets.EntryKind.HINGES.value, a, np.ones(3), 5.0) == math.inf


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
