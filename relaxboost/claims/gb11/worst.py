"""GB11: the worst case of the algorithms over all convex functionals, Hilbert spaces and weak
learners.

The weak learner projects a vector g onto its nearest direction. The projection p satisfies two
conditions: p is orthogonal to g − p, and ‖p‖² ≥ γ²‖g‖², because the edge is at least γ. The worst
case is computed over all vectors p with these two conditions. They include projections onto
directions that are not the nearest ones, and weak learners that change between rounds. So a bound
on the worst case is more general than the statement of the paper.

A convex functional R is minimal at f* if and only if 0 is a subgradient of R at f*. Since R and all
lengths can be scaled, two constants can be set to 1 without loss of generality. These are either λ,
the constant of strong convexity, and G, the largest norm of a gradient, or Λ, the constant of
smoothness, and the first gap R[f_0] − R[f*]. If the step sizes do not depend on R, only G is set to
1.
"""

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from relaxboost.claims.gb11 import convex, remarks, repeated, residual, smooth
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import (
    ConvexFunctional,
    Element,
    Expression,
    Requirement,
    WorstCase,
    root,
    total,
    unit,
    worst_case,
)

GRID = Space(T=Whole(1, 6), gamma=Real(0.1, 1), lam=Real(0, 0.9), F=Real(0.5, 8))
"""The parameters of a worst case: the number T of rounds, the edge γ, the strong convexity λ, and a
bound F on the norms or on the distances of functions. If γ = 1, the weak learner returns the
gradient itself."""


def over(words: str, **values: Iterable[Any]) -> WorstCases:
    """Return a parameter grid with the description `words`.

    The default values are T = 1, F = 1, γ = 1/2 and λ = 0.
    """
    usual: dict[str, Any] = {"T": (1,), "gamma": ("1/2",), "lam": (0,), "F": (1,)}
    others = {name: one for name, one in usual.items() if name not in values}
    return WorstCases.grid(words, **others, **values)


EDGES = ("1/2", "9/10")


def fraction(x: float) -> Fraction:
    """Return the short fraction for a parameter that an instance stores as a float."""
    return Fraction(x).limit_denominator(1000)


def projection(g: Element, gamma: Fraction) -> tuple[Element, list[Requirement]]:
    """Return a projection p of the vector g, and the requirements on p.

    They say that p is orthogonal to g − p, and that the edge is at least `gamma`. If `gamma` is 1,
    the projection is g itself.
    """
    if gamma == 1:
        return g, []
    p = Element()
    return p, [p @ (g - p) == 0, p @ p >= gamma**2 * (g @ g)]


class Run:
    """A run of Algorithm 1, 2 or 3 from an unknown start f_0 with given step sizes.

    `points` are f_0, f_1, ..., and `values` and `gradients` are those of the functional R there.
    The last function f_T has a value and a gradient only if `end` is true. For each round, `parts`
    contains the projections, `moves` their sum h_t, and `rests` the residual.
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
        """Return the requirements on all projections, and the requirements that the gradients at
        all visited functions have norms of at most 1.
        """
        return [*self.requirements, *(g @ g <= 1 for g in self.gradients)]

    def mean(self, least: Expression, proof: bool) -> Expression:
        """Return the mean gap R[f_t] − R[f*] over f_1, ..., f_T, or over f_0, ..., f_{T−1} if
        `proof` is true.
        """
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


@smooth.printed_edge_corrected.step(space=GRID, every=ROUND, resolution=1e-5)
def _(x: Instance) -> Slack:
    gamma = fraction(x.gamma)
    R = ConvexFunctional(smooth=1, strong=fraction(x.lam))
    R.minimum()
    run = Run(1, gamma, [Fraction(1)], R)
    (before, after), requirements = run.values, [unit(run.gradients[:1]), *run.requirements]
    worst = worst_case(after - before + gamma**2 / 2, requirements, [R])
    return at_most(worst.bracket, 0, "R[f_1] − R[f_0] + γ²‖∇‖²/2")


# Projections without a functional: ∇ and ∇_t are arbitrary elements with ‖∇‖ ≤ 1

SMALL = over("t ≤ 6, γ = 1/2 and 9/10", gamma=EDGES, T=range(1, 7))


@cache
def _longest(t: int, gamma: Fraction, algorithm: int) -> WorstCase:
    # The largest ‖h‖² in round t is over all gradients. Algorithm 2 makes t projections of one
    # gradient. Algorithm 3 uses a new gradient in each round.
    rest = Element({})
    parts = []
    requirements = []
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
    return worst_case(h @ h, requirements)


@convex.lengths_corrected.step(space=GRID, every=SMALL, resolution=1e-5)
def _(x: Instance) -> Slack:
    right = 1.0 if x.T == 1 else (1.0 + repeated.wasted(x.gamma) ** x.T) ** 2
    return at_most(_longest(x.T, fraction(x.gamma), 2).bracket, right, "‖h_t‖², ‖∇_t‖ = 1", x.T)


@residual.lengths_corrected.step(space=GRID, every=SMALL, resolution=1e-4)
def _(x: Instance) -> Slack:
    right = 1.0 / (1.0 - repeated.wasted(x.gamma)) ** 2
    return at_most(_longest(x.T, fraction(x.gamma), 3).bracket, right, "‖h_T‖², G = 1", x.T)


AVERAGES = {True: "f_0..f_{T−1}", False: "f_1..f_T"}


# Theorems 4 and 6: λ = G = 1

STRONG = over("T ≤ 4, γ = 1/2, 9/10 and 1", gamma=(*EDGES, 1), T=range(1, 5))
LONGER = over("T ≤ 6, γ = 1/2, 9/10 and 1", gamma=(*EDGES, 1), T=range(1, 7))


def strongly(x: Instance, algorithm: int, end: bool = False) -> tuple[Run, Expression]:
    """Return a run on a 1-strongly convex functional, and the minimum R[f*]."""
    R = ConvexFunctional(strong=1)
    _, least = R.minimum()
    steps = [Fraction(2 if algorithm == 2 else 1, t) for t in range(1, x.T + 1)]
    return Run(algorithm, fraction(x.gamma), steps, R, end=end), least


@cache
def _strong_mean(algorithm: int, T: int, gamma: Fraction, proof: bool) -> WorstCase:
    run, least = strongly(Instance({"T": T, "gamma": gamma}, {}), algorithm, not proof)
    return worst_case(run.mean(least, proof), run.bounded(), [run.R])


def strong_means(x: Instance, algorithm: int, bound: float) -> Slacks:
    """Yield the slacks of a bound on the worst mean gap R[f] − R[f*] for strongly convex
    functionals.

    The first mean is over f_0, ..., f_{T−1}, and the second over f_1, ..., f_T.
    """
    for proof, points in AVERAGES.items():
        worst = _strong_mean(algorithm, x.T, fraction(x.gamma), proof)
        yield at_most(worst.bracket, bound, f"mean gap of {points}", x.T)


@repeated.strong.step(space=GRID, every=STRONG)
def _(x: Instance) -> Slacks:
    yield from strong_means(x, 2, (math.log(x.T) + 1.0 / x.gamma**2) / x.T)


@repeated.strong_sharp.step(space=GRID, every=STRONG, resolution=1e-5)
def _(x: Instance) -> Slacks:
    run, least = strongly(x, 2)
    q2 = 1.0 - x.gamma**2
    T = range(1, x.T + 1)
    parts = [g @ g / t for t, g in zip(T, run.gradients, strict=True)]
    parts += [r @ r * Fraction(t - 1, t) for t, r in zip(T, run.rests, strict=True)]
    gaps = total(run.values) - x.T * least
    first = run.points[0]
    left = gaps - total(parts) + first @ first / 4
    worst = worst_case(left, [unit(run.gradients), *run.requirements], [run.R])
    yield at_most(worst.bracket, 0, "Σ gaps less its bound", x.T)
    mean = _strong_mean(2, x.T, fraction(x.gamma), True).bracket
    right = sum(1.0 / t + (1.0 - 1.0 / t) * q2**t for t in T) / x.T
    yield at_most(mean, right, "mean gap of f_0..f_{T−1}", x.T)


@residual.strong.step(space=GRID, every=LONGER)
def _(x: Instance) -> Slacks:
    rest = 2.0 * (1.0 + math.log(x.T) + 2.0 / x.T) / x.T
    yield from strong_means(x, 3, 4.0 * rest / x.gamma**4)


@residual.strong_sharp.step(space=GRID, every=LONGER, resolution=1e-5)
def _(x: Instance) -> Slacks:
    run, least = strongly(x, 3)
    pairs = zip([Element({}), *run.rests], run.gradients, strict=False)
    parts = [(g + 2 * rest) @ g / (2 * t) for t, (rest, g) in enumerate(pairs, 1)]
    gaps = total(run.values) - x.T * least
    worst = worst_case(gaps - total(parts), [unit(run.gradients), *run.requirements], [run.R])
    yield at_most(worst.bracket, 0, "Σ gaps less its bound", x.T)
    q = repeated.wasted(x.gamma)
    right = (1.0 + q) / (1.0 - q) * (1.0 + math.log(x.T)) / (2.0 * x.T)
    mean = _strong_mean(3, x.T, fraction(x.gamma), True).bracket
    yield at_most(mean, right, "mean gap of f_0..f_{T−1}", x.T)


# Theorems 5 and 7: G = 1

CONVEX = over(
    "T ≤ 4, γ = 1/2, 9/10 and 1, F/G = 1 and 2", F=(1, 2), gamma=(*EDGES, 1), T=range(1, 5)
)


@cache
def _weak_mean(algorithm: int, T: int, gamma: Fraction, F: Fraction, proof: bool) -> WorstCase:
    R = ConvexFunctional()
    best = Element()
    least, _ = R.at(best, Element({}))
    run = Run(algorithm, gamma, [root(Fraction(1, t)) for t in range(1, T + 1)], R)
    requirements = [*run.bounded(), *(f @ f <= F**2 for f in [*run.points, best])]
    return worst_case(run.mean(least, proof), requirements, [R])


def weak_means(x: Instance, algorithm: int) -> Slacks:
    """Yield the slacks of a bound on the worst mean gap R[f] − R[f*] for convex functionals.

    The first mean is over f_0, ..., f_{T−1}, and the second over f_1, ..., f_T. The bound is that
    of the corrected Theorem 5 for Algorithm 2, and of the corrected Theorem 7 for Algorithm 3.
    """
    gamma = fraction(x.gamma)
    q = repeated.wasted(x.gamma)
    D = 2.0 * x.F
    if algorithm == 2:
        right = (D**2 / 2.0 + 1.0) / math.sqrt(x.T) + D * q / ((1.0 - q) * x.T)
    else:
        right = (D**2 / 2.0 + (1.0 + q) / (1.0 - q)) / math.sqrt(x.T)
    for proof, points in AVERAGES.items():
        worst = _weak_mean(algorithm, x.T, gamma, fraction(x.F), proof)
        yield at_most(worst.bracket, right, f"mean gap of {points}", x.T)


convex.convex_corrected.step(space=GRID, every=CONVEX)(lambda x: weak_means(x, 2))
residual.convex_corrected.step(space=GRID, every=CONVEX)(lambda x: weak_means(x, 3))


# The gap of the last iterate, derived from the averages: G = 1

LAST = over("T ≤ 4, γ = 1/2, 9/10 and 1, D/G = 1 and 2", F=(1, 2), gamma=(*EDGES, 1), T=range(1, 5))


@remarks.average.step(space=GRID, every=LAST)
def _(x: Instance) -> Slack:
    R = ConvexFunctional()
    best, least = R.minimum()
    run = Run(2, fraction(x.gamma), [root(Fraction(1, t)) for t in range(1, x.T)], R)
    away = [f - g for f, g in itertools.combinations([*run.points, best], 2)]
    requirements = [*run.bounded(), *(z @ z <= fraction(x.F) ** 2 for z in away)]
    worst = worst_case(run.values[-1] - least, requirements, [R])
    q = repeated.wasted(x.gamma)
    log = math.log(x.T)
    most = x.F**2 / 2.0 + 2.0 * (3.0 + 2.0 * log) + x.F * q * (3.0 - 2.0 * q) / (1.0 - q) ** 2
    return at_most(worst.bracket, most / math.sqrt(x.T), "gap of f_{T−1}", x.T)
