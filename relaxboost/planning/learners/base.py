"""What a learner of linear costs is: it yields points, and lower bounds of the least value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost.planning.problem import Point, Problem

Array = NDArray[np.float64]


class Step(NamedTuple):
    """What a round found."""

    point: Point | None
    """Where the objective was evaluated on all tasks; None in rounds that did not."""
    lower: float
    """Not above the least value."""


class Learner(ABC):
    """Makes steps of a problem. It is immutable: a frozen dataclass of its options."""

    name: ClassVar[str]

    def check(self, problem: Problem) -> None:  # noqa: B027
        """Raise an InputError where the learner cannot do a problem."""

    @abstractmethod
    def steps(self, problem: Problem, start: Array, until: float) -> Iterator[Step]:
        """Yield a step a round; the loop decides when to stop, or the learner has no more to say.

        Parameters
        ----------
        problem : Problem
        start : array of shape (d,)
            A point of the domain, which the first step evaluates to the end whatever `until` is.
        until : float
            Handed to `Problem.at` from then on, which raises `TimeUp` after it.
        """
