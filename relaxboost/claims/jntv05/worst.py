"""JNTV05: what mirror descent does at worst, over all proxies and gradients, for Euclidean norms.

V is any function that is strongly convex in ‖·‖_2 on a closed convex Θ of any Hilbert space, where
it is +∞ outside of Θ, and ‖u‖_2 stands for ‖u‖_∞. For V = ‖θ‖_2²/2 on a set of R^M, where α = 1/M,
this implies the statements in ‖·‖_1: ‖u‖_2² ≤ M‖u‖_∞². It says nothing of the entropy. θ_i of (11)
is the point at which −ζ_i/β_i is a subgradient of V. Without loss of generality α = 1, as V may be
divided by α and all β_i multiplied by it.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from relaxboost.claims.jntv05 import appendix, proofs, proxy, risks, scheme, theorems
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import (
    ConvexFunctional,
    Element,
    Expression,
    Requirement,
    WorstCase,
    root,
    total,
    worst_case,
)

GRID = Space(t=Whole(1, 6), beta=Real(0.25, 4), growth=Whole(0, 2))
WORST = "the worst case over all instances, in the Euclidean norm"


def over(words: str, **values: Iterable[Any]) -> WorstCases:
    """Return all combinations of t ≤ 5 or so, β_0 and how fast β_i or γ_i grows."""
    return WorstCases.grid(words, **{"growth": (0,), "beta": (1,), "t": (1,), **values})


ALL = over("any z, z̃ and Θ")
SUMS = over("t ≤ 5, γ_i = 1 and γ_i = i", growth=(0, 1), t=range(1, 6))
ROOTS = over("t ≤ 5, β_0 = 1/2, 1 and 2 times L/√(αV*)", beta=("1/2", 1, 2), t=range(1, 6))


class AnyGradients:
    """Gradients u_1, ..., u_t that may depend on all before, θ_0, ..., θ_{t−1}, and a θ in Θ.

    θ_0 = θ_* is the origin, and `rise` is V(θ) − V(θ_*).
    """

    def __init__(self, inverses: list[Fraction | Bracket]) -> None:
        """Take 1/β_0, ..., 1/β_{t−1}."""
        self.V, self.u = ConvexFunctional(strong=1), [Element() for _ in inverses]
        first, self.least = self.V.minimum()
        self.points, past = [first], Element({})
        for u, inverse in zip(self.u, inverses[1:], strict=False):
            past = past + u
            self.points.append(Element())
            self.V.at(self.points[-1], -(past * inverse))
        self.theta = Element()
        self.rise = self.V.value(self.theta) - self.least

    @property
    def regret(self) -> Expression:
        """Σ (θ_{i−1} − θ)ᵀu_i."""
        return total((f - self.theta) @ u for f, u in zip(self.points, self.u, strict=True))


@cache
def _regret(t: int, beta: Fraction) -> WorstCase:
    """Return the greatest regret for β_i = β_0 √(i + 1), L = V* = 1."""
    stream = AnyGradients([root(Fraction(1, i)) * (1 / beta) for i in range(1, t + 1)])
    requirements = [*(u @ u <= 1 for u in stream.u), stream.rise <= 1]
    return worst_case(stream.regret, requirements, [stream.V])


def temperatures(x: Instance) -> list[float]:
    """Return β_0, ..., β_t."""
    return [x.beta * math.sqrt(i + 1.0) for i in range(x.t + 1)]


@proofs.proposition_2_sharper.step(
    space=GRID,
    every=over("t ≤ 5, β_i = β_0 and β_i = (i + 1)β_0", growth=(0, 1), t=range(1, 6)),
    resolution=1e-5,
)
def _(x: Instance) -> Slack:
    beta = [Fraction(1 + x.growth * i) for i in range(x.t + 1)]
    stream = AnyGradients([1 / b for b in beta[:-1]])
    squares = total(u @ u / (2 * b) for u, b in zip(stream.u, beta, strict=False))
    left = stream.regret - beta[-1] * stream.rise - squares
    scale = stream.rise + total(u @ u for u in stream.u) == 1
    worst = worst_case(left, [scale], [stream.V])
    return at_most(worst.bracket, 0, "regret less its bound", x.t)


@risks.proposition_3_corrected.step(space=GRID, every=ROOTS, resolution=1e-5)
def _(x: Instance) -> Slack:
    beta = temperatures(x)
    right = (beta[-1] + sum(1.0 / (2.0 * b) for b in beta[:-1])) / x.t
    return at_most(_regret(x.t, Fraction(x.beta)).bracket / x.t, right, "regret/t", x.t)


@theorems.eq28.step(space=GRID, every=ROOTS)
def _(x: Instance) -> Slack:
    right = math.sqrt(x.t + 1.0) / x.t * (x.beta + 1.0 / x.beta)
    return at_most(_regret(x.t, Fraction(x.beta)).bracket / x.t, right, "regret/t", x.t)


@theorems.eq29.step(space=GRID, every=over("t ≤ 5, β_0 = L/√(αV*)", t=range(1, 6)))
def _(x: Instance) -> Slack:
    right = 2.0 * math.sqrt(x.t + 1.0) / x.t
    return at_most(_regret(x.t, Fraction(1)).bracket / x.t, right, "regret/t", x.t)


def _visited(x: Instance) -> tuple[ConvexFunctional, list[Any], list[Fraction], Requirement]:
    """Return A, what is known of it at θ_0, ..., θ_{t−1}, the γ_i, and a scale of the points.

    θ is the origin. All is bilinear in the scales of the points and of A, so that the squares of
    the points, and those of the subgradients, add up to 1 without loss of generality.
    """
    A = ConvexFunctional()
    known = [(f, *A.at(f)) for f in (Element() for _ in range(x.t))]
    weights = [Fraction(1 + x.growth * i) for i in range(x.t)]
    scale = total(f @ f for f, _, _ in known) == 1
    return A, known, [w / sum(weights) for w in weights], scale


@risks.jensen.step(space=GRID, every=SUMS, resolution=1e-5)
def _(x: Instance) -> Slack:
    A, known, weights, scale = _visited(x)
    mean = total(f * w for (f, _, _), w in zip(known, weights, strict=True))
    value, slope = A.at(mean)
    bound = total(f @ g * w for (f, _, g), w in zip(known, weights, strict=True))
    left = value - A.value(Element({})) - bound
    slopes = total([slope @ slope, *(g @ g for _, _, g in known)]) == 1
    worst = worst_case(left, [scale, slopes], [A])
    return at_most(worst.bracket, 0, "A(θ̂_t) − A(θ) less its bound", x.t)


@scheme.affine.step(space=GRID, every=SUMS, resolution=1e-5)
def _(x: Instance) -> Slack:
    A, known, weights, scale = _visited(x)
    bound = total((v - f @ g) * w for (f, v, g), w in zip(known, weights, strict=True))
    slopes = total(g @ g for _, _, g in known) == 1
    worst = worst_case(bound - A.value(Element({})), [scale, slopes], [A])
    return at_most(worst.bracket, 0, "the average of the φ_i less A(θ)", x.t)


def _pair() -> tuple[ConvexFunctional, Element, Element, list[Requirement]]:
    """Return V, z and −∇W(z), where z̃ = 0 and −∇W(z̃) = 0 without loss of generality.

    <z̃, θ> may be added to V, and the space may be translated. β = 1, as V may be multiplied by it,
    and ‖z‖ = 1, as all is quadratic in a scale.
    """
    V, z = ConvexFunctional(strong=1), Element()
    V.minimum()
    after = Element()
    V.at(after, -z)
    return V, z, after, [z @ z == 1]


@proxy.assumption_l.step(space=GRID, every=ALL, resolution=1e-5)
def _(x: Instance) -> Slack:
    V, _, after, scale = _pair()
    worst = worst_case(after @ after, scale, [V])
    return at_most(worst.bracket, 1, "‖∇W(z) − ∇W(z̃)‖², ‖z − z̃‖ = 1")


@appendix.end.step(space=GRID, every=ALL, resolution=1e-5)
def _(x: Instance) -> Slack:
    V, z, after, scale = _pair()
    worst = worst_case(after @ after + z @ after, scale, [V])
    return at_most(worst.bracket, 0, "αβ‖x_1 − x_2‖² less the inner product")


@proofs.descent_lemma.step(space=GRID, every=ALL, resolution=1e-5)
def _(x: Instance) -> Slack:
    V, z, after, scale = _pair()
    (_, least, _), (_, value, _) = V.known
    worst = worst_case(least - value - z @ after - z @ z / 2, scale, [V])
    return at_most(worst.bracket, 0, "W(ζ + γu) less its bound")
