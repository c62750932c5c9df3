"""The smoothed margin D, by which MLPBoost compares its two updates."""

from __future__ import annotations

import math

from scipy.special import xlog1py, xlogy

from relaxboost._core.arrays import Vector
from relaxboost.relaxations import Relaxation
from relaxboost.solvers.smoothing import Smoother


class SmoothedMargin:
    """D(u) = min over d of <d, u> + f(d) + β h(d), and the d that attains it."""

    def __init__(self, f: Relaxation, smoother: Smoother, beta: float, smoothing: str) -> None:
        self.project = smoother.projector(beta)
        self.beta = beta
        self._f = f
        self._binary = smoothing == "binary-entropy"

    def value(self, u: Vector, d: Vector) -> float:
        """Return D(u), where d attains it; h is the entropy relative to the uniform d."""
        h = float(xlogy(d, d).sum()) + math.log(d.size)
        if self._binary:
            h += float(xlog1py(1.0 - d, -d).sum())
        # A domain of one d makes β huge (`default_beta`) and h constant: leave it out.
        smoothing = self.beta * h if self._f.entropy_range(d.size) > 0.0 else 0.0
        return float(d @ u) + self._f.penalty(d) + smoothing
