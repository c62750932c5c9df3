"""GB11: what the algorithms do at worst, over all functionals, spaces and weak learners.

A projection p of g onto the nearest direction is known by two conditions: p is orthogonal to
g − p, and ‖p‖² ≥ γ²‖g‖² says that the edge is at least γ. Each run of an algorithm meets them. The
direction need not be the nearest one, which is more than the statements are about, and so are
weak learners that change from round to round. A convex functional is least at f* just if 0 is a
subgradient there. Factors of R, and of all lengths, make two constants 1 without loss of
generality: λ and G, or Λ and the first gap, or, for steps that do not depend on R, G alone.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from relaxboost.claims.gb11 import convex, repeated, residual, smooth
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import (
    ConvexFunctional,
    Element,
    Expression,
    Requirement,
    WorstCase,
    total,
    unit,
    worst_case,
)

GRID = Space(T=Whole(1, 6), gamma=Real(0.1, 1), lam=Real(0, 0.9), F=Real(0.5, 8))
"""Parameters; γ = 1 is a weak learner that returns gradients."""


def over(words: str, **values: Iterable[Any]) -> WorstCases:
    """Return all combinations of parameters; F, γ and λ are 1, 1/2 and 0 if they are not given."""
    usual = {name: (x,) for name, x in _USUAL.items() if name not in values}
    return WorstCases.grid(words, **usual, **values)


_USUAL = {"T": 1, "gamma": "1/2", "lam": 0, "F": 1}
EDGES = ("1/2", "9/10")


def fraction(x: float) -> Fraction:
    """Return the short fraction that a number of an instance stands for."""
    return Fraction(x).limit_denominator(1000)


def projection(g: Element, gamma: Fraction) -> tuple[Element, list[Requirement]]:
    """Return the projection of g onto a direction with an edge of at least γ."""
    if gamma == 1:
        return g, []
    p = Element()
    return p, [p @ (g - p) == 0, p @ p >= gamma**2 * (g @ g)]


class Run:
    """A run of Algorithm 1, 2 or 3 with given steps η_t, from any f_0.

    Attributes
    ----------
    points, values, gradients : list
        f_0, f_1, ..., and R and ∇R there; at f_T only if `end`.
    moves, rests : list
        The steps h_t, and what is left over of ∇_t or Δ_t + ∇_t.
    parts : list of list
        The projections of which each h_t is the sum.
    requirements : list
        What is required of projections.
    """

    def __init__(
        self,
        algorithm: int,
        gamma: Fraction,
        steps: Iterable[Fraction | Bracket],
        R: ConvexFunctional,
        end: bool = True,
    ) -> None:
        self.R = R
        self.points = [Element()]
        self.values: list[Expression] = []
        self.gradients: list[Element] = []
        self.parts: list[list[Element]] = []
        self.moves: list[Element] = []
        self.rests: list[Element] = []
        self.requirements: list[Requirement] = []
        rest = Element({})
        for t, eta in enumerate(steps, 1):
            self._visit()
            rest = self.gradients[-1] + rest if algorithm == 3 else self.gradients[-1]
            parts = []
            for _ in range(t if algorithm == 2 else 1):
                p, edge = projection(rest, gamma)
                self.requirements += edge
                parts.append(p)
                rest = rest - p
            self.parts.append(parts)
            self.moves.append(total(parts))
            self.rests.append(rest)
            self.points.append(self.points[-1] - self.moves[-1] * eta)
        if end:
            self._visit()

    def _visit(self) -> None:
        value, gradient = self.R.at(self.points[-1])
        self.values.append(value)
        self.gradients.append(gradient)

    def bounded(self) -> list[Requirement]:
        """Return the requirements, and ‖∇R‖ <= 1 at the points that were visited."""
        return [*self.requirements, *(g @ g <= 1 for g in self.gradients)]

    def mean(self, least: Expression, proof: bool) -> Expression:
        """Return the mean gap of f_0..f_{T−1} ("proof index") or f_1..f_T."""
        T = len(self.moves)
        return total(self.values[:T] if proof else self.values[1:]) / T - least


# Theorem 3

CONDITIONS = "γ = 1/2 and 9/10, λ/Λ = 1/10 and 1/2"
ROUND = over(CONDITIONS, gamma=EDGES, lam=("1/10", "1/2"))
BOWLS = over(f"T ≤ 6, {CONDITIONS}", gamma=EDGES, lam=("1/10", "1/2"), T=range(1, 7))


@smooth.theorem.step(
    space=GRID, every=over("λ/Λ = 1/10, 1/2 and 9/10", lam=("1/10", "1/2", "9/10")), resolution=1e-5
)
def _(x: Instance) -> Slack:
    lam = fraction(x.lam)
    R = ConvexFunctional(smooth=1, strong=lam)
    (_, least), (value, g) = R.minimum(), R.at(Element())
    worst = worst_case(2 * lam * (value - least), [g @ g <= 1], [R])
    return at_most(worst.bracket, 1, "2λ gap")


@smooth.theorem.step(space=GRID, every=BOWLS, resolution=1e-5)
def _(x: Instance) -> Slack:
    gamma, lam = fraction(x.gamma), fraction(x.lam)
    R = ConvexFunctional(smooth=1, strong=lam)
    _, least = R.minimum()
    run = Run(1, gamma, [Fraction(1)] * x.T, R)
    first, *_, last = (value - least for value in run.values)
    worst = worst_case(last, [first <= 1, *run.requirements], [R])
    return at_most(worst.bracket, (1 - gamma**2 * lam) ** x.T, "the ratio, its bound", x.T)


@smooth.searched.step(space=GRID, every=BOWLS, resolution=1e-5)
def _(x: Instance) -> Slack:
    gamma, lam = fraction(x.gamma), fraction(x.lam)
    R, f = ConvexFunctional(smooth=1, strong=lam), Element()
    _, least = R.minimum()
    value, g = R.at(f)
    requirements = [value - least <= 1]
    for _ in range(x.T):
        p, edge = projection(g, gamma)
        s = Element()
        f = f - s
        value, g = R.at(f)
        requirements += [*edge, g @ p == 0, g @ s == 0]
    worst = worst_case(value - least, requirements, [R])
    return at_most(worst.bracket, (1 - gamma**2 * lam) ** x.T, "the ratio, its bound", x.T)


@smooth.printed_edge_corrected.step(space=GRID, every=ROUND, resolution=1e-5)
def _(x: Instance) -> Slack:
    gamma, R = fraction(x.gamma), ConvexFunctional(smooth=1, strong=fraction(x.lam))
    R.minimum()
    run = Run(1, gamma, [Fraction(1)], R)
    (before, after), requirements = run.values, [unit(run.gradients[:1]), *run.requirements]
    worst = worst_case(after - before + gamma**2 / 2, requirements, [R])
    return at_most(worst.bracket, 0, "R[f_1] − R[f_0] + γ²‖∇‖²/2")


# Projections alone: ∇ and ∇_t are any elements with ‖∇‖ ≤ 1, for which more is proved

SMALL = over("t ≤ 6, γ = 1/2 and 9/10", gamma=EDGES, T=range(1, 7))


@cache
def _projected(t: int, gamma: Fraction, length: bool, algorithm: int = 2) -> WorstCase:
    """Return the greatest ‖h‖², or square of what is left over, of round t for any gradients.

    Algorithm 2 projects one gradient t times, and Algorithm 3 a new one in each round.
    """
    rest, parts, requirements = Element({}), [], []
    for number in range(t):
        if number == 0 or algorithm == 3:
            g = Element()
            rest = rest + g
            requirements.append(g @ g <= 1)
        p, edge = projection(rest, gamma)
        requirements += edge
        parts.append(p)
        rest = rest - p
    h = total(parts) if algorithm == 2 else p
    return worst_case(h @ h if length else rest @ rest, requirements)


@convex.lengths_corrected.step(space=GRID, every=SMALL, resolution=1e-5)
def _(x: Instance) -> Slack:
    worst = _projected(x.T, fraction(x.gamma), True)
    right = 1.0 if x.T == 1 else (1.0 + repeated.wasted(x.gamma) ** x.T) ** 2
    return at_most(worst.bracket, right, "‖h_t‖², ‖∇_t‖ = 1", x.T)


@convex.lengths_corrected.step(space=GRID, every=SMALL, resolution=1e-5)
def _(x: Instance) -> Slack:
    worst, gamma = _projected(x.T, fraction(x.gamma), False), fraction(x.gamma)
    return at_most(worst.bracket, (1 - gamma**2) ** x.T, "‖∇_t − h_t‖², ‖∇_t‖ = 1", x.T)


@residual.lengths_corrected.step(space=GRID, every=SMALL, resolution=1e-4)
def _(x: Instance) -> Slack:
    q, worst = repeated.wasted(x.gamma), _projected(x.T, fraction(x.gamma), False, 3)
    right = (q * (1.0 - q**x.T) / (1.0 - q)) ** 2
    return at_most(worst.bracket, right, "‖Δ_{T+1}‖², G = 1", x.T)


@residual.lengths_corrected.step(space=GRID, every=SMALL, resolution=1e-4)
def _(x: Instance) -> Slack:
    q, worst = repeated.wasted(x.gamma), _projected(x.T, fraction(x.gamma), True, 3)
    return at_most(worst.bracket, 1.0 / (1.0 - q) ** 2, "‖h_T‖², G = 1", x.T)
