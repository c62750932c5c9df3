"""`fit`: learn linear costs from demonstrations, to a certified gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost.compiled import is_interrupt
from relaxboost.errors import InputError
from relaxboost.parameters import count, positive
from relaxboost.planning.graphs import Graph
from relaxboost.planning.learners import METHODS, Step
from relaxboost.planning.problem import Point, Problem
from relaxboost.planning.regularisers import Regulariser
from relaxboost.planning.tasks import Task

Array = NDArray[np.float64]


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
    status : str
        "optimal", "max_rounds", "time_limit", "callback" or "interrupted".
    exact : bool
        Whether every plan at w is; if not, R is the convex bound above the loss that `Oracle`
        describes, and the bracket is about that.
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

    def costs(self, graph: Graph) -> Array:
        """Return arc costs of a graph with the features that were learned from."""
        if graph.names != self.names:
            raise InputError(
                f"the graph has features {', '.join(graph.names)}; the costs were learned on "
                f"{', '.join(self.names)}"
            )
        made: Array = graph.arc_features @ self.w
        return made


def fit(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    method: str = "bundle",
    tol: float = 1e-3,
    nonnegative: bool = True,
    negative: str = "exact",
    power: int = 1,
    max_rounds: int = 10_000,
    time_limit: float | None = None,
    callback: Callable[[Step], Any] | None = None,
) -> Fit:
    """Learn linear costs by maximum-margin planning, to a certified relative gap.

    Parameters
    ----------
    tasks : sequence of Task, or Problem
        A `Problem` has the other options that define it.
    regulariser, nonnegative, negative, power
        See `Problem`.
    method : str
        One of `learners.METHODS`.
    tol : float
        > 0; stop when upper − lower <= tol · upper.
    max_rounds : int
    time_limit : float, optional
        Seconds.
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
    if isinstance(tasks, Problem):
        problem = tasks
    else:
        options = {"nonnegative": nonnegative, "negative": negative, "power": power}
        problem = Problem(tasks, regulariser, **options)  # type: ignore[arg-type]
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    run = _Run(problem, method, positive("tol", tol), count("max_rounds", max_rounds), time_limit)
    status = "max_rounds"
    try:
        for step in METHODS[method](problem):
            reached = run.add(step, callback)
            if reached:
                status = reached
                break
    except (KeyboardInterrupt, SystemError) as error:
        if run.best is None or not is_interrupt(error):
            raise
        status = "interrupted"
    return run.result(status)


class _Run:
    """The best bracket so far."""

    def __init__(
        self, problem: Problem, method: str, tol: float, most: int, seconds: float | None
    ) -> None:
        self.problem, self.method, self.tol, self.most = problem, method, tol, most
        self.limit = np.inf if seconds is None else positive("time_limit", seconds)
        self.clock = time.perf_counter()
        self.best: Point | None = None
        self.lower = 0.0
        self.history: list[FitRecord] = []

    def add(self, step: Step, callback: Callable[[Step], Any] | None) -> str:
        """Keep a step; return why to stop, or ""."""
        if self.best is None or step.point.value < self.best.value:
            self.best = step.point
        self.lower = max(self.lower, step.lower)
        seconds = time.perf_counter() - self.clock
        done, upper = len(self.history) + 1, self.best.value
        self.history.append(FitRecord(done, step.point.value, self.lower, upper, seconds))
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
            lower=min(self.lower, proved.bound),
            upper=proved.bound,
            status=status,
            method=self.method,
            rounds=len(self.history),
            exact=proved.evaluation.exact,
            seconds=time.perf_counter() - self.clock,
            problem=self.problem,
            history=tuple(self.history),
        )
