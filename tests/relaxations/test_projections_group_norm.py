"""Norm penalties of many groups at once, against one group after another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost.relaxations import GroupNormBall, GroupNormPenalty
from relaxboost.relaxations._projections import group_norm, power, power_margin
from relaxboost.relaxations._projections.group_norm_margin import Levels


def cases(rng, count):
    """Yield (u, sizes, a, q, c): spreads from 1e-3 to 1e2, ties, heavy tails, lone examples."""
    for case in range(count):
        sizes = rng.integers(1, 30, int(rng.integers(1, 20)))
        m = int(sizes.sum())
        u = rng.normal(size=m) * 10 ** rng.uniform(-3, 2)
        u = np.round(u) if case % 3 == 0 else rng.standard_cauchy(m) if case % 7 == 0 else u
        q = float(rng.choice([0.1, 0.5, 1, 2, 5]))
        yield u, sizes, rng.uniform(0.5, 2, sizes.size), q, 10 ** rng.uniform(-3, 2)


def starts_of(sizes):
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


@pytest.mark.parametrize("beta", [1e-5, 1e-2, 3.0])
def test_each_group_is_that_of_the_slow_twin(beta, rng):
    for u, sizes, a, q, c in cases(rng, 60):
        starts, m = starts_of(sizes), u.size
        states, y, p = np.full((sizes.size, 5), np.inf), np.zeros(m), np.empty(m)
        for factor in (1.0, 1.3, 0.01):  # anew, from nearby, from far off
            log_c = np.log(factor * c * a)
            group_norm.norm_penalties(u, starts, log_c, q, beta, states, y, p)
            for g in range(sizes.size):
                part = slice(starts[g], starts[g + 1])
                twin = power.norm_penalty(u[part], beta, np.ones(1), q, math.exp(log_c[g]))
                assert np.abs(p[part] - twin).sum() <= 1e-9
                norm = float((twin ** (q + 1)).sum()) ** (1 / (q + 1))
                x = twin[twin > 0]
                value = twin @ u[part] + math.exp(log_c[g]) * norm + beta * (x @ np.log(x))
                scale = np.abs(u[part]).max() + math.exp(log_c[g]) + beta
                assert states[g, 0] == pytest.approx(value, abs=1e-11 * scale)


def test_derivatives_along_the_weight(rng):
    for u, sizes, a, q, c in cases(rng, 20):
        states, y, p = np.full((sizes.size, 5), np.inf), np.zeros(u.size), np.empty(u.size)
        found = []
        for onwards in (-1e-5, 1e-5, 0.0):
            log_c = np.log(c * a) + onwards
            group_norm.norm_penalties(u, starts_of(sizes), log_c, q, 0.5, states, y, p)
            found.append(states[:, :2].copy())
        slopes = (found[1] - found[0]) / 2e-5
        assert states[:, 3:] == pytest.approx(slopes, rel=1e-5, abs=1e-6 * (1 + np.abs(u).max()))


def test_without_smoothing_the_level_is_the_least_value_of_a_group(rng):
    for u, sizes, a, q, c in cases(rng, 100):
        starts, m = starts_of(sizes), u.size
        f = GroupNormPenalty(np.repeat(np.arange(sizes.size), sizes), c, q + 1, a)
        pairs = [
            power_margin.norm_penalty_margin(u[i:j], np.ones(1), q, float(f.weight) * b)
            for i, j, b in zip(starts, starts[1:], a, strict=False)
        ]
        value, d = f.relaxed_margin(u)
        scale = np.abs(u).max() + c
        assert value == pytest.approx(min(v for v, _ in pairs), abs=1e-13 * scale)
        assert d @ u + f.penalty(d) == pytest.approx(value, abs=1e-12 * scale)
        assert d.sum() == pytest.approx(1.0, abs=1e-14)
        # A level's slopes are those of its logarithms.
        levels = Levels(u, group_norm.Grouping(np.arange(m), starts, a, q))
        x = levels.start + 0.7
        near = [levels.look(x + e) for e in (-1e-6, 1e-6)]
        if near[0].group == near[1].group:
            rise, fall = ((getattr(near[1], k) - getattr(near[0], k)) / 2e-6 for k in
                          ("dual", "size"))  # fmt: skip
            assert levels.look(x).dual_slope == pytest.approx(rise, rel=1e-4)
            if q <= 1.0:
                assert levels.look(x).size_slope == pytest.approx(fall, rel=1e-3, abs=1e-6)


def test_a_ball_at_any_smoothing_is_met_exactly(rng):
    """Also where groups tie on the scale of β, between two weights next to each other."""
    for case in range(40):
        groups = np.arange(17) % 4
        u = np.round(rng.normal(size=17)) if case % 2 else rng.normal(size=17)
        f = GroupNormBall(groups, 0.6, 2).resolve(17)
        margin = f.relaxed_margin(u)[0]
        for beta in (1e-12, 1e-9, 1e-5, 0.1):
            d = f.distribution(u, beta)
            assert f.penalty(d) == 0.0
            assert d.sum() == pytest.approx(1.0, abs=1e-14)
            assert d @ u <= margin + beta * math.log(17) + 1e-10


def test_a_ball_that_misses_the_simplex_is_refused(rng):
    f, u = GroupNormBall(np.arange(100) % 10, 0.3), rng.normal(size=100)
    for call in (lambda: f.distribution(u, 0.1), lambda: f.relaxed_margin(u)):
        with pytest.raises(InputError, match="does not meet the simplex"):
            call()


@pytest.mark.parametrize("p", [1.5, 2, 4])
def test_sizes_are_those_of_the_norm(p, rng):
    f = GroupNormBall(rng.permutation(np.arange(60) % 7), 1, p, rng.uniform(0.5, 2, 7))
    for d in (rng.normal(size=60), 1e-200 * rng.random(60), np.eye(60)[3], np.zeros(60)):
        parts = [d[g] for g in f.members]
        tops = [np.abs(part).max() or 1.0 for part in parts]
        sizes = [top * np.linalg.norm(part / top, p) for part, top in zip(parts, tops, strict=True)]
        expected = sum(float(a) * size for a, size in zip(f.factors, sizes, strict=True))
        assert f.size(d) == pytest.approx(expected, rel=1e-14)
