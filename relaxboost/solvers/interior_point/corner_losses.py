"""The least sum of losses with one corner each: a game without Σd = 1."""

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
from relaxboost.solvers.interior_point.polyhedron import Polyhedron
from relaxboost.solvers.interior_point.progress import Progress
from relaxboost.solvers.interior_point.smooth_weights import SmoothWeights


class CornerLosses(NamedTuple):
    """Σ p_n max(low_n (f_n − at_n), high_n (f_n − at_n)) of predictions f, arrays of shape (N,)."""

    p: Vector
    low: Vector
    high: Vector
    at: Vector


class LossIterate(Iterate):
    """The least sum of corner losses at f = A w, and a point strictly inside its inequalities.

    The slopes z of the losses are dual variables between `low` and `high`, and d = −p z makes a
    game of them: min over d of −⟨at, d⟩ + max over w of ⟨d, A w⟩, where d lies in a box.

    Parameters
    ----------
    bulk : Bulk
        The outputs of the hypotheses, A.
    losses : CornerLosses
    w : array of shape (n,)
        Weights to start near. A bounded domain has to hold them.
    over : AtomicSet or L2Ball, optional
        The domain of w; by default any w.
    quadratic : array of shape (n,) or float
        Σ quadratic_j w_j² / 2 is added to the losses. An atomic domain has no such term.
    """

    has_correctors = False  # with few columns, their passes over A cost as much as a factor

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
        weights: Any  # `SmoothWeights` takes the place of `EdgeBounds`
        if isinstance(over, AtomicSet):
            assert not np.any(quadratic)
            v = float(np.abs(bulk.edges(box.x)).max()) + mu * bulk.n / over.scale
            weights = EdgeBounds(bulk, over, box.x, v, w)
        elif over is None:
            weights = SmoothWeights(bulk, box.x, w, quadratic=quadratic)
        else:
            weights = SmoothWeights(bulk, box.x, 0.99 * w, float(over.radius), quadratic, mu)
        self._begin(box, weights, has_sum=False)
        self._progress = Progress(patience=8)

    @property
    def slopes(self) -> Vector:
        """The slopes z, never outside their bounds by a rounding: lower bounds rest on that."""
        p, low, high, _ = self._losses
        z = np.divide(-self.d, p, out=(low + high) / 2.0, where=p > 0.0)
        return np.clip(z, low, high)

    def advance(self, gap: float = math.inf) -> bool:
        """Take a step; return False if neither `gap` nor anything else shrinks any more."""
        if self._progress.is_stuck(gap, self.mu, self.infeasibility):
            return False
        try:
            # Rounding has the last word.
            with threads_for(self.bulk.m, self.bulk.n), np.errstate(all="ignore"):
                return self.step() > 1e-8
        except np.linalg.LinAlgError:
            return False
