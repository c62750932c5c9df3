"""The relaxed margin under a power of the entries: `power` without smoothing.

With s = |g − min u| the entries are t_i = ((g − u_i)_+ / κ_i)^{1/q} for q > 0, which grow with s
from nothing, and t_i = ((u_i − g) / κ_i)^{1/q} for q < 0, which fall; d is t up to scale. The three
uses differ in the one equation for s: the sum Σt is given (a penalty), the ratio of the energy
of t to a power of its sum is (a ball), or the energy itself is (a norm).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost.compiled import njit
from relaxboost.projections.roots import decreasing_root

Vector = NDArray[np.float64]


@njit()
def _sums(v: Vector, kappa: Vector, s: float, q: float, t: Vector) -> tuple[float, float, float]:
    """Fill `t` and return Σt, dΣt/ds and Σ t h = Σ κ t^{q+1}, with h = |g − u|, v = u − min u."""
    total, slope, energy = 0.0, 0.0, 0.0
    stride = 0 if kappa.shape[0] == 1 else 1
    sign = 1.0 if q > 0.0 else -1.0
    for i in range(v.shape[0]):
        h = s - sign * v[i]
        if h <= 0.0:
            t[i] = 0.0
            continue
        ratio = h / kappa[stride * i]
        x = ratio if q == 1.0 else ratio ** (1.0 / q)
        t[i] = x
        total += x
        slope += x / (q * h)
        energy += x * h
    return total, slope, energy


class _Scan:
    """The sums as functions of log s, for one vector of margins."""

    def __init__(self, u: Vector, kappa: Vector, q: float) -> None:
        self.low = float(u.min())
        self.v, self.kappa, self.q = u - self.low, kappa, q
        self.t = np.empty(u.size)
        self.total = self.energy = math.nan
        spread = float(self.v.mean())
        self.start = math.log(spread) if spread > 0.0 else 0.0

    def look(self, x: float) -> tuple[float, float, float, float]:
        """Return log Σt, log Σκt^{q+1} and their derivatives in x = log s."""
        s = math.exp(x)
        self.total, slope, self.energy = _sums(self.v, self.kappa, s, self.q, self.t)
        grown = (1.0 + 1.0 / self.q) * self.total  # d Σ t h / ds
        return (
            math.log(self.total),
            math.log(self.energy),
            s * slope / self.total,
            s * grown / self.energy,
        )

    def face(self) -> Vector:
        """Return the d of extreme energy among those on the least margins alone."""
        d = np.where(self.v == 0.0, np.power(self.kappa, -1.0 / self.q), 0.0)
        return d / d.sum()

    def finish(self, x: float) -> tuple[float, float, Vector]:
        """Return (g, μ, d) at x = log s: h = μ κ d^q, so μ = (Σt)^q."""
        s = math.exp(x)
        total = self.total
        g = self.low + s if self.q > 0.0 else self.low - s
        return g, total**self.q, self.t / self.t.sum()


def power_penalty_margin(
    u: Vector, kappa: Vector, q: float, mu: float
) -> tuple[float, float, Vector]:
    """Return (g, μ, d): d minimises <d, u> + μ Σ κ_i φ(d_i) over the simplex, g is its multiplier.

    See `power.power_penalty` for the parameters.
    """
    scan = _Scan(u, kappa, q)
    sign = 1.0 if q > 0.0 else -1.0

    def miss(x: float) -> tuple[float, float]:
        total, _, slope, _ = scan.look(x)
        return sign * (math.log(mu) / q - total), -sign * slope

    x = decreasing_root(miss, scan.start, 2.0, 1e-15)
    g, _, d = scan.finish(x)
    return g, mu, d


def power_ball_margin(
    u: Vector, kappa: Vector, q: float, bound: float
) -> tuple[float, float, Vector]:
    """Return (g, μ, d): d of bounded energy minimises <d, u> over the simplex.

    μ is the multiplier of the bound in the normalisation of `power`, 0 where it does not bind; see
    `power.power_ball` for the parameters.
    """
    scan = _Scan(u, kappa, q)
    sign = 1.0 if q > 0.0 else -1.0
    face = scan.face()
    size = math.log(float((kappa * np.power(face, q + 1.0)).sum()))
    if sign * (size - bound) <= 0.0:
        return scan.low, 0.0, face

    def miss(x: float) -> tuple[float, float]:
        total, energy, slope, grown = scan.look(x)
        return (
            sign * (energy - (q + 1.0) * total - bound),
            sign * (grown - (q + 1.0) * slope),
        )

    return scan.finish(decreasing_root(miss, scan.start, 2.0, 1e-15))


def norm_penalty_margin(u: Vector, kappa: Vector, q: float, c: float) -> tuple[float, Vector]:
    """Return (γ, d): d minimises <d, u> + c (Σ κ_i d_i^p)^{1/p} over the simplex, to the value γ.

    p = q + 1 > 1, c > 0. The dual norm of [γ − u]_+ is c.
    """
    scan = _Scan(u, kappa, q)

    def miss(x: float) -> tuple[float, float]:
        _, energy, _, grown = scan.look(x)
        return math.log(c) / q - energy / (q + 1.0), -grown / (q + 1.0)

    g, _, d = scan.finish(decreasing_root(miss, scan.start, 2.0, 1e-15))
    return g, d
