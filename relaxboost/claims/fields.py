"""Fields for the numbers, integers and names of an instance."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from relaxboost._core.errors import InputError

Rng: TypeAlias = np.random.Generator
Sizes: TypeAlias = Mapping[str, Any]

DENOMINATORS = (1, 2, 3, 4, 5, 8, 10, 20, 100, 1000)
"""The denominators of the fractions to which numbers in a counterexample are rounded. People write
such fractions by hand: halves, thirds, fifths, eighths and decimals."""

MAX_DENOMINATOR = 1000
"""The largest denominator in a printed instance. Other floats are printed as decimals."""


class Field(ABC):
    """A named datum of an instance, such as a matrix or a number.

    The field draws, changes, simplifies and writes its values.
    """

    axes: tuple[str, ...] = ()
    """The axis names of the values, e.g. ``("m", "n")``. Fields that share an axis have equal sizes
    along it."""
    varies = True
    """Whether there is more than one value, so that a search can change it."""
    strict = False
    """Whether values outside the range are rejected. Otherwise they are valid, but never drawn."""

    @abstractmethod
    def random(self, rng: Rng, sizes: Sizes) -> Any:
        """Return a random value of the field."""

    def structured(self, rng: Rng, sizes: Sizes) -> Any:
        """Return a value at which inequalities tend to be tight, such as a matrix of equal rows.

        By default the value is random.
        """
        return self.random(rng, sizes)

    def changed(self, rng: Rng, value: Any, sizes: Sizes) -> Any:
        """Return a random value near the given value."""
        return self.random(rng, sizes)

    def doubled(self, value: Any, axis: str, at: int) -> Any:
        """Return a copy of a value in which entry `at` of an axis, such as a row, is duplicated."""
        return value

    def fewer(self, value: Any, axis: str, at: int) -> Any:
        """Return a copy of a value without entry `at` along an axis, such as a row."""
        return value

    def simpler(self, value: Any) -> Iterator[Any]:
        """Yield simpler values than the given one."""
        yield from ()

    def length(self, value: Any) -> float:
        """Return the number of characters of a written value. Searches for counterexamples prefer
        short values.
        """
        return 1.0

    def repaired(self, value: Any, sizes: Sizes) -> Any:
        """Return the valid value that is nearest to the given value."""
        return value

    def extents(self, value: Any) -> dict[str, int]:
        """Return the size of a value along each axis, by axis name."""
        return {}

    def to_json(self, value: Any) -> Any:
        """Return a value in a form that JSON can store."""
        return value

    def from_json(self, written: Any) -> Any:
        """Return a value from data in the format of `to_json`."""
        return written


class Real(Field):
    """A field for a number, drawn uniformly from [low, high].

    Parameters
    ----------
    low, high : float or str
        The range. The ends may be fractions as strings: ``Real("1/10", "9/10")``.
    log : bool
        Whether the logarithm of the number is drawn uniformly instead. If True, low must be > 0.
    """

    def __init__(self, low: float | str, high: float | str, log: bool = False) -> None:
        try:
            self.low = as_number(low)
            self.high = as_number(high)
            self.log = log
        except (TypeError, ValueError, ZeroDivisionError):
            raise InputError(
                f"Real needs two numbers, such as Real(0, 1) or Real('1/10', 2), got {low!r} and "
                f"{high!r}"
            ) from None
        if not self.low <= self.high or (log and self.low <= 0.0):
            raise InputError(
                f"Real needs low <= high, and low > 0 if log is true, got low = {low}, "
                f"high = {high}"
            )

    def random(self, rng: Rng, sizes: Sizes) -> float:
        if self.log:
            return float(np.exp(rng.uniform(math.log(self.low), math.log(self.high))))
        return float(rng.uniform(self.low, self.high))

    def structured(self, rng: Rng, sizes: Sizes) -> float:
        simple = round(self.random(rng, sizes), 1)
        return float(rng.choice([self.low, self.high, min(max(simple, self.low), self.high)]))

    def changed(self, rng: Rng, value: float, sizes: Sizes) -> float:
        if rng.random() < 0.2:
            return self.random(rng, sizes)
        step = float(rng.normal()) * 10 ** -float(rng.uniform(0.5, 3))
        near = value * math.exp(step) if self.log else value + step * (self.high - self.low)
        return min(max(near, self.low), self.high)

    def simpler(self, value: float) -> Iterator[float]:
        yield from simpler_numbers(value, self.low, self.high)

    def length(self, value: float) -> float:
        return float(len(short(value)))

    def to_json(self, value: float) -> Any:
        return json_number(value)

    def from_json(self, written: Any) -> float:
        return as_number(written)


class Whole(Field):
    """A field for an integer between two bounds.

    Parameters
    ----------
    low, high : int or str
        The bounds. A bound may be an axis name, as in ``Whole(1, "m")``, which stands for the size
        of the axis, such as the number of rows of the matrix.
    """

    strict = True

    def __init__(self, low: int | str, high: int | str) -> None:
        if isinstance(low, int) and isinstance(high, int) and low > high:
            raise InputError(f"Whole needs low <= high, got low = {low}, high = {high}")
        self.low, self.high = low, high

    def _range(self, sizes: Sizes) -> tuple[int, int]:
        low, high = (int(sizes[e]) if isinstance(e, str) else e for e in (self.low, self.high))
        return low, max(low, high)

    def random(self, rng: Rng, sizes: Sizes) -> int:
        low, high = self._range(sizes)
        return int(rng.integers(low, high + 1))

    def structured(self, rng: Rng, sizes: Sizes) -> int:
        return int(rng.choice(self._range(sizes)))

    def changed(self, rng: Rng, value: int, sizes: Sizes) -> int:
        low, high = self._range(sizes)
        return min(max(value + int(rng.choice([-2, -1, 1, 2])), low), high)

    def simpler(self, value: int) -> Iterator[int]:
        if isinstance(self.low, int):
            yield from (
                x for x in dict.fromkeys((self.low, value // 2, value - 1)) if self.low <= x < value
            )

    def length(self, value: int) -> float:
        # Small integers are simpler: a run with fewer rounds is easier to follow.
        return 1.0 + math.log1p(abs(value))

    def repaired(self, value: int, sizes: Sizes) -> int:
        low, high = self._range(sizes)
        return min(max(value, low), high)

    def from_json(self, written: Any) -> int:
        if int(written) != written:
            raise InputError(f"the value must be a whole number, got {written}")
        return int(written)


class Choice(Field):
    """A field whose value is one of several names, such as the name of a loss.

    Parameters
    ----------
    *names : str
        The names, simplest first. At least one is needed.
    """

    def __init__(self, *names: str) -> None:
        if not names:
            raise InputError("Choice needs at least one name, such as Choice('hinge', 'logistic')")
        self.names = names
        self.varies = len(names) > 1

    def random(self, rng: Rng, sizes: Sizes) -> str:
        return self.names[int(rng.integers(len(self.names)))]

    def simpler(self, value: str) -> Iterator[str]:
        yield from self.names[: self.names.index(value)]

    def length(self, value: str) -> float:
        return 1.0 + self.names.index(value)

    def from_json(self, written: Any) -> str:
        if written not in self.names:
            raise InputError(f"{written!r} is none of {', '.join(self.names)}")
        return str(written)


def short(x: float) -> str:
    """Return a float as text: a fraction if it has a small denominator, and otherwise a decimal."""
    if math.isfinite(x):
        fraction = Fraction(x).limit_denominator(MAX_DENOMINATOR)
        if float(fraction) == x and abs(fraction.numerator) < 10_000:
            return str(fraction)
    return repr(float(x))


def as_number(written: Any) -> float:
    """Convert a number, or a string such as "1/10", from a JSON file to a float."""
    return float(Fraction(written) if isinstance(written, str) else written)


def json_number(x: float) -> Any:
    """Return a float as a JSON value: an integer, a string such as "1/10", or the float itself."""
    if math.isfinite(x) and x == int(x):
        return int(x)
    text = short(x)
    return text if "/" in text else x


def nearby_fractions(x: float) -> Iterator[float]:
    """For each denominator d in `DENOMINATORS`, yield the multiple of 1/d that is nearest to x."""
    for denominator in DENOMINATORS:
        yield round(x * denominator) / denominator


def simpler_numbers(x: float, low: float, high: float) -> Iterator[float]:
    """Yield simple replacements for x in a counterexample: 0, 1, −1, and fractions near x.

    They lie in [low, high], and are not written with more characters than x.
    """
    length = len(short(x))
    for simple in dict.fromkeys((0.0, 1.0, -1.0, *nearby_fractions(x))):
        if low <= simple <= high and simple != x and len(short(simple)) <= length:
            yield simple + 0.0
