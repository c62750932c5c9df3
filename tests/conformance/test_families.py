"""Every relaxation of the package keeps every promise of the interface."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import relaxboost as rb
from relaxboost.testing import check_relaxation, checks
from tests.conformance import samples
from tests.conformance.families import CASES, ENDS, FAMILIES


@pytest.mark.parametrize(("name", "m"), CASES)
def test_it_conforms(name, m):
    # The forms for cvxpy do not depend on m, and cvxpy takes long to compile them.
    skip = ("cvxpy_conjugate", "cvxpy_relaxed_margin") if m in (2, 60) else ()
    report = check_relaxation(dict(FAMILIES)[name], sizes=(m,), skip=skip)
    assert [row.check for row in report.rows] == list(checks())
    left = [row for row in report.rows if row.check not in skip]
    assert {row.status for row in left} <= {"passed", "not claimed"}


@pytest.mark.parametrize("name", [name for name, _ in FAMILIES])
def test_penalties_take_lists(name):
    f = dict(FAMILIES)[name](3).resolve(3)
    d = f.center(3)
    assert f.penalty(d.tolist()) == f.penalty(d)


def test_what_they_print_makes_them_again():
    names = {name: getattr(rb.relaxations, name) for name in rb.relaxations.__all__}
    made = [f for f in (make(3) for _, make in FAMILIES) if not isinstance(f, rb.Custom)]
    assert len(made) == len(FAMILIES) - 3
    for f in made:
        again = eval(repr(f), {**names, "Fraction": Fraction, "math": math})
        assert again.resolve(3) == f.resolve(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda m: samples.Ball(1.0 / m**0.5 + 1e-6),
        lambda m: samples.Huber(0.1),
        lambda m: samples.Square(),
        lambda m: samples.Entropy(0.5),
        lambda m: samples.Entropy(0.01),
    ],
    ids=["tiny ball", "huber", "square", "entropy", "sharp entropy"],
)
def test_relaxations_of_ones_own_conform(make):
    check_relaxation(make, sizes=(17,))


def test_the_least_a_user_writes_conforms_at_either_end():
    """Nothing but `cvxpy_penalty`: all else is derived by the base class."""
    report = check_relaxation(samples.Ball(1.0), sizes=ENDS)
    assert {row.m for row in report.rows} == set(ENDS)
