"""Keys spell a stored name of the family and exact parameters: renaming a class changes none."""

from __future__ import annotations

from fractions import Fraction

import pytest

import relaxboost as rb
from relaxboost.instances.expressions import families
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.base import operands_of
from tests.conformance.families import FAMILIES


def everyone(kind=Relaxation):
    return [kind, *(c for child in kind.__subclasses__() for c in everyone(child))]


@pytest.mark.parametrize("name", [name for name, _ in FAMILIES])
def test_renaming_a_class_changes_no_key(name):
    f = dict(FAMILIES)[name](7).resolve(7)
    before, kinds = f.key(), {type(g) for g in (f, *operands_of(f))}
    names = {kind: (kind.__name__, kind.__qualname__) for kind in kinds}
    try:
        for kind in kinds:
            kind.__name__ = kind.__qualname__ = "Other"
        assert f.key() == before
    finally:
        for kind, (short, long) in names.items():
            kind.__name__, kind.__qualname__ = short, long


def test_no_stored_name_is_of_two_families():
    """A class may share that of the class it derives from: what it resolves to is the same f."""
    assert families()  # loads them
    homes: dict[str, list[type]] = {}
    for kind in {c for c in everyone()[1:] if c.__module__.startswith("relaxboost.")}:
        homes.setdefault(kind.family, []).append(kind)
    assert len([name for name in homes if name.count(".") == 1]) >= 26
    for name, kinds in homes.items():
        assert any(all(issubclass(c, first) for c in kinds) for first in kinds), name


def test_keys_are_these():
    assert rb.Capped(2.5).key() == "relaxboost.Capped(k=5/2)"
    assert rb.Capped(fraction=0.1).key() == "relaxboost.Capped(fraction=0.1)"
    assert rb.KLPenalty(1).key() == "relaxboost.KLPenalty(weight=1, prior=None)"
    assert rb.relaxations.GroupCaps([0, -1], 1).key() == "relaxboost.GroupCaps([0, -1], {0: 1})"
    both = Fraction(1, 3) * rb.HardMargin().shifted(0.5) + rb.KLBall(2).scaled(2)
    assert both.key().startswith("relaxboost.Sum(relaxboost.Scaled(1/3, relaxboost.Shifted(")


def test_a_class_of_ones_own_is_known_by_where_it_is():
    class Own(rb.HardMargin):
        pass

    assert Own.family == f"{__name__}.{Own.__qualname__}"
    assert Own().key() == f"{Own.family}()"
