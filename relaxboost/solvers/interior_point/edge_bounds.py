"""The inequalities of a game: no column in play has an edge above v."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.barrier import SMALLEST_SLACK, Barrier
from relaxboost.solvers.interior_point.normal import UNSOLVED, ColumnScaling, Move


class BoundsCentre(NamedTuple):
    """What the products of slacks and multipliers are to become, together or one by one."""

    columns: Array | float
    floor: Array | float


class BoundsTarget(NamedTuple):
    """The change of the multipliers that a direction asks for at fixed slacks."""

    columns: Array
    floor: Array


class BoundsChange(NamedTuple):
    """A direction in the slacks and the multipliers of all these inequalities."""

    slack: Array
    mult: Array
    """One row for each sign."""
    floor_slack: Array
    floor_mult: Array


class EdgeBounds:
    """±⟨a_j, d⟩ <= v for the columns in play, and 0 <= v over the full simplex.

    Only one sign counts over the simplices. The multipliers are w_j⁺ and w_j⁻, and w is their
    difference. The multiplier of 0 <= v is the weight left out. All slacks are positive from the
    start on, because v starts above all edges.

    Parameters
    ----------
    bulk : Bulk
        The columns in play.
    over : AtomicSet
    d : array of shape (m,)
    v : float
        Larger than all edges at d.
    """

    def __init__(self, bulk: Bulk, over: AtomicSet, d: Vector, v: float) -> None:
        self.bulk = bulk
        self.v = v
        self._scale = over.scale
        self._signs = np.array([[1.0], [-1.0]] if over.two_sided else [[1.0]])
        self.edges = bulk.edges(d)
        # Slacks are recomputed from v and the edges, so that their equations always hold.
        slack = v - self._signs * self.edges
        self._columns = _all_live(slack)
        has_floor = over.holds_zero and not over.two_sided
        self._floor = _all_live(np.full(int(has_floor), v))
        # All multipliers are equal at first, and sum to the radius of W.
        for pairs in (self._columns, self._floor):
            pairs.mult[:] = over.scale / self.count
        self.margins = bulk.margins(self.w)

    @property
    def w(self) -> Vector:
        """The weights of the columns in play, shape (n,)."""
        return np.asarray((self._signs * self._columns.mult).sum(axis=0))

    @property
    def count(self) -> int:
        """The number of inequalities."""
        return self._columns.count + self._floor.count

    @property
    def product(self) -> float:
        """The complementarity Σ slack · multiplier."""
        return self._columns.product + self._floor.product

    @property
    def is_in_use(self) -> NDArray[np.bool_]:
        """True for columns with more weight than slack; near the end, those of the optimum."""
        return np.asarray((self._columns.mult > self._columns.slack).any(axis=0))

    def scaling(self) -> ColumnScaling:
        """Return D, ε D and κ at the present point.

        Raises
        ------
        numpy.linalg.LinAlgError
            If a multiplier is below the least double, so that its column determines nothing.
        """
        ratio = self._columns.ratio
        D = ratio.sum(axis=0)
        if not D.all():
            raise np.linalg.LinAlgError(UNSOLVED)
        floor = float(self._floor.ratio.sum())
        # κ = Σ (D − ε² D), written without the cancellation; 0 if there is only one sign.
        kappa = float((4.0 * ratio[0] * ratio[-1] / D).sum()) if len(ratio) == 2 else 0.0
        return ColumnScaling(D, (self._signs * ratio).sum(axis=0), kappa + floor, floor)

    def target(self, centre: BoundsCentre, predictor: BoundsChange | None) -> BoundsTarget:
        """Return what a direction to products of `centre` asks of the multipliers.

        The products of the predictor's changes, which its linearisation neglects, are subtracted.
        """
        columns, floor = centre
        if predictor is not None:
            columns = columns - predictor.slack * predictor.mult
            floor = floor - predictor.floor_slack * predictor.floor_mult
        return BoundsTarget(self._columns.missing(columns), self._floor.missing(floor))

    def right_side(self, target: BoundsTarget) -> tuple[Vector, float]:
        """Return q and s of Newton's equations."""
        # Each sign has Δw± = missing± − ϑ± Δslack±; their difference is y, their sum enters s.
        ratio = self._columns.ratio
        D = ratio.sum(axis=0)
        net = (self._signs * target.columns).sum(axis=0)
        epsilon = (self._signs * ratio).sum(axis=0) / D
        weight = float(self._columns.mult.sum()) + float((self._floor.mult + target.floor).sum())
        total = float(target.columns.sum()) - (self._scale - weight)
        return -net / D, total - float(epsilon @ net)

    def change(self, target: BoundsTarget, move: Move) -> BoundsChange:
        """Return the changes of slacks and multipliers that belong to a solution (Δd, y, Δv)."""
        slack = move.v - self._signs * move.edges
        mult = target.columns - self._columns.ratio * slack
        if len(mult) == 2:
            # The larger of the two changes follows from y = Δw⁺ − Δw⁻ without cancellation.
            is_larger = self._columns.ratio[0] > self._columns.ratio[1]
            positive = np.where(is_larger, move.y + mult[1], mult[0])
            negative = np.where(is_larger, mult[1], mult[0] - move.y)
            mult = np.stack([positive, negative])
        else:
            mult = move.y[None, :]
        floor_slack = np.full_like(target.floor, move.v)
        floor_mult = target.floor - self._floor.ratio * floor_slack
        return BoundsChange(slack, mult, floor_slack, floor_mult)

    def product_after(self, step: float, dual_step: float, change: BoundsChange) -> float:
        """Return the complementarity after the two steps."""
        columns = self._columns.product_after(step, dual_step, change.slack, change.mult)
        return columns + self._floor.product_after(
            step, dual_step, change.floor_slack, change.floor_mult
        )

    def outliers(
        self, change: BoundsChange, step: float, dual_step: float, centre: float
    ) -> BoundsCentre:
        """Return what to add to products that two steps bring far from `centre`."""
        columns = self._columns.outliers(change.slack, change.mult, step, dual_step, centre)
        floor = self._floor.outliers(change.floor_slack, change.floor_mult, step, dual_step, centre)
        return BoundsCentre(columns, floor)

    def longest(self, change: BoundsChange) -> tuple[float, float]:
        """Return the steps to the boundary, of slacks and of multipliers, each at most 1."""
        columns = self._columns.longest(change.slack, change.mult)
        floor = self._floor.longest(change.floor_slack, change.floor_mult)
        return min(columns[0], floor[0]), min(columns[1], floor[1])

    def go(self, step: float, dual_step: float, change: BoundsChange, d: Vector, v: float) -> None:
        """Take the two steps; `d` and `v` are those after the step."""
        self.v = v
        self.edges = self.bulk.edges(d)
        self._columns.move(self.v - self._signs * self.edges, dual_step, change.mult)
        floor_slack = np.full_like(self._floor.slack, self.v)
        self._floor.move(floor_slack, dual_step, change.floor_mult)
        self.margins = self.bulk.margins(self.w)

    def is_idle(self, part: float) -> NDArray[np.bool_]:
        """Return which columns have next to no weight, and so small a curvature that none is due.

        A column's curvature is its multiplier over its slack. Idle columns have less than `part`
        of the median curvature of the columns in use. Near the end curvatures differ so much that
        a column in use which is not centred yet would look idle by its curvature alone.
        """
        curvature: Vector = self._columns.ratio.max(axis=0)
        used = self.is_in_use
        usual = float(np.median(curvature[used])) if used.any() else 0.0
        weight = self._columns.mult.max(axis=0)
        is_light = weight <= 1e-3 * self._scale / used.size  # of the mean weight
        return np.asarray(is_light & (curvature < part * usual))

    def drop(self, bulk: Bulk, stays: NDArray[np.bool_], d: Vector) -> None:
        """Continue with the columns that stay. A cut that leaves gives its weight to the next."""
        mult = self._columns.mult[:, stays]
        # Neighbouring cuts differ in few examples, so margins hardly change. Other columns have
        # no neighbours, and their weight is lost.
        if bulk.levels is not None and stays.any():
            gone = np.flatnonzero(~stays)
            heirs = np.searchsorted(np.flatnonzero(stays), gone)
            heirs = np.minimum(heirs, mult.shape[1] - 1)
            np.add.at(mult.T, heirs, self._columns.mult[:, gone].T)
        self._columns.slack = self._columns.slack[:, stays]
        self._columns.mult = mult
        self._replace(bulk, d, np.arange(bulk.n), self.product / self.count)

    def admit(self, bulk: Bulk, place: Whole, d: Vector, mu: float) -> None:
        """Continue with more columns, the former ones at `place`; new products are at most mu."""
        self._replace(bulk, d, place, mu)

    def _replace(self, bulk: Bulk, d: Vector, place: Whole, mu: float) -> None:
        self.bulk = bulk
        self.edges = bulk.edges(d)
        slack = np.maximum(self.v - self._signs * self.edges, SMALLEST_SLACK)
        slack[:, place] = self._columns.slack
        # Newton's equations lack all of the weight of a new column, so it must not be large.
        mult = np.minimum(mu / slack, 0.1 * self._scale / bulk.n)
        mult[:, place] = self._columns.mult
        self._columns = _all_live(slack)
        self._columns.mult = mult
        self.margins = bulk.margins(self.w)


def _all_live(slack: Array) -> Barrier:
    """Return inequalities of these slacks, whose multipliers are still to be set."""
    return Barrier(slack, 1.0, np.ones(slack.shape, dtype=bool))
