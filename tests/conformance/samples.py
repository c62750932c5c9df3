"""Relaxations that are right, on which the deliberately wrong ones of the tests are built."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from relaxboost._core.parameters import positive
from relaxboost.relaxations import Bounds, Relaxation, Witness
from relaxboost.relaxations.base import Traits, as_margins


@dataclass(frozen=True)
class Ball(Relaxation):
    """What a user writes at the least: the indicator of ‖d‖_2 <= radius."""

    radius: float

    def cvxpy_penalty(self, d):
        return 0.0, [cp.norm2(d) <= self.radius]


@dataclass(frozen=True)
class Huber(Relaxation):
    """f with variables of its own: the infimal convolution of ‖.‖_2² / 2 and weight ‖.‖_1."""

    weight: float

    def cvxpy_penalty(self, d):
        z = cp.Variable(d.shape[0])
        return cp.sum_squares(z) / 2 + self.weight * cp.norm1(d - z), []


@dataclass(frozen=True)
class Square(Relaxation):
    """Half the squared l2 norm, which is 1/m-strongly convex in the l1 norm."""

    modulus: float = 1.0

    @property
    def traits(self):
        return Traits(smooth=True, monotone=True, symmetric=True, zero_minimum=True)

    def curvature(self, m):
        return self.modulus / m

    def cvxpy_penalty(self, d):
        return cp.sum_squares(d) / 2, []


@dataclass(frozen=True)
class Entropy(Relaxation, Bounds):
    """eta Σ d_i log(m d_i) on d >= 0, in closed forms: F(u) = −eta log mean exp(−u/eta)."""

    eta: float = 0.5

    @property
    def traits(self):
        return Traits(smooth=True, symmetric=True)

    def curvature(self, m):
        return self.eta

    def penalty(self, d):
        if np.min(d) < 0.0:
            return math.inf
        inside = d[d > 0.0]
        return self.eta * math.fsum((inside * np.log(inside * d.size)).tolist())

    def conjugate(self, theta):
        return self.eta * math.fsum(np.exp(theta / self.eta - 1.0).tolist()) / theta.size

    def relaxed_margin(self, u):
        u = as_margins(u, self)
        low = float(u.min())
        weights = np.exp((low - u) / self.eta)
        total = math.fsum(weights.tolist())
        return low - self.eta * math.log(total / u.size), weights / total

    def distribution(self, u, beta):
        u, eta = as_margins(u, self), self.eta + positive("beta", beta)
        weights = np.exp((u.min() - u) / eta)
        return weights / math.fsum(weights.tolist())

    def witness(self, u):
        return Witness(self.relaxed_margin(u)[0] + self.eta)  # where γ − f*(γ − u) is largest

    def lower_bound(self, u, witness):
        # A quick sketch: floats with a margin for their roundings in place of an enclosure.
        x = (witness.gamma - np.asarray(u)) / self.eta - 1.0
        if not np.isfinite(x).all() or x.max() > 600.0:
            return -math.inf
        above = self.eta * math.fsum(np.exp(x).tolist()) / x.size
        return witness.gamma - above - 1e-14 * (1.0 + above + abs(witness.gamma))

    def penalty_bound(self, d, total):
        return self.penalty(d), 0.0

    def cvxpy_penalty(self, d):
        return -self.eta * (cp.sum(cp.entr(d)) - math.log(d.shape[0]) * cp.sum(d)), []

    def cvxpy_conjugate(self, x):
        return self.eta / x.shape[0] * cp.sum(cp.exp(x / self.eta - 1.0)), []
