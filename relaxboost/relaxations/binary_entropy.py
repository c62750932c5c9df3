"""The binary-entropy penalty, whose conjugate is a log-loss."""

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
from relaxboost.relaxations._projections.binary_entropy import logistic_distribution
from relaxboost.relaxations.base import Traits, as_margins, box_around
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.k_or_fraction import WithK, resolve_k


@dataclass(frozen=True, repr=False)
class BinaryEntropy(WithK):
    """The penalty f(d) = (c/k) Σ (x log x + (1 − x) log(1 − x) + log 2) with x = k d.

    The domain is 0 <= x <= 1. Each term is the relative entropy of (x, 1 − x) to (1/2, 1/2). The
    conjugate is the log-loss f*(θ) = (c/k) Σ log((1 + exp(θ/c))/2). The relaxed margin at margins u

        F(u) = max over γ of γ − (c/k) Σ log((1 + exp((γ − u_i)/c))/2)

    is a smooth soft margin. Its minimiser is d_i = σ((γ − u_i)/c)/k with the logistic function σ.
    Let AvgMin_k(u) be the mean of the k smallest margins, H(p) the binary entropy in nats, and
    `offset(m)` = (c m/k) log 2. Then

        AvgMin_k(u) − (c m/k) H(k/m) <= F(u) − offset(m) <= AvgMin_k(u),

    because f − offset(m) on the simplex is −(c/k) Σ H(x_i) with Σ x = k. So f − offset(m) tends to
    the relaxation `Capped(k)` for c -> 0. For k = m only the uniform distribution is in the domain.

    Parameters
    ----------
    k : int, float or Fraction, optional
        The number k in [1, m], kept exactly. No weight d_i exceeds 1/k.
    weight : int, float or Fraction
        The factor c of the penalty, in [1e-100, 1e100]. The default is 1.
    fraction : int, float or Fraction, optional
        The fraction k/m in (0, 1], instead of k.

    Raises
    ------
    InputError
        Unless exactly one of k and fraction is given, or if a parameter is out of its range. The
        bound k <= m is checked when the game is declared.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 ("replace the relative entropy penalty ... with binary
    entropies of each of the components"), Thm 7, Appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.BinaryEntropy(k=2).relaxed_margin(np.array([0.0, 1.0, 2.0, 3.0]))
    >>> d.round(2).tolist()
    [0.41, 0.31, 0.19, 0.09]
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
        return Traits(smooth=True, symmetric=True, zero_minimum=True)

    @property
    def _c(self) -> float:
        return float(self.weight)

    def offset(self, m: int) -> float:
        """Return the constant term (c m/k) log 2 of the penalty."""
        return float(self.weight * m / self.exact_k) * math.log(2.0)

    def penalty(self, d: Vector) -> float:
        x = self.double_k * np.asarray(d, dtype=np.float64)
        if not (x >= 0.0).all() or x.max(initial=0.0) > 1.0 + 8.0 * UNIT:
            return math.inf
        y = np.maximum(1.0 - x, 0.0)  # Here x exceeds 1 only by rounding errors.
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(x > 0.0, x * np.log(x), 0.0) + np.where(y > 0.0, y * np.log(y), 0.0)
        return self._c / self.double_k * (float(terms.sum()) + x.size * math.log(2.0))

    def conjugate(self, theta: Vector) -> float:
        with np.errstate(over="ignore"):
            losses = np.logaddexp(0.0, np.asarray(theta, dtype=np.float64) / self._c)
        return self._c / self.double_k * float(np.sum(losses - math.log(2.0)))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        d, gamma = logistic_distribution(u, self._c, self.resolve(u.size).double_k)
        return gamma - self.conjugate(gamma - u), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        # The minimiser is d = x/k with (c + β) log x − c log(1 − x) = γ − u and Σx = k.
        temperature = self._c + beta
        k = self.double_k
        if k > u.size:
            self.resolve(u.size)  # This raises the error.
        # The share must be positive, even if c/(c + β) underflows.
        return logistic_distribution(u, temperature, k, max(self._c / temperature, 1e-300))[0]

    def witness(self, u: Vector) -> Witness:
        # The best γ satisfies Σ σ((γ − u_i)/c) = k. For k = m there is none, and γ is large.
        u = as_margins(u, self)
        return Witness(logistic_distribution(u, self._c, self.resolve(u.size).double_k)[1])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # γ − (c/k) Σ log((1 + exp((γ − u)/c))/2) is a lower bound on F(u) for every γ.
        gamma = witness.gamma
        if not math.isfinite(gamma):
            return -math.inf
        u = np.asarray(u, dtype=np.float64)
        with np.errstate(all="ignore"):
            c = Interval(self.weight)
            z = Interval(gamma) - u
            # Without overflow, c log(1 + exp(z/c)) is [z]_+ + c log(1 + exp(−|z|/c)).
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
        # f* is non-decreasing, so x = γ − u is the best x >= γ − u.
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
        # The diagonal entries of the Hessian are c / (d_i (1 − k d_i)) >= c / d_i.
        return self._c

    def repair(self, d: Vector) -> Vector:
        return Capped(self.exact_k).repair(d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # d' is (1 − t) d/Σd + t/m, for the least share t >= 0 that leaves no entry above 1/k.
        k = self.exact_k
        m = d.size
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
        """Return an upper bound on f(x/k) over a box of points x in [0, 1]."""
        # Each term is convex, so it is largest at an end of its interval.
        ends = [_terms(np.clip(end, 0.0, 1.0)) for end in (x.lower, x.upper)]
        value = Interval(np.maximum(ends[0].upper, ends[1].upper)).sum()
        value = value + float(x.lower.size) * Interval(2.0).log()
        return (Interval(self.weight / self.exact_k) * value).up


def _terms(x: Vector) -> Interval:
    """Enclose x log x + (1 − x) log(1 − x) for each entry x in [0, 1]."""
    p = Interval(x)
    q = (Interval(1.0) - x).positive()
    # The term is 0 log 0 = 0, or at most 0 if only the left end of the interval is 0.
    pieces = [
        Interval(np.where(edge, 0.0, z.lower), np.where(edge, 0.0, z.upper))
        for z, edge in ((p * p.log(), x == 0.0), (q * q.log(), q.lower <= 0.0))
    ]
    return pieces[0] + pieces[1]
