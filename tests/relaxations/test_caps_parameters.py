"""Caps: parameters, what is claimed of them, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import Caps, InputError
from relaxboost.relaxations import GroupCaps


def test_parameters_are_kept_exactly():
    f = Caps(np.array([0.1, 0.9, 5.0]))
    assert f.caps == (Fraction(0.1), Fraction(0.9), Fraction(5))
    assert f == Caps([0.1, 0.9, 5]) == Caps((Fraction(0.1), 0.9, np.int64(5)))
    assert hash(f) == hash(Caps([0.1, 0.9, 5]))
    assert f != Caps([0.1, 0.9, 4])
    assert f.key() == f"relaxboost.Caps([{Fraction(0.1)}, {Fraction(0.9)}, 5])"
    assert Caps(0.5).resolve(3) == Caps([0.5] * 3)
    g = GroupCaps(np.array([2, 2, -1]), {2: Fraction(1, 3), 5: 1})
    assert (
        g == GroupCaps((2, 2, -1), [0, 0, Fraction(1, 3)]) == GroupCaps([2, 2, -1], Fraction(1, 3))
    )
    assert g.key() == "relaxboost.GroupCaps([2, 2, -1], {2: 1/3})"
    assert rb.Game(np.eye(3), Caps(1)).digest == rb.Game(np.eye(3), Caps([1, 1, 1])).digest
    assert rb.Game(np.eye(3), g).digest != rb.Game(np.eye(3), GroupCaps([2, 2, -1], 0.5)).digest
    assert repr(Caps([0.5] * 569)) == "Caps(<569 caps from 0.5 to 0.5>)"
    assert repr(GroupCaps([0] * 568 + [-1], 1)) == "GroupCaps(<569 examples, 1 groups, 1 free>)"


def test_traits():
    assert Caps([0.5, 0.5, 0.5]).traits.symmetric
    assert not Caps([0.5, 0.5, 0.25]).traits.symmetric
    assert Caps([0.5, 0.5, 1e-9]).traits.zero_in_core
    assert not Caps([0.5, 0.5, 0]).traits.zero_in_core
    for labels, caps, symmetric in (
        ([0, 0, 0], 1, True),
        ([0, 1, 2], 0.5, True),
        ([-1, -1, -1], {}, True),
        ([0, 1, -1], 0.5, False),
        ([0, 1, -1], 1, False),
        ([0, 0, 1], 1, False),
    ):
        assert GroupCaps(labels, caps).traits.symmetric is symmetric
    assert not GroupCaps([0, 0, -1], 0).traits.zero_in_core


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Caps([0.3, 0.3, 0.3]), r"these 3 sum to 0\.9: raise some"),
        (lambda: Caps([1 / 3] * 3), r"sum to 1 - 5\.55e-17: .* or give a Fraction"),
        (lambda: Caps(0.1).resolve(9), r"on a game with m = 9 .* these 9 sum to 0\.9"),
        (lambda: Caps([1, -0.5]), r"caps\[1\] to be >= 0, got -0\.5"),
        (lambda: Caps([1, math.nan]), r"caps\[1\] \(1 or more is no cap\) to be a finite"),
        (lambda: Caps([1, math.inf]), "finite real number, got inf"),
        (lambda: Caps("abc"), "finite real number, got 'abc'"),
        (lambda: Caps([[1, 2]]), "finite real number"),
        (lambda: Caps([True, 1]), "finite real number"),
        (lambda: Caps([]), "one cap for each example, and got none"),
        (lambda: Caps([1, 1]).resolve(3), r"has 2 caps, and this game has m = 3 examples; give"),
        (lambda: GroupCaps([0, 1], 0.25), "without a free example needs caps .* sum to 0.5"),
        (lambda: GroupCaps([0, 1], [1]), "no cap for group 1; give caps for the groups 0, 1"),
        (lambda: GroupCaps([0, 1], {0: 1}), "no cap for group 1"),
        (lambda: GroupCaps([0, -1], {0: 1, -1: 0.5}), "no cap for -1, the label"),
        (lambda: GroupCaps([0, -2], 1), r"groups\[1\] to be an integer >= 0, or -1"),
        (lambda: GroupCaps([0.0, 1.0], 1), r"groups\[0\] to be an integer"),
        (lambda: GroupCaps([True, 1], 1), r"groups\[0\] to be an integer"),
        (lambda: GroupCaps(3, 1), "a vector of labels"),
        (lambda: GroupCaps([], 1), "a vector of labels"),
        (lambda: GroupCaps([0, 1], [1, -1]), "the cap of group 1 to be >= 0"),
        (lambda: GroupCaps([0, 1], [1, math.nan]), "the cap of group 1 .* finite"),
        (lambda: GroupCaps([0, 1], 1).resolve(3), "2 entries in groups, and this game has m = 3"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(InputError, match=message):
        make()
