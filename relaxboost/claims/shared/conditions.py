"""A check of the three conditions of SS09 Thm 7, and the margin side of this theorem.

The theorem equates the edge side, a minimum over distributions, with the margin side, a maximum
over weights. For a closed convex f it requires

(i)   min f = 0, which is f*(0) = 0 with the minimum attained;
(ii)  0 in the core of dom f;
(iii) f*(θ − α θ_i e_i) <= f*(θ) for every θ, i and α in [0, 1].

Condition (iii) is equivalent to a condition on f itself: f(Dd) <= f(d) for every diagonal matrix D
with entries in [0, 1]. If f satisfies it, then f*(Dθ) = sup <d, Dθ> − f(d) = sup <Dd, θ> − f(d) <=
sup <Dd, θ> − f(Dd) <= f*(θ). If f* satisfies it, the same argument proves it for f**, and f** = f
because f is closed. Moreover it suffices to consider α = 1 on both sides: α -> f*(θ − α θ_i e_i) is
convex, so it does not exceed the larger of its values at 0 and 1. Therefore the search for
violations only sets single coordinates to zero.

If f is *not* closed, the theorem can fail even under (i)–(iii). An example with m = 2 is f = 0 on
‖d‖_inf < 1/2 and f = 1 at the corners, with A = [[1], [1]]: the edge side is 2 and the margin side
is 1. A `Relaxation` is closed by definition, and so is every function that cvxpy accepts.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import count
from relaxboost._core.rounding import SOLVER_ERROR
from relaxboost._core.seeds import Rng, accepts_seed, generator
from relaxboost.claims.shared import violations
from relaxboost.claims.shared.violations import Violation
from relaxboost.relaxations.base import Relaxation, operands_of
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.relaxations.cone_solver import SOLVED, solve_problem
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.own import resolved

Verdict = Literal["holds", "declared", "fails", "undecided"]


class Condition(NamedTuple):
    """The verdict on one of the three conditions of SS09 Thm 7, with the reason."""

    name: str
    verdict: Verdict
    reason: str
    witness: Any = None
    """The counterexample if the condition fails, and otherwise None. For condition (i), min f = 0,
    it is the minimum, or a d with f(d) < 0. For condition (ii), f finite near 0, it is a direction
    v with f(τv) = inf for small τ > 0, or the zero vector if f(0) = inf. For condition (iii), on
    the conjugate, it is a `Violation`."""


class Conditions(NamedTuple):
    """The verdicts on the three conditions of SS09 Thm 7 for a relaxation on m examples."""

    minimum: Condition
    core: Condition
    monotone: Condition

    @property
    def ok(self) -> bool:
        """Whether every condition holds or is declared to hold, so that Thm 7 and Lemma 8 apply."""
        return all(c.verdict in ("holds", "declared") for c in self)

    def __str__(self) -> str:
        width = max(len(c.name) for c in self)
        return "\n".join(f"{c.name:<{width}}  {c.verdict:<9}  {c.reason}" for c in self)


@accepts_seed
def check_conditions(relaxation: Relaxation, m: int, rng: Rng = 0) -> Conditions:
    """Check the three conditions of SS09 Thm 7 for a relaxation f on m examples.

    They are: (i) the minimum of f is 0, (ii) f is finite near 0, and (iii) the conjugate f* does
    not increase if one coordinate of its argument moves towards 0. Each verdict is one of

    * ``holds``: the condition is proved. It is a theorem about families of this package and their
      multiples, sums, shifts and dilations, or it follows from convexity and a few values of f,
      which the reason describes.
    * ``fails``: a counterexample, the witness, violates the condition. A witness of (iii) violates
      the condition on f and on f*, by far more than the accuracy of the solvers.
    * ``declared``: the user declared the condition, and the search found no violation.
    * ``undecided``: the search found no violation, and there is no proof.

    Parameters
    ----------
    relaxation : Relaxation
        The relaxation f.
    m : int
        The number of examples, at least 1.
    rng : int, numpy.random.Generator or None
        The seed (>= 0) or the generator of the search for violations. None takes a new seed.

    Returns
    -------
    Conditions
        Three tuples `Condition(name, verdict, reason, witness)`, which print as a table.

    Raises
    ------
    InputError
        If `relaxation` is not a Relaxation, or is not defined for m examples.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Thm 7 and Lemma 8.

    Examples
    --------
    >>> import relaxboost as rb
    >>> found = rb.check_conditions(rb.Capped(k=2), m=4)
    >>> [condition.verdict for condition in found]
    ['holds', 'holds', 'holds']
    """
    if not isinstance(relaxation, Relaxation):
        raise InputError(f"`relaxation` must be a Relaxation, got {relaxation!r}")
    m = count("m", m)
    f = resolved(relaxation, m)
    proved = _is_ours(f)
    random = generator(rng)
    return Conditions(_minimum(f, m, proved), _core(f, m, proved), _monotone(f, m, proved, random))


def _is_ours(f: Relaxation) -> bool:
    # The package proves the traits of its own relaxations. Users declare those of others.
    ours = type(f).__module__.split(".")[0] == "relaxboost" and not isinstance(f, Custom)
    return ours and all(_is_ours(part) for part in operands_of(f))


def _by_family(f: Relaxation) -> str:
    family = repr(f).partition("(")[0]
    return "follows from its terms" if operands_of(f) else f"known of {family} in closed form"


def _minimum(f: Relaxation, m: int, proved: bool) -> Condition:
    name = "(i)   min f = 0"
    if proved and f.traits.zero_minimum:
        return Condition(name, "holds", _by_family(f))
    lowest = -f.conjugate(np.zeros(m)) + 0.0  # This avoids -0.
    if lowest < -SOLVER_ERROR:
        d = violations.maximiser(f, np.zeros(m), 1e3)
        if d is not None and f.penalty(d) < -SOLVER_ERROR:
            reason = f"f(d) = {f.penalty(d):.6g} at the witness d"
            if lowest == -math.inf:
                reason += ", and f is not bounded below"
            return Condition(name, "fails", reason, d)
    elif lowest > SOLVER_ERROR * _scale(f, m):
        return Condition(name, "fails", f"min f = -f*(0) = {lowest:.6g}", lowest)
    value, _ = f.cvxpy_penalty(cp.Variable(m))
    nonnegative = value.is_nonneg() if hasattr(value, "is_nonneg") else value >= 0
    if nonnegative and f.penalty(np.zeros(m)) == 0.0:
        return Condition(name, "holds", "f >= 0 by the signs of its terms, and f(0) = 0")
    if f.traits.zero_minimum:
        reason = f"declared by the user; -f*(0) = {lowest:.2g} is no evidence against it"
        return Condition(name, "declared", reason)
    return Condition(name, "undecided", f"-f*(0) = {lowest:.2g}, as computed by a solver")


def _scale(f: Relaxation, m: int) -> float:
    # The errors of solvers are relative to the largest |f| on the simplex, if it exceeds 1.
    values = [abs(f.penalty(d)) for d in (f.center(m), np.eye(m)[0], np.eye(m)[-1])]
    return max(1.0, *(v for v in values if math.isfinite(v)), 1.0)


def _core(f: Relaxation, m: int, proved: bool) -> Condition:
    name = "(ii)  0 in core(dom f)"
    if proved and f.traits.zero_in_core:
        return Condition(name, "holds", _by_family(f))
    if not math.isfinite(f.penalty(np.zeros(m))):
        return Condition(name, "fails", "f(0) = inf", np.zeros(m))
    # The point 0 is in the interior of the simplex with the corners τ e_i and −τ 1. If f is finite
    # at all corners, it is finite around 0, because dom f is convex.
    smallest = 1.0
    steps = [10.0**-e for e in range(9)]
    steps += [3e-9] if not bounds_of(f).is_proved else [1e-12, 1e-16, 1e-30, 1e-100, 1e-300]
    for v in (*np.eye(m), -np.ones(m)):
        tau = next((t for t in steps if math.isfinite(f.penalty(t * v))), None)
        if tau is None:
            reason = f"f(τ v) = inf for the witness v and every τ = 1, 0.1, ..., {steps[-1]:g}"
            return Condition(name, "fails", reason, v)
        smallest = min(smallest, tau)
    # Since cvxpy does not notice a violation of less than 1e-9, a small τ is no proof.
    if smallest >= 1e-3:
        reason = f"dom f is convex and contains τ e_i for every i and −τ 1, τ = {smallest:g}"
        return Condition(name, "holds", reason)
    if f.traits.zero_in_core:
        return Condition(name, "declared", "declared by the user, and not refuted")
    return Condition(name, "undecided", f"f is finite around 0 only within {smallest:g}")


def _monotone(f: Relaxation, m: int, proved: bool, rng: np.random.Generator) -> Condition:
    name = "(iii) f*(θ − α θ_i e_i) <= f*(θ)"
    if proved and f.traits.monotone:
        return Condition(name, "holds", _by_family(f))
    violation, tried = violations.search(f, m, rng)
    declared = "declared by the user" if f.traits.monotone else ""
    if violation is not None:
        reason = f"{violation}, though {declared}" if declared else str(violation)
        return Condition(name, "fails", reason, violation)
    none = f"{tried} points searched, no violation found"
    if declared:
        return Condition(name, "declared", f"{declared}; {none}")
    return Condition(name, "undecided", none)


def hinge_form(relaxation: Relaxation, u: Vector) -> float:
    """Return the margin side of SS09 Thm 7: the maximum over γ of γ − f*([γ − u]_+).

    By Lemma 8, the margin side equals the relaxed margin F(u) if f satisfies the three conditions
    of Thm 7. In general it is at most F(u), which is the supremum of γ − f*(x) over all γ and all
    x >= γ − u.

    cvxpy solves a concave program for γ between each margin and the next larger one, so the result
    v has an error of about 1e-8. In a claim, write ``Bracket(v - 1e-8, v + 1e-8)``.

    Parameters
    ----------
    relaxation : Relaxation
        The relaxation f.
    u : array of shape (m,)
        The margins of the examples.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Lemma 8.
    """
    u = np.asarray(u, dtype=np.float64)
    m = u.size
    f = resolved(relaxation, m)
    # Between two neighbouring margins, [γ − u]_+ is affine in γ, so the program is concave.
    kinks = np.unique(u)
    best = float(kinks[0]) - f.conjugate(np.zeros(m))
    gamma, x = cp.Variable(), cp.Variable(m)
    active, offset = cp.Parameter(m), cp.Parameter(m)
    low, high = cp.Parameter(), cp.Parameter()
    value, constraints = f.cvxpy_conjugate(x)
    goal = cp.Maximize(gamma - value)
    piece = [x == active * gamma - offset, gamma >= low, *constraints]
    inner, last = cp.Problem(goal, [*piece, gamma <= high]), cp.Problem(goal, piece)
    for k, kink in enumerate(kinks):
        active.value = (u <= kink).astype(np.float64)
        offset.value = active.value * u
        low.value = kink
        problem = last
        if k + 1 < kinks.size:
            high.value = kinks[k + 1]
            problem = inner
        if solve_problem(problem)[0] in SOLVED:
            best = max(best, float(problem.value))
    return best


__all__ = ["Condition", "Conditions", "Verdict", "Violation", "check_conditions", "hinge_form"]
