"""Generators of matrices from a seed, with the same result on every machine and in every version.

They use the raw 64-bit output of PCG64, which NumPy promises never to change, integer arithmetic,
and one correctly rounded division. So a digest in an index stays valid for later versions of NumPy.
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
    """Integers drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._bits = np.random.PCG64(seed)

    def below(self, limit: int, *shape: int) -> Whole:
        """Return integers from 0 to limit − 1; the bias of the remainder is below 2^-40."""
        raw = self._bits.random_raw(int(np.prod(shape)))
        return (raw % np.uint64(limit)).astype(np.int64).reshape(shape)

    def between(self, size: int, *shape: int) -> Whole:
        """Return integers from −size to size."""
        return self.below(2 * size + 1, *shape) - size


_KINDS: dict[str, Callable[..., Matrix]] = {}


def _generator(make: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Register a generator under its name."""
    _KINDS[make.__name__] = make
    return make


@_generator
def uniform(draw: _Draw, m: int, n: int, digits: int = 3) -> Matrix:
    """Return uniform numbers in [−1, 1] with `digits` decimals."""
    return draw.between(10**digits, m, n) / 10**digits


@_generator
def signs(draw: _Draw, m: int, n: int, lean: float = 0.0) -> Matrix:
    """Return noisy weak hypotheses: −1 and +1, equally likely except for a share `lean` of +1."""
    even = (2 * draw.below(2, m, n) - 1).astype(np.float64)
    return np.where(draw.below(2**20, m, n) < round(lean * 2**20), 1.0, even) if lean else even


@_generator
def gaussian(draw: _Draw, m: int, n: int, digits: int = 3, lean: float = 0.0) -> Matrix:
    """Return roughly normal decimals, clipped to [−1, 1], with mean `lean` and deviation 1/2."""
    size = 10**digits
    bell = _bell(draw, m, n, digits) + round(lean * size)
    clipped: Whole = np.clip(bell, -size, size)
    return clipped / size


@_generator
def normalised(draw: _Draw, m: int, n: int, digits: int = 3) -> Matrix:
    """Return roughly normal columns, each divided by its largest absolute entry."""
    bell = _bell(draw, m, n, digits)
    return bell / np.maximum(np.abs(bell).max(axis=0), 1)


def _bell(draw: _Draw, m: int, n: int, digits: int) -> Whole:
    """Return sums of twelve uniform integers; their variance is twelve times that of one."""
    size = 10**digits
    return draw.between(size, 12, m, n).sum(axis=0) // 4


@_generator
def sparse(
    draw: _Draw, m: int, n: int, density: float = 0.2, digits: int = 3, lean: float = 0.0
) -> Matrix:
    """Return sparse uniform entries; a share `density` is non-zero, a share `lean` not negative."""
    kept = draw.below(2**20, m, n) < round(density * 2**20)
    even = np.where(kept, uniform(draw, m, n, digits), 0.0)
    return (
        np.where(draw.below(2**20, m, n) < round(lean * 2**20), abs(even), even) if lean else even
    )


@_generator
def separable(draw: _Draw, m: int, n: int, digits: int = 3) -> Matrix:
    """Return uniform rows, negated where needed, so that some w >= 0 has no negative margin."""
    whole = draw.between(10**digits, m, n)
    turned = np.where(whole @ draw.below(1000, n) < 0, -1, 1)
    return whole * turned[:, None] / 10**digits


@_generator
def duplicated(draw: _Draw, m: int, n: int, distinct: int | None = None, digits: int = 3) -> Matrix:
    """Return uniform rows of which `distinct` are different, by default half of them."""
    few = max(1, m // 2) if distinct is None else distinct
    return uniform(draw, few, n, digits)[draw.below(few, m)]


@_generator
def ties(draw: _Draw, m: int, n: int) -> Matrix:
    """Return entries in {−1, −1/2, 0, 1/2, 1}: many equal margins and edges, degenerate bases."""
    return draw.between(2, m, n) / 2.0


@_generator
def planted(draw: _Draw, m: int, n: int, k: Any = None, entries: str = "signs") -> Any:
    """Return the matrix of a game with a planted optimum, whose value is therefore known."""
    cap = Fraction(k) if isinstance(k, str) else k
    return planting.plant(m, n, cap, draw.seed, entries).A


OPTIONS: dict[str, tuple[str, ...]] = {
    kind: tuple(inspect.signature(make).parameters)[3:] for kind, make in _KINDS.items()
}
"""The generators, with their options besides the numbers of rows and columns and the seed."""


def check_options(where: str, kind: str, options: dict[str, Any]) -> None:
    """Raise an InputError if a generator does not know an option, or the option is out of range."""
    known = OPTIONS[kind]
    for name in options:
        if name not in known:
            takes = f"takes {' and '.join(known)}" if known else "has no options"
            raise InputError(
                f"{where}: besides rows, columns and seed, generator {kind!r} {takes}, not {name!r}"
            )
    for name, low, high in (("digits", 1, 15), ("distinct", 1, 10**6)):
        value = options.get(name, low)
        if type(value) is not int or not low <= value <= high:
            raise InputError(f"{where}: {name} must be from {low} to {high}, got {value!r}")
    for name in ("density", "lean"):
        share = options.get(name, 0.5)
        if type(share) not in (int, float) or not 0 <= share <= 1:
            raise InputError(f"{where}: {name} must be from 0 to 1, got {share!r}")


def generate(kind: str, m: int, n: int, seed: int, **options: Any) -> Any:
    """Return the matrix that a generator makes from its sizes, its seed and its options.

    Parameters
    ----------
    kind : str
        A key of `OPTIONS`.
    m, n, seed : int
    **options
        The options of the generator, listed in `OPTIONS`.

    Returns
    -------
    array of shape (m, n)
    """
    return _KINDS[kind](_Draw(seed), m, n, **options)
