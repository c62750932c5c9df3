"""The base class of relaxations with a prior distribution π over the examples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.parameters import exact, spell
from relaxboost._core.rounding import float_down, float_up, sum_bounds
from relaxboost.relaxations.base import Relaxation, onto_simplex
from relaxboost.relaxations.bounds import Bounds
from relaxboost.relaxations.description import Description


def check_prior(owner: str, prior: Any) -> tuple[Any, ...] | None:
    """Return the prior as a tuple of exact floats and Fractions, or None for the uniform prior.

    InputError is raised unless `prior` is a vector of finite numbers >= 0 that sum to one within
    1e-9.
    """
    if prior is None:
        return None
    if isinstance(prior, np.ndarray):
        prior = prior.tolist()
    if isinstance(prior, str) or not isinstance(prior, Iterable):
        raise InputError(f"{owner} needs prior to be a vector of numbers, got {prior!r}")
    kept = tuple(
        # Floats stay floats, because sums and logarithms of floats are much faster.
        float(p)
        if isinstance(p, float) and math.isfinite(p)
        else exact(owner, "every entry of prior", p)
        for p in prior
    )
    negative = next((i for i, p in enumerate(kept) if p < 0), None)
    if negative is not None:
        raise InputError(f"{owner} needs prior[{negative}] >= 0, got {float(kept[negative])}")
    total = math.fsum(map(float, kept))
    if not abs(total - 1.0) <= 1e-9:
        raise InputError(
            f"{owner}: priors must sum to one within 1e-09, but these sum to {total:.12g}; "
            "divide the prior by its sum"
        )
    return kept


class OverPrior(Relaxation, Bounds, Description):
    """The base class of relaxations with a prior distribution π.

    π is the field `prior` divided by its exact sum, or uniform if `prior` is None. If π_i = 0 and
    d_i is not 0, then f(d) is infinite.
    """

    per_example: ClassVar[str] = "prior"

    prior: Any

    def center(self, m: int) -> Vector:
        return np.full(m, 1.0 / m) if self.prior is None else self._prior.copy()

    def repair(self, d: Vector) -> Vector:
        # The entries with π_i = 0 become 0. A d without other entries becomes π.
        d = np.array(d, dtype=np.float64)
        if self._zeros is not None and np.isfinite(d).all():
            d[self._zeros] = 0.0
            if d.max() <= 0.0:
                return self.center(d.size)
        d = onto_simplex(d, type(self).__name__)
        return d if math.isfinite(self.penalty(d)) else super().repair(d)

    def __repr__(self) -> str:
        named = [f.name for f in fields(cast(Any, self)) if f.name != "prior"]
        given = [f"{name}={spell(getattr(self, name))}" for name in named]
        if self.prior is not None:
            entries = [repr(p) if isinstance(p, float) else spell(p) for p in self.prior]
            given.append(f"prior=({', '.join(entries)}{',' * (len(entries) == 1)})")
        return f"{type(self).__name__}({', '.join(given)})"

    @cached_property
    def _prior(self) -> Vector:
        """The prior π as doubles, accurate to a few ulps."""
        prior = np.array([float(p) for p in self.prior])
        return prior / math.fsum(prior.tolist())

    @cached_property
    def _zeros(self) -> NDArray[np.bool_] | None:
        """The mask of the examples with π_i = 0, or None if all π_i > 0."""
        if self.prior is None:
            return None
        zeros = np.array([p == 0 for p in self.prior])
        return zeros if zeros.any() else None

    @cached_property
    def _log_prior(self) -> Vector | None:
        """The logarithms of the positive π_i, or None if π is uniform."""
        if self.prior is None:
            return None
        # A positive Fraction may be too small for a double, but its logarithm is not.
        logs = [
            math.log(p) if isinstance(p, float) else math.log(p.numerator) - math.log(p.denominator)
            for p in self.prior
            if p > 0
        ]
        return np.array(logs) - math.log(math.fsum(map(float, self.prior)))

    @cached_property
    def _enclosed_prior(self) -> Interval:
        # Floats have a fast rigorous sum, and Fractions an exact one.
        positive = [p for p in self.prior if p > 0]
        if all(isinstance(p, float) for p in positive):
            values = np.array(positive)
            return Interval(values) / Interval(*sum_bounds(values))
        total = sum(map(Fraction, positive), Fraction(0))
        quotients = [Fraction(p) / total for p in positive]
        return Interval([float_down(q) for q in quotients], [float_up(q) for q in quotients])

    def _pi(self, m: int) -> Interval:
        """Return intervals around the positive π_i, or a single one if π is uniform."""
        return Interval(Fraction(1, m)) if self.prior is None else self._enclosed_prior

    def _enclosed(self, m: int) -> Interval:
        """Return intervals around all π_i, including zeros."""
        pi = self._pi(m)
        return Interval(self._spread_out(pi.lower), self._spread_out(pi.upper))

    def _exact(self, m: int) -> list[Fraction]:
        """Return all π_i, including zeros, as fractions."""
        given = [Fraction(p) for p in self.prior or [1] * m]
        total = sum(given, Fraction(0))
        return [p / total for p in given]

    def _positive(self, m: int) -> int:
        return m if self._zeros is None else m - int(self._zeros.sum())

    def _inside(self, u: Any) -> Vector:
        """Return the entries of `u` at the examples with π_i > 0."""
        u = np.asarray(u, dtype=np.float64)
        return u if self._zeros is None else u[~self._zeros]

    def _outside_is_zero(self, d: Vector) -> bool:
        return self._zeros is None or not np.any(d[self._zeros])

    def _spread_out(self, inside: Vector) -> Vector:
        """Fill in zeros at the examples with π_i = 0. `inside` contains the other entries."""
        if self._zeros is None:
            return inside
        d = np.zeros(self._zeros.size)
        d[~self._zeros] = inside
        return d
