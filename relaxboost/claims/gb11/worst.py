"""GB11: what the algorithms do at worst, over all functionals, spaces and weak learners.

A projection p of g onto the nearest direction is known by two conditions: p is orthogonal to
g − p, and ‖p‖² ≥ γ²‖g‖² says that the edge is at least γ. Every weak learner with that edge, and
none without it, gives such a p.
"""

from fractions import Fraction

from relaxboost.claims.gb11 import smooth
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import ConvexFunctional, Element, Requirement, worst_case

GRID = Space(T=Whole(1, 6), gamma=Real(0.1, 0.99), lam=Real(0.05, 0.9))
"""Λ = 1, without loss of generality."""


def projection(g: Element, gamma: Fraction) -> tuple[Element, list[Requirement]]:
    """Return the projection of g onto the nearest direction, for an edge of at least γ."""
    p = Element()
    return p, [p @ (g - p) == 0, p @ p >= gamma**2 * (g @ g)]


def fraction(x: float) -> Fraction:
    """Return the short fraction that a number of an instance stands for."""
    return Fraction(x).limit_denominator(1000)


@smooth.theorem.step(
    "the worst case over all instances",
    "max (R[f_T] − R[f*])/(R[f_0] − R[f*]) ≤ (1 − γ²λ/Λ)^T",
    space=GRID,
    every=WorstCases(
        "T ≤ 6, γ = 1/2 and 9/10, λ/Λ = 1/10 and 1/2",
        lambda: [
            {"T": T, "gamma": gamma, "lam": lam}
            for gamma in ("1/2", "9/10")
            for lam in ("1/10", "1/2")
            for T in range(1, 7)
        ],
    ),
    resolution=1e-5,
)
def _(x: Instance) -> Slack:
    """Not tight for λ < Λ: .8664 for T = 1, γ = λ/Λ = 1/2, where the bound is .875."""
    gamma, lam = fraction(x.gamma), fraction(x.lam)
    R, f = ConvexFunctional(smooth=1, strong=lam), Element()
    _, least = R.minimum()
    value, g = R.at(f)
    requirements = [value - least <= 1]
    for _ in range(x.T):
        p, edge = projection(g, gamma)
        requirements += edge
        f = f - p
        value, g = R.at(f)
    worst = worst_case(value - least, requirements, [R])
    return at_most(worst.bracket, (1 - gamma**2 * lam) ** x.T, "the ratio, its bound", x.T)
