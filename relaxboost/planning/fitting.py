"""`fit`: learn linear costs from demonstrations, to a certified gap."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.parameters import positive
from relaxboost._core.progress import closing
from relaxboost.planning.bundle import Bundle, FitState, Master, rounds
from relaxboost.planning.choosing import Chosen, chosen
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.planners import shortest_arcs
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Regulariser, Ridge
from relaxboost.planning.tasks import Task

_ZERO = 1e-9
"""What costs are 0 below, as a share of the loss."""


class FitRecord(NamedTuple):
    """One round of the history."""

    round: int
    value: float
    """Ω + R where the round evaluated it."""
    lower: float
    """The best lower bound so far."""
    upper: float
    """The best value so far."""
    seconds: float


class Ends(TypedDict, total=False):
    """When `fit` ends besides at a gap."""

    max_rounds: int | None
    time_limit: float | None
    callback: Callable[[FitState], Any] | None


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
    chosen : Chosen, optional
        How the strength of the ridge was chosen, where none was given.
    """

    seconds: float
    problem: Problem = field(repr=False)
    history: tuple[FitRecord, ...] = field(repr=False)
    chosen: Chosen | None = field(default=None, repr=False)


def fit(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    method: str | Bundle = "bundle",
    tol: float = 1e-3,
    verbose: int = 0,
    **limits: Unpack[Ends],
) -> Fit:
    """Learn linear costs by maximum-margin planning, to a certified relative gap.

    Parameters
    ----------
    tasks : sequence of Task, or Problem
        A `Problem` where more than the regulariser is to be chosen: signs, squares, what happens
        to negative costs.
    regulariser : Regulariser, optional
        By default a `Ridge` whose strength is chosen on three folds of clusters of trips that
        overlap, by how much of held-out trips is planned; `Fit.chosen` has the scores. With fewer
        than six clusters it is a thousandth of the largest that is tried. A `Problem` has its own,
        or if it was made without one and has w >= 0 the strength is chosen too.
    method : {"bundle"} or Bundle
        With options: ``Bundle(start=fit)`` goes on from an earlier run.
    tol : float
        Above 0. The run ends when upper − lower <= tol · upper, for the best value so far as upper.
        The proof at the end adds a few roundings, which show only where the value is next to 0.
    verbose : int
        Above 0 shows on a terminal how the gap closes.
    **limits
        ``max_rounds``, >= 1, by default 10,000. ``time_limit``, seconds from the call on, > 0:
        planning stops for it, even within a round. Two evaluations are always done to the end: the
        first, and the one that proves the upper bound. Choosing a strength takes at most half,
        after one evaluation more. ``callback``, called with the `FitState` of each round; the run
        ends when what it returns is true.

    Warns
    -----
    UserWarning
        With the remedy, where all learned costs are 0, and where there was nothing to learn, since
        the demonstrations are shortest by each of the features alone.

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
    limits.setdefault("max_rounds", 10_000)
    ends = Limits(**limits)
    clock = Clock(ends.time_limit)
    problem, picked = as_problem(tasks, regulariser), None
    bundle = Bundle() if method == "bundle" else method
    if not isinstance(bundle, Bundle):
        raise InputError(f'method must be "bundle" or a Bundle with options, got {method!r}')
    begin = bundle.first(problem)
    positive("tol", tol)
    if problem.chooses:
        half = None if ends.time_limit is None else clock.left / 2.0
        picked, near = chosen(problem, Clock(half))
        if picked.ended == "interrupted":
            ends = replace(ends, max_rounds=1)
        problem = problem.of(regulariser=Ridge(picked.strength))
        begin = near if bundle.start is None else begin
    bracket = _Bracket(tol, clock)
    with closing("gap", tol, verbose > 0) as bracket.show:
        states = rounds(Master(problem), problem.at(begin), clock)
        status = run(states, bracket.keep, ends, clock) or "stalled"
    if picked and picked.ended == "interrupted" and status == "max_rounds":
        status = picked.ended
    assert bracket.best is not None
    proved, history = problem.at(bracket.best.w, prove=True), tuple(bracket.history)
    found = bracketed(problem, proved, bracket.lower, status, "bundle", history, clock)
    found = replace(found, chosen=picked)
    if said := _remedies(found, min(one.value for one in found.history), problem, clock):
        warnings.warn(said, UserWarning, stacklevel=2)
    return found


def as_problem(tasks: Sequence[Task] | Problem, regulariser: Regulariser | None) -> Problem:
    """Return a problem of tasks, or the one that was given, which has its own regulariser."""
    if not isinstance(tasks, Problem):
        return Problem(tasks, regulariser)
    if regulariser is not None:
        raise InputError(
            "the Problem has a regulariser of its own; give it to Problem, or a list of tasks"
        )
    return tasks


class _Bracket:
    """The best bracket so far."""

    def __init__(self, tol: float, clock: Clock) -> None:
        self.tol, self.clock = tol, clock
        self.best: FitPoint | None = None
        self.lower = 0.0
        self.history: list[FitRecord] = []
        self.show: Callable[[float, int], None] = lambda gap, round: None

    def keep(self, state: FitState) -> str:
        """Keep what a round found; return "optimal" where that will do, else ""."""
        point = state.point
        if self.best is None or point.value < self.best.value:
            self.best = point
        self.lower = max(self.lower, state.lower)
        done, upper = len(self.history) + 1, self.best.value
        self.history.append(FitRecord(done, point.value, self.lower, upper, self.clock.seconds))
        self.show((upper - self.lower) / upper if upper > 0.0 else 0.0, done)
        return "optimal" if upper - self.lower <= self.tol * upper else ""


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
            f"the lower bound {lower!r} is above the upper bound {upper!r}: a loss changes from "
            "call to call, or there is an error in relaxboost; please report it"
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


def _remedies(fit: LinearCosts, value: float, problem: Problem, clock: Clock) -> str:
    """Return what went wrong with costs whose least objective found is a value, and what helps.

    No demonstration is looked at when the time of the clock is over.
    """
    at_zero = bool(np.abs(problem.scale * fit.w).max() <= _ZERO * fit.upper)
    if at_zero and value == 0.0:
        return (
            "there is nothing to learn: no path has a loss even where all costs are 0, since each "
            "demonstration is the only path to its target, or the loss of its task is always 0; "
            "give trips with alternatives, and a loss such as Missed()"
        )
    if at_zero and fit.gap > 0.01 * fit.upper:
        return (
            f"the learned costs are all 0, as the run ended with {fit.status!r} after "
            f"{number_of(fit.rounds, 'round')}; "
            "give it more of them or more time, or fewer tasks"
        )
    if at_zero:
        return (
            f"the learned costs are all 0, so that every path is shortest: {problem.regulariser!r} "
            "outweighs the losses, or no costs linear in these features explain the demonstrations "
            "better than none; give less strength (a larger radius), other features, free signs "
            "(Problem(tasks, nonnegative=False)), or boost"
        )
    if clock.left and all(_shortest(problem, j) for j in range(problem.d)):
        return (
            "there is nothing to learn: every demonstration is a shortest path by each feature "
            f"({', '.join(problem.names[:5])}) alone, and so at all weights >= 0; give trips that "
            "leave the shortest path, or other features"
        )
    return ""


def _shortest(problem: Problem, j: int) -> bool:
    """Whether every demonstration is a shortest path at one feature as the cost."""
    costs = [features[:, j] for features in problem.arc_features]
    if min(float(c.min(initial=0.0)) for c in costs) < 0.0:
        return False
    for row in problem.oracle.rows:
        graph, c = problem.oracle.graphs[row.graph], costs[row.graph]
        taken, _ = shortest_arcs(graph, c[graph.forward.arcs], row.source, row.target)
        if c[row.path.arcs].sum() > c[taken].sum() * (1.0 + 1e-12):
            return False
    return True
