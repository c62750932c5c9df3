"""Cutting planes of the margin loss, computed from plans, with bounds on their rounding errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.rounding import UNIT, roundoff
from relaxboost.planning.losses import Gains
from relaxboost.solvers.bundle.cuts import Cut as Cut
from relaxboost.solvers.bundle.cuts import Cuts


class PlanFunctions:
    """A collection of affine functions of the weights w, which are lower bounds on the losses of
    demonstrations.

    Each function comes from a demonstration and a plan. It is a number, called its loss, plus the
    inner product of w with a slope.
    """

    def __init__(self, features: Sequence[Array]) -> None:
        self._features = features
        # Sums of features that are all >= 0 are the sums of their absolute values.
        self._signed = [bool((x < 0.0).any()) for x in features]
        # The sums of the absolute values of the terms, for the bounds on rounding errors, follow
        # the loss and the slope of each function.
        self._found: list[tuple[float, Array, float, Array]] = []
        self._terms = 0
        """The number of terms in the longest sum that was used to compute a function. The bound on
        the rounding errors in `combined` depends on it."""

    def add(self, graph: int, gains: Gains, taken: Whole, shown: Whole) -> None:
        """Add the function ℓ + <f_shown − f_plan, w>, a lower bound on the loss of a demonstration.

        Here ℓ is the loss of a plan: the constant of `gains` plus the gains of the arcs `taken` of
        the plan. f_plan is the sum of the features over these arcs, and f_shown is the sum over the
        arcs `shown` of the demonstration. `graph` is the index of the graph.
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
        """Add a constant function, for example 0 for a demonstration that is its own loss-augmented
        plan."""
        zero = np.zeros(self._features[0].shape[1])
        self._found.append((value, zero, abs(value), zero))

    def combined(self, rates: Array) -> Cuts:
        """Return a cutting plane for each row of `rates`, which is a weighted sum of the affine
        functions.

        A row has a weight >= 0 for each function. Each cutting plane has bounds on its rounding
        errors.
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
