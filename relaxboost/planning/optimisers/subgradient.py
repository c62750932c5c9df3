"""Projected subgradient steps, whose averaged cuts give a lower bound."""

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
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import L1Radius, Lasso, Ridge

AVERAGES = ("weighted", "uniform", "none")

_OFTEN = 1.25
"""Averages are evaluated when there are so many times as many rounds as the last time."""


@dataclass(frozen=True)
class Subgradient(Optimiser):
    """The projected subgradient method, as in maximum-margin planning, with a bracket.

    With g_t a subgradient of R at w_t:

    * `Ridge`: w ← Π[w − η (λ w + g)] with η = step · 2/(λ (t + 1)) for weighted averages and else
      step/(λ t).
    * `Lasso`: w ← soft(w − η g, η λ), a proximal step, with η = step · D/(L √t), D = best value/λ,
      which no minimiser's ‖w‖₁ exceeds.
    * `L1Radius`: w ← Π[w − η g] with η = step · D/(L √t), D = radius · √2 for w >= 0 and twice
      the radius for free signs, the diameter of the set.

    L is the largest ‖g‖₂ so far, Π the projection. With `Ridge` and power 2, whose subgradients
    grow with w, Π also puts ‖w‖₂ within √(2 · best value/λ), where all minimisers are. The averages
    of the cuts and of the points have the same weights; the regret that bounds the one's gap
    to the optimum bounds the whole bracket, O(1/t) for `Ridge` weighted, O(log t/t) uniform, and
    O(1/√t) for the others.

    Parameters
    ----------
    step : float
        Multiplies every step, > 0. The rates are for 1.
    average : {"weighted", "uniform", "none"}
        Which mean of the points is evaluated, when rounds have grown by a quarter since the last
        time: w_t in proportion to t (running weights 2/(t + 1)), all alike, or none. The points
        w_t themselves are evaluated as their subgradients are.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Maximum margin planning. Lacoste-Julien, Schmidt & Bach
    (2012), A simpler approach to obtaining an O(1/t) convergence rate for the projected
    stochastic subgradient method.
    """

    step: float = 1.0
    average: str = "weighted"

    name: ClassVar[str] = "subgradient"

    def __post_init__(self) -> None:
        positive("step", self.step)
        if self.average not in AVERAGES:
            raise InputError(f"average must be one of {', '.join(AVERAGES)}, got {self.average!r}")

    def check(self, problem: Problem) -> None:
        """Raise for regularisers without a stated step."""
        if not isinstance(problem.regulariser, Ridge | Lasso | L1Radius):
            raise InputError(
                f"Subgradient has steps for Ridge, Lasso and L1Radius, and the regulariser is "
                f'{problem.regulariser!r}; method="bundle" does with any'
            )

    def steps(self, problem: Problem, start: Array, clock: Clock) -> Iterator[FitState]:
        """Yield the steps; see `Optimiser`."""
        moves = _Moves(self, problem)
        cuts, middle, total = Average(problem.d), np.zeros(problem.d), 0.0
        w, t, look = start, 0, 2
        while True:
            t += 1
            point = problem.at(w, clock=clock if t > 1 else None)
            weight = float(t) if self.average == "weighted" else 1.0
            cuts.add(point.cut, weight)
            total += weight
            middle = middle + weight / total * (w - middle)
            shown = point
            if t >= look and self.average != "none":
                look = math.ceil(_OFTEN * t)
                at = problem.regulariser.project(middle, problem.nonnegative)
                shown = min(point, problem.at(at, clock=clock), key=lambda one: one.value)
            yield FitState(shown, problem.lower(cuts.cut()))
            w = moves.after(point, shown, t)


class _Moves:
    """The step of each regulariser."""

    def __init__(self, optimiser: Subgradient, problem: Problem) -> None:
        self.optimiser, self.problem = optimiser, problem
        self.best, self.largest = math.inf, 0.0

    def after(self, point: FitPoint, shown: FitPoint, t: int) -> Array:
        """Return w_{t+1}."""
        self.best = min(self.best, point.value, shown.value)
        g, w = point.cut.slope, point.w
        self.largest = max(self.largest, float(np.linalg.norm(g)))
        kind, nonnegative = self.problem.regulariser, self.problem.nonnegative
        if isinstance(kind, Ridge):
            return self._ridge(kind, w, g, t)
        if self.largest == 0.0:
            return kind.project(np.zeros_like(w), nonnegative) if isinstance(kind, Lasso) else w
        eta = self.optimiser.step / (self.largest * math.sqrt(t))
        if isinstance(kind, L1Radius):
            wide = kind.radius * (math.sqrt(2.0) if nonnegative else 2.0)
            return kind.project(w - eta * wide * g, nonnegative)
        assert isinstance(kind, Lasso)
        eta *= self.best / kind.strength
        moved = kind.project(w - eta * g, nonnegative)
        shrunk: Array = np.sign(moved) * np.maximum(np.abs(moved) - eta * kind.strength, 0.0)
        return shrunk

    def _ridge(self, kind: Ridge, w: Array, g: Array, t: int) -> Array:
        weighted = self.optimiser.average == "weighted"
        rate = self.optimiser.step * (2.0 / (t + 1) if weighted else 1.0 / t)
        made = kind.project((1.0 - rate) * w - rate / kind.strength * g, self.problem.nonnegative)
        if self.problem.oracle.power == 2:
            size = float(np.linalg.norm(made))
            most = math.sqrt(2.0 * self.best / kind.strength)
            made = made * (most / size) if size > most else made
        return made
