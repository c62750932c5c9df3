"""The margin loss in function space: value, gradient, expression, constants, boosting."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import planning as pl

from . import small

CASES = [
    (name, negative, strength)
    for name in ("missed", "hamming", "none")
    for negative in ("exact", "relaxed")
    for strength in (0.0, 0.3)
]


def make(seed, name="missed", link="additive", **options):
    rng = np.random.default_rng(seed)
    first = small.tasks(rng, 2, small.LOSSES[name], repeat=seed % 2 == 1, sites=seed % 2 == 0)
    second = small.tasks(rng, 1, small.LOSSES[name])
    return pl.PlanningLoss(link, **options).bind([*first, *second]), rng


@pytest.mark.parametrize(("name", "negative", "strength"), CASES)
def test_subgradients_and_constants(name, negative, strength):
    for seed in range(2):
        risk, rng = make(seed, name, base=1.5, negative=negative, strength=strength)
        points = []
        for _ in range(20):
            F = rng.normal(size=risk.measure.size) * 0.6
            if negative == "exact":
                F = np.abs(F) if name == "missed" else np.abs(F) + 3.0
            try:
                points.append((F, *risk.evaluate(F)))
            except pl.NegativeCycle:
                assert name == "hamming"
        for F, value, gradient in points:
            for G, there, _ in points:
                move = G - F
                below = value + risk.measure.inner(gradient, move)
                below += risk.strong_convexity / 2.0 * risk.measure.inner(move, move)
                assert there >= below - 1e-9 * (1.0 + abs(there))


@pytest.mark.parametrize(("name", "negative", "strength"), CASES)
def test_values_are_the_largest_over_every_path(name, negative, strength):
    for seed in range(2):
        risk, rng = make(seed, name, base=1.5, negative=negative, strength=strength)
        F = rng.normal(size=risk.measure.size) * (0.6 if negative == "relaxed" else 0.2)
        F = np.abs(F) if negative == "exact" else F
        wanted = 0.5 * strength * (risk.measure.p @ F**2)
        for row in risk.oracle.rows:
            sites = risk.oracle.graphs[row.graph]
            entry = [np.flatnonzero((risk.features == x).all(axis=1))[0] for x in sites.features]
            c = sites.costs(1.5 + F[entry])
            wanted += row.weight * small.loss_of(row, sites, c, negative == "relaxed")
        try:
            assert risk.value(F) == pytest.approx(wanted)
        except pl.NegativeCycle:
            assert name == "hamming"
