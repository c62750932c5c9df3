"""What cvxpy derives from f alone: the relaxed margin, distributions, the conjugate.

These are the defaults of `Relaxation`. Each is a parametrised problem that is compiled once
for each m and then only re-solved; they are slow, and good to the accuracy of the solver.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, SolverError
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations.cone_bounds import ConeBounds, ConeProof
from relaxboost.relaxations.cone_form import ConeForm, cone_form
from relaxboost.relaxations.cone_points import ConePoints
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem, solves
from relaxboost.relaxations.dcp import plain
from relaxboost.relaxations.own import check_returns, looked_at
from relaxboost.relaxations.pointwise import Pointwise, TangentProof, outside, violation

_TRUST = 1e-8
"""The relative error that a solver which met its tolerances may have."""
BELIEVED = "a cone solver is believed to 1e-8, since nothing proves what it says of this f"
"""What is said of a lower bound that has no proof."""
UNMET = (
    "no point was found inside the constraints of this f: the upper bound holds if breaking "
    "them by 1e-9 costs nothing"
)
"""What is said of an upper bound at such a point."""
_LOOSE = 1e-7
"""The relative distance from a solver's optimum beyond which a bound is loose."""
_INWARD = (0.0, 1e-15, 1e-12, 1e-9, 1e-6)
"""How far a solver's point is moved inside for a tangent; at an end f may be infinitely steep."""
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
    """A threshold γ and a vector x: F(u) >= γ − f*(x) wherever x >= γ − u; a proof of its own."""

    gamma: float
    x: Vector
    proof: ConeProof | TangentProof | None = None


class _Program(NamedTuple):
    problem: Any
    d: Any
    parameters: tuple[Any, ...]
    simplex: Any
    """The constraint Σd = 1, whose multiplier is γ; None where there is none."""
    domain: tuple[Any, ...] = ()
    """Where the atoms of the penalty are convex functions with finite values."""


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
        """Return F(u), the d that attains it, and (γ, x) with F(u) = γ − f*(x), x >= γ − u."""
        found: tuple[float, Vector, float, Vector] | None = self.known("margin", u)
        if found is not None:
            return found
        met = None if self._cones is None else self._cones.solve(u)
        answer: tuple[float, Vector, float, Vector] | None = None
        proof: ConeProof | TangentProof | None = None
        if met is None or met.loose:
            answer, proof = self._unproved(u)
        if met is not None and (answer is None or met.below > answer[0]):
            answer, proof = (met.below, met.d, met.gamma, met.slope), met.proof
        self.keep("proof", u, proof)
        return self.keep("margin", u, answer)

    def _unproved(
        self, u: Vector
    ) -> tuple[tuple[float, Vector, float, Vector], TangentProof | None]:
        """Return what `margin` does by a solver, and the tangent that proves it.

        Where no tangent is near, a solver that met its tolerances is believed: no proof then.
        """
        solved = self.solved_margin(u)
        worth, proof = self._tangent(u, solved[1], "margin")
        if not self._tight(worth, solved[0]) and self._trusted("margin"):
            return solved, None
        return (worth, *solved[1:]), proof

    @staticmethod
    def _tight(below: float, value: float) -> bool:
        return value - below <= _LOOSE * (1.0 + abs(value))

    def faithful(self, alone: bool) -> bool:
        """Whether cone programs are those of f; where bounds are `alone` f's, tangents do too."""
        of = self._pointwise
        return not of.approximate or (alone and of.explicit)

    def _trusted(self, name: str) -> bool:
        """Whether the solver met its tolerances when it was last asked, and for f itself."""
        problem = self._get(name).problem
        return str(problem.status) == "optimal" and not self._pointwise.approximate

    def _tangent(
        self, u: Vector, d: Vector, name: str, box: bool = False
    ) -> tuple[float, TangentProof | None]:
        """Return the best that a tangent near a solver's d proves, and the proof."""
        pointwise = self._pointwise
        best: tuple[float, TangentProof | None] = (-math.inf, None)
        if not pointwise.explicit:
            return best
        # The first two are those of d alone.
        duals = [c.dual_value for c in self._get(name).problem.constraints[2:]]
        d = np.maximum(d, 0.0)
        for share in _INWARD:
            proof = pointwise.proof(d + share * (1.0 / d.size - d), duals)
            worth = pointwise.below(u, proof, box=box)
            if worth > best[0]:
                best = worth, proof
        return best

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
    def form(self) -> ConeForm | None:
        """The cone program of f, None where it has other cones than those known here."""
        return cone_form(self._relaxation.cvxpy_penalty, self._m)

    @cached_property
    def _cones(self) -> ConeBounds | None:
        if self.form is None or self._pointwise.approximate:
            return None
        return ConeBounds(self.form, self._m)

    @cached_property
    def _points(self) -> ConePoints:
        assert self.form is not None
        return ConePoints(self.form, self._m)

    @cached_property
    def _pointwise(self) -> Pointwise:
        return Pointwise(*self._parts(), solves)

    @cached_property
    def _anywhere(self) -> Pointwise:
        of = self._pointwise
        return Pointwise(of.d, of.value, of.constraints, solves, simplex=False)

    def proof(self, u: Vector) -> ConeProof | TangentProof | None:
        """Return what proves F(u), None where the solver is believed."""
        found: ConeProof | TangentProof | None = self.known("proof", u)
        return found

    def near_witness(self, u: Vector, given: ConeProof) -> DualWitness | None:
        """Return what multipliers of the cone form prove; None where it is not that of f."""
        if self._cones is None:
            return None
        proof = self.known("multipliers", given.y)
        if proof is None:
            proof = self.keep("multipliers", given.y, self._cones.feasible(given))
        return DualWitness(*self._cones.tangent(u, proof), proof)

    def near_point(self, given: ConeProof) -> tuple[Vector, float] | None:
        """Return a d near the point of a proof and a number not below f(d), without a solver.

        `above` then knows this d. None if f has no variables but d, so that it is evaluated, or if
        the point breaks a constraint.
        """
        if self._cones is None or not self._pointwise.own:
            return None
        found = self._points.near(given.point)
        if found is not None:
            self.keep("point", *found)
        return found

    def below(self, u: Vector, proof: ConeProof | TangentProof) -> float:
        """Return what the proof is worth at u."""
        if isinstance(proof, TangentProof):
            return self._pointwise.below(u, proof)
        return -math.inf if self._cones is None else self._cones.below(u, proof)

    def conjugate_above(self, theta: Vector) -> float:
        """Return a number not below the supremum of <d, θ> − f(d) over 0 <= d <= 1.

        It is proved by the cone program of f, or by a tangent of it. Where that proves little, it
        is as good as a solver that met its tolerances.
        """
        found = None if self._cones is None else self._cones.solve(-theta, box=True)
        above = math.inf if found is None else -found.below
        if found is None or found.loose:
            value = self.conjugate(theta, everywhere=False)
            d = self._get("boxed conjugate").d.value
            if d is not None:
                above = min(above, -self._tangent(-theta, d, "boxed conjugate", box=True)[0])
            if not self._tight(-above, -value) and self._trusted("boxed conjugate"):
                return min(above, value + _TRUST * (1.0 + abs(value)))
        return above

    def above(self, d: Vector) -> tuple[float, float]:
        """Return (value, distance) with f(d') <= value at that distance from d, in the simplex.

        d' breaks no constraint of f, nor do the variables that f has. Where no such point is
        found, the value is as good as the solver, and `unmet` says so.
        """
        settled = self.known("point", d)
        solved = self.known("penalty", d)
        # An early iterate of a run proves a value far above f(d), and a solver may know better.
        if settled is not None and (solved is None or settled <= solved[0]):
            return self._settled(d, settled)
        pointwise, value, near = self._pointwise, self.penalty(d), d
        if not math.isfinite(value):
            near = self._relaxation.repair(d)
            value = self.penalty(near)
        apart = math.fsum(np.abs(near - d).tolist())
        if math.isfinite(value):
            given = pointwise.joint(near)
            found = pointwise.allowed(given)
            # What is proved, however loosely, counts more than the word of a solver.
            if found is None and settled is not None:
                return self._settled(d, settled)
            self.keep("unmet", d, "" if found is not None else UNMET)
            if found is not None:
                value = pointwise.above(found)
                apart = math.fsum(np.abs(found[: d.size] - d).tolist())
        return value, apart + 8.0 * UNIT if apart else 0.0

    def _settled(self, d: Vector, value: float) -> tuple[float, float]:
        """Return what `above` does at the point that `near_point` found for d."""
        self.keep("unmet", d, "")
        moved = np.abs(self._last["point"][0] - d)
        return value, math.fsum(moved.tolist()) + 8.0 * UNIT

    def unmet(self, d: Vector) -> str:
        """Return what has to be said of `above` at d: "" where no constraint is broken."""
        if self.known("unmet", d) is None:
            self.above(d)
        return self.known("unmet", d) or ""

    def near(self, x: Vector) -> tuple[float, Vector] | None:
        """Return (value, x') with f(x') <= value at an x' near x, not only of the simplex.

        None where no point is found that breaks no constraint of f.
        """
        of = self._anywhere
        if of.own and not math.isfinite(self.penalty(x)):
            return None
        found = of.allowed(of.joint(x))
        return None if found is None else (of.above(found), found[: x.size])

    def free_conjugate_above(self, theta: Vector) -> float:
        """Return a number not below f*(θ), proved by the cone program of f, or by no more than a
        solver where that proves little."""
        value = self.conjugate(theta)
        above = math.inf
        if self.form is not None and math.isfinite(value):
            found = ConeBounds(self.form.tilted(theta), 0).solve(np.zeros(0), box=True)
            above = math.inf if found is None else -found.below
        if self._tight(-above, -value):
            return above
        return min(above, value + _TRUST * (1.0 + abs(value)))

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
        """Return f(d), inf where a constraint is violated by more than 1e-9 or an atom undefined.

        cvxpy would evaluate 1/x, say, at negative x too, where the convex function is infinite.
        """
        program = self._get("penalty")
        variable, goal = program.d, program.problem.objective.expr
        if program.parameters:  # f has variables of its own, to be minimised over
            found: tuple[float, Vector] | None = self.known("penalty", d)
            if found is not None:
                self._pointwise.put(found[1])
                return found[0]
            program.parameters[0].value = d
            status, value = solve_problem(program.problem)
            if status not in SOLVED:
                return math.inf
            self.keep("penalty", d, (value, self._pointwise.joint(d)))
            return value
        variable.value = d
        if any(np.max(violation(c), initial=0.0) > 1e-9 for c in program.problem.constraints):
            return math.inf
        if any(np.max(outside(c), initial=0.0) > 0.0 for c in program.domain):
            return math.inf
        with np.errstate(all="ignore"):  # log(0) is -inf
            value = goal.value if hasattr(goal, "value") else goal
        number = float(np.asarray(value).item())
        return math.inf if math.isnan(number) else number

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
            d, penalty = self._even, partial(looked_at, self._relaxation, "penalty")
            if not math.isfinite(penalty(d)):
                inside = [x for x in self.inside() if math.isfinite(penalty(x))]
                if not inside and self._pointwise.inside is not None:
                    inside = [self._pointwise.inside[: self._m]]
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
        return _Program(cp.Problem(goal, [cp.sum(d) == 1, *constraints]), d, (u, beta), None)

    def _make_conjugate(self, boxed: bool = False) -> _Program:
        d, value, constraints = self._parts()
        theta, box = cp.Parameter(self._m), [d >= 0, d <= 1] if boxed else []
        goal = cp.Maximize(theta @ d - value)
        return _Program(cp.Problem(goal, [*box, *constraints]), d, (theta,), None)

    def _make_boxed_conjugate(self) -> _Program:
        return self._make_conjugate(boxed=True)

    def _make_penalty(self) -> _Program:
        of = self._pointwise
        if not of.own:
            problem = cp.Problem(cp.Minimize(of.value), of.constraints)
            return _Program(problem, of.d, (), None, tuple(of.domain))
        where = cp.Parameter(self._m)
        problem = cp.Problem(cp.Minimize(of.value), [*of.constraints, of.d == where])
        return _Program(problem, of.d, (where,), None)

    def _solve(self, program: _Program, what: str) -> float:
        status, value = solve_problem(program.problem)
        if status in SOLVED and program.d.value is not None:
            return value
        name, large = self._name(), max(np.abs(p.value).max() for p in program.parameters) > _LARGE
        bounded = not self._pointwise.own and math.isfinite(self.penalty(self._even))
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
    """Return cvxpy's cone program of f, or None if it has cones of matrices or powers."""
    form = programs(relaxation, m).form
    return None if form is None or form.matrix or form.power else form


def check(relaxation: Any, m: int) -> None:
    """Raise an InputError unless methods that are overridden return what is asked for.

    If its bounds are not proved, `cvxpy_penalty` must return a convex function and constraints.
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
    check_returns(relaxation, m)  # before `resolve` of a family asks them
