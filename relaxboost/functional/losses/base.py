"""What a loss is, and the risk it becomes on data: value, subgradient, constants, cvxpy."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost.functional.losses.leaves import damped, roots, sums
from relaxboost.functional.losses.registry import LOSSES
from relaxboost.functional.losses.targets import decided, targets_of
from relaxboost.functional.measure import Empirical


class Risk(ABC):
    """R[f] = Σ p_n l(f(x_n), y_n) on given data, as a functional of the predictions F.

    F has shape (N,) where `outputs` is None and else (N, `outputs`). Subgradients are those of
    the space L²(P̂): R[g] >= R[f] + <∇, g − f>, so that for a sum over examples ∇(x_n) is a
    subgradient of l(·, y_n), without the weight p_n.
    """

    measure: Empirical
    loss: Any = None
    """The `Loss` it is of; a validation set is bound to it."""
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
    shrinkage: float | None = None
    """The step of `Refitted` where it is not the learner's."""
    closed_form: bool = True
    """Whether `conjugate` is good to rounding; a bound that rests on a solver is only as good."""
    centred: bool = False
    """Whether R* is finite only where the outputs of each example sum to zero."""

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

    def nearby(self, Z: Array, snap: float = 0.0) -> Array:
        """Return a point of the domain of R* near Z; here the last on the way from 0 to Z.

        Parameters
        ----------
        Z : array of the shape of F
        snap : float
            What is nearer than this to the boundary is put on it, by risks that know where it is.
        """
        inside, outside = 0.0, 1.0
        if math.isfinite(self.conjugate(Z)):
            return Z
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            if math.isfinite(self.conjugate(middle * Z)):
                inside = middle
            else:
                outside = middle
        return inside * Z

    def room(self, Z: Array) -> Array | None:
        """Return how far each entry of Z may move within the domain of R*; None if unknown.

        `optimum` moves entries in proportion to it.
        """
        return None

    def margins(self) -> Any:
        """Return the matrix C of the margins C F for a risk that falls for ever with them, or None.

        R falls along every G with C G >= 0, C G ≠ 0, and has a minimiser on a subspace that has no
        such G. Columns of C are the entries of F, row by row; rows are of examples of positive
        weight. It may be sparse. None says that R has a minimiser on every subspace, or that
        nothing is known.
        """
        return None

    def parts(self) -> tuple[Any, Risk] | None:
        """Return (D, Q) with R[f] = Q[D F], a matrix and a simpler risk; None if there is none.

        `optimum` then works on Q. D may be sparse.
        """
        return None

    def softened(self, F: Array, gradient: Array) -> Array:
        """Return what `Refitted` projects: ∇R, for hinges that of a smooth risk near R."""
        return gradient

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array | None:
        """Return what to add to F in each leaf to lower R; None if no rule is known.

        `Refitted` then steps along the projection as far as R falls, with no rule for each leaf.

        Parameters
        ----------
        F : array of shape (N,) or (N, K)
        leaf : int array of shape (N,), or (N, K) with other leaves for each output
            In 0..leaves − 1.
        leaves : int

        Returns
        -------
        array of shape (leaves,) or (leaves, K)
        """
        return None

    def decide(self, F: Array) -> Any:
        """Return predictions in the terms of the labels; F itself for regression and ranking."""
        return decided(F, self.classes)

    def zero(self) -> Array:
        """Return the predictions of f = 0."""
        n = self.measure.size
        return np.zeros(n) if self.outputs is None else np.zeros((n, self.outputs))


def check_risk(risk: Any) -> None:
    """Raise an `InputError` where something is no `Risk`, such as a loss without data."""
    if not isinstance(risk, Risk):
        raise InputError(
            f"risk must be a loss bound to data, such as Hinge().bind(y), got {risk!r}"
        )


class Loss:
    """A convex loss, without data. A subclass should be immutable; a frozen dataclass is.

    A subclass with a `name` of its own can be asked for by it in the estimators.
    """

    name: ClassVar[str] = ""
    """What stands for the loss with its defaults, if anything does."""
    task: ClassVar[str] = ""
    """regression, binary, multiclass or ranking."""
    likelihood: ClassVar[bool] = False
    """Whether it is minus the logarithm of a probability, logistic or softmax, of the label."""
    of_differences: ClassVar[bool] = False
    """Whether it depends on f − y alone, so that a constant may be added to both."""

    def __init_subclass__(cls) -> None:
        LOSSES.add(cls)

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

        Raises
        ------
        InputError
            For targets, weights or groups that do not fit the loss.
        """
        targets, known = targets_of(self, y, groups, classes)
        return self._risk(targets, Empirical(len(targets), weights), known, groups)

    def softened(self, F: Array, y: Any, slopes: Array) -> Array:
        """Return what `Refitted` projects, given the subgradients at F."""
        return slopes

    def _risk(self, y: Any, measure: Empirical, classes: Any, groups: Any) -> Risk:
        """Return the risk on checked targets: numbers, ±1, or places among the classes."""
        raise InputError(f"{self!r} needs a method bind, which returns a Risk")


class MeanRisk(Risk):
    """A mean over examples of a loss, whose atoms and conjugates are known for each."""

    y: Any

    def softened(self, F: Array, gradient: Array) -> Array:
        return self.loss.softened(F, self.y, gradient)

    def expression(self, F: Any) -> Any:
        return self.measure.p @ self.loss.atoms(F, self.y)

    def conjugate(self, Z: Array) -> float:
        """Return Σ p_n l*(Z_n), inf outside the domain; examples of weight 0 do not count."""
        values = self.loss.conjugates(Z, self.y)
        return self.measure.mean(np.where(self.measure.p > 0.0, values, 0.0))


class PointwiseRisk(MeanRisk):
    """A risk that is a mean over examples of a loss of one number and one target."""

    def __init__(self, loss: PointwiseLoss, y: Array, measure: Empirical, classes: Any) -> None:
        self.loss, self.y, self.measure, self.classes = loss, y, measure, classes
        self.strong_convexity, self.smoothness = loss.strong_convexity, loss.smoothness
        self.gradient_bound, self.attained = loss.gradient_bound, loss.attained
        self._check()

    def _check(self) -> None:
        """Raise where `pointwise`, which may be the user's, does not return two finite arrays."""
        found: Any = self.loss.pointwise(self.zero(), self.y)
        got: Any = type(found).__name__
        if isinstance(found, tuple):
            got = [np.shape(part) for part in found]
        if got != [self.y.shape] * 2:
            raise InputError(
                f"pointwise of {self.loss!r} must return a tuple of losses and subgradients, both "
                f"of shape {self.y.shape}, and returned {got}"
            )
        if not all(np.isfinite(part).all() for part in found):
            raise InputError(
                f"{self.loss!r} has losses or subgradients at F = 0 that are not finite; mend it, "
                "or scale the targets"
            )

    def evaluate(self, F: Array) -> tuple[float, Array]:
        values, slopes = self.loss.pointwise(F, self.y)
        return self.measure.mean(values), slopes

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array:
        return self.loss.refitted(F, self.y, self.measure.p, leaf, leaves)

    def margins(self) -> Any:
        """Return diag(y) where the loss falls for ever with y f; see `Risk.margins`."""
        if not self.loss.falling:
            return None
        from scipy.sparse import diags_array

        return diags_array(self.y).tocsr()[self.measure.p > 0.0]

    def nearby(self, Z: Array, snap: float = 0.0) -> Array:
        """Return Z clipped to the domain, and what is nearer than `snap` to its ends put there."""
        ends = self.loss.domain(self.y)
        if ends is None:
            return super().nearby(Z, snap)
        low, high = ends
        Z = np.clip(Z, low, high)
        return np.where(Z - low < snap, low, np.where(high - Z < snap, high, Z))

    def room(self, Z: Array) -> Array | None:
        ends = self.loss.domain(self.y)
        if ends is None:
            return super().room(Z)
        return np.clip(np.minimum(Z - ends[0], ends[1] - Z), 0.0, 1.0)


class PointwiseLoss(Loss, ABC):
    """A loss l(f, y) of one output; classification has y = ±1.

    `CustomLoss` does with the cvxpy expression alone, and is slower.

    Examples
    --------
    A loss of one's own is a subclass with three methods, and what is known of the constants:

    >>> from dataclasses import dataclass
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from scipy.special import xlogy
    >>> from relaxboost.functional import PointwiseLoss
    >>> @dataclass(frozen=True)
    ... class LogCosh(PointwiseLoss):
    ...     task = "regression"
    ...     smoothness = 1.0
    ...     slopes = (-1.0, 1.0)
    ...
    ...     def pointwise(self, F, y):
    ...         r = F - y
    ...         return np.logaddexp(r, -r) - np.log(2.0), np.tanh(r)
    ...
    ...     def atoms(self, F, y):
    ...         return cp.logistic(2.0 * (F - y)) - (F - y) - np.log(2.0)
    ...
    ...     def conjugates(self, Z, y):
    ...         s = np.clip((1.0 + Z) / 2.0, 0.0, 1.0)
    ...         values = xlogy(s, s) + xlogy(1.0 - s, 1.0 - s) + np.log(2.0)
    ...         return np.where(np.abs(Z) <= 1.0, Z * y + values, np.inf)
    >>> risk = LogCosh().bind([0.0, 1.0])
    >>> round(risk.value(np.array([0.0, 2.0])), 6)
    0.21689
    """

    strong_convexity: float = 0.0
    smoothness: float = math.inf
    attained: bool = True
    falling: bool = False
    """Whether l falls for ever with y f towards an infimum that it does not attain."""
    slopes: tuple[float, float] | None = None
    """The least and the greatest slope in f, for the label y = 1; None if unknown.

    Between them the conjugates are finite. Where they are known, `optimum` gives better brackets.
    """

    @cached_property
    def gradient_bound(self) -> float:
        """A bound of the slopes in size; inf if there is none."""
        return math.inf if self.slopes is None else max(map(abs, self.slopes))

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array | None]:
        """Return the slopes, and the second derivatives in F_n; None where they are unknown."""
        return self.pointwise(F, y)[1], None

    def refitted(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        """Return v for each leaf, what `Refitted` adds there: by default the minimiser.

        Where the loss is `falling` and has second `derivatives`, a leaf need not have one, and v is
        the step of `leaves.damped`: the third derivative must be at most the second in size.
        """
        if self.falling:
            slope, bend = self.derivatives(F, y)
            if bend is not None:
                gradient = sums(leaf, p * slope, leaves)
                return damped(gradient, sums(leaf, p * bend, leaves))
        return self.minimisers(F, y, p, leaf, leaves)

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        """Return v for each leaf, a minimiser there of Σ p_n l(F_n + v, y_n).

        Parameters
        ----------
        F, y : arrays of shape (N,)
        p : array of shape (N,)
            Weights >= 0.
        leaf : int array of shape (N,)
            In 0..leaves − 1.
        leaves : int
        """
        return roots(lambda v: self.derivatives(F + v, y), p, leaf, leaves)

    @abstractmethod
    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return l(F_n, y_n) and a subgradient in F_n for each n."""

    @abstractmethod
    def atoms(self, F: Any, y: Array) -> Any:
        """Return l(F_n, y_n) for each n as a cvxpy expression."""

    @abstractmethod
    def conjugates(self, Z: Array, y: Array) -> Array:
        """Return sup over f of z f − l(f, y_n) for each n; inf outside the domain."""

    def domain(self, y: Array) -> tuple[Array, Array] | None:
        """Return the ends of the interval where each conjugate is finite, None if unknown."""
        if self.slopes is None:
            return None
        low, high = self.slopes
        if self.task == "regression":
            return np.full_like(y, low), np.full_like(y, high)
        return np.where(y > 0.0, low, 0.0 - high), np.where(y > 0.0, high, 0.0 - low)

    def _risk(self, y: Array, measure: Empirical, classes: Any, groups: Any) -> Risk:
        if self.task not in ("regression", "binary"):
            raise InputError(f'{self!r} needs a class attribute task, "regression" or "binary"')
        return PointwiseRisk(self, y, measure, classes)
