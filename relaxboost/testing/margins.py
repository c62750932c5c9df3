"""Checks of the relaxed margin F(u), and of the witnesses that prove its lower bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.testing.core import Case, size
from relaxboost.testing.duality import optimum


def relaxed_margin(case: Case) -> None:
    """relaxed_margin(u) returns a minimiser d, and the value F(u) that a cone solver finds."""
    for number, u in enumerate(case.margins(4 if case.subject.large else 8)):
        value, d = case.f.relaxed_margin(u.copy())
        # The value and the point are returned together and must agree.
        attained = case.objective(d, u)
        scale = size(u, value)
        promise = "relaxed_margin(u) returns (<d, u> + f(d), d)"
        case.equal(value, attained, case.tol(scale), promise, u=u, d=d)
        promise = "F(u) is not above <d, u> + f(d) at any feasible d"
        case.at_most(attained - case.best(u), case.tol(scale), promise, u=u, d=d)
        if number < (1 if case.subject.large else 4):
            expected = case.subject.programs.solved_margin(u)[0]
            promise = "relaxed_margin(u) is the minimum of <d, u> + f(d) over the simplex"
            case.equal(value, expected, case.solver_tol(scale), promise, u=u)


def cvxpy_relaxed_margin(case: Case) -> None:
    """The relaxed margin F(u) is the maximum of cvxpy_relaxed_margin.

    F(u) is also the maximum of γ − f*(x) over x >= γ − u.
    """
    m = case.m
    u = cp.Variable(m)
    at = cp.Parameter(m)
    gamma = cp.Variable()
    x = cp.Variable(m)
    # F is non-decreasing, so that u <= the given margins loses nothing and keeps the problem
    # convex.
    goal, constraints = case.f.cvxpy_relaxed_margin(u, gamma)
    declared = cp.Problem(cp.Maximize(goal), [u <= at, *constraints])
    case.demand(declared.is_dcp(), "cvxpy_relaxed_margin is concave by the rules of cvxpy")
    value, constraints = case.f.cvxpy_conjugate(x)
    # This is the same maximum with f* written out, for comparison.
    longhand = cp.Problem(cp.Maximize(gamma - value), [x >= gamma - at, *constraints])
    problems = [("cvxpy_relaxed_margin", declared), ("γ − cvxpy_conjugate(x)", longhand)]
    margins = case.margins(1 if case.subject.large else 3)
    for name, problem in problems:
        compared = 0
        for margin in margins:
            best = optimum(problem, at, margin)
            if math.isnan(best):
                continue
            compared += 1
            expected = case.f.relaxed_margin(margin.copy())[0]
            tolerance = case.solver_tol(size(margin, expected))
            case.equal(best, expected, tolerance, f"the maximum of {name} is F(u)", u=margin)
        case.demand(compared > 0, f"a cone solver maximises {name}", u=margins[0])


def shape_of_margin(case: Case) -> None:
    """The relaxed margin F is concave, non-decreasing and 1-Lipschitz, and F(u + a) = F(u) + a.

    The minimiser d that relaxed_margin(u) returns is a supergradient of F.
    """

    def F(u: Vector) -> tuple[float, Vector]:
        return case.f.relaxed_margin(u.copy())

    tried = case.margins(3 if case.subject.large else 6)
    for u, v in zip(tried, [*tried[1:], case.rng.uniform(-1.0, 1.0, case.m)], strict=True):
        at_u, d = F(u)
        at_v, _ = F(v)
        both: dict[str, Any] = {"u": u, "v": v}
        tol = case.tol(size(u, v, at_u, at_v))
        middle = F(0.5 * (u + v))[0]
        upper = F(np.maximum(u, v))[0]
        case.at_most(0.5 * (at_u + at_v) - middle, tol, "F is concave", **both)
        case.at_most(max(at_u, at_v) - upper, tol, "F is non-decreasing", **both)
        a = float(case.rng.uniform(-1.0, 1.0))
        case.equal(F(u + a)[0], at_u + a, tol, "F(u + a) = F(u) + a", u=u, a=a)
        apart = float(np.abs(u - v).max())
        case.at_most(abs(at_u - at_v) - apart, tol, "|F(u) − F(v)| <= ‖u − v‖_inf", **both)
        above = at_u + math.fsum((d * (v - u)).tolist())
        case.at_most(at_v - above, tol, "F(v) <= F(u) + <d, v − u>", **both)


def own_witness(case: Case) -> None:
    """lower_bound(u, witness(u)) equals F(u) up to rounding errors, and never exceeds F(u)."""
    bounds = bounds_of(case.f)
    for u in case.margins(4 if case.subject.large else 8):
        value = case.f.relaxed_margin(u.copy())[0]
        best = case.best(u)
        lower = float(bounds.lower_bound(u.copy(), bounds.witness(u.copy())))
        scale = size(u, value)
        promise = "lower_bound is not above <d, u> + f(d) at any feasible d"
        case.at_most(lower - best, case.rounding(scale), promise, u=u, lower=lower, value=best)
        promise = "lower_bound(u, witness(u)) reaches F(u)"
        case.at_most(value - lower, case.tol(scale), promise, u=u, lower=lower, F=value)


def every_witness(case: Case) -> None:
    """lower_bound(u, w) <= F(u) holds for every witness w, even if w is wrong or contains nan."""
    bounds = bounds_of(case.f)
    first, *others = case.margins(3)
    for u in (first, others[0]):
        best = case.best(u)
        # A checker gets witnesses from anyone, so each of them must prove a true bound or none.
        witnesses = [bounds.witness(v.copy()) for v in others]
        for witness in [*witnesses, *_mangled(bounds.witness(u.copy()), case.rng)]:
            lower = bounds.lower_bound(u.copy(), witness)
            scale = size(u, best)
            if not bounds.is_proved:  # The error of a solver grows with the size of the witness.
                scale = max(scale, min(1e6, size(*_numbers(witness))))
            promise = "lower_bound(u, w) is not above F(u) for any w (−inf if w proves nothing)"
            seen: dict[str, Any] = {"u": u, "witness": witness, "lower": lower}
            case.at_most(float(lower) - best, case.rounding(scale), promise, **seen, F=best)
            case.demand(not math.isnan(lower), promise, **seen)


def _mangled(witness: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield copies of a witness with one number or one array changed."""
    # A bool selects a case of a formula and has no neighbouring values.
    if isinstance(witness, float | int) and not isinstance(witness, bool):
        w = float(witness)
        yield from (0.0, -w, 0.5 * w, 2.0 * w, w + 1e-9, w - 1e-3, w + 1e-3, w + 1.0, w - 1.0)
        yield from (w + 50.0, math.nan, math.inf, -math.inf, 1.7e308, -1.7e308)
    elif isinstance(witness, np.ndarray) and witness.dtype.kind == "f" and witness.size:
        yield from _mangled_array(witness, rng)
    elif isinstance(witness, tuple):
        for i, part in enumerate(witness):
            for changed in _mangled(part, rng):
                parts = (*witness[:i], changed, *witness[i + 1 :])
                yield witness._make(parts) if hasattr(witness, "_make") else parts
    elif is_dataclass(witness) and not isinstance(witness, type):
        yield from _mangled_fields(witness, rng)


def _mangled_fields(witness: Any, rng: np.random.Generator) -> Iterator[Any]:
    for part in fields(witness):
        for changed in _mangled(getattr(witness, part.name), rng):
            yield replace(witness, **{part.name: changed})


def _mangled_array(x: Vector, rng: np.random.Generator) -> Iterator[Vector]:
    yield from (0.0 * x, -x, 0.5 * x, 2.0 * x, x + 1e-9, x - 1e-3, x + 1.0, x - 1.0, 50.0 * x)
    yield from (x + s * rng.normal(size=x.shape) for s in (1e-6, 1e-2, 1.0))
    for junk in (math.nan, math.inf, -math.inf, 1.7e308):
        spoilt = x.copy()
        spoilt.flat[int(rng.integers(x.size))] = junk
        yield spoilt


def _numbers(witness: Any) -> list[Any]:
    if is_dataclass(witness) and not isinstance(witness, type):
        witness = tuple(getattr(witness, part.name) for part in fields(witness))
    parts = witness if isinstance(witness, tuple) else (witness,)
    return [p for p in parts if isinstance(p, float | int | np.ndarray)] or [0.0]
