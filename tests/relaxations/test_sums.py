"""Sums keep the proof of their terms: levels, brackets and certificates over random sums."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from zlib import crc32

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations import GroupCaps
from relaxboost.relaxations.bounds import level_of
from tests.conformance.families import FAMILIES

LEVELS = ("numerical", "enclosed", "exact")


def check(f, m, rng, tmp_path):
    """Solve a random game with f to 1e-3, and check its certificate where there is one."""
    A = np.round(rng.uniform(-1, 1, (m, 3)), 2)
    game = rb.Game(A, f)
    solution = rb.solve(game, tol=1e-3, max_rounds=2000)
    assert solution.status == "optimal", (solution.status, solution.lower, solution.upper)
    if level_of(game.relaxation) != "numerical":
        path = tmp_path / "sum.json"
        rb.certify(solution).save(path)
        verdict = rb.check_certificate(path, A)
        assert verdict.ok, verdict.reason
        assert verdict.level == level_of(game.relaxation)


def test_a_center_on_a_cap_loses_no_proof(tmp_path):
    caps = rb.Caps([1, Fraction(1, 6), 0.5])
    f = rb.NormPenalty(math.inf, 1, [2, 0.75, 1]) + caps
    resolved = f.resolve(3)
    assert level_of(resolved) == "exact"
    assert caps.penalty(resolved.center(3)) == 0.0
    for seed in range(3):
        check(f, 3, np.random.default_rng(seed), tmp_path)


def test_a_spectrum_whose_domain_is_one_point_loses_no_proof(rng, tmp_path):
    for ks, weights in (([3], [1]), ([3, 3], [0.5, 0.5])):
        risk = rb.relaxations.SpectralRisk(ks, weights)
        check(risk + rb.KLPenalty(1), 3, rng, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_sums_with_caps_keep_their_proof(seed, tmp_path):
    """Random caps, some of which bind the uniform distribution, and groups that fill the game."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 6))
    if seed % 2:
        caps = [Fraction(int(k), 12) for k in rng.integers(2, 9, m)]
        first = rb.Caps([c + max(Fraction(0), (1 - sum(caps)) / m) for c in caps])
    else:
        share = Fraction(int(rng.integers(1, 6)), 6)
        first = GroupCaps([i % 2 for i in range(m)], {0: share, 1: 1 - share})
    others = [
        rb.NormPenalty(math.inf, 1, rng.integers(1, 4, m).tolist()),
        rb.NormPenalty(1, Fraction(1, 2), rng.integers(1, 4, m).tolist()),
        rb.NormPenalty(2, 0.3),
        rb.relaxations.GroupNormPenalty([i // 2 for i in range(m)], 0.4),
        rb.NormBall(2, 0.9),
    ]
    f = first + others[seed % len(others)]
    assert level_of(f.resolve(m)) == level_of(f)
    check(f, m, rng, tmp_path)


def drawn(pair):
    """Return where a pair stands in an order that families added later do not change."""
    return crc32(f"{pair[0][0]} + {pair[1][0]}".encode())


def pairs(number):
    """Return random pairs of families; `Capped(m)` and `Caps` touch at a single boundary point."""
    every = sorted(combinations_with_replacement(FAMILIES, 2), key=drawn)
    return [p for p in every if {name for name, _ in p} != {"Capped(m)", "Caps"}][:number]


@pytest.mark.parametrize("pair", pairs(20), ids=lambda pair: " + ".join(name for name, _ in pair))
def test_random_sums_keep_the_weaker_level(pair, rng, tmp_path):
    m = 5
    first, second = (make(m).resolve(m) for _, make in pair)
    if not meet(first, second, m):
        with pytest.raises(rb.InputError, match=r"is \+inf on the whole simplex"):
            (first + second).resolve(m)
        return
    f = (first + second).resolve(m)
    assert level_of(f) == min((level_of(term) for term in (first, second)), key=LEVELS.index)
    check(f, m, rng, tmp_path)


def meet(first, second, m):
    """Return whether cvxpy finds a distribution with room around it where both are finite."""
    d, room = cp.Variable(m), cp.Variable()
    values, limits = zip(*(f.cvxpy_penalty(d) for f in (first, second)), strict=True)
    inside = [d >= room, cp.sum(d) == 1, *limits[0], *limits[1], sum(values) <= 1e3]
    return cp.Problem(cp.Maximize(room), inside).solve(solver="CLARABEL") > -1e-7


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in FAMILIES])
def test_the_bound_near_a_point_holds_there(make, rng):
    m = 4
    f = make(m).resolve(m)
    center = f.center(m)
    for distance in (0.0, 1e-9, 1e-3):
        bound = f.penalty_near(center, sum_bounds(center), distance)
        for _ in range(20):
            i, j = rng.choice(m, 2, replace=False)
            d = center.copy()
            moved = min(0.5 * distance * rng.random(), d[i])
            d[i], d[j] = d[i] - moved, d[j] + moved
            if level_of(f) != "numerical":
                assert f.penalty(d) <= bound + 1e-13


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_margin_over_groups_and_caps_is_that_of_its_bound(seed):
    """A center on an edge is no way in, and the terms repair a point in turn some ten times."""
    u = np.random.default_rng(seed).normal(size=99)
    f = rb.relaxations.GroupCaps([i % 3 - 1 for i in range(99)], {0: 0.25, 1: 0.25}) + rb.Capped(50)
    value, d = f.relaxed_margin(u)
    assert f.penalty(d) == 0.0
    assert value == pytest.approx(f.lower_bound(u, f.witness(u)), abs=1e-8)


def test_repair_enters_a_domain_without_room():
    """Both group sums are fixed, so that the way to the center is infeasible up to its end."""
    f = (GroupCaps([0, 0, 1, 1], 0.5) + rb.NormPenalty(2, 0.3)).resolve(4)
    d = np.array([0.4, 0.1 + 1e-9, 0.3, 0.2 - 1e-9])
    repaired = f.repair(d)
    assert math.isfinite(f.penalty(repaired))
    assert np.abs(repaired - d).sum() < 1e-8


def test_a_multiple_of_an_entropy_takes_no_solver(rng, monkeypatch):
    """Where one gave up on the splitting, the bound was 0.1 short of 9.46."""
    monkeypatch.setattr("relaxboost.relaxations.sums.split", None)
    for f in (
        rb.Capped(10) + 0.5 * rb.KLPenalty(0.3),
        0.5 * rb.KLPenalty(0.3) + 2.0 * rb.relaxations.ChiSquarePenalty(0.1),
    ):
        f = f.resolve(30)
        for scale in (0.1, 30.0):
            u = scale * rng.uniform(-1, 1, 30)
            value = f.relaxed_margin(u)[0]
            proved = f.lower_bound(u, f.witness(u))
            assert value - 1e-12 * scale <= proved <= value + 1e-15


def test_a_multiple_of_an_entropy_leaves_the_range_of_its_weights():
    """Far below it is next to nothing; far above a solver is asked, whose failure is a status."""
    A = np.eye(3) - 0.5
    little = rb.solve(rb.Game(A, rb.Capped(2) + 1e-90 * rb.KLPenalty(1e-90)), 1e-6)
    assert little.status == "optimal"
    assert little.lower <= rb.solve(rb.Game(A, rb.Capped(2)), 1e-6).upper
    huge = rb.solve(rb.Game(A, rb.Capped(2) + 1e90 * rb.KLPenalty(1e90)), 1e-6)
    assert huge.status == "failed"
