"""Cutting planes of the margin loss, with bounds on their rounding errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.rounding import UNIT, roundoff
from relaxboost.planning.losses import Gains
from relaxboost.solvers.bundle.cuts import Cut as Cut
from relaxboost.solvers.bundle.cuts import Cuts


class PlanFunctions:
    """Affine functions of the weights w that are lower bounds on the margin loss of a
    demonstration.

    Each function belongs to a plan. It is the loss of the plan plus the cost of the demonstration
    minus the cost of the plan.
    """

    def __init__(self, features: Sequence[Array]) -> None:
        self._features = features
        # Sums of features that are all >= 0 are the sums of their absolute values.
        self._signed = [bool((x < 0.0).any()) for x in features]
        # The sums of the absolute values of the terms, for the bounds on rounding errors, follow
        # the loss and the slope of each function.
        self._found: list[tuple[float, Array, float, Array]] = []
        self._terms = 0
        """The number of terms in the longest sum from which a function was computed, which bounds
        the rounding errors."""

    def add(self, graph: int, gains: Gains, taken: Whole, shown: Whole) -> None:
        """Add the lower bound on the margin loss of a demonstration that a plan gives.

        The bound is ℓ + <f_shown − f_plan, w>, with the loss ℓ of the plan from `gains`. The
        vectors f_plan and f_shown are the feature sums over the arcs `taken` and `shown` of the
        graph with index `graph`.
        """
        won = gains.at(taken)
        rows = self._features[graph][taken]
        first = self._features[graph][shown]
        size = self._size(graph, rows) + self._size(graph, first)
        loss = gains.constant + float(won.sum())
        loss_size = abs(gains.constant) + float(np.abs(won).sum())
        self._found.append((loss, first.sum(axis=0) - rows.sum(axis=0), loss_size, size))
        self._terms = max(self._terms, taken.size, shown.size)

    def add_constant(self, value: float) -> None:
        """Add a constant lower bound, usually 0, for a demonstration that is already the path of
        least cost minus loss."""
        zero = np.zeros(self._features[0].shape[1])
        self._found.append((value, zero, abs(value), zero))

    def combined(self, rates: Array) -> Cuts:
        """Return weighted sums of the affine functions as cutting planes, with rounding errors.

        The array `rates` has a row of weights >= 0 for each cutting plane.
        """
        loss, slope, loss_size, slope_size = map(np.array, zip(*self._found, strict=True))
        # Each term passes through at most this many roundings before it is part of a result.
        γ = roundoff(self._terms + rates.shape[1] + 8)
        size = rates @ loss_size
        offset = rates @ loss - γ * size
        return Cuts(
            np.nextafter(offset - 8.0 * UNIT * size, -np.inf),
            rates @ slope,
            2.0 * γ * (rates @ slope_size),
        )

    def _size(self, graph: int, rows: Array) -> Array:
        return (np.abs(rows) if self._signed[graph] else rows).sum(axis=0)
