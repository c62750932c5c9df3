"""What a learner of linear costs is: it yields points, and lower bounds of the least value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from relaxboost.planning.problem import Point, Problem


class Step(NamedTuple):
    """What a round found."""

    point: Point
    """Where the objective was evaluated on all tasks."""
    lower: float
    """Not above the least value."""


Learner = Callable[[Problem], Iterator[Step]]
"""Yields a step a round, for ever; the loop decides when to stop."""
