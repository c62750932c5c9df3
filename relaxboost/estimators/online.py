"""Scikit-learn estimators that learn from a stream by mirror descent."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from relaxboost._core.arrays import ROWS_PER_BLOCK, Array
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.estimators.choices import check_likelihood, loss_of
from relaxboost.estimators.tables import TableEstimator, classes_of, read_weights, restores_fit
from relaxboost.functional.losses.targets import decided, labels
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import HedgedDescent, Learner, MirrorDescent, MirrorSteps
from relaxboost.online.proxies import as_proxy
from relaxboost.online.streams.bases import BaseFunctions, LinearBasis, StumpBasis
from relaxboost.online.streams.words import HASH_BUCKETS, WithWords, Words, word_columns


class _Scale(NamedTuple):
    """The interval [center − half, center + half] of targets, which is mapped to [−1, 1]."""

    center: float
    half: float


@dataclass(eq=False, repr=False)  # scikit-learn compares and prints its estimators itself.
class OnlineEstimator(TableEstimator, ABC):
    """The base class of the online estimators."""

    usual_loss: ClassVar[str]
    """The name of the default loss."""
    usual_radius: ClassVar[float] = 30.0
    """The radius that error messages suggest."""

    loss: Any = None
    basis: Any = "linear"
    _: KW_ONLY
    radius: Any = "auto"
    over: str | None = None
    proxy: Any = None
    schedule: Any = None
    greedy: bool = False
    average: bool = True
    intercept: bool = True
    passes: int = 1

    @property
    def _loss(self) -> Any:
        return self.usual_loss if self.loss is None else self.loss

    @restores_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Reset the estimator, and learn from the rows in their order, `passes` times.

        Parameters
        ----------
        X : array or frame of shape (N, d)
            Finite numbers. Columns of a pandas frame may contain strings, which are hashed to 1024
            base functions. New strings may occur at any time.
        y : array of shape (N,)
            Labels of any type, with at least two classes; finite numbers for regression.
        sample_weight : array of shape (N,), optional
            Numbers >= 0, not all 0.

        Raises
        ------
        InputError
            If data, labels, weights or a parameter are invalid. InputError is a ValueError.
        """
        passes = count("passes", self.passes)
        rows = self._validated(X, y, sample_weight, first=True)
        # The regret bound holds for the sequence of all passes.
        for _ in range(passes):
            self._learn(*rows)
        return self

    @abstractmethod
    def _validated(
        self, X: Any, y: Any, weights: Any, first: bool, classes: Any = None
    ) -> tuple[Array, Array, Array]:
        """Return the checked rows, targets (with a column for each learner) and weights."""

    def _read(self, X: Any, *, reset: bool = False) -> Array:
        """Return X as doubles, followed by 1024 features for the strings of a pandas frame."""
        if reset:
            self._words = Words(word_columns(X))
        words = self._words
        if not words.columns:
            return super()._read(X, reset=reset)
        self._check_kind(X)
        if not hasattr(X, "iloc"):
            raise InputError(
                f"the estimator was trained on strings in column {words.columns[0]!r}; pass X as a "
                "pandas frame"
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        rest = X.drop(columns=words.columns)
        # Another estimator reads the numbers, so that this one keeps the names of all columns.
        reader = type(self)()
        reader._words = Words()
        numbers = np.empty((len(X), 0))
        if rest.shape[1]:
            numbers = super(OnlineEstimator, reader)._read(rest, reset=True)
        return np.hstack([numbers, words.of(X)])

    def _without_missing(self) -> str | None:
        return "; drop the row, or fill the value in"

    def _begin(self, X: Array, weights: Array, outputs: int, loss: Any, targets: float) -> None:
        # The first examples determine the base functions. Rows of weight 0 are left out, because
        # they must not widen a range.
        basis = self._basis(X[weights > 0.0])
        size = basis.size(X.shape[1]) + bool(self.intercept)
        method = self._method(loss, size, basis, targets)
        self.learners_: list[Learner] = [method.start(size) for _ in range(outputs)]
        self.basis_ = basis

    def _basis(self, X: Array) -> BaseFunctions:
        if not self._words.columns:
            return self._basis_of_numbers(X)
        numbers = X.shape[1] - HASH_BUCKETS
        base = self._basis_of_numbers(X[:, :numbers]) if numbers else LinearBasis([], [])
        return WithWords(base, numbers, self._words)

    def _basis_of_numbers(self, X: Array) -> BaseFunctions:
        if isinstance(self.basis, BaseFunctions):
            if self.basis.features not in (None, X.shape[1]):
                raise InputError(
                    f"X has {X.shape[1]} features, but basis={self.basis.name!r} needs "
                    f"{self.basis.features} features"
                )
            return self.basis
        if _choice("basis", self.basis, ("linear", "stumps")) == "linear":
            return LinearBasis.spanning(X)
        if (X[0] == X).all():
            raise InputError(
                "stumps have no thresholds, because all features are constant in n_samples = "
                f"{len(X)}; start with more examples, or pass basis=StumpBasis(thresholds)"
            )
        return StumpBasis.at_quantiles(X)

    def _values(self, X: Array) -> Array:
        """Return the base function values for the rows of X, with the constant last."""
        # The constant is as large as the bound of the others, so that it can be learned as fast.
        H = self.basis_.values(X)
        return np.column_stack([H, np.full(len(X), self.basis_.bound)]) if self.intercept else H

    def _method(self, loss: Any, size: int, basis: BaseFunctions, targets: float) -> Any:
        if self._is_automatic:
            bound = basis.bound_in("l2", size) * (1.0 + 1e-12)
            return HedgedDescent(loss, bound=bound, targets=targets)
        proxy = as_proxy("entropy" if self.proxy is None else self.proxy)
        kinds: dict[str, type[Domain]] = {
            "ball": L2Ball if proxy.norm == "l2" else L1Ball,
            "simplex": Simplex,
            "full-simplex": FullSimplex,
        }
        over = "ball" if self.over is None else self.over
        domain: Any = kinds[_choice("over", over, tuple(kinds))]
        schedule = "adaptive" if self.schedule is None else self.schedule
        # Rounded sums of squares may exceed the bound by a few units in the last place.
        bound = basis.bound_in(proxy.norm, size) * (1.0 + 1e-12)
        kind = MirrorSteps if self.greedy else MirrorDescent
        return kind(loss, domain(self.radius), proxy, schedule, bound=bound, targets=targets)

    @property
    def _is_automatic(self) -> bool:
        """Whether the radius is "auto", which rejects options that need a radius."""
        if not (isinstance(self.radius, str) and self.radius == "auto"):
            return False
        for name in ("over", "proxy", "schedule", "greedy"):
            given = getattr(self, name)
            if given not in (None, False):
                raise InputError(
                    f"{name}={given!r} needs a numeric radius, but the radius is 'auto'; set "
                    f"radius={self.usual_radius:g}, for example"
                )
        return True

    def _learn(self, X: Array, Y: Array, weights: Array) -> Array:
        """Learn from the rows of X, and return the prediction for each row before its update."""
        # After an error, also in a user's base functions, the learners are as they were. Their
        # state is small compared with the rows, so that a copy is cheap.
        kept = [[array.copy() for array in learner.arrays()] for learner in self.learners_]
        said = np.empty(Y.shape)
        try:
            for block in _blocks(len(X)):
                H = self._values(X[block])
                for k, learner in enumerate(self.learners_):
                    said[block, k] = learner.update(H, Y[block, k], weights[block])
        except BaseException:  # After Ctrl-C, too, the number of learned rows is unknown.
            for learner, arrays in zip(self.learners_, kept, strict=True):
                for array, before in zip(learner.arrays(), arrays, strict=True):
                    array[:] = before
            raise
        return said

    def _decided(self, X: Any) -> Array:
        """Return the predictions for the rows of X, with a column for each learner."""
        X = self._rows(X)
        said = np.empty((len(X), len(self.learners_)))
        # Without a radius, learners clip predictions, which an average of weights cannot.
        average = self.average and not self._is_automatic
        for block in _blocks(len(X)):
            H = self._values(X[block])
            for k, learner in enumerate(self.learners_):
                said[block, k] = learner.predict(H, average=average)
        return said


class MirrorDescentClassifier(ClassifierMixin, OnlineEstimator):
    """A mirror descent classifier for streams, with one learner for each class against the rest.

    Parameters
    ----------
    loss : str or PointwiseLoss, optional
        "logistic", the default, "hinge", "smooth-hinge", "exponential", or a user-defined loss for
        two classes.
    basis : {"linear", "stumps"} or BaseFunctions
        The base functions. "linear" uses the features, scaled to [−1, 1] by their range in the
        first `fit` or `partial_fit`; later values are clipped to this range. "stumps" have ten
        thresholds for each feature, taken from the same examples. The base functions never change
        later. For fixed ranges and other base functions see `relaxboost.online`.
    radius : float or "auto"
        The radius λ > 0 of the weight set. If base functions lie in [−K, K] and weights in an l1
        ball, predictions lie in [−λK, λK]. The default "auto" is `relaxboost.online.HedgedDescent`,
        which needs no step size and follows drift.
    over : {"ball", "simplex", "full-simplex"}, optional
        The weight set, if a radius is given. The default "ball" is the ball in the norm of the
        proxy, l1 or l2.
    proxy, schedule : optional
        Used if a radius is given; see `relaxboost.online.OnlineMethod`. The default proxy "entropy"
        suits a few important features, and "squared-l2" many weak ones. The default schedule is
        "adaptive".
    greedy : bool
        Whether to use `MirrorSteps` (exponentiated gradient for the entropy, gradient descent for
        the squared norm) instead of `MirrorDescent`, if a radius is given. With the entropy, the
        regret bound of `MirrorSteps` needs a constant schedule.
    average : bool
        Whether `predict` uses the average of all weights instead of the last weights, if a radius
        is given. Theorems bound the risk of the average for i.i.d. examples. If the stream drifts,
        use False or the radius "auto".
    intercept : bool
        Whether to add a constant base function.
    passes : int
        The number of passes of `fit` over the examples, >= 1.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    learners_ : list of Learner
        One learner for two classes, otherwise one for each class. Each has a `regret_bound`.
    basis_ : BaseFunctions
        The base functions, without the constant.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The order of the examples matters. An example with the `sample_weight` 2 counts as two
    consecutive copies. Therefore scikit-learn's check of sample weights, which shuffles copies,
    fails, as for `SGDClassifier`.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005); Dekel (2011).

    Examples
    --------
    >>> from relaxboost.estimators import MirrorDescentClassifier
    >>> model = MirrorDescentClassifier()
    >>> for x, y in [(0.0, "no"), (1.0, "yes")] * 3:
    ...     model = model.partial_fit([[x]], [y], classes=["no", "yes"])
    >>> model.learners_[0].rounds
    6
    """

    usual_loss = "logistic"
    for_categories = "MarginBoostClassifier"

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows without resetting the estimator.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : array of shape (K,)
            All labels that may ever occur. Required in the first call only.
        sample_weight : array of shape (N,), optional
            As for `fit`.

        Raises
        ------
        InputError
            As for `fit`, and if a label is not in `classes`. Errors leave the estimator unchanged.
        """
        self.progressive(X, y, classes, sample_weight)
        return self

    @restores_fit
    def progressive(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn like `partial_fit`, and return the label predicted for each row before its update.

        The predictions use the last weights and not the average, as in the theorems.
        """
        first = not hasattr(self, "learners_")
        if first and classes is None:
            raise InputError(
                "the first call of partial_fit needs classes=, a list of all possible labels"
            )
        return self._predicted(self._learn(*self._validated(X, y, sample_weight, first, classes)))

    def _validated(
        self, X: Any, y: Any, weights: Any, first: bool, classes: Any = None
    ) -> tuple[Array, Array, Array]:
        loss = loss_of(self._loss, ("binary",), "separates each class from the rest")
        X, y = self._read_pair(X, y, reset=first)
        known = None if classes is None else np.unique(classes)
        if first:
            classes_of(y if known is None else known)
        elif known is None or np.array_equal(known, self.classes_):
            known = self.classes_
        else:
            raise InputError(
                f"classes={known.tolist()} differ from the classes of the first call, "
                f"{self.classes_.tolist()}; leave classes out"
            )
        places, known = labels(y, known, loss)
        weights = read_weights(weights, len(X))
        outputs = 1 if known.size == 2 else known.size
        if first:
            self._begin(X, weights, outputs, loss, math.inf)
            self.classes_: Any = known
        # One learner separates two classes. For more classes each learner separates one class from
        # the rest.
        own = np.arange(outputs) if outputs > 1 else np.ones(1)
        return X, np.where(places[:, None] == own, 1.0, -1.0), weights

    def decision_function(self, X: Any) -> Array:
        """Return the scores <w, h(x)> for the rows of X, with a column for each class.

        For two classes, there is one score for each row, positive for the second class.
        """
        said = self._decided(X)
        return said[:, 0] if said.shape[1] == 1 else said

    def predict(self, X: Any) -> Any:
        """Return the predicted label of each row of X, shape (N, d), as an array of shape (N,)."""
        return self._predicted(self._decided(X))

    def _predicted(self, said: Array) -> Any:
        return decided(said[:, 0] if said.shape[1] == 1 else said, self.classes_)

    @property
    def predict_proba(self) -> Any:
        """The method `predict_proba(X)`, which returns probabilities in the order of `classes_`.

        For more than two classes, the one-against-rest probabilities are divided by their sum. The
        method exists only if the loss is a negative log-likelihood.
        """
        check_likelihood(self._loss, "decision_function")
        return self._probabilities

    def _probabilities(self, X: Any) -> Array:
        F = self._decided(X)
        if F.shape[1] == 1:
            return np.column_stack([expit(-F), expit(F)])
        # Far from all classes every probability underflows. Logarithms do not.
        return softmax(log_expit(F), axis=1)


@dataclass(eq=False, repr=False)
class MirrorDescentRegressor(RegressorMixin, OnlineEstimator):
    """A mirror descent regressor for streams.

    If the loss depends only on f − y, like all losses of the package, targets are scaled to [−1,
    1].

    Parameters
    ----------
    loss : str or PointwiseLoss, optional
        "squared", the default, "absolute", "huber", a loss such as
        ``relaxboost.functional.Quantile(0.9)``, or a user-defined loss. Loss parameters are in
        units of the scaled target.
    basis
        As for `MirrorDescentClassifier`.
    radius : float or "auto"
        The radius λ > 0 of the weight set. If base functions lie in [−1, 1] and weights in an l1
        ball or a simplex, predictions differ from the midpoint of the target interval by at most λ
        times half its length. "auto" is `relaxboost.online.HedgedDescent`, and clips targets and
        predictions to this interval.
    over, proxy, schedule, greedy, average, intercept, passes
        As for `MirrorDescentClassifier`.
    targets : (low, high), optional
        The interval that is scaled to [−1, 1], by default the range of the first targets. The
        squared loss clips targets to this interval, which bounds its slopes.

    Attributes
    ----------
    learners_ : list of one Learner
        The learner, which is trained on scaled targets.
    basis_ : BaseFunctions
        The base functions, without the constant.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 5.

    Examples
    --------
    >>> from relaxboost.estimators import MirrorDescentRegressor
    >>> model = MirrorDescentRegressor(targets=(0, 10))
    >>> model.progressive([[0.0], [1.0]], [2.0, 8.0])[:1]  # predicted before the first row
    array([5.])
    """

    usual_loss = "squared"
    for_categories = "MarginBoostRegressor"
    for_labels = "for labels use MirrorDescentClassifier"
    usual_radius = 3.0

    _: KW_ONLY
    targets: Any = None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> MirrorDescentRegressor:
        """Learn from further rows without resetting. Errors leave the estimator unchanged."""
        self.progressive(X, y, sample_weight)
        return self

    @restores_fit
    def progressive(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Learn like `partial_fit`, and return the prediction for each row before its update.

        The predictions use the last weights and not the average, as in the theorems.
        """
        first = not hasattr(self, "learners_")
        return self._unscaled(self._learn(*self._validated(X, y, sample_weight, first)))

    def predict(self, X: Any) -> Array:
        """Return the prediction for each row of X, shape (N, d), as an array of shape (N,)."""
        return self._unscaled(self._decided(X))

    def _unscaled(self, said: Array) -> Array:
        return self.scale_.center + self.scale_.half * said[:, 0]

    def _validated(
        self, X: Any, y: Any, weights: Any, first: bool, classes: Any = None
    ) -> tuple[Array, Array, Array]:
        loss: Any = loss_of(self._loss, ("regression",), "does regression")
        X, y = self._read_pair(X, y, reset=first)
        weights = read_weights(weights, len(X))
        scale = self._scale(loss, y[weights > 0.0]) if first else self.scale_
        seen = (y - scale.center) / scale.half
        limit = math.inf
        # The slopes of such a loss are bounded on the interval only, and the regret bound needs
        # bounded slopes. Without a radius, the interval replaces it.
        if loss.of_differences and (self._is_automatic or math.isinf(loss.gradient_bound)):
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
        # A user-defined loss of prediction and target may not be scaled.
        if not loss.of_differences:
            return _Scale(0.0, 1.0)
        return _Scale(low / 2.0 + high / 2.0, (high / 2.0 - low / 2.0) or 1.0)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + ROWS_PER_BLOCK) for start in range(0, rows, ROWS_PER_BLOCK))


def _choice(name: str, given: Any, known: tuple[str, ...]) -> str:
    if given not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {given!r}")
    return str(given)
