"""SS09, Sec. 4.2: Lemma 8, and the hard margin under the conditions of Theorem 7."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost.claims import Choice, Instance, Real, Space, Vector, Whole
from relaxboost.claims.measure import Bracket, Slack, assume, at_most, equal
from relaxboost.claims.sides import exactly, on_simplex, solved
from relaxboost.claims.ss09.penalties import CLOSED, PENALTIES, STRENGTH, hinge_side
from relaxboost.claims.ss09.source import SOURCE


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
).checked(resolution=1e-6)
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
    right = -hinge_side(-theta, f, x.s)
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
    yield from hinge_conjugate(x)


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
).checked(trials=300)
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
