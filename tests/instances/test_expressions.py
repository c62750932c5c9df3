"""Relaxations read from text: what is understood, what is refused, and that nothing is run."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import relaxboost as rb
from relaxboost.instances.expressions import families, read_relaxation

READ = [
    ("HardMargin()", rb.HardMargin()),
    (" Capped(k = 10) ", rb.Capped(10)),
    ("CVaR(0.9)", rb.CVaR(0.9)),
    ("Capped(fraction=1/3)", rb.Capped(fraction=Fraction(1, 3))),
    ("NormPenalty(2, 0.3)", rb.NormPenalty(2, 0.3)),
    ("NormBall(inf, 1/5)", rb.NormBall(math.inf, Fraction(1, 5))),
    ("NormPenalty(p=inf, weight=1, weights=[1, 2.5])", rb.NormPenalty(math.inf, 1, [1, 2.5])),
    ("GroupCaps((0, 0, 1, -1), 1/2)", rb.relaxations.GroupCaps([0, 0, 1, -1], Fraction(1, 2))),
    (
        "MahalanobisPenalty([[1, 0.5], [0, 1]], 1)",
        rb.relaxations.MahalanobisPenalty([[1, 0.5], [0, 1]], 1),
    ),
    ("Capped(k=10) + 0.1*KLPenalty(1)", rb.Capped(10) + 0.1 * rb.KLPenalty(1)),
    ("KLPenalty(1)*1/3", None),
    ("1/3 * ChiSquarePenalty(1)", Fraction(1, 3) * rb.relaxations.ChiSquarePenalty(1)),
    ("ChiSquarePenalty(1) * 2", 2 * rb.relaxations.ChiSquarePenalty(1)),
    ("NormPenalty(2, 1).shifted(-0.1)", rb.NormPenalty(2, 1).shifted(-0.1)),
    ("2 * (KLBall(0.1) + Capped(3)).scaled(-2)", 2 * (rb.KLBall(0.1) + rb.Capped(3)).scaled(-2)),
]


@pytest.mark.parametrize(("text", "meant"), READ)
def test_it_reads_what_python_would_make_of_it(text, meant):
    if meant is None:  # (f * 1) / 3 to Python, and a relaxation has no division
        with pytest.raises(rb.InputError, match="cannot read"):
            read_relaxation(text)
    else:
        assert repr(read_relaxation(text)) == repr(meant)


REFUSED = {
    "Kapped(3)": "no relaxation is called Kapped; did you mean Capped",
    "Custom(f=3)": "no relaxation is called Custom",
    "Capped": r"'Capped' .*write Capped\(\.\.\.\) with its parameters",
    "Capped(k=10": "was never closed",
    "Capped(k=x)": "cannot read 'x' .*parameters must be numbers",
    "Capped(k=True)": "cannot read 'True'",
    "Capped(k='3')": "parameters must be numbers",
    "Capped(1/0)": "a denominator other than 0",
    "Capped(9**9**9)": "parameters must be numbers",
    "Capped(*[3])": "parameters must be numbers",
    "Capped(**{})": "pass parameters by position or by name",
    "Capped(3, 4, 5)": r"takes Capped\(k=None, fraction=None\): too many",
    "NormPenalty(2)": r"takes NormPenalty\(p, weight, weights=None\): missing .*'weight'",
    "NormPenalty(2, 1, wait=1)": "unexpected keyword argument 'wait'",
    "Capped(k=0.5)": "needs k >= 1",
    "Capped(3) - Capped(4)": "a sum or a multiple",
    "Capped(3) * Capped(4)": "cannot read",
    "-1 * Capped(3)": "needs c > 0|c > 0|positive",
    "2 * 3": "a sum or a multiple",
    "": "cannot read",
    "Capped(3).resolve(4)": "a sum or a multiple",
    "__import__('os').getcwd()": "a sum or a multiple",
    "(lambda: HardMargin())()": "a sum or a multiple",
    "(" * 500 + "HardMargin()" + ")" * 500: "cannot read",
    "HardMargin()" + " + HardMargin()" * 1000: "at most 10000 characters",
    "Capped(" + "9" * 5000 + ")": "cannot read|needs",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_everything_else_is_refused_by_name(text):
    with pytest.raises(rb.InputError, match=REFUSED[text]):
        read_relaxation(text)


def test_every_family_can_be_named():
    listed = {getattr(rb.relaxations, name) for name in rb.relaxations.__all__}
    kinds = {kind for kind in listed if isinstance(kind, type)}
    own = {k for k in kinds if issubclass(k, rb.Relaxation)} - {rb.Relaxation, rb.Custom}
    assert set(families().values()) == own
