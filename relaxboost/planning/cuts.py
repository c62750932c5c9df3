"""Affine functions below the loss, and their averages, with what rounding may have done to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.rounding import UNIT, down, roundoff
from relaxboost.planning.losses import Gains


class Cut(NamedTuple):
    """An affine function below R: offset + <slope, w> <= R(w) for all w of the domain.

    It holds as it stands but for the roundings of the slope, which `error` bounds: some slope
    within `error` of this one, entry by entry, makes it true. `Problem.lower` charges for that.
    """

    offset: float
    slope: Array
    error: Array | float = 0.0


class Cuts(NamedTuple):
    """Affine functions of w, each a `Cut` of some part of R."""

    offset: Array
    """Shape (K,)."""
    slope: Array
    """Shape (K, d)."""
    error: Array
    """Shape (K, d)."""

    def of(self, kept: Any) -> Cuts:
        """Return some of them."""
        return Cuts(*(x[kept] for x in self))


class Plans:
    """Collects functions loss + <slope, w>, one for each of some demonstrations and plans.

    With the sums of the absolute values of what was summed up, which roundings are proportional to.
    """

    def __init__(self, features: Sequence[Array]) -> None:
        self._features = features
        # Where all are >= 0 the sums are their own sizes.
        self._signed = [bool((x < 0.0).any()) for x in features]
        self._found: list[tuple[float, Array, float, Array]] = []
        self._terms = 0  # no sum has more

    def add(
        self, graph: int, gains: Gains, taken: Whole, times: Array | None, shown: Whole | None
    ) -> None:
        """Add const + gains·plan + <f_shown − f_plan, w>; without `shown`, only what is the plan's.

        The plan takes the arcs `taken`, each so many `times`, or once; `shown` are the arcs of the
        demonstration.
        """
        constant = gains.constant if shown is not None else 0.0
        won = gains.at(taken)
        rows = self._features[graph][taken]
        if times is not None:
            won, rows = won * times, rows * times[:, None]
        own = np.zeros(rows.shape[1])
        size = np.abs(rows).sum(axis=0) if self._signed[graph] else rows.sum(axis=0)
        if shown is not None:
            first = self._features[graph][shown]
            own = first.sum(axis=0)
            size = size + (np.abs(first).sum(axis=0) if self._signed[graph] else own)
            self._terms = max(self._terms, shown.size)
        loss_size = abs(constant) + float(np.abs(won).sum())
        self._found.append((constant + float(won.sum()), own - rows.sum(axis=0), loss_size, size))
        self._terms = max(self._terms, taken.size)

    def nothing(self) -> None:
        """Add 0, which the demonstration itself gives."""
        zero = np.zeros(self._features[0].shape[1])
        self._found.append((0.0, zero, 0.0, zero))

    def combined(self, rates: Array) -> Cuts:
        """Return Σ rate · function for each row of rates >= 0, with its roundings."""
        loss, slope, loss_size, slope_size = map(np.array, zip(*self._found, strict=True))
        γ = roundoff(self._terms + rates.shape[1] + 8)
        size = rates @ loss_size
        offset = rates @ loss - γ * size
        return Cuts(
            np.nextafter(offset - 8.0 * UNIT * size, -np.inf),
            rates @ slope,
            2.0 * γ * (rates @ slope_size),
        )


def mean(cuts: Cuts, weights: Array, group: Whole) -> Cut | None:
    """Return the sum over groups of averages of cuts, with 0 <= R for what is left of the weights.

    The group of a cut is the part of R that it is below. The weights are what a solver says;
    made >= 0 here, with a sum <= 1 in each group. None is returned if they are nothing of the kind.
    """
    alpha = np.maximum(weights, 0.0)
    total = np.bincount(group, alpha)
    if not np.isfinite(total).all() or total.max() <= 0.0:
        return None
    γ = roundoff(alpha.size + 8)
    alpha = alpha / np.where(total > 0.0, total, 1.0)[group] * (1.0 - 2.0 * γ)
    a, G, error = cuts
    return Cut(
        down(float(alpha @ a) - 2.0 * γ * float(alpha @ np.abs(a))),
        alpha @ G,
        (alpha @ error) * (1.0 + 2.0 * γ) + 2.0 * γ * (alpha @ np.abs(G)),
    )
