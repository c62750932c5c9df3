"""What an algorithm of restricted gradient descent is: what it makes of a gradient each round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.learners import Hypothesis, Pool
from relaxboost.functional.measure import Empirical
from relaxboost.rounding import roundoff

Array = NDArray[np.float64]


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
    """Whether a round without parts is no reason to stop."""

    @property
    def edges(self) -> tuple[float, ...]:
        """The edge of every projection of the round."""
        return tuple(part.edge for part in self.parts)


class Algorithm(ABC):
    """Turns the subgradient of a round into a direction within the span of H."""

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

    def fresh(self, after: Algorithm | None = None) -> Algorithm:
        """Return the algorithm as it starts, or as it stands `after` another run.

        It is itself if nothing is kept between rounds.
        """
        return self


def projector(pool: Pool, measure: Empirical) -> Project:
    """Return the projection on H that a pool searches.

    It raises an `InputError` where the outputs are not numbers of the shape of what is projected.
    """

    def project(v: Array) -> Projected | None:
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
