"""All decision stumps of a data set, as an implicit margin matrix."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.arrays import ROWS_PER_BLOCK, Array, Vector, Whole
from relaxboost._core.blas import MULTIPLICATIONS_PER_ENTRY
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.matrices import kernels
from relaxboost.matrices.base import Best, MarginMatrix, best_of
from relaxboost.matrices.bulk import Bulk, CutLevels, Pricing, by_rows, spread
from relaxboost.matrices.labelled import check_labelled


@dataclass(frozen=True)
class StumpColumn:
    """A decision stump as a function h of the features x.

    h(x) is +1 if x[feature] > threshold, 0 if x[feature] is nan, and −1 otherwise.
    """

    feature: int
    threshold: float
    name: str
    shown: str
    """The threshold as a short decimal that still separates the examples."""

    def __call__(self, X: ArrayLike) -> Array:
        """Return the predictions −1, 0 or +1 for the rows of `X`."""
        x = np.asarray(X)[:, self.feature]
        return np.subtract(x > self.threshold, x <= self.threshold, dtype=np.float64)


def _cut(low: float, high: float) -> tuple[float, str]:
    """Return a threshold in [low, high) as a float and as a short decimal string."""
    threshold = low / 2 + high / 2
    if not low <= threshold < high:  # In this case low and high are neighbouring doubles.
        threshold = low
    for digits in range(3, 18):
        text = f"{threshold:.{digits}g}"
        said = float(text)
        if low <= said < high:  # The text is 5100 instead of 5.1e+03.
            return threshold, f"{said:.0f}" if "e+" in text and abs(said) < 1e6 else text
    return threshold, repr(threshold)


def binned(x: Vector, max_cuts: int | None) -> tuple[Whole, Array]:
    """Return the number of cuts below each value in `x`, and the neighbours of each cut.

    The neighbours (low, high) are the values of `x` around the cut.
    """
    levels, code = np.unique(x, return_inverse=True)
    after = np.arange(levels.size - 1)
    if max_cuts is not None and after.size > max_cuts:
        after = np.unique(np.linspace(0, after.size - 1, max_cuts).round().astype(int))
        code = np.searchsorted(after, code, side="left")
    return code, np.column_stack([levels[after], levels[after + 1]])


def code_type(offsets: Whole) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned integer type for the cut counts of all features.

    `offsets` has the index of the first cut of each feature.
    """
    widest = int(np.diff(offsets).max())
    return np.uint8 if widest < 2**8 else np.uint16 if widest < 2**16 else np.uint32


def stump_digest(
    shape: tuple[int, ...], max_cuts: int | None, blocks: Iterable[Array], y: Vector
) -> str:
    """Return the SHA-256 digest of a stump matrix, from its data (X, y) and `max_cuts`.

    `blocks` yields X in blocks of rows.
    """
    sha = hashlib.sha256(f"relaxboost stumps v1 {shape} max_cuts={max_cuts}\n".encode())
    for X in blocks:
        # Adding 0.0 turns −0.0 into 0.0.
        sha.update(np.ascontiguousarray(X + 0.0, dtype="<f8").data)
    sha.update(np.ascontiguousarray(y, dtype="<f8").data)
    return sha.hexdigest()


class StumpBulk(Bulk):
    """Products with all stumps of a data set, computed from sums over the cuts of each feature.

    For examples i and j, a cut of a feature contributes −y_i y_j if the cut separates the two
    examples, and y_i y_j otherwise. Hence an entry of A diag(D) Aᵀ is y_i y_j Σ (T − 2 |P(i) −
    P(j)|), summed over the features. P(i) is the sum of the weights D of the cuts below x_i, and T
    is the sum of D over all cuts of the feature. The computation takes m² · features operations for
    any number of cuts. With equal weights the matrix is the stump kernel of Lin & Li (2008), JMLR
    9, Sec. 4.
    """

    array = None

    def __init__(
        self,
        codes: NDArray[Any],
        offsets: Whole,
        signs: Vector,
        edges: Callable[[Vector], Vector] | None = None,
    ) -> None:
        self.m = signs.size
        self.n = int(offsets[-1])
        self._edges = edges
        self._codes, self._offsets, self._signs = self.levels = CutLevels(codes, offsets, signs)

    def edges(self, d: Vector) -> Vector:
        if self._edges is not None:
            return self._edges(d)
        return kernels.stump_edges(self._codes, self._offsets, self._signs * d)

    def margins(self, w: Vector) -> Vector:
        return kernels.stump_margins(self._codes, self._offsets, self._signs, w)

    def part(self, rows: Whole, columns: Whole) -> Array:
        features = np.searchsorted(self._offsets, columns, side="right") - 1
        cuts = columns - self._offsets[features]
        above = self._codes.take((features * self.m)[:, None] + rows) > cuts[:, None]
        return np.where(above, self._signs[rows], -self._signs[rows]).T

    def gram(self, scaling: Vector) -> Vector:
        return kernels.stump_gram(self._codes, self._offsets, self._signs, scaling)

    def cross(self, weights: Vector, out: Array) -> None:
        # A histogram for each pair of features reads the examples once. A product with columns
        # multiplies once for each example and each pair of stumps, which is less work if features
        # have few cuts.
        if self.n**2 > MULTIPLICATIONS_PER_ENTRY * len(self._codes) ** 2:
            kernels.stump_cross(self._codes, self._offsets, weights, out)
        else:
            by_rows(self._written, weights, out)

    def _written(self, rows: slice) -> Array:
        codes = self._codes[:, rows]
        out = np.empty((codes.shape[1], self.n))
        kernels.stump_rows(codes, self._offsets, out)
        return out

    def restricted(self, columns: Whole) -> StumpBulk:
        cuts = np.searchsorted(columns, self._offsets)  # The new codes count only the given cuts.
        kind = self._codes.dtype  # The kernels are compiled for this type.
        codes = np.empty(self._codes.shape, dtype=kind)
        ranges = zip(pairwise(cuts.tolist()), pairwise(self._offsets.tolist()), strict=True)
        for f, ((a, b), (start, stop)) in enumerate(ranges):
            new = np.searchsorted(columns[a:b] - start, np.arange(stop - start + 1))
            np.take(new.astype(kind), self._codes[f], out=codes[f])
        return StumpBulk(codes, cuts, self._signs)

    def spread(self, each: int) -> Whole:
        return np.concatenate([spread(a, b, each) for a, b in pairwise(self._offsets.tolist())])


class StumpMatrix(MarginMatrix):
    """The margin matrix of all decision stumps of (X, y), ordered by feature, then by threshold.

    Column j has the entries y_i h_j(x_i), where h_j is +1 above the threshold and −1 otherwise. A
    negative weight stands for the stump with the opposite signs. Use `stumps` to create such a
    matrix.

    The m x n array is never formed. The edges of a feature's stumps follow from prefix sums of y_i
    d_i over its thresholds, in O(m · features + n) operations.
    """

    edge_roundings: ClassVar[int] = 3
    implicit: ClassVar[bool] = True

    def __init__(self, X: Array, y: Vector, names: tuple[str, ...], max_cuts: int | None) -> None:
        if (X.min(axis=0) == X.max(axis=0)).all():
            raise InputError(
                "X has only constant features, so there is no stump; add a feature that varies"
            )
        self.m = X.shape[0]
        self._X = X
        self._y = y
        self._names = names
        self._max_cuts = max_cuts
        codes: list[NDArray[Any]] = []
        cuts = [0]
        for x in X.T:
            code, around = binned(x, max_cuts)
            cuts.append(len(around))
            # The small type saves memory.
            codes.append(code.astype(code_type(np.array([0, len(around)]))))
        self._offsets = np.cumsum(cuts, dtype=np.int64)
        self.n = int(self._offsets[-1])
        self._codes = np.array(codes, dtype=code_type(self._offsets))
        blocks = (X[a : a + ROWS_PER_BLOCK] for a in range(0, self.m, ROWS_PER_BLOCK))
        self._digest = stump_digest(X.shape, max_cuts, blocks, y)

    def _place(self, j: int) -> tuple[int, int]:
        assert self.n is not None
        if not 0 <= j < self.n:
            raise InputError(f"there is no stump {j}; {self!r} has the stumps 0..{self.n - 1}")
        feature = int(np.searchsorted(self._offsets, j, side="right")) - 1
        return feature, j - int(self._offsets[feature])

    def _around(self, j: int) -> tuple[float, float]:
        """Return the neighbouring feature values around the cut of stump j."""
        feature, cut = self._place(j)
        x = self._X[:, feature]
        above = self._codes[feature] > cut
        return float(x[~above].max()), float(x[above].min())

    def _column(self, j: int) -> NDArray[np.int8]:
        out = np.empty(self.m, dtype=np.int8)
        kernels.stump_column(self._codes, self._offsets, self._y, j, out)
        return out

    def _edges(self, d: Vector) -> Vector:
        return kernels.stump_edges(self._codes, self._offsets, self._y * d)

    def _margins(self, support: Whole, coefficients: Vector) -> Vector:
        # The sums by level round each weight at most once for each column. Therefore the rounding
        # bound for adding columns one by one also holds for them.
        w = np.zeros(int(self._offsets[-1]))
        np.add.at(w, support, coefficients)
        return kernels.stump_margins(self._codes, self._offsets, self._y, w)

    def _priced(self, d: Vector, columns: Whole) -> tuple[Best, Vector]:
        yd = self._y * self._examples(d)
        (j, edge), edges = kernels.stump_best(self._codes, self._offsets, yd, columns)
        return best_of(j, edge), edges

    @property
    def entries(self) -> int:
        """The number of values that a pass over A reads, m · features + n."""
        assert self.n is not None
        return self._codes.size + self.n

    def bulk(self) -> Bulk:
        return StumpBulk(self._codes, self._offsets, self._y)

    def pricing(self) -> Pricing:
        return self.bulk()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features."""
        return self._names

    def hypothesis(self, j: int) -> StumpColumn:
        """Return stump `j` as a function that predicts labels for new data."""
        feature, _ = self._place(j)
        threshold, text = _cut(*self._around(j))
        return StumpColumn(feature, threshold, f"{self._names[feature]} > {text}", text)

    def describe(self, j: int, sign: int = 1) -> str:
        """Return the name of stump j, such as "worst radius > 16.8", with <= if `sign` is −1."""
        stump = self.hypothesis(j)
        return f"{self._names[stump.feature]} {'>' if sign > 0 else '<='} {stump.shown}"

    def digest(self) -> str:
        """Return the SHA-256 digest of the data (X, y) and of `max_cuts`."""
        return self._digest

    def recipe(self) -> dict[str, Any]:
        """Return the certificate field "stumps", from which a checker computes A, given `data`.

        It contains `max_cuts`, which is None if all cuts are used.
        """
        return {"stumps": {"max_cuts": self._max_cuts}}

    def data(self) -> Array:
        """Return the labels and features, one row per example, for a certificate."""
        return np.column_stack([self._y, self._X])


def stumps(
    X: ArrayLike,
    y: ArrayLike,
    feature_names: Any = None,
    max_cuts: int | None = None,
) -> StumpMatrix:
    """Create the implicit margin matrix of all decision stumps of a data set.

    Parameters
    ----------
    X : array of shape (m, features)
        Finite numbers. Thresholds lie halfway between consecutive distinct values of a feature.
    y : array of shape (m,)
        Labels −1 and +1. ``datasets.labels(y).signs`` maps any two values to −1 and +1.
    feature_names : sequence of str, optional
        The names of the features in `describe`, by default x0, x1, ...
    max_cuts : int, optional
        The maximum number of thresholds per feature, evenly spread over its distinct values. By
        default all thresholds are used.

    Returns
    -------
    StumpMatrix
        The margin matrix, with a column for each stump.

    Raises
    ------
    InputError
        If a value is missing or infinite, if a label is not −1 or +1, or if all features are
        constant.

    Examples
    --------
    >>> import relaxboost as rb
    >>> made = rb.matrices.stumps([[1.0], [2.0], [4.0]], [-1, 1, 1], ["age"])
    >>> made
    StumpMatrix(3 examples, 2 hypotheses)
    >>> rb.solve(rb.Game(made), tol=1e-6).hypotheses()[0][1]
    'age > 1.5'
    """
    X, y, names = check_labelled(X, y, feature_names)
    if max_cuts is not None:
        max_cuts = count("max_cuts", max_cuts)
    return StumpMatrix(X, y, names, max_cuts)
