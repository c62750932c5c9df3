"""DEK11, Theorem 1: what constrained gradient descent does at worst, over all streams.

B = λX = 1 without loss of generality: lengths are divided by B, and losses by λXB. The class H may
be any closed convex set in the unit ball that contains 0, which is more than the ball. The
projection Π[v] is the point of H for which <v − Π[v], z − Π[v]> ≤ 0 for all z in H. The regret is
at most Σ <∇l_i(w_{i−1}), w_{i−1} − w*>, and linear losses attain that, so that the ∇l_i are any
vectors of length 1 at most.
"""

import math
from fractions import Fraction
from functools import cache

from relaxboost.claims.dek11 import descent, regret
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import (
    ConvexFunctional,
    Element,
    Expression,
    Requirement,
    WorstCase,
    root,
    unit,
    worst_case,
)

GRID = Space(m=Whole(1, 9), eta=Real(0.25, 4))
WORST = "the worst case over all streams"


ETAS = ("1/2", "1", "2")
ROUNDS = WorstCases.grid("m ≤ 6 and m = 9", eta=("1",), m=(1, 2, 3, 4, 5, 6, 9))
STEPS = WorstCases.grid("m ≤ 5, η = 1/2, 1 and 2", eta=ETAS, m=range(1, 6))
ONE = WorstCases.grid("η = 1/2, 1 and 2", eta=ETAS, m=(1,))


class AnyStream:
    """A stream of m examples: ∇l_1, ..., ∇l_m, the weights w_0, ..., w_m, and w* in H."""

    def __init__(self, m: int, eta: Fraction | Bracket) -> None:
        self.slopes, self.best = [Element() for _ in range(m)], Element()
        self.w, moved = [Element({})], []
        for g in self.slopes:
            moved.append(self.w[-1] - g * eta)
            self.w.append(Element())
        members = [*self.w[1:], self.best]
        self.requirements: list[Requirement] = [
            *(g @ g <= 1 for g in self.slopes),
            *(z @ z <= 1 for z in members),
            *(
                (v - w) @ (z - w) <= 0
                for v, w in zip(moved, self.w[1:], strict=True)
                for z in (self.w[0], *members)
                if z is not w
            ),
        ]

    @property
    def regret(self) -> Expression:
        """Σ <∇l_i(w_{i−1}), w_{i−1} − w*>."""
        terms = [g @ (w - self.best) for g, w in zip(self.slopes, self.w, strict=False)]
        return sum(terms[1:], terms[0])

    @property
    def nearer(self) -> Expression:
        """Σ α_i = ½‖w_0 − w*‖² − ½‖w_m − w*‖²."""
        away = self.w[-1] - self.best
        return (self.best @ self.best - away @ away) / 2


@cache
def _regret(m: int, eta: Fraction | None = None) -> WorstCase:
    """Return the greatest regret for a step η, or for η = B/(λX√m)."""
    stream = AnyStream(m, root(Fraction(1, m)) if eta is None else eta)
    return worst_case(stream.regret, stream.requirements)


@descent.theorem_1_corrected.step(space=GRID, every=ROUNDS, resolution=1e-4)
def _(x: Instance) -> Slack:
    return at_most(_regret(x.m).bracket, math.sqrt(x.m), "regret")


@descent.root_of_m.step(space=GRID, every=ROUNDS, resolution=1e-4)
def _(x: Instance) -> Slack:
    return at_most(_regret(x.m).bracket, math.sqrt(x.m), "regret")


@descent.rate.step(space=GRID, every=ROUNDS, resolution=1e-4)
def _(x: Instance) -> Slack:
    return at_most(_regret(x.m).bracket / x.m, 1.0 / math.sqrt(x.m), "Regret/m")


@regret.divided_corrected.step(space=GRID, every=STEPS, resolution=1e-4)
def _(x: Instance) -> Slack:
    right = 1.0 / (2.0 * x.eta) + x.eta * x.m / 2.0
    return at_most(_regret(x.m, Fraction(x.eta)).bracket, right, "regret")


@regret.summed.step(space=GRID, every=STEPS, resolution=1e-5)
def _(x: Instance) -> Slacks:
    eta = Fraction(x.eta)
    stream = AnyStream(x.m, eta)
    worst = worst_case(stream.nearer, stream.requirements)
    yield at_most(worst.bracket, 0.5, "Σ α_i")
    left = eta * stream.regret - stream.nearer - x.m * eta**2 / 2
    yield at_most(worst_case(left, stream.requirements).bracket, 0, "η Regret − mη²/2 − Σ α_i")


@regret.first_line_corrected.step(space=GRID, every=ONE, resolution=1e-5)
def _(x: Instance) -> Slack:
    eta = Fraction(x.eta)
    w, g, after, best = one = [Element() for _ in range(4)]
    moved, away = w - eta * g - best, after - best
    requirements = [unit([w, g, best]), *_nearest(one, eta)]
    worst = worst_case((away @ away - moved @ moved) / 2, requirements)
    return at_most(worst.bracket, 0, "line 1 − α_i")


@regret.other_lines.step(space=GRID, every=ONE, resolution=1e-5)
def _(x: Instance) -> Slacks:
    eta, loss = Fraction(x.eta), ConvexFunctional()
    w, g, after, best = one = [Element() for _ in range(4)]
    gain = eta * (loss.at(w, g)[0] - loss.value(best))
    before, away = w - best, after - best
    worst = worst_case(gain - eta * (before @ g), [unit([g]), unit([w, best])], [loss])
    yield at_most(worst.bracket, 0, "line 3 − line 2")
    left = gain - eta**2 / 2 - (before @ before - away @ away) / 2
    requirements = [*(z @ z <= 1 for z in one), *_nearest(one, eta)]
    yield at_most(worst_case(left, requirements, [loss]).bracket, 0, "line 4 − α_i")


def _nearest(one: list[Element], eta: Fraction) -> list[Requirement]:
    """Require of w_{i−1}, ∇, w_i and w* that w_i is the projection."""
    w, g, after, best = one
    return [(w - eta * g - after) @ (z - after) <= 0 for z in (w, best)]


@regret.closer_corrected.step(
    space=GRID, every=WorstCases.grid("all H, v and w*", eta=("1",), m=(1,)), resolution=1e-5
)
def _(x: Instance) -> Slack:
    v, near, best = Element(), Element(), Element()
    requirements = [unit([v, best]), (v - near) @ (best - near) <= 0]
    left = (near - best) @ (near - best) - (v - best) @ (v - best)
    return at_most(worst_case(left, requirements).bracket, 0, "‖Π[v] − w*‖² − ‖v − w*‖²")
