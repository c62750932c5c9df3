"""The game: validation, digest, the cvxpy pair and its multipliers."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import relaxboost as rb

A = np.array([[0.5, 0.9], [-0.7, 0.3]])


def test_value_by_hand():
    """min over d of max(|.5 d1 − .7 d2|, .9 d1 + .3 d2): at d1 = 2/9 the two are 13/30."""
    assert Fraction(9 * 2 + 3 * 7, 90) == Fraction(13, 30)
    game = rb.Game(A)
    assert game.primal().solve(solver="HIGHS") == pytest.approx(13 / 30, abs=1e-9)
    lower, upper = game.bracket([2 / 9, 7 / 9], [-1 / 3, 2 / 3])
    assert lower <= 13 / 30 <= upper
    assert upper - lower <= 1e-14


@pytest.mark.parametrize("relaxation", [rb.HardMargin(), rb.Capped(1.5), rb.Capped(3)])
@pytest.mark.parametrize("sparse", [False, True])
def test_primal_and_dual_are_strong_duals_with_the_documented_multipliers(relaxation, sparse, rng):
    matrix = rng.uniform(-1, 1, (5, 4))
    game = rb.Game(sp.csr_array(matrix) if sparse else matrix, relaxation)
    primal, dual = game.primal(), game.dual()
    assert primal.value is None  # declared, not solved
    assert set(primal.var_dict) == {"d", "v"}
    assert {"w", "u", "gamma"} <= set(dual.var_dict)
    assert primal.solve(solver="CLARABEL") == pytest.approx(dual.solve(solver="CLARABEL"), abs=1e-7)
    d = dual.constraints[0].dual_value
    assert d.min() >= 0.0
    assert d.sum() == pytest.approx(1.0, abs=1e-6)
    w = primal.constraints[0].dual_value - primal.constraints[1].dual_value
    lower, upper = game.bracket(d, w)  # the multipliers alone prove the optimum
    assert lower <= primal.value + 1e-7
    assert upper >= primal.value - 1e-7
    assert upper - lower <= 1e-5


def test_identity():
    game = rb.Game(A, rb.Capped(fraction=0.75))
    assert (game.m, game.n, game.relaxation) == (2, 2, rb.Capped(1.5))
    assert game.digest == rb.Game(A.tolist(), rb.Capped(Fraction(3, 2))).digest
    assert game.digest == rb.Game(sp.csc_array(A), rb.Capped(1.5)).digest
    others = [rb.Game(A), rb.Game(A.T, rb.Capped(1.5)), rb.Game(A, rb.Capped(1.25))]
    assert len({game.digest, *(g.digest for g in others)}) == 4
    assert repr(game) == "Game(DenseMatrix(2 examples, 2 hypotheses), Capped(k=1.5))"
    assert rb.Game(A).relaxation == rb.HardMargin()


def test_digests_are_pinned():
    """A digest that changes breaks files that carry it."""
    assert rb.Game(A).digest.startswith("ae28e3f4d34a17c7")
    assert rb.Game(A, rb.Capped(1.5)).digest.startswith("8f3cc2d16fce8f7b")


def test_bracket_takes_weights_in_both_forms():
    game = rb.Game(A, rb.Capped(1.5))
    dense = game.bracket([0.5, 0.5], [0.0, 0.75])
    assert game.bracket([0.5, 0.5], ([1], [0.75])) == dense
    assert game.bracket([0.5, 0.5], ([], []))[0] == 0.0


@pytest.mark.parametrize(
    ("d", "w", "message"),
    [
        ([1.0], [1, 0], r"d must have shape \(2,\), with .*, got \(1,\)"),
        ([1.0, 1.0, 1.0], [1, 0], r"d must have shape \(2,\), with .*, got \(3,\)"),
        ([0.0, -1.0], [1, 0], "no positive entry; negate d if its entries are negative"),
        ([1.0, math.nan], [1, 0], "nan or infinite"),
        ([0.5, 0.5], [1.0], r"w must have shape \(2,\), with .*, got \(1,\)"),
        ([0.5, 0.5], [1.0, math.inf], "w has entries that are nan or infinite"),
        ([0.5, 0.5], ([0, 1], [1.0]), "two vectors of the same length"),
        ([0.5, 0.5], ([2], [1.0]), r"support contains columns outside 0\.\.1"),
        ([0.5, 0.5], ([-1], [1.0]), r"support contains columns outside 0\.\.1"),
        ([0.5, 0.5], ([0.7], [1.0]), "support must contain column numbers, got dtype float64"),
        ([0.5, 0.5], ([True], [1.0]), "support must contain column numbers, got dtype bool"),
        ([0.5, 0.5], ([0, 1],), r"w as a tuple must be \(support, coefficients\)"),
        ("ab", [1, 0], "d must be a vector of numbers"),
        ([0.5, 0.5j], [1, 0], "d must be a vector of numbers, got dtype complex128"),
        ([0.5, 0.5], ["a", "b"], r"w must be a vector of numbers, got w\[0\] = a"),
        ([0.5, None], [1, 0], r"d must be a vector of numbers, got d\[1\] = None"),
        ([0.5, [0.5]], [1, 0], r"d must be a vector of numbers, got \[0.5, \[0.5\]\]"),
        (None, [1, 0], "d is None; a cvxpy variable has a value only after its problem"),
    ],
)
def test_pairs_that_cannot_be_repaired(d, w, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(A).bracket(d, w)


def test_numbers_of_any_kind_are_points():
    game = rb.Game(A)
    shown = game.bracket([0.25, 0.75], [0.5, 0.5])
    fractions = np.array([Fraction(1, 4), Fraction(3, 4)], dtype=object)
    assert game.bracket(fractions, (0.5, 0.5)) == shown
    assert game.bracket((0.25, 0.75), [Fraction(1, 2), Fraction(1, 2)]) == shown


@pytest.mark.parametrize(
    ("relaxation", "message"),
    [
        (rb.Capped(3), r"Capped\(k=3\) needs 1 <= k <= m, but this game has m = 2 examples"),
        (rb.Capped, r"write Capped\(...\)"),
        (
            "capped",
            r"or an instance of a subclass of Relaxation, got 'capped'; write Capped\(k=3\)",
        ),
        (2, "must be one of relaxboost's"),
    ],
)
def test_wrong_relaxations(relaxation, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(A, relaxation)


def test_solutions_and_comparisons():
    game = rb.Game(A)
    one, two = rb.solve(game, 1e-6), rb.reference(game)
    verdict = rb.compare(one, two)
    assert verdict
    assert verdict.agree is True
    assert max(one.lower, two.lower) == verdict.lower <= 13 / 30 <= verdict.upper
    assert str(verdict).startswith("auto (interior) and reference (HIGHS) agree: 0.4333")
    assert one.hypotheses() == [(pytest.approx(2 / 3), "h1"), (pytest.approx(1 / 3), "-h0")]
    assert one.hypotheses(1) == one.hypotheses()[:1]
    assert one.w == pytest.approx([-1 / 3, 2 / 3])
    assert one.gamma == pytest.approx(13 / 30)
    with pytest.raises(rb.InputError, match="at least two"):
        rb.compare(one)
    for other, part in (
        (rb.Game(A.T), "A"),
        (rb.Game(A, rb.Caps([1.0, 1.0])), "f"),
        (rb.Game(A, over=rb.Simplex()), "over"),
        (rb.Game(A.T, over=rb.Simplex()), "A and over"),
    ):
        with pytest.raises(
            rb.InputError, match=rf"different digests, .* differ in {part}; .* the same {part}"
        ):
            rb.compare(one, 0.4, one, rb.solve(other))


def test_a_false_bracket_is_called_a_disagreement():
    from dataclasses import replace

    game = rb.Game(A)
    honest = rb.solve(game, 1e-6)
    liar = replace(honest, lower=0.9, upper=0.95, method="liar")
    verdict = rb.compare(honest, liar)
    assert not verdict
    assert str(verdict).startswith("DISAGREE: liar proves rho >= 0.9, auto (interior)")


def test_solutions_are_compared_with_numbers():
    solution = rb.solve(rb.Game(A), 1e-6)
    for value in (13 / 30, Fraction(13, 30), np.float64(13 / 30)):
        verdict = rb.compare(solution, value)
        assert verdict
        assert verdict.lower <= 13 / 30 <= verdict.upper
        bracket = str(solution).removeprefix("optimal: ")
        assert f"agree: {bracket} (width" in str(verdict)
        assert str(verdict).endswith("do not use the plain number, which proves nothing")
    assert "plain number" not in str(rb.compare(solution, solution))
    assert str(rb.compare(0.433, solution)).startswith(
        "DISAGREE: auto (interior) proves rho >= 0.43333"
    )
    assert "the value 0.5 says rho >= 0.5" in str(rb.compare(solution, 0.5))
    one = rb.solve(rb.Game(np.ones((2, 1))), 1e-6)
    for same in (1, 1.0, np.int64(1), np.float32(1)):
        assert rb.compare(one, same)
    assert not rb.compare(one, Fraction(10**9 + 1, 10**9))
    # Below a power of two, doubles are twice as dense.
    assert not rb.compare(one, 1.0, Fraction(math.nextafter(1.0, 0.0)))
    assert rb.compare(one, 1.0, Fraction(1) - Fraction(1, 2**54))
    with pytest.raises(rb.InputError, match="at least two brackets"):
        rb.compare(0.3, 0.3)
    for wrong in (True, float("nan"), "0.3", None, solution.game, 10**400):
        with pytest.raises(rb.InputError, match="certified games or finite numbers, got"):
            rb.compare(solution, wrong)


def test_keys_of_own_relaxations_tell_them_apart():
    """The digest sees every parameter exactly, however long its repr would be."""
    from dataclasses import dataclass
    from typing import Any

    @dataclass(frozen=True)
    class Own(rb.HardMargin):
        weights: Any = None

    large = np.arange(5000.0)
    other = large.copy()
    other[2500] += 1e-9
    keys = {Own(large).key(), Own(other).key(), Own(2).key(), Own(2.5).key(), Own("a").key()}
    assert len(keys) == 5
    assert Own(Fraction(1, 3)).key() == Own(Fraction(1, 3)).key()
    assert Own(2).key() == Own(2.0).key()
    assert rb.Game(A, Own()).digest != rb.Game(A).digest
    with pytest.raises(rb.InputError, match="to an exact string; override key"):
        Own(object()).key()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rho", "a Solution has no 'rho'; rho lies between its lower and upper$"),
        ("weights", "w has those of the hypotheses, d those of the examples"),
        ("nonsense", "'Solution' object has no attribute 'nonsense'$"),
    ],
)
def test_a_solution_says_what_a_name_is_called_here(name, said):
    solution = rb.solve(rb.Game(A))
    with pytest.raises(AttributeError, match=said):
        getattr(solution, name)
    assert not hasattr(pickle.loads(pickle.dumps(solution)), name)


def test_what_a_property_of_a_solution_raises_is_seen(monkeypatch):
    solution = rb.solve(rb.Game(A))
    monkeypatch.delattr(rb.matrices.MarginMatrix, "margins")
    with pytest.raises(AttributeError, match="'DenseMatrix' object has no attribute 'margins'"):
        _ = solution.margins
