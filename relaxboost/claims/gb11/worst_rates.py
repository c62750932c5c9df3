"""GB11: the worst mean gaps of Algorithms 2 and 3 over all functionals and weak learners."""

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

from relaxboost.claims.gb11 import convex, remarks, repeated, residual
from relaxboost.claims.gb11.worst import EDGES, GRID, Run, fraction, over
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import (
    ConvexFunctional,
    Element,
    Expression,
    WorstCase,
    root,
    total,
    unit,
    worst_case,
)

AVERAGES = {True: "f_0..f_{T−1}", False: "f_1..f_T"}


# Theorems 4 and 6: λ = G = 1

STRONG = over("T ≤ 4, γ = 1/2, 9/10 and 1", gamma=(*EDGES, 1), T=range(1, 5))
LONGER = over("T ≤ 6, γ = 1/2, 9/10 and 1", gamma=(*EDGES, 1), T=range(1, 7))


def strongly(x: Instance, algorithm: int, end: bool = False) -> tuple[Run, Expression]:
    """Return a run on a 1-strongly convex functional, and R[f*]."""
    R = ConvexFunctional(strong=1)
    _, least = R.minimum()
    steps = [Fraction(2 if algorithm == 2 else 1, t) for t in range(1, x.T + 1)]
    return Run(algorithm, fraction(x.gamma), steps, R, end=end), least


@cache
def _strong_mean(algorithm: int, T: int, gamma: Fraction, proof: bool) -> WorstCase:
    parameters: Any = Instance({"T": T, "gamma": gamma}, {})
    run, least = strongly(parameters, algorithm, not proof)
    return worst_case(run.mean(least, proof), run.bounded(), [run.R])


def strong_means(x: Instance, algorithm: int, bound: float) -> Slacks:
    """Compare the worst mean gaps of both averages with a bound."""
    for proof, points in AVERAGES.items():
        worst = _strong_mean(algorithm, x.T, fraction(x.gamma), proof)
        yield at_most(worst.bracket, bound, f"mean gap of {points}", x.T)


@repeated.strong.step(space=GRID, every=STRONG)
def _(x: Instance) -> Slacks:
    yield from strong_means(x, 2, (math.log(x.T) + 1.0 / x.gamma**2) / x.T)


@repeated.strong_sharp.step(space=GRID, every=STRONG, resolution=1e-5)
def _(x: Instance) -> Slacks:
    run, least = strongly(x, 2)
    q2, T = 1.0 - x.gamma**2, range(1, x.T + 1)
    parts = [g @ g / t for t, g in zip(T, run.gradients, strict=True)]
    parts += [r @ r * Fraction(t - 1, t) for t, r in zip(T, run.rests, strict=True)]
    gaps, first = total(run.values) - x.T * least, run.points[0]
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
    before = [Element({}), *run.rests]
    pairs = zip(before, run.gradients, strict=False)
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
"""f* is the origin for distances to f*, and any element for norms."""


@cache
def _weak_mean(
    algorithm: int, T: int, gamma: Fraction, F: Fraction, proof: bool, centred: bool
) -> WorstCase:
    """Return the worst mean gap where distances to f*, or norms, are F at most."""
    R, best = ConvexFunctional(), Element({}) if centred else Element()
    least, _ = R.at(best, Element({}))
    steps = [root(Fraction(1, t)) for t in range(1, T + 1)]
    run = Run(algorithm, gamma, steps, R)
    points = run.points if centred else [*run.points, best]
    near = [(f - best) @ (f - best) if centred else f @ f for f in points]
    requirements = [*run.bounded(), *(square <= F**2 for square in near)]
    return worst_case(run.mean(least, proof), requirements, [R])


def weak_means(x: Instance, algorithm: int, centred: bool = False) -> Slacks:
    """Compare the worst mean gaps of both averages with the bounds of Theorems 5 and 7."""
    gamma, q, D = fraction(x.gamma), repeated.wasted(x.gamma), x.F if centred else 2.0 * x.F
    if algorithm == 2:
        right = (D**2 / 2.0 + 1.0) / math.sqrt(x.T) + D * q / ((1.0 - q) * x.T)
    else:
        right = (D**2 / 2.0 + (1.0 + q) / (1.0 - q)) / math.sqrt(x.T)
    for proof, points in AVERAGES.items():
        worst = _weak_mean(algorithm, x.T, gamma, fraction(x.F), proof, centred)
        yield at_most(worst.bracket, right, f"mean gap of {points}", x.T)


@convex.convex_corrected.step(space=GRID, every=CONVEX)
def _(x: Instance) -> Slacks:
    yield from weak_means(x, 2)


@convex.convex_distance.step(space=GRID, every=CONVEX)
def _(x: Instance) -> Slacks:
    yield from weak_means(x, 2, True)


@residual.convex_corrected.step(space=GRID, every=CONVEX)
def _(x: Instance) -> Slacks:
    yield from weak_means(x, 3)


@residual.convex_distance.step(space=GRID, every=CONVEX)
def _(x: Instance) -> Slacks:
    yield from weak_means(x, 3, True)


LAST = over("T ≤ 4, γ = 1/2, 9/10 and 1, D/G = 1 and 2", F=(1, 2), gamma=(*EDGES, 1), T=range(1, 5))


@cache
def _last(algorithm: int, T: int, gamma: Fraction, D: Fraction) -> WorstCase:
    """Return the worst gap of f_{T−1} where all distances of points and f* are D at most."""
    R = ConvexFunctional()
    best, least = R.minimum()
    steps = [root(Fraction(1, t)) for t in range(1, T)]
    run = Run(algorithm, gamma, steps, R)
    away = [f - g for f, g in itertools.combinations([*run.points, best], 2)]
    requirements = [*run.bounded(), *(z @ z <= D**2 for z in away)]
    return worst_case(run.values[-1] - least, requirements, [R])


@remarks.average.step(space=GRID, every=LAST)
def _(x: Instance) -> Slack:
    q, log = repeated.wasted(x.gamma), math.log(x.T)
    most = x.F**2 / 2.0 + 2.0 * (3.0 + 2.0 * log) + x.F * q * (3.0 - 2.0 * q) / (1.0 - q) ** 2
    worst = _last(2, x.T, fraction(x.gamma), fraction(x.F))
    return at_most(worst.bracket, most / math.sqrt(x.T), "gap of f_{T−1}", x.T)


@remarks.average_residual.step(space=GRID, every=LAST)
def _(x: Instance) -> Slack:
    q, log = repeated.wasted(x.gamma), math.log(x.T)
    B = q / (1.0 - q)
    most = x.F**2 / 2.0 + (0.5 + B) * (3.0 + 2.0 * log) + B * (x.F + B) * (2.0 + log) + 1.5 * B**2
    worst = _last(3, x.T, fraction(x.gamma), fraction(x.F))
    return at_most(worst.bracket, most / math.sqrt(x.T), "gap of f_{T−1}", x.T)
