"""SS09 Thm 7, Lemma 8, Appendix B; and the counterexamples to its Examples 1 and 2."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.claims import check_conditions, hinge_form
from relaxboost.relaxations import Traits

MADE_OF_OTHERS = {
    "sum": lambda rng, m: rb.Capped(rng.uniform(1, m)) + rb.NormPenalty(2, rng.uniform(0.1, 2)),
    "multiple": lambda rng, m: float(rng.uniform(0.1, 3)) * rb.Capped(float(rng.uniform(1, m))),
    "dilation": lambda rng, m: rb.Capped(float(rng.uniform(1, m))).scaled(rng.uniform(0.1, 0.9)),
}
"""Makers of a random relaxation on m examples whose traits claim all three conditions.

`test_theorems` has the families by themselves.
"""


def crooked(d):
    """A norm that is not orthant-monotonic."""
    return cp.maximum(2 * cp.abs(d[0] - d[1]), cp.abs(d[0] + d[1]) / 2)


COUNTEREXAMPLES = {
    "Example 1": (lambda d: (0.0, [crooked(d) <= 1]), 0.0, 1 / 4),
    "Example 2": (crooked, 4 / 5, 7 / 8),
}


@pytest.mark.parametrize("name", MADE_OF_OTHERS)
def test_theorem_7_and_lemma_8_on_random_instances(name, rng):
    """The margin side of Thm 7 at w is F(Aw), never above the edge side at any d."""
    for _ in range(10 if name == "sum" else 40):  # a sum takes a cone program at each step
        m, n = (int(k) for k in rng.integers(2, 7, 2))
        f = MADE_OF_OTHERS[name](rng, m).resolve(m)
        if name == "dilation":  # some leave nothing of the simplex
            assert math.isfinite(f.penalty(np.full(m, 1 / m)))
        A = rng.choice([-1.0, 1.0], (m, n)) if rng.random() < 0.5 else rng.uniform(-1, 1, (m, n))
        w = rng.dirichlet(np.ones(n)) * rng.choice([-1, 1], n)
        u = A @ w
        value, d = f.relaxed_margin(u)
        # Lemma 8: no γ gives more than F(u), and that of the witness gives it. A little less is
        # tried too, for an f* that is infinite just beyond it.
        best = f.witness(u).gamma - np.array([0.0, 1e-10, 1e-8])
        hinge = [g - f.conjugate(np.maximum(g - u, 0.0)) for g in (*best, *u, u.mean())]
        assert max(hinge) == pytest.approx(value, abs=1e-7)
        for other in (d, np.full(m, 1 / m), f.repair(rng.dirichlet(np.ones(m)))):
            assert value <= f.penalty(other) + np.abs(A.T @ other).max() + 1e-7


@pytest.mark.parametrize("name", MADE_OF_OTHERS)
def test_theorem_7_at_the_optimum(name, rng):
    for _ in range(3):
        m = int(rng.integers(2, 6))
        game = rb.Game(rng.uniform(-1, 1, (m, 4)), MADE_OF_OTHERS[name](rng, m))
        solution = rb.reference(game)
        assert solution.gap <= 1e-6
        assert hinge_form(game.relaxation, solution.margins) == pytest.approx(
            solution.lower, abs=2e-6
        )


@pytest.mark.parametrize(("f", "margin", "edge"), COUNTEREXAMPLES.values(), ids=COUNTEREXAMPLES)
def test_examples_1_and_2_fail_for_norms_that_are_not_orthant_monotonic(f, margin, edge):
    """A = [[0], [1]]: the hinge form of the paper misses ρ; F(Aw) does not, without Thm 7."""
    game = rb.Game(np.array([[0.0], [1.0]]), rb.Custom(f))
    reference = rb.reference(game)
    assert (reference.lower, reference.upper) == pytest.approx((edge, edge), abs=1e-6)
    assert rb.compare(reference, rb.solve(game, tol=0.01))
    hinge = [hinge_form(game.relaxation, np.array([0.0, w])) for w in np.linspace(-1, 1, 21)]
    assert max(hinge) == pytest.approx(margin, abs=1e-5)
    conditions = check_conditions(game.relaxation, 2)
    assert [c.verdict for c in conditions] == ["holds", "holds", "fails"]
    assert not conditions.ok
    _confirm(game.relaxation, conditions.monotone.witness)


def _confirm(f, violation):
    """Evaluate a witness once more, on both sides."""
    shrunk = violation.theta.copy()
    shrunk[violation.i] *= 1.0 - violation.alpha
    assert f.conjugate(violation.theta) < f.conjugate(shrunk) - 1e-7
    d = violation.d.copy()
    d[violation.i] = 0.0
    assert f.penalty(violation.d) < f.penalty(d) - 1e-7


HOLD = {
    "square": lambda d: 0.5 * cp.sum_squares(d),
    "ball": lambda d: (0.0, [cp.norm(d, 3) <= 0.9]),
    "weighted cap": lambda d: (0.0, [cp.abs(d) <= np.linspace(0.3, 0.6, d.size)]),
    "groups": lambda d: cp.norm2(d[:2]) + cp.norm_inf(d[1:]),
    "orthant": lambda d: (cp.norm2(d), [d >= 0]),
}


@pytest.mark.parametrize("name", ["ball", "groups", "orthant"])
def test_nothing_is_found_where_there_is_nothing(name):
    assert check_conditions(rb.Custom(HOLD[name]), 3).monotone.verdict == "undecided"


@pytest.mark.parametrize("strength", [0.5, 0.05])
def test_weak_couplings_between_two_of_many_are_found(strength):
    """f = ½ d·M d has (iii) only for diagonal M."""
    M = np.eye(8)
    M[2, 5] = M[5, 2] = strength
    f = rb.Custom(lambda d: 0.5 * cp.quad_form(d, M)).resolve(8)
    found = check_conditions(f, 8).monotone
    assert found.verdict == "fails"
    _confirm(f, found.witness)


def test_each_condition_fails_with_a_witness():
    cases = {
        "one too high": (lambda d: cp.norm2(d) + 1, "minimum"),
        "below zero": (lambda d: cp.norm2(d - 1) - 3, "minimum"),
        "no bound": (cp.sum, "minimum"),
        "half space": (lambda d: (0.0, [d >= 0]), "core"),
        "off the origin": (lambda d: (0.0, [cp.sum(d) >= 0.5]), "core"),
        "slanted": (lambda d: (0.0, [d[0] + d[1] <= 0.5]), "monotone"),
    }
    for name, (function, condition) in cases.items():
        f = rb.Custom(function).resolve(3)
        conditions = check_conditions(f, 3)
        failed = getattr(conditions, condition)
        assert failed.verdict == "fails", name
        if condition == "monotone":
            _confirm(f, failed.witness)
        elif condition == "core":
            assert f.penalty(1e-5 * failed.witness) == math.inf
        elif name == "one too high":
            assert failed.witness == pytest.approx(1.0)
        else:
            assert f.penalty(failed.witness) < -0.1


def test_declarations_are_attacked():
    everything = Traits(monotone=True, zero_minimum=True, zero_in_core=True)
    conditions = check_conditions(rb.Custom(crooked, traits=everything), 2)
    assert conditions.monotone.verdict == "fails"
    assert "though declared by the user" in conditions.monotone.reason
    honest = check_conditions(rb.Custom(HOLD["square"], traits=everything), 3)
    assert honest.monotone.verdict == "declared"
    assert "points searched" in honest.monotone.reason
    assert honest.ok

    class Mine(rb.Capped):
        """A user's subclass inherits claims, not theorems."""

    assert check_conditions(Mine(2), 3).monotone.verdict == "declared"


def test_calculus_keeps_what_it_may_and_refutes_the_rest():
    held = check_conditions(0.5 * rb.Capped(2) + rb.Capped(1).scaled(-2), 4)
    assert [c.verdict for c in held] == ["holds"] * 3
    assert "follows from its terms" in str(held)
    mixed = check_conditions(rb.Capped(2) + rb.Custom(HOLD["square"]), 4)
    assert mixed.monotone.verdict == "undecided"
    shifted = (rb.Capped(2) + rb.Capped(3).scaled(2)).shifted(-0.2).resolve(4)
    found = check_conditions(shifted, 4)
    assert found.core.verdict == "fails"  # |d − 0.2| <= 1/6 leaves out 0
    assert found.monotone.verdict == "fails"
    _confirm(shifted, found.monotone.witness)
    assert not math.isfinite(rb.Capped(3).scaled(2).penalty(shifted.center(4)))  # needs the shift


def test_it_is_deterministic_and_prints_a_table():
    conditions = check_conditions(rb.Custom(crooked), 2, seed=3)
    again = check_conditions(rb.Custom(crooked), 2, seed=3)
    assert str(conditions) == str(again)
    lines = str(conditions).split("\n")
    assert [line.split()[0] for line in lines] == ["(i)", "(ii)", "(iii)"]
    assert "fails" in lines[2]
    with pytest.raises(rb.InputError, match="must be a Relaxation"):
        check_conditions(rb.Capped, 3)
    with pytest.raises(rb.InputError, match="m must be a whole number"):
        check_conditions(rb.Capped(2), 0)


def test_the_dilation_of_a_cap_is_a_cap(rng):
    """|c d_i| <= 1/k is |d_i| <= 1/(c k), so that closed forms check the numerical ones."""
    f, twin = rb.Capped(2).scaled(Fraction(1, 2)).resolve(4), rb.Capped(1)
    u = rng.uniform(-1, 1, 4)
    assert f.relaxed_margin(u)[0] == pytest.approx(twin.relaxed_margin(u)[0], abs=1e-8)
    assert f.conjugate(u) == pytest.approx(twin.conjugate(u))
