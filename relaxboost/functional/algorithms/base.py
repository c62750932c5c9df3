"""What an algorithm of restricted gradient descent is: its options, and what it does each round."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost._core.registry import Registry
from relaxboost._core.rounding import roundoff
from relaxboost.functional.learners import Hypothesis, Pool, WeakLearner
from relaxboost.functional.learners.base import PROJECTIONS
from relaxboost.functional.losses import Risk
from relaxboost.functional.measure import Empirical
from relaxboost.functional.schedules import check_step

ITERATES = ("last", "best", "average")


class Projected(NamedTuple):
    """The point along a hypothesis that is nearest to the vector projected, GB11 Eq. 2."""

    hypothesis: Hypothesis
    coefficient: float
    """<h, v>/‖h‖²."""
    point: Array
    """coefficient · h, on the training set."""
    edge: float
    """|<h, v>|/(‖h‖‖v‖), the cosine of the angle between v and the point: γ of Definition 1."""


Project: TypeAlias = Callable[[Array], Projected | None]
"""Projects a vector on H; None for the zero vector, and where no h makes an angle with it."""


@dataclass(frozen=True)
class Direction:
    """What is subtracted from f, times the step: Σ coefficient · h."""

    parts: tuple[Projected, ...]
    values: Array
    """On the training set, of the shape of the gradient."""
    waits: bool = False
    """Whether the run goes on after a round without parts."""

    @property
    def edges(self) -> tuple[float, ...]:
        """The edge of every projection of the round."""
        return tuple(part.edge for part in self.parts)


@dataclass(kw_only=True, eq=False, repr=False)
class Algorithm(ABC):
    """Turns the subgradient of a round into a direction within the span of H.

    A subclass has `direction`; with a `name` of its own it can be asked for by it.

    Parameters
    ----------
    step : str, float or callable, optional
        One of `schedules.STEPS`, a number > 0, or a function of t = 1, 2, ... By default the
        schedule of the theorem that covers the algorithm and the risk.
    scale : float, optional
        Multiplies every step, > 0; by default 1.
    projection : {"least-squares", "inner"}, optional
        GB11, Eq. 4 or Eq. 3; by default the first that the learner can do.
    iterate : {"last", "best", "average"}, optional
        What predictions use. "last", the default, is f_T. "best" is the f_t of least validation
        risk, or training risk without a validation set. "average" is the mean of f_1..f_T, which
        the theorems for steps 1/√t are about.

    Raises
    ------
    InputError
        For an option that is none of these.
    """

    name: ClassVar[str] = ""
    """What stands for the algorithm with its defaults, if anything does."""

    step: str | float | Callable[[int], float] | None = None
    scale: float | None = None
    projection: str | None = None
    iterate: str | None = None

    def __init_subclass__(cls) -> None:
        ALGORITHMS.add(cls)

    def __post_init__(self) -> None:
        if self.step is not None:
            check_step(self.step)
        if self.scale is not None:
            self.scale = positive("scale", self.scale)
        for option, known in (("projection", PROJECTIONS), ("iterate", ITERATES)):
            given = getattr(self, option)
            if given is not None and given not in known:
                raise InputError(f"{option} must be one of {', '.join(known)}, got {given!r}")

    def __repr__(self) -> str:
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self) if f.init]
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        """Return the direction of round t >= 1.

        Parameters
        ----------
        gradient : array of shape (N,) or (N, K)
            The subgradient at f_{t−1}; not to be written to.
        project : callable
            Gives the nearest point along a hypothesis.
        """

    def wanted(self, gradient: Array, risk: Any, F: Array) -> Array:
        """Return what `direction` is given at f_{t−1}: here the gradient."""
        return gradient

    def refit(self, direction: Direction, pool: Pool, risk: Any, F: Array) -> Direction:
        """Return what to step along from F = f_{t−1}; here the direction itself.

        The pool is what found its hypotheses, the last one last.
        """
        return direction

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        """Return the schedule of the theorem that covers the algorithm on this risk."""
        return "1/(lambda t)" if risk.strong_convexity > 0.0 else "1/sqrt(t)"

    def fresh(self, after: Algorithm | None = None) -> Algorithm:
        """Return a copy that begins a run; with `after`, one that remembers what that one does.

        One that keeps nothing between rounds may return itself, as here.
        """
        return self

    def filled(self, **options: Any) -> Algorithm:
        """Return the algorithm with options where it leaves them open (None)."""
        made = copy.copy(self)
        for option, value in options.items():
            if getattr(self, option) is None:
                setattr(made, option, value)
        Algorithm.__post_init__(made)
        return made

    def projection_for(self, learner: WeakLearner) -> str:
        """Return the projection to ask of a learner, or raise where it cannot do it."""
        if self.projection is None:
            return learner.projections[0]
        if self.projection not in learner.projections:
            raise InputError(
                f"{learner!r} cannot do projection={self.projection!r}; it does "
                f"{', '.join(learner.projections)}"
            )
        return self.projection


ALGORITHMS: Registry[Algorithm] = Registry("algorithm")
"""Algorithms by name."""


def algorithm_of(given: Any) -> Algorithm:
    """Return the algorithm that a name stands for, with its defaults, or the object given.

    Raises
    ------
    InputError
        If it is neither a name nor an `Algorithm`.
    """
    if isinstance(given, Algorithm):
        return given
    if isinstance(given, str) and given in ALGORITHMS:
        return ALGORITHMS[given]()
    raise InputError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {given!r}")


def projector(pool: Pool, measure: Empirical, clock: Clock | None = None) -> Project:
    """Return the projection on H that a pool searches.

    It raises `TimeUp` where no time is left on the clock, and an `InputError` where the outputs
    are not numbers of the shape of what is projected.
    """

    def project(v: Array) -> Projected | None:
        if clock is not None:
            clock.check()
        length = measure.norm(v)
        if length == 0.0:
            return None
        found = pool.nearest(v)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise InputError(
                f"the weak learner found {found!r}; nearest must return a hypothesis and its "
                "training outputs"
            )
        h, values = found
        if not isinstance(h, Hypothesis):
            raise InputError(f"the weak learner found {h!r}, which is no Hypothesis; subclass it")
        if np.shape(values) != v.shape:
            raise InputError(
                f"the weak learner found {h!r} with training outputs of shape {np.shape(values)}; "
                f"it must return an array of the shape of its target, {v.shape}"
            )
        square = measure.inner(values, values)
        if not np.isfinite(square):
            raise InputError(
                f"the weak learner found {h!r} with training outputs that are not finite, or too "
                "large to square; it must return finite numbers, or the steps are too long"
            )
        if square == 0.0:
            return None
        inner = measure.inner(values, v)
        coefficient = inner / square
        edge = abs(inner) / (length * float(np.sqrt(square)))
        if edge <= roundoff(v.size):  # what is left of v is orthogonal to h but for rounding
            return None
        return Projected(h, coefficient, coefficient * values, edge)

    return project
