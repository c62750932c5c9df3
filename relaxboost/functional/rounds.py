"""The loop over boosting rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.loop import Clock
from relaxboost.functional.algorithms import Algorithm, Direction, projector
from relaxboost.functional.ensemble import Term
from relaxboost.functional.learners import Pool
from relaxboost.functional.schedules import Schedule


@dataclass(frozen=True)
class BoostState:
    """The state after a boosting round: predictions, risk, subgradient, direction and step."""

    round: int
    """The number t of the round; 0 before the first step."""
    F: Array
    """The predictions f_t on the training set. Do not modify them."""
    value: float
    """The training risk of f_t."""
    gradient: Array
    """The subgradient of the training risk at f_t."""
    direction: Direction | None
    """The direction in f_t = f_{t−1} − step · direction, or None before the first step."""
    step: float
    """The step size of the round, or nan before the first step."""

    @property
    def terms(self) -> list[Term]:
        """The hypotheses that the round added to f_t, with their coefficients."""
        parts = () if self.direction is None else self.direction.parts
        return [Term(self.round, -self.step * p.coefficient, p.hypothesis) for p in parts]


def rounds(
    risk: Any,
    pool: Pool,
    algorithm: Algorithm,
    schedule: Schedule,
    start: Array,
    first: int = 0,
    clock: Clock | None = None,
) -> Iterator[BoostState]:
    """Run a boosting algorithm, and yield its state at the start and after each round.

    The generator ends when no hypothesis correlates with the vector to project. When the time is
    up, it raises `TimeUp` between two projections.

    Parameters
    ----------
    risk : Risk
        A risk, or any object with the attribute `measure` and the method `evaluate`.
    pool : Pool
        The weak learner, prepared for the training set.
    algorithm : Algorithm
        The boosting algorithm, in its starting state.
    schedule : callable
        The step sizes, as `schedules.make` returns them.
    start : array of the shape of the predictions
        The training predictions at the start.
    first : int
        The number of the last round before the start; 0 for a new run.
    clock : Clock, optional
        The clock that limits the time.
    """
    project = projector(pool, risk.measure, clock)
    F = np.array(start, dtype=np.float64)
    value, gradient = risk.evaluate(F)
    yield BoostState(first, F, value, gradient, None, float("nan"))
    for t in count(first + 1):
        direction = algorithm.direction(algorithm.wanted(gradient, risk, F), project, t)
        if not direction.parts and not direction.waits:
            return
        # A refit keeps the leaves of the hypothesis and may change their values.
        direction = algorithm.refit(direction, pool, risk, F)
        eta = schedule(t, F, direction.values)
        moved = eta * direction.values
        F = np.subtract(F, moved, out=moved)  # Each round makes one new array only.
        value, gradient = risk.evaluate(F)
        yield BoostState(t, F, value, gradient, direction, eta)
