"""Fields for arrays in instances of claims: matrices, vectors, distributions and weights.

Each field draws, changes and simplifies arrays, and converts them to JSON.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.claims.fields import (
    Field,
    Rng,
    Sizes,
    as_number,
    json_number,
    nearby_fractions,
    short,
    simpler_numbers,
)


class _ArrayField(Field):
    """The base class of `Matrix` and `Vector`, for arrays of floats in [low, high]."""

    def __init__(self, low: float = -1.0, high: float = 1.0, axes: tuple[str, ...] = ()) -> None:
        self.low = float(low)
        self.high = float(high)
        self.axes = axes
        if not self.low <= self.high:
            raise InputError(f"the entries need a range low <= high, got {low} and {high}")

    def _shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(int(sizes[axis]) for axis in self.axes)

    def random(self, rng: Rng, sizes: Sizes) -> Array:
        shape = self._shape(sizes)
        kind = rng.integers(4)
        if kind == 0:
            return self._clipped(rng.choice([self.low, self.high], shape))
        value = rng.uniform(self.low, self.high, shape)
        if kind == 1:
            value = np.round(value * 4.0) / 4.0
        elif kind == 2:
            value = np.where(rng.random(shape) < 0.4, 0.0, value)
        return self._clipped(value)

    def changed(self, rng: Rng, value: Array, sizes: Sizes) -> Array:
        kind = rng.integers(5)
        width = self.high - self.low
        if kind == 0:
            noise = rng.normal(size=value.shape) * width * 10 ** -rng.uniform(1, 3)
            return self._clipped(value + noise)
        changed = value.copy()
        at = tuple(int(rng.integers(size)) for size in value.shape)
        if kind == 1:
            changed[at] = rng.choice([self.low, 0.0, self.high])
        elif kind == 2:
            changed[at] = rng.uniform(self.low, self.high)
        else:
            changed[at] += rng.normal() * width * 10 ** -rng.uniform(0.5, 3)
        return self._clipped(changed)

    def doubled(self, value: Array, axis: str, at: int) -> Array:
        for number in self._numbers(axis):
            value = np.concatenate([value, np.take(value, [at], axis=number)], axis=number)
        return value

    def fewer(self, value: Array, axis: str, at: int) -> Array:
        for number in self._numbers(axis):
            value = np.delete(value, at, axis=number)
        return value

    def simpler(self, value: Array) -> Iterator[Array]:
        # Rounding all entries at the same time is tried first, because it simplifies most.
        for entries in zip(*map(nearby_fractions, value.ravel().tolist()), strict=True):
            rounded = self._clipped(np.array(entries).reshape(value.shape))
            if not np.array_equal(rounded, value):
                yield rounded
        for at in np.ndindex(value.shape):
            for simple in simpler_numbers(float(value[at]), self.low, self.high):
                one = value.copy()
                one[at] = simple
                yield one

    def length(self, value: Array) -> float:
        return float(sum(len(short(float(x))) for x in value.flat))

    def extents(self, value: Array) -> dict[str, int]:
        return dict(zip(self.axes, value.shape, strict=True))

    def repaired(self, value: Array, sizes: Sizes) -> Array:
        return self._clipped(value)

    def to_json(self, value: Array) -> Any:
        if value.ndim > 1:
            return [self.to_json(row) for row in value]
        return [json_number(float(x)) for x in value]

    def from_json(self, written: Any) -> Array:
        numbers = _each(written)
        rows = numbers if isinstance(numbers, list) else []
        if len({len(row) if isinstance(row, list) else -1 for row in rows}) > 1:
            raise InputError("all rows of a matrix must have the same length")
        entries = np.array(numbers, dtype=np.float64)
        if entries.ndim != len(self.axes):
            raise InputError(
                f"the array needs {len(self.axes)} axes {self.axes}, got {entries.ndim}"
            )
        return entries

    def _numbers(self, axis: str) -> list[int]:
        return [number for number, name in enumerate(self.axes) if name == axis]

    def _clipped(self, value: Array) -> Array:
        return np.clip(value, self.low, self.high) + 0.0  # Adding 0 turns −0 into 0.


class Matrix(_ArrayField):
    """A field for a matrix of floats.

    Parameters
    ----------
    low, high : float
        The smallest and the largest entry of a random matrix. Recorded instances may have entries
        outside of [low, high].
    axes : pair of str
        The names of the row and the column axis. Fields that share an axis have the same size along
        it.

    Examples
    --------
    >>> from relaxboost.claims import Matrix, Space, Vector
    >>> Space(A=Matrix(), u=Vector("m")).sizes == {"m": (1, 8), "n": (1, 6)}
    True
    """

    def __init__(
        self, low: float = -1.0, high: float = 1.0, axes: tuple[str, str] = ("m", "n")
    ) -> None:
        super().__init__(low, high, axes)

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        m, n = self._shape(sizes)
        kind = int(rng.integers(8))
        small = float(rng.choice([0.05, 0.1, 0.25, 0.5]))
        square = np.eye(m)[:, np.arange(n) % m]
        if kind == 0:
            value = square
        elif kind == 1:
            value = 2.0 * square - 1.0
        elif kind == 2:
            value = 1.0 - 2.0 * square
        elif kind == 3:  # The rows come in opposite pairs, so that the best margin is 0.
            value = rng.choice([-1.0, 1.0], (m, n))
            value[m // 2 :] = -value[: m - m // 2]
        # One column has small margins, and each other column is wrong on a single row.
        elif kind == 4:
            value = np.ones((m, n))
            value[:, 0] = small
            value[0, 1:] = -rng.random()
        elif kind == 5:
            value = rng.choice([-1.0, 1.0], (m, 1)) * np.ones((m, n))
        elif kind == 6:  # All entries are positive, so that the best margin is positive.
            value = rng.uniform(small, 1.0, (m, n))
        else:
            value = small * rng.choice([-1.0, 1.0], (m, n))
        return self._clipped(value * max(abs(self.low), abs(self.high), 1.0))


class Vector(_ArrayField):
    """A field for a vector of floats.

    Parameters
    ----------
    axis : str
        The axis name. Fields that share an axis have the same size along it.
    low, high : float
        The smallest and the largest entry of a random vector. Recorded instances may have entries
        outside of [low, high].
    """

    def __init__(self, axis: str = "m", low: float = -1.0, high: float = 1.0) -> None:
        super().__init__(low, high, (axis,))

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        (size,) = self._shape(sizes)
        kind = rng.integers(3)
        if kind == 0:
            return self._clipped(np.full(size, rng.uniform(self.low, self.high)))
        if kind == 1:
            return self._clipped(np.eye(size)[0] * rng.choice([self.low, self.high]))
        return self._clipped(np.linspace(self.low, self.high, size))


class Distribution(Vector):
    """A field for a distribution: a vector of non-negative weights with sum 1.

    Parameters
    ----------
    axis : str
        The axis name. By default it is "m", the row axis of a `Matrix`.
    """

    strict = True

    def __init__(self, axis: str = "m") -> None:
        super().__init__(axis, 0.0, 1.0)

    def random(self, rng: Rng, sizes: Sizes) -> Array:
        (size,) = self._shape(sizes)
        return self._clipped(rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0]))))

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        (size,) = self._shape(sizes)
        pair = np.eye(size)[rng.integers(size)] + np.eye(size)[rng.integers(size)]
        return self._clipped(pair if rng.random() < 0.5 else np.ones(size))

    def _clipped(self, value: Array) -> Array:
        return normalised(value)


class Weights(Vector):
    """A field for a vector of signed weights with ℓ1 norm at most `radius`.

    Parameters
    ----------
    axis : str
        The axis name. By default it is "n", the column axis of a `Matrix`.
    radius : float
        The largest ℓ1 norm, >= 0.
    """

    strict = True

    def __init__(self, axis: str = "n", radius: float = 1.0) -> None:
        self.radius = radius
        super().__init__(axis, -radius, radius)

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        (size,) = self._shape(sizes)
        kind = rng.integers(3)
        if kind == 0:
            return np.zeros(size)
        if kind == 1:
            return np.eye(size)[rng.integers(size)] * rng.choice([-1.0, 1.0]) * self.radius
        return self._clipped(1e6 * rng.normal(size=size))

    def _clipped(self, value: Array) -> Array:
        # The weights are scaled until they are in the ball exactly, because some checks use exact
        # arithmetic.
        radius = Fraction(self.radius)
        while (total := sum(map(Fraction, np.abs(value).tolist()))) > radius:
            value = value * min(self.radius / float(total), 1.0 - 2.0**-52)
        return value + 0.0


def normalised(raw: Array) -> Array:
    """Return the positive part of an array, divided by its sum.

    If no entry is positive, return uniform weights.
    """
    positive = np.maximum(raw, 0.0)
    total = float(positive.sum())
    return positive / total if total > 0.0 else np.full(raw.shape, 1.0 / raw.size)


def _each(written: Any) -> Any:
    if isinstance(written, (list, tuple)):
        return [_each(entry) for entry in written]
    return as_number(written)
