"""The function `fit`, which learns linear costs from demonstrations to a certified gap."""

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
from relaxboost.planning.bundle import Bundle, FitState
from relaxboost.planning.choosing import Chosen, choose
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.planners import shortest_arcs
from relaxboost.planning.problem import FitPoint, Problem, zero_features
from relaxboost.planning.regularisers import Regulariser, Ridge
from relaxboost.planning.tasks import Task
from relaxboost.solvers.bundle.method import rounds


class FitRecord(NamedTuple):
    """The record of one round in the history of `fit`."""

    round: int
    value: float
    """The objective Ω + R at the point that was evaluated in this round."""
    lower: float
    """The best lower bound so far."""
    upper: float
    """The least objective value found so far."""
    seconds: float


class Ends(TypedDict, total=False):
    """The limits at which a run of `fit` ends."""

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
    lower, upper : float
        lower <= min Ω + R <= Ω(w) + R(w) <= upper. The lower bound comes from an average of cuts,
        each of which is below R for every path. The upper bound comes from the potentials of every
        plan. Both account for rounding, but not for underflow, which affects losses below 1e-300.
        The arc features B X are treated as exact numbers. Two things are not proved: the
        bounds of the integer program for ``negative="simple"``, and, for ``"exact"``, that costs
        in doubles show whether the exact costs at w are negative around a cycle.
    status : str
        "optimal", "max_rounds", "time_limit", "callback", "interrupted", or "stalled" if rounding
        prevents further progress. For `reference` it is the status of the solver.
    exact : bool
        Whether every plan at w is exact. With ``negative="relaxed"`` the bracket encloses the
        convex upper bound of the loss that `Oracle` describes. If `exact`, `upper` is also an
        upper bound of the loss at w. The least loss may still be below `lower`, at a w with
        negative costs.
    chosen : Chosen, optional
        How the strength of the ridge was chosen, if none was given.
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
        Give a `Problem` to set more than the regulariser, such as signs, scales, or the treatment
        of negative costs.
    regulariser : Regulariser, optional
        By default a `Ridge` whose strength is chosen by cross-validation on three folds, which hold
        whole clusters of trips that overlap. The score is the share of arcs that plans have in
        common with held-out trips; `Fit.chosen` has the scores. With fewer than six clusters the
        strength is a thousandth of the largest strength that is tried. A `Problem` has its own
        regulariser, but if it was made without one and has w >= 0, its strength is chosen too.
    method : {"bundle"} or Bundle
        A `Bundle` has options: ``Bundle(start=fit)`` continues an earlier run.
    tol : float
        Above 0. The run ends when upper − lower <= tol · upper, where upper is the best value so
        far. The rounding of the gains of losses, `Problem.floor`, is tolerated too, and the proof
        at the end adds a few roundings. Both matter only for values close to 0.
    verbose : int
        Above 0, the gap is shown on a terminal.
    **limits
        ``max_rounds``, >= 1, by default 10,000. ``time_limit``, > 0, the seconds from the call,
        which can end the run within a round. Two evaluations are always completed: the first, and
        the last, which proves the upper bound. The choice of a strength takes at most half of the
        time, after a further evaluation. ``callback`` is called with the `FitState` of each round,
        and the run ends if its result is true.

    Warns
    -----
    UserWarning
        If all learned costs are 0, if there is nothing to learn because the demonstrations are
        shortest paths by each of the features alone, or if a feature is 0 on every arc. The warning
        names the remedy.

    Returns
    -------
    Fit
        After Ctrl-C it has the status "interrupted" and the best bracket so far.

    Raises
    ------
    InputError
        For problems that the method cannot solve, and options that are out of range.
    NegativeCycle
        For ``negative="exact"``, if costs minus losses are negative around a cycle.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Maximum margin planning.

    Examples
    --------
    >>> import numpy as np
    >>> from relaxboost import planning
    >>> roads = planning.Graph([0, 1, 0], [1, 2, 2], np.array([[1.0, 0.0], [1.0, 0.0], [1.5, 1.0]]))
    >>> trip = planning.Task(roads, 0, 2, [0, 1, 2])
    >>> found = planning.fit([trip], planning.Ridge(0.1))
    >>> found.status
    'optimal'
    """
    # Runs end by the gap long before this, unless rounding prevents it.
    limits.setdefault("max_rounds", 10_000)
    ends = Limits(**limits)
    clock = Clock(ends.time_limit)
    problem = as_problem(tasks, regulariser)
    chosen = None
    bundle = Bundle() if method == "bundle" else method
    if not isinstance(bundle, Bundle):
        raise InputError(f'method must be "bundle" or a Bundle with options, got {method!r}')
    # Wrong options must fail before the choice of a strength takes time.
    begin = bundle.first(problem)
    positive("tol", tol)
    if problem.chooses:
        # The choice must leave time for the fit itself.
        chosen, near = choose(problem, Clock(clock.left / 2.0))
        problem = problem.changed(regulariser=Ridge(chosen.strength))
        if bundle.start is None:
            begin = near
        if chosen.ended == "interrupted":  # This single round computes both bounds.
            ends = replace(ends, max_rounds=1)
    bracket = _Bracket(tol, clock, problem.floor)
    with closing("gap", tol, verbose > 0) as bracket.show:
        model = bundle.model(problem)
        states = rounds(model, problem.at(begin), clock, bundle.patience)
        status = run(states, bracket.keep, ends, clock) or "stalled"
    # The chosen strength is then arbitrary, even if a single round closes the bracket.
    if chosen and chosen.ended == "interrupted":
        status = chosen.ended
    assert bracket.best is not None
    # The values of the rounds come from plans in doubles; only this one is proved.
    proved = problem.at(bracket.best.w, prove=True)
    history = tuple(bracket.history)
    found = bracketed(problem, proved, bracket.lower, status, "bundle", history, clock)
    found = replace(found, chosen=chosen)
    # These warnings also concern costs that satisfy the optimality conditions: costs of 0, and
    # costs of demonstrations that are optimal for every feature.
    remedy = _remedy(found, min(one.value for one in found.history), problem, clock)
    for said in filter(None, (zero_features(problem.oracle.graphs), remedy)):
        warnings.warn(said, UserWarning, stacklevel=2)
    return found


def as_problem(tasks: Sequence[Task] | Problem, regulariser: Regulariser | None) -> Problem:
    """Return a `Problem` for a list of tasks; a given `Problem` is returned unchanged."""
    if not isinstance(tasks, Problem):
        return Problem(tasks, regulariser)
    if regulariser is not None:
        raise InputError(
            "the Problem has its own regulariser; give the regulariser to Problem, or give a list "
            "of tasks"
        )
    return tasks


class _Bracket:
    """The state of a run: its best point, its best lower bound and its history."""

    def __init__(self, tol: float, clock: Clock, floor: float) -> None:
        self.tol = tol
        self.clock = clock
        self.best: FitPoint | None = None
        self.floor = self.lower = floor
        self.history: list[FitRecord] = []
        self.show: Callable[[float, int], None] = lambda gap, round: None

    def keep(self, state: FitState) -> str:
        """Keep the result of a round; return "optimal" if the gap is small enough, else ""."""
        point = state.point
        if self.best is None or point.value < self.best.value:
            self.best = point
        # Every lower bound is valid on its own, so that the best one counts.
        self.lower = max(self.lower, state.lower)
        done = len(self.history) + 1
        upper = self.best.value
        self.history.append(FitRecord(done, point.value, self.lower, upper, self.clock.seconds))
        self.show((upper - self.lower) / upper if upper > 0.0 else 0.0, done)
        # Without the second term, no value of 0 would be optimal if the floor is below 0.
        return "optimal" if upper - self.lower <= self.tol * upper - self.floor else ""


def bracketed(
    problem: Problem,
    proved: FitPoint,
    lower: float,
    status: str,
    method: str,
    history: tuple[FitRecord, ...],
    clock: Clock,
) -> Fit:
    """Return the `Fit` of a proved point, or raise if the bounds cross, which is an error."""
    upper = proved.bound
    if lower > upper:
        raise ArithmeticError(
            f"the lower bound {lower!r} is above the upper bound {upper!r}: a loss changes from "
            "call to call, or relaxboost has an error; please report it"
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


def _remedy(fit: LinearCosts, value: float, problem: Problem, clock: Clock) -> str:
    """Return a warning about costs that do not help, with its remedy; value is the least found.

    The demonstrations are not examined if the clock's time is over.
    """
    # Costs below this share of the loss are rounding errors of 0.
    at_zero = bool(np.abs(problem.scale * fit.w).max() <= 1e-9 * fit.upper)
    if at_zero and value == 0.0:
        return (
            "there is nothing to learn: no path has a loss even if all costs are 0, because each "
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
            "better; give less strength (a larger radius), other features, free signs "
            "(Problem(tasks, nonnegative=False)), or boost"
        )
    # Checking all demonstrations takes as long as a round for each feature.
    if clock.left and all(_is_shortest(problem, j) for j in range(problem.d)):
        return (
            "there is nothing to learn: every demonstration is a shortest path by each feature "
            f"({', '.join(problem.names[:5])}) alone, and so at all weights >= 0; give trips that "
            "leave the shortest path, or other features"
        )
    return ""


def _is_shortest(problem: Problem, j: int) -> bool:
    """Return whether every demonstration is a shortest path if feature j is the cost."""
    costs = [features[:, j] for features in problem.arc_features]
    if min(float(c.min(initial=0.0)) for c in costs) < 0.0:
        return False
    for row in problem.oracle.rows:
        graph = problem.oracle.graphs[row.graph]
        c = costs[row.graph]
        taken, _ = shortest_arcs(graph, c[graph.forward.arcs], row.source, row.target)
        # The factor allows for the rounding of the two sums.
        if c[row.path.arcs].sum() > c[taken].sum() * (1.0 + 1e-12):
            return False
    return True
