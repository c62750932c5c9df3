"""Caps: parameters, what is claimed of them, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import relaxboost as rb
from relaxboost import Caps
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
