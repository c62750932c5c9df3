"""Functions f that meet the conditions of SS09's Theorem 7, with f and f* written by hand."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import indicator, optimum
from relaxboost.claims.ss09.strong import dual
from relaxboost.game.game import Game
from relaxboost.relaxations import (
    Capped,
    ChiSquarePenalty,
    HardMargin,
    NormBall,
    NormPenalty,
    Relaxation,
)

_OUTSIDE = 1e-9
"""Relative distance by which a d of a numerical solver may be outside of a ball."""


@dataclass(frozen=True)
class Penalty:
    """f on R^m, its conjugate, and the relaxation that plays it on the simplex, less a constant."""

    f: Callable[[Array, float], float]
    f_star: Callable[[Array, float], float]
    relaxation: Callable[[int, float], Relaxation]
    constant: Callable[[int, float], float] = lambda m, s: 0.0
    closed: bool = True


def _k(m: int, s: float) -> int:
    return 1 + round(s * (m - 1))


def _radius(m: int, p: float, s: float) -> float:
    return (1.05 + s) * m ** (1.0 / p - 1.0)


def _size(d: Array, p: float) -> float:
    return float(np.linalg.norm(d, p))


def _ball(p: float) -> Penalty:
    return Penalty(
        f=lambda d, s: indicator(_size(d, p) <= _radius(d.size, p, s) * (1.0 + _OUTSIDE)),
        f_star=lambda t, s: _radius(t.size, p, s) * _size(t, dual(p)),
        relaxation=lambda m, s: NormBall(p, _radius(m, p, s)),
    )


def _norm(p: float) -> Penalty:
    return Penalty(
        f=lambda d, s: (0.1 + s) * _size(d, p),
        f_star=lambda t, s: indicator(_size(t, dual(p)) <= 0.1 + s),
        relaxation=lambda m, s: NormPenalty(p, 0.1 + s),
    )


PENALTIES: dict[str, Penalty] = {
    "nothing": Penalty(
        f=lambda d, s: 0.0,
        f_star=lambda t, s: indicator(not t.any()),
        relaxation=lambda m, s: HardMargin(),
    ),
    "caps": Penalty(
        f=lambda d, s: indicator(_size(d, math.inf) <= 1.0 / _k(d.size, s)),
        f_star=lambda t, s: _size(t, 1) / _k(t.size, s),
        relaxation=lambda m, s: Capped(_k(m, s)),
    ),
    "max norm": _norm(math.inf),
    "Euclidean ball": _ball(2.0),
    "3-norm ball": _ball(3.0),
    "Euclidean norm": _norm(2.0),
    "3/2-norm": _norm(1.5),
    "square": Penalty(
        f=lambda d, s: (0.1 + s) * float(d @ d),
        f_star=lambda t, s: float(t @ t) / (4.0 * (0.1 + s)),
        relaxation=lambda m, s: ChiSquarePenalty((0.1 + s) / m),  # c (m Σ d² − 1)
        constant=lambda m, s: (0.1 + s) / m,
    ),
    "open cube": Penalty(
        f=lambda d, s: _cube(d),
        f_star=lambda t, s: _size(t, 1) / t.size,
        relaxation=lambda m, s: Capped(m),
        constant=lambda m, s: 1.0,
        closed=False,
    ),
}
"""By name; s in [0, 1] is the strength. The open cube is 0 for ‖d‖_∞ < 1/m and 1 where that is
1/m, so that it is convex, but its level sets are not closed."""


CLOSED = tuple(name for name, f in PENALTIES.items() if f.closed)
STRENGTH = Real(0.0, 1.0)


def _cube(d: Array) -> float:
    most = _size(d, math.inf) * d.size
    return math.inf if most > 1.0 + 1e-12 else float(most >= 1.0 - 1e-12)


def hinge_side(u: Array, f: Penalty, s: float) -> float:
    """Return max over γ of γ − f*([γ − u]_+), by ternary search on the formula.

    It is concave in γ, increasing up to min u, and −∞, if anywhere, to the right.
    """

    def value(gamma: float) -> float:
        return gamma - f.f_star(np.maximum(gamma - u, 0.0), s)

    low, high = float(u.min()), float(u.min()) + 40.0
    for _ in range(90):
        third = (high - low) / 3.0
        if value(low + third) < value(high - third):
            low += third
        else:
            high -= third
    return value(low)


def learnability(x: Instance, f: Penalty) -> tuple[Bracket, Array, Array]:
    """Return ρ of Definition 6, and the d and w of the optimum."""
    m = len(x.A)
    game = Game(x.A, f.relaxation(m, x.s))
    rho, d, w = optimum(x, game)
    constant = f.constant(m, x.s)
    return rho + constant, d.astype(np.float64), w.astype(np.float64)
