"""Multiples, sums, shifts and dilations: against closed forms, and as relaxations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.intervals import Interval
from relaxboost.relaxations import LinearForm, Traits, Witness
from relaxboost.relaxations.affine import Dilated, Shifted
from relaxboost.relaxations.bounds import Bounds, level_of
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.multiples import Scaled
from relaxboost.relaxations.sums import Sum, SumWitness
from relaxboost.testing import check_relaxation

M = 5


@dataclass(frozen=True)
class Linear(rb.Relaxation, Bounds, Description):
    """f(d) = <cost, d>, at level exact: F_{f + g}(u) = F_g(u + cost) for every g."""

    cost: tuple[float, ...]

    @property
    def traits(self):
        return Traits(polyhedral=True)

    def penalty(self, d):
        return float(np.dot(self.cost, d))

    def conjugate(self, theta):
        return 0.0 if np.allclose(theta, self.cost, atol=1e-9) else math.inf

    def relaxed_margin(self, u):
        return rb.HardMargin().relaxed_margin(np.add(u, self.cost))

    def distribution(self, u, beta):
        return rb.HardMargin().distribution(np.add(u, self.cost), beta)

    def witness(self, u):
        return Witness(float((Interval(np.asarray(u)) + np.array(self.cost)).lower.min()))

    def lower_bound(self, u, witness):
        below = (Interval(np.asarray(u)) + np.array(self.cost)).lower.min()
        return witness.gamma if below >= witness.gamma else -math.inf

    def cvxpy_penalty(self, d):
        return np.array(self.cost) @ d, []

    def cvxpy_conjugate(self, x):
        return 0.0, [x == np.array(self.cost)]

    def linear_form(self, m):
        return LinearForm(np.array(self.cost), np.zeros(m), np.full(m, np.inf))

    def lipschitz(self, m):
        return float(np.abs(self.cost).max())

    def penalty_bound(self, d, total):
        return ((Interval(d) * np.array(self.cost)).sum() / Interval(*total)).up, 0.0


def half_square(d):
    return 0.5 * cp.sum_squares(d)


SQUARE = rb.Custom(half_square, traits=Traits(monotone=True, zero_minimum=True), name="square")
COST = (0.125, -0.25, 0.5, 0.0, 0.375)
SHIFT = np.array([0.1, -0.2, 0.3, 0.0, -0.1])
TERMS = [
    0.3 * rb.Capped(2),
    Fraction(1, 3) * SQUARE,
    0.7 * Linear(COST),
    rb.Capped(2) + Linear(COST),
    rb.Capped(Fraction(5, 2)) + 0.5 * SQUARE,
    SQUARE + Linear(COST) + rb.Capped(2),
    SQUARE.shifted(SHIFT),
    rb.Capped(2).shifted(0.125),
    rb.Capped(1.5).shifted(SHIFT),
    SQUARE.scaled(-2),
    rb.Capped(1).scaled(Fraction(5, 2)),
    0.5 * (rb.Capped(2) + SQUARE.scaled(2).shifted(-0.1)),
]


def exact_average(u, k):
    """Return AvgMin_k(u + cost), nothing rounded."""
    ordered = sorted(Fraction(x) + Fraction(c) for x, c in zip(u, COST, strict=True))
    whole = int(k)
    tail = (k - whole) * ordered[whole] if whole < k else 0
    return (sum(ordered[:whole]) + tail) / Fraction(k)


def test_sums_with_a_linear_function_are_proved_exactly(rng):
    """F(u) = AvgMin_k(u + cost), so that the rounded bounds can be held against a Fraction."""
    for k in (1, 2, Fraction(5, 2), 4):
        f = (rb.Capped(k) + Linear(COST)).resolve(M)
        assert level_of(f) == "exact"
        for _ in range(5):
            u = rng.uniform(-1, 1, M)
            truth = exact_average(u, k)
            bound = f.lower_bound(u, f.witness(u))
            assert Fraction(bound) <= truth
            assert truth - Fraction(bound) <= 1e-8
            d = f.distribution(u, 1e-3)
            value, distance = f.penalty_bound(d, (1.0 - 1e-15, 1.0 + 1e-15))
            assert value == pytest.approx(np.dot(COST, d), abs=1e-9)
            assert 0.0 <= distance <= 1e-9


def test_multiples_are_proved_as_what_they_are_multiples_of(rng):
    c = Fraction(1, 3)
    f = c * Linear(COST)
    assert level_of(f) == "exact"
    assert level_of(0.5 * SQUARE) == "numerical"
    for _ in range(100):
        u = rng.uniform(-1, 1, M)
        truth = min(Fraction(x) + c * Fraction(y) for x, y in zip(u, COST, strict=True))
        bound = f.lower_bound(u, f.witness(u))
        assert Fraction(bound) <= truth
        assert truth - Fraction(bound) <= Fraction(1, 10**14)
        d = rng.dirichlet(np.ones(M))
        value, _ = f.penalty_bound(d, (1.0, 1.0))
        exact = c * sum(Fraction(x) * Fraction(y) for x, y in zip(d, COST, strict=True))
        assert exact <= Fraction(value) <= exact + Fraction(1, 10**14)


def test_a_sum_of_indicators_finds_a_common_point():
    """Each term would move d for itself; the bound is at one point where both are finite."""

    class Box(rb.Capped):
        """A cap that does not fold."""

        def _plus(self, other):
            return None

    f = (Box(2) + Box(3)).resolve(4)
    assert isinstance(f, Sum)
    assert level_of(f) == "exact"
    d = np.array([0.5, 0.5, 0.0, 0.0])
    value, distance = f.penalty_bound(d, (1.0, 1.0))
    assert 0.0 <= value <= 1e-300
    assert distance >= 2 * (1 - 2 / 3) - 1e-12  # what lies above the cap 1/3 must move
    tight = (Box(4) + Box(3)).resolve(4)  # the uniform distribution only
    assert level_of(tight) == "exact"  # the cap 1/3 has room around it
    value, distance = tight.penalty_bound(np.full(4, 0.25), (1.0, 1.0))
    assert 0.0 <= value <= 1e-300
    assert distance <= 1e-12
    touching = (rb.relaxations.GroupCaps([0, 1], [0.75, 0.25]) + rb.Capped(Fraction(4, 3))).resolve(
        2
    )
    assert level_of(touching) == "numerical"  # (3/4, 1/4) is on the edge of both


@pytest.mark.parametrize(
    "f",
    [
        rb.Caps([0.5, 1, 0]).scaled(1),
        rb.Caps([0.5, 1, 0.2]).shifted([0, 0, 0.2]),
        rb.Caps([0.5, 1, 0]).scaled(1) + rb.NormPenalty(2, 1e-9),
    ],
)
def test_an_entry_that_must_be_zero_moves_no_other_entry(f):
    game = rb.Game([[0.5], [1], [-0.5]], f, over=rb.L2Ball(1))
    d = game.relaxation.repair(np.array([0.5, 0.5, 1e-10]))
    assert d == pytest.approx([0.5, 0.5, 0.0], abs=1e-8)
    assert game.bracket([0.5, 0.5, 1e-10], [1]) == pytest.approx((0.75, 0.75), abs=1e-8)
    assert rb.solve(game).status == "optimal"


def test_rules_in_closed_form():
    assert rb.HardMargin() + rb.Capped(2) == rb.Capped(2) == rb.Capped(2) + rb.HardMargin()
    assert rb.Capped(2) + rb.Capped(3) == rb.Capped(3)
    assert 3 * rb.HardMargin() == rb.HardMargin()
    assert 2 * (SQUARE * 0.5) == SQUARE
    assert (rb.Capped(fraction=0.5) + rb.Capped(2)).resolve(10) == rb.Capped(5)
    assert sum([SQUARE, rb.Capped(2)]) == SQUARE + rb.Capped(2)
    assert np.float64(0.5) * SQUARE == Scaled(SQUARE, Fraction(1, 2))
    assert rb.Game(np.eye(4), 0.5 * rb.Capped(fraction=0.5)).relaxation == 0.5 * rb.Capped(2)


def test_traits_follow_from_those_of_the_terms():
    capped, free = rb.Capped(2), Traits()
    assert (0.5 * capped).traits == capped.traits
    both = (SQUARE + capped).traits
    assert both.monotone
    assert both.zero_minimum
    assert (both.symmetric, both.zero_in_core, both.polyhedral) == (False, False, False)
    loose = rb.Custom(half_square, traits=Traits(zero_minimum=True))
    assert not (loose + capped).traits.zero_minimum  # their minima may be at different points
    assert capped.shifted(0.1).traits == free._replace(
        polyhedral=True, symmetric=True, zero_minimum=True
    )
    assert capped.shifted(SHIFT).traits == free._replace(zero_minimum=True)
    assert capped.scaled(2).traits == capped.traits
    assert not capped.scaled(-2).traits.polyhedral


def test_linear_forms_are_stacked(rng):
    u = rng.uniform(-1, 1, M)
    rows = LinearForm(  # f(d) = 2 max(d), with a variable of its own
        np.append(np.zeros(M), 2.0),
        np.append(np.zeros(M), -np.inf),
        np.full(M + 1, np.inf),
        np.hstack([np.eye(M), -np.ones((M, 1))]),
        np.full(M, -np.inf),
        np.zeros(M),
    )

    class Peak(rb.Relaxation, Description):
        @property
        def traits(self):
            return Traits(polyhedral=True)

        def cvxpy_penalty(self, d):
            return 2.0 * cp.max(d), []

        def linear_form(self, m):
            return rows

    for f in (
        Peak() + Linear(COST),
        Peak() + Peak(),
        0.5 * Peak() + rb.Capped(2),
        Peak().shifted(0.1) + Linear(COST).shifted(np.abs(SHIFT)),
        Peak().scaled(3).shifted(np.abs(SHIFT)),
    ):
        assert f.traits.polyhedral
        form = f.linear_form(M)
        z = cp.Variable(form.cost.size)
        inside = [cp.sum(z[:M]) == 1]
        for rows_, low, high in (
            (np.eye(form.cost.size), form.lower, form.upper),
            (form.rows, form.row_lower, form.row_upper),
        ):
            if rows_ is not None:
                some, more = np.isfinite(low), np.isfinite(high)
                inside += [(rows_ @ z)[some] >= low[some], (rows_ @ z)[more] <= high[more]]
        cost = form.cost + np.append(u, np.zeros(form.cost.size - M))
        value = cp.Problem(cp.Minimize(cost @ z), inside).solve("CLARABEL")
        assert value == pytest.approx(f.relaxed_margin(u)[0], abs=1e-6)


def test_keys_differ():
    keys = {f.resolve(M).key() for f in TERMS}
    assert len(keys) == len(TERMS)


def test_wrong_witnesses_prove_nothing():
    f = (SQUARE + rb.Capped(2)).resolve(M)
    good = f.witness(np.zeros(M))
    bad = SumWitness(0.0, np.full(M, math.nan), good.first, good.second)
    assert f.lower_bound(np.zeros(M), bad) == -math.inf
    far = SumWitness(0.0, np.full(M, 1e9), good.first, good.second)
    assert f.lower_bound(np.zeros(M), far) <= f.relaxed_margin(np.zeros(M))[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -1 * SQUARE, "needs c > 0"),
        (lambda: 0 * SQUARE, "needs c > 0"),
        (lambda: math.inf * SQUARE, "finite real number"),
        (lambda: SQUARE.scaled(0), "needs c != 0"),
        (lambda: SQUARE.scaled("x"), "finite real number"),
        (lambda: SQUARE.shifted([math.nan]), "finite numbers"),
        (lambda: SQUARE.shifted([[1.0]]), "finite numbers"),
        (lambda: SQUARE.shifted([1.0, 2.0]).resolve(3), "d0 has 2 entries for m = 3"),
        (lambda: rb.Capped(2).shifted(3).resolve(3), r"\+inf on the whole simplex"),
        (
            lambda: (rb.Capped(3) + rb.Custom(lambda d: (0, [d[0] >= 0.5]))).resolve(5),
            r"\+inf on the whole simplex",
        ),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(rb.InputError, match=message):
        make()


def test_other_operands_are_refused():
    for wrong in (lambda: SQUARE + "a", lambda: "a" * SQUARE, lambda: "a" + SQUARE):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: SQUARE + 1, lambda: 1 + SQUARE):
        with pytest.raises(rb.InputError, match="1 cannot be added to"):
            wrong()
    assert isinstance(SQUARE.shifted(1), Shifted)
    assert isinstance(SQUARE.scaled(1), Dilated)


# A shift of a set, and a multiple of a sum of a dilated and shifted term and a set.
@pytest.mark.parametrize("f", [TERMS[i] for i in (8, 11)], ids=repr)
def test_conformance(f):
    assert check_relaxation(f, (M,))


@pytest.mark.parametrize("c", [1e-3, 0.05, 2])
@pytest.mark.parametrize(
    "g",
    [rb.Capped(7), rb.CVaR(0.6), rb.HardMargin(), rb.relaxations.SpectralRisk([3, 9], [0.5, 0.5])],
    ids=repr,
)
def test_relative_entropy_beside_another_term_takes_no_solver(g, c, rng, monkeypatch):
    """Against cvxpy, both ways round, also where margins are far apart."""
    m = 20
    truth = {}
    margins = [rng.uniform(-1, 1, m), np.zeros(m), 50.0 * rng.normal(size=m)]
    for i, u in enumerate(margins):
        truth[i] = rb.Relaxation.relaxed_margin((g + rb.KLPenalty(c)).resolve(m), u)[0]
    pair = (g + rb.KLPenalty(c)).resolve(m), (rb.KLPenalty(c) + g).resolve(m)
    monkeypatch.setattr("relaxboost.relaxations.compiled.solve_problem", None)
    for f in pair:
        for i, u in enumerate(margins):
            value, d = f.relaxed_margin(u)
            assert value == pytest.approx(truth[i], rel=1e-7, abs=1e-7)
            assert value == pytest.approx(d @ u + f.penalty(d))
            lower = f.lower_bound(u, f.witness(u))
            assert value - 1e-9 * (1.0 + abs(value)) <= lower <= value + 1e-13 * (1.0 + abs(value))


@pytest.mark.parametrize("c", [1, 1.0, Fraction(1, 2), np.float64(1), np.int64(1)])
@pytest.mark.parametrize("f", [rb.Capped(3), rb.Capped(3) + rb.KLPenalty(1)])
def test_a_constant_cannot_be_added(f, c):
    for add in (lambda: f + c, lambda: c + f):
        with pytest.raises(rb.InputError, match=rf"^{c} cannot be added .*, and add {c} to the bo"):
            add()
    assert f + 0 == 0 + f == f
