"""Every family that `relaxations/__init__.pyi` lists has all that belongs to one."""

from __future__ import annotations

from pathlib import Path

import pytest

import relaxboost as rb
from relaxboost.instances.expressions import families
from relaxboost.relaxations.norms import BallOfNorm, PenaltyOfNorm, WithNorm
from tests.conformance.families import FAMILIES

PAGE = Path(__file__).parents[2] / "docs" / "relaxations.md"
EVERYONE = {**families(), "Custom": rb.Custom}


@pytest.mark.parametrize("name", EVERYONE)
def test_a_family_is_complete(name):
    kind = EVERYONE[name]
    instances = [f for f in (make(6) for _, make in FAMILIES) if isinstance(f, kind)]
    assert instances, "tests/conformance/families.py has no instance of it"
    for f in instances:
        assert vars(type(f))["family"].startswith("relaxboost."), "it needs a stored name, `family`"
    assert f"`{name}" in PAGE.read_text(), "docs/relaxations.md says nothing of it"
    described = [f.resolve(6).describe(6) for f in instances]
    assert any(described), "it has no certificates: give it `describe` or `exact_form`"
    assert kind.__doc__


def test_every_norm_that_is_made_overrides_what_norms_leave_open():
    methods = [(name, value) for name, value in vars(WithNorm).items() if callable(value)]
    left_open = [n for n, value in methods if "NotImplementedError" in value.__code__.co_names]
    assert len(left_open) == 6
    made = {type(f) for f in (make(6) for _, make in FAMILIES) if isinstance(f, WithNorm)}
    assert {rb.NormBall, rb.NormPenalty}.isdisjoint(made)
    shared = (BallOfNorm.lower_bound, PenaltyOfNorm.lower_bound)
    for kind in made:
        spared = () if kind.lower_bound in shared else ("dual_of", "extremes")
        for name in left_open:
            own = getattr(kind, name) is not getattr(WithNorm, name)
            assert own or name in spared, f"{kind.__name__}.{name}"
