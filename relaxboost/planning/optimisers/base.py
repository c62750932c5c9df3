"""What an optimiser of linear costs is: it yields points, and lower bounds of the least value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.registry import Registry
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.problem import FitPoint, Problem

OPTIMISERS: Registry[Optimiser] = Registry("method")
"""Every optimiser by its name."""


class FitState(NamedTuple):
    """What a round found."""

    point: FitPoint
    """Where the objective was evaluated."""
    lower: float
    """Not above the least value."""


@dataclass(frozen=True, kw_only=True)
class Optimiser(ABC):
    """Fits linear costs, round by round; an immutable dataclass of its options.

    A subclass with a `name` enters `OPTIMISERS`, so that `fit` takes the name for it.

    Parameters
    ----------
    start : LinearCosts or array of shape (d,), optional
        Where to begin, such as an earlier `Fit`; by default w = 0. It is projected to the set of
        the regulariser.
    """

    start: LinearCosts | ArrayLike | None = field(default=None, repr=False, compare=False)

    name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        OPTIMISERS.add(cls)

    def check(self, problem: Problem) -> None:  # noqa: B027
        """Raise an InputError where the optimiser cannot do a problem."""

    def first(self, problem: Problem) -> Array:
        """Return the point of the problem's domain to begin with, shape (d,)."""
        if self.start is None:
            return np.zeros(problem.d)
        given = self.start
        if isinstance(given, LinearCosts):
            if given.names != problem.names:
                raise InputError(
                    f"start was learned on features {', '.join(given.names)}, and these tasks have "
                    f"{', '.join(problem.names)}"
                )
            given = given.w
        w = np.array(doubles("start", given))
        if w.shape != (problem.d,) or not np.isfinite(w).all():
            raise InputError(
                f"start needs {problem.d} finite entries, one a feature, got {given!r}"
            )
        return problem.project(w)

    @abstractmethod
    def steps(self, problem: Problem, start: Array, clock: Clock) -> Iterator[FitState]:
        """Yield a state a round; `fit` decides when to stop, or the optimiser can do no more.

        Parameters
        ----------
        problem : Problem
        start : array of shape (d,)
            A point of the domain. The first round evaluates it to the end, without the clock.
        clock : Clock
            Handed to `Problem.at` from then on, which raises `TimeUp` when time is over.
        """
