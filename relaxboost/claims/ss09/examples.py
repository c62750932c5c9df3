"""SS09, Sec. 4.2: Examples 1 and 2, balls and multiples of norms."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.claims.language import *
from relaxboost.claims.sides import avg_min
from relaxboost.claims.ss09.norms import (
    MONOTONE,
    NORMS,
    Norm,
    edge_side,
    hinge_side,
    least_side,
    norm,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import NORMED, dual, dual_vector, normed
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

GAMES = Space(
    sizes={"m": (1, 3), "n": (1, 2)},
    A=Matrix(),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
    nu=Real(0.2, 1.5),
)


@SOURCE.claim("E1", space=GAMES).checked(trials=40, resolution=1e-6)
def norm_ball(x: Instance) -> Slack:
    assume(_meets_simplex(x))
    return equal(solved(hinge_side(x, False)), solved(edge_side(x, False)), x.norm)


@norm_ball.corrected()
def monotone_norm_ball(x: Instance) -> Slacks:
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    yield from norm_ball(x)


@norm_ball.corrected()
def any_norm_ball(x: Instance) -> Slack:
    assume(_meets_simplex(x))
    return equal(solved(least_side(x, False)), solved(edge_side(x, False)), x.norm)


def _meets_simplex(x: Instance) -> bool:
    m = len(x.A)
    return 1.02 * norm(x).size(np.full(m, 1.0 / m)) <= x.nu


@SOURCE.claim(
    "E1-core",
    space=Space(
        v=Vector("m"),
        norm=Choice(*NORMS),
        c=Real(-0.9, 0.9),
        nu=Real(0.1, 2.0),
        share=Real(0.0, 1.0),
    ),
)
def ball_core(x: Instance) -> Slacks:
    size = Norm(x.norm, len(x.v), x.c).size
    assume(size(x.v) > 0.0)
    most = x.nu / size(x.v)
    yield at_most(size(0.0 * x.v), x.nu, "0 is in the ball")
    yield at_most(size(x.share * most * x.v), x.nu, f"in the ball, {x.norm}")
    yield at_least(size((most + 0.01) * x.v), x.nu, f"beyond τ', {x.norm}")


@ball_core.step()
def _(x: Instance) -> Slack:
    size = Norm(x.norm, len(x.v), x.c).size
    return equal(near(size(x.share * x.v)), near(x.share * size(x.v)), x.norm)


CONDITIONS = Space(
    sizes={"m": (1, 4)},
    theta=Vector("m"),
    i=Whole(1, "m"),
    alpha=Real(0.0, 1.0),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
    nu=Real(0.1, 2.0),
)


@SOURCE.claim("E1-conditions", space=CONDITIONS)
def ball_conditions(x: Instance) -> Slack:
    dual = Norm(x.norm, len(x.theta), x.c)
    less = np.array(x.theta)
    less[x.i - 1] *= 1.0 - x.alpha
    return at_most(x.nu * dual.dual(less), x.nu * dual.dual(x.theta), x.norm)


@ball_conditions.corrected()
def monotone_ball_conditions(x: Instance) -> Slacks:
    assume(x.norm in MONOTONE)
    yield from ball_conditions(x)


@monotone_ball_conditions.step(space=CONDITIONS.but(d=Vector("m")))
def _(x: Instance) -> Slack:
    d, theta, a = exactly(x.d), exactly(x.theta), Fraction(x.alpha)
    moved, rest = theta.copy(), d.copy()
    moved[x.i - 1] *= 1 - a
    rest[x.i - 1] = Fraction(0)
    return equal(sum(d * moved), (1 - a) * sum(d * theta) + a * sum(rest * theta))


@monotone_ball_conditions.step(space=CONDITIONS.but(d=Vector("m")))
def _(x: Instance) -> Slack:
    assume(x.norm in MONOTONE)
    size, rest = Norm(x.norm, len(x.d), x.c).size, np.array(x.d)
    rest[x.i - 1] = 0.0
    return at_most(size(rest), size(x.d), x.norm)


@monotone_norm_ball.step(space=CONDITIONS.including(ball_conditions.counterexamples[0]))
def _(x: Instance) -> Slack:
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    return ball_conditions(x)[0]


@SOURCE.claim(
    "E1-soft-margin", space=Space(u=Vector("m"), k=Whole(1, "m"), gamma=Real(-2.0, 2.0))
).checked(trials=200)
def soft_margin(x: Instance) -> Slacks:
    u, k = exactly(x.u), x.k
    yield equal(max(_soft(u, k, v) for v in u), avg_min(u, k), "greatest soft margin and average")
    yield at_most(_soft(u, k, Fraction(x.gamma)), avg_min(u, k), "the γ drawn")


def _soft(u: Exact, k: int, gamma: Fraction) -> Fraction:
    """Return γ − (1/k) Σ_i [γ − u_i]_+."""
    return gamma - sum((max(gamma - v, Fraction(0)) for v in u), Fraction(0)) / k


@soft_margin.step()
def _(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    losses = sum(max(gamma - v, Fraction(0)) for v in u)
    return at_least(losses, sum(gamma - v for v in sorted(u)[: x.k]))


@soft_margin.step()
def _(x: Instance) -> Slack:
    u = exactly(x.u)
    return equal(_soft(u, x.k, sorted(u)[x.k - 1]), avg_min(u, x.k))


@SOURCE.claim("E1-soft-margin-inference", space=Space(u=Vector("m"), k=Whole(1, "m"))).checked(
    trials=60
)
def same_maxima(x: Instance) -> Slack:
    value = avg_min(x.u, x.k)
    return equal(value, max(value, Fraction(0)), "F(u) and G(u)")


@same_maxima.corrected()
def same_maxima_of_shifted(x: Instance) -> Slacks:
    u, k = exactly(x.u), x.k
    A = (u + 2) / 3
    for name, F in (("AvgMin_k", avg_min), ("soft margin", _greatest)):
        yield equal(max(F(w * A, k) for w in (-1, 0, 1)) * 3 - 2, F(u, k), name)
        yield at_most(F(A, k) + F(-A, k), 0, f"F(v) + F(−v), {name}")
    rho = x.optimum(Game(A.astype(np.float64)[:, None], Capped(k)))
    yield equal(rho * 3 - 2, near(float(avg_min(u, k))), "with the ρ of Eq. 2")


def _greatest(u: Exact, k: int) -> Fraction:
    """Return max over γ of γ − (1/k) Σ_i [γ − u_i]_+, which one of the u_i attains."""
    return max(_soft(u, k, v) for v in u)


@same_maxima_of_shifted.step(
    space=Space(u=Vector("m"), k=Whole(1, "m"), s=Real(0.1, 3.0), c=Real(-2.0, 2.0))
)
def _(x: Instance) -> Slacks:
    u, k, s, c = exactly(x.u), x.k, Fraction(x.s), Fraction(x.c)
    for name, F in (("AvgMin_k", avg_min), ("soft margin", _greatest)):
        yield equal(F(s * u + c, k), s * F(u, k) + c, name)


@SOURCE.claim("E2-conjugate", space=NORMED).checked(trials=150)
def norm_conjugate(x: Instance) -> Slack:
    Q, p, psi = normed(x)
    excess = float(np.linalg.norm(psi, dual(p))) - x.nu
    if excess <= 0.0:
        return at_most(_gain(x, x.d), near(0.0, 1e-11), "inside")
    best = 10.0 * np.linalg.solve(Q, dual_vector(psi, p))
    return at_least(_gain(x, best), near(10.0 * excess, 1e-11), "outside")


def _gain(x: Instance, d: NDArray[Any]) -> float:
    """Return <d, θ> − ν‖d‖."""
    Q, p, _ = normed(x)
    return float(d @ x.theta) - x.nu * float(np.linalg.norm(Q @ d, p))


@norm_conjugate.step()
def _(x: Instance) -> Slack:
    Q, p, psi = normed(x)
    most = float(np.linalg.norm(Q @ x.d, p)) * (float(np.linalg.norm(psi, dual(p))) - x.nu)
    return at_most(_gain(x, x.d), near(most, 1e-11))


@norm_conjugate.step()
def _(x: Instance) -> Slack:
    Q, p, psi = normed(x)
    best = 3.0 * np.linalg.solve(Q, dual_vector(psi, p))
    most = 3.0 * (float(np.linalg.norm(psi, dual(p))) - x.nu)
    return equal(near(_gain(x, best), 1e-11), near(most, 1e-11))


@SOURCE.claim("E2", space=GAMES.but(nu=Real(-0.2, 1.5))).checked(trials=40, resolution=1e-6)
def norm_penalty(x: Instance) -> Slack:
    return equal(solved(hinge_side(x, True)), solved(edge_side(x, True)), x.norm)


@norm_penalty.corrected()
def monotone_norm_penalty(x: Instance) -> Slacks:
    assume(x.nu >= 0.0 and x.norm in MONOTONE)
    yield from norm_penalty(x)


@norm_penalty.corrected()
def any_norm_penalty(x: Instance) -> Slack:
    assume(x.nu >= 0.0)
    return equal(solved(least_side(x, True)), solved(edge_side(x, True)), x.norm)
