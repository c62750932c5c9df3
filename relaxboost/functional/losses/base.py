"""What a loss is, and the risk it becomes on data: value, subgradient, constants, cvxpy."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.measure import Empirical

Array = NDArray[np.float64]


class Risk(ABC):
    """R[f] = Σ p_n l(f(x_n), y_n) on given data, as a functional of the predictions F.

    F has shape (N,) where `outputs` is None and else (N, `outputs`). Subgradients are those of
    the space L²(P̂): R[g] >= R[f] + <∇, g − f>, so that for a sum over examples ∇(x_n) is a
    subgradient of l(·, y_n), without the weight p_n.
    """

    measure: Empirical
    outputs: int | None = None
    classes: Any = None
    """The labels in the order of the outputs; of two labels, the second is +1."""
    strong_convexity: float = 0.0
    """λ: R[g] >= R[f] + <∇, g − f> + (λ/2)‖g − f‖², wherever f and g are; 0 if there is none."""
    smoothness: float = math.inf
    """Λ: R[g] <= R[f] + <∇, g − f> + (Λ/2)‖g − f‖²; inf if there is none."""
    gradient_bound: float = math.inf
    """A bound of ‖∇‖ over all f; inf if there is none."""
    attained: bool = True
    """Whether R has a minimiser on every subspace; if not, gaps are to the infimum."""

    @abstractmethod
    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return R[f] and the subgradient that the loss documents, of the shape of F."""

    def value(self, F: Array) -> float:
        """Return R[f]."""
        return self.evaluate(F)[0]

    @abstractmethod
    def expression(self, F: Any) -> Any:
        """Return R as a convex cvxpy expression of F, of shape (N,) or (N, K)."""

    @abstractmethod
    def conjugate(self, Z: Array) -> float:
        """Return sup over F of <Z, F> − R[F] = Σ p_n l*(Z_n), inf outside the domain.

        Every R here is bounded below, so that Z = 0 is in the domain.
        """

    def decide(self, F: Array) -> Any:
        """Return predictions in the terms of the labels; F itself for regression and ranking."""
        if self.classes is None:
            return F
        return self.classes[(F > 0.0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]

    def zero(self) -> Array:
        """Return the predictions of f = 0."""
        n = self.measure.size
        return np.zeros(n) if self.outputs is None else np.zeros((n, self.outputs))


class Loss(ABC):
    """A convex loss, without data. A subclass should be immutable; a frozen dataclass is."""

    task: ClassVar[str]
    """regression, binary, multiclass or ranking."""

    @abstractmethod
    def bind(
        self,
        y: Any,
        weights: Any = None,
        *,
        groups: Any = None,
        classes: Any = None,
    ) -> Risk:
        """Return the risk on targets y.

        Parameters
        ----------
        y : array of shape (N,)
            Numbers for regression and ranking, any labels for classification.
        weights : array of shape (N,), optional
            Of the examples, >= 0 with a positive sum; divided by it.
        groups : array of shape (N,), optional
            For ranking, the query of each example.
        classes : array, optional
            For classification, the labels of the training set in their order, so that another
            set is bound alike; a label that is not among them is an error.
        """


class PointwiseRisk(Risk):
    """A risk that is a mean over examples of a loss of one number and one target."""

    def __init__(self, loss: PointwiseLoss, y: Array, measure: Empirical, classes: Any) -> None:
        self.loss, self.y, self.measure, self.classes = loss, y, measure, classes
        self.strong_convexity, self.smoothness = loss.strong_convexity, loss.smoothness
        self.gradient_bound, self.attained = loss.gradient_bound, loss.attained

    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return R[f] and the subgradient that the loss documents."""
        values, slopes = self.loss.pointwise(F, self.y)
        return float(self.measure.p @ values), slopes

    def value(self, F: Array) -> float:
        """Return R[f]."""
        return float(self.measure.p @ self.loss.pointwise(F, self.y)[0])

    def expression(self, F: Any) -> Any:
        """Return R as a convex cvxpy expression of F, of shape (N,)."""
        return self.measure.p @ self.loss.atoms(F, self.y)

    def conjugate(self, Z: Array) -> float:
        """Return Σ p_n l*(Z_n), inf outside the domain."""
        return float(self.measure.p @ self.loss.conjugates(Z, self.y))


class PointwiseLoss(Loss):
    """A loss l(f, y) of one output; classification has y = ±1."""

    strong_convexity: float = 0.0
    smoothness: float = math.inf
    gradient_bound: float = math.inf
    attained: bool = True

    @abstractmethod
    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return l(F_n, y_n) and a subgradient in F_n for each n."""

    @abstractmethod
    def atoms(self, F: Any, y: Array) -> Any:
        """Return l(F_n, y_n) for each n as a cvxpy expression."""

    @abstractmethod
    def conjugates(self, Z: Array, y: Array) -> Array:
        """Return sup over f of z f − l(f, y_n) for each n; inf outside the domain."""

    def bind(
        self,
        y: Any,
        weights: Any = None,
        *,
        groups: Any = None,
        classes: Any = None,
    ) -> Risk:
        """Return the risk on targets y; see `Loss.bind`."""
        if groups is not None:
            raise InputError(f"{self!r} does not rank, and so takes no groups; leave them out")
        if self.task == "binary":
            targets, classes = signs(y, classes, self)
        else:
            targets = numbers(y, self)
        return PointwiseRisk(self, targets, Empirical(len(targets), weights), classes)


def numbers(y: Any, loss: Loss) -> Array:
    """Return targets as finite doubles of shape (N,)."""
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{loss!r} needs numbers for targets, got {_kind(y)}; for labels use a loss of "
            "classification, e.g. Logistic() or MulticlassHinge()"
        ) from error
    if targets.ndim != 1:
        raise InputError(f"targets need shape (N,), got {targets.shape}")
    bad = np.flatnonzero(~np.isfinite(targets))
    if bad.size:
        raise InputError(f"targets must be finite; example {bad[0]} has {targets[bad[0]]}")
    return targets


def labels(y: Any, classes: Any, loss: Loss) -> tuple[NDArray[np.int64], Any]:
    """Return each label's place among the classes, and the classes, sorted where not given."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise InputError(f"labels need shape (N,), got {y.shape}")
    known = np.unique(y) if classes is None else np.asarray(classes)
    if known.size < 2:
        raise InputError(
            f"{loss!r} needs at least two classes, and there is one only, {known[0]!r}"
            if known.size
            else "there are no examples"
        )
    places = {label: number for number, label in enumerate(known.tolist())}
    found = [places.get(label, -1) for label in y.tolist()]
    if -1 in found:
        unknown = y.tolist()[found.index(-1)]
        raise InputError(f"label {unknown!r} was not seen in training; known: {known.tolist()}")
    return np.array(found, dtype=np.int64), known


def signs(y: Any, classes: Any, loss: Loss) -> tuple[Array, Any]:
    """Return ±1 for two classes, +1 for the second, and the classes."""
    places, known = labels(y, classes, loss)
    if known.size != 2:
        raise InputError(
            f"{loss!r} is for two classes, and there are {known.size}; use MulticlassHinge() or "
            "MultinomialLogistic()"
        )
    return np.where(places == 1, 1.0, -1.0), known


def _kind(y: Any) -> str:
    return f"labels such as {np.asarray(y).ravel()[0]!r}" if np.size(y) else "nothing"
