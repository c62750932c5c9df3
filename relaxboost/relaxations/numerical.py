"""What cvxpy derives from f alone: the relaxed margin, distributions, the conjugate, bounds.

These are the defaults of `Relaxation`. Each is a problem that is compiled once for each m and then
only re-solved; they are slow, and good to the accuracy of the solver. Bounds are proved by the
cone program of f: lower bounds by its multipliers, upper bounds by points that it allows.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, SolverError
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations.cone_bounds import ConeBounds, ConeProof
from relaxboost.relaxations.cone_form import ConeForm, NoConeForm, cone_form
from relaxboost.relaxations.cone_points import ConePoints
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.relaxations.dcp import plain
from relaxboost.relaxations.pointwise import Pointwise

NO_BOUND = (
    "the multipliers that Clarabel returns for the cone program of this f prove no lower bound, so "
    "that the lower bound is -inf"
)
"""The message for a lower bound on F(u) of −inf."""
UNPROVED = (
    f"{NO_BOUND}; scale f and its variables to sizes near one, or write a class "
    "that derives from Relaxation and Bounds, with its own witness, lower_bound and penalty_bound"
)
"""The message for a lower bound on F(u) of −inf, if the equations of f are independent."""
UNMET = (
    "no point was found inside the constraints of this f: the upper bound holds if breaking "
    "them by 1e-9 costs nothing"
)
"""What is said of an upper bound at such a point."""
DEPENDENT = (
    "the equations of this f are linearly dependent up to rounding, so that in exact arithmetic "
    "they may exclude points that meet them to 1e-13; remove the equations that follow from others"
)
"""What is said of bounds if the equations of f are dependent in doubles, but not exactly."""
_SHARES = (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)
"""By how much d is moved towards a point inside, if a solver finds no variables of f at d."""
_SAME = 1e-14
"""How far apart, relatively, arguments are that count as the same."""
_LARGE = 1e5
"""Margins beyond which a solver may take any f for infeasible."""


class InCvxpy(Protocol):
    """What is asked here of a relaxation; `base`, which defines them, builds on this file."""

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return f as a cvxpy expression of `d`, and the constraints it needs."""

    def penalty(self, d: Vector) -> float:
        """Return f(d)."""

    def repair(self, d: Vector) -> Vector:
        """Return a point of the simplex near d where f is finite."""


class DualWitness(NamedTuple):
    """A threshold γ and a vector x: F(u) >= γ − f*(x) if x >= γ − u; `proof` bounds F by itself."""

    gamma: float
    x: Vector
    proof: ConeProof | None = None


class _Program(NamedTuple):
    problem: Any
    d: Any
    parameters: tuple[Any, ...]
    simplex: Any = None
    """The constraint Σd = 1, whose multiplier is γ; None if there is none."""


class Programs:
    """The compiled problems of one relaxation for one m; see `programs`."""

    def __init__(self, relaxation: InCvxpy, m: int) -> None:
        self._relaxation, self._m, self._even = relaxation, m, np.full(m, 1.0 / m)
        self._compiled: dict[str, _Program] = {}
        self.center: Vector | None = None
        """What the relaxation found to be its center; kept here, since it may take solvers."""
        self._interior: Vector | None = None
        self._inside: list[Vector] = []
        self._last: dict[str, tuple[Vector, Any]] = {}

    def margin(self, u: Vector) -> tuple[float, Vector, float, Vector]:
        """Return F(u), the d that attains it, and (γ, x) with F(u) = γ − f*(x), x >= γ − u.

        If multipliers prove no bound on F(u), γ is −inf, and the rest is what a solver says.
        """
        found: tuple[float, Vector, float, Vector] | None = self.known("margin", u)
        if found is not None:
            return found
        met = None if self._cones is None else self._cones.solve(u)
        if met is None or met.below == -math.inf:
            value, d, _, x = self.solved_margin(u)
            self.keep("proof", u, None)
            return self.keep("margin", u, (value, d, -math.inf, x))
        self.keep("proof", u, met.proof)
        return self.keep("margin", u, (met.below, met.d, met.gamma, met.slope))

    def require_form(self) -> None:
        """Raise an InputError, with the reason, unless bounds are proved in the cones of f."""
        if self._refusal is not None:
            raise InputError(f"{self._name()}: {self._refusal}")

    def require(self) -> None:
        """Raise an InputError, with the reason, unless F is bounded from below at margins of 0."""
        self.require_form()
        if self.margin(np.zeros(self._m))[2] == -math.inf:
            raise InputError(f"{self._name()} cannot be played: {self.unproved()}")

    def unproved(self) -> str:
        """Return the reason why a lower bound on F(u) is −inf."""
        return f"{NO_BOUND}; {DEPENDENT}" if self._is_dependent else UNPROVED

    @property
    def _is_dependent(self) -> bool:
        return self.form is not None and self._points.has_dependent_equations

    def solved_margin(self, u: Vector) -> tuple[float, Vector, float, Vector]:
        """Return what `margin` does, as good as the cone solver says: nothing proves it."""
        program = self._get("margin")
        program.parameters[0].value = u
        value = self._solve(program, "F(u)")
        gamma = -float(program.simplex.dual_value)
        # Stationarity: u + g = γ + s with g in the subdifferential of f and s >= 0 of d >= 0.
        slack = np.maximum(np.asarray(program.problem.constraints[1].dual_value), 0.0)
        d = np.asarray(program.d.value)
        return value, d, gamma, gamma - u + slack

    @cached_property
    def _form(self) -> ConeForm | NoConeForm:
        try:
            return cone_form(self._relaxation.cvxpy_penalty, self._m)
        except NoConeForm as reason:
            return reason

    @property
    def form(self) -> ConeForm | None:
        """The cone program of f, None if it is not one of those in which bounds are proved."""
        return self._form if isinstance(self._form, ConeForm) else None

    @property
    def _refusal(self) -> NoConeForm | None:
        return self._form if isinstance(self._form, NoConeForm) else None

    @cached_property
    def _cones(self) -> ConeBounds | None:
        return None if self.form is None else ConeBounds(self.form, self._m)

    @cached_property
    def _points(self) -> ConePoints:
        assert self.form is not None
        return ConePoints(self.form, self._m)

    @cached_property
    def _free_points(self) -> ConePoints:
        assert self.form is not None
        return ConePoints(self.form, self._m, simplex=False)

    @cached_property
    def _pointwise(self) -> Pointwise:
        return Pointwise(*self._parts())

    def proof(self, u: Vector) -> ConeProof | None:
        """Return the multipliers that prove F(u), None if there are none."""
        found: ConeProof | None = self.known("proof", u)
        return found

    def near_witness(self, u: Vector, given: ConeProof) -> DualWitness | None:
        """Return what multipliers of the cone form prove; None if f has no such form."""
        if self._cones is None:
            return None
        proof = self.known("multipliers", given.y)
        if proof is None:
            proof = self.keep("multipliers", given.y, self._cones.feasible(u, given))
        return DualWitness(*self._cones.tangent(u, proof), proof)

    def near_point(self, given: ConeProof) -> tuple[Vector, float] | None:
        """Return a d near the point of a proof and a number not below f(d), without a solver.

        `above` then knows this d. None if f is evaluated without a solver anyway, or if the point
        breaks a constraint.
        """
        if self.form is None or self._pointwise.explicit:
            return None
        found = self._points.near(given.point, move=False)
        if found is not None:
            self.keep("point", *found)
        return found

    def below(self, u: Vector, proof: ConeProof) -> float:
        """Return what the proof is worth at u."""
        return -math.inf if self._cones is None else self._cones.below(u, proof)

    def conjugate_above(self, theta: Vector) -> float:
        """Return a number not below the supremum of <d, θ> − f(d) over 0 <= d <= 1."""
        found = None if self._cones is None else self._cones.solve(-theta, box=True)
        return math.inf if found is None else -found.below

    def free_conjugate_above(self, theta: Vector) -> float:
        """Return a number not below f*(θ), the supremum over all d."""
        if self.form is None:
            return math.inf
        found = ConeBounds(self.form.tilted(theta), 0).solve(np.zeros(0), box=True)
        return math.inf if found is None else -found.below

    def above(self, d: Vector) -> tuple[float, float]:
        """Return (value, distance) with f(d') <= value at that distance from d, in the simplex.

        d' breaks no constraint of f, nor do the variables that f has. If no such point is found,
        the value is as good as the solver, and `unmet` says so.
        """
        settled = self.known("point", d)
        solved = self.known("penalty", d)
        found: tuple[Vector, float] | None = None
        near, value = d, math.inf
        # An early iterate of a run proves a value far above f(d), and a solver may know better.
        if settled is None or (solved is not None and solved[0] < settled):
            value = self.penalty(d)
            if not math.isfinite(value):
                near = self._relaxation.repair(d)
                value = self.penalty(near)
            found = self._allowed(near) if math.isfinite(value) else (near, value)
        if found is None and settled is not None:
            found = self._last["point"][0], settled
        doubt = DEPENDENT if self._is_dependent else ""
        self.keep("unmet", d, UNMET if found is None else doubt)
        near, value = (near, value) if found is None else found
        apart = math.fsum(np.abs(near - d).tolist())
        return value, apart + 8.0 * UNIT if apart else 0.0

    def _allowed(self, d: Vector) -> tuple[Vector, float] | None:
        """Return a d' near d and a number not below f(d'); d' breaks no constraint of f."""
        f = self._pointwise
        if f.explicit and f.is_allowed(d):
            return d, f.above(d)
        if self._cones is None:
            return None
        found = None
        # At a d that is outside by a rounding a solver may find no z, and at one nearby it does.
        for share in _SHARES:
            near = d
            if share > 0.0 and self._points.inside is not None:
                near = self._points.onto_domain(d)
                near = near + share * (self._points.inside[: self._m] - near)
            solved = self._solved_point(near)
            found = None if solved is None else self._points.near(solved[1])
            if found is not None or self._points.inside is None:
                break
        return (found[0], f.above(found[0])) if found is not None and f.explicit else found

    def _solved_point(self, d: Vector) -> tuple[float, Vector] | None:
        """Return f(d) and (d, z) as a solver finds them; None if it finds f infinite."""
        found: tuple[float, Vector] | None = self.known("penalty", d)
        if found is None and self._cones is not None:
            found = self._cones.at(d)
            if found is not None:
                self.keep("penalty", d, found)
        return found

    def unmet(self, d: Vector) -> str:
        """Return what has to be said of `above` at d: "" if no constraint is broken."""
        if self.known("unmet", d) is None:
            self.above(d)
        return self.known("unmet", d) or ""

    def near(self, x: Vector) -> tuple[float, Vector] | None:
        """Return (value, x') with f(x') <= value at an x' near x, not only of the simplex.

        None if no point is found that breaks no constraint of f.
        """
        f = self._pointwise
        if f.explicit and f.is_allowed(x):
            return f.above(x), x
        solved = self._solved_point(x)
        found = None if solved is None else self._free_points.near(solved[1])
        if found is None:
            return None
        return f.above(found[0]) if f.explicit else found[1], found[0]

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d) + β Σ d log d over the simplex."""
        if self._m == 1:
            return np.ones(1)  # for any β, also those that no solver can scale
        program = self._get("distribution")
        program.parameters[0].value, program.parameters[1].value = u, beta
        self._solve(program, "the distribution")
        return np.asarray(program.d.value)

    def conjugate(self, theta: Vector, everywhere: bool = True) -> float:
        """Return f*(θ) = sup <d, θ> − f(d), over all d or over 0 <= d <= 1 only."""
        kind = "conjugate" if everywhere else "boxed conjugate"
        found: float | None = self.known(kind, theta)
        if found is not None:
            return found
        program = self._get(kind)
        program.parameters[0].value = theta
        status, value = solve_problem(program.problem)
        if status in SOLVED:
            return self.keep(kind, theta, value)
        if "unbounded" in status:
            return math.inf
        raise InputError(f"cvxpy ended with status {status} on the conjugate of {self._name()}")

    def penalty(self, d: Vector) -> float:
        """Return f(d), inf if a constraint is violated by more than 1e-9 or an atom undefined."""
        if self._pointwise.explicit:
            return self._pointwise.at(d)
        self.require_form()
        found = self._solved_point(d)
        return math.inf if found is None else found[0]

    def inside(self) -> list[Vector]:
        """Return points of the simplex inside dom f, nearly; the first is furthest from its ends.

        They are minimisers of f + <., u> + h for some directions u, h the entropy; the first is
        their mean.
        """
        if not self._inside:
            directions = np.random.default_rng(0).normal(size=(4, self._m))
            spread = [np.zeros(self._m), *directions, *-directions]
            found = [np.maximum(self.distribution(u, 1.0), 0.0) for u in spread]
            self._inside = [point / point.sum() for point in (np.mean(found, axis=0), *found)]
        return self._inside

    def interior(self) -> Vector:
        """Return the uniform distribution, or where f is infinite there one of `inside`."""
        if self._interior is None:
            d = self._even
            if not math.isfinite(self._relaxation.penalty(d)):
                inside = [x for x in self.inside() if math.isfinite(self._relaxation.penalty(x))]
                if not inside and self.form is not None and self._points.inside is not None:
                    inside = [self._points.inside[: self._m]]
                if not inside:
                    raise InputError(
                        f"{self._name()} is finite nowhere on the simplex for m = {self._m}, "
                        "within the accuracy of the solver; enlarge its domain"
                    )
                d = inside[0]
            self._interior = d
        return self._interior.copy()

    def known(self, kind: str, at: Vector) -> Any:
        """Return the last answer of a kind, if it was to the same but for roundings; else None.

        Bounds are certified at margins that are summed anew, and need no solver again.
        """
        before, answer = self._last.get(kind, (None, None))
        if before is None or before.shape != at.shape:
            return None
        apart = float(np.abs(before - at).max(initial=0.0))
        return answer if apart <= _SAME * float(np.abs(at).max(initial=0.0)) else None

    def keep(self, kind: str, at: Vector, answer: Any) -> Any:
        """Return the answer, and know it until there is another of its kind."""
        self._last[kind] = at.copy(), answer
        return answer

    def _name(self) -> str:
        return repr(self._relaxation)

    def _get(self, kind: str) -> _Program:
        if kind not in self._compiled:
            self._compiled[kind] = getattr(self, "_make_" + kind.replace(" ", "_"))()
        return self._compiled[kind]

    def _parts(self) -> tuple[Any, Any, list[Any]]:
        d = cp.Variable(self._m, name="d")
        value, constraints = self._relaxation.cvxpy_penalty(d)
        return d, *plain(value + 0.0 * cp.sum(d), list(constraints))

    def _make_margin(self) -> _Program:
        d, value, constraints = self._parts()
        u, simplex = cp.Parameter(self._m), cp.sum(d) == 1
        problem = cp.Problem(cp.Minimize(u @ d + value), [simplex, d >= 0, *constraints])
        return _Program(problem, d, (u,), simplex)

    def _make_distribution(self) -> _Program:
        d, value, constraints = self._parts()
        u, beta = cp.Parameter(self._m), cp.Parameter(nonneg=True)
        goal = cp.Minimize(u @ d + value - beta * cp.sum(cp.entr(d)))
        return _Program(cp.Problem(goal, [cp.sum(d) == 1, *constraints]), d, (u, beta))

    def _make_conjugate(self, boxed: bool = False) -> _Program:
        d, value, constraints = self._parts()
        theta = cp.Parameter(self._m)
        box = [d >= 0, d <= 1] if boxed else []
        goal = cp.Maximize(theta @ d - value)
        return _Program(cp.Problem(goal, [*box, *constraints]), d, (theta,))

    def _make_boxed_conjugate(self) -> _Program:
        return self._make_conjugate(boxed=True)

    def _solve(self, program: _Program, what: str) -> float:
        status, value = solve_problem(program.problem)
        if status in SOLVED and program.d.value is not None:
            return value
        name, large = self._name(), max(np.abs(p.value).max() for p in program.parameters) > _LARGE
        bounded = self._pointwise.explicit and math.isfinite(self.penalty(self._even))
        if large or bounded:  # a closed f that is finite there has a minimum
            status += " (f or margins are too large to scale)"
        elif "infeasible" in status:
            raise InputError(
                f"{name} is +inf on the whole simplex for m = {self._m}: "
                "no distribution is left to play"
            )
        elif "unbounded" in status:
            raise InputError(f"{name} is not bounded below on the simplex for m = {self._m}")
        raise SolverError(f"cvxpy ended with status {status} on {what} of {name}")


def programs(relaxation: InCvxpy, m: int) -> Programs:
    """Return the compiled problems of `relaxation`, made at the first call for this m."""
    cache = vars(relaxation).setdefault("_programs", {})
    if m not in cache:
        cache[m] = Programs(relaxation, m)
    return cache[m]


def is_inside(relaxation: InCvxpy, d: Vector) -> bool:
    """Return whether f is finite at d; the last d of `near_point` needs no solver."""
    made = vars(relaxation).get("_programs", {}).get(d.size)
    known = made is not None and made.known("point", d) is not None
    return known or math.isfinite(relaxation.penalty(d))


def solver_form(relaxation: InCvxpy, m: int) -> ConeForm | None:
    """Return cvxpy's cone program of f, or None if it has cones of matrices."""
    form = programs(relaxation, m).form
    return None if form is None or form.matrix else form


def check(relaxation: Any, m: int) -> None:
    """Raise an InputError unless the bounds that f needs can be proved.

    If its bounds are not proved, `cvxpy_penalty` must return a convex function and constraints. If
    f has no `lower_bound` of its own, they must make a cone program in which bounds are proved.
    """
    from relaxboost.relaxations import dcp

    owner = f"{type(relaxation).__name__}.cvxpy_penalty"

    def pair(d: Any) -> Any:
        returned = relaxation.cvxpy_penalty(d)
        if isinstance(returned, tuple) and len(returned) == 2:
            return returned
        raise InputError(
            "it must return a pair (expression, list of constraints), such as (cp.norm2(d), []), "
            f"and returned a {type(returned).__name__}"
        )

    if not getattr(relaxation, "is_proved", False):
        dcp.parts(pair, m, owner)
        if not hasattr(relaxation, "lower_bound"):
            programs(relaxation, m).require()
