"""Mini-batches: one step for the mean loss of some examples, which all were predicted before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.losses import OfPrediction


@dataclass(frozen=True)
class MiniBatch:
    """A method whose examples are the means of `rows` losses.

    The weights stay as they are for `rows` examples, and then take one step for the mean of their
    losses. It is another learner than the method, not a faster one of it.

    Parameters
    ----------
    method : OnlineMethod
    rows : int
        At least 1 examples to a step; 1 gives the method.

    References
    ----------
    Dekel, Gilad-Bachrach, Shamir & Xiao (2012), Optimal distributed online prediction using
    mini-batches.
    """

    method: OnlineMethod
    rows: int

    def __post_init__(self) -> None:
        if not isinstance(self.method, OnlineMethod):
            raise InputError(f"method must be one such as MirrorDescent, got {self.method!r}")
        object.__setattr__(self, "rows", count("rows", self.rows))

    def start(self, size: int) -> MiniBatchLearner:
        """Return a learner of M = `size` weights; see `OnlineMethod.start`."""
        return MiniBatchLearner(self, self.method.start(size))

    def restored(self, state: Mapping[str, Any]) -> MiniBatchLearner:
        """Return the learner whose state this is; see `OnlineMethod.restored`."""
        if str(state.get("batch")) != repr(self):
            raise InputError(f"this is the state of {state.get('batch')}, and not of {self!r}")
        found = MiniBatchLearner(self, self.method.restored(state))
        found.wait(np.asarray(state["H"]), np.asarray(state["y"]))
        return found


class MiniBatchLearner:
    """Weights that move once for every `rows` examples.

    Made by `MiniBatch.start`.

    Attributes
    ----------
    method : MiniBatch
    steps : Learner
        The learner of the method, which has seen a mean loss for each full batch.
    """

    def __init__(self, method: MiniBatch, steps: Learner) -> None:
        self.method, self.steps = method, steps
        self._H = np.empty((0, steps.size))
        self._y: Vector = np.empty(0)

    @property
    def w(self) -> Vector:
        """The weights that predict the next example, shape (M,)."""
        return self.steps.w

    @property
    def average(self) -> Vector:
        """The mean of the weights over the full batches."""
        return self.steps.average

    @property
    def loss(self) -> float:
        """Σ l_i at the weights that predicted each example of a full batch."""
        return self.method.rows * self.steps.loss

    @property
    def waiting(self) -> int:
        """How many examples wait for their batch to be full."""
        return len(self._y)

    def predict(self, H: Any, average: bool = True) -> Any:
        """Return <w, h>; see `Learner.predict`."""
        return self.steps.predict(H, average)

    def update(self, H: Any, y: Any = None) -> Any:
        """Predict each example with the weights at hand, and step after each full batch.

        A block of rows gives the same bits as its rows one by one. Parameters, results and errors
        are those of `Learner.update`, without weights.
        """
        given = doubles("H", H)
        rows, _, targets, _ = self.steps.checked(given, y)
        predictions, at = np.empty(len(rows)), 0
        while at < len(rows):
            end = min(len(rows), at + self.method.rows - self.waiting)
            w = self.steps.w
            predictions[at:end] = [float(w @ h) for h in rows[at:end]]
            self.wait(rows[at:end], targets[at:end])
            at = end
        return float(predictions[0]) if given.ndim == 1 else predictions

    def wait(self, H: Any, y: Any) -> None:
        """Take checked examples, no more than the batch lacks, and step where it is full."""
        self._H, self._y = np.vstack([self._H, H]), np.concatenate([self._y, y])
        if self.waiting < self.method.rows:
            return
        loss, w = self.steps.method.loss, self.steps.w
        if isinstance(loss, OfPrediction):
            values, slopes = loss.loss.pointwise(self._H @ w, self._y)
            value, u = float(values.mean()), slopes @ self._H / self.method.rows
        else:
            each = [loss.evaluate(w, h, t) for h, t in zip(self._H, self._y.tolist(), strict=True)]
            value = float(np.mean([one for one, _ in each]))
            u = np.mean([one for _, one in each], axis=0)
        self._H, self._y = self._H[:0], self._y[:0]
        self.steps.move(value, u)

    def regret_bound(self, w: Any = None) -> float:
        """Return a bound of Σ l_i − l_i(w) over the examples of full batches.

        It is `rows` times that of the means; see `Learner.regret_bound`.
        """
        return self.method.rows * self.steps.regret_bound(w)

    def state(self) -> dict[str, Any]:
        """Return all that a run goes on from: that of `steps`, and the examples that wait."""
        waiting = {"H": self._H.copy(), "y": self._y.copy()}
        return {**self.steps.state(), "batch": repr(self.method), **waiting}
