"""The margin matrix of an exact or approximate weak learner."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost.matrices import kernels
from relaxboost.matrices.base import Best, MarginMatrix, best_of
from relaxboost.matrices.labelled import check_labelled


class OracleMatrix(MarginMatrix):
    """The margin matrix of the columns that a weak learner has found so far.

    Use `oracle` to create one.
    """

    n = None
    edge_roundings: ClassVar[int] = 1

    def __init__(
        self, fit: Callable[..., Any], X: Array, y: Vector, slack: float | None, name: str
    ) -> None:
        self.m = X.shape[0]
        self._fit = fit
        self._X = X
        self._y = y
        # These copies are read-only, because a learner that changes them would change the game.
        self._X.flags.writeable = self._y.flags.writeable = False
        self.slack = math.inf if slack is None else slack
        self._hypotheses: list[Any] = []
        self._found = np.empty((self.m, 16), order="F")
        self._numbers: dict[bytes, int] = {}
        sha = hashlib.sha256(f"relaxboost oracle v1 {X.shape} {name}\n".encode())
        sha.update(np.ascontiguousarray(X, dtype="<f8").tobytes())
        sha.update(np.ascontiguousarray(y, dtype="<f8").tobytes())
        self._digest = sha.hexdigest()

    @property
    def known(self) -> int:
        """The number of columns found so far."""
        return len(self._hypotheses)

    def best(self, d: Vector) -> Best:
        """Return the column that the weak learner finds for the weights `d`.

        If an earlier column has a larger absolute edge, it is returned instead. The difference of
        the two edges is then subtracted from the learner's slack, which stays at least 0.
        """
        hypothesis = self._fit(self._X, self._y, np.array(d, dtype=np.float64))
        column = self._margin_column(hypothesis)
        key = column.tobytes()
        if key not in self._numbers:
            self._keep(key, column, hypothesis)
        edges = self.edges(d)
        found = abs(float(edges[self._numbers[key]]))
        best = best_of(*kernels.first_largest(edges))
        return best._replace(slack=max(0.0, self.slack - (best.edge - found)))

    def _margin_column(self, hypothesis: Any) -> Array:
        predict = getattr(hypothesis, "predict", hypothesis)
        if not callable(predict):
            raise InputError(
                f"the weak learner returned {type(hypothesis).__name__}; it must return a "
                "function of X or an object with predict(X)"
            )
        given = np.asarray(predict(self._X))
        if given.dtype.kind not in "iuf":
            raise InputError(
                f"a hypothesis returned dtype {given.dtype}; predictions must be numbers in [-1, 1]"
            )
        h = given.astype(np.float64)
        if h.shape != (self.m,):
            raise InputError(
                f"a hypothesis returned shape {h.shape} for {self.m} examples; it must return a "
                "number for each example"
            )
        if not (np.abs(h) <= 1.0).all():
            bad = int(np.argmin(np.abs(h) <= 1.0))
            raise InputError(
                f"a hypothesis returned {h[bad]:g} for example {bad}; "
                "predictions must lie in [-1, 1]"
            )
        return self._y * h + 0.0

    def _keep(self, key: bytes, column: Array, hypothesis: Any) -> None:
        slot = len(self._hypotheses)
        if slot == self._found.shape[1]:
            wider = np.empty((self.m, 2 * slot), order="F")
            wider[:, :slot] = self._found
            self._found = wider
        self._found[:, slot] = column
        self._numbers[key] = slot
        self._hypotheses.append(hypothesis)

    def _column(self, j: int) -> Array:
        column = self._found[:, j]
        column.flags.writeable = False
        return column

    def _edges(self, d: Vector) -> Vector:
        return kernels.dots(self._found, len(self._hypotheses), d)

    def hypothesis(self, j: int) -> Any:
        """Return hypothesis `j` as returned by the weak learner."""
        return self._hypotheses[j]

    def digest(self) -> str:
        """Return the SHA-256 digest of the data and of the weak learner's name.

        The columns are not part of the digest, because they are not known in advance.
        """
        return self._digest


def oracle(
    fit: Any,
    X: ArrayLike,
    y: ArrayLike,
    slack: float | None = None,
    feature_names: Any = None,
    name: str | None = None,
) -> OracleMatrix:
    """Create the margin matrix of a weak learner whose hypotheses are not enumerated.

    Parameters
    ----------
    fit : callable or scikit-learn estimator
        A weak learner, called as ``fit(X, y, d)`` with the distribution d over the examples. It
        returns a hypothesis with values in [−1, 1]: a function of X, or an object with
        ``predict(X)``. A scikit-learn estimator is cloned and fitted with ``sample_weight=d``. X
        and y are read-only, and d is a copy.
    X : array of shape (m, features)
        The features of the examples.
    y : array of shape (m,)
        Labels −1 and +1.
    slack : float, optional
        The amount by which the edge of the returned hypothesis may be below the largest absolute
        edge of all hypotheses. It is 0 for an exact learner. The slack is added to the upper bound
        (Shalev-Shwartz & Singer 2009, the remark under Fig. 1). None means that the slack is
        unknown; the upper bound is then infinite.
    feature_names : list of str, optional
        The names of the features. Only their number is checked, because `fit` gets arrays.
    name : str, optional
        The learner's name in the digest of the game, by default the name of the function or the
        repr of the estimator.

    Raises
    ------
    InputError
        If the data or the slack are invalid, or if `fit` returns an invalid hypothesis while a game
        is being solved.
    """
    data, labels, _ = check_labelled(X, y, feature_names)
    if slack is not None:
        slack = 0.0 if slack == 0 else positive("slack (None if nothing is known)", slack)
    if isinstance(fit, type):
        raise InputError(f"fit is the class {fit.__name__}; pass an instance, {fit.__name__}(...)")
    if hasattr(fit, "fit") and hasattr(fit, "predict"):
        from sklearn.utils.validation import has_fit_parameter

        if not has_fit_parameter(fit, "sample_weight"):
            raise InputError(
                f"{fit!r} takes no sample_weight, so it cannot use the distribution d; "
                "wrap it in a function fit(X, y, d) that resamples the examples"
            )
        return OracleMatrix(partial(_fitted, fit), data, labels, slack, name or repr(fit))
    if not callable(fit):
        raise InputError(
            f"fit is {type(fit).__name__}; pass a function fit(X, y, d) or a scikit-learn estimator"
        )
    _check_arguments(fit)
    if name is None:
        kind = fit if hasattr(fit, "__qualname__") else type(fit)
        name = f"{kind.__module__}.{kind.__qualname__}"
    return OracleMatrix(fit, data, labels, slack, name)


def _check_arguments(fit: Callable[..., Any]) -> None:
    try:
        takes = signature(fit)
    except (TypeError, ValueError):  # Some compiled functions have no signature.
        return
    try:
        takes.bind(None, None, None)
    except TypeError as error:
        raise InputError(
            f"fit must accept the call fit(X, y, d), where d has the weights of the examples, but "
            f"this call fails: {error}"
        ) from None


def _fitted(estimator: Any, X: Array, y: Vector, d: Vector) -> Any:
    from sklearn.base import clone

    return clone(estimator).fit(X, y, sample_weight=d)
