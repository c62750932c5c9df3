"""SS09, Sec. 4.2: Examples 1 and 2, balls and multiples of norms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost.claims import Choice, Instance, Matrix, Real, Space, Vector, Whole
from relaxboost.claims.measure import Slack, assume, at_most, equal
from relaxboost.claims.sides import avg_min, exactly, solved
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

GAMES = Space(
    sizes={"m": (1, 3), "n": (1, 2)},
    A=Matrix(),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
    nu=Real(0.2, 1.5),
)


@SOURCE.claim(
    "E1",
    "Example 1",
    "Theorem 7 for the indicator of a ball, in an arbitrary norm.",
    formula="max_{w in B_1, γ} (γ − ν‖[γ − Aw]_+‖_*) = min_{d in S: ‖d‖ ≤ ν} ‖dᵀA‖_∞",
    given="the ball meets the simplex; here ‖(1/m, ..., 1/m)‖ ≤ ν/1.02",
    space=GAMES,
    counterexamples=[
        {"A": [[0], [1]], "norm": "paired", "c": 0, "nu": 1},
        {"A": [[0], [1]], "norm": "ellipsoid", "c": "-5/8", "nu": "5/8"},
    ],
).checked(trials=40, resolution=1e-6)
def norm_ball(x: Instance) -> Slack:
    """Condition (iii) is orthant-monotonicity: ‖d‖ ≥ ‖d − d_i e_i‖. Not every norm has it.

    Both sides are convex programs; the left one for each set of examples with a loss.
    """
    assume(_meets_simplex(x))
    return equal(solved(hinge_side(x, False)), solved(edge_side(x, False)), x.norm)


@norm_ball.corrected(
    "The norm is orthant-monotonic.",
    "max_{w in B_1, γ} (γ − ν‖[γ − Aw]_+‖_*) = min_{d in S: ‖d‖ ≤ ν} ‖dᵀA‖_∞",
)
def monotone_norm_ball(x: Instance) -> Iterator[Slack]:
    """As stated; an ellipsoid whose axes are those of the examples is one, too."""
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    yield from norm_ball(x)


@norm_ball.corrected(
    "For any norm, the least ν‖x‖_* over x ≥ γ − Aw takes the place of ν‖[γ − Aw]_+‖_*.",
    "max_{w in B_1, γ} max_{x ≥ γ − Aw} (γ − ν‖x‖_*) = min_{d in S: ‖d‖ ≤ ν} ‖dᵀA‖_∞",
)
def any_norm_ball(x: Instance) -> Slack:
    """The proof of Lemma 8 before its last step."""
    assume(_meets_simplex(x))
    return equal(solved(least_side(x, False)), solved(edge_side(x, False)), x.norm)


def _meets_simplex(x: Instance) -> bool:
    m = len(x.A)
    return 1.02 * norm(x).size(np.full(m, 1.0 / m)) <= x.nu


CONDITIONS = Space(
    sizes={"m": (1, 4)},
    theta=Vector("m"),
    i=Whole(1, "m"),
    alpha=Real(0.0, 1.0),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
    nu=Real(0.1, 2.0),
)


@SOURCE.claim(
    "E1-conditions",
    "Example 1, condition (iii)",
    "f*(θ) = ν‖θ‖_*, and therefore condition (iii) holds.",
    formula="ν‖θ‖_* ≥ ν‖θ − α θ_i e_i‖_*",
    given="an arbitrary norm",
    space=CONDITIONS,
    counterexamples=[
        {"theta": [1, -1], "i": 2, "alpha": 1, "norm": "paired", "c": 0, "nu": 1},
        {"theta": [1, "-5/8"], "i": 2, "alpha": 1, "norm": "ellipsoid", "c": "-5/8", "nu": 1},
    ],
)
def ball_conditions(x: Instance) -> Slack:
    """The dual of max(2|d_1 − d_2|, |d_1 + d_2|/2) is |θ_1 − θ_2|/4 + |θ_1 + θ_2|: ½ at (1, −1).

    At (1, 0) it is 5/4.
    """
    dual = Norm(x.norm, len(x.theta), x.c)
    less = np.array(x.theta)
    less[x.i - 1] *= 1.0 - x.alpha
    return at_most(x.nu * dual.dual(less), x.nu * dual.dual(x.theta), x.norm)


@ball_conditions.corrected("The norm is orthant-monotonic.", "‖θ‖_* ≥ ‖θ − α θ_i e_i‖_*")
def monotone_ball_conditions(x: Instance) -> Iterator[Slack]:
    """A norm is orthant-monotonic if and only if its dual is."""
    assume(x.norm in MONOTONE)
    yield from ball_conditions(x)


@SOURCE.claim(
    "E1-soft-margin",
    "Example 1, the soft margin",
    "The average of the k smallest margins is the soft margin.",
    formula="AvgMin_k(u) = max_γ (γ − (1/k) Σ_i [γ − u_i]_+)",
    given="u = Aw, k in [m]",
    space=Space(u=Vector("m"), k=Whole(1, "m"), gamma=Real(-2.0, 2.0)),
).checked(trials=200)
def soft_margin(x: Instance) -> Iterator[Slack]:
    """Piecewise linear and concave in γ: the greatest value is at one of the margins.

    In fractions. It is attained at the k-th smallest margin, and by k = m at any greater γ.
    """
    u, k = exactly(x.u), x.k

    def soft(gamma: Fraction) -> Fraction:
        return gamma - sum((max(gamma - v, Fraction(0)) for v in u), Fraction(0)) / k

    yield equal(max(soft(v) for v in u), avg_min(u, k), "greatest soft margin and average")
    yield at_most(soft(Fraction(x.gamma)), avg_min(u, k), "the γ drawn")


@SOURCE.claim(
    "E2",
    "Example 2",
    "Theorem 7 for a multiple of an arbitrary norm: the margin, subject to a bound on the losses.",
    formula="max {γ: w in B_1, ‖[γ − Aw]_+‖_* ≤ ν} = min_{d in S} (‖dᵀA‖_∞ + ν‖d‖)",
    given="ν a scalar",
    space=GAMES.but(nu=Real(-0.2, 1.5)),
    counterexamples=[
        {"A": [[0], [1]], "norm": "paired", "c": 0, "nu": 1},
        {"A": [[1]], "norm": "max", "c": 0, "nu": "-1/5"},
    ],
).checked(trials=40, resolution=1e-6)
def norm_penalty(x: Instance) -> Slack:
    """As Example 1: condition (iii) is a property of the norm. Moreover ν must not be negative.

    For ν < 0 f is concave and no vector has a norm of at most ν. The paper has w in the ball of
    R^m, where R^n is meant.
    """
    return equal(solved(hinge_side(x, True)), solved(edge_side(x, True)), x.norm)


@norm_penalty.corrected(
    "The norm is orthant-monotonic, w in R^n, and ν ≥ 0.",
    "max {γ: w in B_1, ‖[γ − Aw]_+‖_* ≤ ν} = min_{d in S} (‖dᵀA‖_∞ + ν‖d‖)",
)
def monotone_norm_penalty(x: Instance) -> Iterator[Slack]:
    """As stated."""
    assume(x.nu >= 0.0 and x.norm in MONOTONE)
    yield from norm_penalty(x)


@norm_penalty.corrected(
    "For any norm and ν ≥ 0, the least ‖x‖_* over x ≥ γ − Aw takes the place of ‖[γ − Aw]_+‖_*.",
    "max {γ: w in B_1, x ≥ γ − Aw, ‖x‖_* ≤ ν} = min_{d in S} (‖dᵀA‖_∞ + ν‖d‖)",
)
def any_norm_penalty(x: Instance) -> Slack:
    """The proof of Lemma 8 before its last step."""
    assume(x.nu >= 0.0)
    return equal(solved(least_side(x, True)), solved(edge_side(x, True)), x.norm)
