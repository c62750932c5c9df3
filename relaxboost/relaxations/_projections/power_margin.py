"""The relaxed margin under a power of the entries: `power` without smoothing.

With s = |g − min u| the entries are t_i = ((g − u_i)_+ / κ_i)^{1/q} for q > 0, which grow with s
from nothing, and t_i = ((u_i − g) / κ_i)^{1/q} for q < 0, which fall; d is t up to scale. The three
uses differ in the one equation for s: the sum Σt is given (a penalty), the ratio of the energy
of t to a power of its sum is (a ball), or the energy itself is (a norm).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.roots import decreasing_root, falling_root
from relaxboost._core.rounding import UNIT

_NOTHING = 1e-140
_LOG_NOTHING = math.log(_NOTHING)


@njit()
def _sums(
    v: Vector, kappa: Vector, s: float, q: float, t: Vector
) -> tuple[float, float, float, float]:
    """Fill `t` up to a factor e^top; return top, Σt, dΣt/ds and Σ t h = Σ κ t^{q+1} with that t.

    h = |g − u| and v = u − min u. The largest t is 1 unless q = 1, where top is zero: 1/q may be
    so large that no double holds h^{1/q}.
    """
    top = 0.0 if q == 1.0 else -math.inf
    stride = 0 if kappa.shape[0] == 1 else 1
    sign = 1.0 if q > 0.0 else -1.0
    for i in range(v.shape[0]):
        h = s - sign * v[i]
        if h <= 0.0:
            t[i] = 0.0 if q == 1.0 else -math.inf
        elif q == 1.0:
            t[i] = h / kappa[stride * i]
        else:
            t[i] = math.log(h / kappa[stride * i]) / q
            top = max(top, t[i])
    total, slope, energy = 0.0, 0.0, 0.0
    for i in range(v.shape[0]):
        h = s - sign * v[i]
        if h <= 0.0:
            t[i] = 0.0
            continue
        if q != 1.0:
            t[i] = math.exp(t[i] - top)
        total += t[i]
        slope += t[i] / (q * h)
        energy += t[i] * h
    return top, total, slope, energy


class _Scan:
    """The sums as functions of log s, for one vector of margins."""

    def __init__(self, u: Vector, kappa: Vector, q: float) -> None:
        self.low = float(u.min())
        self.v, self.kappa, self.q = u - self.low, kappa, q
        if float(self.v.max()) < _NOTHING:
            self.v[:] = 0.0  # their squares are no doubles; γ is wrong by less than that
        self.t = np.empty(u.size)
        self.log_total = self.top = math.nan
        spread = float(self.v.mean())
        self.start = math.log(spread) if spread > 0.0 else 0.0

    def look(self, x: float) -> tuple[float, float, float, float]:
        """Return log Σt, log Σκt^{q+1} and their derivatives in x = log s."""
        s = self.distance(x)
        self.top, total, slope, energy = _sums(self.v, self.kappa, s, self.q, self.t)
        grown = (1.0 + 1.0 / self.q) * total  # d Σ t h / ds
        self.log_total = self.top + math.log(total)
        return self.log_total, self.top + math.log(energy), s * slope / total, s * grown / energy

    @staticmethod
    def distance(x: float) -> float:
        """Return s, neither infinite nor so small that its square is no double."""
        return math.exp(min(max(x, _LOG_NOTHING), 700.0))

    def face(self) -> tuple[Vector, float]:
        """Return the d of extreme energy among those on the least margins alone, and the log of
        its energy."""
        log_kappa = (np.log(self.kappa) * np.ones(self.v.size))[self.v == 0.0]
        logs = -log_kappa / self.q
        logs -= logs.max()
        logs -= math.log(float(np.exp(logs).sum()))
        terms = log_kappa + (self.q + 1.0) * logs
        top = float(terms.max())
        d = np.zeros(self.v.size)
        d[self.v == 0.0] = np.exp(logs)
        return d / d.sum(), top + math.log(float(np.exp(terms - top).sum()))

    def settle(self, x: float, miss: Callable[[], float]) -> None:
        """Move t between its values at g one rounding lower and higher so that `miss` vanishes.

        For q > 1 entries rise steeply from zero, to 0.15 for h = 1e-16 and q = 19, so that no g
        that is a double has the right sum. `miss` is a decreasing function of t; it reads `t` and
        `log_total`.
        """
        s = self.distance(x)
        width = (4.0 + abs(x)) * 4.0 * UNIT * s
        if self.q <= 1.0 or abs(miss()) <= 1e-13:
            return
        ends = np.clip(s - self.v + np.array([[-width], [width]]), 0.0, None) / self.kappa
        less, more = ends ** (1.0 / self.q) * math.exp(-self.top)

        def at(share: float) -> float:
            self.t = less + share * (more - less)
            self.log_total = self.top + math.log(float(self.t.sum()))
            return miss()

        falling_root(at, 1e-14)

    def finish(self, x: float) -> tuple[float, float, Vector]:
        """Return (g, μ, d) at x = log s: h = μ κ d^q, so μ = (Σt)^q."""
        s = self.distance(x)
        g = self.low + s if self.q > 0.0 else self.low - s
        return g, math.exp(min(self.q * self.log_total, 700.0)), self.t / self.t.sum()

    def energy_of(self, t: Vector) -> float:
        """Return log Σ κ t^{q+1}."""
        with np.errstate(divide="ignore"):
            terms = np.log(self.kappa) + (self.q + 1.0) * np.log(t)
        top = float(terms.max())
        return top + math.log(float(np.exp(terms - top).sum()))


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
    scan.look(x)
    scan.settle(x, lambda: math.log(mu) / q - scan.log_total)
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
    face, size = scan.face()
    if sign * (size - bound) <= 0.0:
        return scan.low, 0.0, face

    def miss(x: float) -> tuple[float, float]:
        total, energy, slope, grown = scan.look(x)
        return (
            sign * (energy - (q + 1.0) * total - bound),
            sign * (grown - (q + 1.0) * slope),
        )

    x = decreasing_root(miss, scan.start, 2.0, 1e-15)
    scan.look(x)
    scan.settle(x, lambda: scan.energy_of(scan.t / scan.t.sum()) - bound)
    return scan.finish(x)


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
