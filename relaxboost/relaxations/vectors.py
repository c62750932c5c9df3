"""Validation and exact conversion of vector parameters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.names import MAX_ITEMS_SHOWN
from relaxboost._core.parameters import exact, positive_size, spell
from relaxboost._core.rounding import float_down, float_up


def exact_vector(owner: str, name: str, values: Any) -> tuple[Fraction, ...]:
    """Return `values` as a tuple of exact numbers.

    InputError is raised unless `values` is a non-empty vector of finite numbers.
    """
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"{owner} needs {name} to be a vector, got shape {values.shape}")
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise InputError(f"{owner} needs {name} to be a vector of numbers, got {values!r}")
    numbers = tuple(exact(owner, f"every entry of {name}", value) for value in values)
    if not numbers:
        raise InputError(f"{owner} needs {name} to have at least one entry")
    return numbers


def positive_vector(owner: str, name: str, values: Any) -> tuple[Fraction, ...] | None:
    """Return `values` as a tuple of exact positive numbers, or None if `values` is None."""
    if values is None:
        return None
    numbers = exact_vector(owner, name, values)
    if min(numbers) <= 0:
        i = next(i for i, number in enumerate(numbers) if number <= 0)
        raise InputError(f"{owner} needs {name} > 0, but entry {i} is {spell(numbers[i])}")
    for number in numbers:
        positive_size(owner, f"every entry of {name}", number)
    return numbers


def enclose_vector(values: tuple[Fraction, ...]) -> Interval:
    """Return the narrowest interval of doubles around each exact value."""
    low = np.array([float_down(value) for value in values])
    return Interval(low, np.array([float_up(value) for value in values]))


def spell_vector(values: tuple[Fraction, ...]) -> str:
    """Return the exact values as text, or their number if there are more than eight."""
    if len(values) <= MAX_ITEMS_SHOWN:
        return f"[{', '.join(spell(value) for value in values)}]"
    return f"<{len(values)} numbers>"


def spell_parameter(value: object, owner: object) -> str:
    """Return the text of a parameter in `key`. The text of an array contains a digest."""
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, Real):
        return str(exact(type(owner).__name__, "its parameter", value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(spell_parameter(v, owner) for v in value)}]"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        content = np.ascontiguousarray(value, dtype="<f8").tobytes()
        return f"array {value.shape} {hashlib.sha256(content).hexdigest()}"
    raise InputError(
        f"{type(owner).__name__} has a parameter of type {type(value).__name__}, and key() cannot "
        "convert this type to an exact string; override key()"
    )
