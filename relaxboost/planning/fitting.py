"""The function `fit`, which learns linear costs with proved bounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.names import explains_arguments
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
    """The record of one round of `fit`."""

    round: int
    value: float
    """The objective at the weights of this round: the regulariser plus the mean margin loss."""
    lower: float
    """The best proved lower bound on the minimum so far."""
    upper: float
    """The least objective value found so far."""
    seconds: float


class Ends(TypedDict, total=False):
    """The optional limits of a call of `fit`: rounds, seconds, and a callback."""

    max_rounds: int | None
    time_limit: float | None
    callback: Callable[[FitState], Any] | None


@dataclass(frozen=True, eq=False)
class Fit(LinearCosts):
    """Linear costs that `fit` learned, with proved bounds on the minimum of the objective.

    The objective is Ω(w) + R(w), with the regulariser Ω and the mean margin loss R of the
    `Problem`.

    Attributes
    ----------
    w : array of shape (d,)
        The best weights that `fit` found.
    lower, upper : float
        The bounds: lower <= min Ω + R <= Ω(w) + R(w) <= upper. The lower bound comes from an
        average of cutting planes, and the upper bound from the node potentials of shortest paths.
        Both bounds account for rounding, but not for underflow, which affects losses below 1e-300.
        They treat the features of the arcs as exact numbers. Two assumptions are not proved:
        ``negative="simple"`` relies on the lower bounds that HiGHS computes, and
        ``negative="exact"`` assumes that each negative cycle at w is also negative for the rounded
        costs.
    status : str
        The reason why the run ended: "optimal", "max_rounds", "time_limit", "callback",
        "interrupted", or "stalled" if rounding prevents further progress.
    exact : bool
        Whether the margin losses at w were computed exactly. With ``negative="relaxed"``, `lower`
        and `upper` bound the minimum of a convex upper bound on the objective; see `Oracle`. If
        `exact` is true, `upper` also bounds the exact objective at w, which may still be below
        `lower` if some costs are negative.
    chosen : Chosen, optional
        The record of how the ridge strength was chosen if the caller passed no regulariser.
    """

    seconds: float
    problem: Problem = field(repr=False)
    history: tuple[FitRecord, ...] = field(repr=False)
    chosen: Chosen | None = field(default=None, repr=False)


@explains_arguments(
    Ends.__annotations__,
    loss="the loss belongs to each task, as in Task(graph, source, target, path, Strayed())",
    strength="pass a regulariser, such as Ridge(1e-2)",
    negative="pass a Problem, such as Problem(tasks, negative=...)",
    nonnegative="pass a Problem, such as Problem(tasks, nonnegative=...)",
    scale="pass a Problem, such as Problem(tasks, scale=...)",
)
def fit(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    method: str | Bundle = "bundle",
    tol: float = 1e-3,
    verbose: int = 0,
    **limits: Unpack[Ends],
) -> Fit:
    """Learn linear costs by maximum-margin planning, up to a certified relative gap.

    Parameters
    ----------
    tasks : sequence of Task, or Problem
        The tasks to learn from. A `Problem` also sets the signs of the weights, the scale of the
        features, and the treatment of negative costs.
    regulariser : Regulariser, optional
        The default is a `Ridge` whose strength is chosen by cross-validation on three folds. This
        also applies to a `Problem` without a regulariser if its weights are >= 0. Overlapping trips
        are always in the same fold. The scores, in `Fit.chosen`, are the mean F1 scores of the arcs
        of plans for held-out trips. If there are fewer than six clusters of overlapping trips, the
        strength is a thousandth of the largest strength that would be tried.
    method : {"bundle"} or Bundle
        The method. A `Bundle` sets its options; ``Bundle(start=fit)`` continues an earlier run.
    tol : float
        The relative tolerance, > 0. The run ends when upper − lower <= tol · upper, where upper is
        the best value so far. An allowance for rounding errors, −`Problem.floor`, is added to the
        right side; it matters only for values close to 0.
    verbose : int
        If `verbose` is above 0, a progress bar shows the gap on a terminal.
    **limits
        ``max_rounds``, >= 1, by default 10,000. ``time_limit``, > 0, in seconds from the call, can
        end the run within a round. The first evaluation and the last, which proves the upper bound,
        are always completed. Choosing the strength takes one more evaluation, and at most half of
        the time. ``callback`` is called with the `FitState` of each round, and ends the run if it
        returns a true value.

    Warns
    -----
    UserWarning
        If all learned costs are 0, if the demonstrations are shortest paths by each feature alone,
        if a feature is 0 on every arc, or if the time limit ends the cross-validation early. The
        warning suggests what to change.

    Returns
    -------
    Fit
        The learned costs. After Ctrl-C these are the best costs and bounds so far.

    Raises
    ------
    InputError
        If the method cannot solve the problem, or if an option is out of range.
    NegativeCycle
        For ``negative="exact"``, if the costs minus the losses sum to less than 0 around a cycle.

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
    problem = _as_problem(tasks, regulariser)
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
        begin = near if bundle.start is None else begin
    is_interrupted = chosen is not None and chosen.ended == "interrupted"
    if is_interrupted:  # This single round computes both bounds.
        ends = replace(ends, max_rounds=1)
    bracket = _Bracket(tol, clock, problem.floor)
    with closing("gap", tol, verbose > 0) as bracket.show:
        model = bundle.model(problem)
        states = rounds(model, problem.at(begin), clock, bundle.patience)
        status = run(states, bracket.keep, ends, clock) or "stalled"
    # The chosen strength is then arbitrary, even if a single round closes the bracket.
    if is_interrupted:
        status = "interrupted"
    assert bracket.best is not None
    # The values of the rounds come from plans in doubles; only this one is proved.
    proved = problem.at(bracket.best.w, prove=True)
    if bracket.lower > proved.bound:
        raise ArithmeticError(
            f"the lower bound {bracket.lower!r} is above the upper bound {proved.bound!r}: either "
            "a loss changes from call to call, or this is a bug in relaxboost, which we ask you to "
            "report"
        )
    found = Fit(
        w=proved.w,
        names=problem.names,
        lower=bracket.lower,
        upper=proved.bound,
        status=status,
        method="bundle",
        rounds=len(bracket.history),
        exact=proved.plans.exact,
        seconds=clock.seconds,
        problem=problem,
        history=tuple(bracket.history),
        chosen=chosen,
    )
    # These warnings also concern costs that satisfy the optimality conditions: costs of 0, and
    # costs of demonstrations that are optimal for every feature.
    for said in _warnings(found, problem, clock):
        warnings.warn(said, UserWarning, stacklevel=3)
    return found


def _warnings(found: Fit, problem: Problem, clock: Clock) -> Iterator[str]:
    remedy = _remedy(found, min(one.value for one in found.history), problem, clock)
    brief = found.chosen.cut_short if found.chosen else ""
    yield from filter(None, (zero_features(problem.oracle.graphs), brief, remedy))


def _as_problem(tasks: Sequence[Task] | Problem, regulariser: Regulariser | None) -> Problem:
    """Return a given `Problem` unchanged, or make one from a list of tasks."""
    if not isinstance(tasks, Problem):
        return Problem(tasks, regulariser)
    if regulariser is not None:
        raise InputError(
            "regulariser cannot be combined with a Problem, which has its own; pass the "
            "regulariser to Problem, or pass a list of tasks"
        )
    return tasks


class _Bracket:
    """The state of a call of `fit`: the best point, the best lower bound, and the history."""

    def __init__(self, tol: float, clock: Clock, floor: float) -> None:
        self.tol = tol
        self.clock = clock
        self.best: FitPoint | None = None
        self.floor = self.lower = floor
        self.history: list[FitRecord] = []
        self.show: Callable[[float, int], None] = lambda gap, round: None

    def keep(self, state: FitState) -> str:
        """Record a round. Return "optimal" if the gap is small enough, and "" otherwise."""
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


def _remedy(fit: LinearCosts, value: float, problem: Problem, clock: Clock) -> str:
    """Return a warning with advice if all learned costs are 0 or if there was nothing to learn.

    Otherwise, return an empty string.
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
            f"{number_of(fit.rounds, 'round')}; allow more rounds or more time, or give fewer tasks"
        )
    if at_zero:
        return (
            f"the learned costs are all 0, so that every path is shortest: {problem.regulariser!r} "
            "outweighs the losses, or no costs linear in these features explain the demonstrations "
            "better; give less strength (a larger radius), other features, free signs "
            "(Problem(tasks, nonnegative=False)), or boost"
        )
    # Checking all demonstrations takes as long as a round for each feature.
    if clock.left and all(_are_shortest_by(problem, j) for j in range(problem.d)):
        return (
            "there is nothing to learn: every demonstration is a shortest path by each feature "
            f"({', '.join(problem.names[:5])}) alone, and so at all weights >= 0; give trips that "
            "leave the shortest path, or other features"
        )
    return ""


def _are_shortest_by(problem: Problem, j: int) -> bool:
    costs = [features[:, j] for features in problem.arc_features]
    if min(float(c.min(initial=0.0)) for c in costs) < 0.0:
        return False
    for row in problem.oracle.rows:
        graph = problem.oracle.graphs[row.graph]
        c = costs[row.graph]
        taken = shortest_arcs(graph, c[graph.forward.arcs], row.source, row.target)[0]
        # The factor allows for the rounding of the two sums.
        if c[row.path.arcs].sum() > c[taken].sum() * (1.0 + 1e-12):
            return False
    return True
