"""Divergences from a prior distribution π, defined by a user's generator φ.

A divergence is a `Custom`, so a cone solver computes its relaxed margins and distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, spell
from relaxboost._core.rounding import ROUNDINGS
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.priors import check_prior


def f_divergence(
    generator: Callable[[Any], Any],
    *,
    weight: Any = None,
    radius: Any = None,
    prior: Any = None,
    name: str | None = None,
) -> Custom:
    """Return the relaxation c Σ π φ(d/π), or the indicator of Σ π φ(d/π) <= r, for a generator φ.

    ::

        js = lambda t: cp.kl_div(t, (1 + t) / 2) + cp.kl_div(1, (1 + t) / 2)  # Jensen-Shannon
        rb.f_divergence(js, weight=0.1)

    The relaxation is a `Custom` with numerical brackets. Each distribution requires the solution of
    a cone program. `KLPenalty`, `ChiSquarePenalty`, `HellingerPenalty`, `PowerPenalty` and their
    balls are faster, and have bounds that are proved.

    Parameters
    ----------
    generator : callable
        A function that takes a cvxpy expression t of shape (m,) and returns φ of each entry as a
        convex expression of this shape. The value φ(1) must be 0.
    weight, radius : int, float or Fraction > 0
        The weight c of the penalty, or the radius r of the ball. Pass exactly one of the two.
    prior : vector of m numbers > 0, optional
        The prior π, which is divided by its sum. The entries must sum to one within 1e-9. By
        default π is uniform.
    name : str, optional
        The name of the relaxation in messages and reports.

    Raises
    ------
    InputError
        If a parameter is out of its range. The declaration of a game raises InputError if φ(1) is
        not 0, or if the generator returns an expression that has another shape or is not convex by
        cvxpy's rules.

    References
    ----------
    Csiszar (1967) for f-divergences; Shalev-Shwartz & Singer (2009), Sec. 6.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import relaxboost as rb
    >>> f = rb.f_divergence(lambda t: cp.square(t - 1), radius=0.5, name="chi-square")
    >>> rb.solve(rb.Game([[1, -1], [-1, 1], [1, 1]], f)).status
    'optimal'
    """
    if not callable(generator):
        raise InputError(
            f"f_divergence needs its generator to be a function of a cvxpy expression, such as "
            f"cp.square, got {generator!r}"
        )
    if (weight is None) == (radius is None):
        raise InputError("f_divergence needs either weight or radius, but not both")
    given, kind = (radius, "radius") if weight is None else (weight, "weight")
    size = exact("f_divergence", kind, given)
    if size <= 0:
        raise InputError(f"f_divergence needs {kind} > 0, got {spell(size)}")
    kept = check_prior("f_divergence", prior)
    if kept is not None and 0 in kept:
        raise InputError("f_divergence needs prior > 0; leave out the examples with prior 0")
    if name is None:
        about = getattr(generator, "__qualname__", repr(generator))
        name = f"f_divergence({about}, {kind}={spell(size)}" + ", prior" * (kept is not None) + ")"
    return _FDivergence(f=_Divergence(generator, kind, size, kept), name=name)


@dataclass(frozen=True)
class _Divergence:
    generator: Callable[[Any], Any]
    kind: str
    size: Fraction
    prior: tuple[Any, ...] | None

    def pi(self, m: int) -> Vector:
        """Return the prior distribution π of m examples as doubles."""
        pi = np.full(m, 1.0 / m) if self.prior is None else np.array([float(p) for p in self.prior])
        return np.asarray(pi / pi.sum())

    def value_and_slope(self, t: Vector) -> tuple[Vector, Vector]:
        """Return the value and a subgradient of the generator φ at each entry of t."""
        point = cp.Variable(t.size)
        made = self.generator(point)
        point.value = t
        with np.errstate(all="ignore"):
            slope = made.grad[point]
            return np.asarray(made.value), np.asarray(slope.sum(axis=0)).ravel()

    def __call__(self, d: Any) -> tuple[Any, list[Any]]:
        m = d.shape[0]
        if self.prior is not None and len(self.prior) != m:
            raise InputError(
                f"`prior` has {len(self.prior)} entries, but the game has m = {m} examples; "
                "pass one entry for each example"
            )
        pi = self.pi(m)
        value = self.generator(cp.Constant(np.ones(m)))
        if not isinstance(value, cp.Expression) or value.shape != (m,):
            returned = getattr(value, "shape", repr(value))
            raise InputError(
                f"the generator must return a cvxpy expression of shape ({m},), one number for "
                f"each entry of t, but returned {returned}"
            )
        at_one = np.asarray(value.value)
        if not abs(at_one).max() <= 1e-9:
            raise InputError(
                f"the generator must be 0 at t = 1, but it is {at_one[np.argmax(abs(at_one))]:g};"
                " subtract this number from the generator"
            )
        divergence = pi @ self.generator(cp.multiply(1.0 / pi, d))
        if self.kind == "radius":
            return 0.0, [divergence <= float(self.size)]
        return float(self.size) * divergence, []


class _FDivergence(Custom):
    """A divergence by a generator φ. Its upper bounds include the roundings of φ near the prior."""

    family = Custom.family

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # Near the prior the terms are tiny differences of φ's terms, and their roundings count.
        value, distance = super().penalty_bound(d, total)
        f = self._f
        assert isinstance(f, _Divergence)
        if f.kind == "weight" and math.isfinite(value) and distance == 0.0:
            pi = f.pi(d.size)
            t = d / (0.5 * (total[0] + total[1])) / pi
            phi, slope = f.value_and_slope(t)
            steep = np.nan_to_num(t * np.abs(slope), posinf=0.0)
            # The error of a value φ(t) is a few roundings of 1 + t + |φ(t)|.
            rounded = ROUNDINGS * (1.0 + t + np.abs(phi) + steep)
            value = float(f.size) * math.fsum(pi * (phi + rounded))
        return value, distance
