"""`fit`: learn linear costs from demonstrations, to a certified gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.compiled import is_interrupt
from relaxboost.errors import InputError
from relaxboost.parameters import count, positive
from relaxboost.planning.graphs import Graph, check_names
from relaxboost.planning.learners import METHODS, Learner, Step
from relaxboost.planning.oracle import TimeUp
from relaxboost.planning.problem import Point, Problem
from relaxboost.planning.regularisers import Regulariser
from relaxboost.planning.tasks import Task

Array = NDArray[np.float64]


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


@dataclass(frozen=True)
class Fit:
    """Linear costs c = X w, and a bracket of the least objective.

    Attributes
    ----------
    w : array of shape (d,)
        The best weights found.
    names : tuple of str
        Of the features.
    lower, upper : float
        lower <= min Ω + R <= Ω(w) + R(w) <= upper: the one from an average of cuts, each of which
        is below R whatever path it was made of, the other from the potentials of every plan.
        Rounding is charged to both, but not underflow, which takes losses, or squares of them,
        below 1e-300; the features of arcs, B X, are taken as they are in doubles.
        (Where paths had to be found by integer programming, the other is as good as that solver's
        bound. Where negative="exact" and costs are negative, whether they fall around a cycle is
        judged by costs at w in doubles.)
    status : str
        "optimal", "max_rounds", "time_limit", "callback", "interrupted", or "stalled" where
        rounding keeps the method from going on. Of `reference`, what the solver says.
    exact : bool
        Whether every plan at w is. With negative="relaxed" the bracket is about the convex bound
        above the loss that `Oracle` describes: if exact, `upper` bounds the loss at w too, but the
        least value with the loss itself may be below `lower`, at a w where costs are negative.
    """

    w: Array
    names: tuple[str, ...]
    lower: float
    upper: float
    status: str
    method: str
    rounds: int
    exact: bool
    seconds: float
    problem: Problem = field(repr=False)
    history: tuple[FitRecord, ...] = field(repr=False)

    @property
    def gap(self) -> float:
        """upper − lower."""
        return self.upper - self.lower

    @property
    def weights(self) -> dict[str, float]:
        """The best weights by the names of their features."""
        return dict(zip(self.names, self.w.tolist(), strict=True))

    def costs(self, graph: Graph) -> Array:
        """Return arc costs of a graph with the features that were learned from."""
        check_names(graph, self.names, "the costs were learned on")
        made: Array = graph.arc_features @ self.w
        return made


def fit(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    method: str | Learner = "bundle",
    tol: float = 1e-3,
    nonnegative: bool = True,
    negative: str = "exact",
    power: int = 1,
    max_rounds: int = 10_000,
    time_limit: float | None = None,
    warm_start: Fit | ArrayLike | None = None,
    callback: Callable[[Step], Any] | None = None,
) -> Fit:
    """Learn linear costs by maximum-margin planning, to a certified relative gap.

    Parameters
    ----------
    tasks : sequence of Task, or Problem
        A `Problem` has the other options that define it.
    regulariser, nonnegative, negative, power
        See `Problem`.
    method : {"bundle", "subgradient", "frank-wolfe", "exponentiated"} or Learner
        A name, or an object with options: ``Subgradient(average="uniform")``.
    tol : float
        > 0; stop when upper − lower <= tol · upper, for the best value so far as upper. What its
        proof adds for rounding in the end is more than that only where the value is next to 0.
    max_rounds : int
    time_limit : float, optional
        Seconds. Plans are interrupted for it, but not those of the first evaluation, without which
        there is no bracket, nor those that prove the upper bound in the end.
    warm_start : Fit or array of shape (d,), optional
        Where to begin, by default w = 0; what is outside the set of the regulariser is projected.
    callback : callable, optional
        Called with the `Step` of each round; the run ends when it returns True.

    Returns
    -------
    Fit
        Also after Ctrl-C, with status "interrupted" and the best bracket so far.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Maximum margin planning.
    """
    options = {"nonnegative": nonnegative, "negative": negative, "power": power}
    problem = as_problem(tasks, regulariser, options)
    learner = _learner(method)
    learner.check(problem)
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of the Step of a round, got {callback!r}")
    start = _start(problem, warm_start)
    limits = (positive("tol", tol), count("max_rounds", max_rounds))
    run = _Run(problem, learner.name, *limits, time_limit)
    status = "stalled"
    try:
        for step in learner.steps(problem, start, run.until):
            reached = run.add(step, callback)
            if reached:
                status = reached
                break
    except TimeUp:
        status = "time_limit"
    except (KeyboardInterrupt, SystemError) as error:
        if run.best is None or not is_interrupt(error):
            raise
        status = "interrupted"
    return run.result(status)


def as_problem(
    tasks: Sequence[Task] | Problem, regulariser: Regulariser | None, options: dict[str, Any]
) -> Problem:
    """Return a problem of tasks, or the one that was given, with which options are an error."""
    if not isinstance(tasks, Problem):
        return Problem(tasks, regulariser, **options)
    usual = {"nonnegative": True, "negative": "exact", "power": 1}
    given = [name for name, value in options.items() if value != usual[name]]
    if regulariser is not None:
        given.insert(0, "regulariser")
    if given:
        raise InputError(
            f"the Problem has {', '.join(given)} of its own; give it to Problem, or a list of tasks"
        )
    return tasks


def _learner(method: str | Learner) -> Learner:
    if isinstance(method, Learner):
        return method
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    raise InputError(
        f"method must be one of {', '.join(METHODS)}, or a Learner such as Bundle(), got {method!r}"
    )


def _start(problem: Problem, given: Any) -> Array:
    if given is None:
        return np.zeros(problem.d)
    if isinstance(given, Fit):
        if given.names != problem.names:
            raise InputError(
                f"warm_start was learned on features {', '.join(given.names)}, and these tasks "
                f"have {', '.join(problem.names)}"
            )
        given = given.w
    try:
        w = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"warm_start must be a Fit or an array of weights: {error}") from None
    if w.shape != (problem.d,) or not np.isfinite(w).all():
        raise InputError(
            f"warm_start needs {problem.d} finite entries, one a feature, got {given!r}"
        )
    return problem.regulariser.project(w, problem.nonnegative)


class _Run:
    """The best bracket so far."""

    def __init__(
        self, problem: Problem, method: str, tol: float, most: int, seconds: float | None
    ) -> None:
        self.problem, self.method, self.tol, self.most = problem, method, tol, most
        self.limit = np.inf if seconds is None else positive("time_limit", seconds)
        self.clock = time.perf_counter()
        self.until = self.clock + self.limit
        self.best: Point | None = None
        self.lower = 0.0
        self.history: list[FitRecord] = []

    def add(self, step: Step, callback: Callable[[Step], Any] | None) -> str:
        """Keep a step; return why to stop, or ""."""
        point, value = step.point, np.nan
        if point is not None:
            value = point.value
            if self.best is None or value < self.best.value:
                self.best = point
        assert self.best is not None
        self.lower = max(self.lower, step.lower)
        seconds = time.perf_counter() - self.clock
        done, upper = len(self.history) + 1, self.best.value
        self.history.append(FitRecord(done, value, self.lower, upper, seconds))
        if upper - self.lower <= self.tol * upper:
            return "optimal"
        answer = None if callback is None else callback(step)
        if isinstance(answer, bool | np.bool_) and answer:
            return "callback"
        if done >= self.most:
            return "max_rounds"
        return "time_limit" if seconds >= self.limit else ""

    def result(self, status: str) -> Fit:
        """Return the best weights; their value is proved here, once."""
        assert self.best is not None
        proved = self.problem.at(self.best.w, prove=True)
        return Fit(
            w=proved.w,
            names=self.problem.names,
            lower=uncrossed(self.problem, self.lower, proved.bound),
            upper=proved.bound,
            status=status,
            method=self.method,
            rounds=len(self.history),
            exact=proved.answers.exact,
            seconds=time.perf_counter() - self.clock,
            problem=self.problem,
            history=tuple(self.history),
        )


def uncrossed(problem: Problem, lower: float, upper: float) -> float:
    """Return the lower bound, or raise where it is above the upper one: something is wrong then."""
    if lower > upper:
        raise ArithmeticError(
            f"the lower bound {lower!r} is above the upper bound {upper!r}: value and conjugate of "
            f"{problem.regulariser!r}, or a loss, contradict each other, or there is an error in "
            "relaxboost; please report it"
        )
    return lower
