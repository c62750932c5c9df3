"""The inequalities of a game's linear program: the edge of each column is at most v.

If column weights may be negative, the negative edge is also at most v.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.barrier import SMALLEST_SLACK, Barrier
from relaxboost.solvers.interior_point.normal import UNSOLVED, ColumnScaling, Move


class BoundsChange(NamedTuple):
    """A step of the slacks and multipliers of the bounds on edges.

    The first row of both arrays belongs to the columns of the game matrix A, and any second row to
    those of −A.
    """

    slack: Array
    """The step of the slacks: v minus the edge of a column of A or −A."""
    mult: Array


class EdgeBounds:
    """The bounds ±⟨a_j, d⟩ <= v on the edges of the columns a_j, and their multipliers.

    Only columns in the restricted problem have bounds. The weight of a column is w_j⁺ − w_j⁻, the
    difference of the multipliers of its bounds. If the set W of the weights is a simplex, there are
    only bounds with the sign +.

    For the full simplex {w >= 0 : Σw <= radius}, a column of zeros is appended. Its bound is 0 <=
    v, and its multiplier is the radius minus the sum of the weights. All slacks are positive from
    the start, because the first v is greater than all edges.

    Parameters
    ----------
    bulk : Bulk
        The columns in the restricted problem.
    over : AtomicSet
        The set W of the weights w.
    d : array of shape (m,)
        The distribution at the start.
    v : float
        A bound that is greater than all edges at d.
    w : array of shape (n,), optional
        Weights that the initial multipliers approximate. By default these are all equal.
    """

    is_linear = True
    """Whether the slacks are linear in d and v. If so, the primal and dual steps may have different
    lengths."""

    def __init__(
        self, bulk: Bulk, over: AtomicSet, d: Vector, v: float, w: Vector | None = None
    ) -> None:
        self.bulk = bulk
        self.v = v
        self._scale = over.scale
        self._signs = np.array([[1.0], [-1.0]] if over.two_sided else [[1.0]])
        # Over the ball both signs of a column can share the weight that w leaves out.
        self._zeros = np.zeros(int(over.holds_zero and not over.two_sided))
        """The edges of the appended columns of zeros: [0] over the full simplex, and otherwise
        empty."""
        self.edges = bulk.edges(d)
        self.pairs = _all_live(self._slacks())
        """The slacks and multipliers: a row for the columns of the game matrix A, and one for those
        of −A if there are negative weights."""
        # All multipliers are equal at first, and sum to the radius of W.
        self.pairs.mult[:] = over.scale / self.pairs.count
        if w is not None:
            # A column with bounds of both signs has a multiplier for the positive part of its
            # weight, and one for the negative part. All multipliers sum to the radius of W. The old
            # values keep a share of 0.01, so no multiplier is 0.
            parts = np.maximum(self._signs * np.append(w, self._zeros), 0.0)
            rest = max(0.0, over.scale - float(parts.sum()))
            if self._zeros.size:
                parts[:, -1] = rest
            else:
                # Equal weights of both signs cancel.
                parts += rest / self.pairs.count
            self.pairs.mult += 0.99 * (parts - self.pairs.mult)
        self.margins = bulk.margins(self.w)

    def _slacks(self) -> Array:
        return np.asarray(self.v - self._signs * np.append(self.edges, self._zeros))

    @property
    def w(self) -> Vector:
        """The weights of the n columns in the restricted problem."""
        return np.asarray((self._signs * self._columns(self.pairs.mult)).sum(axis=0))

    @property
    def is_in_use(self) -> NDArray[np.bool_]:
        """The mask of the columns whose multiplier exceeds the slack of a bound."""
        return self._columns(self.pairs.mult > self.pairs.slack).any(axis=0)

    def _columns(self, array: Any) -> Any:
        return array[:, : self.bulk.n]

    def scaling(self) -> ColumnScaling:
        """Return the terms that the edge bounds add to Newton's equations.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the multipliers of a column are so small that they are rounded to 0.
        """
        ratio = self._columns(self.pairs.ratio)
        # The multiplier divided by the slack of the bound 0 <= v, or 0 without this bound.
        floor = float(self.pairs.ratio[:, self.bulk.n :].sum())
        D = ratio.sum(axis=0)
        if not D.all():
            raise np.linalg.LinAlgError(UNSOLVED)
        total = float(D.sum()) + floor
        if len(ratio) == 1:
            return ColumnScaling(D, D, floor, total)
        # κ is Σ (D − ε² D), written without the cancellation.
        kappa = float((4.0 * ratio[0] * ratio[1] / D).sum())
        return ColumnScaling(D, ratio[0] - ratio[1], kappa + floor, total)

    def target(self, centre: float, predictor: BoundsChange | None) -> Array:
        """Return the multiplier changes that make each slack times multiplier equal to `centre`.

        The slacks stay constant. The second-order terms of a predictor are subtracted from
        `centre`.
        """
        # This is the second-order correction of Mehrotra.
        if predictor is None:
            return self.pairs.missing(centre)
        return self.pairs.missing(centre - predictor.slack * predictor.mult)

    def right_side(self, target: Array) -> tuple[Vector, float]:
        """Return the right-hand sides q (for the weights) and s (for v) of Newton's equations.

        The argument `target` contains the multiplier changes that the method `target` returned.
        """
        # Each sign has Δw± = target± − ϑ± Δslack±; their difference is y, their sum enters s.
        scaling = self.scaling()
        net = (self._signs * self._columns(target)).sum(axis=0)
        excess = float(self.pairs.mult.sum()) - self._scale
        total = float(target.sum()) + excess
        return -net / scaling.D, total - float(scaling.E / scaling.D @ net)

    def change(self, target: Array, move: Move) -> BoundsChange:
        """Return the steps of the slacks and multipliers for a Newton step `move`.

        The argument `target` contains the multiplier changes that the method `target` returned.
        """
        slack = move.v - self._signs * np.append(move.edges, self._zeros)
        mult = target - self.pairs.ratio * slack
        if len(mult) == 2:
            # The larger of the two changes follows from y = Δw⁺ − Δw⁻ without cancellation.
            is_larger = self.pairs.ratio[0] > self.pairs.ratio[1]
            positive = np.where(is_larger, move.y + mult[1], mult[0])
            negative = np.where(is_larger, mult[1], mult[0] - move.y)
            mult = np.stack([positive, negative])
        else:
            # With one sign y itself is the change of the multipliers.
            mult[0, : self.bulk.n] = move.y
        return BoundsChange(slack, mult)

    def go(self, step: float, dual_step: float, change: BoundsChange, d: Vector, v: float) -> None:
        """Move the multipliers, and recompute the slacks for the new `d` and `v`."""
        self.v = v
        self.edges = self.bulk.edges(d)
        self.pairs.move(self._slacks(), dual_step, change.mult)
        self.margins = self.bulk.margins(self.w)

    def admit(self, bulk: Bulk, place: Whole, d: Vector) -> None:
        """Replace the columns of the restricted problem by those of `bulk`.

        They include all old columns, at the positions `place`, with their slacks and multipliers.
        """
        mu = self.pairs.product / self.pairs.count
        former = self.pairs
        self.bulk = bulk
        self.edges = bulk.edges(d)
        # The column of zeros stays the last one.
        place = np.append(place, bulk.n + np.arange(self._zeros.size))
        slack = np.maximum(self._slacks(), SMALLEST_SLACK)
        slack[:, place] = former.slack
        # Newton's equations lack all of the weight of a new column, so it must not be large.
        mult = np.minimum(mu / slack, 0.1 * self._scale / bulk.n)
        mult[:, place] = former.mult
        self.pairs = _all_live(slack)
        self.pairs.mult = mult
        self.margins = bulk.margins(self.w)


def _all_live(slack: Array) -> Barrier:
    return Barrier(slack, 1.0, np.ones(slack.shape, dtype=bool))
