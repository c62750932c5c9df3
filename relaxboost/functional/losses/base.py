"""The interfaces of losses and risks."""

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
    """The risk R[f] = Σ p_n l(f(x_n), y_n), the weighted mean of a loss l on data.

    The data are examples x_n with targets y_n and weights p_n. The methods take the predictions F
    of the function f for the examples, with shape (N,), or (N, K) for K outputs.

    A subgradient ∇ has the shape of F, with R[g] >= R[f] + <∇, g − f> for all functions g. The
    inner product contains the weights p_n (see `Empirical`), so that the entries of ∇ do not.

    The constructor of a subclass must set `measure`, and `outputs` if there are several outputs.
    """

    measure: Empirical
    """The example weights, for instance ``Empirical(N)`` for N equal weights."""
    loss: Any = None
    """The `Loss` of the risk. `boost` needs it only for a validation set."""
    outputs: int | None = None
    """The number K of outputs, or None if f(x) is a number."""
    classes: Any = None
    """The class labels in the order of the outputs, or None for numeric targets. With a single
    output, the first label stands for −1 and the second for +1."""
    strong_convexity: float = 0.0
    """The constant λ in R[g] >= R[f] + <∇, g − f> + (λ/2)‖g − f‖² for all f and g, where ∇ is a
    subgradient at f; 0 if the risk is not strongly convex."""
    smoothness: float = math.inf
    """The constant Λ in R[g] <= R[f] + <∇, g − f> + (Λ/2)‖g − f‖² for all f and g, where ∇ is the
    gradient at f; inf if the risk is not smooth."""
    gradient_bound: float = math.inf
    """An upper bound on the norms of all subgradients, or inf."""
    attained: bool = True
    """Whether the risk has a minimiser on every subspace of functions."""
    shrinkage: float | None = None
    """The default step of `Refitted`. If it is None, the weak learner sets the default."""
    closed_form: bool = True
    """Whether `conjugate` evaluates a formula instead of calling a solver."""
    centred: bool = False
    """Whether R*(Z) is finite only if the entries of Z for each example sum to 0."""

    @abstractmethod
    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return the risk of the predictions F, and a subgradient at F."""

    def value(self, F: Array) -> float:
        """Return the risk of the predictions F."""
        return self.evaluate(F)[0]

    @abstractmethod
    def expression(self, F: Any) -> Any:
        """Return the risk as a convex cvxpy expression of F.

        F is a cvxpy expression of shape (N,) or (N, K).
        """

    @abstractmethod
    def conjugate(self, Z: Array) -> float:
        """Return the conjugate R*(Z) = sup_F (<Z, F> − R[F]).

        It is inf outside its domain, which contains Z = 0 because risks are bounded below.
        """

    def nearby(self, Z: Array, snap: float = 0.0) -> Array:
        """Return an array near Z at which the conjugate R* is finite.

        By default the result is the largest multiple of Z, by a factor in [0, 1], with a finite R*.

        Parameters
        ----------
        Z : array of the shape of the predictions
            An array at which R* may be infinite.
        snap : float
            Subclasses that know the boundary of the domain of R* move entries of Z that are nearer
            than `snap` onto it.
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
        """Return how far each entry of Z can change while the conjugate stays finite.

        Distances above 1 are returned as 1, and None means that they are unknown. If `optimum`
        corrects Z, it changes entries with large distances most.
        """
        return None

    def margins(self) -> Any:
        """Return the matrix C of the margins C F of the predictions F.

        The risk must decrease in each margin. It has a minimiser on a subspace if the subspace
        contains no direction G with C G >= 0 and C G ≠ 0. `optimum` tests this condition.

        The columns of C belong to the entries of F, row by row, and C may be sparse. If the risk
        has a minimiser on every subspace, or if no such matrix is known, the result is None.
        """
        return None

    def parts(self) -> tuple[Any, Risk] | None:
        """Return a matrix D and a simpler risk Q with R[F] = Q[D F], or None.

        `optimum` then minimises Q. For the ranking hinge, D computes the score differences of all
        pairs, and Q is the mean hinge loss. The columns of D belong to the entries of F, row by
        row, and D may be sparse.
        """
        return None

    def softened(self, F: Array, gradient: Array) -> Array:
        """Return the gradient that the algorithm `Refitted` projects onto the hypotheses.

        By default it is the given subgradient at F. For the hinge and the multiclass hinge, it is
        the gradient of a smooth approximation of the risk.
        """
        return gradient

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array | None:
        """Return the leaf values that decrease the risk when they are added to the predictions.

        If the loss has no rule for leaf values, the result is None.

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
            The leaf values, with a column for each output if there are several.
        """
        return None

    def zero(self) -> Array:
        """Return the predictions of the function that is 0 everywhere."""
        n = self.measure.size
        return np.zeros(n) if self.outputs is None else np.zeros((n, self.outputs))


def check_risk(risk: Any) -> None:
    """Raise an InputError unless `risk` is a valid `Risk`."""
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
    """A convex loss, which `bind` turns into a risk on given data.

    Subclasses should be frozen dataclasses. If they define a `name`, the estimators accept it.
    """

    name: ClassVar[str] = ""
    """The name by which estimators select the loss, or "" if it has none."""
    task: ClassVar[str] = ""
    """The kind of the targets: "regression", "binary", "multiclass" or "ranking"."""
    likelihood: ClassVar[bool] = False
    """Whether the loss is −log p, where p is the logistic or softmax probability of the label."""
    of_differences: ClassVar[bool] = False
    """Whether the loss depends only on f − y. Estimators then start at the best constant, and
    `HedgedDescent` accepts numeric targets."""
    strong_convexity: float = 0.0
    smoothness: float = math.inf
    gradient_bound: float = math.inf
    attained: bool = True
    falling: bool = False
    """Whether the loss decreases in every margin and does not attain its infimum.

    For two classes, the margin is y f for the target y = ±1. For more classes, the margins are f_y
    − f_k, where y is the correct class and k any other class.
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
            Numbers for regression and ranking, or any labels for classification.
        weights : array of shape (N,), optional
            Example weights >= 0, which are divided by their positive sum.
        groups : array of shape (N,), optional
            For ranking, the query id of each example.
        classes : array, optional
            The classes of the training set, in order, for a risk on other data. They must contain
            all labels in y.

        Raises
        ------
        InputError
            If the targets, the weights or the groups do not suit the loss.
        """
        targets, known = targets_of(self, y, groups, classes)
        return self._risk(targets, Empirical(len(targets), weights), known, groups)

    def softened(self, F: Array, y: Any, slopes: Array) -> Array:
        """Return the gradient that the algorithm `Refitted` projects onto the hypotheses.

        By default it is `slopes`, the subgradient of the loss at F. Losses with corners may return
        the gradient of a smooth approximation.
        """
        return slopes

    def _risk(self, y: Any, measure: Empirical, classes: Any, groups: Any) -> Risk:
        """Return the risk on validated targets: numbers, ±1, or class indices."""
        raise InputError(f"{self!r} must define the method bind, which returns a Risk")


class MeanRisk(Risk):
    """The weighted mean of a loss that defines `atoms` and `conjugates`."""

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
    """The weighted mean of a `PointwiseLoss`."""

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
    """A loss l(f, y) of a scalar prediction f. For two classes, the target y is ±1.

    `CustomLoss` needs only a cvxpy expression, but is slower.

    Examples
    --------
    A user-defined loss defines three methods and the known constants:

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
    """The smallest and largest slope of the loss in the prediction for the target y = 1, or None if
    unknown.

    The conjugate is finite between them. They tighten the bounds of `optimum`.
    """

    @cached_property
    def gradient_bound(self) -> float:  # type: ignore[override]
        """The largest absolute slope of the loss, or inf if the slopes are unknown."""
        return math.inf if self.slopes is None else max(map(abs, self.slopes))

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array | None]:
        """Return the first and second derivatives of each loss at the predictions F.

        If the second derivatives are unknown, they are None.
        """
        return self.pointwise(F, y)[1], None

    def refitted(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        """Return the leaf values that `Refitted` adds to the predictions F.

        By default they minimise the loss in each leaf; see `minimisers`. If `falling` is True and
        second derivatives are known, they are damped Newton steps, which decrease the loss if
        |l'''| <= l''.
        """
        if self.falling:
            # A leaf of one class has no minimiser.
            slope, bend = self.derivatives(F, y)
            if bend is not None:
                gradient = sums(leaf, p * slope, leaves)
                return damped(gradient, sums(leaf, p * bend, leaves))
        return self.minimisers(F, y, p, leaf, leaves)

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        """Return the value v of each leaf that minimises Σ p_n l(F_n + v, y_n).

        The sum is over the examples n of the leaf. The arrays have an entry for each example, and
        `leaf` contains leaf indices from 0 to `leaves` − 1.
        """
        return roots(lambda v: self.derivatives(F + v, y), p, leaf, leaves)

    @abstractmethod
    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return the loss of each example, and a subgradient in its prediction.

        The bounds of `online.hindsight` assume relative errors of at most 64 ulps in both.
        """

    @abstractmethod
    def atoms(self, F: Any, y: Array) -> Any:
        """Return the losses of N examples as a cvxpy expression of shape (N,).

        F is a cvxpy expression of the predictions.
        """

    @abstractmethod
    def conjugates(self, Z: Array, y: Array) -> Array:
        """Return the conjugate of each example's loss at its entry z of Z.

        The conjugate is sup_f (z f − l(f, y)), and may be inf.
        """

    def domain(self, y: Array) -> tuple[Array, Array] | None:
        """Return the interval on which the conjugate of each example's loss is finite.

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
