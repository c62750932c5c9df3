"""The smoothed margin, by which MLPBoost chooses one of two updates of the weights w."""

from __future__ import annotations

import math

from scipy.special import xlog1py, xlogy

from relaxboost._core.arrays import Vector
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.solvers.smoothing import Smoother


class SmoothedMargin:
    """The smoothed margin D(u) of margins u, and the distribution d that attains it.

    D(u) is the minimum over the distributions d of <d, u> + f(d) + β h(d), for the relaxation f and
    the smoothing h.

    Parameters
    ----------
    f : Relaxation
    smoother : Smoother
        The object that computes the distribution d that attains the minimum.
    beta : float
        The weight β of the smoothing, > 0.
    smoothing : {"entropy", "binary-entropy"}
        The function h. ``"entropy"`` is Σ d log d + log m for m examples. ``"binary-entropy"`` is
        the same function plus Σ (1 − d) log(1 − d).
    """

    def __init__(self, f: Relaxation, smoother: Smoother, beta: float, smoothing: str) -> None:
        self.project = smoother.projector(beta)
        self.beta = beta
        self._f = f
        self._binary = smoothing == "binary-entropy"

    def value(self, u: Vector, d: Vector) -> float:
        """Return the smoothed margin of the margins `u`.

        The argument `d` is the distribution that attains the minimum in the smoothed margin.
        """
        h = float(xlogy(d, d).sum()) + math.log(d.size)
        if self._binary:
            h += float(xlog1py(1.0 - d, -d).sum())
        # If f allows one distribution only, then `default_beta` is huge and h is constant. The
        # product β h would make the other terms vanish in rounding.
        smoothing = self.beta * h if bounds_of(self._f).entropy_range(d.size) > 0.0 else 0.0
        return float(d @ u) + self._f.penalty(d) + smoothing
