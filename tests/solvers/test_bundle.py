"""The bundle method against linear and quadratic programs, with any multipliers and no solver."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest

from relaxboost._core.loop import Clock
from relaxboost.solvers.bundle.cuts import Cut, Cuts, average
from relaxboost.solvers.bundle.master import Feasible, Master
from relaxboost.solvers.bundle.method import CuttingPlanes, rounds

D = 4
SETS = {
    "ridge": Feasible(np.array([1.0, 0.5, 2.0, 1.0]), False, square=0.3),
    "ridge, w >= 0": Feasible(np.ones(D), True, square=0.3),
    "lasso in a ball": Feasible(np.array([1.0, 0.5, 2.0, 1.0]), False, absolute=0.2, radius=1.5),
    "all three, w >= 0": Feasible(np.ones(D), True, 0.1, 0.2, 0.7),
    "simplex": Feasible(np.ones(D), True, radius=2.0, full=True),
    "Euclidean ball": Feasible(np.ones(D), False, euclidean=1.2),
}


class Point(NamedTuple):
    w: np.ndarray
    value: float
    cuts: Cuts


class Maxima:
    """Ω plus a sum over two groups of maxima of 12 affine functions, which cvxpy minimises too."""

    def __init__(self, feasible, seed=0):
        rng = np.random.default_rng(seed)
        self.slope = rng.normal(size=(2, 12, D))
        self.offset = rng.normal(size=(2, 12))
        self.feasible = feasible

    def solved(self, risk):
        """Return the minimum of Ω plus a function of w, by cvxpy."""
        own = self.feasible
        w = cp.Variable(D)
        s = cp.multiply(own.scale, w)
        rules = [w >= 0] if own.nonnegative else []
        if own.radius < math.inf:
            rules += [cp.sum(s) == own.radius if own.full else cp.norm1(s) <= own.radius]
        if own.euclidean < math.inf:
            rules += [cp.norm2(w) <= own.euclidean]
        penalty = own.square / 2 * cp.sum_squares(s) + own.absolute * cp.norm1(s)
        return cp.Problem(cp.Minimize(penalty + risk(w)), rules).solve(solver="CLARABEL")

    def least(self):
        pairs = list(zip(self.offset, self.slope, strict=True))
        return self.solved(lambda w: sum(cp.max(o + a @ w) for o, a in pairs))

    def at(self, w, *, clock):
        values = self.offset + self.slope @ w
        best = np.arange(2), values.argmax(axis=1)
        s = self.feasible.scale * w
        penalty = self.feasible.square / 2 * s @ s + self.feasible.absolute * np.abs(s).sum()
        cuts = Cuts(self.offset[best], self.slope[best], np.zeros((2, D)))
        return Point(w, float(penalty + values[best].sum()), cuts)

    def lower(self, cut):
        return cut.offset + self.solved(lambda w: cut.slope @ w) - 1e-7

    def project(self, w):
        return w


class InUnits:
    """The same function of weights in units u, in which values are multiplied by a size."""

    def __init__(self, F, size, u):
        self.F, self.size, self.u = F, size, u
        a = F.feasible
        self.feasible = Feasible(
            a.scale / u, a.nonnegative, a.square * size, a.absolute * size, a.radius, a.full,
            a.euclidean * u,
        )  # fmt: skip

    def at(self, w, *, clock):
        found = self.F.at(w / self.u, clock=clock)
        offset, slope, error = found.cuts
        cuts = Cuts(offset * self.size, slope * self.size / self.u, error)
        return Point(w, found.value * self.size, cuts)

    def lower(self, cut):
        slope = cut.slope * self.u / self.size
        return self.F.lower(Cut(cut.offset / self.size, slope)) * self.size

    def project(self, w):
        return w


def run(F, start, unit=1.0, level=None, tol=1e-5):
    """Return the number of rounds to a bracket of a width, and the bracket."""
    clock = Clock()
    model = CuttingPlanes(F, 2, 100, np.full(D, unit))
    upper = math.inf
    for n, found in enumerate(rounds(model, F.at(start, clock=clock), clock, 20, level), 1):
        upper = min(upper, found.point.value)
        if upper - found.lower <= tol:
            return n, found.lower, upper
    raise AssertionError("rounding errors ended the run")


@pytest.mark.parametrize(("size", "u"), [(1.0, 1.0), (1e7, 1e-5), (1e-3, 1e6)])
@pytest.mark.parametrize("name", SETS)
def test_brackets_close_around_the_optimum_in_any_units(name, size, u):
    F = Maxima(SETS[name])
    right = F.least() * size
    start = np.full(D, 0.5 if SETS[name].full else 0.0)
    for level in (None, 0.3)[: 1 if SETS[name].square else 2]:
        _, lower, upper = run(InUnits(F, size, u), start * u, u / size, level, 1e-5 * size)
        assert lower - 1e-6 * size <= right <= upper + 1e-6 * size


def test_dropped_cuts_lose_no_bound_and_the_floor_stays():
    F = Maxima(SETS["ridge"])
    F.offset[:, 0], F.slope[:, 0] = 0.0, 0.0  # no maximum is below 0
    model = CuttingPlanes(F, 2, 9, np.ones(D), floors=np.zeros(2))
    clock = Clock()
    start = F.at(np.full(D, 3.0), clock=clock)
    found = list(islice(rounds(model, start, clock, 20), 40))
    lowers = [one.lower for one in found]
    assert lowers == sorted(lowers)
    assert 0.0 <= lowers[-1] <= F.least() + 1e-6
    assert len(model.group) <= 9 + 2
    assert not model.cuts.offset[:2].any()
    assert not model.cuts.slope[:2].any()


@pytest.mark.parametrize("name", [name for name in SETS if not SETS[name].square])
def test_the_nearest_point_of_a_level(name):
    F = Maxima(SETS[name])
    cuts = F.at(np.full(D, 0.5), clock=Clock()).cuts
    group = np.arange(2)
    level = F.solved(lambda w: sum(o + a @ w for o, a in zip(*cuts[:2], strict=True))) + 0.2
    centre = np.array([0.9, 0.1, 0.4, 0.6])
    w = Master(F.feasible, 2, np.full(D, 10.0)).nearest(centre, level, cuts, group)
    v = cp.Variable(D)
    own = F.feasible
    s = cp.multiply(own.scale, v)
    rules = [cp.norm1(s) <= own.radius] if own.radius < math.inf else []
    rules += [v >= 0] * own.nonnegative + [cp.sum(s) == own.radius] * own.full
    rules += [cp.norm2(v) <= own.euclidean] if own.euclidean < math.inf else []
    rules += [own.absolute * cp.norm1(s) + cuts.offset.sum() + cuts.slope.sum(axis=0) @ v <= level]
    cp.Problem(cp.Minimize(cp.sum_squares(v - centre)), rules).solve(solver="CLARABEL")
    np.testing.assert_allclose(w, v.value, atol=1e-4)


def test_bad_multipliers_of_a_solver_lose_no_bound(monkeypatch):
    right = Master.minimise
    count = iter(range(100))

    def worse(*args):
        w, alpha = right(*args)
        return w, alpha if next(count) % 2 else np.ones_like(alpha)

    monkeypatch.setattr(Master, "minimise", worse)
    F = Maxima(SETS["ridge"])
    model = CuttingPlanes(F, 2, 100, np.ones(D))
    clock = Clock()
    found = list(islice(rounds(model, F.at(np.ones(D), clock=clock), clock, 20), 12))
    lowers = [one.lower for one in found]
    assert lowers == sorted(lowers)
    assert lowers[0] < lowers[-1] <= F.least() + 1e-6


def test_the_level_method_takes_fewer_rounds():
    rng = np.random.default_rng(1)
    feasible = Feasible(np.ones(D), False, euclidean=1.0)
    F = Maxima(feasible)
    # A paraboloid has no corner at its minimum, where the minimisers of the models oscillate.
    centre = rng.normal(size=D) / 4

    def at(w, *, clock):
        slope = np.array([w - centre, w - centre])
        value = float((w - centre) @ (w - centre))
        return Point(w, value, Cuts(value / 2 - slope @ w, slope, np.zeros((2, D))))

    F.at = at
    count = [run(F, np.zeros(D), level=level, tol=1e-6)[0] for level in (None, 0.3)]
    assert count[1] < 0.7 * count[0]


def test_without_a_solver_subgradient_steps_go_on(monkeypatch):
    monkeypatch.setattr(Master, "minimise", lambda *args: None)
    # The penalty is much steeper than the maxima: steps of a slope without it would diverge.
    F = Maxima(Feasible(np.ones(D), False, square=1.0, absolute=100.0))
    model = CuttingPlanes(F, 2, 100, np.ones(D), floors=np.zeros(2))
    clock = Clock()
    with pytest.warns(RuntimeWarning, match="could not solve a master problem of .* cuts"):
        found = list(islice(rounds(model, F.at(np.ones(D), clock=clock), clock, 20), 8))
    # The only bound is that of the cuts at the first point.
    (lower,) = {one.lower for one in found}
    assert 0.0 < lower <= F.least()
    values = [one.point.value for one in found]
    assert max(values) == values[0]
    assert min(values) < 0.2 * values[0]


def test_averages_are_below_whatever_the_weights():
    """Compare with fractions; weights of solvers may be negative, and cuts have errors."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 30))
        cuts = Cuts(
            rng.normal(size=n) * 10.0 ** rng.integers(-9, 9, n),
            rng.normal(size=(n, D)) * 10.0 ** rng.integers(-9, 9, (n, D)),
            rng.random((n, D)) * 1e-6,
        )
        group = np.append([0, 1], rng.integers(0, 2, n - 2))
        weights = rng.exponential(size=n) * rng.choice([-1e-9, 1.0, 1e-12, 1e5], n)
        weights[:2] = 1.0
        offset, slope, error = average(cuts, weights, group)
        alpha = [Fraction(max(float(x), 0.0)) for x in weights]
        total = [sum(a for a, g in zip(alpha, group, strict=True) if g == k) for k in (0, 1)]
        alpha = [a / total[g] for a, g in zip(alpha, group, strict=True)]
        assert offset <= sum(a * Fraction(o) for a, o in zip(alpha, cuts.offset, strict=True))
        for j in range(D):
            exact = sum(a * Fraction(x) for a, x in zip(alpha, cuts.slope[:, j], strict=True))
            inside = sum(a * Fraction(x) for a, x in zip(alpha, cuts.error[:, j], strict=True))
            assert abs(Fraction(slope[j]) - exact) + inside <= Fraction(error[j])
    for bad in (np.full(n, np.nan), -np.ones(n), np.full(n, np.inf)):
        assert average(cuts, bad, group) is None
