"""Generators of margin matrices from a seed.

The same seed gives the same matrix on every machine and with every version of NumPy. The generators
use the raw 64-bit output of PCG64, which NumPy guarantees never to change, integer arithmetic, and
one correctly rounded division. So the digests in an index remain valid.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Matrix, Whole
from relaxboost._core.errors import InputError
from relaxboost.instances import planting


class _Draw:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._bits = np.random.PCG64(seed)

    def below(self, limit: int, *shape: int) -> Whole:
        """Return random integers from 0 to limit − 1."""
        # The remainders of 64-bit integers have a bias below 2^-40.
        raw = self._bits.random_raw(int(np.prod(shape)))
        return (raw % np.uint64(limit)).astype(np.int64).reshape(shape)

    def between(self, size: int, *shape: int) -> Whole:
        """Return random integers from −size to size."""
        return self.below(2 * size + 1, *shape) - size


def uniform(draw: _Draw, m: int, n: int, digits: int = 3) -> Matrix:
    """Return a matrix of independent uniform numbers in [−1, 1], each with `digits` decimals."""
    return draw.between(10**digits, m, n) / 10**digits


def signs(draw: _Draw, m: int, n: int, lean: float = 0.0) -> Matrix:
    """Return a matrix of noisy weak hypotheses with entries −1 and +1.

    A share `lean` of the entries is set to +1.
    """
    even = (2 * draw.below(2, m, n) - 1).astype(np.float64)
    return np.where(draw.below(2**20, m, n) < round(lean * 2**20), 1.0, even) if lean else even


def gaussian(draw: _Draw, m: int, n: int, digits: int = 3, lean: float = 0.0) -> Matrix:
    """Return a matrix of nearly normal numbers with mean `lean` and standard deviation 1/2.

    They are clipped to [−1, 1] and have `digits` decimals.
    """
    size = 10**digits
    bell = _bell(draw, m, n, digits) + round(lean * size)
    clipped: Whole = np.clip(bell, -size, size)
    return clipped / size


def normalised(draw: _Draw, m: int, n: int, digits: int = 3) -> Matrix:
    """Return a matrix of nearly normal numbers, with each column divided by its largest absolute
    entry.
    """
    bell = _bell(draw, m, n, digits)
    return bell / np.maximum(np.abs(bell).max(axis=0), 1)


def _bell(draw: _Draw, m: int, n: int, digits: int) -> Whole:
    # A sum of twelve uniform integers is nearly normal.
    return draw.between(10**digits, 12, m, n).sum(axis=0) // 4


def sparse(
    draw: _Draw, m: int, n: int, density: float = 0.2, digits: int = 3, lean: float = 0.0
) -> Matrix:
    """Return a sparse matrix whose nonzero entries are uniform.

    A share `density` of the entries is nonzero. A share `lean` of the entries is made non-negative.
    """
    kept = draw.below(2**20, m, n) < round(density * 2**20)
    even = np.where(kept, uniform(draw, m, n, digits), 0.0)
    if not lean:
        return even
    return np.where(draw.below(2**20, m, n) < round(lean * 2**20), abs(even), even)


def separable(draw: _Draw, m: int, n: int, digits: int = 3) -> Matrix:
    """Return a matrix of uniform rows.

    Some rows are negated, so that some weights w >= 0 give no example a negative margin.
    """
    whole = draw.between(10**digits, m, n)
    turned = np.where(whole @ draw.below(1000, n) < 0, -1, 1)
    return whole * turned[:, None] / 10**digits


def duplicated(draw: _Draw, m: int, n: int, distinct: int | None = None, digits: int = 3) -> Matrix:
    """Return a matrix of uniform rows, at most `distinct` of which are different.

    By default, `distinct` is half the number of rows.
    """
    few = max(1, m // 2) if distinct is None else distinct
    return uniform(draw, few, n, digits)[draw.below(few, m)]


def ties(draw: _Draw, m: int, n: int) -> Matrix:
    """Return a matrix of entries −1, −1/2, 0, 1/2 and 1, with many ties and degenerate bases."""
    return draw.between(2, m, n) / 2.0


def planted(draw: _Draw, m: int, n: int, k: Any = None, entries: str = "signs") -> Any:
    """Return the margin matrix of a game with a planted optimum; see `planting.plant`."""
    cap = Fraction(k) if isinstance(k, str) else k
    return planting.plant(m, n, cap, draw.seed, entries).A


_MAKERS = (uniform, signs, gaussian, normalised, sparse, separable, duplicated, ties, planted)
_KINDS: dict[str, Callable[..., Matrix]] = {make.__name__: make for make in _MAKERS}

OPTIONS: dict[str, tuple[str, ...]] = {
    kind: tuple(inspect.signature(make).parameters)[3:] for kind, make in _KINDS.items()
}
"""The option names of each generator, except rows, columns and seed."""


def check_options(where: str, kind: str, options: dict[str, Any]) -> None:
    """Raise an InputError if an option of a generator is unknown or out of range."""
    known = OPTIONS[kind]
    for name in options:
        if name not in known:
            takes = f"takes {' and '.join(known)}" if known else "has no options"
            raise InputError(
                f"{where}: generator {kind!r} has no option {name!r}. Besides rows, columns and "
                f"seed, it {takes}"
            )
    for name, low, high in (("digits", 1, 15), ("distinct", 1, 10**6)):
        value = options.get(name, low)
        if type(value) is not int or not low <= value <= high:
            raise InputError(
                f"{where}: {name} must be a whole number from {low} to {high}, got {value!r}"
            )
    for name in ("density", "lean"):
        share = options.get(name, 0.5)
        if type(share) not in (int, float) or not 0 <= share <= 1:
            raise InputError(f"{where}: {name} must be a number from 0 to 1, got {share!r}")


def generate(kind: str, m: int, n: int, seed: int, **options: Any) -> Any:
    """Return a margin matrix with m rows and n columns from the generator `kind`.

    `OPTIONS` lists the generator options.
    """
    return _KINDS[kind](_Draw(seed), m, n, **options)
