"""The end p = inf of the norms: caps, and a penalty on the largest weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.errors import InputError
from relaxboost.intervals import Interval
from relaxboost.projections.plateau import plateau_distribution, plateau_margin
from relaxboost.relaxations.base import LinearForm, Relaxation, Vector, Witness, as_margins
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.caps import Caps
from relaxboost.relaxations.sum_norm import FinitePenalty, hinge, prepare, show
from relaxboost.relaxations.vectors import check_length, positive_size, positive_vector


def max_ball(radius: Any, weights: Any) -> Relaxation:
    """Return the caps d_i <= radius / a_i."""
    r = positive_size("NormBall", "radius", radius)
    a = positive_vector("NormBall", "weights", weights)
    if a is not None:
        least = 1 / sum((1 / each for each in a), Fraction(0))
        if r < least * (1 - Fraction(1, 10**12)):
            raise InputError(
                f"{show('NormBall', 'math.inf', r, a)} misses the simplex: the smallest radius "
                f"that meets it here is {float(least):.12g}"
            )
        return Caps([max(r, least) / each for each in a])
    k = 1 / r
    if isinstance(radius, float) and abs(k - round(k)) <= Fraction(1, 10**12) * k:
        k = Fraction(round(k))  # 1/57 as a float means the cap of Capped(57)
    return Capped(k=max(k, Fraction(1)))  # no entry exceeds 1: a larger radius changes nothing


@dataclass(frozen=True, repr=False)
class MaxPenalty(FinitePenalty):
    """f(d) = c max_i a_i |d_i|, which is ``NormPenalty(math.inf, c, weights)``.

    F(u) is the γ with Σ [γ − u_i]_+ / a_i = c, water poured over the margins; f* is the indicator
    of Σ |θ_i| / a_i <= c.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2.
    """

    weight: Any
    weights: Any = None

    def __post_init__(self) -> None:
        prepare(self, "NormPenalty", "weight")

    def __repr__(self) -> str:
        return show("NormPenalty", "math.inf", self.weight, self.weights)

    def resolve(self, m: int) -> MaxPenalty:
        """Return itself; raises InputError if the weights do not fit `m`."""
        check_length("NormPenalty", "weights", self.weights, m)
        return self

    @property
    def _given(self) -> Vector | None:
        return None if self.weights is None else self.factors

    def norm(self, d: Interval) -> Interval:
        """Return max_i a_i |d_i|."""
        return (d.abs() * self.enclosed).max()

    def conjugate(self, theta: Vector) -> float:
        """Return 0 where Σ |θ_i| / a_i <= c (1 + 1e-12), else inf."""
        size = float((np.abs(theta) / self.factors).sum())
        return 0.0 if size <= float(self.weight) * (1.0 + 1e-12) else math.inf

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and the minimiser that weighs the examples under water like 1 / a_i."""
        u = as_margins(u, self)
        return plateau_margin(u, float(self.weight), self._given)

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d) + β Σ d log d, flat where the cap binds."""
        u = as_margins(u, self)
        return plateau_distribution(u, beta, float(self.weight), self._given)

    def witness(self, u: Vector) -> Witness:
        """Return γ = F(u)."""
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return a bound valid for every γ, rounded downwards.

        As for `NormPenalty`: γ + (c − Σ [γ − u_i]_+ / a_i) ‖d‖, at the worse extreme of the norm.
        """
        if not math.isfinite(witness.gamma):
            return -math.inf
        u = as_margins(u, self)
        one = Interval(np.ones(u.size))
        spare = Interval(self.weight) - (hinge(witness.gamma, u) / self.enclosed).sum()
        least, largest = 1.0 / (one / self.enclosed).sum(), (one * self.enclosed).max()
        worth = min((spare * least).down, (spare * largest).down)
        return (Interval(witness.gamma) + worth).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return c max_i a_i |d_i|."""
        import cvxpy as cp

        a = self.factors * np.ones(d.shape[0])
        size = d if d.is_nonneg() else cp.abs(d)
        return float(self.weight) * cp.max(cp.multiply(a, size)), []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to Σ |x_i| / a_i <= c."""
        import cvxpy as cp

        inverse = 1.0 / (self.factors * np.ones(x.shape[0]))
        return 0.0, [inverse @ cp.abs(x) <= float(self.weight)]

    def linear_form(self, m: int) -> LinearForm:
        """Return the epigraph: cost c on a bound z of all a_i d_i."""
        from scipy.sparse import csr_array, diags_array, hstack

        a = self.factors * np.ones(m)
        rows = hstack([diags_array(a), csr_array(np.full((m, 1), -1.0))], format="csr")
        cost = np.append(np.zeros(m), float(self.weight))
        return LinearForm(
            cost,
            np.zeros(m + 1),
            np.full(m + 1, np.inf),
            rows,
            np.full(m, -np.inf),
            np.zeros(m),
        )
