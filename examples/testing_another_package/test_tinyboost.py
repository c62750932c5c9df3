"""The tests of tinyboost: its own, which find nothing, and certified games, which do."""

import numpy as np
import pytest
import tinyboost

from relaxboost.instances import assert_bracketed


def test_mean_of_worst():
    assert tinyboost.mean_of_worst(np.array([0.3, -0.1, 0.2]), 2) == pytest.approx(0.05)


def test_weights_are_in_the_ball():
    A = np.random.default_rng(0).uniform(-1, 1, (20, 5))
    assert np.abs(tinyboost.fit(A, 3)).sum() <= 1 + 1e-9


CASES = {
    "matching-pennies": 1,
    "identity-3": 1,
    "identity-7.capped-k-5": 5,
    "hadamard-4.capped-k-2": 2,
    "hadamard-16.capped-k-7": 7,
    "single-column-with-ties": 1,
    "single-column-with-ties.capped-k-2": 2,
    "single-column-with-ties.capped-k-3": 3,
    "equal-rows.capped-k-2": 2,
    "ties-at-the-cap.capped-k-3": 3,
    "opposite-rows-among-others": 1,
    "opposite-rows-among-others.capped-k-3": 3,
}


@pytest.mark.parametrize("name", CASES)
def test_value(name, certified_games):
    certified = certified_games(name)
    assert_bracketed(tinyboost.value(certified.A, k=CASES[name]), certified, tol=1e-7)
