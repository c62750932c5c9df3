"""The interfaces of losses and of risks. A risk is the mean of a loss over given data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.html import card
from relaxboost.functional.losses.leaves import damped, roots, sums
from relaxboost.functional.losses.targets import LOSSES, targets_of
from relaxboost.functional.measure import Empirical


class Risk(ABC):
    """The risk R[f] = Σ p_n l(f(x_n), y_n) of a function f: the weighted mean of a loss l on data.

    The data are examples x_n with targets y_n and weights p_n. The methods of a risk get the array
    F of the function's predictions for the examples. F has shape (N,) for N examples, or (N, K) if
    the function has K outputs.

    A subgradient of the risk is an array ∇ of the same shape such that R[g] >= R[f] + <∇, g − f>
    for all functions g. The inner product is weighted with the p_n; see `Empirical`. Therefore the
    entry of ∇ for example n is a subgradient of the loss of this example, and is not multiplied by
    its weight p_n.

    The constructor of a subclass must set `measure`. A subclass for functions with several outputs
    must also set `outputs`.
    """

    measure: Empirical
    """The weights of the examples of this risk.

    For example, it is ``Empirical(N)`` for N examples of equal weight.
    """
    loss: Any = None
    """The `Loss` whose weighted mean is this risk. `boost` uses it to compute the risk on a
    validation set. It may be None if there is no validation set."""
    outputs: int | None = None
    """The number K of outputs of the predicting function f. It is None if f(x) is a number."""
    classes: Any = None
    """The labels of the classes in the order of the outputs. If there are two classes and a single
    output, the first label has the target −1, and the second label the target +1. The attribute is
    None if the targets are numbers."""
    strong_convexity: float = 0.0
    """The strong convexity λ of the risk R: R[g] >= R[f] + <∇, g − f> + (λ/2)‖g − f‖² for all
    functions f and g, where ∇ is a subgradient at f. It is 0 if R is not strongly convex."""
    smoothness: float = math.inf
    """The smoothness Λ of the risk R: R[g] <= R[f] + <∇, g − f> + (Λ/2)‖g − f‖² for all functions f
    and g, where ∇ is the gradient at f. It is inf if R is not smooth."""
    gradient_bound: float = math.inf
    """An upper bound on the norms of the subgradients of the risk at all functions. It is inf if
    there is no bound."""
    attained: bool = True
    """Whether the risk R has a minimiser on every subspace of functions."""
    shrinkage: float | None = None
    """The default step of the algorithm `Refitted`. If it is None, the weak learner sets the
    default."""
    closed_form: bool = True
    """Whether the method `conjugate` of this risk evaluates a formula.

    If this is False, a solver computes the conjugate.
    """
    centred: bool = False
    """Whether the conjugate R*(Z) is finite only if the entries of Z for each example sum to 0."""

    @abstractmethod
    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return the risk of the predictions F, and a subgradient of the risk at F."""

    def value(self, F: Array) -> float:
        """Return the risk R[f] of the predictions F."""
        return self.evaluate(F)[0]

    @abstractmethod
    def expression(self, F: Any) -> Any:
        """Return the risk as a convex cvxpy expression.

        F is a cvxpy expression for the predictions, of shape (N,) or (N, K).
        """

    @abstractmethod
    def conjugate(self, Z: Array) -> float:
        """Return the conjugate R*(Z) of the risk, the supremum over F of <Z, F> − R[F].

        The conjugate is inf outside its domain. The domain contains Z = 0, because risks are
        bounded below.
        """

    def nearby(self, Z: Array, snap: float = 0.0) -> Array:
        """Return an array near Z at which the conjugate R* of the risk is finite.

        By default the result is Z multiplied by the largest number in [0, 1] for which R* is
        finite.

        Parameters
        ----------
        Z : array of the shape of the predictions
            The given array, at which R* may be infinite.
        snap : float
            A distance. A subclass that knows the boundary of the set on which R* is finite moves
            an entry of Z onto the boundary if the entry is nearer to it than this distance.
        """
        # The domain is convex and contains 0: bisection finds its end on the way to Z.
        if math.isfinite(self.conjugate(Z)):
            return Z
        inside = 0.0
        outside = 1.0
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            if math.isfinite(self.conjugate(middle * Z)):
                inside = middle
            else:
                outside = middle
        return inside * Z

    def room(self, Z: Array) -> Array | None:
        """Return how far each entry of Z can change while the conjugate of the risk stays finite.

        The result contains the distance of each entry from the boundary of the set on which the
        conjugate is finite, but at most 1. If the distances are unknown, the result is None. When
        the function `optimum` has to correct Z, it changes entries with a large distance more than
        entries near the boundary.
        """
        return None

    def margins(self) -> Any:
        """Return the matrix C that computes the margins C F of the predictions F.

        The risk must decrease if some margins increase and the others stay the same. The function
        `optimum` uses C to find out whether the risk has a minimiser. On a subspace there is a
        minimiser if the subspace contains no direction G with C G >= 0 and C G ≠ 0.

        The columns of C belong to the entries of F, row by row. C may be sparse. If the risk has a
        minimiser on every subspace, or if no such matrix is known, the result is None.
        """
        return None

    def parts(self) -> tuple[Any, Risk] | None:
        """Return a matrix D and a risk Q such that this risk at the predictions F is Q at D F.

        The function `optimum` minimises Q instead of this risk if Q is simpler. For example, the
        risk of the ranking hinge is the mean hinge loss of the differences of scores in pairs, and
        D computes these differences. The columns of D belong to the entries of F, row by row. D may
        be sparse. If there is no simpler risk, the result is None.
        """
        return None

    def softened(self, F: Array, gradient: Array) -> Array:
        """Return the gradient that the algorithm `Refitted` projects onto the hypotheses.

        By default it is the given subgradient of the risk at the predictions F. For the hinge and
        the multiclass hinge, it is the gradient of a smooth approximation of the risk.
        """
        return gradient

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array | None:
        """Return a number for each leaf of a tree. Adding the number decreases the risk.

        The number of a leaf is added to the predictions F of the examples in the leaf. The result
        is None if the loss has no rule for leaf values.

        Parameters
        ----------
        F : array of shape (N,) or (N, K)
            The predictions before this round.
        leaf : int array of shape (N,), or (N, K) if each output has a tree
            The leaf of each example, from 0 to leaves − 1.
        leaves : int
            The number of leaves.

        Returns
        -------
        array of shape (leaves,) or (leaves, K)
            The value of each leaf, with a column for each output if there are several.
        """
        return None

    def zero(self) -> Array:
        """Return the predictions of the function that is 0 everywhere."""
        n = self.measure.size
        return np.zeros(n) if self.outputs is None else np.zeros((n, self.outputs))


def check_risk(risk: Any) -> None:
    """Raise an InputError unless the argument is a `Risk`."""
    if not isinstance(risk, Risk):
        raise InputError(
            f"risk must be a loss bound to data, such as Hinge().bind(y), got {risk!r}"
        )
    if not isinstance(getattr(risk, "measure", None), Empirical):
        raise InputError(
            f"{type(risk).__name__} must have the attribute `measure`; in its constructor, set "
            "self.measure = Empirical(N) for N examples"
        )


class Loss:
    """A convex loss. The method `bind` returns the risk of the loss on given data.

    Subclasses should be frozen dataclasses. If a subclass defines a `name`, the estimators accept
    this name as an argument.
    """

    name: ClassVar[str] = ""
    """The name by which estimators select the loss with its default parameters.

    It is "" if the loss has no such name.
    """
    task: ClassVar[str] = ""
    """The kind of targets for which the loss is defined.

    It is "regression", "binary", "multiclass" or "ranking".
    """
    likelihood: ClassVar[bool] = False
    """Whether the loss is −log p, where p is the probability of the label. The logistic function or
    softmax computes p from the outputs."""
    of_differences: ClassVar[bool] = False
    """Whether the loss depends only on the difference of the prediction and the target. If this is
    True, the estimators begin with the best constant prediction, and the online method
    `HedgedDescent` accepts the loss for numeric targets."""
    strong_convexity: float = 0.0
    smoothness: float = math.inf
    gradient_bound: float = math.inf
    attained: bool = True
    falling: bool = False
    """Whether the loss decreases in every margin and does not attain its infimum.

    For two classes, the margin is the product y f of the target y = ±1 and the prediction f. For
    more classes, the margins are f_y − f_k, where f_y is the output of the correct class y and f_k
    that of another class k.
    """

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
        """Return the risk of the loss on the targets y.

        Parameters
        ----------
        y : array of shape (N,)
            Numbers for regression and ranking, any labels for classification.
        weights : array of shape (N,), optional
            The weights of the examples: numbers >= 0, which are divided by their positive sum.
        groups : array of shape (N,), optional
            For ranking, the query of each example.
        classes : array, optional
            The labels of the training set in their order, for the risk on a different set. Each
            label in y must be one of these labels.

        Raises
        ------
        InputError
            If the targets, the weights or the groups do not suit the loss.
        """
        targets, known = targets_of(self, y, groups, classes)
        return self._risk(targets, Empirical(len(targets), weights), known, groups)

    def softened(self, F: Array, y: Any, slopes: Array) -> Array:
        """Return the gradient that the algorithm `Refitted` projects onto the hypotheses.

        The argument `slopes` is the subgradient of the loss at the predictions F. By default it is
        returned unchanged. Losses with corners may return the gradient of a smooth approximation.
        """
        return slopes

    def _risk(self, y: Any, measure: Empirical, classes: Any, groups: Any) -> Risk:
        """Return the risk on targets that were checked. They are numbers, ±1, or class indices."""
        raise InputError(f"{self!r} needs a method bind, which returns a Risk")


class MeanRisk(Risk):
    """The risk that is the weighted mean of a loss over examples.

    The loss must define the methods `atoms` and `conjugates`.
    """

    def __init__(self, loss: Any, y: Any, measure: Empirical, classes: Any) -> None:
        self.loss = loss
        self.y = y
        self.measure = measure
        self.classes = classes
        # The constants of a loss hold for every weighted mean of it.
        for constant in ("strong_convexity", "smoothness", "gradient_bound", "attained"):
            setattr(self, constant, getattr(loss, constant))

    def softened(self, F: Array, gradient: Array) -> Array:
        return self.loss.softened(F, self.y, gradient)

    def expression(self, F: Any) -> Any:
        return self.measure.p @ self.loss.atoms(F, self.y)

    def conjugate(self, Z: Array) -> float:
        # An infinite conjugate times a weight of 0 would be nan.
        values = self.loss.conjugates(Z, self.y)
        return self.measure.mean(np.where(self.measure.p > 0.0, values, 0.0))


class PointwiseRisk(MeanRisk):
    """The risk that is the weighted mean of a `PointwiseLoss` over examples."""

    def __init__(self, loss: PointwiseLoss, y: Array, measure: Empirical, classes: Any) -> None:
        super().__init__(loss, y, measure, classes)
        # The loss may be user-defined. A wrong shape would broadcast to a wrong risk.
        found: Any = self.loss.pointwise(self.zero(), self.y)
        got: Any = type(found).__name__
        if isinstance(found, tuple):
            got = [np.shape(part) for part in found]
        if got != [self.y.shape] * 2:
            raise InputError(
                f"pointwise of {self.loss!r} must return a tuple (losses, subgradients), both of "
                f"shape {self.y.shape}, but returned {got}"
            )
        if not all(np.isfinite(part).all() for part in found):
            raise InputError(
                f"{self.loss!r} returns losses or subgradients at F = 0 that are not finite; "
                "correct the loss, or scale the targets"
            )

    def __repr__(self) -> str:
        return f"<risk of {self.loss!r} on {self.measure.size} examples>"

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {
            "examples": self.measure.size,
            "risk of f = 0": self.value(self.zero()),
        }
        if self.classes is not None:
            facts["classes −1 and +1"] = ", ".join(map(str, self.classes))
        return card(f"Risk, {self.loss!r}", facts)

    def evaluate(self, F: Array) -> tuple[float, Array]:
        values, slopes = self.loss.pointwise(F, self.y)
        return self.measure.mean(values), slopes

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array:
        return self.loss.refitted(F, self.y, self.measure.p, leaf, leaves)

    def margins(self) -> Any:
        if not self.loss.falling:
            return None
        from scipy.sparse import diags_array

        return diags_array(self.y).tocsr()[self.measure.p > 0.0]

    def nearby(self, Z: Array, snap: float = 0.0) -> Array:
        ends = self.loss.domain(self.y)
        if ends is None:
            return super().nearby(Z, snap)
        low, high = ends
        Z = np.clip(Z, low, high)
        return np.where(Z - low < snap, low, np.where(high - Z < snap, high, Z))

    def room(self, Z: Array) -> Array | None:
        ends = self.loss.domain(self.y)
        return None if ends is None else np.clip(np.minimum(Z - ends[0], ends[1] - Z), 0.0, 1.0)


class PointwiseLoss(Loss, ABC):
    """A loss l(f, y) of a prediction f, which is a number. For two classes, the target y is ±1.

    A `CustomLoss` needs only a cvxpy expression, but is slower.

    Examples
    --------
    A user-defined loss is a subclass that defines three methods and the known constants:

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

    slopes: tuple[float, float] | None = None
    """The smallest and the largest slope of the loss in the prediction, for the target y = 1.

    They are None if unknown. The conjugate of the loss is finite between these slopes. The function
    `optimum` uses them to compute tighter bounds on the least risk.
    """

    @cached_property
    def gradient_bound(self) -> float:  # type: ignore[override]
        """The largest absolute slope of the loss in the prediction.

        It is inf if the slopes are unknown.
        """
        return math.inf if self.slopes is None else max(map(abs, self.slopes))

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array | None]:
        """Return the first and second derivatives of each example's loss in its prediction.

        F contains the predictions. If the second derivatives are unknown, they are None.
        """
        return self.pointwise(F, y)[1], None

    def refitted(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        """For each leaf, return the number that the algorithm `Refitted` adds to the predictions.

        By default this number minimises the loss of the examples in the leaf; see `minimisers`.

        If the attribute `falling` of the loss is True, there may be no minimum. Then the number is
        a damped Newton step, provided that the method `derivatives` returns second derivatives.
        The step decreases the loss if the absolute value of the third derivative is nowhere larger
        than the second derivative.
        """
        if self.falling:
            # A leaf of one class has no minimiser.
            slope, bend = self.derivatives(F, y)
            if bend is not None:
                gradient = sums(leaf, p * slope, leaves)
                return damped(gradient, sums(leaf, p * bend, leaves))
        return self.minimisers(F, y, p, leaf, leaves)

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        """For each leaf, return the number v that minimises the loss if v is added to predictions.

        The number v minimises Σ p_n l(F_n + v, y_n) over the examples n of the leaf. The arrays
        have an entry for each example: F contains the predictions, y the targets, p weights >= 0,
        and `leaf` the index of the leaf, from 0 to `leaves` − 1.
        """
        return roots(lambda v: self.derivatives(F + v, y), p, leaf, leaves)

    @abstractmethod
    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return the loss of each example, and a subgradient of this loss in the prediction.

        F contains the predictions, and y the targets. The bounds of `online.hindsight` assume that
        losses and subgradients have relative errors of at most 64 units in the last place.
        """

    @abstractmethod
    def atoms(self, F: Any, y: Array) -> Any:
        """Return a cvxpy expression of shape (N,) that contains the loss of each of N examples.

        F is a cvxpy expression for the predictions.
        """

    @abstractmethod
    def conjugates(self, Z: Array, y: Array) -> Array:
        """Return the convex conjugate of each example's loss at the example's entry z of Z.

        The conjugate is the supremum of z f − l(f, y) over all predictions f, and may be inf.
        """

    def domain(self, y: Array) -> tuple[Array, Array] | None:
        """Return the ends of the interval on which the conjugate of each example's loss is finite.

        If the slopes of the loss are unknown, the result is None.
        """
        if self.slopes is None:
            return None
        low, high = self.slopes
        # The slopes for y = −1 have the other sign.
        if self.task == "regression":
            return np.full_like(y, low), np.full_like(y, high)
        return np.where(y > 0.0, low, 0.0 - high), np.where(y > 0.0, high, 0.0 - low)

    def _risk(self, y: Array, measure: Empirical, classes: Any, groups: Any) -> Risk:
        if self.task not in ("regression", "binary"):
            raise InputError(
                f'{self!r} needs a class attribute `task` equal to "regression" or "binary"'
            )
        return PointwiseRisk(self, y, measure, classes)
