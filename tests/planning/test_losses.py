"""Structured losses against sums over the arcs of paths, arc by arc."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from relaxboost import planning as pl

from . import small


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("repeat", [False, True])
def test_values_are_the_sums_that_they_say(seed, repeat):
    rng = np.random.default_rng(seed)
    g = small.graph(rng)
    shown = small.walk(rng, g, 0, 5, repeat)
    for arcs in small.paths(g, 0, 5):
        path = g.path(arcs=arcs)
        # An arc that the demonstration takes twice and the path once is missed once.
        missed = (Counter(shown.arcs.tolist()) - Counter(path.arcs.tolist())).total()
        strayed = sum(1 for e in path.arcs.tolist() if e not in set(shown.arcs.tolist()))
        xy = g.position
        ends = [np.linalg.norm(xy[shown.numbers] - xy[g.head[e]], axis=1).min() for e in arcs]
        assert pl.Missed().value(path, shown) == pytest.approx(missed)
        assert pl.Strayed(scale=2.0).value(path, shown) == pytest.approx(2.0 * strayed)
        assert pl.Hamming().value(path, shown) == pytest.approx(missed + strayed)
        assert pl.NoLoss().value(path, shown) == 0.0
        away = sum(min(1.0, x / 2.0) for x in ends)
        assert pl.Distance(2.0).value(path, shown) == pytest.approx(away)


@pytest.mark.parametrize("name", small.LOSSES)
@pytest.mark.parametrize("repeat", [False, True])
def test_a_demonstration_has_loss_zero_and_no_path_less(name, repeat):
    loss = small.LOSSES[name]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        g = small.graph(rng)
        shown = small.walk(rng, g, 0, 5, repeat)
        assert loss.value(shown, shown) == pytest.approx(0.0, abs=1e-12)
        for arcs in small.paths(g, 0, 5):
            assert loss.value(g.path(arcs=arcs), shown) >= -1e-12
