"""`fit`: learn linear costs from demonstrations, to a certified gap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.parameters import positive
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.optimisers.base import OPTIMISERS, FitState, Optimiser
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Regulariser
from relaxboost.planning.tasks import Task


class FitRecord(NamedTuple):
    """One round of the history."""

    round: int
    value: float
    """Ω + R where the round evaluated it; nan if it did not."""
    lower: float
    """The best lower bound so far."""
    upper: float
    """The best value so far."""
    seconds: float


@dataclass(frozen=True, eq=False)
class Fit(LinearCosts):
    """Linear costs c = B X w, and a bracket of the least objective.

    Attributes
    ----------
    w : array of shape (d,)
        The best weights found.
    names : tuple of str
        Of the features.
    lower, upper : float
        lower <= min Ω + R <= Ω(w) + R(w) <= upper. The lower bound comes from an average of cuts,
        each below R whatever path it was made of; the upper one from the potentials of every plan.
        Both are charged for rounding, but not for underflow, which takes losses below 1e-300.
        Features of arcs, B X, are taken as they are in doubles. Two things are believed: the
        bounds of the integer program, for ``negative="simple"``; and, for ``"exact"``, that costs
        at w in doubles tell whether they fall around a cycle.
    status : str
        "optimal", "max_rounds", "time_limit", "callback", "interrupted", or "stalled" where
        rounding keeps the method from going on. Of `reference`, what the solver says.
    exact : bool
        Whether every plan at w is. With ``negative="relaxed"`` the bracket is about the convex
        bound above the loss that `Oracle` describes. If exact, `upper` bounds the loss at w too;
        but the least loss may be below `lower`, at a w where costs are negative.
    """

    seconds: float
    problem: Problem = field(repr=False)
    history: tuple[FitRecord, ...] = field(repr=False)


def fit(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    method: str | Optimiser = "bundle",
    tol: float = 1e-3,
    max_rounds: int | None = 10_000,
    time_limit: float | None = None,
    callback: Callable[[FitState], Any] | None = None,
) -> Fit:
    """Learn linear costs by maximum-margin planning, to a certified relative gap.

    Parameters
    ----------
    tasks : sequence of Task, or Problem
        A `Problem` where more than the regulariser is to be chosen: signs, squares, what happens
        to negative costs.
    regulariser : Regulariser, optional
        By default `Ridge()`. A `Problem` has its own.
    method : {"bundle"} or Optimiser
        A name, or an object with options: ``Bundle(start=fit)`` goes on from an earlier run.
    tol : float
        > 0. The run ends when upper − lower <= tol · upper, for the best value so far as upper.
        The proof at the end adds a few roundings, which show only where the value is next to 0.
    max_rounds : int, optional
        >= 1.
    time_limit : float, optional
        Seconds from the call on, > 0. Planning stops for it, even within a round. Two evaluations
        are always done to the end: the first, and the one that proves the upper bound.
    callback : callable, optional
        Called with the `FitState` of each round; the run ends when what it returns is true.

    Returns
    -------
    Fit
        Also after Ctrl-C, with status "interrupted" and the best bracket so far.

    Raises
    ------
    InputError
        For a problem that the method cannot do, and options out of their range.
    NegativeCycle
        For ``negative="exact"``, where costs less losses fall for ever around a cycle.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Maximum margin planning.
    """
    limits = Limits(max_rounds, time_limit, callback)
    clock = Clock(limits.time_limit)
    problem = as_problem(tasks, regulariser)
    optimiser = _optimiser(method)
    optimiser.check(problem)
    bracket = _Bracket(problem, positive("tol", tol), clock)
    states = optimiser.steps(problem, optimiser.first(problem), clock)
    status = run(states, bracket.keep, limits, clock) or "stalled"
    return bracket.proved(optimiser.name, status)


def as_problem(tasks: Sequence[Task] | Problem, regulariser: Regulariser | None) -> Problem:
    """Return a problem of tasks, or the one that was given, which has its own regulariser."""
    if not isinstance(tasks, Problem):
        return Problem(tasks, regulariser)
    if regulariser is not None:
        raise InputError(
            "the Problem has a regulariser of its own; give it to Problem, or a list of tasks"
        )
    return tasks


def _optimiser(method: str | Optimiser) -> Optimiser:
    if isinstance(method, Optimiser):
        return method
    if isinstance(method, str) and method in OPTIMISERS:
        return OPTIMISERS[method]()
    raise InputError(
        f"method must be one of {', '.join(OPTIMISERS)}, or an Optimiser such as Bundle(), "
        f"got {method!r}"
    )


class _Bracket:
    """The best bracket so far."""

    def __init__(self, problem: Problem, tol: float, clock: Clock) -> None:
        self.problem, self.tol, self.clock = problem, tol, clock
        self.best: FitPoint | None = None
        self.lower = 0.0
        self.history: list[FitRecord] = []

    def keep(self, state: FitState) -> str:
        """Keep what a round found; return "optimal" where that will do, else ""."""
        point, value = state.point, np.nan
        if point is not None:
            value = point.value
            if self.best is None or value < self.best.value:
                self.best = point
        assert self.best is not None
        self.lower = max(self.lower, state.lower)
        done, upper = len(self.history) + 1, self.best.value
        self.history.append(FitRecord(done, value, self.lower, upper, self.clock.seconds))
        return "optimal" if upper - self.lower <= self.tol * upper else ""

    def proved(self, method: str, status: str) -> Fit:
        """Return the best weights; their value is proved here, once."""
        assert self.best is not None
        proved = self.problem.at(self.best.w, prove=True)
        history = tuple(self.history)
        return bracketed(self.problem, proved, self.lower, status, method, history, self.clock)


def bracketed(
    problem: Problem,
    proved: FitPoint,
    lower: float,
    status: str,
    method: str,
    history: tuple[FitRecord, ...],
    clock: Clock,
) -> Fit:
    """Return a `Fit` of a proved point, or raise where bounds cross: something is wrong then."""
    upper = proved.bound
    if lower > upper:
        raise ArithmeticError(
            f"the lower bound {lower!r} is above the upper bound {upper!r}: value and conjugate of "
            f"{problem.regulariser!r}, or a loss, contradict each other, or there is an error in "
            "relaxboost; please report it"
        )
    return Fit(
        w=proved.w,
        names=problem.names,
        lower=lower,
        upper=upper,
        status=status,
        method=method,
        rounds=len(history),
        exact=proved.plans.exact,
        seconds=clock.seconds,
        problem=problem,
        history=history,
    )
