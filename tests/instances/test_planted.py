"""Planted optima: they are optimal, of the shape that is promised, and found by others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates import exact_value
from relaxboost.instances import plant
from tests.twins import exact_game_value

CASES = [
    (10, 5, None),
    (13, 7, 1),
    (20, 10, Fraction(13, 2)),
    (40, 9, 30),
    (41, 60, 12.5),
    (60, 30, None),
    (60, 30, 49.75),
]


@pytest.mark.parametrize("entries", ["signs", "floats"])
@pytest.mark.parametrize(("m", "n", "k"), CASES)
def test_the_optimum_is_the_planted_value(m, n, k, entries):
    for seed in range(5):
        found = plant(m, n, k, seed, entries)
        game, value = found.game(), found.value
        assert 0 < value < 1
        assert exact_value(game) == value
        if m * n <= 200:
            assert exact_game_value(game.matrix.toarray(), k) == value


@pytest.mark.parametrize("entries", ["signs", "floats"])
@pytest.mark.parametrize(("m", "n", "k"), [(200, 120, None), (200, 120, 60), (90, 40, 25.5)])
def test_complementary_slackness(m, n, k, entries):
    """Weights at the cap, between and at zero; margins below, at and above γ; signs of both kinds;
    every other column strictly inside."""
    for seed in range(5):
        found = plant(m, n, k, seed, entries)
        A = [[Fraction(x) for x in row] for row in found.A.tolist()]
        w = dict(zip(found.support, found.w, strict=True))
        assert sum(map(abs, found.w)) == 1
        assert {x > 0 for x in found.w} == {True, False}
        assert len({abs(x) for x in found.w}) > 1
        cap = Fraction(2) if k is None else 1 / Fraction(k)
        margins = [sum(c * row[j] for j, c in w.items()) for row in A]
        kinds = set()
        for x, u in zip(found.d, margins, strict=True):
            kinds.add((x > 0) + (x == cap))
            if x == 0:
                assert u > found.gamma
            elif x < cap:
                assert u == found.gamma
            else:
                assert u < found.gamma
        assert kinds == ({0, 1} if k is None else {0, 1, 2})
        for j in range(n):
            edge = sum(x * row[j] for x, row in zip(found.d, A, strict=True))
            if j in w:
                assert edge == (found.value if w[j] > 0 else -found.value)
            else:
                assert abs(edge) < found.value


def test_boosters_have_work_to_do():
    found = plant(400, 200, k=100, seed=1)
    game, value = found.game(), found.value
    one = rb.solve(game, tol=1e-3, max_rounds=1)
    assert one.gap > 0.1
    sol = rb.solve(game, tol=1e-3, method="lpboost")
    assert sol.rounds > 20
    assert sol.lower <= value <= sol.upper


def test_seeds():
    A, B, C = (plant(50, 40, 12, seed, "floats").A for seed in (3, 3, 4))
    assert (A == B).all()
    assert (A != C).any()
    assert len({plant(200, 80, 50, seed).value for seed in range(10)}) > 5


def test_floats_are_any_doubles():
    A = plant(60, 50, 20, 0, "floats").A
    assert A.dtype == np.float64
    assert np.unique(np.abs(A)).size > 0.9 * A.size
    assert np.abs(A).max() <= 1


@pytest.mark.parametrize(("m", "n", "k"), [(4_000, 2_000, None), (10_000, 500, 2000)])
def test_large_games(m, n, k):
    """`prove` checks both bounds in integers; the brackets of the pair and of a solver hold."""
    found = plant(m, n, k)
    found.prove()
    game = found.game()
    w = np.zeros(game.n)
    w[list(found.support)] = [float(x) for x in found.w]
    lower, upper = game.bracket([float(x) for x in found.d], w)
    assert lower <= found.value <= upper
    assert upper - lower < 1e-11
    sol = rb.solve(game, 0.2, rb.solvers.Corrective(step="pairwise"), max_rounds=40)
    assert sol.lower > 0
    assert sol.lower <= found.value <= sol.upper


def test_floats_of_size():
    found = plant(2_000, 1_000, 400, 0, "floats")
    game = found.game()
    w = (np.array(found.support), np.array([float(x) for x in found.w]))
    lower, upper = game.bracket([float(x) for x in found.d], w)
    assert lower <= found.value <= upper
    assert upper - lower < 1e-12
    sol = rb.solve(game, tol=0.02)
    assert sol.gap <= 0.02
    assert sol.lower <= found.value <= sol.upper


def test_what_has_no_room():
    with pytest.raises(rb.InputError, match="needs m >= 10, n >= 5 and k >= 1"):
        plant(9, 5)
    with pytest.raises(rb.InputError, match="needs m >= 10, n >= 5 and k >= 1"):
        plant(10, 4)
    with pytest.raises(rb.InputError, match=r"has no room .* Use a k of at most 40"):
        plant(50, 10, k=50)
    with pytest.raises(rb.InputError, match="entries='signs' or 'floats'"):
        plant(50, 10, entries="reals")
    for m in range(10, 40):
        for seed in range(3):
            plant(m, 8, k=m - 10 or 1, seed=seed)
