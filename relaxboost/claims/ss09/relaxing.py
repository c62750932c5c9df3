"""SS09, Sec. 4.2: penalties on distributions instead of caps, Theorem 7 and Lemma 8."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import in_l1_ball, indicator, on_simplex, optimum
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.appendix import norm
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, ChiSquarePenalty, NormPenalty, Relaxation
from relaxboost.relaxations.bounds import bounds_of


@dataclass(frozen=True)
class Penalty:
    """A convex function f on R^m, its conjugate, and a relaxation of the package.

    On the simplex, f is the relaxation plus a constant.
    """

    f: Callable[[Array, float], float]
    f_star: Callable[[Array, float], float]
    relaxation: Callable[[int, float], Relaxation]
    constant: Callable[[int, float], float] = lambda m, s: 0.0


def _k(m: int, s: float) -> int:
    return 1 + round(s * (m - 1))


PENALTIES: dict[str, Penalty] = {
    "caps": Penalty(
        f=lambda d, s: indicator(norm(d, math.inf) <= 1.0 / _k(d.size, s)),
        f_star=lambda t, s: norm(t, 1) / _k(t.size, s),
        relaxation=lambda m, s: Capped(_k(m, s)),
    ),
    "max norm": Penalty(
        f=lambda d, s: (0.1 + s) * norm(d, math.inf),
        f_star=lambda t, s: indicator(norm(t, 1) <= 0.1 + s),
        relaxation=lambda m, s: NormPenalty(math.inf, 0.1 + s),
    ),
    "square": Penalty(
        f=lambda d, s: (0.1 + s) * float(d @ d),
        f_star=lambda t, s: float(t @ t) / (4.0 * (0.1 + s)),
        relaxation=lambda m, s: ChiSquarePenalty((0.1 + s) / m),  # c (m Σ d² − 1)
        constant=lambda m, s: (0.1 + s) / m,
    ),
    "open cube": Penalty(
        f=lambda d, s: _cube(d),
        f_star=lambda t, s: norm(t, 1) / t.size,
        relaxation=lambda m, s: Capped(m),
        constant=lambda m, s: 1.0,
    ),
}
"""The penalties by name, with a strength s in [0, 1]. The convex penalty "open cube" is 0 for
‖d‖_∞ < 1/m and 1 for ‖d‖_∞ = 1/m, so its level sets are not closed."""


CLOSED = tuple(name for name in PENALTIES if name != "open cube")
STRENGTH = Real(0.0, 1.0)


def _cube(d: Array) -> float:
    most = norm(d, math.inf) * d.size
    return math.inf if most > 1.0 + 1e-12 else float(most >= 1.0 - 1e-12)


def hinge_side(u: Array, f: Penalty, s: float) -> float:
    """Return the margin side of Theorem 7 for fixed margins u: the maximum over γ of γ − f*([γ −
    u]_+).

    Ternary search finds the maximum. `s` is the strength of the penalty f.
    """

    # The objective is concave in γ, and it increases up to min u. It is −∞ only for large γ.
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


GAMES = Space(
    sizes={"m": (1, 6), "n": (1, 5)},
    A=Matrix(),
    f=Choice("open cube", *CLOSED),
    s=STRENGTH,
    w=Weights(),
)


@SOURCE.claim("T7", space=GAMES).checked(trials=40, resolution=1e-6)
def general_relaxation(x: Instance) -> Slacks:
    f = PENALTIES[x.f]
    m = len(x.A)
    rho, _, w = optimum(x, Game(x.A, f.relaxation(m, x.s)))
    rho = rho + f.constant(m, x.s)
    u = x.A @ in_l1_ball(w).astype(np.float64)
    yield equal(hinge_side(u, f, x.s), rho, f"margin and edge, {x.f}")
    drawn = in_l1_ball(exactly(x.w)).astype(np.float64)
    yield at_most(hinge_side(x.A @ drawn, f, x.s), rho, f"the w drawn, {x.f}")


@general_relaxation.corrected()
def general_relaxation_closed(x: Instance) -> Slacks:
    assume(x.f in CLOSED)
    yield from general_relaxation(x)


@general_relaxation_closed.step(
    space=GAMES.but(d=Vector("m", 0.0, 1.0), gamma=Real(-1.0, 1.0)).including(
        {"A": [[1], [-1]], "f": "caps", "s": 1, "w": [1], "d": ["1/2", "1/2"], "gamma": 1}
    ),
    trials=80,
)
def _(x: Instance) -> Slack:
    f = PENALTIES[x.f]
    d = on_simplex(exactly(x.d)).astype(np.float64)
    u = x.A @ in_l1_ball(exactly(x.w)).astype(np.float64)
    left = x.gamma - f.f_star(np.maximum(x.gamma - u, 0.0), x.s)
    return at_most(left, float(np.abs(d @ x.A).max()) + f.f(d, x.s), x.f)


@SOURCE.claim(
    "L8",
    space=Space(
        theta=Vector("m"), f=Choice("open cube", *CLOSED), s=STRENGTH, d=Vector("m", 0.0, 1.0)
    ),
).checked(trials=50, resolution=1e-6)
def hinge_conjugate(x: Instance) -> Slacks:
    f = PENALTIES[x.f]
    theta = x.theta
    m = theta.size
    relaxation = f.relaxation(m, x.s).resolve(m)
    best = relaxation.relaxed_margin(-theta)[1]
    value = float(theta @ best) - f.f(best, x.s)
    proof = bounds_of(relaxation)
    bound = proof.lower_bound(-theta, proof.witness(-theta)) + f.constant(m, x.s)
    left = Bracket(value, max(value, -bound)) + solved(0.0)
    right = -hinge_side(-theta, f, x.s)
    yield equal(left, right, f"conjugate and thresholds, {x.f}")
    drawn = on_simplex(exactly(x.d)).astype(np.float64)
    yield at_most(float(theta @ drawn) - f.f(drawn, x.s), right, f"the d drawn, {x.f}")


@hinge_conjugate.corrected()
def hinge_conjugate_closed(x: Instance) -> Slacks:
    assume(x.f in CLOSED)
    yield from hinge_conjugate(x)


@hinge_conjugate_closed.step(
    space=Space(
        theta=Vector("m"),
        x=Vector("m", -2.0, 2.0),
        f=Choice(*CLOSED),
        s=STRENGTH,
        share=Real(0.0, 1.0),
    )
)
def _(x: Instance) -> Slack:
    f = PENALTIES[x.f]
    at = x.share * x.x
    gamma = float((at - x.theta).min())
    left = -f.f_star(at, x.s) - float((x.theta - at).max())
    return at_most(left, gamma - f.f_star(np.maximum(x.theta + gamma, 0.0), x.s), x.f)
