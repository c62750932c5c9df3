"""A divergence from a prior by its generator, for those that have no closed form here.

The d of least <d, u> + Σ c π φ(d/π) over the simplex is π t(γ − u), where t(x) is the t with
c φ'(t) = x, and γ the threshold at which they sum to one. One table of φ gives t for all examples;
what it is off by counts only squared, in F and in f*.
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
from relaxboost.relaxations import numerical
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.numerical import Programs
from relaxboost.relaxations.priors import check_prior

_SIZE, _LEAST = 1 << 14, 1e-12
"""Points of a table, and the least t."""
_LOOKS = 16
"""Tangents of φ for a bound on its conjugate, by Newton's rule or between two of them."""
_LOOSE = 1e-9
"""How far tangents may be from the table without asking a cone solver too."""
_ROUNDED = 2.0**-50
"""What a value of φ may be off by, for each unit of 1 + t + |φ|."""


def f_divergence(
    generator: Callable[[Any], Any],
    *,
    weight: Any = None,
    radius: Any = None,
    prior: Any = None,
    name: str | None = None,
) -> Custom:
    """Return the relaxation c Σ π φ(d/π), or the indicator of Σ π φ(d/π) <= r, of a generator φ.

    ::

        js = lambda t: cp.kl_div(t, (1 + t) / 2) + cp.kl_div(1, (1 + t) / 2)  # Jensen-Shannon
        rb.f_divergence(js, weight=0.1)

    It is a `Custom`, with numerical brackets. A distribution costs some milliseconds where there is
    a weight and φ is smooth, else a cone solve. `KLPenalty`, `ChiSquarePenalty`,
    `HellingerPenalty`, `PowerPenalty` and their balls have closed forms.

    Parameters
    ----------
    generator : callable
        φ, convex with φ(1) = 0: takes a cvxpy expression t of shape (m,), and returns φ of each
        entry as a convex expression of that shape.
    weight, radius : int, float or Fraction > 0
        c or r; exactly one of them.
    prior : vector of m numbers > 0, optional
        π. They sum to one within 1e-9, and are divided by their sum; by default uniform.
    name : str, optional
        For messages and reports.

    Raises
    ------
    InputError
        If a parameter is out of its range; and when a game is declared, if φ(1) is not 0, or what
        φ returns has another shape or is not convex by cvxpy's rules.

    References
    ----------
    Csiszar (1967) for f-divergences; Shalev-Shwartz & Singer (2009), Sec. 6.
    """
    if not callable(generator):
        raise InputError(
            f"f_divergence needs its generator to be a function of a cvxpy expression, such as "
            f"cp.square, got {generator!r}"
        )
    if (weight is None) == (radius is None):
        raise InputError("f_divergence needs either weight or radius, and not both")
    given, kind = (radius, "radius") if weight is None else (weight, "weight")
    size = exact("f_divergence", kind, given)
    if size <= 0:
        raise InputError(f"f_divergence needs {kind} > 0, got {spell(size)}")
    kept = check_prior("f_divergence", prior)
    if kept is not None and 0 in kept:
        raise InputError("f_divergence needs every entry of prior > 0; leave those examples out")
    if name is None:
        about = getattr(generator, "__qualname__", repr(generator))
        name = f"f_divergence({about}, {kind}={spell(size)}" + ", prior" * (kept is not None) + ")"
    return _FDivergence(f=_Divergence(generator, kind, size, kept), name=name)


@dataclass(frozen=True)
class _Divergence:
    """The function of a cvxpy variable that `Custom` asks for."""

    generator: Callable[[Any], Any]
    kind: str
    size: Fraction
    prior: tuple[Any, ...] | None

    def pi(self, m: int) -> Vector:
        """Return the prior in doubles."""
        pi = np.full(m, 1.0 / m) if self.prior is None else np.array([float(p) for p in self.prior])
        return np.asarray(pi / pi.sum())

    def value_and_slope(self, t: Vector) -> tuple[Vector, Vector]:
        """Return φ and a subgradient of it at each entry."""
        point = cp.Variable(t.size)
        made = self.generator(point)
        point.value = t
        with np.errstate(all="ignore"):
            slope = made.grad[point]
            return np.asarray(made.value), np.asarray(slope.sum(axis=0)).ravel()

    def __call__(self, d: Any) -> tuple[Any, list[Any]]:
        m = d.shape[0]
        if self.prior is not None and len(self.prior) != m:
            raise InputError(f"prior has {len(self.prior)} entries")
        pi = self.pi(m)
        value = self.generator(cp.Constant(np.ones(m)))
        if not isinstance(value, cp.Expression) or value.shape != (m,):
            returned = getattr(value, "shape", repr(value))
            raise InputError(
                f"the generator must return a cvxpy expression of shape ({m},), one number for "
                f"each entry of t, and returned {returned}"
            )
        at_one = np.asarray(value.value)
        if not abs(at_one).max() <= 1e-9:
            raise InputError(
                f"a generator is zero at t = 1, and this one is {at_one[np.argmax(abs(at_one))]:g};"
                " subtract that"
            )
        divergence = pi @ self.generator(cp.multiply(1.0 / pi, d))
        if self.kind == "radius":
            return 0.0, [divergence <= float(self.size)]
        return float(self.size) * divergence, []


class _FDivergence(Custom):
    """A `Custom` whose programs are a table where one will do."""

    family = Custom.family

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return f as computed and what its terms, which cancel near π, are rounded by."""
        value, distance = super().penalty_bound(d, total)
        f = self._f
        assert isinstance(f, _Divergence)
        if f.kind == "weight" and math.isfinite(value) and distance == 0.0:
            pi = f.pi(d.size)
            t = d / (0.5 * (total[0] + total[1])) / pi
            phi, slope = f.value_and_slope(t)
            steep = np.nan_to_num(t * np.abs(slope), posinf=0.0)
            rounded = _ROUNDED * (1.0 + t + np.abs(phi) + steep)
            value = float(f.size) * math.fsum(pi * (phi + rounded))
        return value, distance

    def reservation(self, witness: Any, d: Vector) -> str:
        table = isinstance(numerical.programs(self, d.size), _Table)
        return "" if table else super().reservation(witness, d)

    def _bind(self, m: int) -> Custom:
        bound, f = super()._bind(m), self._f
        known = vars(bound).setdefault("_programs", {})
        assert isinstance(f, _Divergence)
        if m > 1 and m not in known and f.kind == "weight":
            table = _Table(bound, m, f)
            if table.smooth:
                known[m] = table
        return bound


class _Table(Programs):
    """What `Programs` derives by a solver, from c φ' at many t."""

    def __init__(self, relaxation: Custom, m: int, f: _Divergence) -> None:
        super().__init__(relaxation, m)
        self._f, self._pi = f, f.pi(m)
        t = np.geomspace(_LEAST, 2.0 / self._pi.min(), _SIZE + (m == _SIZE))
        self._t = 0.5 * (t[1:] + t[:-1])
        self.smooth = False
        """Whether φ is the same function of every entry, without corners or ends."""
        point = cp.Variable(t.size)
        try:
            value = f.generator(point)
        except (ValueError, IndexError):  # cvxpy's, of a generator with an entry for each example
            return
        if value.shape != point.shape:
            return
        with np.errstate(all="ignore"):
            point.value = t[::-1]
            turned = value.value
            point.value = t
            phi, apart = value.value, np.diff(t)
            slope = np.diff(phi) / apart
            bend = np.diff(slope)
            rounding = 1e-14 * (np.abs(phi[1:-1]) + np.abs(slope[1:]) * t[1:-1]) / apart[:-1]
            far = np.pad(bend, 2, constant_values=np.inf)  # a corner may be between two points
            near = np.maximum(far[:-4], far[4:])
            convex = (bend >= -rounding) & (bend <= 1.05 * near + rounding)
            self.smooth = bool(convex.all()) and np.allclose(turned[::-1], phi, 1e-12, 1e-12)
        # Rounding is largest where t is least: no slope may be above those at larger t.
        self._slope = float(f.size) * np.minimum.accumulate(slope[::-1])[::-1]

    def _answer(self, x: Vector, slope: Vector) -> Vector:
        return np.minimum(self._pi * np.interp(x, slope, self._t), 1.0)

    def _least(self, u: Vector, slope: Vector) -> tuple[Vector, float]:
        """Return the minimiser over the simplex, and γ."""
        from scipy.optimize import brentq

        def excess(gamma: float) -> float:
            return float(self._answer(gamma - u, slope).sum()) - 1.0

        ends = np.array([u.min(), u.max()]) + np.interp(1.0, self._t, slope)
        low, high = ends + np.array([-1e-6, 1e-6]) * (1.0 + np.abs(ends))
        gamma = low  # where c is so large that d = π to rounding
        if excess(low) < 0.0 < excess(high):
            gamma = float(brentq(excess, low, high, xtol=1e-15, rtol=1e-14))
        # Where φ is flat t jumps, and what lies between is as good.
        off = 1e-14 * (1.0 + abs(gamma))
        below, above = (self._answer(gamma + s - u, slope) for s in (-off, off))
        more = float(above.sum() - below.sum())
        part = min(1.0, max(0.0, (1.0 - below.sum()) / more)) if more > 0.0 else 0.0
        d = below + part * (above - below)
        return d / d.sum(), gamma

    def margin(self, u: Vector) -> tuple[float, Vector, float, Vector]:
        d, gamma = self._least(u, self._slope)
        return float(d @ u) + self._relaxation.penalty(d), d, gamma, gamma - u

    def require(self) -> None:
        """Ask for nothing: bounds are by tangents of φ, which need no cone program."""

    def distribution(self, u: Vector, beta: float) -> Vector:
        return self._least(u + beta * np.log(self._pi), self._slope + beta * np.log(self._t))[0]

    def conjugate(self, theta: Vector, everywhere: bool = True) -> float:
        if everywhere:
            try:
                return super().conjugate(theta)
            except InputError:  # a solver fails most often where f* is infinite
                rays = [
                    self._pi + s * (np.arange(theta.size) == theta.argmax()) for s in (1e6, 1e9)
                ]
                near, far = (float(d @ theta) - self._relaxation.penalty(d) for d in rays)
                if far > 1.2 * near > 0.0:
                    return np.inf
                raise
        d = self._answer(theta, self._slope)
        return float(d @ theta) - self._relaxation.penalty(d)

    def conjugate_above(self, theta: Vector) -> float:
        """Return the sum of what two tangents of φ allow, below its maximiser and above it.

        At any t between, s t − φ is nowhere above the larger of them, as one rises and one falls.
        """
        f, pi = self._f, self._pi
        wanted, near = theta / float(f.size), self._answer(theta, self._slope) / pi
        bend = np.maximum(np.gradient(self._slope / float(f.size), self._t), 1e-300)
        ends = np.zeros(near.size), 1.0 / pi
        first = [np.full(near.size, _LEAST), ends[1], near]  # it may be at an end
        rising, falling = (np.zeros((3, near.size)) for _ in ends)  # value, slope, rounding
        t, best = near, np.full(near.size, -np.inf)
        for look in range(_LOOKS):
            t = first[look] if look < len(first) else t
            phi, slope = f.value_and_slope(t)
            off = wanted - slope
            sizes = 1.0 + t + np.abs(phi) + (np.abs(wanted) + np.abs(slope)) / pi
            line, up = np.stack([wanted * t - phi, off, _ROUNDED * sizes]), off >= 0.0
            rises, falls = up & (t >= ends[0]), ~up & (t <= ends[1])
            ends = np.where(rises, t, ends[0]), np.where(falls, t, ends[1])
            rising, falling = np.where(rises, line, rising), np.where(falls, line, falling)
            least, best = _meeting(rising, falling, ends[1] - ends[0]), np.maximum(best, line[0])
            if (least - best <= 2.0 * line[2]).all():
                break  # further tangents would gain but their rounding
            with np.errstate(over="ignore"):  # beyond the ends it is halfway between them
                moved = t + off / np.interp(t, self._t, bend)
            inside = (moved > ends[0]) & (moved < ends[1])
            t = np.where(inside, moved, 0.5 * (ends[0] + ends[1]))
        if not (np.isfinite(rising).all() and np.isfinite(falling).all()):
            return super().conjugate_above(theta)
        above = float(f.size) * math.fsum(pi * least)
        loose = above - self.conjugate(theta, everywhere=False) > _LOOSE * (1.0 + abs(above))
        return min(above, super().conjugate_above(theta)) if loose else above


def _meeting(rising: Vector, falling: Vector, width: Vector) -> Vector:
    """Return what two tangents, `width` apart, allow at most: value, slope and rounding of each."""
    left, right = (line[2] > 0.0 for line in (rising, falling))  # those that there are
    steep = np.maximum(rising[1] - falling[1], 1e-300)
    met = (falling[0] - rising[0] - falling[1] * width) / steep
    met = np.where(left, np.where(right, np.clip(met, 0.0, width), width), 0.0)
    low = np.where(left, rising[0] + rising[1] * met + rising[2], -np.inf)
    high = np.where(right, falling[0] + falling[1] * (met - width) + falling[2], -np.inf)
    return np.asarray(np.maximum(low, high))
