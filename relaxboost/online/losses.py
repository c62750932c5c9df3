"""Losses Q(w, z) of the weights w for an example z = (h, y), which are convex in w."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Matrix, Vector, doubles
from relaxboost._core.errors import InputError, RowError
from relaxboost._core.names import known_names
from relaxboost.functional.losses.base import PointwiseLoss
from relaxboost.functional.losses.targets import LOSSES


class OnlineLoss(ABC):
    """A loss Q(w, z) of the weights w for an example z = (h, y), convex in w.

    The vector h contains the base function values, and y is the target. User-defined losses of the
    prediction <w, h> should be `PointwiseLoss` subclasses, and others `OnlineLoss` subclasses.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 5.
    """

    task: str = ""
    """The kind of targets: "binary" for ±1, "regression" for numbers, or "" for none."""

    @abstractmethod
    def evaluate(self, w: Vector, h: Vector, y: float) -> tuple[float, Vector]:
        """Return the loss for the weights w, and a subgradient in w."""

    @abstractmethod
    def lipschitz(self, reach: float, size: float, targets: float) -> float:
        """Return a bound L on the dual norm of the subgradients, or inf.

        Parameters
        ----------
        reach : float
            A bound on |<w, h>| over the domain.
        size : float
            A bound on the dual norm of h.
        targets : float
            A bound on |y|, or inf if it is unknown.
        """

    def checked(self, y: Any, rows: int) -> Array:
        """Validate the targets of a block, and return them as an array.

        Raises
        ------
        InputError
            If the loss does not accept a target. The error names the row.
        """
        given = np.zeros(rows) if y is None and not self.task else y
        values = doubles("targets", given).reshape(-1)
        if given is None:
            raise InputError(f"{self!r} needs targets, but there are none; pass y")
        if values.shape != (rows,):
            raise InputError(
                f"there are {rows} examples but {values.size} targets; pass one target per example"
            )
        wrong = ~np.isfinite(values)
        rule = "finite"
        remedy = "leave the row out"
        if self.task == "binary":
            wrong = np.abs(values) != 1.0
            rule = "-1 or +1"
            remedy = "convert them, as stream(classes=(negative, positive)) does"
        if wrong.any():
            row = int(np.argmax(wrong))
            before = f"targets of {self!r} must be {rule}; "
            raise RowError(before, row, f" has {values[row]:g}; {remedy}")
        return values


@dataclass(frozen=True)
class OfPrediction(OnlineLoss):
    """The loss φ(<w, h>, y) of a prediction <w, h> for a target y.

    Parameters
    ----------
    loss : PointwiseLoss
        The function φ.
    """

    loss: PointwiseLoss

    @property
    def task(self) -> str:  # type: ignore[override]
        """The kind of targets of φ: "binary" for labels ±1, or "regression" for numbers."""
        return self.loss.task

    def __repr__(self) -> str:
        return repr(self.loss)

    def evaluate(self, w: Vector, h: Vector, y: float) -> tuple[float, Vector]:
        # The chain rule turns the derivative in the prediction into a subgradient in w.
        value, slope = self.loss.pointwise(np.array([float(w @ h)]), np.array([y]))
        return float(value[0]), float(slope[0]) * h

    def lipschitz(self, reach: float, size: float, targets: float) -> float:
        if self.task == "regression" and not (self.loss.of_differences and targets < math.inf):
            # If the targets have no bound, only a global bound on the slopes is valid.
            return self.loss.gradient_bound * size
        # The slopes of a convex φ are steepest at the ends of the interval of predictions.
        labels = (-1.0, 1.0) if self.task == "binary" else (-targets, targets)
        y, F = (grid.ravel() for grid in np.meshgrid(labels, (-reach, reach)))
        return float(np.abs(self.loss.pointwise(F, y)[1]).max()) * size


@dataclass(frozen=True)
class Inner(OnlineLoss):
    """The linear loss <w, h> of the weights w of M experts with the costs h."""

    def evaluate(self, w: Vector, h: Vector, y: float) -> tuple[float, Vector]:
        return float(w @ h), h

    def lipschitz(self, reach: float, size: float, targets: float) -> float:
        return size


def as_online_loss(given: Any) -> OnlineLoss:
    """Convert a name, a `PointwiseLoss` or an `OnlineLoss` to an `OnlineLoss`."""
    if isinstance(given, str):
        kinds = {name: kind for name, kind in LOSSES.items() if issubclass(kind, PointwiseLoss)}
        if given == "inner":
            return Inner()
        if given not in kinds:
            raise InputError(f"unknown loss {given!r}{known_names(given, [*kinds, 'inner'])}")
        given = kinds[given]()
    if isinstance(given, PointwiseLoss):
        return OfPrediction(given)
    if isinstance(given, OnlineLoss):
        return given
    raise InputError(f"loss must be a name, a PointwiseLoss or an OnlineLoss, got {given!r}")


def losses_of(loss: OnlineLoss, W: Matrix, H: Matrix, y: Vector | None) -> Matrix:
    """Return the losses of several weight vectors for several examples.

    The rows of W are weight vectors, and the rows of H are examples. The result has a row for each
    weight vector and a column for each example.
    """
    if isinstance(loss, Inner):
        return W @ H.T
    targets = loss.checked(y, len(H))
    # All pairs of weights and examples are evaluated in one call.
    if isinstance(loss, OfPrediction):
        F = W @ H.T
        values, _ = loss.loss.pointwise(F.ravel(), np.tile(targets, len(W)))
        return values.reshape(F.shape)
    examples = list(zip(H, targets.tolist(), strict=True))
    return np.array([[loss.evaluate(w, h, t)[0] for h, t in examples] for w in W])
