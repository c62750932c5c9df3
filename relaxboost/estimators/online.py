"""Mirror descent behind scikit-learn's interface: each example is predicted, then learned from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.estimators.choices import is_likelihood, loss_of
from relaxboost.estimators.tables import TableEstimator, read_weights
from relaxboost.functional.losses.targets import decided, labels
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import Learner, MirrorDescent, MirrorSteps
from relaxboost.online.proxies import as_proxy
from relaxboost.online.streams import BaseFunctions, LinearBasis, StumpBasis

_ROWS = 4096
"""Rows whose base functions are written down at a time."""


class _Scale(NamedTuple):
    """Targets in center ± half are what the learner sees in [−1, 1]."""

    center: float
    half: float


@dataclass(eq=False, repr=False)  # scikit-learn compares and prints its estimators itself
class OnlineEstimator(TableEstimator, ABC):
    """What the two estimators share: base functions, learners, blocks of rows."""

    usual_loss: ClassVar[str]
    """The name of the loss where none is given."""

    loss: Any = None
    basis: Any = "linear"
    _: KW_ONLY
    radius: float = 30.0
    over: str = "ball"
    proxy: Any = "entropy"
    schedule: Any = "adaptive"
    greedy: bool = False
    average: bool = True
    intercept: bool = True
    passes: int = 1

    @property
    def _loss(self) -> Any:
        return self.usual_loss if self.loss is None else self.loss

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget all, and learn from the rows in their order, `passes` times.

        Parameters
        ----------
        X : array of shape (N, d)
            Finite numbers.
        y : array of shape (N,)
            Labels of any kind, at least two; for regression finite numbers.
        sample_weight : array of shape (N,), optional
            At least 0, not all 0.

        Raises
        ------
        InputError
            For data, labels, weights or parameters that do not fit; it is a ValueError.
        """
        passes = count("passes", self.passes)
        rows = self._validated(X, y, sample_weight, first=True)
        for _ in range(passes):
            self._learn(*rows)
        return self

    @abstractmethod
    def _validated(
        self, X: Any, y: Any, weights: Any, first: bool, classes: Any = None
    ) -> tuple[Array, Array, Array]:
        """Return rows, targets of shape (N, outputs), and weights."""

    def _without_missing(self) -> str | None:
        return "; drop the row, or fill the value in"

    def _begin(self, X: Array, weights: Array, outputs: int, loss: Any, targets: float) -> None:
        """Choose base functions by the first examples, and start a learner for each output."""
        basis = self._basis(X[weights > 0.0])
        size = basis.size(X.shape[1]) + bool(self.intercept)
        method = self._method(loss, size, basis, targets)
        self.learners_: list[Learner] = [method.start(size) for _ in range(outputs)]
        self.basis_ = basis

    def _basis(self, X: Array) -> BaseFunctions:
        if isinstance(self.basis, BaseFunctions):
            if self.basis.features not in (None, X.shape[1]):
                raise InputError(
                    f"X has {X.shape[1]} features, and basis={self.basis.name!r} is of "
                    f"{self.basis.features}"
                )
            return self.basis
        if _choice("basis", self.basis, ("linear", "stumps")) == "linear":
            return LinearBasis.spanning(X)
        if (X[0] == X).all():
            raise InputError(
                f"stumps have no thresholds where all features are constant, as in these n_samples "
                f"= {len(X)}; begin with more examples, or give basis=StumpBasis(thresholds)"
            )
        return StumpBasis.at_quantiles(X)

    def _values(self, X: Array) -> Array:
        """Return the base functions at rows X, and after them the constant."""
        H = self.basis_.values(X)
        return np.column_stack([H, np.full(len(X), self.basis_.bound)]) if self.intercept else H

    def _method(self, loss: Any, size: int, basis: BaseFunctions, targets: float) -> Any:
        proxy = as_proxy(self.proxy)
        kinds: dict[str, type[Domain]] = {
            "ball": L2Ball if proxy.norm == "l2" else L1Ball,
            "simplex": Simplex,
            "full-simplex": FullSimplex,
        }
        domain: Any = kinds[_choice("over", self.over, tuple(kinds))]
        bound = basis.bound_in(proxy.norm, size) * (1.0 + 1e-12)  # sums of squares are rounded
        kind = MirrorSteps if self.greedy else MirrorDescent
        return kind(loss, domain(self.radius), proxy, self.schedule, bound=bound, targets=targets)

    def _learn(self, X: Array, Y: Array, weights: Array) -> Array:
        """Learn from rows and targets of shape (N, outputs); return the predictions before.

        Whatever is raised, also by base functions of the user's, leaves the learners as they were.
        """
        kept = [[array.copy() for array in learner.arrays()] for learner in self.learners_]
        said = np.empty(Y.shape)
        try:
            for block in _blocks(len(X)):
                H = self._values(X[block])
                for k, learner in enumerate(self.learners_):
                    said[block, k] = learner.update(H, Y[block, k], weights[block])
        except BaseException:
            for learner, arrays in zip(self.learners_, kept, strict=True):
                for array, before in zip(learner.arrays(), arrays, strict=True):
                    array[:] = before
            raise
        return said

    def _decided(self, X: Any) -> Array:
        """Return what the learners say of rows X, of shape (N, outputs)."""
        check_is_fitted(self)
        X = self._read(X)
        said = np.empty((len(X), len(self.learners_)))
        for block in _blocks(len(X)):
            H = self._values(X[block])
            for k, learner in enumerate(self.learners_):
                said[block, k] = learner.predict(H, average=self.average)
        return said


class MirrorDescentClassifier(ClassifierMixin, OnlineEstimator):
    """Classification of a stream by mirror descent; several classes are each against the rest.

    Parameters
    ----------
    loss : str or PointwiseLoss, optional
        "logistic", the default, "hinge", "smooth-hinge", "exponential", or a loss of two classes
        of your own.
    basis : {"linear", "stumps"} or BaseFunctions
        The base functions. "linear" are the features, with their range in the examples of the first
        `fit` or `partial_fit` as [−1, 1]; what is beyond later is cut off. "stumps" have ten
        thresholds a feature, from the same examples. Neither changes later: a scale that follows
        the data would change the base functions under the weights. To declare ranges, or for other
        base functions, such as `Symmetric` or `FittedBasis`, see `relaxboost.online.streams`.
    radius : float
        λ > 0 of the weights. With weights in l1, predictions lie in [−λK, λK] for base functions
        in [−K, K].
    over : {"ball", "simplex", "full-simplex"}
        Where the weights are. The ball is that of the proxy, in l1 or in l2.
    proxy, schedule
        See `relaxboost.online.OnlineMethod`. "entropy" suits few features that matter, "squared-l2"
        many that matter a little.
    greedy : bool
        `MirrorSteps` (with the entropy EG, with the squared norm GD) in place of `MirrorDescent`.
        Its regret bound asks for a constant schedule, or the squared norm.
    average : bool
        Whether `predict` uses the average of the weights, as the theorems on i.i.d. examples have
        it, or the last.
    intercept : bool
        Whether a constant joins the base functions.
    passes : int
        How often `fit` goes through the examples, >= 1.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    learners_ : list of Learner
        One for two classes, else one for each; with their `regret_bound`.
    basis_ : BaseFunctions
        Without the constant, which comes last.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The order of examples matters. So does that of weighted ones: `sample_weight` of 2 is an
    example twice in a row, and not twice anywhere, so that scikit-learn's check of it, which
    shuffles, fails here as it does for `SGDClassifier`.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005); Dekel (2011).
    """

    usual_loss = "logistic"
    for_categories = "MarginBoostClassifier"

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> MirrorDescentClassifier:
        """Learn from some more rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array of shape (K,)
            All labels that may ever come; needed by the first call only.

        Raises
        ------
        InputError
            As for `fit`, and for labels that are not among the classes. Nothing has been learned
            then.
        """
        self.progressive(X, y, classes, sample_weight)
        return self

    def progressive(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Do as `partial_fit`, and return the label predicted for each row before it was learned.

        The weights that predict are the last ones, as in the theorems, and not the average.
        """
        first = not hasattr(self, "learners_")
        if first and classes is None:
            raise InputError(
                "the first call of partial_fit needs classes=, all labels that may ever come"
            )
        return self._predicted(self._learn(*self._validated(X, y, sample_weight, first, classes)))

    def _validated(
        self, X: Any, y: Any, weights: Any, first: bool, classes: Any = None
    ) -> tuple[Array, Array, Array]:
        """Return rows, targets ±1 of shape (N, outputs), and weights."""
        loss = loss_of(self._loss, ("binary",), "tells each class from the rest")
        X, y = self._read_pair(X, y, reset=first)
        known = None if classes is None else np.unique(classes)
        if first:
            check_classification_targets(y)
            if len(np.unique(y if known is None else known)) < 2:
                raise InputError(
                    "a classifier needs at least two classes, and there is one class only, "
                    f"{y.tolist()[0]!r}; add examples of another"
                )
        elif known is None or np.array_equal(known, self.classes_):
            known = self.classes_
        else:
            raise InputError(
                f"classes={known.tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}; leave them out"
            )
        places, known = labels(y, known, loss)
        weights = read_weights(weights, len(X))
        outputs = 1 if known.size == 2 else known.size
        if first:
            self._begin(X, weights, outputs, loss, math.inf)
            self.classes_: Any = known
        own = np.arange(outputs) if outputs > 1 else np.ones(1)
        return X, np.where(places[:, None] == own, 1.0, -1.0), weights

    def decision_function(self, X: Any) -> Array:
        """Return <w, h(x)> for rows X: (N,), positive for the second of two classes, or (N, K)."""
        said = self._decided(X)
        return said[:, 0] if said.shape[1] == 1 else said

    def predict(self, X: Any) -> Any:
        """Return labels for rows X of shape (N, d), of shape (N,)."""
        return self._predicted(self._decided(X))

    def _predicted(self, said: Array) -> Any:
        return decided(said[:, 0] if said.shape[1] == 1 else said, self.classes_)

    @property
    def predict_proba(self) -> Any:
        """The method `predict_proba(X)`: probabilities of shape (N, K), columns as `classes_`.

        Those of several classes are each against the rest, scaled to sum up to one. There is none
        unless the loss is minus a log-likelihood, "logistic": an AttributeError says so.
        """
        if not is_likelihood(self._loss):
            raise AttributeError(
                f"loss={self._loss!r} is not the logarithm of a likelihood, so that there is no "
                'predict_proba; use loss="logistic" or decision_function'
            )
        return self._probabilities

    def _probabilities(self, X: Any) -> Array:
        F = self._decided(X)
        if F.shape[1] == 1:
            return np.column_stack([expit(-F), expit(F)])
        return softmax(log_expit(F), axis=1)  # all may be too small for doubles


@dataclass(eq=False, repr=False)
class MirrorDescentRegressor(RegressorMixin, OnlineEstimator):
    """Regression on a stream by mirror descent.

    Targets are scaled into [−1, 1] as features are, for losses that depend on the difference
    only, as those of the package do.

    Parameters
    ----------
    loss : str or PointwiseLoss, optional
        "squared", the default, "absolute", "huber", "quantile", or a loss of your own; its
        parameters are in units of the scaled target.
    basis, over, proxy, schedule, greedy, average, intercept, passes
        As for `MirrorDescentClassifier`.
    radius : float
        λ > 0: predictions are within λ of the middle, in units of the scaled target.
    targets : (low, high), optional
        What is scaled to [−1, 1]; by default the range in the first examples. Slopes of the squared
        loss are bounded only within, and targets beyond count as the ends; other losses take any.

    Attributes
    ----------
    learners_ : list of one Learner
        It has seen scaled targets.
    basis_ : BaseFunctions
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 5.
    """

    usual_loss = "squared"
    for_categories = "MarginBoostRegressor"
    for_labels = "for labels use MirrorDescentClassifier"

    _: KW_ONLY
    radius: float = 3.0
    targets: Any = None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> MirrorDescentRegressor:
        """Learn from some more rows, as for `fit`; bad ones raise before anything is learned."""
        self.progressive(X, y, sample_weight)
        return self

    def progressive(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Do as `partial_fit`, and return the prediction made for each row before it was learned.

        The weights that predict are the last ones, as in the theorems, and not the average.
        """
        first = not hasattr(self, "learners_")
        return self._unscaled(self._learn(*self._validated(X, y, sample_weight, first)))

    def predict(self, X: Any) -> Array:
        """Return predictions for rows X of shape (N, d), of shape (N,)."""
        return self._unscaled(self._decided(X))

    def _unscaled(self, said: Array) -> Array:
        return self.scale_.center + self.scale_.half * said[:, 0]

    def _validated(
        self, X: Any, y: Any, weights: Any, first: bool, classes: Any = None
    ) -> tuple[Array, Array, Array]:
        """Return rows, scaled targets of shape (N, 1), and weights."""
        loss: Any = loss_of(self._loss, ("regression",), "does regression")
        X, y = self._read_pair(X, y, reset=first)
        weights = read_weights(weights, len(X))
        scale = self._scale(loss, y[weights > 0.0]) if first else self.scale_
        seen = (y - scale.center) / scale.half
        limit = math.inf
        if loss.of_differences and math.isinf(loss.gradient_bound):
            limit = 1.0
            seen = np.clip(seen, -1.0, 1.0)
        if first:
            self._begin(X, weights, 1, loss, limit)
            self.scale_: _Scale = scale
        return X, seen[:, None], weights

    def _scale(self, loss: Any, y: Array) -> _Scale:
        try:
            low, high = map(float, (y.min(), y.max()) if self.targets is None else self.targets)
        except (TypeError, ValueError):
            raise InputError(f"targets must be a pair (low, high), got {self.targets!r}") from None
        if not -math.inf < low <= high < math.inf:
            raise InputError(f"targets must be finite and low <= high, got ({low!r}, {high!r})")
        if not loss.of_differences:
            return _Scale(0.0, 1.0)
        return _Scale(low / 2.0 + high / 2.0, (high / 2.0 - low / 2.0) or 1.0)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, rows, _ROWS))


def _choice(name: str, given: Any, known: tuple[str, ...]) -> str:
    if given not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {given!r}")
    return str(given)
