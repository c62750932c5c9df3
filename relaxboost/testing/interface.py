"""Checks of the interface of a relaxation: copies, keys, arguments and errors."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np

from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations import Custom, Relaxation
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.testing.core import Case


def resolve(case: Case) -> None:
    """For a relaxation that resolve(m) has returned, resolve(m) returns the relaxation itself."""
    resolved = case.f.resolve(case.m)
    case.demand(isinstance(resolved, Relaxation), "resolve returns a Relaxation")
    case.demand(resolved == case.f, "resolve(m).resolve(m) equals resolve(m)", got=resolved)


def identity(case: Case) -> None:
    """A pickled copy of the relaxation is equal to it, and has the same hash and the same key."""
    f = case.f
    try:
        # Worker processes get relaxations by pickling.
        twin = pickle.loads(pickle.dumps(f))
    except Exception as error:
        if isinstance(f, Custom):  # A lambda and a nested function cannot be pickled.
            twin = copy.copy(f)
        else:
            promise = "pickle.loads(pickle.dumps(f)) works, as for classes at the top of a module"
            raise case.error(f"{promise}; it raised: {error}") from error
    case.demand(
        f == f and twin == f and f == twin,
        "the pickled copy equals f, as it does for a frozen dataclass of numbers and tuples",
        copy=twin,
    )
    case.demand(hash(twin) == hash(f), "equal relaxations have equal hashes")
    case.demand(twin.key() == f.key() == f.key(), "the pickled copy has the key of f")
    case.demand(bool(repr(f)) and isinstance(f.key(), str) and bool(f.key()), "repr and key exist")
    others: tuple[object, ...] = (object(), f.key())
    case.demand(all(f != other for other in others), "f is unequal to other objects")


def _calls(case: Case) -> dict[str, tuple[tuple[Any, ...], Any]]:
    f = case.f
    m = case.m
    bounds = bounds_of(f)
    u = case.margins(1)[0]
    d = case.subject.feasible[-1].copy()
    return {
        "penalty": ((d,), None),
        "conjugate": ((0.1 * u,), None),
        "relaxed_margin": ((u,), lambda r: r[1]),
        "distribution": ((u, 0.1), lambda r: r),
        "witness": ((u,), None),
        "lower_bound": ((u, bounds.witness(u.copy())), None),
        "repair": ((d,), lambda r: r),
        "center": ((m,), lambda r: r),
        "penalty_bound": ((d, sum_bounds(d)), None),
    }


def inputs_and_outputs(case: Case) -> None:
    """Methods do not modify their arguments, and return new float64 vectors."""
    for name, (arguments, vector) in _calls(case).items():
        method = getattr(case.f if hasattr(case.f, name) else bounds_of(case.f), name)
        # The bytes show a change anywhere in nested arguments.
        before = pickle.dumps(arguments)
        result = method(*arguments)
        case.demand(pickle.dumps(arguments) == before, f"{name} does not change its arguments")
        if vector is None:
            continue
        d = vector(result)
        fits = isinstance(d, np.ndarray) and d.dtype == np.float64 and d.shape == (case.m,)
        case.demand(fits, f"{name} returns a float64 vector of length m", got=d)
        # A view of an argument would change with it later.
        for given in arguments:
            if isinstance(given, np.ndarray):
                case.demand(not np.shares_memory(d, given), f"{name} returns a new vector")
        kept = d.copy()
        case.demand(d.flags.writeable, f"{name} returns a vector that the caller may change")
        # If the method returned an array that it keeps, the second call would show these values.
        d[:] = math.nan
        again = vector(method(*arguments))
        same = bool(np.array_equal(again, kept))
        case.demand(same, f"{name} gives the same answer twice", first=kept, second=again)


def wrong_arguments(case: Case) -> None:
    """Methods raise ValueError for margins with nan, for 2-D margins, and for β <= 0."""
    f = case.f
    u = case.margins(1)[0]
    broken = u.copy()
    broken[case.m // 2] = math.nan
    # NumPy broadcasts such an array silently in most formulas.
    square = np.vstack([u, u])
    tried: list[tuple[str, tuple[Any, ...]]] = [
        (name, (wrong, *rest))
        for name, rest in (("relaxed_margin", ()), ("witness", ()), ("distribution", (0.1,)))
        for wrong in (broken, square)
    ]
    tried += [("distribution", (u, beta)) for beta in (0.0, -0.1, math.nan, math.inf)]
    for name, arguments in tried:
        try:
            got = getattr(f if hasattr(f, name) else bounds_of(f), name)(*arguments)
        except ValueError:
            case.demand(True, name)
            continue
        raise case.error(
            f"{name} raises ValueError, such as relaxboost.InputError, for these arguments",
            **dict(zip(("u", "beta"), arguments, strict=False)),
            got=got,
        )
