"""SS09, Sec. 4.2: other penalties on distributions, and what they do to margins."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost.claims.arrays import Matrix, Vector, Weights
from relaxboost.claims.fields import Choice, Real, Whole
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Bracket, Slack, assume, at_least, at_most, equal
from relaxboost.claims.spaces import Space
from relaxboost.claims.ss09.norms import (
    MONOTONE,
    NORMS,
    Norm,
    edge_side,
    hinge_side,
    least_side,
    norm,
)
from relaxboost.claims.ss09.penalties import PENALTIES, learnability
from relaxboost.claims.ss09.penalties import hinge_side as best_hinge
from relaxboost.claims.ss09.sides import (
    avg_min,
    edge,
    exactly,
    in_l1_ball,
    on_simplex,
    optimum,
    solved,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game import Game
from relaxboost.relaxations import Capped, NormBall

CLOSED = [name for name, f in PENALTIES.items() if f.closed]
STRENGTH = Real(0.0, 1.0)


@SOURCE.claim(
    "Eq4",
    "Eq. 4",
    "Eq. 2 is the least sum of the maximal edge and the indicator of the ball ‖d‖_∞ ≤ 1/k.",
    formula="ρ = min_{d in S} (max_j |(dᵀA)_j| + I_C(d)), C = B_∞(1/k)",
    given="k in [m]",
    space=Space(A=Matrix(), k=Whole(1, "m")),
    trials=60,
)
def ball_of_caps(x: Instance) -> Iterator[Slack]:
    """Over all of the ball, in fractions: its d has no weight above 1/k and the value of Eq. 2."""
    rho, d, _ = optimum(x, Game(x.A, NormBall(math.inf, Fraction(1, x.k))))
    capped, _, w = optimum(x, Game(x.A, Capped(x.k)))
    yield at_most(max(d), Fraction(1, x.k), "largest weight")
    yield equal(edge(exactly(x.A), on_simplex(d)), rho, "edge of d and ρ")
    yield equal(avg_min(exactly(x.A) @ in_l1_ball(w), x.k), rho, "average margin and ρ")
    yield equal(capped, rho, "Eq. 2 and Eq. 4")


@SOURCE.claim(
    "D6",
    "Definition 6",
    "ρ is attained, and no distribution has a smaller sum of its maximal edge and f.",
    formula="ρ = min_{d in S} (max_j |(dᵀA)_j| + f(d))",
    given="here f closed and convex",
    space=Space(A=Matrix(), f=Choice(*CLOSED), s=STRENGTH, d=Vector("m", 0.0, 1.0)),
    trials=60,
)
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


@SOURCE.claim(
    "T7",
    "Theorem 7",
    "The least relaxed edge is the greatest soft margin, for f that meets (i), (ii), (iii).",
    formula="max_{w in B_1, γ} (γ − f*([γ − Aw]_+)) = ρ",
    given="f convex; (i) min f = 0; (ii) 0 in core(dom f); (iii) f*(θ) ≥ f*(θ − α θ_i e_i)",
    space=Space(A=Matrix(), f=Choice("open cube", *CLOSED), s=STRENGTH, w=Weights()),
    counterexamples=[
        {"A": [[1]], "f": "open cube", "s": 0, "w": [0]},
        {"A": [[1], [1]], "f": "open cube", "s": 0, "w": [0]},
    ],
    resolution=1e-6,
    trials=80,
)
def general_relaxation(x: Instance) -> Iterator[Slack]:
    """A convex f that is not closed can be greater than f** on the simplex, and f* cannot tell.

    The open cube, f = 0 for ‖d‖_∞ < 1/m and 1 where ‖d‖_∞ = 1/m, meets (i)–(iii) and is 1 at the
    only distribution it admits: ρ = 1 + 1, but f* = ‖θ‖_1/m leaves a margin of 1.
    """
    f = PENALTIES[x.f]
    rho, _, w = learnability(x, f)
    w /= max(1.0, float(np.abs(w).sum()))
    yield equal(best_hinge(x.A @ w, f, x.s), rho, f"margin and edge, {x.f}")
    drawn = in_l1_ball(exactly(x.w)).astype(np.float64)
    yield at_most(best_hinge(x.A @ drawn, f, x.s), rho, f"the w drawn, {x.f}")


@general_relaxation.corrected(
    "The same for closed f.", "max_{w in B_1, γ} (γ − f*([γ − Aw]_+)) = ρ, f closed"
)
def general_relaxation_closed(x: Instance) -> Iterator[Slack]:
    """The simplex is compact, so that closed f leaves no gap, even without (i) and (ii).

    The maximum over γ may be a supremum: f the indicator of ‖d‖_2 <= 1/√m, unequal margins.
    """
    assume(PENALTIES[x.f].closed)
    yield from general_relaxation.stated.check(x)


@SOURCE.claim(
    "E1",
    "Example 1",
    "Theorem 7 for the indicator of a ball, in an arbitrary norm.",
    formula="max_{w in B_1, γ} (γ − ν‖[γ − Aw]_+‖_*) = min_{d in S: ‖d‖ ≤ ν} ‖dᵀA‖_∞",
    given="the ball meets the simplex; here ‖(1/m, ..., 1/m)‖ ≤ ν/1.02",
    space=Space(
        sizes={"m": (1, 3), "n": (1, 2)},
        A=Matrix(),
        norm=Choice(*NORMS),
        c=Real(-0.9, 0.9),
        nu=Real(0.2, 1.5),
    ),
    counterexamples=[
        {"A": [[0], [1]], "norm": "paired", "c": 0, "nu": 1},
        {"A": [[0], [1]], "norm": "ellipsoid", "c": "-5/8", "nu": "5/8"},
    ],
    resolution=1e-6,
    trials=40,
)
def norm_ball(x: Instance) -> Slack:
    """Condition (iii) is orthant-monotonicity: ‖d‖ >= ‖d − d_i e_i‖. Not every norm has it.

    Both sides are convex programs; the left one for each set of examples with a loss.
    """
    assume(_meets_simplex(x))
    return equal(solved(hinge_side(x, False)), solved(edge_side(x, False)), x.norm)


@norm_ball.corrected(
    "The norm is orthant-monotonic.",
    "max_{w in B_1, γ} (γ − ν‖[γ − Aw]_+‖_*) = min_{d in S: ‖d‖ ≤ ν} ‖dᵀA‖_∞",
)
def monotone_norm_ball(x: Instance) -> Slack:
    """As stated; an ellipsoid whose axes are those of the examples is one, too."""
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    return norm_ball.stated.check(x)


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
def monotone_ball_conditions(x: Instance) -> Slack:
    """A norm is orthant-monotonic if and only if its dual is."""
    assume(x.norm in MONOTONE)
    return ball_conditions.stated.check(x)


@SOURCE.claim(
    "E1-soft-margin",
    "Example 1, the soft margin",
    "The average of the k smallest margins is the soft margin.",
    formula="AvgMin_k(u) = max_γ (γ − (1/k) Σ_i [γ − u_i]_+)",
    given="u = Aw, k in [m]",
    space=Space(u=Vector("m"), k=Whole(1, "m"), gamma=Real(-2.0, 2.0)),
    trials=200,
)
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
    space=Space(
        sizes={"m": (1, 3), "n": (1, 2)},
        A=Matrix(),
        norm=Choice(*NORMS),
        c=Real(-0.9, 0.9),
        nu=Real(-0.2, 1.5),
    ),
    counterexamples=[
        {"A": [[0], [1]], "norm": "paired", "c": 0, "nu": 1},
        {"A": [[1]], "norm": "max", "c": 0, "nu": "-1/5"},
    ],
    resolution=1e-6,
    trials=40,
)
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
def monotone_norm_penalty(x: Instance) -> Slack:
    """As stated."""
    assume(x.nu >= 0.0 and x.norm in MONOTONE)
    return norm_penalty.stated.check(x)


@norm_penalty.corrected(
    "For any norm and ν ≥ 0, the least ‖x‖_* over x ≥ γ − Aw takes the place of ‖[γ − Aw]_+‖_*.",
    "max {γ: w in B_1, x ≥ γ − Aw, ‖x‖_* ≤ ν} = min_{d in S} (‖dᵀA‖_∞ + ν‖d‖)",
)
def any_norm_penalty(x: Instance) -> Slack:
    """The proof of Lemma 8 before its last step."""
    assume(x.nu >= 0.0)
    return equal(solved(least_side(x, True)), solved(edge_side(x, True)), x.norm)


@SOURCE.claim(
    "L8",
    "Lemma 8",
    "The conjugate of f on the simplex is a maximum over thresholds of hinge losses.",
    formula="f̃*(θ) = −max_γ (γ − f*([γ + θ]_+)), f̃ = f + I_S",
    given="f convex with (i), (ii), (iii) of Theorem 7",
    space=Space(
        theta=Vector("m"),
        f=Choice("open cube", *CLOSED),
        s=STRENGTH,
        d=Vector("m", 0.0, 1.0),
    ),
    counterexamples=[{"theta": [0], "f": "open cube", "s": 0, "d": [1]}],
    resolution=1e-6,
)
def hinge_conjugate(x: Instance) -> Iterator[Slack]:
    """The open cube of Theorem 7 again: f̃*(0) = −1, and −max_γ (...) = 0.

    The left side is at least <θ, d> − f(d) for every d, which is evaluated by hand; that it is no
    more is a bound of the package, proved by a threshold.
    """
    f, theta = PENALTIES[x.f], x.theta
    m = theta.size
    relaxation = f.relaxation(m, x.s).resolve(m)
    best = relaxation.relaxed_margin(-theta)[1]
    value = float(theta @ best) - f.f(best, x.s)
    bound = relaxation.lower_bound(-theta, relaxation.witness(-theta)) + f.constant(m, x.s)
    left = Bracket(value, max(value, -bound)) + solved(0.0)
    right = -best_hinge(-theta, f, x.s)
    yield equal(left, right, f"conjugate and thresholds, {x.f}")
    drawn = on_simplex(exactly(x.d)).astype(np.float64)
    yield at_most(float(theta @ drawn) - f.f(drawn, x.s), right, f"the d drawn, {x.f}")


@hinge_conjugate.corrected("The same for closed f.", "f̃*(θ) = −sup_γ (γ − f*([γ + θ]_+))")
def hinge_conjugate_closed(x: Instance) -> Iterator[Slack]:
    """The proof takes (ii) for what Theorem 3 asks for, which is 0 in core(S − dom f).

    That may fail, where the ball only touches the simplex; as the simplex is compact, a closed f
    leaves no gap there either, but the maximum is then a supremum.
    """
    assume(PENALTIES[x.f].closed)
    yield from hinge_conjugate.stated.check(x)


@SOURCE.claim(
    "L8-minimiser",
    "Lemma 8, proof",
    "[θ + γ]_+ minimises f* over the x with x ≥ θ + γ.",
    formula="f*([θ + γ]_+) ≤ f*(x) for x ≥ θ + γ",
    given="f with condition (iii) of Theorem 7",
    space=Space(
        theta=Vector("m"),
        gamma=Real(-1.0, 1.0),
        more=Vector("m", 0.0, 1.0),
        f=Choice(*CLOSED),
        s=STRENGTH,
    ),
    trials=300,
)
def minimiser(x: Instance) -> Slack:
    """Entry by entry, each of them moved towards zero; x = θ + γ + more."""
    f, least = PENALTIES[x.f], x.theta + x.gamma
    left = f.f_star(np.maximum(least, 0.0), x.s)
    return at_most(left, f.f_star(least + x.more, x.s), x.f)


@SOURCE.claim(
    "remark-hard-margin",
    "Sec. 5, the non-relaxed problem",
    "f*(x) = max_i x_i, of the indicator of the simplex, satisfies the conditions of Theorem 7.",
    formula="(iii) max_i θ_i ≥ max_i (θ − α θ_i e_i)_i",
    given="the conditions asked of f* after Eq. 5",
    space=Space(theta=Vector("m"), i=Whole(1, "m"), alpha=Real(0.0, 1.0)),
    counterexamples=[{"theta": [-1], "i": 1, "alpha": 1}],
)
def hard_margin(x: Instance) -> Iterator[Slack]:
    """(iii) fails where all of θ is negative, e.g. f*(−1) = −1 < f*(0) = 0.

    So does (ii), 0 in core(dom f): 0 is not in the simplex at all.
    """
    theta = exactly(x.theta)
    less = theta.copy()
    less[x.i - 1] *= 1 - Fraction(x.alpha)
    yield at_most(max(less), max(theta), "condition (iii)")


@hard_margin.corrected(
    "It does not, but the conclusion holds all the same.",
    "max_γ (γ − max_i [γ − u_i]_+) = min_i u_i",
)
def hard_margin_conclusion(x: Instance) -> Slack:
    """γ up to min u, and min u from there on; here u = −θ, and each γ = u_i is tried."""
    u = -exactly(x.theta)
    return equal(max(g - max(max(g - v, 0) for v in u) for g in u), min(u), "soft and hard margin")


@hard_margin.corrected(
    "f = 0 satisfies them, with the same problem: f* is the indicator of {0}.",
    "max {γ: [γ − u]_+ = 0} = min_i u_i, and I_{0}(θ) ≥ I_{0}(θ − α θ_i e_i)",
)
def no_penalty(x: Instance) -> Iterator[Slack]:
    """min f = 0, dom f = R^m, and what is not zero costs ∞ already."""
    u = -exactly(x.theta)
    less = x.theta.copy()
    less[x.i - 1] *= 1.0 - x.alpha
    f = PENALTIES["nothing"]
    yield equal(max(g for g in u if all(g <= v for v in u)), min(u), "soft and hard margin")
    yield at_most(f.f_star(less, 0.0), f.f_star(x.theta, 0.0), "condition (iii)")
