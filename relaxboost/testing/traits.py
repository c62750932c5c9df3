"""Checks of the traits that a relaxation claims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.description import description_of
from relaxboost.testing.core import Case, size


def _program(form: LinearForm, m: int, u: Vector, fixed: Vector | None = None) -> float:
    """Return the minimum of <d, u> + f(d) over distributions d, from the linear program of f.

    If `fixed` is given, return f(fixed) instead.
    """
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csr_array

    n = len(form.cost)
    cost, lower, upper = np.array([form.cost, form.lower, form.upper], dtype=np.float64)
    constraints: list[Any] = []
    if form.rows is not None:
        constraints.append(LinearConstraint(form.rows, form.row_lower, form.row_upper))
    if fixed is None:
        cost[:m] += u
        lower[:m] = np.maximum(lower[:m], 0.0)
        one = csr_array((np.ones(m), (np.zeros(m, int), np.arange(m))), shape=(1, n))
        constraints.append(LinearConstraint(one, 1.0, 1.0))
    else:
        lower[:m] = upper[:m] = np.clip(fixed, lower[:m] - 1e-9, upper[:m] + 1e-9)
    solved = milp(cost, bounds=(lower, upper), constraints=constraints)
    return float(solved.fun) if solved.status == 0 else math.nan


def polyhedral(case: Case) -> None:
    """linear_form(m) exists if and only if traits.polyhedral is true. Its optimum is F(u)."""
    form = description_of(case.f).linear_form(case.m)
    promise = "linear_form(m) is a LinearForm if and only if traits.polyhedral is true"
    case.demand((form is not None) == case.f.traits.polyhedral, promise, linear_form=form)
    if form is None or not case.claims("polyhedral"):
        return
    for u in case.margins(3):
        value = _program(form, case.m, u)
        expected = case.f.relaxed_margin(u.copy())[0]
        tolerance = case.solver_tol(size(u, expected))
        case.equal(value, expected, tolerance, "the linear program's optimum is F(u)", u=u)
    for d in case.subject.feasible[:: 4 if case.subject.large else 2]:
        value = _program(form, case.m, d, fixed=d)
        expected = case.f.penalty(d)
        promise = "the linear program at a feasible d is f(d)"
        case.equal(value, expected, case.solver_tol(size(expected)), promise, d=d)


def curvature(case: Case) -> None:
    """traits.smooth is true if and only if curvature(m), an l1 modulus of convexity, is > 0."""
    modulus = case.f.curvature(case.m)
    case.demand(0.0 <= modulus < math.inf, "curvature(m) is finite and >= 0", got=modulus)
    promise = "traits.smooth is true if and only if curvature(m) > 0"
    case.demand((modulus > 0.0) == case.f.traits.smooth, promise, curvature=modulus)
    if not case.claims("smooth"):
        return
    feasible = case.subject.feasible
    m = case.m
    rng = case.rng
    pairs = [(feasible[i], feasible[i - 1]) for i in range(len(feasible))]
    # Mass exchanged by two halves is the weakest direction; there are none at m = 1.
    for scale in (1.0, 0.9, 0.3, 0.01) if m > 1 else ():
        for middle in (np.full(m, 1.0 / m), rng.dirichlet(np.ones(m))):
            signs = np.where(rng.permutation(m) < m // 2, -scale, scale)
            ends = (middle * (1.0 + signs), middle * (1.0 - signs))
            pairs.append((case.f.repair(ends[0]), case.f.repair(ends[1])))
    for d, e in pairs:
        at_d, at_e, at_middle = (case.f.penalty(p) for p in (d, e, 0.5 * (d + e)))
        apart = float(np.abs(d - e).sum())
        bound = 0.5 * (at_d + at_e) - modulus / 8.0 * apart**2
        promise = "f((d + e)/2) <= (f(d) + f(e))/2 − curvature(m)/8 ‖d − e‖_1²"
        case.at_most(at_middle - bound, case.tol(size(at_d, at_e)), promise, d=d, e=e)


def monotone(case: Case) -> None:
    """If traits.monotone is true, f and f* do not increase if coordinates shrink towards zero."""
    if not case.claims("monotone"):
        return
    m = case.m
    rng = case.rng
    for of, name, tried in (
        (case.f.penalty, "f", case.points(24)),
        (case.f.conjugate, "f*", case.thetas()),
    ):
        for p in tried:
            before = of(p.copy())
            if before == math.inf:
                continue
            one = np.ones(m)
            one[rng.integers(m)] = rng.choice([0.0, rng.random()])
            # One coordinate alone, all coordinates, and a subset are different kinds of shrinking.
            for shrink in (one, rng.random(m), rng.integers(0, 2, m).astype(np.float64)):
                after = of(shrink * p)
                promise = f"{name}(D x) <= {name}(x) for diagonal D in [0, 1] (traits.monotone)"
                tolerance = case.tol(size(before, after))
                case.at_most(after - before, tolerance, promise, x=p, D=shrink)


def symmetric(case: Case) -> None:
    """If traits.symmetric is true, f, f*, F and distributions ignore the order of the examples."""
    if not case.claims("symmetric"):
        return
    shift = np.roll(np.arange(case.m), 1)  # A cyclic shift moves every example.
    orders = [shift, *(case.rng.permutation(case.m) for _ in range(2))]
    for p in [*case.points(6), *case.thetas(3)]:
        for of, name in ((case.f.penalty, "f"), (case.f.conjugate, "f*")):
            here = of(p.copy())
            promise = f"{name} is symmetric (traits.symmetric)"
            for order in orders:
                case.equal(of(p[order]), here, case.tol(size(here)), promise, x=p, order=order)
    order = shift
    for u in case.margins(2):
        here = case.f.relaxed_margin(u.copy())[0]
        there = case.f.relaxed_margin(u[order])[0]
        case.equal(there, here, case.tol(size(u)), "F is symmetric", u=u, order=order)
        beta = 0.3
        d = case.f.distribution(u.copy(), beta)
        e = case.f.distribution(u[order], beta)
        apart = float(np.abs(d[order] - e).sum())
        # Two distributions whose objectives agree to a tolerance differ by at most its square root,
        # since β Σ d log d is strongly convex.
        tolerance = math.sqrt(8.0 * case.rough_tol(size(u)) / beta)
        promise = "the distribution of permuted margins is the permuted distribution"
        case.at_most(apart, tolerance, promise, u=u, beta=beta, order=order)


def zero_minimum(case: Case) -> None:
    """If traits.zero_minimum is true, f is non-negative and f*(0) = 0."""
    if not case.claims("zero_minimum"):
        return
    for d in case.points(24):
        case.at_most(-case.f.penalty(d.copy()), case.tol(), "f >= 0 (traits.zero_minimum)", d=d)
    least = case.f.conjugate(np.zeros(case.m))
    case.equal(least, 0.0, case.tol(), "f*(0) = −min f = 0 (traits.zero_minimum)")


def zero_in_core(case: Case) -> None:
    """If traits.zero_in_core is true, f is finite on a small cross-polytope around 0."""
    if not case.claims("zero_in_core"):
        return
    shown = case.rng.permutation(case.m)[:8]
    directions = [sign * np.eye(case.m)[i] for i in shown for sign in (1.0, -1.0)]
    signs = case.rng.choice([-1.0, 1.0], case.m) / case.m
    directions += [signs, -signs, np.full(case.m, -1.0 / case.m)]
    for direction in directions:
        # The set contains 0 in its core if some positive step in each direction stays in it,
        # however short.
        finite = any(math.isfinite(case.f.penalty(t * direction)) for t in (1e-2, 1e-4, 1e-6))
        promise = "f is finite near 0 in every direction (traits.zero_in_core)"
        case.demand(finite, promise, direction=direction)
