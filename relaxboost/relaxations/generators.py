"""Divergences from a prior distribution π, defined by a user's generator φ.

At margins u, the minimiser of <d, u> + c Σ π φ(d/π) over the simplex is d = π t(γ − u). Here t(x)
solves c φ'(t) = x, and γ is the threshold at which Σd = 1. A table of φ yields t(x) for all
examples. Errors of t(x) change the relaxed margin F(u) and the conjugate f* only to second order.
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
from relaxboost.relaxations import numerical
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.numerical import Programs
from relaxboost.relaxations.priors import check_prior

MIN_TABLE_ARGUMENT = 1e-12
"""The smallest argument t in the table of a generator φ(t).

A weight from the table is at least this number times its prior. At much smaller arguments, rounding
errors of φ exceed the differences between neighbouring values.
"""


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

    The relaxation is a `Custom`, whose bounds are numerical. A distribution takes a few
    milliseconds if a weight is given and φ is smooth, and requires a cone program otherwise.
    `KLPenalty`, `ChiSquarePenalty`, `HellingerPenalty`, `PowerPenalty` and their balls have closed
    forms.

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
    """The relaxation that `f_divergence` returns.

    If the generator φ is smooth, a table of its values replaces the solver.
    """

    family = Custom.family

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # Near the prior, the divergence is a tiny difference of larger terms in φ, so the rounding
        # errors of these terms are added to the bound.
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

    def reservation(self, witness: Any, d: Vector) -> str:
        table = isinstance(numerical.programs(self, d.size), _Table)
        return "" if table else super().reservation(witness, d)

    def _bind(self, m: int) -> Custom:
        bound = super()._bind(m)
        f = self._f
        known = vars(bound).setdefault("_programs", {})
        assert isinstance(f, _Divergence)
        if m > 1 and m not in known and f.kind == "weight":
            table = _Table(bound, m, f)
            if table.smooth:
                known[m] = table
        return bound


class _Table(Programs):
    """Minimisation problems of a divergence penalty, solved by a table of the slopes c φ'(t)."""

    def __init__(self, relaxation: Custom, m: int, f: _Divergence) -> None:
        super().__init__(relaxation, m)
        self._f = f
        self._pi = f.pi(m)
        # The table must not have m points. Otherwise a generator that accepts only vectors of m
        # entries would not raise an error below.
        size = 1 << 14
        t = np.geomspace(MIN_TABLE_ARGUMENT, 2.0 / self._pi.min(), size + (m == size))
        self._t = 0.5 * (t[1:] + t[:-1])
        self.smooth = False
        """Whether φ is smooth on (0, ∞) and the same for all examples."""
        point = cp.Variable(t.size)
        try:
            value = f.generator(point)
        # cvxpy raises these errors for a generator with an entry for each example.
        except (ValueError, IndexError):
            return
        if value.shape != point.shape:
            return
        with np.errstate(all="ignore"):
            point.value = t[::-1]
            turned = value.value
            point.value = t
            phi = value.value
            apart = np.diff(t)
            slope = np.diff(phi) / apart
            bend = np.diff(slope)
            rounding = 1e-14 * (np.abs(phi[1:-1]) + np.abs(slope[1:]) * t[1:-1]) / apart[:-1]
            # At a corner the slope changes more than two points before and two points after. The
            # direct neighbours do not count, because the corner may lie between two points.
            far = np.pad(bend, 2, constant_values=np.inf)
            near = np.maximum(far[:-4], far[4:])
            convex = (bend >= -rounding) & (bend <= 1.05 * near + rounding)
            self.smooth = bool(convex.all()) and np.allclose(turned[::-1], phi, 1e-12, 1e-12)
        # The slopes have the largest rounding errors at the smallest t. The slopes of a convex φ
        # increase with t, so each slope is reduced to the smallest slope at larger t.
        self._slope = float(f.size) * np.minimum.accumulate(slope[::-1])[::-1]

    def _weights(self, x: Vector, slope: Vector) -> Vector:
        return np.minimum(self._pi * np.interp(x, slope, self._t), 1.0)

    def _least(self, u: Vector, slope: Vector) -> tuple[Vector, float]:
        """Return the minimiser d = π t(γ − u) and the threshold γ for margins u.

        t(x) is the table argument at which the penalty, or the penalty plus an entropy, has slope
        x. `slope` contains the slopes at all table arguments.
        """
        from scipy.optimize import brentq

        def excess(gamma: float) -> float:
            return float(self._weights(gamma - u, slope).sum()) - 1.0

        # At these ends all t are at most 1, or all at least 1, up to roundings.
        ends = np.array([u.min(), u.max()]) + np.interp(1.0, self._t, slope)
        low, high = ends + np.array([-1e-6, 1e-6]) * (1.0 + np.abs(ends))
        # Without a change of sign c is so large that d is the prior up to roundings.
        gamma = low
        if excess(low) < 0.0 < excess(high):
            gamma = float(brentq(excess, low, high, xtol=1e-15, rtol=1e-14))
        # If φ is flat, t jumps at γ, and every t between is a minimiser too.
        off = 1e-14 * (1.0 + abs(gamma))
        below, above = (self._weights(gamma + s - u, slope) for s in (-off, off))
        more = float(above.sum() - below.sum())
        part = min(1.0, max(0.0, (1.0 - below.sum()) / more)) if more > 0.0 else 0.0
        d = below + part * (above - below)
        return d / d.sum(), gamma

    def margin(self, u: Vector) -> tuple[float, Vector, float, Vector]:
        d, gamma = self._least(u, self._slope)
        return float(d @ u) + self._relaxation.penalty(d), d, gamma, gamma - u

    def require(self) -> None:
        """Do nothing, because the bounds follow from tangents of φ and need no cone program."""

    def distribution(self, u: Vector, beta: float) -> Vector:
        return self._least(u + beta * np.log(self._pi), self._slope + beta * np.log(self._t))[0]

    def conjugate(self, theta: Vector) -> float:
        try:
            return super().conjugate(theta)
        # A solver may fail if f* is infinite. Then <d, θ> − f(d) grows along a ray.
        except InputError:
            steepest = np.arange(theta.size) == theta.argmax()
            near, far = (self._below(theta, self._pi + s * steepest) for s in (1e6, 1e9))
            if far > 1.2 * near > 0.0:
                return np.inf
            raise

    def _below(self, theta: Vector, d: Vector) -> float:
        return float(d @ theta) - self._relaxation.penalty(d)

    def conjugate_above(self, theta: Vector) -> float:
        # Each example contributes s t − φ(t) with s = θ/c, which is concave in t = d/π. The maximum
        # of such a term is at most the value at which a rising and a falling tangent meet.
        f = self._f
        pi = self._pi
        wanted = theta / float(f.size)
        d = self._weights(theta, self._slope)
        near = d / pi
        bend = np.maximum(np.gradient(self._slope / float(f.size), self._t), 1e-300)
        low = np.zeros(near.size)
        high = 1.0 / pi
        # Each column has the value, the slope and the rounding of a tangent, or zeros for none.
        rising = np.zeros((3, near.size))
        falling = np.zeros((3, near.size))
        best = np.full(near.size, -np.inf)
        # The maximiser may be an end of the interval. Otherwise the table yields a good start.
        starts = [near, high, np.full(near.size, MIN_TABLE_ARGUMENT)]
        t = near
        for _ in range(16):
            t = starts.pop() if starts else t
            phi, slope = f.value_and_slope(t)
            off = wanted - slope
            sizes = 1.0 + t + np.abs(phi) + (np.abs(wanted) + np.abs(slope)) / pi
            line = np.stack([wanted * t - phi, off, ROUNDINGS * sizes])
            rises = (off >= 0.0) & (t >= low)
            falls = ~(off >= 0.0) & (t <= high)
            low = np.where(rises, t, low)
            high = np.where(falls, t, high)
            rising = np.where(rises, line, rising)
            falling = np.where(falls, line, falling)
            least = _meeting(rising, falling, high - low)
            best = np.maximum(best, line[0])
            # Further tangents would gain no more than their roundings.
            if (least - best <= 2.0 * line[2]).all():
                break
            # Newton's step for the maximiser, or the middle if the step leaves the interval.
            with np.errstate(over="ignore"):
                moved = t + off / np.interp(t, self._t, bend)
            t = np.where((moved > low) & (moved < high), moved, 0.5 * (low + high))
        if not (np.isfinite(rising).all() and np.isfinite(falling).all()):
            return super().conjugate_above(theta)
        above = float(f.size) * math.fsum(pi * least)
        # If the tangents are far from the table's value, a cone solver may have a better bound.
        loose = above - self._below(theta, d) > 1e-9 * (1.0 + abs(above))
        return min(above, super().conjugate_above(theta)) if loose else above


def _meeting(rising: Vector, falling: Vector, width: Vector) -> Vector:
    """Return the height at which a rising and a falling tangent of a concave function meet.

    A tangent consists of the value and slope at its point of contact and a rounding error, which is
    0 if the tangent is missing. The points of contact are `width` apart.
    """
    left, right = (line[2] > 0.0 for line in (rising, falling))
    steep = np.maximum(rising[1] - falling[1], 1e-300)
    met = (falling[0] - rising[0] - falling[1] * width) / steep
    met = np.where(left, np.where(right, np.clip(met, 0.0, width), width), 0.0)
    low = np.where(left, rising[0] + rising[1] * met + rising[2], -np.inf)
    high = np.where(right, falling[0] + falling[1] * (met - width) + falling[2], -np.inf)
    return np.asarray(np.maximum(low, high))
