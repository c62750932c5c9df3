"""The empirical measure of weighted points, and the Hilbert space of functions on them."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError


class Empirical:
    """The empirical measure of N points x_n with weights p_n >= 0 that sum to 1.

    It defines the inner product <f, g> = Σ p_n <f(x_n), g(x_n)> of functions. A function is
    represented by its values at the points, with shape (N,), or (N, K) for K outputs.

    Parameters
    ----------
    size : int
        The number N >= 1 of points.
    weights : array of shape (N,), optional
        Numbers >= 0, which are divided by their positive sum. By default all weights are equal.
    """

    def __init__(self, size: int, weights: Array | None = None) -> None:
        if size < 1:
            raise InputError("there are no examples; pass at least one")
        self.size = size
        self.uniform = weights is None
        if weights is None:
            self.p: Array = np.full(size, 1.0 / size)
            return
        weights = doubles("weights", weights)
        if weights.shape != (size,):
            raise InputError(
                f"weights must have shape ({size},), with a weight for each example, got "
                f"{weights.shape}"
            )
        bad = np.flatnonzero(~(weights >= 0.0) | ~np.isfinite(weights))
        if bad.size:
            raise InputError(
                f"weights must be finite and >= 0, but example {bad[0]} has {weights[bad[0]]:g}"
            )
        # Tiny weights are allowed, unless all of them are zero.
        with np.errstate(over="ignore"):
            total = float(weights.sum())
        if not 0.0 < total < np.inf:
            found = "their sum overflows" if total > 0.0 else "all of them are zero"
            raise InputError(f"weights must have a positive, finite sum; {found}")
        self.p = weights / total

    def inner(self, f: Array, g: Array) -> float:
        """Return the inner product Σ p_n <f(x_n), g(x_n)> of functions with the values f and g."""
        if f.shape != g.shape or f.shape[:1] != (self.size,):
            raise ValueError(
                f"both functions must have values at {self.size} points, got {f.shape} and "
                f"{g.shape}"
            )
        # Sums must not depend on the order of the entries in memory.
        f = np.ascontiguousarray(f).reshape(self.size, -1)
        g = np.ascontiguousarray(g).reshape(self.size, -1)
        return float(np.einsum("n,nk,nk", self.p, f, g))

    def norm(self, f: Array) -> float:
        """Return the norm √<f, f> of a function with the values f."""
        return float(np.sqrt(self.inner(f, f)))

    def mean(self, values: Array) -> float:
        """Return the weighted mean of one value per point."""
        if np.shape(values) != (self.size,):
            raise ValueError(
                f"values must have shape ({self.size},), with a number for each point, got "
                f"{np.shape(values)}"
            )
        return float(np.einsum("n,n", self.p, values))
