"""Games of every family: two general solvers and a booster prove brackets that overlap."""

from __future__ import annotations

from functools import cache

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations.bounds import level_of
from tests.conformance.families import FAMILIES

PASSIVE = {"HardMargin", "Capped(1)", "NormBall(1)"}
"""Families that leave the hard margin as it is, whatever the game."""

ARRANGEMENTS = 8
"""A norm of groups binds where a pair of examples is split, a cap of groups where it is not: so
the rows are rearranged until the relaxation binds, which leaves the hard margin alone."""


@cache
def separable() -> np.ndarray:
    """Two nearly contradictory examples that column 0 tells apart, by 0.1, from all others."""
    rng = np.random.default_rng(1)
    A = rng.uniform(-0.6, 0.6, (12, 8))
    A[:, 0] = rng.uniform(0.5, 1.0, 12)
    A[[1, 2], 0] = 0.1
    A[2, 1:] = -A[1, 1:]
    return A


@cache
def real() -> np.ndarray:
    """40 tumours and 25 stumps on five features, which cannot tell two of them apart."""
    data = rb.matrices.datasets.breast_cancer()
    rows = slice(20, 180, 4)
    return rb.matrices.stumps(data.X[rows], data.y[rows], max_cuts=5).toarray()[:, :25]


GAMES = {"separable": (separable, 0.1), "real": (real, 0.0)}


def binding_game(make, A, hard, passive):
    """Return a game on the rows of A in the first order in which f binds, and its solution."""
    m = A.shape[0]
    for seed in range(ARRANGEMENTS):
        game = rb.Game(A[np.random.default_rng(seed).permutation(m)], make(m))
        found = rb.solve(game, tol=1e-6)
        binds = found.lower > hard + 1e-4 or found.upper < hard - 1e-4
        if binds or passive:
            assert binds != passive
            return game, found
    raise AssertionError("the relaxation binds in none of the games")


def other_solver(game):
    """Return a second reference: CLARABEL after HIGHS where f is linear, else ECOS or SCS."""
    # ECOS has no wheel for Python 3.13 and later.
    conic = "ECOS" if "ECOS" in cp.installed_solvers() else "SCS"
    linear = game.relaxation.linear_form(game.m) is not None
    return rb.reference(game, solver="CLARABEL" if linear else conic)


@pytest.mark.parametrize("kind", GAMES)
@pytest.mark.parametrize("name", [name for name, _ in FAMILIES])
def test_two_solvers_and_a_booster_agree(name, kind):
    matrix, hard = GAMES[kind]
    game, booster = binding_game(dict(FAMILIES)[name], matrix(), hard, name in PASSIVE)
    first, second = rb.reference(game), other_solver(game)
    # Where a solver's word is part of a bound, the bounds may cross by its accuracy.
    crossing = 1e-8 if level_of(game.relaxation) == "numerical" else 0.0
    for solution in (first, second, booster):
        assert -np.inf < solution.lower <= solution.upper + crossing < np.inf
    comparison = rb.compare(first, second, booster)
    assert comparison.agree, comparison
    assert first.method != second.method
    assert first.gap <= 1e-6, first.message
    assert second.gap <= 1e-6, second.message
    assert booster.gap <= 1e-6, booster.message


@pytest.mark.parametrize("kind", GAMES)
def test_the_hard_margins_are_what_the_games_were_built_for(kind):
    matrix, hard = GAMES[kind]
    solution = rb.reference(rb.Game(matrix()))
    assert solution.lower == pytest.approx(hard, abs=1e-6)
    assert solution.upper == pytest.approx(hard, abs=1e-6)
