"""Random numbers by the argument `rng`, as SPEC 7 of Scientific Python proposes."""

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
"""A seed >= 0, a generator that is used and advanced, or None for a new seed at each call."""


def accepts_seed(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function with the argument `rng` that also accepts it as `seed=`."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        if "seed" in named:
            if "rng" in named:
                raise InputError("rng and seed are two names of one argument; give rng only")
            seed = named.pop("seed")
            # The message about a wrong seed has the name that the user typed.
            named["rng"] = natural("seed", seed) if _is_seed(seed) else seed
        return function(*given, **named)

    return call


def _is_seed(rng: object) -> bool:
    return rng is not None and not isinstance(rng, np.random.Generator)


def generator(rng: Rng) -> np.random.Generator:
    """Return a generator itself, or a new one with the given seed."""
    return np.random.default_rng(natural("rng", rng) if _is_seed(rng) else rng)


def seed_of(rng: Rng) -> int:
    """Return a seed itself, or draw one from a generator, for work that uses it several times."""
    return natural("rng", rng) if _is_seed(rng) else int(generator(rng).integers(2**63))
