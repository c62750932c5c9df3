"""The loop of rounds that all algorithms share."""

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
    """The state of a run after round t: f_t on the training set, and the step that led to it."""

    round: int
    """The number t of the round; 0 is the start."""
    F: Array
    """The predictions f_t on the training set, which must not be changed."""
    value: float
    """The risk R[f_t]."""
    gradient: Array
    """The subgradient of R at f_t."""
    direction: Direction | None
    """The direction of the round, with f_t = f_{t−1} − step · direction; None at the start."""
    step: float
    """The step η_t; nan at the start."""

    @property
    def terms(self) -> list[Term]:
        """The terms that the round added to f_{t−1}."""
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
    """Yield f_0, f_1, ... until every hypothesis is orthogonal to the function to project.

    The risk is a `Risk` or another object with `measure` and `evaluate`. The schedule is that of
    `schedules.make`. The predictions `start` are those of round `first`, after which the loop
    continues. The generator raises `TimeUp` between two projections if the clock has run out.
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
        F = np.subtract(F, moved, out=moved)  # in place: one new array each round
        value, gradient = risk.evaluate(F)
        yield BoostState(t, F, value, gradient, direction, eta)
