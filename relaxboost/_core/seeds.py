"""The argument `rng` for random numbers (SPEC 7 of Scientific Python)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import natural

P = ParamSpec("P")
T = TypeVar("T")

Rng = int | np.random.Generator | None
"""A seed >= 0, a generator, or None for a new seed in each call.

Drawing from a passed generator changes its state.
"""


def accepts_seed(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function with the argument `rng` so that it also accepts `seed=`."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        if "seed" in named:
            if "rng" in named:
                raise InputError("rng and seed are two names of the same argument; pass only rng")
            seed = named.pop("seed")
            # The message about a wrong seed has the name that the user typed.
            named["rng"] = natural("seed", seed) if _is_seed(seed) else seed
        return function(*given, **named)

    return call


def _is_seed(rng: object) -> bool:
    return rng is not None and not isinstance(rng, np.random.Generator)


def generator(rng: Rng) -> np.random.Generator:
    """Return `rng` if it is a generator, and a new generator with the seed `rng` otherwise."""
    return np.random.default_rng(natural("rng", rng) if _is_seed(rng) else rng)


def seed_of(rng: Rng) -> int:
    """Return `rng` if it is a seed. Otherwise draw a seed from the generator."""
    return natural("rng", rng) if _is_seed(rng) else int(generator(rng).integers(2**63))
