"""A finite hypothesis class, given by its outputs on the training set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional.learners.base import Hypothesis, Pool, WeakLearner
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True)
class Column(Hypothesis):
    """A hypothesis of a `FiniteSet`. Its input contains the outputs of all hypotheses."""

    index: int

    def __call__(self, X: Array) -> Array:
        return np.asarray(X, dtype=np.float64)[..., self.index]


class FiniteSet(WeakLearner):
    """A finite class of hypotheses h_j, given by the array X of their outputs.

    The entry X[n, j] is the output of the hypothesis h_j for example n. If there are several
    outputs, the entry X[n, k, j] is output k. For a target v, the projection ``"inner"`` selects
    the hypothesis with the largest <v, h>/‖h‖, and ``"least-squares"`` the one with the largest
    |<v, h>|/‖h‖. Ties go to the first hypothesis.
    """

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        shape = (measure.size,) if outputs is None else (measure.size, outputs)
        return _Columns(outputs_of(X, shape), measure, projection)


def outputs_of(H: Any, shape: tuple[int, ...]) -> Array:
    """Return the outputs H of several hypotheses as an array of finite doubles.

    The last axis of H is for the hypotheses. The other axes must have the lengths in `shape`.
    """
    H = np.asarray(H, dtype=np.float64)
    if H.shape[:-1] != shape or H.shape[-1] < 1:
        raise InputError(
            f"the hypotheses must have shape ({', '.join(map(str, shape))}, n), with n >= 1, got "
            f"{H.shape}"
        )
    if not np.isfinite(H).all():
        raise InputError("the outputs of the hypotheses must be finite")
    return H


class _Columns(Pool):
    def __init__(self, H: Array, measure: Empirical, projection: str) -> None:
        self._H = H
        self._projection = projection
        # For inner products each output counts as an example with the weight of its row.
        self._flat = H.reshape(-1, H.shape[-1])
        self._weights = np.repeat(measure.p, self._flat.shape[0] // measure.size)
        self._norms = np.sqrt(self._weights @ self._flat**2)
        # A hypothesis of norm 0 has no direction.
        if not (self._norms > 0.0).any():
            raise InputError(
                "every hypothesis is zero on the training set; at least one column of X needs a "
                "nonzero entry"
            )

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        inner = (self._weights * target.ravel()) @ self._flat
        # The nearest multiple of h may be negative; the angle is that of h itself.
        if self._projection == "least-squares":
            inner = np.abs(inner)
        none = np.full(inner.shape, -np.inf)
        j = int(np.argmax(np.divide(inner, self._norms, out=none, where=self._norms > 0.0)))
        return Column(j), self._H[..., j]
