"""DEK11, Theorem 1: the worst case of constrained gradient descent over all streams.

The set H of weights may be any closed convex set that contains 0 and lies in the ball of radius B
around 0. The gradients have norms of at most λX. Without loss of generality, B = λX = 1. The
projection of v onto H is the point Π[v] in H with <v − Π[v], z − Π[v]> ≤ 0 for all z in H.

The linearised regret replaces each loss by its tangent at the weights of the learner. It is at
least the regret, and for linear losses the two are equal. So it suffices to take arbitrary vectors
of length at most 1 as the gradients ∇l_i.
"""

import math
from fractions import Fraction
from functools import cache

from relaxboost.claims.dek11 import descent
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import Element, Requirement, WorstCase, root, worst_case

GRID = Space(m=Whole(1, 9), eta=Real(0.25, 4))
ROUNDS = WorstCases.grid("m ≤ 6 and m = 9", eta=("1",), m=(1, 2, 3, 4, 5, 6, 9))
STEPS = WorstCases.grid("m ≤ 5, η = 1/2, 1 and 2", eta=("1/2", "1", "2"), m=range(1, 6))


class AnyStream:
    """An unknown stream of m examples for gradient descent with the step size `eta`.

    The unknowns are the gradients ∇l_1, ..., ∇l_m, the learner's weights w_1, ..., w_m, and the
    comparison weights w*. The first weights w_0 are 0.
    """

    def __init__(self, m: int, eta: Fraction | Bracket) -> None:
        self.slopes = [Element() for _ in range(m)]
        self.best = Element()
        w = [Element({}), *(Element() for _ in range(m))]
        self.requirements: list[Requirement] = [
            z @ z <= 1 for z in (*self.slopes, *w[1:], self.best)
        ]
        for g, before, after in zip(self.slopes, w, w[1:], strict=False):
            others = (z for z in (*w, self.best) if z is not after)
            self.requirements += [(before - g * eta - after) @ (z - after) <= 0 for z in others]
        first, *terms = (g @ (v - self.best) for g, v in zip(self.slopes, w, strict=False))
        self.regret = sum(terms, first)  # Σ <∇l_i(w_{i−1}), w_{i−1} − w*>


@cache
def _regret(m: int, eta: Fraction | None = None) -> WorstCase:
    # By default η = B/(λX√m).
    stream = AnyStream(m, root(Fraction(1, m)) if eta is None else eta)
    return worst_case(stream.regret, stream.requirements)


@descent.theorem_1_corrected.step(space=GRID, every=ROUNDS, resolution=1e-4)
def _(x: Instance) -> Slack:
    return at_most(_regret(x.m).bracket, math.sqrt(x.m), "regret")


@descent.theorem_1_corrected.step(space=GRID, every=STEPS, resolution=1e-4)
def _(x: Instance) -> Slack:
    right = 1.0 / (2.0 * x.eta) + x.eta * x.m / 2.0
    return at_most(_regret(x.m, Fraction(x.eta)).bracket, right, "regret")
