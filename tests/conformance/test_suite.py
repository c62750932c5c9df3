"""The suite itself: its names, its report, its arguments, what its errors say."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.testing import ConformanceError, check_relaxation, checks
from tests.conformance.samples import Ball, Entropy


@pytest.mark.parametrize("check", checks())
def test_checks_are_run_one_by_one_with_the_figures_of_a_full_run(check):
    (row,) = check_relaxation(rb.Capped(2), sizes=(3,), only=check).rows
    assert (row.check, row.m) == (check, 3)
    assert row.status == ("not claimed" if check == "curvature" else "passed")
    assert row.status == "not claimed" or row.comparisons > 0
    assert not row.figure > row.tolerance


def test_every_check_says_what_it_holds_f_to():
    assert len(checks()) >= 25
    for name, promise in checks().items():
        assert name.isidentifier()
        assert promise.endswith(".")
        assert "\n" not in promise


def test_a_check_tries_the_same_instances_whichever_others_run():
    together = check_relaxation(rb.Capped(2), sizes=(3, 17))
    for row in together.rows:
        alone = check_relaxation(rb.Capped(2), sizes=(row.m,), only=row.check).rows[0]
        assert repr(alone) == repr(row)
    other = check_relaxation(rb.Capped(2), sizes=(17,), seed=1, only="relaxed_margin").rows[0]
    assert other.figure != next(
        r.figure for r in together.rows if (r.check, r.m) == ("relaxed_margin", 17)
    )


def test_a_report_names_what_was_checked_as_it_is_written():
    ball = rb.NormBall(2, 1)
    assert check_relaxation(ball, sizes=(2,), only="repair").relaxation == repr(ball)
    made = check_relaxation(lambda m: rb.NormBall(2, 1), sizes=(2,), only="repair")
    assert made.relaxation == "NormBall"


def test_nothing_is_left_out_in_silence():
    report = check_relaxation(
        rb.Capped(3), sizes=(2, 4), only=["repair", "game"], skip="game", inadmissible=(2,)
    )
    assert [(r.check, r.m, r.status) for r in report.rows] == [
        ("repair", 2, "inadmissible"),
        ("game", 2, "inadmissible"),
        ("repair", 4, "passed"),
        ("game", 4, "skipped"),
    ]
    text = str(report)
    assert text.startswith("Capped(k=3) satisfies every property")
    assert text.count("inadmissible") == 2
    with pytest.raises(ConformanceError, match=r"m = 2 .*'resolve'") as caught:
        check_relaxation(rb.Capped(3), sizes=(2,), only="repair")
    assert caught.value.m == 2
    with pytest.raises(ConformanceError, match=r"resolve\(4\) raises InputError"):
        check_relaxation(rb.Capped(3), sizes=(4,), inadmissible=(4,))


class Greedy(rb.Capped):
    """Its lower bounds are too good."""

    def lower_bound(self, u, witness):
        return super().lower_bound(u, witness) + 0.125


def test_an_error_can_be_pasted_and_repeated():
    with pytest.raises(ConformanceError) as caught:
        check_relaxation(Greedy(2), sizes=(3,))
    error = caught.value
    assert isinstance(error, AssertionError)
    assert (error.check, error.m) == ("own_witness", 3)
    assert error.figure == pytest.approx(0.125)
    assert error.tolerance < 1e-13
    text = str(error)
    for part in ("Capped(k=2)", "m = 3", "property:  lower_bound", "violation: 0.125", "only="):
        assert part in text
    pasted = next(line for line in text.splitlines() if line.startswith("  u = "))
    assert np.array_equal(eval(pasted.removeprefix("  u = ")), error.instance["u"])
    value = Greedy(2).lower_bound(error.instance["u"], Greedy(2).witness(error.instance["u"]))
    assert value == error.instance["lower"]
    with pytest.raises(ConformanceError, match=r"<\(200,\), see \.instance>"):
        check_relaxation(Greedy(2), sizes=(200,), only="own_witness")


class Broken(rb.HardMargin):
    """Stops with an error of its own."""

    def conjugate(self, theta):
        raise ZeroDivisionError("by zero")


def test_an_exception_is_a_broken_promise_with_its_cause():
    with pytest.raises(ConformanceError, match="ZeroDivisionError: by zero") as caught:
        check_relaxation(Broken(), sizes=(2,), only="conjugate")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((rb.HardMargin,), {}, r"write HardMargin\(\.\.\.\)"),
        ((3,), {}, "needs a Relaxation"),
        ((lambda m: m,), {}, "returns a Relaxation, got 2"),
        ((rb.HardMargin(),), {"only": "nonsense"}, "no check is called 'nonsense'"),
        ((rb.HardMargin(),), {"skip": ["nonsense"]}, "no check is called 'nonsense'"),
        ((rb.HardMargin(),), {"sizes": (0,)}, "whole number >= 1"),
        ((rb.HardMargin(),), {"sizes": ()}, "at least one"),
        ((rb.HardMargin(),), {"sizes": 2}, r"sizes must be .* such as \(2,\), got 2"),
        ((rb.HardMargin(),), {"inadmissible": 2}, "inadmissible must be a sequence"),
    ],
)
def test_wrong_arguments(arguments, options, message):
    with pytest.raises(rb.InputError, match=message):
        check_relaxation(*arguments, **{"sizes": (2,), **options})


def test_a_relaxation_is_not_changed_by_being_checked():
    ball = Ball(0.8)
    check_relaxation(ball, sizes=(2,), only="penalty")
    assert ball == Ball(0.8)
    assert ball.key() == Ball(0.8).key()


class Weighted(Entropy):
    """Has a weight for each of 60 examples, and proved bounds."""

    def cvxpy_penalty(self, d):
        return cp.sum(cp.multiply(np.ones(60), d)), []


@pytest.mark.parametrize(
    ("f", "check", "remedy"),
    [
        (rb.Caps([0.1] * 60), "resolve", r"for 60 examples, so pass sizes=\(60,\)"),
        (Weighted(), "repair", r"failed on .* if f has .* pass sizes=\(60,\)"),
    ],
)
def test_a_relaxation_for_one_number_of_examples_names_its_size(f, check, remedy):
    with pytest.raises(ConformanceError, match=remedy):
        check_relaxation(f, only=check)
