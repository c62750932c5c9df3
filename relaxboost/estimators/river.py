"""Mirror descent for river, where examples are dictionaries whose keys may change over time.

The module needs the extra `river`, and must be imported by its full name.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, missing
from relaxboost._core.parameters import count, positive
from relaxboost.estimators.choices import is_likelihood, loss_of
from relaxboost.game.domains import L1Ball, L2Ball
from relaxboost.online import HedgedDescent, MirrorDescent
from relaxboost.online.proxies import as_proxy

try:
    from river import base
except ImportError as error:
    raise missing("relaxboost.estimators.river needs river", "river") from error


def _dicts(X: Any) -> list[Mapping[Any, Any]]:
    rows: list[Mapping[Any, Any]] = X.to_dict("records")
    return rows


@dataclass(eq=False, repr=False)
class _River:
    """The base class of both river models. Each new feature gets the next free slot."""

    loss: Any
    radius: Any
    bound: float = 3.0
    features: int = 100
    proxy: Any = None
    schedule: Any = None
    average: bool = False
    _kind: ClassVar[type]
    """The type of the predictions: `bool` or `float`."""
    _task: ClassVar[tuple[str, str]]
    """The task of the losses, and the verb that describes this task in error messages."""

    def __post_init__(self) -> None:
        task, does = self._task
        positive("bound", self.bound)
        size = count("features", self.features) + 1  # the constant comes last
        self.learner: Any = self._method(loss_of(self.loss, (task,), does), size).start(size)
        self._places: dict[Hashable, int] = {}

    def _method(self, loss: Any, size: int) -> Any:
        targets = getattr(self, "targets", math.inf)
        # Each of the base functions lies in [−1, 1], the constant included.
        if isinstance(self.radius, str) and self.radius == "auto":
            if self.proxy is not None or self.schedule is not None:
                raise InputError(
                    "proxy and schedule need a radius, but radius='auto' has none; set a radius, "
                    "such as radius=30"
                )
            return HedgedDescent(loss, bound=math.sqrt(size), targets=targets)
        proxy = as_proxy("entropy" if self.proxy is None else self.proxy)
        is_euclidean = proxy.norm == "l2"
        return MirrorDescent(
            loss,
            (L2Ball if is_euclidean else L1Ball)(self.radius),
            proxy,
            "adaptive" if self.schedule is None else self.schedule,
            bound=math.sqrt(size) if is_euclidean else 1.0,
            targets=targets,
        )

    def _targets(self, labels: Iterable[Any]) -> Any:
        """Convert labels to the numbers that the learner uses as targets."""
        return list(labels)

    def _values(self, x: Mapping[Any, Any], places: Mapping[Any, int]) -> Vector:
        """Return the features, divided by the bound and clipped. Absent features become 0."""
        h = np.zeros(self.learner.size)
        h[-1] = 1.0
        for name, value in x.items():
            try:
                scaled = float(value) / self.bound
            except (TypeError, ValueError):
                scaled = math.nan
            if not math.isfinite(scaled):
                raise InputError(
                    f"feature {name!r} is {value!r}, which is not a finite number; drop the "
                    "feature, or encode it as a number"
                )
            if name in places:
                h[places[name]] = min(max(scaled, -1.0), 1.0)
        return h

    def _decision(self, x: Mapping[Any, Any]) -> float:
        """Return the score <w, h(x)>. Features that the learner has never seen are ignored."""
        return float(self.learner.predict(self._values(x, self._places), self.average))

    def _learn(self, rows: list[Mapping[Any, Any]], labels: Iterable[Any]) -> None:
        targets = self._targets(labels)
        # New features get their places in a copy, which is dropped if a row or a label is bad.
        places = dict(self._places)
        for name in (name for x in rows for name in x):
            places.setdefault(name, len(places))
        if len(places) > self.features:
            name = list(places)[self.features]
            raise InputError(
                f"feature {name!r} is new, but all features={self.features} slots are in use; "
                "increase features"
            )
        H = np.array([self._values(x, places) for x in rows])
        before = self._places
        # The places are stored before the update, so that after Ctrl-C the weights of new features
        # still belong to them.
        self._places = places
        try:
            if rows:
                self.learner.update(H, targets)
        except Exception:
            self._places = before
            raise

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example."""
        self._learn([x], [y])

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from the rows of a frame one by one."""
        self._learn(_dicts(X), y.tolist())

    def predict_many(self, X: Any) -> Any:
        """Return the prediction for each row of a pandas frame."""
        import pandas as pd

        said = [self.predict_one(x) for x in _dicts(X)]  # type: ignore[attr-defined]
        return pd.Series(said, index=X.index, dtype=self._kind)


@dataclass(eq=False, repr=False)
class RiverClassifier(_River, base.MiniBatchClassifier):
    """Mirror descent for the labels False and True, in river's interface.

    `learn_many` gives the same weights as `learn_one` for each row, bit for bit.

    Parameters
    ----------
    loss : str or PointwiseLoss
        A loss for two classes. Only negative log-likelihoods such as "logistic" give probabilities.
    radius : float or "auto"
        The radius of the ball of weights, in the norm of the proxy, l1 or l2. The default "auto"
        needs neither a radius nor a step size; see `relaxboost.online.HedgedDescent`.
    bound : float
        The number by which features are divided before they are clipped to [−1, 1]. If river's
        StandardScaler scales the features, the default 3 stands for three standard deviations.
        Because this scaler changes over time, the regret refers to the features as they were scaled
        when the model learned from them.
    features : int
        The maximum number of features. Any further feature raises an InputError. If a feature is
        absent from an example, its value is 0. Regret bounds therefore also hold if features appear
        late.
    proxy, schedule : optional
        Used if a radius is given; see `relaxboost.online.MirrorDescent`. The defaults are "entropy"
        and "adaptive".
    average : bool
        Whether predictions use the average of the weights instead of the last weights.

    Examples
    --------
    >>> from relaxboost.estimators.river import RiverClassifier
    >>> model = RiverClassifier()
    >>> model.learn_one({"age": 1.0}, True)
    >>> model.predict_one({"age": 1.0})
    True
    """

    _kind = bool

    _task = ("binary", "separates two classes")

    loss: Any = "logistic"
    radius: Any = "auto"

    def _targets(self, labels: Iterable[Any]) -> Any:
        given = list(labels)
        for y in given:
            if not (isinstance(y, bool | np.bool_) or (isinstance(y, int) and y in (0, 1))):
                raise InputError(
                    f"labels must be the booleans False and True, got {y!r}; learn from y == "
                    f"{y!r}, or wrap the model in river.multiclass.OneVsRestClassifier if there "
                    "are several classes"
                )
        return np.where(np.array(given, dtype=bool), 1.0, -1.0)

    def predict_one(self, x: Any, **_: Any) -> Any:
        """Return the predicted label, False or True."""
        return self._decision(x) > 0.0

    def predict_proba_one(self, x: Any, **_: Any) -> Any:
        """Return the probabilities of False and True, if the loss defines probabilities."""
        if not is_likelihood(self.loss):
            raise NotImplementedError(  # what river's own classifiers raise
                f"loss={self.loss!r} is not a negative log-likelihood, and therefore has no "
                'probabilities; use loss="logistic", or predict_one'
            )
        F = self._decision(x)
        return {False: float(expit(-F)), True: float(expit(F))}

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities of False and True for each row of a pandas frame."""
        import pandas as pd

        rows = [self.predict_proba_one(x) for x in _dicts(X)]
        return pd.DataFrame(rows, index=X.index, columns=[False, True], dtype=float)


@dataclass(eq=False, repr=False)
class RiverRegressor(_River, base.MiniBatchRegressor):
    """Mirror descent for regression, in river's interface.

    With the default proxy, predictions lie in [−radius, radius]. Targets should therefore be
    scaled, for example by river's TargetStandardScaler. `learn_many` gives the same weights as
    `learn_one` for each row, bit for bit.

    Parameters
    ----------
    loss : str or PointwiseLoss
        A loss as for `MirrorDescentRegressor`. The squared loss needs `targets`.
    targets : float
        An upper bound, > 0, on |y|. The default is infinity.
    radius : float or "auto"
        See `RiverClassifier`. The default is 3, because "auto" needs `targets`.
    bound, features, proxy, schedule, average
        See `RiverClassifier`.

    Examples
    --------
    >>> from relaxboost.estimators.river import RiverRegressor
    >>> RiverRegressor().predict_one({"age": 1.0})
    0.0
    """

    _kind = float

    _task = ("regression", "does regression")

    loss: Any = "huber"
    radius: Any = 3.0
    targets: float = math.inf

    def predict_one(self, x: Any) -> float:
        """Return the prediction <w, h(x)>."""
        return self._decision(x)
