"""SS09, Sec. 4.2: penalties on distributions in place of caps, and Theorem 7."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import avg_min, in_l1_ball, largest_edge, on_simplex, optimum
from relaxboost.claims.ss09.penalties import CLOSED, PENALTIES, STRENGTH, hinge_side, learnability
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, NormBall


@SOURCE.claim("Eq4", space=Space(A=Matrix(), k=Whole(1, "m"))).checked(trials=60)
def ball_of_caps(x: Instance) -> Slacks:
    rho, d, _ = optimum(x, Game(x.A, NormBall(math.inf, Fraction(1, x.k))))
    capped, _, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(largest_edge(exactly(x.A), on_simplex(d)), rho, "edge of d and ρ")
    yield equal(avg_min(exactly(x.A) @ in_l1_ball(w), x.k), rho, "average margin and ρ")
    yield equal(capped, rho, "Eq. 2 and Eq. 4")
    yield at_most(max(d), Fraction(1, x.k), "largest weight")


@SOURCE.claim(
    "D6", space=Space(A=Matrix(), f=Choice("jump", *CLOSED), s=STRENGTH, d=Vector("m", 0.0, 1.0))
).checked(trials=40)
def relaxed_learnability(x: Instance) -> Slacks:
    if x.f == "jump":
        yield _attained_across(*exactly(x.A)[[0, -1], 0])
        return
    f = PENALTIES[x.f]
    rho, best, _ = learnability(x, f)
    drawn = on_simplex(exactly(x.d)).astype(np.float64)
    uniform = np.full(len(x.A), 1.0 / len(x.A))

    def value(d: np.ndarray) -> float:
        return float(np.abs(d @ x.A).max()) + f.f(d, x.s)

    yield equal(solved(value(best)), rho, f"attained, {x.f}")
    for name, d in (("the d drawn", drawn), ("uniform d", uniform)):
        yield at_least(value(d), rho, f"{name}, {x.f}")


def _attained_across(a: Fraction, b: Fraction) -> Slack:
    """Measure, for one hypothesis, whether a d with d_1 > 0 has the infimum of the edge.

    The edge |d_1 a + (1 − d_1) b| is least at 1, at 0, or where it is zero; of several such d_1 the
    greatest is taken.
    """
    shares = [Fraction(1), Fraction(0)] + ([b / (b - a)] if a * b < 0 else [])
    found: list[tuple[Fraction, Fraction]] = [(abs(s * a + (1 - s) * b), -s) for s in shares]
    edge, d = min(found)
    return equal(edge + (d == 0), edge, "attained, jump")


@relaxed_learnability.corrected()
def closed_learnability(x: Instance) -> Slacks:
    assume(x.f != "jump")
    yield from relaxed_learnability(x)


@relaxed_learnability.corrected()
def infimum(x: Instance) -> Slacks:
    assume(x.f == "jump")
    a, b = exactly(x.A)[[0, -1], 0]
    least = 0 if a * b <= 0 else min(abs(a), abs(b))
    shares = [Fraction(1, 1000), Fraction(1)] + ([b / (b - a)] if a * b < 0 else [])
    nearest = min(abs(s * a + (1 - s) * b) for s in shares)
    yield at_most(nearest, least + Fraction(2, 1000), "nearly attained by a d_1 > 0")
    first = min(Fraction(1), Fraction(x.d[0]))
    yield at_least(abs(first * a + (1 - first) * b) + (first == 0), least, "the d drawn")


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
    rho, _, w = learnability(x, f)
    w /= max(1.0, float(np.abs(w).sum()))
    yield equal(hinge_side(x.A @ w, f, x.s), rho, f"margin and edge, {x.f}")
    drawn = in_l1_ball(exactly(x.w)).astype(np.float64)
    yield at_most(hinge_side(x.A @ drawn, f, x.s), rho, f"the w drawn, {x.f}")


@general_relaxation.corrected()
def general_relaxation_closed(x: Instance) -> Slacks:
    assume(PENALTIES[x.f].closed)
    yield from general_relaxation(x)


@general_relaxation_closed.step(
    space=GAMES.but(d=Vector("m", 0.0, 1.0), gamma=Real(-1.0, 1.0)).including(
        {"A": [[1], [-1]], "f": "caps", "s": 1, "w": [1], "d": ["1/2", "1/2"], "gamma": 1}
    ),
    trials=80,
)
def _(x: Instance) -> Slack:
    f, d = PENALTIES[x.f], on_simplex(exactly(x.d)).astype(np.float64)
    u = x.A @ in_l1_ball(exactly(x.w)).astype(np.float64)
    left = x.gamma - f.f_star(np.maximum(x.gamma - u, 0.0), x.s)
    return at_most(left, float(np.abs(d @ x.A).max()) + f.f(d, x.s), x.f)


@SOURCE.claim("T7-max", space=Space(u=Vector("m"), gamma=Real(1.0, 1e6, log=True)))
def attained_threshold(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    mean = sum(u) / len(u)
    losses = sum((gamma - v) ** 2 for v in u) / len(u)
    return at_most(losses, (gamma - mean) ** 2, "f*² and (γ − mean)²")


@attained_threshold.corrected()
def least_threshold(x: Instance) -> Slacks:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    mean = sum(u) / len(u)
    gap, losses = gamma - mean, sum((gamma - v) ** 2 for v in u) / len(u)
    variance = sum((v - mean) ** 2 for v in u) / len(u)
    yield at_least(losses, gap**2, "never above mean u")
    if gap > 0:
        yield at_most(losses, (gap + variance / (2 * gap)) ** 2, "nearly attained")


@least_threshold.step()
def _(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    mean = sum(u) / len(u)
    variance = sum(v**2 for v in u) / len(u) - mean**2
    return equal(sum((gamma - v) ** 2 for v in u) / len(u), (gamma - mean) ** 2 + variance)


@least_threshold.step(
    space=Space(u=Vector("m"), gamma=Real(-1.0, 1.0)).including({"u": [0, 0], "gamma": 1})
)
def _(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    losses = sum(max(gamma - v, Fraction(0)) ** 2 for v in u) / len(u)
    return at_least(losses, (gamma - sum(min(gamma, v) for v in u) / len(u)) ** 2)


@SOURCE.claim("T7-zero", space=GAMES)
def no_edge(x: Instance) -> Slacks:
    f, m = PENALTIES[x.f], len(x.A)
    yield equal(f.f_star(np.zeros(m), x.s), 0, f"f*(0), {x.f}")
    both = np.vstack([x.A, -x.A])
    if f.f(np.full(2 * m, 0.5 / m), x.s) == 0.0:
        u = both @ in_l1_ball(exactly(x.w)).astype(np.float64)
        yield at_most(hinge_side(u, f, x.s), solved(0.0), f"margins where ρ = 0, {x.f}")
        yield equal(hinge_side(0.0 * u, f, x.s), solved(0.0), f"w = 0 attains ρ = 0, {x.f}")


@no_edge.step(space=GAMES.but(d=Vector("m")))
def _(x: Instance) -> Slacks:
    f = PENALTIES[x.f]
    yield equal(f.f_star(0.0 * x.d, x.s), 0, x.f)
    yield at_least(0, -f.f(x.d, x.s), x.f)


@no_edge.step(space=GAMES.but(d=Vector("m", 0.0, 1.0), gamma=Real(-1.0, 1.0)), trials=80)
def _(x: Instance) -> Slack:
    f, d = PENALTIES[x.f], on_simplex(exactly(x.d)).astype(np.float64)
    u = x.A @ in_l1_ball(exactly(x.w)).astype(np.float64)
    left = x.gamma - f.f_star(np.maximum(x.gamma - u, 0.0), x.s)
    return at_most(left, float(d @ u) + f.f(d, x.s), x.f)


@SOURCE.claim(
    "T7-positive",
    space=Space(
        sizes={"m": (1, 5), "n": (1, 4)},
        A=Matrix(),
        f=Choice("max norm", "caps", "nothing"),
        s=STRENGTH,
        d=Vector("m", 0.0, 1.0),
    ),
).checked(trials=40)
def edges_stay_away(x: Instance) -> Slack:
    edge, value, rho = _relaxed_edge(x)
    assume(rho.lower > 0 and value < math.inf)
    return at_least(edge, rho, x.f)


@edges_stay_away.corrected()
def sums_stay_away(x: Instance) -> Slack:
    edge, value, rho = _relaxed_edge(x)
    assume(rho.lower > 0)
    return at_least(edge + value, rho, x.f)


def _relaxed_edge(x: Instance) -> tuple[float, float, Bracket]:
    """Return the largest edge of the d drawn, f there, and ρ."""
    f, d = PENALTIES[x.f], on_simplex(exactly(x.d)).astype(np.float64)
    rho, _, _ = learnability(x, f)
    return float(np.abs(d @ x.A).max()), f.f(d, x.s), rho
