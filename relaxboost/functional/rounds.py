"""The loop over boosting rounds that all algorithms of `functional` share."""

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
    """The state of a run after a boosting round: the predictions, their risk and its subgradient,
    and the direction and the step of the round."""

    round: int
    """The number t of the boosting round; 0 before the first step."""
    F: Array
    """The predictions f_t on the training set, which must not be changed."""
    value: float
    """The risk of the predictions f_t after the boosting round, on the training set."""
    gradient: Array
    """The subgradient of the training risk at the predictions f_t after the boosting round."""
    direction: Direction | None
    """The direction of the round: f_t = f_{t−1} − step · direction. It is None before the first
    step."""
    step: float
    """The step size of the boosting round. It is nan before the first step."""

    @property
    def terms(self) -> list[Term]:
        """The hypotheses that the boosting round added to f_t, with their coefficients."""
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

    The generator ends when every hypothesis is orthogonal to the vector that the algorithm
    projects onto the hypotheses. If the clock has no time left, it raises `TimeUp` between two
    projections.

    Parameters
    ----------
    risk : Risk
        The risk, or any object with the attribute `measure` and the method `evaluate`.
    pool : Pool
        The weak learner, prepared for the training set.
    algorithm : Algorithm
        The boosting algorithm, in the state in which the run starts.
    schedule : callable
        The step sizes, as `schedules.make` returns them.
    start : array of the shape of the predictions
        The predictions on the training set at the start.
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
