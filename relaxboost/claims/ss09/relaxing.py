"""SS09, Sec. 4.2: penalties on distributions in place of caps, and Theorem 7."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost.claims import Choice, Instance, Matrix, Space, Vector, Weights, Whole
from relaxboost.claims.measure import Slack, assume, at_least, at_most, equal
from relaxboost.claims.sides import (
    avg_min,
    exactly,
    in_l1_ball,
    largest_edge,
    on_simplex,
    optimum,
    solved,
)
from relaxboost.claims.ss09.penalties import CLOSED, PENALTIES, STRENGTH, hinge_side, learnability
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, NormBall


@SOURCE.claim(
    "Eq4",
    "Eq. 4",
    "Eq. 2 is the least sum of the maximal edge and the indicator of the ball ‖d‖_∞ ≤ 1/k.",
    formula="ρ = min_{d in S} (max_j |(dᵀA)_j| + I_C(d)), C = B_∞(1/k)",
    given="k in [m]",
    space=Space(A=Matrix(), k=Whole(1, "m")),
).checked(trials=60)
def ball_of_caps(x: Instance) -> Iterator[Slack]:
    """Over all of the ball, in fractions: its d has no weight above 1/k and the value of Eq. 2."""
    rho, d, _ = optimum(x, Game(x.A, NormBall(math.inf, Fraction(1, x.k))))
    capped, _, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(largest_edge(exactly(x.A), on_simplex(d)), rho, "edge of d and ρ")
    yield equal(avg_min(exactly(x.A) @ in_l1_ball(w), x.k), rho, "average margin and ρ")
    yield equal(capped, rho, "Eq. 2 and Eq. 4")
    yield at_most(max(d), Fraction(1, x.k), "largest weight")


@SOURCE.claim(
    "D6",
    "Definition 6",
    "ρ is attained, and no distribution has a smaller sum of its maximal edge and f.",
    formula="ρ = min_{d in S} (max_j |(dᵀA)_j| + f(d))",
    given="here f closed and convex",
    space=Space(A=Matrix(), f=Choice(*CLOSED), s=STRENGTH, d=Vector("m", 0.0, 1.0)),
).checked(trials=60)
def relaxed_learnability(x: Instance) -> Iterator[Slack]:
    """f is evaluated by hand, at the d of the optimum, the d drawn and the uniform one."""
    f = PENALTIES[x.f]
    rho, best, _ = learnability(x, f)
    drawn = on_simplex(exactly(x.d)).astype(np.float64)
    uniform = np.full(len(x.A), 1.0 / len(x.A))

    def value(d: np.ndarray) -> float:
        return float(np.abs(d @ x.A).max()) + f.f(d, x.s)

    yield equal(solved(value(best)), rho, f"attained, {x.f}")
    for name, d in (("the d drawn", drawn), ("uniform d", uniform)):
        yield at_least(value(d), rho, f"{name}, {x.f}")


GAMES = Space(
    sizes={"m": (1, 6), "n": (1, 5)},
    A=Matrix(),
    f=Choice("open cube", *CLOSED),
    s=STRENGTH,
    w=Weights(),
)


@SOURCE.claim(
    "T7",
    "Theorem 7",
    "The least relaxed edge is the greatest soft margin, for f that meets (i), (ii), (iii).",
    formula="max_{w in B_1, γ} (γ − f*([γ − Aw]_+)) = ρ",
    given="f convex; (i) min f = 0; (ii) 0 in core(dom f); (iii) f*(θ) ≥ f*(θ − α θ_i e_i)",
    space=GAMES,
    counterexamples=[
        {"A": [[1]], "f": "open cube", "s": 0, "w": [0]},
        {"A": [[1], [1]], "f": "open cube", "s": 0, "w": [0]},
    ],
).checked(trials=40, resolution=1e-6)
def general_relaxation(x: Instance) -> Iterator[Slack]:
    """A convex f that is not closed can be greater than f** on the simplex, and f* cannot tell.

    The open cube, f = 0 for ‖d‖_∞ < 1/m and 1 where ‖d‖_∞ = 1/m, meets (i)–(iii) and is 1 at the
    only distribution it admits: ρ = 1 + 1, but f* = ‖θ‖_1/m leaves a margin of 1.
    """
    f = PENALTIES[x.f]
    rho, _, w = learnability(x, f)
    w /= max(1.0, float(np.abs(w).sum()))
    yield equal(hinge_side(x.A @ w, f, x.s), rho, f"margin and edge, {x.f}")
    drawn = in_l1_ball(exactly(x.w)).astype(np.float64)
    yield at_most(hinge_side(x.A @ drawn, f, x.s), rho, f"the w drawn, {x.f}")


@general_relaxation.corrected(
    "The same for closed f.", "max_{w in B_1, γ} (γ − f*([γ − Aw]_+)) = ρ, f closed"
)
def general_relaxation_closed(x: Instance) -> Iterator[Slack]:
    """The simplex is compact, so that closed f leaves no gap, even without (i) and (ii).

    The maximum over γ may be a supremum: f the indicator of ‖d‖_2 ≤ 1/√m, unequal margins.
    """
    assume(PENALTIES[x.f].closed)
    yield from general_relaxation(x)
