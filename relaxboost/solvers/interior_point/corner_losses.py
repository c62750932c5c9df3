"""The interior point method for sums of losses with one corner each.

The losses are functions of the predictions A w. The columns of A are the outputs of the hypotheses,
and w are their weights. The dual program is a game over vectors d that need not sum to 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.blas import threads_for
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.matrices.bulk import Bulk
from relaxboost.relaxations import LinearForm
from relaxboost.solvers.interior_point.edge_bounds import EdgeBounds
from relaxboost.solvers.interior_point.iterate import Iterate
from relaxboost.solvers.interior_point.part import Part
from relaxboost.solvers.interior_point.polyhedron import Polyhedron
from relaxboost.solvers.interior_point.progress import Progress
from relaxboost.solvers.interior_point.smooth_weights import SmoothWeights


class CornerLosses(NamedTuple):
    """Piecewise linear losses of predictions, as four arrays of shape (N,) for N examples.

    The loss of example n is p_n max(low_n (f_n − at_n), high_n (f_n − at_n)), where f_n is the
    prediction. Its graph has the slopes p_n low_n and p_n high_n, and a corner at f_n = at_n.
    """

    p: Vector
    low: Vector
    high: Vector
    at: Vector


class LossIterate(Iterate):
    """An iterate for the minimum of the corner losses of the predictions A w.

    Each example n has a dual variable z_n between `low_n` and `high_n`. With d_n = −p_n z_n, the
    dual program is a game over bounded vectors d, which minimises −⟨at, d⟩ plus the maximum over w
    of ⟨d, A w⟩. This follows from p_n max(low_n r, high_n r) = max of p_n z_n r over low_n <= z_n
    <= high_n, for the residual r = f_n − at_n.

    Parameters
    ----------
    bulk : Bulk
        The matrix A, whose columns are the outputs of the hypotheses.
    losses : CornerLosses
        The losses of the predictions f = A w.
    w : array of shape (n,)
        The method starts near these weights. They must be in the domain `over`, if there is one.
    over : AtomicSet or L2Ball, optional
        The domain of the weights w. By default w is any vector.
    quadratic : array of shape (n,) or float
        The coefficients of the added term Σ quadratic_j w_j² / 2. They must be 0 for an AtomicSet.
    """

    def __init__(
        self,
        bulk: Bulk,
        losses: CornerLosses,
        w: Vector,
        over: AtomicSet | L2Ball | None = None,
        quadratic: Vector | float = 0.0,
    ) -> None:
        p, low, high, at = losses
        self._losses = losses
        # Slopes start in the middle, and split each residual into two positive multipliers.
        residual = bulk.margins(w) - at
        extra = float(p @ np.abs(residual)) / float(p.sum()) or 1.0
        parts = np.maximum(np.stack([residual, -residual]), 0.0) + extra
        form = LinearForm(-at, -p * high, -p * low)
        box = Polyhedron(form, -p * (low + high) / 2.0, parts * p * (high - low) / 2.0)
        mu = box.product / max(box.count, 1)
        assert not (isinstance(over, AtomicSet) and np.any(quadratic))
        self._start(box, bulk, w, over, quadratic, mu)

    def _start(
        self,
        part: Part,
        bulk: Bulk,
        w: Vector,
        over: AtomicSet | L2Ball | None,
        quadratic: Vector | float,
        mu: float,
    ) -> None:
        # The type is Any, because `SmoothWeights` can take the place of `EdgeBounds`.
        weights: Any
        if isinstance(over, AtomicSet):
            v = float(np.abs(bulk.edges(part.x)).max()) + mu * bulk.n / over.scale
            weights = EdgeBounds(bulk, over, part.x, v, w)
        elif over is None:
            weights = SmoothWeights(bulk, part.x, w, quadratic=quadratic)
        else:
            weights = SmoothWeights(bulk, part.x, 0.99 * w, float(over.radius), quadratic, mu)
        self._begin(part, weights, has_sum=False)
        self._progress = Progress(patience=8)

    @property
    def slopes(self) -> Vector:
        """The slope of the loss at each prediction, divided by the weight p_n.

        It is clipped to [`low_n`, `high_n`], because only such slopes prove a lower bound on the
        sum of losses.
        """
        p, low, high, _ = self._losses
        z = np.divide(-self.d, p, out=(low + high) / 2.0, where=p > 0.0)
        return np.clip(z, low, high)

    def advance(self, gap: float = math.inf) -> bool:
        """Take a Newton step.

        Return False if none is possible, or if the gap, the complementarity and the infeasibility
        have not decreased enough in eight consecutive steps; see `Progress`. `gap` is the upper
        bound minus the lower bound on the minimum, or inf if it is unknown.
        """
        if self._progress.is_stuck(gap, self.mu, self.infeasibility):
            return False
        try:
            # Overflow gives a direction that is not finite, for which `step` raises LinAlgError.
            with threads_for(self.bulk.m, self.bulk.n), np.errstate(all="ignore"):
                return self.step() > 1e-8
        except np.linalg.LinAlgError:
            return False
