"""Binary entropies of the weights: the apparatus of SS09 for the log-loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive_size, spell
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations._projections import logistic_distribution
from relaxboost.relaxations.base import Traits, as_margins, box_around
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.k_or_fraction import WithK, resolve_k


@dataclass(frozen=True, repr=False)
class BinaryEntropy(WithK):
    """f(d) = (c/k) Σ x log x + (1 − x) log(1 − x) + log 2 with x = k d in [0, 1], inf elsewhere.

    Each term is the relative entropy of (x, 1 − x) to (1/2, 1/2). The conjugate is a log-loss,
    f*(θ) = (c/k) Σ log((1 + exp(θ/c))/2), and the relaxed margin

        F(u) = max over γ of γ − (c/k) Σ log((1 + exp((γ − u_i)/c))/2)

    is attained by d_i = σ((γ − u_i)/c)/k: a smooth soft margin. With H(p) the binary entropy in
    nats and `offset(m)` = (c m/k) log 2,

        AvgMin_k(u) − (c m/k) H(k/m) <= F(u) − offset(m) <= AvgMin_k(u),

    for f − offset(m) on the simplex is −(c/k) Σ H(x_i), where Σ x = k; so for c -> 0 it tends to
    `Capped(k)`, the constant offset apart. `BinaryEntropy(m)` leaves the uniform distribution only.

    Parameters
    ----------
    k : int, float or Fraction, optional
        1 <= k <= m, kept exactly.
    weight : int, float or Fraction
        c, in [1e-100, 1e100]; 1 by default.
    fraction : int, float or Fraction, optional
        In place of k: k = fraction · m once the game gives m, as for `Capped`.

    Raises
    ------
    InputError
        If not exactly one of k and fraction is given, or something is out of range: k < 1, k > m
        (when the game is declared), fraction outside (0, 1], the weight.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 ("replace the relative entropy penalty ... with binary
    entropies of each of the components"), Thm 7, Appendix B.
    """

    family = "relaxboost.BinaryEntropy"

    k: Any = None
    weight: Any = 1
    fraction: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        weight = positive_size("BinaryEntropy", "weight", self.weight)
        object.__setattr__(self, "weight", weight)

    def __repr__(self) -> str:
        if self.k is not None:
            return f"BinaryEntropy(k={spell(self.k)}, weight={spell(self.weight)})"
        return f"BinaryEntropy(weight={spell(self.weight)}, fraction={self.fraction!r})"

    def resolve(self, m: int) -> BinaryEntropy:
        return BinaryEntropy(resolve_k(repr(self), self.k, self.fraction, m), self.weight)

    @property
    def traits(self) -> Traits:
        """Strongly convex, symmetric and min f = 0; (ii) and (iii) of SS09 Thm 7 fail."""
        return Traits(smooth=True, symmetric=True, zero_minimum=True)

    @property
    def _c(self) -> float:
        return float(self.weight)

    def offset(self, m: int) -> float:
        """Return (c m/k) log 2, by which F exceeds the soft margin AvgMin_k as c -> 0."""
        return float(self.weight * m / self.exact_k) * math.log(2.0)

    def penalty(self, d: Vector) -> float:
        """Return (c/k) Σ x log x + (1 − x) log(1 − x) + log 2; x up to four roundings above 1."""
        x = self.double_k * np.asarray(d, dtype=np.float64)
        if not (x >= 0.0).all() or x.max(initial=0.0) > 1.0 + 8.0 * UNIT:
            return math.inf
        y = np.maximum(1.0 - x, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(x > 0.0, x * np.log(x), 0.0) + np.where(y > 0.0, y * np.log(y), 0.0)
        return self._c / self.double_k * (float(terms.sum()) + x.size * math.log(2.0))

    def conjugate(self, theta: Vector) -> float:
        """Return (c/k) Σ log((1 + exp(θ/c))/2)."""
        with np.errstate(over="ignore"):
            losses = np.logaddexp(0.0, np.asarray(theta, dtype=np.float64) / self._c)
        return self._c / self.double_k * float(np.sum(losses - math.log(2.0)))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and d_i = σ((γ − u_i)/c)/k."""
        u = as_margins(u, self)
        d, gamma = logistic_distribution(u, self._c, self.resolve(u.size).double_k)
        return gamma - self.conjugate(gamma - u), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return d = x/k with (c + β) log x − c log(1 − x) = γ − u and Σ x = k."""
        temperature, k = self._c + beta, self.double_k
        if k > u.size:
            self.resolve(u.size)  # which says what is wrong
        return logistic_distribution(u, temperature, k, max(self._c / temperature, 1e-300))[0]

    def witness(self, u: Vector) -> Witness:
        """Return γ with Σ σ((γ − u_i)/c) = k; for k = m, where there is none, a large one."""
        u = as_margins(u, self)
        return Witness(logistic_distribution(u, self._c, self.resolve(u.size).double_k)[1])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − (c/k) Σ log((1 + exp((γ − u)/c))/2), rounded downwards; for every γ.

        c log(1 + exp(z/c)) is evaluated as [z]_+ + c log(1 + exp(−|z|/c)).
        """
        gamma = witness.gamma
        if not math.isfinite(gamma):
            return -math.inf
        u = np.asarray(u, dtype=np.float64)
        with np.errstate(all="ignore"):
            c, z = Interval(self.weight), Interval(gamma) - u
            rest = (-z.abs() / c).softplus().sum() - float(u.size) * Interval(2.0).log()
            loss = z.positive().sum() + c * rest
            return (Interval(gamma) - loss / Interval(self.exact_k)).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        x = self.double_k * d
        entropies = cp.sum(cp.entr(x) + cp.entr(1.0 - x))
        return self._c / self.double_k * (d.shape[0] * math.log(2.0) - entropies), []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        losses = cp.sum(cp.logistic(x / self._c))
        return self._c / self.double_k * (losses - x.shape[0] * math.log(2.0)), []

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return γ − f*(γ − u), f* being non-decreasing."""
        value, constraints = self.cvxpy_conjugate(gamma - u)
        return gamma - value, constraints

    def describe(self, m: int) -> dict[str, Any]:
        return {
            "kind": "binary-entropy",
            "k": number(self.exact_k),
            "weight": number(self.weight),
        }

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        return {"gamma": number(found.gamma)}

    def curvature(self, m: int) -> float:
        """Return c: the Hessian is diagonal with c / (d_i (1 − k d_i)) >= c / d_i."""
        return self._c

    def repair(self, d: Vector) -> Vector:
        return Capped(self.exact_k).repair(d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (f(d') rounded upwards, distance) for d' = (1 − t) d/Σd + t/m.

        t is 0 if no x_i = k d_i/Σd exceeds 1, else (max x − 1)/(max x − k/m), rounded upwards.
        """
        k, m = self.exact_k, d.size
        even = Interval(k / m)
        with np.errstate(all="ignore"):
            x = Interval(k) * np.asarray(d, dtype=np.float64) / Interval(*total)
            top = x.max().up
            distance = 0.0
            if top > 1.0:
                room = (top - even).down
                t = ((Interval(top) - 1.0) / Interval(room, math.inf)).up if room > 0.0 else 1.0
                t = min(t, 1.0)
                distance = (t * (x - even).abs().sum() / Interval(k)).up
                x = (Interval(1.0) - t) * x + t * even
            return self._largest(x), distance

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        with np.errstate(all="ignore"):
            x = Interval(self.exact_k) * box_around(d, total, distance)
            return self._largest(x) if x.max().up <= 1.0 else math.inf

    def _largest(self, x: Interval) -> float:
        """Return f(x/k) at the worst point of these intervals, cut to [0, 1], rounded upwards."""
        # Each term is convex, so it is largest at an end.
        ends = [_terms(np.clip(end, 0.0, 1.0)) for end in (x.lower, x.upper)]
        value = Interval(np.maximum(ends[0].upper, ends[1].upper)).sum()
        value = value + float(x.lower.size) * Interval(2.0).log()
        return (Interval(self.weight / self.exact_k) * value).up


def _terms(x: Vector) -> Interval:
    """Enclose x log x + (1 − x) log(1 − x)."""
    p, q = Interval(x), Interval(1.0) - x
    q = q.positive()
    first, second = p * p.log(), q * q.log()
    zero = Interval(np.zeros_like(x))
    # 0 log 0 = 0; and y log y <= 0 on [0, 1], if only the left end of y is 0.
    pieces = [
        Interval(np.where(edge, zero.lower, z.lower), np.where(edge, zero.upper, z.upper))
        for z, edge in ((first, x == 0.0), (second, q.lower <= 0.0))
    ]
    return pieces[0] + pieces[1]
