"""Losses Q(w, z) of weights on one example z = (h, y), convex in w."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Matrix, Vector, doubles
from relaxboost._core.errors import InputError, RowError
from relaxboost.functional.losses.base import PointwiseLoss
from relaxboost.functional.losses.registry import LOSSES


class OnlineLoss(ABC):
    """Q(w, z), convex in w: h are the values of the M base functions, y what is told afterwards.

    A loss of one's own that is no function of <w, h> and y is a subclass; one that is should be a
    `PointwiseLoss`, which every learner takes as it is.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 5.
    """

    task: str = ""
    """"binary" for labels ±1, "regression" for numbers, "" for none."""

    @abstractmethod
    def evaluate(self, w: Vector, h: Vector, y: float) -> tuple[float, Vector]:
        """Return Q(w, z) and a subgradient in w, shape (M,)."""

    @abstractmethod
    def lipschitz(self, reach: float, size: float, targets: float) -> float:
        """Return L, a bound of the subgradients in the dual norm; inf if there is none.

        Parameters
        ----------
        reach : float
            A bound of |<w, h>| over the domain.
        size : float
            A bound of h in the dual norm.
        targets : float
            A bound of |y|, inf if unknown.
        """

    def checked(self, y: Any, rows: int) -> Array:
        """Return the targets of a block as doubles of shape (rows,).

        Raises
        ------
        InputError
            For targets that the loss does not take, with their row.
        """
        given = np.zeros(rows) if y is None and not self.task else y
        values = doubles("targets", given).reshape(-1)
        if given is None:
            raise InputError(f"{self!r} needs targets, and there are none; give y")
        if values.shape != (rows,):
            raise InputError(f"there are {rows} examples and {values.size} targets")
        wrong = ~np.isfinite(values)
        rule, remedy = "finite", "leave it out"
        if self.task == "binary":
            wrong, rule = np.abs(values) != 1.0, "-1 or +1"
            remedy = "make them so, as stream(classes=(negative, positive)) does"
        if wrong.any():
            row = int(np.argmax(wrong))
            before = f"targets of {self!r} must be {rule}; "
            raise RowError(before, row, f" has {values[row]:g}; {remedy}")
        return values


@dataclass(frozen=True)
class OfPrediction(OnlineLoss):
    """φ(<w, h>, y) for a `PointwiseLoss` φ: JNTV05's φ(y f(x)), and regression."""

    loss: PointwiseLoss

    @property
    def task(self) -> str:  # type: ignore[override]
        """That of φ."""
        return self.loss.task

    def __repr__(self) -> str:
        return repr(self.loss)

    def evaluate(self, w: Vector, h: Vector, y: float) -> tuple[float, Vector]:
        value, slope = self.loss.pointwise(np.array([float(w @ h)]), np.array([y]))
        return float(value[0]), float(slope[0]) * h

    def lipschitz(self, reach: float, size: float, targets: float) -> float:
        """Return the steepest slope for |<w, h>| <= reach, times the size of h.

        φ is convex, so that the steepest slopes are at the ends.
        """
        if self.task == "regression" and not (self.loss.of_differences and targets < math.inf):
            return self.loss.gradient_bound * size
        labels = (-1.0, 1.0) if self.task == "binary" else (-targets, targets)
        y, F = (grid.ravel() for grid in np.meshgrid(labels, (-reach, reach)))
        return float(np.abs(self.loss.pointwise(F, y)[1]).max()) * size


@dataclass(frozen=True)
class Inner(OnlineLoss):
    """<w, h>: h are the costs of M experts, and w spreads the stake over them."""

    def evaluate(self, w: Vector, h: Vector, y: float) -> tuple[float, Vector]:
        return float(w @ h), h

    def lipschitz(self, reach: float, size: float, targets: float) -> float:
        return size


def as_online_loss(given: Any) -> OnlineLoss:
    """Return the loss that a learner was given: by name, a `PointwiseLoss` or an `OnlineLoss`."""
    if isinstance(given, str):
        kinds = {name: kind for name, kind in LOSSES.items() if issubclass(kind, PointwiseLoss)}
        if given == "inner":
            return Inner()
        if given not in kinds:
            raise InputError(f"unknown loss {given!r}; choose one of {', '.join(kinds)}, inner")
        given = kinds[given]()
    if isinstance(given, PointwiseLoss):
        return OfPrediction(given)
    if isinstance(given, OnlineLoss):
        return given
    raise InputError(f"loss must be a name, a PointwiseLoss or an OnlineLoss, got {given!r}")


def losses_of(loss: OnlineLoss, W: Matrix, H: Matrix, y: Vector | None) -> Matrix:
    """Return Q(w, z) for each row w of W and each example (h, y), shape (len(W), len(H))."""
    if isinstance(loss, Inner):
        return W @ H.T
    targets = loss.checked(y, len(H))
    if isinstance(loss, OfPrediction):
        F = W @ H.T
        values, _ = loss.loss.pointwise(F.ravel(), np.tile(targets, len(W)))
        return values.reshape(F.shape)
    examples = list(zip(H, targets.tolist(), strict=True))
    return np.array([[loss.evaluate(w, h, t)[0] for h, t in examples] for w in W])
