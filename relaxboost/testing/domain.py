"""Checks of the domain of a relaxation: feasible points, repair, entropy and penalty bounds."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.testing.core import Case, entropy, size


def _in_simplex(case: Case, d: Vector, what: str, remedy: str = "") -> None:
    case.at_most(-d.min(initial=0.0), 0.0, f"{what} is non-negative", d=d)
    off = abs(math.fsum(d.tolist()) - 1.0)
    case.at_most(off, 1e-12, f"{what} sums to one", d=d)
    finite = math.isfinite(case.f.penalty(d))
    case.demand(finite, f"f is finite at {what}{remedy}", d=d, f=case.f.penalty(d))


def center(case: Case) -> None:
    """The point center(m) is in the simplex, and the relaxation f is finite at this point."""
    remedy = "; override `center` if f is infinite at the uniform distribution"
    _in_simplex(case, case.f.center(case.m), "center(m)", remedy)


def repair(case: Case) -> None:
    """repair(d) is a point of the simplex at which f is finite. If d is such a point, repair(d) is
    d.
    """
    m = case.m
    rng = case.rng
    rough = [rng.dirichlet(np.full(m, a)) for a in (0.1, 1.0)]
    # The points are a vertex, and points with negative entries, a sum far from 1, a tiny sum, or
    # rounding errors.
    rough += [np.eye(m)[rng.integers(m)], rng.normal(size=m), 1e3 * rng.random(m)]
    rough += [1e-300 * (1.0 + rng.random(m)), case.f.center(m) * (1.0 + 1e-12 * rng.normal(size=m))]
    for d in rough:
        # repair needs a positive entry, which a random vector of length 1 may lack.
        if not np.any(d > 0.0):
            d[0] = 1.0
        repaired = case.f.repair(d.copy())
        _in_simplex(case, repaired, "repair(d)")
        again = case.f.repair(repaired.copy())
        moved = float(np.abs(again - repaired).sum())
        case.at_most(moved, case.tol(), "repair(repair(d)) = repair(d)", d=d)
    for d in case.subject.feasible:
        _in_simplex(case, d, "a repaired or minimising d")
        moved = float(np.abs(case.f.repair(d.copy()) - d).sum())
        case.at_most(moved, case.tol(), "repair does not change a feasible d", d=d)


def entropy_range(case: Case) -> None:
    """entropy_range(m) is at least the range of the entropy over the feasible test points."""
    claimed = bounds_of(case.f).entropy_range(case.m)
    case.demand(0.0 <= claimed < math.inf, "entropy_range(m) is finite, >= 0", got=claimed)
    points = list(case.subject.feasible)
    points += [case.f.relaxed_margin(u)[1] for u in case.margins(4 if case.subject.large else 12)]
    # The range over some points is at most the range over the domain.
    heights = [entropy(d) for d in points]
    low = int(np.argmin(heights))
    high = int(np.argmax(heights))
    promise = "max h − min h over the domain in the simplex is at most entropy_range(m)"
    figure = heights[high] - heights[low] - claimed
    ends = {"d_high": points[high], "d_low": points[low]}
    case.at_most(figure, case.tol(), promise, claimed=claimed, **ends)


def penalty_bound(case: Case) -> None:
    """penalty_bound(d, Σd) returns a value and a distance: f(d') <= value at a point d' of the
    simplex that is at most this distance from d / Σd.
    """
    f = case.f
    rng = case.rng
    bounds = bounds_of(f)
    # Solutions are feasible up to rounding, so that penalty_bound must accept such points.
    jitter = 1.0 + 4e-16 * rng.integers(-1, 2, case.m)
    # The lower bounds on F are the expensive part, so all points share the margins.
    proved = [(u, bounds.lower_bound(u, bounds.witness(u))) for u in case.margins()]
    for point in case.subject.feasible:
        for d in (point, point * jitter):
            value, distance = bounds.penalty_bound(d, sum_bounds(d))
            promise = "d is feasible up to rounding, so that the bound is finite and near f(d)"
            at = f.penalty(point)
            # If f accepts points that violate its constraints by 1e-9, the nearest point of a thin
            # domain may be farther away.
            near = 1e-6 if bounds.is_proved else 1e-5
            case.at_most(distance, near, promise, d=d, value=value)
            case.at_most(at - value, case.rounding(abs(at)) + distance, promise, d=d, f=at)
            case.at_most(value - at, case.solver_tol(abs(at)), promise, d=d, f=at)
        # As there is a feasible d' within the distance with f(d') <= value, F is bounded.
        rough = rng.dirichlet(np.full(case.m, 0.3))
        value, distance = bounds.penalty_bound(rough, sum_bounds(rough))
        for u, lower in proved:
            above = math.fsum((rough * u).tolist()) + value + distance * size(u)
            promise = "F(u) <= <d, u> + value + distance ‖u‖_inf"
            case.at_most(lower - above, case.tol(size(u)), promise, d=rough, u=u, value=value)
