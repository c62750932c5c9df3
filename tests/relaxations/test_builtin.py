"""Hard margin and capped: their parameters, and what else `test_caps` does not ask of them."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from relaxboost import Capped, HardMargin
from relaxboost.relaxations import Witness


@pytest.mark.parametrize("gamma", [math.nan, math.inf, -math.inf, 1.7e308])
def test_useless_witnesses_prove_nothing(gamma):
    for f in (HardMargin(), Capped(2)):
        assert f.lower_bound(np.array([0.5, 0.25, 0.75]), Witness(gamma)) == -math.inf


def test_the_penalty_is_one_on_all_of_space():
    """f is an indicator on R^m, not only on the simplex."""
    assert Capped(2).penalty(np.array([-5.0, 0.1, 0.1])) == math.inf
    assert Capped(2).penalty(np.array([-0.5, 0.1, 0.5])) == 0.0
    d = cp.Variable(2)
    _, constraints = Capped(2).cvxpy_penalty(d)
    assert cp.Problem(cp.Minimize(d[0]), constraints).solve(solver="CLARABEL") == pytest.approx(
        -0.5
    )


def test_parameters_are_kept_exactly():
    assert Capped(57).k == 57
    assert Capped(56.9).k == Fraction(56.9)
    assert Capped(Fraction(7, 3)).k == Fraction(7, 3)
    assert Capped(np.float64(2.5)) == Capped(Fraction(5, 2)) == Capped(k=2.5)
    assert Capped(2) != Capped(3)
    assert hash(Capped(2)) == hash(Capped(2.0))
    assert HardMargin() == HardMargin()


def test_fraction_resolves_at_the_game():
    assert Capped(fraction=0.1).resolve(570) == Capped(57)
    assert Capped(fraction=0.1).resolve(569) == Capped(Fraction(569, 10))
    assert Capped(fraction=1 / 3).resolve(3) == Capped(1)
    assert Capped(fraction=0.07).resolve(100) == Capped(7)
    assert all(Capped(fraction=1 / m).resolve(m) == Capped(1) for m in range(1, 3000))
    assert Capped(fraction=Fraction(1, 3)).resolve(10) == Capped(Fraction(10, 3))
    assert Capped(fraction=1).resolve(7) == Capped(7)
    assert Capped(fraction=np.float32(0.5)).resolve(6) == Capped(3)
