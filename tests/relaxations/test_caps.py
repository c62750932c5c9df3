"""Caps, equal, for examples or for groups, and CVaR: every method against its definition."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import relaxboost as rb
from relaxboost import Capped, Caps, CVaR, HardMargin
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations import GroupCaps, Witness
from relaxboost.testing import check_relaxation

margins = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, 0.25, -1.0, 1.0]))
some_caps = st.one_of(
    st.floats(0, 2), st.sampled_from([0, 1, 5, 0.1, 1e-9, 1e-300, Fraction(1, 3), Fraction(2, 7)])
)
EVERY = (HardMargin, Capped, Caps, GroupCaps)
doubts = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 1 / 3, 1e-17, 5e-324, 1.0]))


@st.composite
def cases(draw, kinds=(Caps, GroupCaps), size=9):
    """Return (u, f) with caps that may sum to one exactly."""
    u = draw(hnp.arrays(np.float64, st.integers(1, size), elements=margins))
    m, kind = u.size, draw(st.sampled_from(kinds))
    if kind is HardMargin:
        return u, HardMargin()
    if kind is Capped:
        k = st.one_of(st.integers(1, m), st.floats(1, m), st.just(Fraction(m + 2, 3)))
        return u, Capped(draw(k))
    if kind is Caps:
        return u, Caps(feasible(draw, draw(st.lists(some_caps, min_size=m, max_size=m))))
    labels = draw(st.lists(st.integers(-1, 3), min_size=m, max_size=m))
    used = sorted(set(labels) - {-1})
    caps = draw(st.lists(some_caps, min_size=len(used), max_size=len(used)))
    if -1 not in labels:
        caps = feasible(draw, caps)
    return u, GroupCaps(labels, dict(zip(used, caps, strict=True)))


def feasible(draw, caps):
    """Return the caps with what is missing to a sum of one, and sometimes a little more."""
    caps = [Fraction(c) for c in caps]
    spare = draw(st.sampled_from([Fraction(0), Fraction(1, 10**17), Fraction(1, 3)]))
    if sum(caps) < 1:
        caps[draw(st.integers(0, len(caps) - 1))] += 1 - sum(caps) + spare
    return caps


def units(f, m):
    """Return [(cap, examples)], a free example being alone with cap 1."""
    if isinstance(f, HardMargin | Capped):
        return [(1 / Fraction(getattr(f, "k", 1)), [i]) for i in range(m)]
    if isinstance(f, Caps):
        return [(c, [i]) for i, c in enumerate(f.caps)]
    grouped = [(c, [i for i, h in enumerate(f.groups) if h == g]) for g, c in f.caps]
    return grouped + [(Fraction(1), [i]) for i, g in enumerate(f.groups) if g == -1]


def exact_margin(u, f):
    """Return F(u) as a Fraction: fill the caps from the smallest margin upwards."""
    rest, total = Fraction(1), Fraction(0)
    for least, c in sorted((Fraction(float(min(u[i] for i in g))), c) for c, g in units(f, u.size)):
        total += min(c, rest) * least
        rest -= min(c, rest)
    assert rest == 0
    return total


@settings(max_examples=66)
@given(cases(EVERY, 12))
def test_relaxed_margin_is_the_greedy_filling(case):
    u, f = case
    value, d = f.relaxed_margin(u)
    assert value == pytest.approx(float(exact_margin(u, f)), abs=1e-14)
    assert d.min() >= 0.0
    assert d.sum() == pytest.approx(1.0, abs=1e-14)
    assert f.penalty(d) == 0.0
    assert d @ u == pytest.approx(value, abs=1e-14)


@settings(max_examples=133)
@given(cases(EVERY, 12), st.floats(-3, 3))
def test_every_witness_proves_a_lower_bound_and_its_own_is_tight(case, gamma):
    u, f = case
    exact = exact_margin(u, f)
    assert f.lower_bound(u, Witness(gamma)) <= exact
    best = f.lower_bound(u, f.witness(u))
    assert Fraction(best) <= exact
    assert exact - Fraction(best) <= Fraction(1, 10**14)


@pytest.mark.parametrize("gamma", [math.nan, math.inf, -math.inf, 1.7e308])
def test_useless_witnesses_prove_nothing(gamma):
    u = np.array([0.5, 0.25, -0.75])
    for f in (Caps([1, 2, 10**400]), GroupCaps([0, 0, 1], [10**400, 3])):
        assert f.lower_bound(u, Witness(gamma)) <= -1e300
        assert f.lower_bound(u, f.witness(u)) == -0.75


def near_points(draw, f, m):
    """Return a d >= 0 that is feasible, nearly so, or not at all."""
    d = draw(hnp.arrays(np.float64, m, elements=doubts).filter(lambda d: d.max() > 1e-9))
    d = [d / d.sum(), f.repair(d), f.relaxed_margin(d)[1]][draw(st.integers(0, 2))]
    for _ in range(draw(st.integers(0, 3))):
        i = draw(st.integers(0, m - 1))
        d[i] = np.nextafter(d[i], draw(st.sampled_from([0.0, 1.0])))
    return d


@settings(max_examples=166)  # fractions are slow, and games of six have few shapes
@given(st.data())
def test_penalty_bound_in_exact_arithmetic(data):
    """A feasible point lies within the distance: its least value is twice the excess."""
    u, f = data.draw(cases(EVERY, 6))
    d = near_points(data.draw, f, u.size)
    value, distance = f.penalty_bound(d, sum_bounds(d))
    exact = [Fraction(x) for x in d.tolist()]
    total = sum(exact)
    beyond = [sum(exact[i] for i in g) / total - c for c, g in units(f, u.size)]
    excess = sum(max(x, Fraction(0)) for x in beyond)
    assert value == 0.0
    assert 2 * excess <= Fraction(distance)
    assert Fraction(distance) <= 2 * excess + Fraction(1, 10**14)
    # A bound at every point within 0 of d is one at d, whose caps have no tolerance.
    if not isinstance(f, HardMargin):
        near = f.penalty_near(d, sum_bounds(d), 0.0)
        assert near == math.inf or excess == 0
        assert near == 0.0 or max(beyond) > -Fraction(1, 10**14)


@settings(max_examples=100)
@given(st.data())
def test_repair_gives_a_feasible_point_and_keeps_a_feasible_one(data):
    u, f = data.draw(cases())
    d = f.repair(near_points(data.draw, f, u.size) * data.draw(st.sampled_from([1.0, 1e300])))
    assert d.min() >= 0.0
    assert d.sum() == pytest.approx(1.0, abs=1e-14)
    assert f.penalty(d) == 0.0
    assert np.abs(f.repair(d) - d).max() <= 1e-15
    assert f.penalty_bound(d, sum_bounds(d))[1] <= 1e-14


@given(cases())
def test_entropy_range_is_attained_and_the_center_is_feasible(case):
    u, f = case
    m = u.size

    def negentropy(p):
        return sum(x * math.log(x) for x in p.tolist() if x > 0)

    center = f.center(m)
    assert f.penalty(center) == 0.0
    assert center.sum() == pytest.approx(1.0, abs=1e-14)
    for d in (f.relaxed_margin(u)[1], f.relaxed_margin(-u)[1], f.repair(u + 2.0)):
        assert negentropy(d) - negentropy(center) <= f.entropy_range(m) + 1e-12
    sizes = [-float(c) for c, _ in units(f, m)]  # fill the largest caps first
    unit_of = {i: k for k, (_, g) in enumerate(units(f, u.size)) for i in g}
    vertex = f.relaxed_margin(np.array([sizes[unit_of[i]] for i in range(m)]))[1]
    spread = negentropy(vertex) - negentropy(center)
    assert spread == pytest.approx(f.entropy_range(m), abs=1e-12)


@given(cases(kinds=(Caps,)), st.sampled_from([1e-300, 1e-3, 1.0]))
def test_singleton_groups_are_caps_and_a_group_of_all_is_free(case, beta):
    u, f = case
    single = GroupCaps(list(range(u.size)), f.caps)
    assert single.relaxed_margin(u)[0] == f.relaxed_margin(u)[0]
    assert np.array_equal(single.relaxed_margin(u)[1], f.relaxed_margin(u)[1])
    assert single.lower_bound(u, single.witness(u)) == f.lower_bound(u, f.witness(u))
    assert np.abs(single.distribution(u, beta) - f.distribution(u, beta)).max() <= 1e-15
    hard = HardMargin()
    for free in (GroupCaps([7] * u.size, 1), GroupCaps([-1] * u.size, {}), Caps(1).resolve(u.size)):
        assert free.relaxed_margin(u)[0] == hard.relaxed_margin(u)[0]
        assert np.array_equal(free.relaxed_margin(u)[1], hard.relaxed_margin(u)[1])
        assert free.lower_bound(u, free.witness(u)) == u.min()
        assert free.distribution(u, beta) == pytest.approx(hard.distribution(u, beta), abs=1e-15)
        assert free.entropy_range(u.size) == pytest.approx(math.log(u.size), abs=1e-14)


@given(hnp.arrays(np.float64, st.integers(1, 12), elements=margins), st.data())
def test_equal_caps_are_capped(u, data):
    k = data.draw(st.sampled_from([1, u.size, Fraction(u.size + 2, 3), (u.size + 1) / 2]))
    ours, f = Caps(1 / Fraction(k)).resolve(u.size), Capped(k)
    assert ours.relaxed_margin(u)[0] == pytest.approx(f.relaxed_margin(u)[0], abs=1e-14)
    assert ours.relaxed_margin(u)[1] == pytest.approx(f.relaxed_margin(u)[1], abs=1e-14)
    assert ours.witness(u) == f.witness(u)
    assert ours.distribution(u, 0.1) == pytest.approx(f.distribution(u, 0.1), abs=1e-14)
    assert ours.traits == f.traits
    assert ours.conjugate(u) == pytest.approx(f.conjugate(u), abs=1e-14)


def exact_cvar(losses, alpha):
    """Return min over t of t + E[loss − t]_+ / (1 − α), attained at one of the losses."""
    losses = [Fraction(x) for x in losses]
    return min(t + sum(max(x - t, 0) for x in losses) / (len(losses) * (1 - alpha)) for t in losses)


def test_capped_is_exact_at_ties():
    u = np.array([0.5, -0.25, 0.5, -0.25, -0.25, 1.0, -0.25])
    for k in (1, 2, Fraction(5, 2), 3, 4, Fraction(9, 2), 6, 7):
        for f in (Capped(k), CVaR(1 - Fraction(k) / 7).resolve(7)):
            worst = exact_cvar((-u).tolist(), 1 - Fraction(k) / 7)
            value, d = f.relaxed_margin(u)
            assert value == pytest.approx(float(-worst), abs=1e-15)
            assert Fraction(f.lower_bound(u, f.witness(u))) <= -worst
            assert d.max() <= f.cap  # the tie is shared, no weight breaks the cap
            assert d @ u == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("alpha", [0, 0.5, 0.9, Fraction(1, 3), 0.95])
def test_cvar_is_the_mean_of_the_worst_share(alpha, rng):
    u = rng.uniform(-1, 1, 40)
    f = CVaR(alpha).resolve(40)
    value = f.relaxed_margin(u)[0]
    assert value == pytest.approx(-cp.cvar(-u, float(alpha)).value, abs=1e-12)
    if alpha != Fraction(1, 3):
        assert f.k == 40 * (1 - Fraction(str(alpha)))  # a float means the decimal it prints as
        assert value == pytest.approx(np.sort(u)[: int(f.k)].mean(), abs=1e-15)
    assert f == Capped(fraction=1 - Fraction(str(alpha))).resolve(40)


def test_cvar_takes_a_level_only():
    assert repr(CVaR(0.95)) == "CVaR(0.95)"
    near_one = 1 - Fraction(1, 10**20)
    for alpha in (0, 0.9, 0.6, 0.1 + 0.2, Fraction(1, 3), Fraction(1, 2), Fraction(3, 5), near_one):
        assert eval(repr(CVaR(alpha))) == CVaR(alpha)
    assert CVaR(0.9).key() == Capped(fraction=0.1).key()
    assert pickle.loads(pickle.dumps(CVaR(0.9))) == CVaR(0.9)
    assert CVaR(0.9).alpha == Fraction(9, 10)
    for wrong in (1, 1.5, -0.1, 10):
        with pytest.raises(rb.InputError, match=r"needs 0 <= alpha < 1.*Capped\(k\)"):
            CVaR(wrong)
    with pytest.raises(rb.InputError, match="alpha to be a finite real number"):
        CVaR("0.9")
    with pytest.raises(TypeError):
        CVaR(k=3)
    with pytest.raises(rb.InputError, match=r"CVaR\(0.95\) gives k = 0.5"):
        CVaR(0.95).resolve(10)


@pytest.mark.parametrize(
    "f", [Caps([0, 2, 0.25, 0.25]), GroupCaps([0, 0, 3, -1], 0.25), GroupCaps([-1] * 4, {})]
)
def test_caps_of_zero_and_examples_without_conform(f):
    assert check_relaxation(f, (4,))


def test_only_one_point_is_left_when_the_caps_sum_to_one():
    f = Caps([Fraction(1, 3)] * 3)
    for beta in (1e-300, 1.0, 1e10):
        assert f.distribution(np.array([-1.0, 1.0, 0.0]), beta).tolist() == [1 / 3] * 3
    assert f.entropy_range(3) == 0.0
    game = rb.Game(np.eye(3), f)
    assert game.bracket(np.ones(3), np.eye(3)[0])[1] == pytest.approx(1 / 3, abs=1e-14)
    groups = GroupCaps([0, 0, 1], [Fraction(1, 3), Fraction(2, 3)])
    d = groups.distribution(np.array([0.0, 50.0, 100.0]), 1.0)
    assert d == pytest.approx([1 / 3, 0, 2 / 3], abs=1e-15)


def test_groups_are_softmax_within_and_water_filling_between():
    f = GroupCaps([4, 4, 4, 9], {4: 0.5, 9: 0.75})
    d = f.distribution(np.array([0.0, 0.0, math.log(2), 0.0]), 1.0)
    assert d == pytest.approx([0.2, 0.2, 0.1, 0.5], abs=1e-15)
    # However small β is, tied groups weigh by their number of tied examples.
    d = GroupCaps([0, 0, 0, 1], 1).distribution(np.ones(4), 1e-300)
    assert d == pytest.approx([0.25] * 4, abs=1e-16)
