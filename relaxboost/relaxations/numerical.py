"""The default methods of `Relaxation`, which use a cone solver.

They compute the relaxed margin F, distributions, the conjugate f* and bounds. They are slow, and
their results are only as accurate as Clarabel. Multipliers of the cone program of f prove lower
bounds on F(u), and its feasible points prove upper bounds.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations import dcp
from relaxboost.relaxations.compiled import CompiledProblems
from relaxboost.relaxations.cone_bounds import ConeBounds, ConeProof
from relaxboost.relaxations.cone_form import ConeForm, NoConeForm, cone_form
from relaxboost.relaxations.cone_points import ConePoints
from relaxboost.relaxations.own import defines

NO_BOUND = (
    "Clarabel's multipliers for the cone program of f prove no lower bound, so "
    "the lower bound is -inf"
)
UNPROVED = (
    f"{NO_BOUND}; scale f and its variables to sizes near one, or write a class that derives from "
    "Relaxation and Bounds, with its own witness, lower_bound and penalty_bound"
)
UNMET = (
    "no point was found that satisfies the constraints of f, so the upper bound holds only if "
    "constraints may be violated by 1e-9"
)
DEPENDENT = "some equations of f follow from others up to rounding; remove them"
ROUNDED = f"the upper bound holds only if equations may be violated by 1e-13: {DEPENDENT}"
NAME_PARAMETER = (
    "; if a parameter has one entry for each example, name it in the class, as in "
    'per_example = "caps"'
)
"""The advice in the error message if a user's `cvxpy_penalty` fails.

Classes without `per_example` get this advice, because a parameter with one entry per example is the
likeliest cause.
"""


class DualWitness(NamedTuple):
    """A threshold γ and a vector x >= γ − u, which prove the bound F(u) >= γ − f*(x).

    The optional `proof` contains multipliers of the cone program of f, which prove a bound without
    evaluating f*.
    """

    gamma: float
    x: Vector
    proof: ConeProof | None = None


class Programs(CompiledProblems):
    """The cone programs of a relaxation f for m examples, for values and bounds of f and F."""

    def margin(self, u: Vector) -> tuple[float, Vector, float, Vector]:
        """Return the relaxed margin F(u), the minimiser d, the threshold γ, and a vector x.

        They satisfy x >= γ − u and F(u) = γ − f*(x). If the multipliers prove no bound on F(u), γ
        is −inf, and the other results are not proved.
        """
        found: tuple[float, Vector, float, Vector] | None = self.known("margin", u)
        if found is not None:
            return found
        solved = None if self._cones is None else self._cones.solve(u)
        if solved is None or solved.below == -math.inf:
            value, d, _, x = self.solved_margin(u)
            self.keep("proof", u, None)
            return self.keep("margin", u, (value, d, -math.inf, x))
        self.keep("proof", u, solved.proof)
        return self.keep("margin", u, (solved.below, solved.d, solved.gamma, solved.slope))

    def require_form(self) -> None:
        """Raise InputError if no cone program can prove bounds."""
        if isinstance(self._form, NoConeForm):
            raise InputError(f"{brief(self._relaxation)}: {self._form}")

    def require(self) -> None:
        """Raise InputError if no lower bound on F(0) can be proved."""
        self.require_form()
        if self.margin(np.zeros(self._m))[2] == -math.inf:
            raise InputError(
                f"{brief(self._relaxation)} cannot be used in a game: {self.unproved()}"
            )

    def unproved(self) -> str:
        """Explain why the lower bound on F(u) is −inf."""
        return f"{NO_BOUND}; {DEPENDENT}" if self._is_dependent else UNPROVED

    @property
    def _is_dependent(self) -> bool:
        return self.form is not None and self._points.has_dependent_equations

    @cached_property
    def _form(self) -> ConeForm | NoConeForm:
        try:
            return cone_form(self._relaxation.cvxpy_penalty, self._m)
        except NoConeForm as reason:
            return reason

    @property
    def form(self) -> ConeForm | None:
        """The cone program of f, or None if it cannot prove bounds."""
        return self._form if isinstance(self._form, ConeForm) else None

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

    def near_witness(self, u: Vector, given: ConeProof) -> DualWitness | None:
        """Move the multipliers `given` into the dual cones, and return them as a witness.

        The result is None if f has no cone program.
        """
        if self._cones is None:
            return None
        proof = self.known("multipliers", given.y)
        if proof is None:
            proof = self.keep("multipliers", given.y, self._cones.feasible(u, given))
        return DualWitness(*self._cones.tangent(u, proof), proof)

    def near_point(self, given: ConeProof) -> tuple[Vector, float] | None:
        """Return weights near the point of the proof `given`, and an upper bound on f there.

        No solver is called, neither here nor in a later call of `above` for these weights. The
        result is None if the point violates a constraint, or if cvxpy can evaluate f without a
        solver.
        """
        if self.form is None or self._pointwise.explicit:
            return None
        found = self._points.near(given.point, move=False)
        if found is not None:
            self.keep("point", *found)
        return found

    def below(self, u: Vector, proof: ConeProof) -> float:
        """Return the lower bound on F(u) that the multipliers `proof` prove."""
        return -math.inf if self._cones is None else self._cones.below(u, proof)

    def conjugate_above(self, theta: Vector) -> float:
        """Return an upper bound on the supremum of <d, θ> − f(d) over 0 <= d <= 1."""
        found = None if self._cones is None else self._cones.solve(-theta, box=True)
        return math.inf if found is None else -found.below

    def free_conjugate_above(self, theta: Vector) -> float:
        """Return an upper bound on the conjugate f*(θ)."""
        if self.form is None:
            return math.inf
        found = ConeBounds(self.form.tilted(theta), 0).solve(np.zeros(0), box=True)
        return math.inf if found is None else -found.below

    def above(self, d: Vector) -> tuple[float, float]:
        """Return an upper bound on f(d') for a d' of the simplex near `d`, and ‖d' − d‖_1.

        If no feasible auxiliary variables are found, the bound is only as accurate as the solver,
        and `unmet` returns a warning.
        """
        settled = self.known("point", d)
        solved = self.known("penalty", d)
        found: tuple[Vector, float] | None = None
        near = d
        value = math.inf
        # The point of an early iterate may prove only a bound far above f(d). Then a solver
        # computes f(d).
        if settled is None or (solved is not None and solved[0] < settled):
            value = self.penalty(d)
            if not math.isfinite(value):
                near = self._relaxation.repair(d)
                value = self.penalty(near)
            found = self._allowed(near) if math.isfinite(value) else (near, value)
        if found is None and settled is not None:
            found = self._last["point"][0], settled
        doubt = ROUNDED if self._is_dependent else ""
        self.keep("unmet", d, UNMET if found is None else doubt)
        if found is not None:
            near, value = found
        apart = math.fsum(np.abs(near - d).tolist())
        return value, apart + 8.0 * UNIT if apart else 0.0

    def _allowed(self, d: Vector) -> tuple[Vector, float] | None:
        """Return a d' near d that satisfies the constraints of f, and an upper bound on f(d').

        The result is None if no such d' is found.
        """
        f = self._pointwise
        if f.explicit and f.is_allowed(d):
            return d, f.above(d)
        if self._cones is None:
            return None
        found = None
        inside = self._points.inside
        # If d is outside the domain by a rounding error, a solver may find no z for d, but find one
        # for a point near d.
        for share in (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0):
            near = d
            if share > 0.0 and inside is not None:
                near = self._points.onto_domain(d)
                near = near + share * (inside[: self._m] - near)
            solved = self._solved_point(near)
            found = None if solved is None else self._points.near(solved[1])
            if found is not None or inside is None:
                break
        return (found[0], f.above(found[0])) if found is not None and f.explicit else found

    def _solved_point(self, d: Vector) -> tuple[float, Vector] | None:
        """Return f(d) and the point (d, z) that attains it, or None if Clarabel is inaccurate."""
        found: tuple[float, Vector] | None = self.known("penalty", d)
        if found is None and self._cones is not None:
            found = self._cones.at(d)
            if found is not None:
                self.keep("penalty", d, found)
        return found

    def unmet(self, d: Vector) -> str:
        """Return a warning if the bound from `above` is valid only under a condition, or ""."""
        if self.known("unmet", d) is None:
            self.above(d)
        return self.known("unmet", d) or ""

    def near(self, x: Vector) -> tuple[float, Vector] | None:
        """Search near x for a point that satisfies the constraints of f.

        Return an upper bound on f at the point and the point, which need not be in the simplex, or
        None.
        """
        f = self._pointwise
        if f.explicit and f.is_allowed(x):
            return f.above(x), x
        solved = self._solved_point(x)
        found = None if solved is None else self._free_points.near(solved[1])
        if found is None:
            return None
        return f.above(found[0]) if f.explicit else found[1], found[0]

    def penalty(self, d: Vector) -> float:
        """Return f(d), or inf if d is outside the domain or violates a constraint by over 1e-9."""
        if self._pointwise.explicit:
            return self._pointwise.at(d)
        self.require_form()
        found = self._solved_point(d)
        return math.inf if found is None else found[0]

    @cached_property
    def inside(self) -> list[Vector]:
        """Points of the simplex in the domain of f, up to rounding.

        The first is the mean of the others, each of which minimises <d, u> + f(d) + Σ d log d for a
        random u.
        """
        directions = np.random.default_rng(0).normal(size=(4, self._m))
        spread = [np.zeros(self._m), *directions, *-directions]
        found = [np.maximum(self.distribution(u, 1.0), 0.0) for u in spread]
        return [point / point.sum() for point in (np.mean(found, axis=0), *found)]

    @cached_property
    def interior(self) -> Vector:
        """A point of the simplex where f is finite, if possible the uniform distribution."""
        even = np.full(self._m, 1.0 / self._m)
        if math.isfinite(self._relaxation.penalty(even)):
            return even
        for d in self.inside:
            if math.isfinite(self._relaxation.penalty(d)):
                return d
        if self.form is not None and self._points.inside is not None:
            return self._points.inside[: self._m]
        raise InputError(
            f"{brief(self._relaxation)} is finite nowhere on the simplex for m = {self._m}, "
            "within the accuracy of the solver; enlarge its domain"
        )


def programs(relaxation: Any, m: int) -> Programs:
    """Return the cached cone programs of `relaxation` for m examples."""
    cache = vars(relaxation).setdefault("_programs", {})
    if m not in cache:
        cache[m] = Programs(relaxation, m)
    return cache[m]


def is_inside(relaxation: Any, d: Vector) -> bool:
    """Return whether a relaxation is finite at the point d.

    No solver is called for the last point that `Programs.near_point` returned.
    """
    made = vars(relaxation).get("_programs", {}).get(d.size)
    is_known = made is not None and made.known("point", d) is not None
    return is_known or math.isfinite(relaxation.penalty(d))


def solver_form(relaxation: Any, m: int) -> ConeForm | None:
    """Return a relaxation's cone program for solvers.

    The result is None if the program proves no bounds or has semidefinite cones.
    """
    form = programs(relaxation, m).form
    # Solvers are slow for semidefinite cones.
    return None if form is None or form.matrix else form


def check(relaxation: Any, m: int) -> None:
    """Raise InputError unless lower bounds on the relaxed margin F can be proved.

    If a user's class proves its own bounds, only the result types of its `cvxpy_penalty` are
    checked.
    """
    owner = f"{type(relaxation).__name__}.cvxpy_penalty"
    remedy = "" if relaxation.per_example else NAME_PARAMETER

    def pair(d: Any) -> Any:
        returned = relaxation.cvxpy_penalty(d)
        if isinstance(returned, tuple) and len(returned) == 2:
            return returned
        raise InputError(
            "the method must return a pair (expression, list of constraints), such as "
            f"(cp.norm2(d), []), but it returned a {type(returned).__name__}"
        )

    if not getattr(relaxation, "is_proved", False):
        dcp.parts(pair, m, owner, remedy)
        if not hasattr(relaxation, "lower_bound"):
            programs(relaxation, m).require()
    elif defines(relaxation, "cvxpy_penalty"):
        dcp.called(pair, m, owner, remedy)
