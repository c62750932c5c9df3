"""Exponentiated gradient steps over the weights of an l1 ball."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost.planning.cuts import Average
from relaxboost.planning.optimisers.base import FitState, Optimiser
from relaxboost.planning.problem import Problem
from relaxboost.planning.regularisers import L1Radius

_OFTEN = 1.25
_PRIOR = 1e-3
"""What of a warm start is spread over all weights, since those at 0 would stay there."""


@dataclass(frozen=True)
class Exponentiated(Optimiser):
    """Exponentiated gradient descent on the simplex of the weights and a slack.

    w = radius · q, with q_j in proportion to q_j at the start times exp(−η_t (g_1 + ... + g_t)_j),
    and a further entry of gradient 0 for what ‖w‖₁ leaves of the radius; weights of free sign are
    differences of two. η_t = step · √(log K/t)/L for K entries and L the largest |g_j| so far. The
    bracket from the averages closes like radius · L √(log K/t), which hardly depends on d.

    Parameters
    ----------
    step : float
        > 0.

    References
    ----------
    Kivinen & Warmuth (1997), Exponentiated gradient versus gradient descent for linear predictors.
    Ratliff, Silver & Bagnell (2009), Learning to search, use such steps for costs > 0.
    """

    step: float = 1.0

    name: ClassVar[str] = "exponentiated"

    def __post_init__(self) -> None:
        positive("step", self.step)

    def check(self, problem: Problem) -> None:
        """Raise for other regularisers than `L1Radius`."""
        if not isinstance(problem.regulariser, L1Radius):
            raise InputError(
                f"Exponentiated needs L1Radius, whose set it moves on, and has "
                f'{problem.regulariser!r}; use method="bundle" or "subgradient"'
            )

    def steps(self, problem: Problem, start: Array, clock: Clock) -> Iterator[FitState]:
        """Yield the steps; see `Optimiser`."""
        ball = problem.regulariser
        assert isinstance(ball, L1Radius)
        score = np.log(_shares(start, ball.radius, problem.nonnegative))
        entries = score.size
        cuts, middle, total = Average(problem.d), np.zeros(problem.d), np.zeros(entries)
        largest, t, look, w = 0.0, 0, 2, start
        while True:
            t += 1
            point = problem.at(w, clock=clock if t > 1 else None)
            cuts.add(point.cut, 1.0)
            middle = middle + (w - middle) / t
            shown = point
            if t >= look:
                look = math.ceil(_OFTEN * t)
                at = ball.project(middle, problem.nonnegative)
                shown = min(point, problem.at(at, clock=clock), key=lambda one: one.value)
            yield FitState(shown, problem.lower(cuts.cut()))
            g = point.cut.slope
            total += np.concatenate([g, [0.0]] if problem.nonnegative else [g, -g, [0.0]])
            largest = max(largest, float(np.abs(g).max()))
            eta = self.step * math.sqrt(math.log(entries) / t) / largest if largest > 0.0 else 0.0
            power = score - eta * total
            q = np.exp(power - power.max())
            q *= ball.radius / q.sum()
            moved = q[:-1] if problem.nonnegative else q[: problem.d] - q[problem.d : -1]
            w = ball.project(moved, problem.nonnegative)


def _shares(w: Array, radius: float, nonnegative: bool) -> Array:
    parts = np.maximum(w, 0.0) if nonnegative else np.maximum([w, -w], 0.0).ravel()
    q = np.append(parts, max(radius - float(parts.sum()), 0.0)) / radius
    if not w.any():
        return np.full(q.size, 1.0 / q.size)
    return (1.0 - _PRIOR) * q + _PRIOR / q.size
